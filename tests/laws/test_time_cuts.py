"""However work in time is cut up, stopped, or shared with other queries, the engine tells the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cases.temporal import GRAPH, Case, condition_of, room_of
from helpers.guests import beside_a_guest, guests, places, temporal
from helpers.telling import (
    bag,
    changes_kept,
    law,
    listening,
    named,
    poured,
    pushed,
    told,
    told_in_cuts,
)
from hypothesis import given
from hypothesis import strategies as st
from naive.detectors import detected

import retewave as rw
from retewave.compiler.algebra import Filter, Query, visible, walk
from retewave.windows.times import Clock


@law(100)
@given(temporal, st.data())
def test_any_cut_of_a_stream_in_any_order_within_instants_tells_what_the_naive_meaning_says(
    case: Case, data: st.DataObject
) -> None:
    found = told_in_cuts(case, data)
    assert found == bag(detected(case.query, case.stream, case.static))


@law(50)
@given(temporal, places)
def test_what_a_batch_tells_is_in_the_order_of_ends(case: Case, cut: int) -> None:
    engine, _ = listening(case)
    engine.clock = Clock("float")
    engine.flush()
    matches = [*poured(engine, case.stream[:cut]), *poured(engine, case.stream[cut:])]
    ends = [match.end for match in matches if match.end is not None]
    assert ends == sorted(ends)


@law(120)
@given(case=temporal, stop=places, clock=st.integers(0, 3))
def test_an_engine_that_is_restored_goes_on_as_if_it_had_never_stopped(
    case: Case, stop: int, clock: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    case = replace(case, query=replace(case.query, text="case"))
    engine, _ = listening(case)
    begin, rest = case.stream[:stop], case.stream[stop:]
    for item in begin:
        pushed(engine, item)
    if clock and begin and rest:
        engine.advance(min(begin[-1].end + clock * 1000, rest[0].end) / 1e6)
    path = tmp_path_factory.getbasetemp() / "case.snapshot"
    engine.snapshot(path)
    with named(case.query):
        restored = rw.Engine.restore(path)
    for item in rest:
        assert told(pushed(restored, item)) == told(pushed(engine, item))
    assert told(restored.flush()) == told(engine.flush())


@law(100)
@given(temporal, guests, places, places, places, st.booleans())
def test_other_queries_that_come_and_go_change_nothing_in_time(
    case: Case, guest: Query, comes: int, goes: int, joins: int, apart: bool
) -> None:
    with changes_kept(apart):
        beside_a_guest(case, guest, comes, goes, joins)


@st.composite
def alike(draw: st.DrawFn) -> tuple[Case, Query]:
    """Draw a case, and a guest that has much in common with it: a part of it, or the same with another filter."""
    case = draw(temporal)
    query = case.query
    if draw(st.booleans()):
        query = replace(query, where=draw(st.sampled_from(list(walk(query.where)))))
    for _ in range(draw(st.integers(0, 2))):
        condition = draw(condition_of(room_of(GRAPH, query.streams), query.where))
        query = replace(query, where=Filter(condition, query.where))
    query = replace(query, projection=tuple(each.name for each in visible(query.where)))
    return (case, query) if draw(st.booleans()) else (replace(case, query=query), case.query)


@law(150)
@given(alike(), places, places, places, st.booleans())
def test_a_query_that_is_much_like_another_changes_nothing_in_time(
    both: tuple[Case, Query], comes: int, goes: int, joins: int, apart: bool
) -> None:
    case, guest = both
    with changes_kept(apart):
        beside_a_guest(case, guest, comes, goes, joins)
