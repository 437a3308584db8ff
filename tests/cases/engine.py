"""Random conjunctions and streams, and what the engine and the naive meaning say of them."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any, cast

from hypothesis import strategies as st
from naive.reports import Distinct, On, key, matches
from naive.streams import Entail, Item

import retewave as rw
from cases.conjunctions import MS, Binding, Branch, Comparison, Pattern, Query, Term, text_of
from retewave.compiler.parse import parse
from retewave.engine.registry import CartesianWarning

SUBJECTS = [b"<http://e/a>", b"<http://e/b>"]
PREDICATES = [b"<http://e/p>", b"<http://e/q>"]
NUMBERS = [b'"%d"^^<http://www.w3.org/2001/XMLSchema#integer>' % n for n in (1, 2, 3)]
OBJECTS = [*SUBJECTS, *NUMBERS, b'"x"', b'"x"@en']
VARIABLES = ["?w", "?x", "?y", "?z"]
STREAMS = ["http://e/s1", "http://e/s2"]
COMPARISONS = ["!=", "<", "=", ">"]


def one_of(found: list[Term]) -> st.SearchStrategy[Term]:
    return st.sampled_from(found)


terms = st.tuples(
    one_of([*VARIABLES[:3], *VARIABLES[:3], SUBJECTS[0]]),
    one_of([*PREDICATES, *PREDICATES, *PREDICATES, "?w"]),
    one_of([*VARIABLES, *VARIABLES, SUBJECTS[1], NUMBERS[0]]),
)
triples = st.tuples(st.sampled_from(SUBJECTS), st.sampled_from(PREDICATES), st.sampled_from(OBJECTS))
widths = st.sampled_from([None, 0, 2 * MS, 3 * MS, 6 * MS])


@dataclass(frozen=True)
class Case:
    """A query, and what it is asked of."""

    query: Query  # as data
    text: str  # as written
    stream: list[Item]  # in the order of their ends
    static: frozenset  # triples that are always there


@st.composite
def branch_of(draw: st.DrawFn) -> Branch:
    least = draw(st.sampled_from([1, 2, 2]))
    patterns = tuple(Pattern(each) for each in draw(st.lists(terms, min_size=least, max_size=4)))
    bound = sorted({t for p in patterns for t in p.terms if isinstance(t, str)})
    filters: tuple[Comparison, ...] = ()
    if bound and draw(st.integers(0, 3)) == 0:
        variable, operator = draw(st.sampled_from(bound)), draw(st.sampled_from(COMPARISONS))
        filters = (Comparison(variable, operator, draw(st.integers(1, 3))),)
    tables: tuple[tuple[Binding, ...], ...] = ()
    if bound and draw(st.integers(0, 4)) == 0:
        variable = draw(st.sampled_from(bound))
        rows = draw(st.lists(st.sampled_from(OBJECTS), max_size=3))
        tables = (tuple({variable: row} for row in rows),)
        filters = filters if rows else ()
        if not rows:
            tables = ()
    return Branch(patterns, tables, filters)


@st.composite
def stream_of(draw: st.DrawFn, *, most: int = 12) -> list[Item]:
    times, items = 0, []
    for triple in draw(st.lists(triples, min_size=4, max_size=most)):
        times += MS * draw(st.sampled_from([0, 0, 1, 1, 2, 5]))
        length = MS * draw(st.sampled_from([0, 0, 0, 1]))
        items.append(Item(triple, times - length, times, draw(st.sampled_from([None, *STREAMS]))))
    return items


@st.composite
def case_of(draw: st.DrawFn) -> Case:
    branches = tuple(draw(st.lists(branch_of(), min_size=1, max_size=2)))
    variables = sorted({t for b in branches for p in b.patterns for t in p.terms if isinstance(t, str)})
    project = tuple(draw(st.lists(st.sampled_from(variables), unique=True, min_size=1))) if variables else ()
    window = draw(
        st.one_of(
            st.none(),
            st.just({STREAMS[0]: draw(widths), STREAMS[1]: draw(widths)}),
            st.just({STREAMS[0]: draw(widths)}),
        )
    )
    query = Query(branches, window, project, bool(project) and draw(distincts(variables)))
    static = frozenset(draw(st.lists(triples, max_size=4)))
    return Case(query, text_of(query), draw(stream_of()), static)


@st.composite
def distincts(draw: st.DrawFn, variables: list[str]) -> Distinct:
    """Draw nothing, DISTINCT, or DISTINCT ON with or without FOR and LIMIT; ON names what is shown, or is not."""
    kind = draw(st.sampled_from(["", "", "DISTINCT", "ON", "FOR"]))
    if kind in ("", "DISTINCT"):
        return kind == "DISTINCT"
    on = tuple(draw(st.lists(st.sampled_from(variables), unique=True, max_size=2)))
    if kind == "ON":
        return On(on)
    return On(on, draw(st.sampled_from([0, MS, 2 * MS, 6 * MS])), draw(st.sampled_from([1, 1, 2, 3])))


def written(triple: tuple[bytes, bytes, bytes]) -> tuple[str, str, str]:
    s, p, o = (text.decode() for text in triple)
    return s, p, o


def engine_for(case: Case, **options: Any) -> tuple[rw.Engine, rw.Query]:
    """Return an engine that listens for a case's query."""
    static = [[written(triple) for triple in sorted(case.static)]]
    engine = rw.Engine(static=static, seed=1, max_future=None, allow_cartesian=True, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CartesianWarning)
        return engine, engine.register(case.text, keep=None)


def shown(match: rw.Match, arrival: int, distinct: Distinct) -> tuple:
    """Return a match as the naive meaning shows it; DISTINCT may report any of several alike, so without the rest."""
    bindings = key(tuple(sorted((f"?{name}", match.text(name) or b"") for name in match)), distinct)
    static, times = match.start is None, [round(cast(float, time or 0) * 1e6) for time in (match.start, match.end)]
    return None if static or distinct else times[0], None if static else times[1], bindings, arrival


def expected(case: Case, entail: Entail = lambda triple: {triple}, facts: frozenset = frozenset()) -> Counter:
    """Return what the naive meaning finds."""
    return Counter(
        (
            None if m.end < m.start or case.query.distinct else m.start,
            None if m.end < m.start else m.end,
            key(m.bindings, case.query.distinct),
            m.arrival,
        )
        for m in matches(parse(case.text), case.stream, case.static | facts, entail, distinct=case.query.distinct)
    )


def pushed_one_by_one(engine: rw.Engine, case: Case) -> Counter:
    found = Counter(shown(match, -1, case.query.distinct) for match in engine.flush())
    for arrival, item in enumerate(case.stream):
        time = (item.start / 1e6, item.end / 1e6)
        for match in engine.push(written(item.triple), time=time, stream=item.stream):
            found[shown(match, arrival, case.query.distinct)] += 1
    return found
