"""Parts of reports: what a shard sends of a view in two stages, and what the last task reads of it.

Data's way: rows of a report in a shard -> **part** -> the last task (`last`) -> matches.
A part is also sent for a report without rows: that there is a report is told, too.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from retewave.match import Matches
from retewave.rete.pack import pack, unpack
from retewave.rete.terms.dictionary import Terms

__all__ = ["PACKED", "PARTS", "Part", "PartRows", "batch_of", "columns_of", "part_of", "rows_of"]

PACKED = "found binary"  # the columns in which packed matches leave
PARTS = "view int, time bigint, told timestamp, found binary"  # those in which parts leave, and matches beside them
_HEAD = Struct("<qq")  # the report's opening, and how many of the rows are gone


class Part(bytes):
    """One shard's part of a report: its packed rows."""

    view: int  # the place of the view among the job's queries
    time: int  # microseconds: that of the report

    @classmethod
    def of(cls, view: int, time: int, payload: bytes) -> Part:
        """Return packed rows as a part."""
        part = cls(payload)
        part.view, part.time = view, time
        return part


class PartRows(NamedTuple):
    """The rows of a part."""

    opened: int  # microseconds: the earliest opening of the windows
    there: np.ndarray  # ids of rows
    gone: np.ndarray  # ids of rows that are gone, where changes are sent


def columns_of(found: bytes, shard: int) -> tuple[int, int, bytes]:
    """Return view, time and bytes of a part; matches have a negative number in place of a view."""
    return (found.view, found.time, bytes(found)) if isinstance(found, Part) else (-1 - shard, 0, found)


def batch_of(found: bytes, shard: int, *, last: bool) -> pa.RecordBatch:
    """Return what a shard has found as a row; `last`: for a last task."""
    view, time, data = columns_of(found, shard)
    packed = pa.array([data], pa.binary())
    if not last:
        return pa.RecordBatch.from_arrays([packed], ["found"])
    told = pa.array([None], pa.timestamp("us", tz="UTC"))
    columns = [pa.array([view], pa.int32()), pa.array([time], pa.int64()), told, packed]
    return pa.RecordBatch.from_arrays(columns, ["view", "time", "told", "found"])


def part_of(view: int, batch: Matches) -> Part:
    """Return the part that the rows of a report are."""
    assert batch.reported is not None
    opened, time = batch.reported
    packed = pack(batch.terms, np.ascontiguousarray(batch.ids.T), [np.zeros(len(batch), np.int64)])
    return Part.of(view, time, _HEAD.pack(opened, batch.gone) + packed)


def rows_of(terms: Terms, payload: bytes) -> PartRows:
    """Return the rows of a part, in a dictionary's ids."""
    opened, gone = _HEAD.unpack_from(payload)
    ids, numbers = unpack(terms, payload[_HEAD.size :])
    rows = ids.T if len(ids) else np.zeros((numbers.shape[1], 0), np.int64)
    return PartRows(opened, rows[: len(rows) - gone], rows[len(rows) - gone :])
