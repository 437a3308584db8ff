"""Matches on their way out: packed where they are found, Arrow columns where they leave.

Data's way: batches of matches -> **packed matches** -> **record batch**.
A packed match is its terms, by the columns of the job (0: unbound), and three numbers: its query, its start, its end.
Terms are written once a batch, however often they occur, and are spelled out only where the columns leave.
Where sequences of the job repeat event patterns, the columns of these repetitions stand behind it, as Arrow has them.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from io import BytesIO

import numpy as np
import pyarrow as pa

from retewave.construct import built
from retewave.engine.engine import Engine
from retewave.io.sinks.explained import ExplainedSink
from retewave.io.sinks.lists import column_of, list_type, named
from retewave.io.sinks.sinks import Sink, open_sink
from retewave.match import Matches
from retewave.repetitions import RepeatedPattern
from retewave.rete.pack import pack, unpack_texts
from retewave.spark.driver.job import Job
from retewave.windows.times import Clock

__all__ = ["Finder", "Writer", "clock_of", "finder_of", "schema", "unpack"]

_TIME = pa.timestamp("us", tz="UTC")
_SIZE = 8  # bytes of a length
_SECONDS, _DATES = Clock("float"), Clock("text")  # packed matches have microseconds, which no clock shows


class Writer:
    """Writes the matches of one engine as lines."""

    def __init__(self, job: Job, engine: Engine) -> None:
        assert job.lines is not None
        self._file = BytesIO()
        self._sink: Sink
        if job.explained:
            self._sink = ExplainedSink(job.lines, self._file)
        else:
            self._sink = open_sink(job.lines, engine.queries, self._file, seconds=job.rate is not None)

    def packed(self, batch: Matches) -> bytes:
        """Return a batch as bytes: the lines that `retewave run` writes."""
        self._sink.write([batch])
        lines = self._file.getvalue()
        self._file.seek(0)
        self._file.truncate()
        return lines


class Finder:
    """Packs the matches of one engine."""

    def __init__(self, job: Job, engine: Engine) -> None:
        self._terms = engine.terms
        self._scope = secrets.token_hex(6).encode() + b"."  # sets its blank nodes apart from those of other processes
        self._numbers = {query.name: place for place, query in enumerate(job.queries)}
        self._columns = {name: place for place, name in enumerate(job.columns)}
        self._repeated = job.repeated

    def packed(self, batch: Matches) -> bytes:
        """Return a batch as bytes."""
        if batch.query.parsed.form == "CONSTRUCT":
            made = built(batch, self._terms.intern_many, self._scope)
            columns, places = dict(zip(("s", "p", "o"), made.ids, strict=True)), made.matches
        else:
            columns, places = dict(zip(batch.query.variables, batch.ids.T, strict=True)), np.arange(len(batch))
        ids = np.zeros((len(self._columns), len(places)), np.int64)
        for name, column in columns.items():
            ids[self._columns[name]] = column
        number = np.full(len(places), self._numbers[batch.query.name])
        packed = pack(self._terms, ids, [number, batch.starts[places], batch.ends[places]])
        return _with_lists(packed, batch, places, self._repeated) if self._repeated else packed


def finder_of(job: Job, engine: Engine) -> Finder | Writer:
    """Return what makes bytes of a job's matches."""
    return Finder(job, engine) if job.lines is None else Writer(job, engine)


def clock_of(job: Job) -> Clock:
    """Return how a job's matches show times."""
    return _DATES if job.lines is not None and job.rate is None else _SECONDS


def schema(job: Job) -> pa.Schema:
    """Return the columns in which matches leave."""
    lists = ((named(each.name), list_type(each, _TIME)) for each in job.repeated)
    terms = ((name, pa.string()) for name in job.columns)
    return pa.schema([("query", pa.string()), ("start", _TIME), ("end", _TIME), *terms, *lists])


def unpack(job: Job, packed: bytes) -> pa.RecordBatch:
    """Return packed matches as columns; terms are spelled as N-Triples, times of static data are null."""
    packed, lists = _lists_apart(packed) if job.repeated else (packed, [])
    table, numbers = unpack_texts(packed)
    names = pa.array([query.name for query in job.queries], pa.string())
    timeless = numbers[2] < numbers[1]
    times = [_moments(each, timeless) for each in numbers[1:]]
    return pa.RecordBatch.from_arrays(
        [names.take(pa.array(numbers[0])), *times, *table.columns(), *lists], schema=schema(job)
    )


def _with_lists(packed: bytes, batch: Matches, places: np.ndarray, repeated: Sequence[RepeatedPattern]) -> bytes:
    """Return packed matches with the columns of repetitions behind them."""
    columns = [column_of(batch, slice(None), each, _TIME).take(pa.array(places)) for each in repeated]
    lists = pa.RecordBatch.from_arrays(columns, [named(each.name) for each in repeated])
    written = pa.BufferOutputStream()
    with pa.ipc.new_stream(written, lists.schema) as writer:
        writer.write_batch(lists)
    behind: bytes = written.getvalue().to_pybytes()
    return len(packed).to_bytes(_SIZE, "little") + packed + behind


def _lists_apart(packed: bytes) -> tuple[bytes, list[pa.Array]]:
    behind = _SIZE + int.from_bytes(packed[:_SIZE], "little")
    (lists,) = pa.ipc.open_stream(packed[behind:])
    return packed[_SIZE:behind], lists.columns


def _moments(times: np.ndarray, timeless: np.ndarray) -> pa.Array:
    return pa.array(times, pa.timestamp("us", tz="UTC"), mask=timeless)
