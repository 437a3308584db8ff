"""retewave as a peer of the event workloads: from bytes to counted matches, and the network alone.

Where it stands: beside the other peers, under the same protocol.  The queries are `queries/w1.rq`, `w2.spaseq` and so
on; a workload whose query the compiler refuses is skipped with its words.  Matches are counted as the engine hands them
out; no term is decoded.
Invariant: the network, its kernels and the reader have seen the stream's beginning before the clock starts.
"""

from __future__ import annotations

import itertools
from importlib import import_module
from pathlib import Path
from typing import Any

from retewave.bench.events.task import WORKLOADS, EventFound, EventPeer, EventTask, clocked
from retewave.windows.intervals import AFTER_ALL

__all__ = ["PEERS", "counted", "engine_of", "matches_in", "poured", "reader_of", "refused"]

_WARM_UP = 4_000  # lines


def refused(workload: str) -> str:
    """Return why the query of a workload cannot run, or nothing."""
    errors, parse = import_module("retewave.errors"), import_module("retewave.compiler.parse").parse
    asked = WORKLOADS[workload]
    try:
        parse(asked.query(), source=asked.file.name)
    except errors.RetewaveError as error:
        return f"retewave does not support this query yet: {str(error).splitlines()[0]}"
    return ""


def engine_of(query: str) -> Any:
    """Return an engine with a query, whose network is made."""
    engine = import_module("retewave").Engine()
    engine.register(query, keep=0)
    engine.flush()  # makes the network, which is not the stream's time
    return engine


def reader_of(task: EventTask, source: Any) -> Any:
    """Return a reader of a workload's stream."""
    workload, rw = WORKLOADS[task.workload], import_module("retewave")
    times = {"time_property": workload.time_property} if workload.time_property else {"rate": 1e6 / task.step}
    return rw.read(source, format=workload.rdf, **times)


def _beginning(path: Path) -> bytes:
    with path.open("rb") as lines:
        return b"".join(itertools.islice(lines, _WARM_UP))


def counted(task: EventTask, query: str) -> EventFound:
    """Read the stream's bytes, and count the matches of a query."""

    def drained(source: Any) -> EventFound:
        engine, reader = engine_of(query), reader_of(task, source)
        return clocked(lambda: (sum(len(found) for batch in engine.run_batches(reader) for found in batch), None, None))

    drained(_beginning(_rdf(task)))
    return drained(str(_rdf(task)))


def matches_in(out: Any) -> int:
    """Return how many matches output rows tell of; behind a match, a row may tell of a part of its run."""
    layout = import_module("retewave.rete.words.layout")
    return int(((out[:, layout.O_BRANCH] & layout.TOLD_RUN) == 0).sum())


def poured(task: EventTask, query: str) -> EventFound:
    """Pour rows that were encoded beforehand into the network, in one thread, and count what comes out."""

    def encoded(source: Any) -> EventFound:
        engine, reader = engine_of(query), reader_of(task, source)
        chunks = [chunk.rows for chunk in reader.chunks(engine.terms, engine.matcher.acceptance)]
        runtime, values = engine.matcher.current().runtime, engine.terms.values

        def all_of_it() -> tuple[int, None, None]:
            found = sum(matches_in(out) for rows in chunks for out in runtime.pour(rows, values))
            return found + sum(matches_in(out) for out in runtime.advance(AFTER_ALL, values)), None, None

        return clocked(all_of_it)

    encoded(_beginning(_rdf(task)))
    return encoded(str(_rdf(task)))


def _rdf(task: EventTask) -> Path:
    if task.rdf is None:
        raise ValueError(f"{task.workload}: the engine reads RDF, and the task has none")
    return task.rdf


PEERS = {
    "retewave": EventPeer(
        name="retewave, bytes to counted matches",
        cannot="",
        run=lambda task: counted(task, WORKLOADS[task.workload].query()),
        missing=refused,
        reads_rdf=True,
    ),
    "retewave network": EventPeer(
        name="retewave, network alone (encoded rows)",
        cannot="",
        run=lambda task: poured(task, WORKLOADS[task.workload].query()),
        missing=refused,
        reads_rdf=True,
    ),
}
