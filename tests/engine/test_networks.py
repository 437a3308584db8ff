"""Queries that come and go while the stream runs: what is planned, what is kept, in which order matches come."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from cases.engine import Case, case_of, engine_for, pushed_one_by_one, shown
from helpers.found import LAW, anywhere, rows_of
from helpers.inside import poured
from helpers.telling import changes_kept
from hypothesis import given
from hypothesis import strategies as st

import retewave as rw
from retewave.engine import compiled, following, matcher
from retewave.rete.terms import dictionary as terms_module
from retewave.windows.times import Clock

SIZES = list[int]


def many(count: int, **options: Any) -> rw.Engine:
    """Return an engine with queries of as many shapes, of which the stream has begun."""
    engine = rw.Engine(seed=1, **options)
    for number in range(count):
        engine.register(f"SELECT ?x ?y {{ ?x <http://e/p{number}> ?y . ?x <http://e/q> ?z }}")
    push(engine, "s", "q", "z", 0)
    return engine


def push(engine: rw.Engine, s: str, p: str, o: str, time: float) -> list[rw.Match]:
    return engine.push((f"http://e/{s}", f"http://e/{p}", f"http://e/{o}"), time=time)


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> SIZES:
    """Note how many shapes are planned at each time."""
    sizes: SIZES = []
    plan = vars(compiled)["make_plan"]

    def noted(shapes, has_static):  # type: ignore[no-untyped-def]
        sizes.append(len(shapes))
        return plan(shapes, has_static)

    monkeypatch.setattr(compiled, "make_plan", noted)
    return sizes


def test_a_query_that_comes_beside_many_is_planned_alone_and_one_that_goes_plans_nothing(planned: SIZES) -> None:
    engine = many(40)
    guest = engine.register("SELECT ?x { ?x <http://e/q> ?z . ?x <http://e/guest> ?y }")
    assert not push(engine, "s", "p0", "y", 1)[1:]
    (found,) = push(engine, "s", "guest", "y", 2)
    assert found.query is guest and found.text("x") == b"<http://e/s>"  # <s> <q> <z> had come before the guest
    engine.remove(guest)
    assert not push(engine, "s", "guest", "y", 3)
    engine.remove(engine.queries[7])
    assert not push(engine, "s", "p7", "y", 4)
    assert planned == [40, 1]


def test_changes_that_are_many_make_one_network_of_all(planned: SIZES) -> None:
    engine = many(40)
    for number in range(4):
        engine.register(f"SELECT ?x {{ ?x <http://e/g{number}> ?y }}")
        push(engine, "s", "q", "z", 1 + number)
    assert planned == [40, 1, 2, 3, 44]


def test_a_stream_that_goes_on_runs_in_one_network(planned: SIZES, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "_SETTLING", 2)
    engine = many(40)
    engine.register("SELECT ?x { ?x <http://e/guest> ?y }")
    for number in range(200):
        push(engine, "s", "r", "z", 1 + number)
    assert planned == [40, 1, 41] and engine.matcher.networks is not None and engine.matcher.networks.one


def test_who_asks_for_the_network_gets_one_of_all_queries(planned: SIZES, tmp_path: Path) -> None:
    engine = many(40)
    guest = engine.register("SELECT ?x { ?x <http://e/q> ?z . ?x <http://e/guest> ?y }", name="guest")
    push(engine, "t", "q", "z", 1)
    assert "41 queries" in engine.explain()
    engine.remove(engine.queries[0])
    push(engine, "u", "q", "z", 2)
    engine.snapshot(tmp_path / "it")
    restored = rw.Engine.restore(tmp_path / "it")
    assert [len(push(each, "t", "guest", "y", 3)) for each in (engine, restored)] == [1, 1]
    assert guest.matched == 1 and planned == [40, 1, 41, 40, 40]


@pytest.mark.parametrize("options", [{"stats": True}, {"max_live_rows": 100}])
def test_counters_and_bounds_are_of_one_network(planned: SIZES, options: dict) -> None:
    engine = many(40, **options)
    engine.register("SELECT ?x { ?x <http://e/guest> ?y }")
    push(engine, "s", "q", "z", 1)
    assert planned == [40, 41]


def test_matches_of_both_networks_come_in_the_order_of_time() -> None:
    engine = many(40)
    engine.register("SELECT ?x { ?x <http://e/guest> ?y }")
    predicates = ["p1", "guest", "p2", "guest", "p3"]
    lines = "\n".join(f"<http://e/s> <http://e/{p}> <http://e/o{i}> ." for i, p in enumerate(predicates))
    found = [cast(float, match.end) for match in engine.run(rw.read(lines.encode(), format="nt", rate=1))]
    assert found == sorted(found) and len(found) == 5


def test_a_row_of_a_network_of_some_is_counted_where_it_is_kept() -> None:
    engine = many(40)
    before = engine.stats()["live_rows"]
    guest = engine.register("SELECT ?x { ?x <http://e/q> ?z . ?x <http://e/guest> ?y }")
    push(engine, "s", "r", "z", 1)
    assert engine.stats()["live_rows"] == before + 1
    engine.remove(guest)
    push(engine, "s", "r", "z", 1)
    assert engine.stats()["live_rows"] == before


def test_constants_leave_the_dictionary_though_queries_come_and_go_all_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(terms_module, "_SWEEP_FROM", 200)
    monkeypatch.setattr(matcher, "SWEPT_A_ROW", 4)  # a sweep takes longer than a query stays
    engine, sizes = many(40), []
    for number in range(600):
        guest = engine.register(
            f"SELECT ?x {{ ?x <http://e/guest{number}> <http://e/o{number}> . ?x <http://e/q> ?z }}"
        )
        push(engine, "s", "r", "z", 1 + number)
        engine.remove(guest)
        sizes.append(len(engine.terms))
    assert max(sizes) < 600  # of 1,200 constants


@pytest.mark.filterwarnings("ignore::retewave.engine.registry.CartesianWarning")
@LAW
@given(case_of(), case_of(), st.lists(st.integers(0, 12), min_size=1, max_size=3), st.integers(0, 12))
def test_a_guest_of_its_own_network_changes_no_batch(case: Case, other: Case, cuts: list[int], goes: int) -> None:
    alone, _ = engine_for(case)
    engine, query = engine_for(case)
    engine.clock = Clock("float")
    rows = rows_of(engine, case.stream)
    guest = None
    with changes_kept(apart=True):
        for block in np.split(rows, sorted(min(cut, len(rows)) for cut in cuts)):
            for batches in poured(engine, block):
                for batch in batches:
                    batch.query.take(batch)
            if guest is None:
                guest = engine.register(other.text, allow_cartesian=True)
            elif goes % 2 and guest in engine.registry:
                engine.remove(guest)
    found = Counter(shown(match, 0, case.query.distinct) for match in query.matches)
    assert anywhere(found) == anywhere(pushed_one_by_one(alone, case))
