"""Sequences cut up, stopped, or beside others: the same is told; and a strategy finds no more than a freer one.

The cases are seeds, as in `test_engine_sequences.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby, pairwise
from pathlib import Path
from random import Random

from cases.engine import written
from cases.many import many
from cases.sequences import Case, Room, drawn
from helpers.telling import named, poured
from helpers.told_runs import ToldRun, engine_for, flushed, of_tokens, pushed, registered, told_run
from naive.detectors import detected
from naive.streams import Item

import retewave as rw
from retewave.compiler.algebra import Follows, Sequence, SequenceStep
from retewave.errors import QueryError
from retewave.windows.times import Clock

ALL = Room(repeated=True, maximal=True, absent=True, maybe=True, aggregates=True, doubled=True)
OTHERS = Room(repeated=True, maximal=True, absent=True, maybe=True, tumbling=True, past_last=True)


def supported(room: Room, count: int) -> Iterator[tuple[Case, Random]]:
    """Yield cases that the engine takes, each with what makes the rest of its test."""
    for seed in range(many(count)):
        case = drawn(Random(seed), OTHERS if room is ALL and seed % 3 == 0 else room)
        try:
            engine_for(case.query)
        except QueryError:
            continue
        yield case, Random(seed)


def told(engine: rw.Engine, events: list[list[Item]]) -> list[Counter[ToldRun]]:
    return [pushed(engine, each) for each in events]


def test_the_order_within_an_instant_does_not_matter() -> None:
    for case, random in supported(ALL, 250):
        there, other = engine_for(case.query)[0], engine_for(case.query)[0]
        mixed = []
        for _, instant in groupby(case.events, key=lambda each: each[0].end):
            events = list(instant)
            mixed += [random.sample(each, len(each)) for each in random.sample(events, len(events))]
        first = sum(told(there, case.events), Counter()) + flushed(there)
        assert first == sum(told(other, mixed), Counter()) + flushed(other), f"{case}"


def test_any_cut_into_batches_tells_the_same() -> None:
    for case, random in supported(ALL, 250):
        engine, whole = engine_for(case.query)[0], engine_for(case.query)[0]
        engine.clock = Clock("float")
        cuts = sorted({0, len(case.events), random.randint(0, len(case.events))})
        batches = [[item for each in case.events[first:last] for item in each] for first, last in pairwise(cuts)]
        found = sum((Counter(map(told_run, poured(engine, batch))) for batch in batches), Counter()) + flushed(engine)
        assert found == sum(told(whole, case.events), Counter()) + flushed(whole), f"cut at {cuts}\n{case}"


def test_more_events_never_take_back_what_was_told() -> None:
    for case, random in supported(ALL, 250):
        cut = random.randint(1, len(case.events))
        engine, _ = engine_for(case.query)
        first = [item for each in case.events[:cut] for item in each]
        found = sum(told(engine, case.events[:cut]), Counter())
        if all(step.occurs.value in ("", "+") for step in case.where.steps):
            assert found == of_tokens(detected(case.query, first, flush=False)), f"{case}"
        rest = sum(told(engine, case.events[cut:]), Counter()) + flushed(engine)
        whole, _ = engine_for(case.query)
        assert found + rest == sum(told(whole, case.events), Counter()) + flushed(whole), f"{case}"


def test_an_engine_that_is_restored_goes_on_as_if_it_had_never_stopped(tmp_path: Path) -> None:
    path = tmp_path / "case.snapshot"
    for case, random in supported(ALL, 250):
        case = replace(case, query=replace(case.query, text="case"))
        engine, _ = engine_for(case.query)
        cut = random.randint(0, len(case.events))
        told(engine, case.events[:cut])
        engine.snapshot(path)
        with named(case.query):
            restored = rw.Engine.restore(path)
        for each in case.events[cut:]:
            assert pushed(restored, each) == pushed(engine, each), f"cut at {cut}\n{case}"
        assert flushed(restored) == flushed(engine), f"cut at {cut}\n{case}"


def test_other_queries_that_come_and_go_change_nothing() -> None:
    for case, random in supported(ALL, 250):
        guest = drawn(Random(random.random()), ALL) if random.random() < 0.5 else case
        alone, _ = engine_for(case.query)
        engine, query = engine_for(case.query)
        came, goes = random.randint(0, len(case.events)), random.randint(0, len(case.events))
        other: rw.Query | None = None
        for place, each in enumerate(case.events):
            if place == came:
                try:
                    other = registered(engine, guest.query)
                except QueryError:
                    other = None
            if place == goes and other is not None:
                engine.remove(other)
                other = None
            assert of_query(engine, query, each) == pushed(alone, each), f"beside {guest.text} from {came}\n{case}"
        last = Counter(told_run(match) for match in engine.flush() if match.query is query)
        assert last == flushed(alone), f"beside {guest.text} from {came}\n{case}"


def of_query(engine: rw.Engine, query: rw.Query, event: list[Item]) -> Counter[ToldRun]:
    """Push an event; return what one of the queries tells."""
    first = event[0]
    times = (first.start / 1e6, first.end / 1e6)
    found = engine.push([written(i.triple) for i in event], time=times, stream=first.stream, event=first.event)
    return Counter(told_run(match) for match in found if match.query is query)


def following(step: SequenceStep, follows: Follows) -> SequenceStep:
    return replace(step, follows=follows, between=follows)


def test_each_strategy_finds_no_more_than_a_freer_one() -> None:
    for case, _ in supported(Room(repeated=True), 250):
        found = []
        for follows in (Follows.STRICT, Follows.NEXT, Follows.ANY):
            where: Sequence = replace(case.where, steps=tuple(following(each, follows) for each in case.where.steps))
            engine, _ = engine_for(replace(case.query, where=where))
            found.append(sum(told(engine, case.events), Counter()))
        assert found[0] <= found[1] <= found[2], f"{case}"
