"""A query that is registered while the stream runs: what it tells is so, and what it cannot know it does not tell.

* Where the memories hold nothing for it, it tells what the naive meaning tells that is registered at that clock.  So
  it is where no decision hangs on another one: what was not seen may be there, and what it would have barred, too.
* Where they hold something, all that it tells is told by the naive meaning of the whole stream; no absence is wrong.
* Beside a query of the same pattern it tells from then on what that one tells.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from cases.temporal import ANYWHERE, OPERATORS, Case, temporal_case
from helpers.inside import network_of
from helpers.telling import asked, bag, changes_kept, law, listening, of_query, pushed, registered
from helpers.told import Told
from hypothesis import assume, given
from hypothesis import strategies as st
from naive.detectors import detected

from retewave.compiler.algebra import (
    Algebra,
    First,
    Last,
    LeftJoin,
    OptionalBefore,
    OptionalEquals,
    Query,
    hidden_parts,
    walk,
)
from retewave.compiler.parse import parse

EVERYTHING = OPERATORS | {ANYWHERE}
temporal = temporal_case(operators=EVERYTHING).map(asked)
places = st.integers(0, 12)
ELSE = parse("SELECT ?x { ?x <http://e/else> ?y }")


def told_late(case: Case, comes: int, before: Query = ELSE) -> tuple[Counter[Told], Counter[Told]]:
    """Return what a query tells that is registered at a place of the stream: when it comes, and then."""
    engine, _ = listening(replace(case, query=before))
    for item in case.stream[:comes]:
        pushed(engine, item)
    query = registered(engine, case.query)
    at_first: Counter[Told] = of_query(engine.advance(0), query)
    later: Counter[Told] = Counter()
    for item in case.stream[comes:]:
        later += of_query(pushed(engine, item), query)
    return at_first, later + of_query(engine.flush(), query)


def looked_at(pattern: Algebra) -> tuple[Algebra, ...]:
    """Return what an operator only looks at, or looks for and goes on without."""
    match pattern:
        case LeftJoin(_, right):
            return (right,)
        case OptionalBefore(optional=optional):
            return (optional,)
    return hidden_parts(pattern)


def is_simple(where: Algebra) -> bool:
    """Tell whether nothing that is looked at looks at something itself, without choices and EQUALSOPTIONAL."""
    parts = [part for each in walk(where) for part in looked_at(each)]
    looks = any(looked_at(each) for part in parts for each in walk(part))
    return not looks and not any(isinstance(each, First | Last | OptionalEquals) for each in walk(where))


@law(200)
@given(temporal, st.integers(1, 12), st.booleans())
def test_alone_it_tells_what_follows_from_what_comes_after_it(case: Case, comes: int, apart: bool) -> None:
    assume(is_simple(case.query.where))
    with changes_kept(apart):
        first, later = told_late(case, comes)
    rest, clock = case.stream[comes:], case.stream[:comes][-1].end
    assert first + later == bag(detected(case.query, rest, case.static, registered=clock))


DECIDING = frozenset({"between", "before", "after", "optionalseq", "optional", "minus", "exists", "seq", "within"})


@law(200)
@given(temporal_case(operators=DECIDING).map(asked), st.integers(1, 12), st.booleans())
def test_what_hangs_on_decisions_that_it_cannot_know_is_not_told(case: Case, comes: int, apart: bool) -> None:
    with changes_kept(apart):
        first, later = told_late(case, comes)
    assert first + later <= bag(detected(case.query, case.stream, case.static))


@law(150)
@given(temporal, st.integers(1, 12), st.booleans())
def test_beside_another_all_that_it_tells_is_so(case: Case, comes: int, apart: bool) -> None:
    with changes_kept(apart):
        first, later = told_late(case, comes, case.query)
    assert first + later <= bag(detected(case.query, case.stream, case.static))


@law(100)
@given(temporal, temporal, st.integers(1, 12), st.booleans())
def test_beside_any_other_all_that_it_tells_is_so(case: Case, other: Case, comes: int, apart: bool) -> None:
    with changes_kept(apart):
        first, later = told_late(case, comes, other.query)
    assert first + later <= bag(detected(case.query, case.stream, case.static))


@law(150)
@given(temporal, st.integers(1, 12), st.integers(0, 12), st.booleans())
def test_beside_the_same_query_it_tells_from_then_on_what_that_one_tells(
    case: Case, comes: int, joins: int, apart: bool
) -> None:
    with changes_kept(apart):
        engine, first = listening(case)
        for item in case.stream[:comes]:
            pushed(engine, item)
        second = registered(engine, case.query)
        engine.advance(0)
        for place, item in enumerate(case.stream[comes:], comes):
            if place == joins:
                network_of(engine)
            matches = pushed(engine, item)
            assert of_query(matches, second) == of_query(matches, first)
        matches = engine.flush()
    assert of_query(matches, second) == of_query(matches, first)
