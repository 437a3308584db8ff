"""With a schema, the engine finds what the naive meaning finds over the closure of schema and data.

The closure is the naive one of `tests/naive/epsilon.py`, which `test_epsilon_oracle` compares with owlrl's.
"""

from __future__ import annotations

import warnings

from cases.conjunctions import MS, Branch, Pattern, Query, text_of
from cases.engine import Case, expected, one_of, pushed_one_by_one, written
from cases.epsilon import Case as Reasoned
from cases.epsilon import cases
from cases.many import many
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive.epsilon import entailed, facts
from naive.streams import Item

import retewave as rw
from retewave.engine.registry import CartesianWarning
from retewave.epsilon.schema import Schema, SchemaWarning
from retewave.epsilon.vocabulary import TYPE


@st.composite
def patterns(draw: st.DrawFn, reasoned: Reasoned) -> Pattern:
    """Draw a pattern in the schema's terms."""
    terms = {term for triple in (*reasoned.schema, *reasoned.data) for term in triple if term.startswith(b"<http://e/")}
    named = sorted(terms) or [b"<http://e/none>"]
    properties = [term for term in named if b"/p" in term] or named
    predicate = draw(one_of([TYPE, TYPE, *properties, *properties, "?p"]))
    subject = draw(one_of(["?x", "?x", "?y", *named[:2]]))
    object_ = draw(one_of(["?y", "?z", "?x", *named, *named]))
    return Pattern((subject, predicate, object_))


@st.composite
def reasoned_cases(draw: st.DrawFn) -> tuple[Case, Reasoned]:
    """Draw a schema, and a query and a stream in its terms."""
    reasoned = draw(cases())
    branch = Branch(tuple(draw(st.lists(patterns(reasoned), min_size=1, max_size=3))))
    variables = sorted({t for p in branch.patterns for t in p.terms if isinstance(t, str)})
    query = Query((branch,), {"http://e/s": draw(st.sampled_from([None, 2 * MS]))}, tuple(variables))
    static_count = draw(st.integers(0, 2))
    stream = [Item(triple, i * MS, i * MS) for i, triple in enumerate(reasoned.data[static_count:])]
    return Case(query, text_of(query), stream, frozenset(reasoned.data[:static_count])), reasoned


@settings(max_examples=many(1000), deadline=None, suppress_health_check=list(HealthCheck))
@given(reasoned_cases())
def test_engine_with_a_schema_finds_what_the_naive_meaning_finds_in_the_closure(drawn: tuple[Case, Reasoned]) -> None:
    case, reasoned = drawn
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaWarning)
        warnings.simplefilter("ignore", CartesianWarning)
        axioms = Schema.load([list(reasoned.schema)]).axioms
        static = [[written(triple) for triple in sorted(case.static)]]
        engine = rw.Engine([list(reasoned.schema)], static, seed=1, allow_cartesian=True)
        engine.register(case.text)
        found = pushed_one_by_one(engine, case)
    assert found == expected(case, lambda triple: entailed(axioms, triple), frozenset(facts(axioms)))
