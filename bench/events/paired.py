"""A policy that uses events up, over and over: resident memory after the first tenth must stay flat.

`python -m retewave.bench.events.paired` plays 50 million of W4's events from bytes, lap by lap as `soak` does, to a
query whose C's each take the first A that is left (`queries/paired.rq`).
Invariant: the run is checked against queues by hand, one a key.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from retewave.bench.events.engine import engine_of, reader_of
from retewave.bench.events.soak import MOST, Laps, risen
from retewave.bench.events.streams import KINDS, EventColumns, absent, columns, make
from retewave.bench.events.task import WITHIN
from retewave.bench.soak import growth, resident

__all__ = ["QUERY", "paired"]

QUERY = Path(__file__).parents[1] / "queries" / "paired.rq"


def paired(stream: EventColumns, step: int, laps: int) -> list[int]:
    """Return how many pairs there are after each lap: each C takes the first A of its key that is left."""
    waiting: dict[int, deque[int]] = defaultdict(deque)
    found, counts = 0, []
    rows = np.flatnonzero(np.isin(stream.kind, (KINDS["A"], KINDS["C"])))
    events = list(zip(*(of[rows].tolist() for of in (stream.time, stream.key, stream.kind)), strict=True))
    for lap in range(laps):
        behind = lap * len(stream.time) * step
        for at, key, kind in events:
            now, queue = at + behind, waiting[key]
            while queue and now - queue[0] > WITHIN["W4"]:
                queue.popleft()
            if kind == KINDS["A"]:
                queue.append(now)
            elif queue:
                queue.popleft()
                found += 1
        counts.append(found)
    return counts


def main(
    events: Annotated[int, typer.Option(help="how many to play", min=1)] = 50_000_000,
    size: Annotated[int, typer.Option(help="events of a lap, 0.2 ms each", min=100_000)] = 1_000_000,
    data: Annotated[Path, typer.Option(help="where the stream is made")] = Path("bench/data/events"),
) -> None:
    """Play W4 lap by lap to a query that pairs its events, and watch the memory."""
    if why := absent():
        raise SystemExit(f"skipped: {why}")
    task = make("W4", size, data, rdf=True)
    laps = Laps(task, -(-events // task.rows))
    engine, started = engine_of(QUERY.read_text()), time.perf_counter()
    batches = engine.run_batches(reader_of(task, laps.file()))
    found = sum(len(matches) for batch in batches for matches in batch)
    seconds, more = time.perf_counter() - started, risen(laps.samples)
    print(f"{laps.samples[-1][0]:,} events, {found:,} pairs, {seconds:.0f} s, {resident() / 1e6:.0f} MB,", end=" ")
    print(f"{more:+.2%} since the first tenth in the means of tenths ({growth(laps.samples):+.2%} at most)", flush=True)
    counts = paired(columns(task.csv), task.step, min(laps.laps, 3))
    further = laps.laps - len(counts)  # laps; each begins as the second ended, and finds what the third does
    right = counts[-1] + further * (counts[-1] - counts[-2] if further else 0)
    if found != right:
        raise SystemExit(f"WRONG: {found:,} pairs instead of {right:,}")
    if more > MOST:
        raise SystemExit(f"memory is not flat: more than {MOST:.0%}")


if __name__ == "__main__":
    typer.run(main)
