"""Rows have one time while all items are instants; the first interval makes the network anew, and nothing is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from helpers.inside import network_of

import retewave as rw
from retewave.rete.words.rows import END, OBJECT, ROW_WIDTH

QUERY = "SELECT ?x ?y ?z FROM STREAM <http://e/s> [RANGE 10s] { ?x <http://e/p> ?y . ?y <http://e/q> ?z }"
Time = float | tuple[float, float]
STREAM: list[tuple[str, str, str, Time]] = [
    ("a", "p", "b", 1.0),
    ("b", "q", "c", 2.0),
    ("d", "p", "b", 3.0),
    ("b", "q", "e", (2.5, 9.0)),
    ("f", "p", "b", 11.5),
    ("g", "p", "b", (12.2, 12.4)),
]
FOUND = [("a", "c", 1, 2), ("d", "c", 2, 3), ("a", "e", 1, 9), ("d", "e", 2.5, 9), ("f", "c", 2, 11.5),
         ("f", "e", 2.5, 11.5), ("g", "e", 2.5, 12.4)]  # fmt: skip


def push(engine: rw.Engine, items: list[tuple[str, str, str, Time]]) -> list[tuple[str, str, float, float]]:
    found = []
    for s, p, o, time in items:
        for match in engine.push(tuple(f"<http://e/{name}>" for name in (s, p, o)), time=time):
            x, z = (str(match[name]).rsplit("/", 1)[1] for name in "xz")
            found.append((x, z, cast(float, match.start), cast(float, match.end)))
    return found


def engine_of(**options: Any) -> rw.Engine:
    engine = rw.Engine(**options)
    engine.register(QUERY)
    return engine


def times(engine: rw.Engine) -> int:
    return network_of(engine).lowered.network.times


def test_rows_of_instants_have_one_time() -> None:
    engine = engine_of()
    push(engine, STREAM[:3])
    assert times(engine) == 1


def test_an_interval_that_comes_later_joins_with_the_instants_before_it() -> None:
    engine = engine_of()
    assert sorted(push(engine, STREAM)) == sorted(FOUND)
    assert times(engine) == 2


def test_an_interval_that_comes_first_tells_static_matches_once() -> None:
    engine = rw.Engine(static=[("<http://e/a>", "<http://e/p>", "<http://e/b>")])
    told: list[rw.Match] = []
    engine.register("SELECT ?x ?y { ?x <http://e/p> ?y }", on_match=told.append)
    engine.push(("<http://e/c>", "<http://e/p>", "<http://e/d>"), time=(1.0, 2.0))
    assert len(told) == 2


def test_the_counters_are_those_of_a_network_that_was_for_intervals_from_the_start() -> None:
    late, early = engine_of(stats=True), engine_of(stats=True)
    early.matcher.intervals = True
    assert push(late, STREAM) == push(early, STREAM)
    assert late.stats()["network"] == early.stats()["network"]


def test_a_restored_engine_knows_that_items_may_be_intervals(tmp_path: Path) -> None:
    engine = engine_of()
    found = push(engine, STREAM[:4])
    engine.snapshot(tmp_path / "state")
    restored = rw.Engine.restore(tmp_path / "state")
    assert times(restored) == 2
    assert sorted(found + push(restored, STREAM[4:])) == sorted(FOUND)


def test_a_network_for_instants_refuses_an_interval_where_nobody_makes_another() -> None:
    engine = engine_of()
    rows = np.zeros((1, ROW_WIDTH), dtype=np.int64)
    rows[:, : OBJECT + 1] = engine.encode([("<http://e/a>", "<http://e/p>", "<http://e/b>")])[:, : OBJECT + 1]
    rows[:, END] = 5
    with pytest.raises(ValueError, match="made for instants"):
        list(network_of(engine).runtime.pour(rows, engine.terms.values))


def test_ends_outlive_the_query_that_asked_for_them() -> None:
    engine = rw.Engine()
    engine.register(QUERY)
    ranges = engine.register(
        "SELECT ?x FROM STREAM <http://e/s> [RANGE 10s] FROM STREAM <http://e/t> [RANGE 5s] { ?x <http://e/p> ?y }"
    )
    engine.push(("<http://e/a>", "<http://e/p>", "<http://e/c>"), time=(1.0, 9.0))
    engine.push(("<http://e/a>", "<http://e/p>", "<http://e/b>"), time=9.5)
    engine.remove(ranges)
    engine.push(("<http://e/u>", "<http://e/u>", "<http://e/u>"), time=10.0)
    engine.register("SELECT ?y FROM STREAM <http://e/s> [RANGE 5s] { ?x <http://e/p> ?y }", name="narrow")
    assert [(str(m["y"]), m.start, m.end) for m in engine.flush()] == [("http://e/b", 9.5, 9.5)]
