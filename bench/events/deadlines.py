"""What deadlines cost: a push that opens one, and W3 against the same join without absence.

`python -m retewave.bench.events.deadlines` pushes the first requests and responses of W3 one by one, as triples, and
then pours encoded rows through two networks by turns: requests without a response, and requests with one.
Invariant: every run finds what is there.  Left out: readers; `retewave.bench events` has W3 from bytes.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from retewave.bench.engine import percentiles
from retewave.bench.events.engine import engine_of, reader_of
from retewave.bench.events.expected import expected
from retewave.bench.events.streams import KINDS, EventColumns, absent, columns, make
from retewave.bench.events.task import WORKLOADS, EventTask
from retewave.windows.intervals import AFTER_ALL

__all__ = ["JOIN", "Pushed", "answered", "cost", "poured_by_turns", "pushed"]

JOIN = Path(__file__).parents[1] / "queries" / "w3_join.rq"
_CEP = "http://example.org/cep#"


@dataclass(frozen=True)
class Pushed:
    """How long pushes took that opened a deadline, in seconds."""

    wall: list[float]  # by the clock
    busy: list[float]  # of the processor: what others do on the machine is not in it
    matches: int  # requests that were told


def pushed(stream: EventColumns, query: str) -> Pushed:
    """Push requests and responses one by one; a request opens a deadline."""
    engine = engine_of(query)
    wall, busy, found = [], [], []
    gc.collect()
    gc.freeze()
    for row, (at, key, kind) in enumerate(zip(stream.time.tolist(), stream.key.tolist(), stream.kind, strict=True)):
        asks = kind == KINDS["Q"]
        triple = (f"{_CEP}e{row}", f"{_CEP}{'request' if asks else 'response'}", f"{_CEP}r{key}")
        worked, started = time.thread_time(), time.perf_counter()
        told = engine.push(triple, time=at / 1e6)
        ended, done = time.perf_counter(), time.thread_time()
        found += told
        if asks:
            wall.append(ended - started)
            busy.append(done - worked)
    gc.unfreeze()
    return Pushed(wall, busy, len(found) + len(engine.flush()))


def answered(stream: EventColumns) -> int:
    """Return how many requests have a response in time."""
    open_ = expected("W3", stream).matches
    return int(np.count_nonzero(stream.kind == KINDS["Q"])) - open_


def poured_by_turns(task: EventTask, queries: Sequence[str], repetitions: int) -> list[list[tuple[int, float]]]:
    """Pour a stream's rows through new networks of the queries by turns; return the matches and seconds of each."""
    found: list[list[tuple[int, float]]] = [[] for _ in queries]
    for _ in range(repetitions):
        for runs, query in zip(found, queries, strict=True):
            runs.append(_poured(task, query))
    return found


def _poured(task: EventTask, query: str) -> tuple[int, float]:
    engine = engine_of(query)
    chunks = [chunk.rows for chunk in reader_of(task, str(task.rdf)).chunks(engine.terms, engine.matcher.acceptance)]
    runtime, values = engine.matcher.current().runtime, engine.terms.values
    started = time.process_time()
    matches = sum(len(out) for rows in chunks for out in runtime.pour(rows, values))
    matches += sum(len(out) for out in runtime.advance(AFTER_ALL, values))
    return matches, time.process_time() - started


def cost(absence: Sequence[tuple[int, float]], join: Sequence[tuple[int, float]]) -> list[float]:
    """Return by which part W3 took longer than the join, pair by pair.

    >>> cost([(1, 3.0)], [(5, 2.0)])
    [0.5]
    """
    return [one[1] / other[1] - 1 for one, other in zip(absence, join, strict=True)]


def _check(what: str, found: int, right: int) -> None:
    if found != right:
        raise SystemExit(f"WRONG: {what}: {found:,} matches instead of {right:,}")


def main(
    size: Annotated[int, typer.Option(help="requests that are poured", min=1000)] = 1_000_000,
    pushes: Annotated[int, typer.Option(help="requests that are pushed", min=1000)] = 100_000,
    repetitions: Annotated[int, typer.Option(help="pairs of runs", min=1)] = 5,
    data: Annotated[Path, typer.Option(help="where the streams are made")] = Path("bench/data/events"),
) -> None:
    """Measure what deadlines cost."""
    if why := absent():
        print(f"skipped: {why}", file=sys.stderr)
        return
    few, query = columns(make("W3", pushes, data).csv), WORKLOADS["W3"].query()
    pushed(EventColumns(*(column[:2000] for column in (few.time, few.key, few.value, few.kind))), query)
    timed = pushed(few, query)
    _check("pushes", timed.matches, expected("W3", few).matches)
    for name, seconds in (("by the clock", timed.wall), ("of the processor", timed.busy)):
        told = ", ".join(f"{part} {1e6 * value:.1f} µs" for part, value in percentiles(seconds).items())
        print(f"a push that opens a deadline, {name}: {told}", flush=True)
    task = make("W3", size, data, rdf=True)
    stream = columns(task.csv)
    absence, join = poured_by_turns(task, (query, JOIN.read_text()), repetitions)
    for matches, _ in absence:
        _check("absence", matches, expected("W3", stream).matches)
    for matches, _ in join:
        _check("join", matches, answered(stream))
    dearer = cost(absence, join)
    rate = statistics.median(task.rows / seconds for _, seconds in absence) / 1e6
    print(
        f"W3 network, {rate:.1f} M events for a second of the processor; against the join without absence "
        f"{statistics.median(dearer):+.0%} ({min(dearer):+.0%} to {max(dearer):+.0%}, {len(dearer)} pairs)"
    )


if __name__ == "__main__":
    typer.run(main)
