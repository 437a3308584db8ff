"""What it would bring to spread one engine's network over threads, without Spark: the best case, by a prototype.

`python -m retewave.bench shard-threads`.  Rows are split by the hash of the key, each thread pours its part into a
network of its own, and all share one dictionary.  An engine reads in one thread and matches in another already: so the
pipeline with two networks is measured against that, and more cores are told by the busiest thread's part.
Left out: matches that several threads find at one time would have to be put in order, which an engine promises.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from retewave.bench.events.engine import counted, engine_of, matches_in, reader_of
from retewave.bench.events.streams import absent, make
from retewave.bench.events.task import WORKLOADS, EventTask
from retewave.engine.compiled import CompiledNetwork, build
from retewave.rete.words.rows import SUBJECT

__all__ = ["InThreads", "measured"]

_MIXED = np.int64(0x1E3779B97F4A7C15)  # odd: neighbouring ids go to different parts
_CORES = (8, 32)


@dataclass(frozen=True)
class InThreads:
    """The seconds that one stream takes, and its parts."""

    workload: str  # its name
    matches: int  # found by each way
    embedded: float  # from bytes to counted matches, in one engine
    pipeline: float  # the same by one reader and two networks
    read: float  # reading and splitting alone
    one: float  # one network alone, on rows that are there
    two: float  # two networks alone, in threads
    parts: tuple[float, ...]  # by number of cores beyond: the busiest network's part of the rows

    def with_cores(self, place: int) -> float:
        """Return the seconds with a core for the reader and for each network: the slowest decides."""
        return max(self.read, self.one * self.parts[place])


def measured(task: EventTask) -> InThreads:
    """Measure one workload; its matches must be those of the embedded engine."""
    query = WORKLOADS[task.workload].query()
    embedded = counted(task, query)
    engine, reader = engine_of(query), reader_of(task, str(task.rdf))
    began = time.perf_counter()
    rows = [chunk.rows for chunk in reader.chunks(engine.terms, engine.matcher.acceptance)]
    halves = [_split(each, 2) for each in rows]
    read = time.perf_counter() - began
    one, found = _timed(lambda: _poured(_network(engine), rows, engine))
    networks = [_network(engine) for _ in range(2)]
    parts = [[each[number] for each in halves] for number in range(2)]
    with ThreadPoolExecutor(2) as threads:
        two, both = _timed(
            lambda: sum(threads.map(lambda number: _poured(networks[number], parts[number], engine), range(2)))
        )
    pipeline, piped = _timed(lambda: _piped(task, query))
    if not embedded.matches == found == both == piped:
        raise ValueError(f"{task.workload}: {embedded.matches}, {found}, {both}, {piped} matches")
    keys = np.concatenate(rows)[:, SUBJECT]
    busiest = tuple(float(np.bincount(_places(keys, cores)).max() / len(keys)) for cores in _CORES)
    return InThreads(task.workload, found, embedded.seconds, pipeline, read, one, two, busiest)


def _timed(work: Callable[[], int]) -> tuple[float, int]:
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found


def _places(keys: np.ndarray, parts: int) -> np.ndarray:
    mixed: np.ndarray = (keys * _MIXED >> 32) % parts
    return mixed


def _split(rows: np.ndarray, parts: int) -> list[np.ndarray]:
    """Return the rows of each part, in their order."""
    places = _places(rows[:, SUBJECT], parts)
    return [rows[places == part] for part in range(parts)]


def _network(engine: Any) -> CompiledNetwork:
    """Return another network of an engine's queries, over the same dictionary."""
    datasets, registry = engine.datasets, engine.registry
    return build(
        registry.listeners(), registry.queries, datasets.schema.network, engine.terms, datasets.static,
        engine.matcher.options, False, registry.streams,
    )  # fmt: skip


def _poured(network: CompiledNetwork, parts: Sequence[np.ndarray], engine: Any) -> int:
    return _drained(network, iter(parts), engine)


def _drained(network: CompiledNetwork, parts: Iterator[np.ndarray], engine: Any) -> int:
    """Pour rows as they come; return how many matches there are."""
    found = 0
    for rows in parts:
        found += sum(matches_in(out) for out in network.runtime.pour(rows, engine.terms.values))
    return found


def _piped(task: EventTask, query: str) -> int:
    """Read in this thread, match in two others; return how many matches there are."""
    engine, reader = engine_of(query), reader_of(task, str(task.rdf))
    queues: list[SimpleQueue[np.ndarray | None]] = [SimpleQueue(), SimpleQueue()]
    networks = [_network(engine) for _ in queues]
    with ThreadPoolExecutor(2) as threads:
        running = [
            threads.submit(_drained, network, _taken(queue), engine)
            for network, queue in zip(networks, queues, strict=True)
        ]
        for chunk in reader.chunks(engine.terms, engine.matcher.acceptance):
            for queue, rows in zip(queues, _split(chunk.rows, len(queues)), strict=True):
                queue.put(rows)
        for queue in queues:
            queue.put(None)
        return sum(each.result() for each in running)


def _taken(queue: SimpleQueue[np.ndarray | None]) -> Iterator[np.ndarray]:
    """Yield what a queue brings, up to its end."""
    while (rows := queue.get()) is not None:
        yield rows


def main(
    size: Annotated[int, typer.Option(help="events of a stream")] = 1_000_000,
    data: Annotated[Path, typer.Option(help="where the streams are kept")] = Path("bench/out/events"),
) -> None:
    """Measure what a network in several threads would bring."""
    if missing := absent():
        raise typer.BadParameter(missing)
    data.mkdir(parents=True, exist_ok=True)
    table = Table(title=f"one engine's network in threads, {size:,} events, seconds")
    heads = ["stream", "embedded", "2 networks, piped", "read", "1 network", "2 networks"]
    for head in [*heads, *(f"{cores} cores, told" for cores in _CORES)]:
        table.add_column(head, justify="left" if head == "stream" else "right")
    for name in ("W1", "W4"):
        measured(make(name, 4_000, data, rdf=True))  # kernels are loaded
        found = measured(make(name, size, data, rdf=True))
        seconds = [found.embedded, found.pipeline, found.read, found.one, found.two, *map(found.with_cores, (0, 1))]
        table.add_row(name, *(f"{each:.3f}" for each in seconds))
    Console(width=150).print(table)


if __name__ == "__main__":
    typer.run(main)
