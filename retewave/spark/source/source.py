"""The data source "retewave": RDF files of any format as a DataFrame, batch or streaming.

Data's way: files -> **rows of Spark**: triples with graph and time, or blocks of whole lines, or places of files.
Invariant: offsets say how many bytes of each file were read, so that after any failure each statement is read again or
not at all.  A block ends where a line and an event end.
Left out: matching, which is `match`'s.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadLimit,
    ReadMaxBytes,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)

from retewave.errors import UsageError
from retewave.spark.source.offsets import Files, MicroBatch, Offset, Part, StatementCounts, groups
from retewave.spark.source.parts import statements_of, texts_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

__all__ = ["BLOCKS", "PLACES", "TRIPLES", "TripleSource", "register"]

TRIPLES = "s string, p string, o string, graph string, time timestamp"
BLOCKS = "value binary, first bigint, file string"
PLACES = "value struct<file: string, start: bigint, end: bigint, format: string>, first bigint"

PART_BYTES = 64 << 20
TRIGGER_BYTES = 1 << 30
BLOCK_BYTES = 4 << 20
LOOKING = "retewave looks ahead"  # the name of a thread
_PLACE = pa.struct([("file", pa.string()), ("start", pa.int64()), ("end", pa.int64()), ("format", pa.string())])


def register(spark: SparkSession) -> None:
    """Make the data source known to a session: `spark.read.format("retewave")` works from then on."""
    spark.dataSource.register(TripleSource)


@dataclass(frozen=True)
class SourceOptions:
    """The options of the source."""

    path: str  # a file, a folder, or a pattern with *
    format: str | None  # of all files; None: their names tell
    rate: float | None  # triples a second
    time_property: str | None  # the IRI that tells a graph's time
    blocks: str  # "false": triples; "true": blocks of lines; "ranges": places of files
    on_error: str  # "raise" or "skip" a malformed line
    part_bytes: int  # of a partition, about
    trigger: ReadLimit  # of a micro-batch
    complete: bool = False  # once all is read nothing more comes, and the watermark says so

    @classmethod
    def of(cls, given: Mapping[str, str]) -> SourceOptions:
        """Read the options of `.option(…)`; Spark takes no care of their case."""
        path = given.get("path")
        if not path:
            raise UsageError("nothing says what to read", hint='say .load("FOLDER"), or .option("path", …)')
        rate = given.get("rate")
        return cls(
            path,
            given.get("format"),
            None if rate is None else float(rate),
            given.get("timeProperty"),
            _one_of(given, "blocks", ("false", "true", "ranges")),
            _one_of(given, "onError", ("raise", "skip")),
            int(given.get("partitionBytes", PART_BYTES)),
            _trigger(given),
            _complete(given),
        )

    @property
    def files(self) -> Files:
        """The files that are meant."""
        return Files(self.path, self.format, self.rate is not None, self.part_bytes)


def _one_of(given: Mapping[str, str], name: str, known: Sequence[str]) -> str:
    value = str(given.get(name, known[0])).lower()
    if value not in known:
        raise UsageError(f"the option {name} is {' or '.join(known)}, not {value!r}")
    return value


def _complete(given: Mapping[str, str]) -> bool:
    complete = _one_of(given, "complete", ("false", "true")) == "true"
    if complete and str(given.get("blocks")).lower() != "ranges":
        raise UsageError("only places of files tell that a stream is complete", hint='say .option("blocks", "ranges")')
    return complete


def _trigger(given: Mapping[str, str]) -> ReadLimit:
    files, bytes_ = given.get("maxFilesPerTrigger"), given.get("maxBytesPerTrigger")
    if files is not None and bytes_ is not None:
        raise UsageError("only one of maxFilesPerTrigger and maxBytesPerTrigger can be the limit")
    return ReadMaxFiles(int(files)) if files is not None else ReadMaxBytes(int(bytes_ or TRIGGER_BYTES))


class TripleSource(DataSource):
    """RDF files as rows."""

    @classmethod
    def name(cls) -> str:
        """Return the name for `.format(…)`."""
        return "retewave"

    @cached_property
    def _read(self) -> SourceOptions:
        return SourceOptions.of(self.options)

    def schema(self) -> str:
        """Return the columns."""
        return {"false": TRIPLES, "true": BLOCKS, "ranges": PLACES}[self._read.blocks]

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return a reader of the bytes that are there now."""
        return _Batch(self._read)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """Return a reader that goes on."""
        return _Stream(self._read)


class _Parts(InputPartition):
    """The part that a task reads; nothing: the end of the stream."""

    def __init__(self, parts: tuple[Part, ...] | None) -> None:
        super().__init__(parts)


def _partitions(plan: MicroBatch, options: SourceOptions) -> list[InputPartition]:
    return [_Parts(group) for group in groups(plan.parts, options.part_bytes)]


class _Batch(DataSourceReader):
    """Reads all files to their ends."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options

    def partitions(self) -> Sequence[InputPartition]:
        """Return the parts that the tasks read."""
        files = self._options.files
        return _partitions(files.plan(Offset({}), Offset(files.sizes())), self._options)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read the parts of a task."""
        return _rows(self._options, partition.value)


class _Stream(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads files as they come, and as they grow."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._files = replace(options.files, count=StatementCounts())
        self._ends: dict[str, int] | None = None  # where the files end, if only their bytes of now are wanted
        self._planned: tuple[Offset, MicroBatch] | None = None  # the last plan, and where it starts

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Return the offset of a stream of which nothing was read."""
        return Offset({}).data()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """Return how much a micro-batch takes."""
        return self._options.trigger

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Note the files' sizes of now, a last line without an end included: nothing else will be read."""
        self._ends = self._files.sizes()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """Return up to where the next micro-batch reads."""
        begun, files = Offset.of(start), self._files
        ends = self._ends
        if ends is None:
            ends = files.complete(files.sizes(), begun.files)
        most_bytes = limit.max_bytes if isinstance(limit, ReadMaxBytes) else None
        most_files = limit.max_files if isinstance(limit, ReadMaxFiles) else None
        plan = files.following(begun, ends, most_bytes=most_bytes, most_files=most_files)
        if self._options.complete and self._ends is not None:
            left = files.following(plan.end, ends, most_files=1).parts
            plan = replace(plan, end=replace(plan.end, ended=begun.ended or not left))
        self._planned = begun, plan
        if files.counted and plan.end != begun:
            next_one = (plan.end, ends, most_bytes, most_files)
            threading.Thread(target=self._look_ahead, args=next_one, name=LOOKING, daemon=True).start()
        return plan.end.data()

    def _look_ahead(
        self, begun: Offset, ends: Mapping[str, int], most_bytes: int | None, most_files: int | None
    ) -> None:
        """Count the statements of the next micro-batch while this one is matched."""
        with suppress(UsageError, OSError):  # the planning itself will meet the same error
            self._files.following(begun, ends, most_bytes=most_bytes, most_files=most_files)

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """Return the parts that the tasks read between two offsets."""
        begun, ended = Offset.of(start), Offset.of(end)
        return [*self._between(begun, ended), *([_Parts(None)] if ended.ended and not begun.ended else [])]

    def _between(self, begun: Offset, ended: Offset) -> list[InputPartition]:
        if self._planned is not None and self._planned[0] == begun and self._planned[1].end == ended:
            return _partitions(self._planned[1], self._options)
        return _partitions(self._files.plan(begun, ended), self._options)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read the parts of a task."""
        return iter([_end()]) if partition.value is None else _rows(self._options, partition.value)


def _end() -> pa.RecordBatch:
    """Return the row that tells the end of a stream: no place."""
    return pa.RecordBatch.from_arrays([pa.array([None], _PLACE), pa.array([0], pa.int64())], ["value", "first"])


def _rows(options: SourceOptions, parts: Sequence[Part]) -> Iterator[pa.RecordBatch]:
    """Read parts of files as the rows that the options ask for."""
    if options.blocks == "ranges":
        yield _places(parts)
        return
    for part in parts:
        if options.blocks == "true":
            yield from _blocks(part)
        else:
            from retewave.spark.source.triples import triples_of

            yield from triples_of(part, options.rate, options.time_property, raising=options.on_error == "raise")


def _places(parts: Sequence[Part]) -> pa.RecordBatch:
    places = [
        {"file": part.range.file, "start": part.range.start, "end": part.range.end, "format": part.range.format}
        for part in parts
    ]
    columns = [pa.array(places, _PLACE), pa.array([part.first for part in parts], pa.int64())]
    return pa.RecordBatch.from_arrays(columns, ["value", "first"])


def _blocks(part: Part) -> Iterator[pa.RecordBatch]:
    first = part.first
    for text in texts_of(part.range, BLOCK_BYTES):
        columns = [text.cast(pa.binary()), pa.array([first], pa.int64()), pa.array([part.range.file], pa.string())]
        yield pa.RecordBatch.from_arrays(columns, ["value", "first", "file"])
        first = None if first is None else first + statements_of(text)
