"""The engine as an adapter: the one module of the bench that knows retewave's API, beside `costs`, `written`, `soak`.

Where it stands: beside the peers, under the same protocol.  Warm-up is a short stream through the same
patterns in the same process, before the clock starts, so that no compilation and no import is measured.
Matches are counted as the batches that the engine hands out; no term is decoded, as in the C program.  In mode
`spelled` all terms are, as on Spark.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from retewave.bench.task import Adapter, Result, Task

__all__ = ["ADAPTER", "Encoded", "drain", "encode", "engine_of", "percentiles"]

PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999, "max": 1.0}


def _missing() -> str:
    return "" if hasattr(import_module("retewave"), "Engine") else "this version of retewave has no Engine"


def engine_of(task: Task, on_match: Callable[[Any], object] | None = None) -> Any:
    """Return an engine with the task's schema, static data and queries."""
    rw: Any = import_module("retewave")
    schema = [str(task.schema)] if task.schema else []
    static = [str(task.static)] if task.static else []
    engine = rw.Engine(schema=schema, static=static, stats=task.stats)
    for text in task.queries:
        engine.register(text, on_match=on_match, keep=0)
    return engine


def drain(engine: Any, source: Any, rate: int) -> int:
    """Run a stream through the engine; return how many matches came."""
    rw: Any = import_module("retewave")
    reader = rw.read(source, rate=rate)
    return sum(len(found) for batch in engine.run_batches(reader) for found in batch)


def _spelled(engine: Any, source: Any, rate: int) -> int:
    """Run a stream through the engine, and every match out of it as text in Arrow's columns; return their number."""
    matches, reader = 0, import_module("retewave").read(source, rate=rate)
    with Path(os.devnull).open("wb") as out:
        sink = import_module("retewave.io.sinks.arrow").ArrowSink(out, engine.queries[0].variables, seconds=True)
        for found in engine.run_batches(reader):
            sink.write(found)
            matches += sum(map(len, found))
        sink.close()
    return matches


def _run(task: Task, drain: Callable[[Any, Any, int], int] = drain) -> Result:
    drain(engine_of(replace(task, queries=task.queries[:1])), str(task.warm_up), task.question.rate)
    engine = engine_of(task)
    engine.flush()  # makes the network and loads the static data, which is not the stream's time
    before = engine.stats()["seconds"]
    started = time.perf_counter()
    matches = drain(engine, str(task.offers), task.question.rate)
    seconds = time.perf_counter() - started
    told = engine.stats()["seconds"]
    return Result(matches, seconds, told["read"] - before["read"], told["match"] - before["match"])


def percentiles(latencies: list[float]) -> dict[str, float]:
    """Return the percentiles that the report shows.

    >>> percentiles([0.003, 0.001, 0.002])["p50"]
    0.002
    """
    ordered = sorted(latencies)
    last = len(ordered) - 1
    return {name: ordered[min(int(part * len(ordered)), last)] for name, part in PERCENTILES.items()}


def _triple(line: bytes) -> tuple[str, ...]:
    """Return the three texts of a line as it is written here: with one blank between them, and before the dot."""
    return tuple(line[:-3].decode().split(" ", 2))


class _Live:
    """A stream that comes when it is due: line i at i / rate seconds after the first was asked for.

    A match is as late as the clock says beyond its end's due time.  Lines are never held back because the
    engine was slow, so a stall counts against every line behind it (no coordinated omission).
    """

    def __init__(self, lines: list[bytes], rate: int) -> None:
        self.lines = lines
        self.rate = rate
        self.zero = 0.0  # the clock at event time 0
        self.late: list[float] = []  # seconds, of each match

    def on_match(self, match: Any) -> None:
        """Take down how late a match is."""
        self.late.append(time.perf_counter() - self.zero - float(match.end))

    def _due(self) -> int:
        """Return how many lines are due by now."""
        return min(int((time.perf_counter() - self.zero) * self.rate) + 1, len(self.lines))

    def chunks(self) -> Iterator[bytes]:
        """Yield whatever has come due, in one chunk."""
        self.zero = time.perf_counter()
        done = 0
        while done < len(self.lines):
            due = self._due()
            if due > done:
                yield b"".join(self.lines[done:due])
                done = due
            else:
                time.sleep(1e-5)  # as a socket would: without the GIL, which the matching thread needs

    def push_each(self, engine: Any) -> None:
        """Push every line by itself when it is due."""
        triples = [_triple(line) for line in self.lines]
        self.zero = time.perf_counter()
        for i, triple in enumerate(triples):
            while self._due() <= i:
                pass
            engine.push(triple, time=i / self.rate)


def _ready(task: Task, on_match: Callable[[Any], object]) -> Any:
    """Return an engine with its network, and put what there is by now out of the garbage collector's way.

    Else the collector goes through all modules once in a while, for tens of milliseconds.
    """
    engine = engine_of(task, on_match)
    engine.flush()
    gc.collect()
    gc.freeze()
    return engine


def _play(task: Task, lines: list[bytes]) -> _Live:
    """Play lines live to a new engine, one by one or as they come."""
    live = _Live(lines, task.question.rate)
    engine = _ready(task, live.on_match)
    if task.batch == 1:
        live.push_each(engine)
    else:
        drain(engine, live.chunks(), task.question.rate)
    return live


def _latency(task: Task) -> Result:
    _play(task, task.warm_up.read_bytes().splitlines(keepends=True))
    live = _play(task, task.offers.read_bytes().splitlines(keepends=True))
    return Result(len(live.late), time.perf_counter() - live.zero, latencies=percentiles(live.late))


def _push_all(task: Task, lines: list[bytes]) -> Result:
    """Push one line behind the other; the latency is that of the pushes that match, up to their first callback."""
    called: list[float] = []  # when
    engine = _ready(task, lambda match: called.append(time.perf_counter()))
    triples, taken = [_triple(line) for line in lines], []
    started = time.perf_counter()
    for i, triple in enumerate(triples):
        seen, before = len(called), time.perf_counter()
        engine.push(triple, time=i / task.question.rate)
        if len(called) > seen:
            taken.append(called[seen] - before)
    return Result(len(called), time.perf_counter() - started, latencies=percentiles(taken))


def _pushes(task: Task) -> Result:
    _push_all(task, task.warm_up.read_bytes().splitlines(keepends=True))
    return _push_all(task, task.offers.read_bytes().splitlines(keepends=True))


@dataclass(frozen=True)
class Encoded:
    """A stream whose rows were scanned beforehand, and the network that they are for."""

    engine: Any  # with the task's queries
    chunks: list[Any]  # of rows

    def pour(self, runtime: Any = None) -> int:
        """Pour the rows into the network, or into a given one; return how many output rows come out."""
        runtime, values = runtime or self.engine.matcher.current().runtime, self.engine.terms.values
        return sum(len(found) for rows in self.chunks for found in runtime.pour(rows, values))


def encode(task: Task) -> Encoded:
    """Scan a task's stream for a new network."""
    rw: Any = import_module("retewave")
    engine = engine_of(task)
    engine.flush()
    reader = rw.read(str(task.offers), rate=task.question.rate)
    return Encoded(engine, [chunk.rows for chunk in reader.chunks(engine.terms, engine.matcher.acceptance)])


def _network(task: Task) -> Result:
    """Measure one thread with nothing beside it, as the C program's join is measured."""
    encode(replace(task, offers=task.warm_up)).pour()
    rows = encode(task)
    started = time.perf_counter()
    matches = rows.pour()
    seconds = time.perf_counter() - started
    return Result(matches, seconds, match_seconds=seconds)


_MODES: dict[str, Callable[[Task], Result]] = {
    "run": _run,
    "spelled": partial(_run, drain=_spelled),
    "network": _network,
    "latency": _latency,
    "pushes": _pushes,
}


def _measured(task: Task) -> Result:
    """Measure in the task's mode."""
    if task.mode in _MODES:
        return _MODES[task.mode](task)
    if task.mode.startswith("written"):
        written: dict[str, Callable[[Task], Result]] = import_module("retewave.bench.written").WRITTEN
        return written[task.mode](task)
    costs: dict[str, Callable[[Task], Result]] = import_module("retewave.bench.costs").COSTS
    return costs[task.mode](task)


ADAPTER = Adapter(
    name="retewave",
    cannot="",
    run=_measured,
    missing=_missing,
    patterns=(1, 2, 3),
)
