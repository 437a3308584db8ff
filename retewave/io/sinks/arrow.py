"""Matches as an Arrow IPC stream: query, start, end, each variable in N-Triples form, and lists of repetitions.

Data's way: batches of matches -> **record batches** -> file or pipe.
Invariant: the schema is known before the first match, so a stream may be without matches.  Columns of terms are
dictionaries, and each record batch brings its own: a reader holds no more than one batch's terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import pyarrow as pa

from retewave.errors import UsageError
from retewave.io.sinks.arrow_columns import TERMS, moments, terms
from retewave.io.sinks.lists import column_of, joined, list_type, named
from retewave.repetitions import RepeatedPattern

if TYPE_CHECKING:
    from retewave.match import Matches

__all__ = ["ArrowSink"]

_ROWS = 1 << 16  # in a record batch


class ArrowSink:
    """Writes record batches of one schema, which all queries share."""

    def __init__(
        self, file: BinaryIO, names: tuple[str, ...], *, seconds: bool, repeated: Iterable[RepeatedPattern] = ()
    ) -> None:
        time = pa.float64() if seconds else pa.timestamp("us", tz="UTC")
        fields = [("query", TERMS), ("start", time), ("end", time), *((name, TERMS) for name in names)]
        self._lists = joined(repeated)
        fields += [(named(each.name), list_type(each, time)) for each in self._lists]
        self._schema = pa.schema(fields)
        self._names = names
        self._time = time
        self._file = file
        self._writer = pa.ipc.new_stream(file, self._schema)

    def write(self, batches: Sequence[Matches]) -> None:
        """Write the matches of several queries as one record batch, in the order in which they were found."""
        if not batches:
            return
        if len(batches) == 1:
            for first in range(0, len(batches[0]), _ROWS):
                self._write_rows(batches[0], first, min(first + _ROWS, len(batches[0])))
        else:
            whole = [pa.RecordBatch.from_arrays(self._columns(b, slice(None)), schema=self._schema) for b in batches]
            order = np.argsort(np.concatenate([batch.places for batch in batches]), kind="stable")
            self._writer.write_table(pa.Table.from_batches(whole).unify_dictionaries().take(order))
        self._file.flush()

    def close(self) -> None:
        """End the stream."""
        self._writer.close()
        self._file.flush()

    def _write_rows(self, batch: Matches, first: int, behind: int) -> None:
        """Write some matches as a record batch, or as several if a column's texts are too long for one."""
        columns, middle = self._columns(batch, slice(first, behind)), (first + behind) // 2
        if all(column.type == field.type for column, field in zip(columns, self._schema, strict=True)):
            self._writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))
        elif middle == first:
            raise UsageError("a term of more than 2 GiB does not go into Arrow's columns", hint="write another format")
        else:
            self._write_rows(batch, first, middle)
            self._write_rows(batch, middle, behind)

    def _columns(self, batch: Matches, rows: slice) -> list[pa.Array]:
        """Return the columns of some matches; columns with more than 2 GiB of text have another type."""
        texts, numbers = batch.numbered
        ids, starts, ends = numbers[rows], batch.starts[rows], batch.ends[rows]
        timeless, count = ends < starts, len(starts)
        columns = [
            pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array([batch.query.name])),
            moments(starts, timeless, self._time),
            moments(ends, timeless, self._time),
        ]
        for name in self._names:
            shown = name in batch.query.variables
            columns.append(terms(texts, ids[:, batch.query.place(name)]) if shown else pa.nulls(count, TERMS))
        return columns + [column_of(batch, rows, each, self._time) for each in self._lists]
