"""The engine on Spark as an adapter: the same query text through `retewave.spark.match`, on two local cores.

Where it stands: beside the embedded engine (`engine`) and the plain formulations (`peers.spark_*`), under the same
protocol.  The session's start, the loading of the kernels into Spark's workers and a short stream through the same
query are warm-up and not measured; planning the real query, starting it, every micro-batch and commit are.
Matches are counted as the rows of the output DataFrame: each has gone back to the JVM with its terms as text.
"""

from __future__ import annotations

import tempfile
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from retewave.bench.peers.spark_files import CORES, REQUIRES, START, counted, java_missing, resident, session
from retewave.bench.task import Adapter, Result, Task
from retewave.bench.vocabulary import PREDICATES

__all__ = ["ADAPTER"]

_TRIGGER = 160 << 20  # bytes of a micro-batch: about a second's work
_SILENCE = 2  # milliseconds of stream behind the last offer: Spark's watermark goes by whole milliseconds
_NOTHING = f"<urn:end> {PREDICATES[-1]} <urn:end> .\n".encode()  # a pattern takes it, but nothing joins it


def _closed(offers: Path, rate: int, folder: Path) -> Path:
    """Return a folder with the stream, and as many triples behind it as move the watermark past its last one."""
    folder.mkdir()
    (folder / "1.nt").symlink_to(offers)
    (folder / "2.nt").write_bytes(_NOTHING * (_SILENCE * rate // 1000 + 1))
    return folder


def _found(spark: Any, task: Task, folder: Path) -> Any:
    """Return the DataFrame of matches."""
    source = spark.readStream.format("retewave").option("blocks", "ranges").option("rate", task.question.rate)
    source = source.option("maxBytesPerTrigger", _TRIGGER).option("partitionBytes", _TRIGGER // CORES)
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


def _run(task: Task) -> Result:
    spark = session()
    import_module("retewave.spark").register(spark)
    with tempfile.TemporaryDirectory() as name:
        found = []
        for place, offers in (("warm", task.warm_up), ("real", task.offers)):
            folder = _closed(offers, task.question.rate, Path(name) / place)
            found.append(counted(partial(_found, spark, task, folder), Path(name) / f"{place}-checkpoint"))
        memory = resident()
        spark.stop()
    matches, seconds = found[-1]
    return Result(matches, seconds, peak_rss=memory)


ADAPTER = Adapter(
    name="retewave on Spark",
    cannot="memory is that of the driver, its JVM and its workers together",
    run=_run,
    requires=REQUIRES,
    missing=java_missing,
    patterns=(1, 2, 3),
)
