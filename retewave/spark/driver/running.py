"""A job from the command line: inputs, a query that runs, and where its matches go.

Data's way: folders and topics -> DataFrames -> packed matches -> **files of lines, or the terminal**.
Invariant: a micro-batch has a folder of its own, which is written anew if the batch is repeated; so whatever fails,
what the folders hold together is what an uninterrupted run would have written.
Left out: the command line's words (`spark`).
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F  # noqa: N812

from retewave import errors
from retewave.errors import RetewaveError, StoppedError, UsageError
from retewave.spark.driver.match import Columns, run_packed
from retewave.spark.driver.sessions import session
from retewave.spark.source.source import register
from retewave.spark.stats import Stats
from retewave.spark.worker.text import LINES, Lines

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from retewave.spark.driver.job import Job

__all__ = ["KAFKA", "RunningQuery", "StreamInput", "Where", "open_session", "start"]

KAFKA = "org.apache.spark:spark-sql-kafka-0-10_2.13:{version}"
_TASKS = 4  # a core: the cores end at about the same time, and a task costs some milliseconds
_PAUSE = "500 milliseconds"  # between looks at the inputs when there was nothing new
_RAISED = re.compile(r"retewave\.errors\.(\w+): (.+?)(?:\n\s*hint: (.+?))?\n")


@dataclass(frozen=True)
class StreamInput:
    """A stream."""

    where: str  # a file, a folder, a pattern, or kafka://HOST:PORT/TOPIC
    name: str | None  # its IRI; None: every query hears it
    format: str | None = None  # of its files; None: their names tell

    @property
    def is_kafka(self) -> bool:
        """Whether it is a topic."""
        return self.where.startswith("kafka://")


@dataclass(frozen=True)
class Where:
    """Where a job keeps its state, and where its matches go."""

    checkpoint: str  # a folder
    out: str  # a folder, or "console"
    watermark: str  # how late rows may come, in Spark's words
    batch_bytes: int  # of files that a micro-batch takes
    once: bool  # stop when everything that is there is done
    complete: bool = False  # then nothing comes any more: nothing waits for it


@dataclass(frozen=True)
class RunningQuery:
    """A query that runs."""

    query: StreamingQuery  # Spark's
    stats: Stats  # its counts
    spark: SparkSession  # where it runs

    def wait(self, tick: Callable[[RunningQuery], None], seconds: int = 1) -> None:
        """Wait for its end, telling `tick` of its progress; raise what ended it."""
        try:
            while not self.query.awaitTermination(seconds):
                tick(self)
        except StreamingQueryException as error:
            raise _our_own(error) from error
        tick(self)

    def stop(self) -> None:
        """End it; a batch that is not done is done by the next run."""
        self.query.stop()

    def hush(self) -> None:
        """Log nothing any more: what a batch that is cut short has to say is not worth pages of traces."""
        self.spark.sparkContext.setLogLevel("OFF")
        logging.getLogger("py4j").setLevel(logging.CRITICAL)


def _our_own(error: StreamingQueryException) -> RetewaveError:
    """Return the error that a worker raised, if it was one of ours, in place of Spark's pages of traces."""
    found = _RAISED.search(f"{error}\n")
    if found is None:
        first = str(error).strip().splitlines()[0]
        return StoppedError(f"Spark has ended the query: {first}", hint="its log tells more")
    kind = getattr(errors, found[1], RetewaveError)
    return kind(found[2], hint=found[3] or "")


def open_session(
    master: str | None,
    shards: int | None,
    inputs: Sequence[StreamInput],
    given: Mapping[str, str] = MappingProxyType({}),
) -> SparkSession:
    """Return the session for a job; under spark-submit, the one that was prepared. The settings `given` win."""
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    settings: dict[str, str] = {}
    if any(each.is_kafka for each in inputs) and not submitted:
        from pyspark import __version__

        settings["spark.jars.packages"] = KAFKA.format(version=__version__)
    chosen = master or (None if submitted else "local[*]")
    spark = session(chosen, shards=shards, settings=settings | dict(given))
    if not submitted:
        spark.sparkContext.setLogLevel("ERROR")
    return spark


def start(spark: SparkSession, job: Job, inputs: Sequence[StreamInput], where: Where) -> RunningQuery:
    """Start a job."""
    stats = Stats(spark)
    job = replace(job, lines=job.format) if job.tells_more else job
    register(spark)
    frames = [_frame(spark, job, each, where) for each in inputs]
    columns = Columns(stream="stream" if any(each.name for each in inputs) else None)
    packed, carried = run_packed(job, frames, columns, watermark=where.watermark, stats=stats)
    lines = packed.mapInArrow(Lines(carried, stats), LINES)
    write = _print if where.out == "console" else _Folders(where.out)
    writer = lines.writeStream.foreachBatch(write).option("checkpointLocation", where.checkpoint)
    writer = writer.trigger(availableNow=True) if where.once else writer.trigger(processingTime=_PAUSE)
    return RunningQuery(writer.start(), stats, spark)


# ---- inputs ----
def _frame(spark: SparkSession, job: Job, each: StreamInput, where: Where) -> DataFrame:
    frame = _topic(spark, job, each.where, where) if each.is_kafka else _files(spark, job, each, where)
    return frame.withColumn("stream", F.lit(each.name).cast("string"))


def _files(spark: SparkSession, job: Job, each: StreamInput, where: Where) -> DataFrame:
    tasks = _TASKS * max(1, spark.sparkContext.defaultParallelism)
    reader = spark.readStream.format("retewave").option("blocks", "ranges")
    reader = reader.option("maxBytesPerTrigger", where.batch_bytes)
    reader = reader.option("partitionBytes", max(1 << 20, -(-where.batch_bytes // tasks)))
    if each.format is not None:
        reader = reader.option("format", each.format)
    if where.complete:
        reader = reader.option("complete", "true")
    if job.rate is not None:
        reader = reader.option("rate", job.rate)
    # What arrives is as old as its batch; Spark keeps that time with the batch, should it be repeated.
    return reader.load(each.where).withColumn("timestamp", F.current_timestamp())


def _topic(spark: SparkSession, job: Job, address: str, where: Where) -> DataFrame:
    if job.rate is not None:
        raise UsageError(f"{address}: a rate is for files", hint="a topic's messages have times of their own")
    if where.complete:
        raise UsageError(f"{address}: only files can be complete", hint="a topic has no end; leave out --complete")
    parts = urlsplit(address)
    topic = parts.path.strip("/")
    if not parts.netloc or not topic:
        raise UsageError(f"{address} is not kafka://HOST:PORT/TOPIC")
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", parts.netloc)
    return reader.option("subscribe", topic).option("startingOffsets", "earliest").load().select("value", "timestamp")


# ---- outputs ----
@dataclass(frozen=True)
class _Folders:
    """Writes each micro-batch into a folder of its own."""

    out: str  # the folder of all

    def __call__(self, lines: DataFrame, batch: int) -> None:
        """Write a batch, in place of the files that a failed attempt has left of it."""
        lines.write.mode("overwrite").text(f"{self.out}/batch-{batch:09d}")


def _print(lines: DataFrame, batch: int) -> None:
    for row in lines.toLocalIterator():
        sys.stdout.write(f"{row.value}\n")
    sys.stdout.flush()
