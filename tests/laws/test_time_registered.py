"""A query that is registered while the stream runs: what it tells is so, and what it cannot know it does not tell.

* Where the memories hold nothing for it, it tells what the naive meaning tells that is registered at that clock.
* Where they hold something, all that it tells is told by the naive meaning of the whole stream; no absence is wrong.
* What has no absence in it: after another query of the same pattern, it tells what that one tells.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from cases.temporal import ANYWHERE, OPERATORS, Case, temporal_case
from hypothesis import given
from hypothesis import strategies as st
from laws.telling import asked, bag, changes_kept, law, listening, of_query, pushed, registered
from laws.test_engine_time import Told
from naive.detectors import detected

from retewave.compiler.algebra import Query
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


@law(150)
@given(temporal, st.integers(1, 12), st.booleans())
def test_alone_it_tells_what_follows_from_what_comes_after_it(case: Case, comes: int, apart: bool) -> None:
    with changes_kept(apart):
        first, later = told_late(case, comes)
    rest, clock = case.stream[comes:], case.stream[:comes][-1].end
    assert first + later == bag(detected(case.query, rest, case.static, registered=clock))


@law(150)
@given(temporal, st.integers(1, 12), st.booleans())
def test_beside_another_all_that_it_tells_is_so(case: Case, comes: int, apart: bool) -> None:
    with changes_kept(apart):
        first, later = told_late(case, comes, case.query)
    assert first + later <= bag(detected(case.query, case.stream, case.static))


@law(200)
@given(temporal, temporal, st.integers(1, 12), st.booleans())
def test_beside_any_other_all_that_it_tells_is_so(case: Case, other: Case, comes: int, apart: bool) -> None:
    with changes_kept(apart):
        first, later = told_late(case, comes, other.query)
    assert first + later <= bag(detected(case.query, case.stream, case.static))
