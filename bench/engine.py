"""The engine as an adapter: the only module of the bench that knows retewave's API.

Where it stands: beside the peers, under the same protocol.  Warm-up is a short stream through the same
patterns in the same process, before the clock starts, so that no compilation and no import is measured.
"""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any

from retewave.bench.task import Adapter, Result, Task

__all__ = ["ADAPTER"]

PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999, "max": 1.0}


def _missing() -> str:
    import retewave

    return "" if hasattr(retewave, "Engine") else "this version of retewave has no Engine"


def _engine(task: Task, on_match: Any = None) -> Any:
    rw: Any = import_module("retewave")
    schema = [str(task.schema)] if task.schema else []
    static = [str(task.static)] if task.static else []
    engine = rw.Engine(schema=schema, static=static)
    for text in task.queries:
        engine.register(text, on_match=on_match)
    return engine


def _drain(engine: Any, path: str, rate: int) -> int:
    rw: Any = import_module("retewave")
    return sum(1 for _ in engine.run(rw.read(path, rate=rate)))


def _run(task: Task) -> Result:
    _drain(_engine(task), str(task.warm_up), task.question.rate)
    engine = _engine(task)
    started = time.perf_counter()
    matches = _drain(engine, str(task.offers), task.question.rate)
    seconds = time.perf_counter() - started
    told = engine.stats()["seconds"]
    return Result(matches, seconds, told["read"], told["match"])


def percentiles(latencies: list[float]) -> dict[str, float]:
    """Return the percentiles that the report shows.

    >>> percentiles([0.003, 0.001, 0.002])["p50"]
    0.002
    """
    ordered = sorted(latencies)
    return {name: ordered[min(int(part * len(ordered)), len(ordered) - 1)] for name, part in PERCENTILES.items()}


def _push_on_time(engine: Any, triples: list, rate: int, batch: int) -> float:
    """Push triples at their nominal times, each when it is due: never early, and never skipped when late.

    Batch 0 pushes whatever is due by then in one call.  Return the clock's value at event time 0.  A match is
    late by the clock minus its own end's due time, so a stall counts against every triple behind it
    (no coordinated omission).
    """
    zero = time.perf_counter()
    done = 0
    while done < len(triples):
        due = int((time.perf_counter() - zero) * rate) + 1
        if due <= done:
            continue
        upto = min(due if batch == 0 else done + batch, len(triples))
        for i in range(done, upto) if batch else ():
            engine.push(triples[i], time=i / rate)
        if batch == 0:
            engine.push(triples[done:upto], time=[i / rate for i in range(done, upto)])
        done = upto
    return zero


def _latency(task: Task) -> Result:
    seen: list[tuple[float, float]] = []  # the clock, and the match's end in event time
    triples = [tuple(line[:-3].decode().split(" ", 2)) for line in task.offers.read_bytes().splitlines(keepends=True)]
    rate = task.question.rate
    _push_on_time(_engine(task, on_match=lambda match: None), triples[:5_500], rate, task.batch)
    engine = _engine(task, on_match=lambda match: seen.append((time.perf_counter(), match.end)))
    zero = _push_on_time(engine, triples, rate, task.batch)
    seconds = time.perf_counter() - zero
    return Result(len(seen), seconds, latencies=percentiles([clock - zero - end for clock, end in seen]))


ADAPTER = Adapter(
    name="retewave",
    cannot="",
    run=lambda task: _latency(task) if task.mode == "latency" else _run(task),
    missing=_missing,
    patterns=(1, 2, 3),
)
