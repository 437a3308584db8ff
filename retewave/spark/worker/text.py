"""Stage 3 for files of text: packed matches become lines, many at once.

Data's way: packed matches -> **texts of whole lines** -> files or a terminal.
Invariant: the lines are those that `retewave run` writes, by the same kernels (retewave/io/sinks/lines.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from retewave.io.sinks.lines import Objects, in_order, lines_of
from retewave.rete.pack import unpack_texts
from retewave.rete.terms.texts import Texts
from retewave.spark.worker.collector import settle
from retewave.windows.times import Clock

if TYPE_CHECKING:
    from retewave.spark.driver.carried import Carried
    from retewave.spark.driver.job import Job
    from retewave.spark.stats import Stats

__all__ = ["LINES", "Lines", "ndjson", "ntriples"]

LINES = "value string"
_SECONDS, _DATES = Clock("float"), Clock("text")


@dataclass(frozen=True)
class Lines:
    """Writes packed matches as texts without a last line's end; goes to the workers."""

    carried: Carried  # the job
    stats: Stats | None  # told of matches

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write all batches of a task."""
        job = self.carried.job()
        for batch in batches:
            for packed in batch.column(0):
                text, matches = self._written(job, packed.as_py())
                if self.stats is not None:
                    self.stats.found(matches)
                if matches:
                    yield pa.RecordBatch.from_arrays([text], ["value"])
        settle()

    def _written(self, job: Job, packed: bytes) -> tuple[pa.Array, int]:
        """Return matches as a text, and their number."""
        if job.lines is not None:  # shards have written it
            return pa.array([packed.removesuffix(b"\n").decode()]), packed.count(b"\n")
        return ntriples(packed) if job.format == "nt" else ndjson(job, packed)


@dataclass(frozen=True)
class _Shown:
    """A query, as its lines show it."""

    name: str  # in the output
    variables: tuple[str, ...]  # all columns of the job: unbound ones are left out


@dataclass(frozen=True)
class _Found:
    """Packed matches of one query."""

    query: _Shown  # whose matches they are
    numbered: tuple[Texts, np.ndarray]  # texts, and terms by their numbers in them, int64 [matches, columns]
    clock: Clock  # how times are told
    starts: np.ndarray  # int64 microseconds
    ends: np.ndarray  # int64 microseconds
    places: np.ndarray  # where they stand among the others
    number: int = 0  # of no use here: blank nodes have their labels

    def __len__(self) -> int:
        return len(self.starts)


def ndjson(job: Job, packed: bytes) -> tuple[pa.Array, int]:
    """Return JSON objects as one text: query, start, end, bindings in SPARQL's JSON; and how many they are."""
    table, numbers = unpack_texts(packed)
    texts, ids = Texts.of(table.texts, table.ends), table.places.T.astype(np.int64)
    clock = _SECONDS if job.rate is not None else _DATES
    format, found = Objects(), []
    for number, query in enumerate(job.queries):
        rows = np.flatnonzero(numbers[0] == number)
        if len(rows):
            times = numbers[1][rows], numbers[2][rows]
            found.append(_Found(_Shown(query.name, job.columns), (texts, ids[rows]), clock, *times, rows))
    if not found:
        return pa.array([""]), 0
    lines = in_order(found, [lines_of(format, each) for each in found])
    return pa.array([lines[:-1].tobytes().decode()]), len(ids)


def ntriples(packed: bytes) -> tuple[pa.Array, int]:
    """Return the N-Triples that CONSTRUCT queries have built as a text, and their number."""
    columns = unpack_texts(packed)[0].columns()
    lines = pc.binary_join_element_wise(*columns, ".", " ")
    return pc.binary_join(pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines), "\n"), len(lines)
