"""The engine on Spark as an adapter: the same query text through `retewave.spark.match`, on two local cores.

Where it stands: beside the embedded engine (`engine`) and the plain formulations (`peers.spark_*`), under the same
protocol.  The session's start, the query's start, the loading of the kernels into Spark's workers, short streams
through this very query and the stream itself, once, are warm-up and not measured: the JVM compiles meanwhile.  Every
micro-batch from then on is measured, with its log and its commit.
Matches are counted as the rows of the output DataFrame: each has gone back to the JVM with its terms as text.
"""

from __future__ import annotations

import tempfile
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from retewave.bench.peers.spark_files import (
    CORES,
    REQUIRES,
    SETTINGS,
    START,
    WARM_UPS,
    counted,
    end,
    java_missing,
    resident,
)
from retewave.bench.task import Adapter, Result, Task
from retewave.bench.vocabulary import PREDICATES

__all__ = ["ADAPTER"]

_TRIGGER = 1 << 30  # bytes of a micro-batch
_PART = 128 << 20  # bytes of it that a task reads
_LATER = 2_000  # microseconds behind the last triple that the watermark must have passed; it goes by milliseconds
_NOTHING = b"<urn:end> <urn:end> <urn:end> .\n"
_AFTERWARDS = f"<urn:end> {PREDICATES[-1]} <urn:end> .\n".encode()  # a pattern takes it, so its time is sent


def _silence(rate: int, micros: int) -> bytes:
    """Return as many triples of nothing as fill so long a time: a nominal rate has no other way to be silent."""
    return _NOTHING * (micros * rate // 1_000_000) + _AFTERWARDS


def _found(spark: Any, task: Task, folder: Path) -> Any:
    """Return the DataFrame of matches."""
    source = spark.readStream.format("retewave").option("blocks", "ranges").option("rate", task.question.rate)
    source = source.option("maxBytesPerTrigger", _TRIGGER).option("partitionBytes", _PART)
    return import_module("retewave.spark").match(
        source.load(str(folder)),
        list(task.queries),
        schema=[str(task.schema)] if task.schema else [],
        static=[str(task.static)] if task.static else [],
        rate=task.question.rate,
        start=START,
        watermark="0 seconds",
        shards=CORES,
    )


def _arrive(folder: Path, number: int, offers: Path, silence: bytes) -> None:
    """Let a stream come, and the silence behind it; the source reads files in the order of their names."""
    (folder / f"{number}-a.nt").symlink_to(offers)
    silent = folder / "silence"
    silent.write_bytes(silence)
    silent.rename(folder / f"{number}-b.nt")


def _run(task: Task) -> Result:
    on_spark, rate = import_module("retewave.spark"), task.question.rate
    spark = on_spark.session(f"local[{CORES}]", shards=CORES, settings=SETTINGS)
    on_spark.register(spark)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "stream"
        folder.mkdir()
        # Behind a warm-up comes more than a window of silence, and enough for a task a core: all workers are started.
        silence = _silence(rate, max(task.question.window + _LATER, CORES * _PART * 1_000_000 // rate // len(_NOTHING)))
        streams = [*[task.warm_up] * WARM_UPS, task.offers, task.offers]
        arrivals = [partial(_arrive, folder, number, stream, silence) for number, stream in enumerate(streams[:-1])]
        arrivals.append(partial(_arrive, folder, len(arrivals), streams[-1], _silence(rate, _LATER)))
        matches, seconds = counted(_found(spark, task, folder), Path(name) / "state", arrivals)
        memory = resident()
        end(spark)
    return Result(matches, seconds, peak_rss=memory)


ADAPTER = Adapter(
    name="retewave on Spark",
    cannot="memory is that of the driver, its JVM and its workers together",
    run=_run,
    requires=REQUIRES,
    missing=java_missing,
    patterns=(1, 2, 3),
)
