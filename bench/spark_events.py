"""Event workloads over shards: on `local[2]` against plain Spark by hand, and simulated from 1 to 1,000 shards.

`python -m retewave.bench.spark_events` simulates; with `--live` it starts Spark, too.
A simulation routes the whole stream with the product's router, and lets the busiest shard do its real work: the time of
the stream is that, and each shard's part of the routing.  Live, each way reads one file in micro-batches and puts every
match out as a row; the streams' beginnings warm it up.  Processor time is that of all processes, the JVM's included.
Left out: what Spark adds to a micro-batch is no part of the simulation.
"""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import psutil
import pyarrow as pa
import typer
from rich.console import Console
from rich.table import Table

from retewave.bench.events.engine import engine_of, reader_of
from retewave.bench.events.streams import absent, columns, make
from retewave.bench.events.task import WORKLOADS, EventTask
from retewave.io.sinks.sinks import open_sink
from retewave.spark.driver.job import Job
from retewave.spark.worker.route import Packet, Router
from retewave.spark.worker.shard import Shard

__all__ = ["GROUPED", "Simulated", "simulated"]

SHARDS = (1, 2, 4, 8, 32, 100, 320, 1000)
GROUPED = """PREFIX e: <http://example.org/cep#>
SELECT ?company (AVG(?price) AS ?mean) FROM STREAM <http://example.org/cep> [RANGE 60s STEP 10s]
WHERE { ?company e:hasStockPrice ?price } GROUP BY ?company"""
_WARM_UP = 4_000  # lines


# ---- simulated ----
@dataclass(frozen=True)
class Simulated:
    """A stream over some shards."""

    query: str  # its name in tables
    shards: int  # how many
    by: str  # the key, or why there is none
    skew: float  # bytes of the busiest shard, over the mean of all
    replication: float  # shards that an event goes to, on average
    routing: float  # seconds of a processor
    busiest: float  # seconds of a processor that the busiest shard takes

    @property
    def seconds(self) -> float:
        """How long the stream takes with a core for each shard."""
        return self.routing / self.shards + self.busiest


def _times(task: EventTask) -> dict[str, Any]:
    wanted = WORKLOADS[task.workload]
    return {"time_property": wanted.time_property} if wanted.time_property else {"rate": 1e6 / task.step}


def _routed(job: Job, text: bytes) -> list[Packet]:
    first = None if job.rate is None else np.array([0])
    scopes = np.array([0]) if job.rate is None else None
    return Router(job).text(pa.array([text], pa.binary()), first=first, scopes=scopes)


def simulated(name: str, query: str, task: EventTask, shards: int) -> Simulated:
    """Route a stream, and let the busiest shard work."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        job = Job.of([query], shards=shards, **_times(task))
    assert task.rdf is not None
    text = task.rdf.read_bytes()
    _routed(job, text[: text.index(b"\n", 10_000) + 1])
    began = time.process_time()
    packets = _routed(job, text)
    routing = time.process_time() - began
    sizes = np.zeros(shards)
    for packet in packets:
        sizes[packet.shard] += len(packet.payload)
    busiest = int(sizes.argmax())
    mine = sorted((packet.oldest, packet.payload) for packet in packets if packet.shard == busiest)
    shard = Shard(job, busiest)
    for _ in range(2):  # the first time makes the network
        began = time.process_time()
        for _ in shard.whole(mine):
            pass
        taken = time.process_time() - began
    (plan,) = job.plan.queries[:1]
    by = " ".join(plan.shares) or plan.reason or "–"
    return Simulated(name, shards, by, float(sizes.max() / sizes.mean()), plan.replication, routing, taken)


def _cases(size: int, folder: Path) -> Iterator[tuple[str, str, EventTask]]:
    for name in ("W1", "W4"):
        yield name, WORKLOADS[name].query(), make(name, size, folder, rdf=True)
    yield "grouped view", GROUPED, make("W1", size, folder, rdf=True)


def _simulate(size: int, folder: Path) -> None:
    table = Table(title="shards against load, a core each; speed-up predicted")
    for head in ("query", "shards", "by", "skew", "replication", "routing, s", "busiest shard, s", "speed-up"):
        table.add_column(head, justify="left" if head in ("query", "by") else "right")
    for name, query, task in _cases(size, folder):
        one = None
        for shards in SHARDS:
            found = simulated(name, query, task, shards)
            one = one or found.seconds
            told = [f"{found.skew:.2f}", f"{found.replication:.2f}", f"{found.routing:.3f}", f"{found.busiest:.4f}"]
            table.add_row(name, f"{shards:,}", found.by, *told, f"{one / found.seconds:.1f}")
    Console(width=150).print(table)


# ---- live ----
@dataclass(frozen=True)
class Live:
    """What one way took."""

    matches: int  # rows that were put out
    seconds: float  # from its start to its end
    busy: float  # of the processor, all processes


def _busy() -> float:
    """Return the processor time that this process and all below it have taken."""
    found = 0.0
    for each in (psutil.Process(), *psutil.Process().children(recursive=True)):
        try:
            found += sum(each.cpu_times()[:4])
        except psutil.NoSuchProcess:
            continue
    return found


def _clocked(work: Callable[[], int]) -> Live:
    began, busy = time.perf_counter(), _busy()
    matches = work()
    return Live(matches, time.perf_counter() - began, _busy() - busy)


def _embedded(task: EventTask, _: Any, folder: Path) -> int:
    engine = engine_of(WORKLOADS[task.workload].query())
    with (folder / "matches.ndjson").open("wb") as file:
        sink = open_sink("ndjson", engine.queries, file, seconds=True)
        found = 0
        for batch in engine.run_batches(reader_of(task, str(task.rdf))):
            sink.write(batch)
            found += sum(map(len, batch))
        return found


def _drained(rows: Any, folder: Path) -> int:
    """Run a streaming DataFrame to its end; return how many rows it put out."""
    counts: list[int] = []
    writer = rows.writeStream.foreachBatch(lambda batch, _: counts.append(batch.count()))
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start()
    query.awaitTermination()
    return sum(counts)


def _sharded(task: EventTask, spark: Any, folder: Path) -> int:
    from retewave.spark import match

    assert task.rdf is not None
    (folder / "in").mkdir()
    (folder / "in" / task.rdf.name).symlink_to(task.rdf.resolve())
    source = spark.readStream.format("retewave").option("blocks", "ranges").option("complete", "true")
    times = _times(task)
    if "rate" in times:
        source = source.option("rate", times["rate"])
    frame = source.load(str(folder / "in"))
    found = match(frame, [WORKLOADS[task.workload].query()], watermark="0 seconds", shards=2, **times)
    return _drained(found, folder)


def _by_hand(task: EventTask, spark: Any, folder: Path) -> int:
    from retewave.bench.peers import spark_events

    return _drained(spark_events.matches(task, spark, folder / "in"), folder)


WAYS = {"embedded": _embedded, "retewave on Spark": _sharded, "transformWithState by hand": _by_hand}


def _beginning(task: EventTask, folder: Path) -> EventTask:
    """Return a task for the first lines of a stream."""
    assert task.rdf is not None
    made = [folder / f"warm-up{path.suffix}" for path in (task.csv, task.rdf)]
    for path, to in zip((task.csv, task.rdf), made, strict=True):
        with path.open("rb") as lines:
            to.write_bytes(b"".join(itertools.islice(lines, _WARM_UP)))
    return EventTask(task.workload, made[0], len(columns(made[0]).time), task.step, made[1])


def _live(size: int, folder: Path) -> None:
    from retewave.spark import register, session

    spark = session("local[2]", shards=2)
    spark.sparkContext.setLogLevel("ERROR")
    register(spark)
    table = Table(title=f"local[2], {size:,} events (in W3 requests), each match a row")
    for head in ("workload", "way", "matches", "events/s", "events/s of the processor"):
        table.add_column(head, justify="left" if head in ("workload", "way") else "right")
    for name in ("W1", "W3"):
        task = make(name, size, folder, rdf=True)
        for way, work in WAYS.items():
            with tempfile.TemporaryDirectory() as warm, tempfile.TemporaryDirectory() as there:
                work(_beginning(task, Path(warm)), spark, Path(warm))
                took = _clocked(lambda work=work, task=task, there=there: work(task, spark, Path(there)))  # type: ignore[misc]
            rates = [f"{task.rows / each:,.0f}" for each in (took.seconds, took.busy)]
            table.add_row(name, way, f"{took.matches:,}", *rates)
    Console(width=120).print(table)
    spark.stop()


def main(
    size: Annotated[int, typer.Option(help="events of each stream (in W3 requests)", min=1000)] = 100_000,
    live: Annotated[bool, typer.Option("--live", help="start Spark, and measure there")] = False,
    data: Annotated[Path, typer.Option(help="where streams are kept")] = Path("bench/out/events"),
) -> None:
    """Simulate the event workloads over shards, or measure them on Spark."""
    if missing := absent():
        raise typer.BadParameter(missing)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    data.mkdir(parents=True, exist_ok=True)
    (_live if live else _simulate)(size, data)


if __name__ == "__main__":
    typer.run(main)
