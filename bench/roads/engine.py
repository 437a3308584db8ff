"""retewave on the roads: the two rules alone, and agents that are pushed and answered.

Where it stands: beside `search`, under the same traffic.  Derivations are told twice: as solutions of rules, and as
new facts, which are fewer, because a crossing that is reached over three roads is one fact.
Invariant: the network, its kernels and the static data are there before the clock starts.
"""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import retewave as rw
from retewave.bench.roads.city import SECOND, STREAM, City, Traffic, query
from retewave.bench.roads.search import Derived
from retewave.rete.words.rows import END, ROW_WIDTH, START
from retewave.rete.words.rows import STREAM as STREAM_WORD

__all__ = ["RULES", "Visited", "engine_of", "poured", "visited"]

RULES = {
    "rq": ("roads_at.rq", "roads_on.rq"),
    "epsparql": ("roads_at.epsparql", "roads_on.epsparql"),
}  # language -> the rules


def engine_of(town: City, *names: str) -> Any:
    """Return an engine that knows the roads, with queries whose network is made."""
    engine = rw.Engine(static=[list(town.static())])
    for name in names:
        text, language = query(name)
        engine.register(text, language=language, name=name.partition(".")[0], keep=0)
    engine.flush()
    return engine


def encoded(engine: Any, traffic: Traffic) -> np.ndarray:
    """Return a traffic as rows of an engine's ids."""
    events = [(at, triple) for at, triples in traffic.triples() for triple in triples]
    rows = np.zeros((len(events), ROW_WIDTH), dtype=np.int64)
    rows[:, :3] = engine.encode([triple for _, triple in events])
    rows[:, START] = rows[:, END] = [at for at, _ in events]
    rows[:, STREAM_WORD] = engine.registry.stream_number(STREAM)
    return rows


def poured(town: City, traffic: Traffic, rules: tuple[str, ...]) -> tuple[Derived, float]:
    """Pour rows into the rules' network; return what they have found, and the processor's seconds."""
    engine = engine_of(town, *rules)
    rows = encoded(engine, traffic)
    started = time.process_time()
    engine.matcher.advance(int(traffic.time[-1]) + 1)  # the last instant is closed, too
    told = engine.matcher.pour(rows, engine.shown_clock)
    solutions = sum(len(matches) for batch in told for matches in batch)
    seconds = time.process_time() - started
    return Derived(engine.stats()["derivations"], solutions, 0), seconds


@dataclass
class Visited:
    """What agents have seen."""

    found: Derived
    asked: list[float] = field(default_factory=list)  # seconds from each question to its answer, by the clock
    busy: list[float] = field(default_factory=list)  # the same, of the processor
    updates: float = 0.0  # seconds of the processor for all closures
    live_rows: int = 0  # at most
    arena: int = 0  # bytes of rows and groups in the end


def visited(town: City, traffic: Traffic) -> Visited:
    """Push closures and questions one by one, and wait for each answer; no two agents ask at the same time."""
    engine = engine_of(town, *RULES["epsparql"], "roads_wanted.epsparql")
    seen, answers, solutions = Visited(Derived(0, 0, 0)), 0, 0
    gc.collect()
    gc.freeze()
    for at, is_asked, triples in sorted((at, "isAt" in triples[0][1], triples) for at, triples in traffic.triples()):
        worked, started = time.process_time(), time.perf_counter()
        found = engine.push(triples, time=at / SECOND, stream=STREAM)
        if not is_asked:
            seen.updates += time.process_time() - worked
        else:
            found += engine.advance((at + 1) / SECOND)
            seen.asked.append(time.perf_counter() - started)
            seen.busy.append(time.process_time() - worked)
            seen.live_rows = max(seen.live_rows, engine.stats()["live_rows"])
        told = [match.query.name for match in found]
        answers += told.count("roads_wanted")
        solutions += len(told) - told.count("roads_wanted")
    gc.unfreeze()
    told = engine.stats()
    seen.arena, seen.found = told["arena_bytes"], Derived(told["derivations"], solutions, answers)
    return seen
