"""However work with policies is cut up, stopped, or shared with other queries: the same is taken, and used up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from cases.temporal import Case, temporal_case
from helpers.guests import beside_a_guest, guests, places
from helpers.telling import bag, changes_kept, law, listening, named, pushed, told, told_in_cuts
from hypothesis import given
from hypothesis import strategies as st
from naive.detectors import detected

import retewave as rw
from retewave.compiler.algebra import Query
from retewave.rete import runtime

OPERATORS = frozenset({"seq", "between", "within", "join", "union", "optional", "after", "before", "filter", "minus"})


def bagged(case: Case) -> Case:
    return replace(case, query=replace(case.query, solutions="bag"))


choosing = temporal_case(operators=OPERATORS, depth=3, policies=True).map(bagged)


@contextmanager
def cleared_often() -> Iterator[None]:
    """Let what is used up be collected before each row."""
    plain = runtime.Runtime.pour_some

    def pour_some(self: runtime.Runtime, *given: object) -> object:
        self.clear()
        return plain(self, *given)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runtime.Runtime, "pour_some", pour_some)
        yield


@law(100)
@given(choosing, st.data())
def test_any_cut_of_a_stream_in_any_order_within_instants_takes_what_the_naive_meaning_takes(
    case: Case, data: st.DataObject
) -> None:
    found = told_in_cuts(case, data)
    assert found == bag(detected(case.query, case.stream, case.static))


@law(100)
@given(choosing)
def test_collecting_what_is_used_up_changes_nothing(case: Case) -> None:
    with cleared_often():
        engine, _ = listening(case)
        found = told(engine.flush())
        for item in case.stream:
            found += told(pushed(engine, item))
        found += told(engine.flush())
    assert found == bag(detected(case.query, case.stream, case.static))


@law(100)
@given(case=choosing, stop=places)
def test_an_engine_that_is_restored_goes_on_with_what_is_left(
    case: Case, stop: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    case = replace(case, query=replace(case.query, text="case"))
    engine, _ = listening(case)
    for item in case.stream[:stop]:
        pushed(engine, item)
    path = tmp_path_factory.getbasetemp() / "policy.snapshot"
    engine.snapshot(path)
    with named(case.query):
        restored = rw.Engine.restore(path)
    for item in case.stream[stop:]:
        assert told(pushed(restored, item)) == told(pushed(engine, item))
    assert told(restored.flush()) == told(engine.flush())


@law(150)
@given(choosing, st.one_of(guests, choosing.map(lambda case: case.query)), places, places, places, st.booleans())
def test_other_queries_that_come_and_go_do_not_notice_and_are_not_noticed(
    case: Case, guest: Query, comes: int, goes: int, joins: int, apart: bool
) -> None:
    with changes_kept(apart):
        beside_a_guest(case, guest, comes, goes, joins)
