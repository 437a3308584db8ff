"""The front door on Spark: from a DataFrame of triples to a DataFrame of matches.

Data's way: DataFrame -> stage 1 (route) -> shuffle -> stage 2 (shards) -> **DataFrame of matches**.
Invariant: one shuffle, and every match in exactly one shard.  A streaming DataFrame and a batch one differ in stage 2
alone: a stream's rows wait for what may come before them, a batch's are sorted.
Left out: sessions, sources and sinks, which are plain PySpark.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from retewave.errors import UsageError
from retewave.io.sinks.lists import named
from retewave.repetitions import RepeatedPattern
from retewave.spark.driver.carried import Carried, carry
from retewave.spark.driver.job import Job
from retewave.spark.driver.partitions import keys_of
from retewave.spark.driver.sessions import configure
from retewave.spark.worker import routing
from retewave.spark.worker.parts import PACKED, PARTS, batch_of
from retewave.spark.worker.state import Keeping, PuttingTogether
from retewave.windows.intervals import BEFORE_ALL

if TYPE_CHECKING:
    from pyspark.sql import Column

    from retewave.spark.stats import Stats

__all__ = ["WATERMARK", "Columns", "match", "run", "run_packed"]

WATERMARK = "10 seconds"
_DELAY = "spark.watermarkDelayMs"  # Spark's name for it among the metadata of a column


def match(
    df: DataFrame | Sequence[DataFrame],
    queries: Any,
    *,
    schema: Any = (),
    static: Any = (),
    text: str = "value",
    triple: Sequence[str] | None = None,
    time: str = "timestamp",
    rate: float | None = None,
    start: int = 0,
    time_property: str | None = None,
    stream: str | None = None,
    watermark: str = WATERMARK,
    shards: int | None = None,
    allow_cartesian: bool = False,
    on_error: Literal["count", "raise"] = "count",
    sample: Any = None,
    stats: Stats | None = None,
    **options: Any,
) -> DataFrame:
    """Find the matches of queries in a DataFrame of triples, streaming or batch.

    The triples are in the column `text` (N-Triples or N-Quads: lines or whole documents), or in three or four columns
    of N-Triples terms (`triple`).  Their time is in the column `time`, or told by a nominal `rate` and the column
    `first` (the ordinal of a value's first statement), or by their graphs (`time_property`).  `stream` is a column with
    the IRIs of streams.  Several DataFrames are one input; the slowest of them sets the watermark.

    The columns of the result: query, start, end, and each projected variable as an N-Triples term, or s, p and o for
    CONSTRUCT; a list `groups.NAME` for each event pattern that a sequence repeats.  A match comes with the micro-batch
    that moves the watermark past its end.  `options` are those of `Engine` that concern data (datasets, imports,
    closure), and for all queries `language`, `policy` and `report`.
    """
    frames = [df] if isinstance(df, DataFrame) else list(df)
    if not frames:
        raise UsageError("there is no DataFrame to match")
    count = shards or frames[0].sparkSession.sparkContext.defaultParallelism
    job = Job.of(
        queries,
        schema=schema,
        static=static,
        shards=count,
        rate=rate,
        start=start,
        time_property=time_property,
        allow_cartesian=allow_cartesian,
        on_error=on_error,
        sample=sample,
        **options,
    )
    columns = Columns(text, tuple(triple) if triple else None, time, stream)
    return run(job, frames, columns, watermark=watermark, stats=stats)


@dataclass(frozen=True)
class Columns:
    """The meaning of the input's columns."""

    text: str = routing.VALUE  # lines, documents, or places of files
    triple: tuple[str, ...] | None = None  # terms, instead
    time: str = "timestamp"  # of a row, unless a rate or the graphs tell it
    stream: str | None = None  # the IRI of a row's stream


def run(
    job: Job,
    frames: Sequence[DataFrame],
    columns: Columns,
    *,
    watermark: str = WATERMARK,
    stats: Stats | None = None,
) -> DataFrame:
    """Run a job over DataFrames: `match` with its planning done."""
    if job.explained:
        raise UsageError("a DataFrame has no place for explanations", hint="retewave spark --explain writes them")
    _check_columns(job)
    packed, carried = run_packed(job, frames, columns, watermark=watermark, stats=stats)
    return packed.mapInArrow(_Unpacking(carried, stats), _schema(job))


def run_packed(
    job: Job,
    frames: Sequence[DataFrame],
    columns: Columns,
    *,
    watermark: str = WATERMARK,
    stats: Stats | None = None,
) -> tuple[DataFrame, Carried]:
    """Run a job over DataFrames and leave its matches packed, one column of bytes."""
    spark = frames[0].sparkSession
    streaming = {frame.isStreaming for frame in frames}
    if len(streaming) > 1:
        raise UsageError("streaming and batch DataFrames cannot be matched together")
    on = streaming == {True}
    if on:
        _check_watermarks(frames)
        configure(spark, job.shards)
    keys = keys_of(job.shards)
    carried = carry(spark, job)
    route = routing.RoutingTask(carried, keys, stats)
    packets = [_inputs(job, frame, columns).mapInArrow(route, routing.PACKETS) for frame in frames]
    if on:
        return _of_stream(job, packets, watermark, carried, stats), carried
    return _of_batch(job, packets, _Whole(carried, keys)), carried


def _of_stream(
    job: Job, packets: Sequence[DataFrame], watermark: str, carried: Carried, stats: Stats | None
) -> DataFrame:
    if job.unbounded:
        warnings.warn("a query has no window ([RANGE …]), so the state grows as long as the stream runs", stacklevel=4)
    marked = _union([frame.withWatermark("newest", watermark) for frame in packets])
    # With several inputs the slowest decides, and a shard does not know which it is.
    delay = marked.schema["newest"].metadata[_DELAY] if len(packets) == 1 else None
    # Without its column the watermark goes on, but Spark drops nothing: the shards know which rows are late.
    sent = marked.select("shard", "oldest", F.unix_micros("newest").alias("newest"), "payload")
    keeping = Keeping(carried, keys_of(job.shards), delay, stats)
    steps = sent.groupBy("shard")
    if not job.last:
        return steps.transformWithState(keeping, PACKED, "Append", "EventTime")
    parts = steps.transformWithState(keeping, PARTS, "Append", "EventTime", eventTimeColumnName="told")
    sent = parts.select("view", "time", "found")  # without its column no part is late
    return sent.groupBy("view").transformWithState(PuttingTogether(carried), PACKED, "Append", "EventTime")


def _check_watermarks(frames: Sequence[DataFrame]) -> None:
    """Refuse a DataFrame that has been given a watermark, even if its column is gone: Spark would, and less clearly."""
    if any("EventTimeWatermark" in frame._jdf.queryExecution().analyzed().toString() for frame in frames):
        raise UsageError(
            "the DataFrame has a watermark already, and Spark takes one only",
            hint='leave withWatermark out, and say match(…, watermark="10 seconds")',
        )


def _of_batch(job: Job, packets: Sequence[DataFrame], whole: _Whole) -> DataFrame:
    sent = _union([frame.select("shard", "oldest", "payload") for frame in packets])
    if job.announces:
        nothing = F.explode(F.array(*[F.lit(key) for key in whole.keys]))
        none = packets[0].sparkSession.range(1).select(nothing.alias("shard"), F.lit(BEFORE_ALL).alias("oldest"))
        sent = sent.union(none.select("shard", "oldest", F.lit(b"").alias("payload")))
    sent = sent.repartition(len(whole.keys), "shard").sortWithinPartitions("shard", "oldest")
    if not job.last:
        return sent.mapInArrow(whole, PACKED)
    parts = sent.mapInArrow(whole, PARTS).drop("told").repartition(len(whole.keys), "view")
    return parts.sortWithinPartitions("view", "time").mapInArrow(_Last(whole.carried), PACKED)


def _union(frames: Sequence[DataFrame]) -> DataFrame:
    return reduce(DataFrame.union, frames)


# ---- what comes in ----
def _inputs(job: Job, frame: DataFrame, columns: Columns) -> DataFrame:
    """Return the columns that stage 1 reads."""
    value = _value(frame, columns)
    chosen = [value.alias(routing.VALUE)]
    if job.rate is not None:
        chosen.append(_named(frame, "first", "a rate gives time by the statements before a value").cast("bigint"))
    elif job.time_property is None:
        chosen.append(_micros(frame, columns.time).alias(routing.TIME))
    document = _document(frame, columns)
    if document is not None:
        numbered = F.xxhash64(document).bitwiseAND(F.lit((1 << 62) - 1))
        chosen.append(numbered.alias(routing.DOCUMENT))
    if columns.stream is not None:
        chosen.append(_named(frame, columns.stream, "it holds the streams' IRIs").cast("string").alias(routing.STREAM))
    return frame.select(*chosen)


def _value(frame: DataFrame, columns: Columns) -> Column:
    if columns.triple is None:
        value = _named(frame, columns.text, "it holds the text; say text= or triple=")
        kind = _type(frame, columns.text)
        if not (isinstance(kind, StringType | BinaryType) or _is_place(kind)):
            raise UsageError(f"the column {columns.text} is {kind.simpleString()}, not text")
        return value
    if len(columns.triple) not in (3, 4):
        raise UsageError(f"a triple has three columns, a quad four, not {len(columns.triple)}")
    return F.struct(*[_named(frame, name, "triple= names it").cast("string") for name in columns.triple])


def _is_place(kind: DataType) -> bool:
    return isinstance(kind, StructType) and set(kind.names) >= {"file", "start", "end", "format"}


def _document(frame: DataFrame, columns: Columns) -> Column | None:
    """Return the name of a value's document: a file, if the source is one of ours."""
    if columns.triple is not None:
        return None
    if _is_place(_type(frame, columns.text)):
        return frame[columns.text]["file"]
    return frame["file"] if {"first", "file"} <= set(frame.columns) else None


def _micros(frame: DataFrame, name: str) -> Column:
    column = _named(frame, name, "it holds the time; say time=, rate= or time_property=")
    kind = _type(frame, name)
    if not isinstance(kind, TimestampType | TimestampNTZType):
        raise UsageError(f"the column {name} is {kind.simpleString()}, not a timestamp", hint="cast it")
    return F.unix_micros(column.cast("timestamp"))


def _named(frame: DataFrame, name: str, why: str) -> Column:
    if name not in frame.columns:
        raise UsageError(f"there is no column {name}: {why}", hint=f"there are {', '.join(frame.columns)}")
    return frame[name]


def _type(frame: DataFrame, name: str) -> DataType:
    return frame.schema[name].dataType


# ---- what goes out ----
def _schema(job: Job) -> StructType:
    """Return the columns in which matches leave."""
    times = [StructField(name, TimestampType()) for name in ("start", "end")]
    terms = [StructField(name, StringType()) for name in job.columns]
    lists = [StructField(named(each.name), _repetitions(each)) for each in job.repeated]
    return StructType([StructField("query", StringType()), *times, *terms, *lists])


def _repetitions(of: RepeatedPattern) -> ArrayType:
    fields = [StructField("time", TimestampType()), *(StructField(name, StringType()) for name in of.variables)]
    return ArrayType(StructType(fields))


def _check_columns(job: Job) -> None:
    for name in job.columns:
        if name.lower() in ("query", "start", "end"):
            raise UsageError(
                f"the variable ?{name} has the name of a column that every match has",
                hint="rename it: SELECT (?x AS ?y)",
            )


@dataclass(frozen=True)
class _Unpacking:
    """Stage 3: packed matches become columns; goes to the workers."""

    carried: Carried  # the job
    stats: Stats | None  # told of matches

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Unpack all batches of a task."""
        from retewave.spark.worker.collector import settle
        from retewave.spark.worker.matches import unpack

        for batch in batches:
            for packed in batch.column(0):
                found = unpack(self.carried.job(), packed.as_py())
                if self.stats is not None:
                    self.stats.found(found.num_rows)
                yield found
        settle()


@dataclass(frozen=True)
class _Whole:
    """Stage 2 over packets that are sorted by shard and time; goes to the workers."""

    carried: Carried  # the job
    keys: tuple[int, ...]  # of the shards

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Match a task's packets, shard by shard."""
        from retewave.spark.worker.shard import shard_of

        packets = ((row["shard"], row["oldest"], row["payload"]) for batch in batches for row in batch.to_pylist())
        for key, mine in groupby(packets, key=lambda packet: packet[0]):
            shard = shard_of(self.carried.job(), self.keys.index(key))
            for found in shard.whole((oldest, payload) for _, oldest, payload in mine):
                yield batch_of(found, shard.number, last=shard.job.last)


@dataclass(frozen=True)
class _Last:
    """The last task of views in two stages, over parts that are sorted by view and time; goes to the workers."""

    carried: Carried  # the job

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Put a task's parts together, view by view; matches pass through."""
        from retewave.spark.worker.last import last_of

        rows = ((row["view"], row["time"], row["found"]) for batch in batches for row in batch.to_pylist())
        for view, mine in groupby(rows, key=lambda row: row[0]):
            parts = ((time, found) for _, time, found in mine)
            told = (found for _, found in parts) if view < 0 else last_of(self.carried.job()).whole(view, parts)
            for found in told:
                yield batch_of(found, 0, last=False)
