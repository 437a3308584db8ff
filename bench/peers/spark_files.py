"""What the peers on Spark share: the stream as files with times, a session, and the counting of a query's output.

Where it stands: under the plain formulations of pattern 1; nothing here knows retewave.
Spark's text source numbers no lines, so each line is given its time before the clock starts, as Pathway's are.  One
more file holds a triple that comes an hour later: it moves the watermark past all others, as the next hour would.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from retewave.bench.task import Result, Task
from retewave.bench.vocabulary import OFFER_CLASS, PREDICATES, RDF_TYPE

__all__ = [
    "CORES",
    "REQUIRES",
    "SETTINGS",
    "START",
    "WARM_UPS",
    "StreamFiles",
    "counted",
    "end",
    "java_missing",
    "kinds",
    "of_offers",
    "resident",
    "run",
    "session",
    "write_timed",
]

CORES = 2
WARM_UPS = 2  # short streams, so that every worker has done every part of the work
REQUIRES = ("pyspark", "psutil")
END = "<end>"  # all that the last triples say
_HOUR = 3_600_000_000  # microseconds
START = 1_000_000  # microseconds: of the stream; Spark's watermark is 0 as long as there is none, and that is too late
SETTINGS = {"spark.driver.memory": "3g", "spark.log.level": "ERROR"}  # of every session that is measured
_PLAIN = SETTINGS | {
    "spark.master": f"local[{CORES}]",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": str(CORES),
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}


@dataclass(frozen=True)
class StreamFiles:
    """A stream as files that Spark reads."""

    spark: Any  # the session
    folder: Path  # of the files
    classes: tuple[str, ...]  # the target and its subclasses, in brackets
    window: int  # microseconds

    def triples(self) -> Any:
        """Return the stream as a DataFrame of t, s, p and o."""
        functions = import_module("pyspark.sql.functions")
        text = self.spark.readStream.option("maxFilesPerTrigger", 1).text(str(self.folder))
        parts = functions.split("value", " ", 4)
        columns = [functions.timestamp_micros(parts[0].cast("bigint")).alias("t")]
        return text.select(*columns, *(parts[n].alias(name) for n, name in enumerate("spo", 1)))


def of_offers(stream: StreamFiles) -> Any:
    """Return the triples that offers have of their own."""
    column = import_module("pyspark.sql.functions").col
    return stream.triples().where((column("o") == OFFER_CLASS) | column("p").isin(*PREDICATES[1:]))


def kinds(stream: StreamFiles) -> Any:
    """Return the arrivals of products' types that the pattern asks for: the product, and when."""
    column = import_module("pyspark.sql.functions").col
    rows = stream.triples().where((column("p") == RDF_TYPE) & column("o").isin(*stream.classes, END))
    return rows.select(column("s").alias("kind"), column("t").alias("tk")).withWatermark("tk", "0 seconds")


def session() -> Any:
    """Return a local session; the processes of Python start as this very interpreter."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = import_module("pyspark.sql").SparkSession.builder.appName("bench")
    for name, value in _PLAIN.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def end(spark: Any) -> None:
    """Stop a session and wait until its JVM is gone: up to then it may write into its folders.

    It is the JVM that PySpark started for this process, and the last one.
    """
    gateway = spark.sparkContext._gateway
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()


def java_missing() -> str:
    """Return why there is no Java to run Spark with, or nothing."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    return "" if java else "there is no Java"


def counted(matches: Any, folder: Path, arrivals: Sequence[Callable[[], None]]) -> tuple[int, float]:
    """Let streams arrive at a running query one by one; return the rows that the last one brings, and its seconds.

    The query keeps its state in the folder.  The clock runs from the arrival until the last micro-batch has committed.
    """
    counts: list[int] = []

    def count(batch: Any, _: int) -> None:
        counts.append(batch.count())

    query = matches.writeStream.foreachBatch(count).option("checkpointLocation", str(folder)).start()
    for arrive in arrivals:
        counts.clear()
        started = time.perf_counter()
        arrive()
        query.processAllAvailable()
        seconds = time.perf_counter() - started
    query.stop()
    return sum(counts), seconds


def run(task: Task, lines: int, matches_of: Callable[[StreamFiles], Any]) -> Result:
    """Measure a formulation; `lines` are those of a micro-batch.

    Short streams go through the same query first, and the stream itself, once: the JVM compiles meanwhile.
    """
    spark, classes = session(), tuple(kind.decode() for kind in sorted(task.target_classes()))
    with tempfile.TemporaryDirectory() as name:
        folder, arrivals, last = Path(name) / "stream", [], None
        folder.mkdir()
        for place, offers in enumerate([task.warm_up] * WARM_UPS + [task.offers] * 2):
            files = write_timed(offers, task.question.rate, Path(name) / f"{place}", lines, last)
            arrivals.append(partial(_move, files, folder))
            last = files[-1]
        found = matches_of(StreamFiles(spark, folder, classes, task.question.window))
        matches, seconds = counted(found, Path(name) / "state", arrivals)
        memory = resident()
        end(spark)
    return Result(matches, seconds, peak_rss=memory)


def _move(files: Sequence[Path], folder: Path) -> None:
    for path in files:
        path.rename(folder / path.name)


def resident() -> int:
    """Return the memory that this process, its JVM and the workers of that hold now, in bytes."""
    psutil = import_module("psutil")
    me, found = psutil.Process(), 0
    for process in [me, *me.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):  # a worker has ended since
            found += process.memory_info().rss
    return found


def write_timed(offers: Path, rate: int, folder: Path, lines: int, behind: Path | None = None) -> list[Path]:
    """Write a stream as files of so many lines, each with its time in front; return the files in their order.

    The stream starts an hour behind the last file of another one, if it is told.
    """
    folder.mkdir()
    start, before = (START, 0) if behind is None else (_last_time(behind) + _HOUR, int(behind.stem) + 1)
    files: list[Path] = []
    last = 0
    with offers.open("rb") as stream:
        while block := list(islice(stream, lines)):
            times = [start + (last + place) * 1_000_000 // rate for place in range(len(block))]
            timed = [b"%d %b" % (at, line[:-3]) for at, line in zip(times, block, strict=True)]
            files.append(_put(folder, before + len(files), timed))
            last += len(block)
    end = start + last * 1_000_000 // rate + _HOUR
    silence = [f"{end} {END} {predicate} {END}".encode() for predicate in PREDICATES]
    return [*files, _put(folder, before + len(files), silence)]


def _last_time(path: Path) -> int:
    return int(path.read_bytes().splitlines()[-1].split(b" ", 1)[0])


def _put(folder: Path, number: int, lines: list[bytes]) -> Path:
    path = folder / f"{number:06}.txt"
    path.write_bytes(b"\n".join(lines) + b"\n")
    os.utime(path, (number, number))  # Spark takes files in the order of their times
    return path
