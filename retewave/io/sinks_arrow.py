"""Matches as an Arrow IPC stream: query, start, end, and each variable in N-Triples form.

Data's way: batches of matches -> **record batches** -> file or pipe.
Invariant: the schema is known before the first match, so a stream without matches is one, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from retewave.match import Matches

__all__ = ["ArrowSink"]


class ArrowSink:
    """Writes record batches of one schema, which all queries share."""

    def __init__(self, file: BinaryIO, names: tuple[str, ...], *, seconds: bool) -> None:
        time = pa.float64() if seconds else pa.timestamp("us", tz="UTC")
        fields = [("query", pa.string()), ("start", time), ("end", time), *((name, pa.string()) for name in names)]
        self._schema = pa.schema(fields)
        self._names = names
        self._time = time
        self._file = file
        self._writer = pa.ipc.new_stream(file, self._schema)

    def write(self, batches: Sequence[Matches]) -> None:
        """Write the matches of several queries as one record batch, in the order in which they were found."""
        if not batches:
            return
        table = pa.concat_tables([pa.table(self._columns(batch), schema=self._schema) for batch in batches])
        order = np.argsort(np.concatenate([batch.places for batch in batches]), kind="stable")
        self._writer.write_table(table if len(batches) == 1 else table.take(order))
        self._file.flush()

    def close(self) -> None:
        """End the stream."""
        self._writer.close()
        self._file.flush()

    def _columns(self, batch: Matches) -> dict[str, Any]:
        timeless = batch.ends < batch.starts
        columns = {
            "query": pa.array([batch.query.name] * len(batch), pa.string()),
            "start": self._moments(batch.starts, timeless),
            "end": self._moments(batch.ends, timeless),
        }
        for name in self._names:
            columns[name] = _terms(batch, name)
        return columns

    def _moments(self, times: np.ndarray, timeless: np.ndarray) -> Any:
        values = times / 1_000_000 if pa.types.is_floating(self._time) else times
        return pa.array(values, mask=timeless).cast(self._time)


def _terms(batch: Matches, name: str) -> pa.Array:
    """Return a column of terms; each is decoded once, however many matches have it."""
    if name not in batch.query.variables:
        return pa.nulls(len(batch), pa.string())
    texts, places = batch.distinct(name)
    return pa.array([None if text is None else text.decode() for text in texts], pa.string()).take(pa.array(places))
