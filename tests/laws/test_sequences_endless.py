"""Sequences without WITHIN: finished runs are collected, nothing that is told changes by it, and rows stay bounded."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest
from cases.many import many
from helpers.inside import network_of
from helpers.told_runs import ToldRun, told_run

import retewave as rw
from retewave.rete import finishing
from retewave.rete.memory.finished import run_links
from retewave.rete.words import layout

SEQUENCES = (
    "A, B+, C",
    "A; B; C",
    "A; B+; C",
    "A, B, C",
    "A; (B | C)+, D",
    "A; B+!; C",
    "A; D!; C",
    "A, B?, C",
    "A:B; C",
)
PATTERNS = """DEFINE GPM A ON S { ?x :a ?p1 }  DEFINE GPM B ON S { ?x :b ?p2 FILTER (?p2 < ?p1) }
    DEFINE GPM C ON S { ?x :c ?p3 }  DEFINE GPM D ON S { ?x :d ?p4 }"""
Event = tuple[float, tuple[str, str, int]]


def asked(sequence: str, partition: bool, within: str = "") -> str:
    names = {"A": "?p1", "B": "?p2", "C": "?p3"}
    shown = " ".join(variable for name, variable in names.items() if name in sequence)
    head = f"PREFIX : <urn:> SELECT ?x {shown} {within} {'PARTITION BY (?x)' if partition else ''} FROM STREAM S :S"
    return f"{head} WHERE {{ SEQ ({sequence}) {PATTERNS} }}"


def events(random: Random, count: int) -> Iterator[Event]:
    for n in range(count):
        yield n, (f"urn:x{random.randrange(3)}", f"urn:{random.choice('aabbccd')}", random.randrange(9))


def engine_for(query: str, max_runs: int | None = None) -> rw.Engine:
    engine = rw.Engine(allow_cartesian=True, max_runs=max_runs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        engine.register(query, keep=0)
    return engine


def told(engine: rw.Engine, stream: list[Event]) -> list[Counter[ToldRun]]:
    """Return what each event, pushed alone, completes."""
    return [Counter(map(told_run, engine.push(triple, time=time, stream="urn:S"))) for time, triple in stream]


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_a_collection_before_each_event_changes_nothing_that_is_told(
    sequence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finishing.FinishedRuns, "is_due", lambda *_: True)
    gone = 0
    for seed in range(many(3)):
        random = Random(f"{sequence} {seed}")
        partition, stream = random.random() < 0.5, list(events(random, 300))
        engine = engine_for(asked(sequence, partition))
        assert told(engine, stream) == told(engine_for(asked(sequence, partition, "WITHIN 9999 HOURS")), stream)
        gone += engine.stats()["collected"]
    assert gone > 100


def needed(engine: rw.Engine) -> int:
    """Return how many runs may go on, and how many instants are the last of their partition."""
    runtime = network_of(engine).runtime
    finished, net, arena = finishing.FinishedRuns(runtime.network), runtime.net, runtime.arena
    return sum(len(run_links(net, arena, slot, layout.R_LINK, False)) for slot in finished.slots)


@pytest.mark.parametrize("sequence", ["A, B+, C", "A, B, C", "A; B; C"])
def test_rows_without_within_are_bounded_by_the_runs_that_may_go_on(
    sequence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finishing, "FEWEST", 200)
    for seed in range(many(3)):
        random = Random(f"bounded {sequence} {seed}")
        engine, most = engine_for(asked(sequence, True)), 0
        for time, triple in events(random, 4000):
            engine.push(triple, time=time, stream="urn:S")
            most = max(most, needed(engine)) if time % 50 == 0 else most
            assert engine.stats()["live_rows"] <= 200 + 2 * layout.PAGE // 4 * (most + 8)
        assert engine.stats()["collected"] > 3000


def test_runs_that_are_finished_do_not_count_against_the_bound_on_runs() -> None:
    engine = engine_for(asked("A, B+, C", True), max_runs=500)
    for time, triple in events(Random("bound"), 4000):
        engine.push(triple, time=time, stream="urn:S")
    assert engine.stats()["runs"] <= 500
