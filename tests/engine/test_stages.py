"""Stages: what a report stage remembers is bounded, outlives changes, and is swept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from helpers.inside import network_of, sweep

import retewave as rw
from retewave.rete.reports.distinct import Support

P = "<http://e/p>"
DISTINCT = f"SELECT DISTINCT ?x FROM STREAM <http://e/s> [RANGE 2s] {{ ?x {P} ?y }}"


def engine_of(*queries: str) -> rw.Engine:
    engine = rw.Engine(seed=1, max_future=None)
    for query in queries:
        engine.register(query)
    return engine


def push(engine: rw.Engine, subject: str, time: float) -> int:
    return len(engine.push((f"<http://e/{subject}>", P, '"1"'), time=time, stream="http://e/s"))


def test_time_that_advances_takes_what_a_report_stage_needs_no_more() -> None:
    support = Support.empty(1, 5)
    assert support.new(np.array([[1], [2]]), np.array([0, 3]), np.array([0, 3])).all()
    support.advance(5)
    assert support.taken == 2  # the bound is inclusive
    support.advance(6)
    assert support.taken == 1
    assert support.new(np.array([[1], [2]]), np.array([6, 6]), np.array([6, 6])).tolist() == [True, False]


def test_a_sweep_takes_the_terms_that_only_a_report_stage_remembered() -> None:
    engine = engine_of(DISTINCT)
    for number in range(20):
        push(engine, f"a{number}", 0)
    push(engine, "later", 9)
    engine.queries[0]._kept.clear()
    before = len(engine.terms)
    assert sweep(engine) >= 20
    assert len(engine.terms) < before


def test_what_a_report_stage_remembers_outlives_a_snapshot_and_a_change_of_the_queries(tmp_path: Path) -> None:
    engine = engine_of(DISTINCT)
    assert push(engine, "a", 0) == 1
    engine.snapshot(tmp_path / "one")
    for going_on in (engine, rw.Engine.restore(tmp_path / "one")):
        guest = going_on.register(f"SELECT ?x {{ ?x {P} <http://e/none> }}")
        assert push(going_on, "a", 1) == 0
        going_on.remove(guest)
        assert push(going_on, "a", 3) == 0
        assert push(going_on, "a", 6) == 1


def test_a_query_without_report_stages_is_only_decided() -> None:
    engine = engine_of(DISTINCT, f"SELECT ?x {{ ?x {P} ?y }}")
    outcome = network_of(engine).outcome
    assert [len(outcome.stages(query.number)) for query in engine.queries] == [2, 1]
