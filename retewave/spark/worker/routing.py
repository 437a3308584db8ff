"""Stage 1 on Spark: from the columns of a DataFrame to packets of rows, one a shard.

Data's way: Arrow batches of texts, or of places of files -> router -> **Arrow batches of packets** -> shuffle.
Invariant: no statement becomes a Python object; a task tells the latest time that came in even when it sends nothing.
Left out: the meaning of a text and the way of its rows, which is the router's (`route`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from retewave.errors import MalformedInput
from retewave.windows.intervals import BEFORE_ALL

if TYPE_CHECKING:
    from retewave.spark.driver.carried import Carried
    from retewave.spark.stats import Stats
    from retewave.spark.worker.route import Packet, Router

__all__ = ["DOCUMENT", "FIRST", "PACKETS", "STREAM", "TIME", "VALUE", "RoutingTask"]

# The columns that stage 1 reads; all but the first may be missing.
VALUE = "value"  # string or binary: lines; a struct of three or four strings: terms; a struct of a file's place
TIME = "time"  # bigint: microseconds
FIRST = "first"  # bigint: the ordinal of the value's first statement, for a nominal rate
DOCUMENT = "document"  # bigint: the number of the document that the value is a part of
STREAM = "stream"  # string: the IRI of the stream

END = 253_402_214_400_000_000  # microseconds, the last day of 9999: the time of a stream's end
PACKETS = "shard int, oldest bigint, newest timestamp, payload binary"
_ENOUGH = 8 << 20  # bytes of text that are worth a call of the router
_NEWEST = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True)
class RoutingTask:
    """The work of a task of stage 1; it goes to the workers."""

    carried: Carried  # the job
    keys: tuple[int, ...]  # of the shards
    stats: Stats | None  # the counters of the input

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Route all batches of a task."""
        from retewave.spark.worker.collector import settle
        from retewave.spark.worker.route import router_of

        router = router_of(self.carried.job())
        sent, latest = set(), None
        for gathered in _gathered(batches):
            packets = _route(router, self._timed(gathered))
            latest = _latest(latest, packets)
            full = [
                replace(packet, newest=latest.newest) for packet in packets if packet.payload and latest is not None
            ]
            sent |= {packet.shard for packet in full}
            if full:
                yield self._batch(full)
            self._count(router)
        if latest is not None:
            everyone = router.job.announces or router.job.clocked or latest.newest >= END
            yield self._batch(self._last(latest, everyone, set() if router.job.clocked else sent))
        settle()

    def _last(self, latest: Packet, everyone: bool, sent: set[int]) -> list[Packet]:
        """Return the packets without rows that end a task: they tell the time, and wake shards that must announce.

        `sent`: the shards that need none, for they have rows.
        """
        from retewave.spark.worker.route import Packet

        shards = [each for each in range(len(self.keys)) if each not in sent] if everyone else []
        oldest = BEFORE_ALL if latest.newest >= END else latest.newest  # the end is no time of an item
        return [Packet(each, oldest, latest.newest, b"") for each in shards or [latest.shard]]

    def _timed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Leave out the values without a time, and count them."""
        if TIME not in batch.schema.names or not batch.column(TIME).null_count:
            return batch
        if self.stats is not None:
            self.stats.routed(untimed=batch.column(TIME).null_count)
        return batch.filter(batch.column(TIME).is_valid())

    def _batch(self, packets: Sequence[Packet]) -> pa.RecordBatch:
        columns: list[Any] = [
            pa.array([self.keys[packet.shard] for packet in packets], pa.int32()),
            pa.array([packet.oldest for packet in packets], pa.int64()),
            pa.array([packet.newest for packet in packets], _NEWEST),
            pa.array([packet.payload for packet in packets], pa.binary()),
        ]
        return pa.RecordBatch.from_arrays(columns, ["shard", "oldest", "newest", "payload"])

    def _count(self, router: Router) -> None:
        counts = router.take_counts()
        if self.stats is not None:
            self.stats.routed(counts.triples, counts.malformed, counts.untimed, counts.first_malformed)


def _latest(before: Packet | None, packets: Sequence[Packet]) -> Packet | None:
    latest = max(packets, key=lambda packet: packet.newest, default=before)
    return latest if before is None or latest is None or latest.newest > before.newest else before


def _gathered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Put small batches together: a router's call, and each packet, has a cost of its own."""
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        if batch.num_rows:
            held.append(batch)
            size += batch.nbytes
        if size >= _ENOUGH:
            yield _joined(held)
            held, size = [], 0
    if held:
        yield _joined(held)


def _joined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    if len(batches) == 1:
        return batches[0]
    (joined,) = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return joined


def _route(router: Router, batch: pa.RecordBatch) -> list[Packet]:
    """Route a batch, whichever columns it has."""
    values = batch.column(VALUE)
    columns: dict[str, Any] = {
        "times": _numbers(batch, TIME),
        "first": _numbers(batch, FIRST),
        "scopes": _numbers(batch, DOCUMENT),
        "streams": batch.column(STREAM) if STREAM in batch.schema.names else None,
    }
    if not pa.types.is_struct(values.type):
        return router.text(values, **columns)
    if values.type.get_field_index("file") < 0:
        return router.text(_lines(values), **columns)
    return [
        packet for place in range(len(values)) for packet in _route_file(router, values[place].as_py(), place, columns)
    ]


def _numbers(batch: pa.RecordBatch, name: str) -> np.ndarray | None:
    if name not in batch.schema.names:
        return None
    numbers: np.ndarray = batch.column(name).to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return numbers


def _lines(terms: pa.StructArray) -> pa.Array:
    """Return lines made of three or four columns of terms; a missing graph is the default graph."""
    columns = terms.flatten()
    graphs = [pc.fill_null(column, "") for column in columns[3:]]
    return pc.binary_join_element_wise(*columns[:3], *graphs, ".", " ")


def _route_file(router: Router, place: dict[str, Any] | None, row: int, columns: dict[str, Any]) -> Iterator[Packet]:
    """Route a part of a file, which this process reads itself."""
    from retewave.spark.source.parts import Range, texts_of

    if place is None:
        yield router.end()
        return
    before = router.counts.triples
    try:
        for text in texts_of(Range(place["file"], place["start"], place["end"], place["format"])):
            here: dict[str, Any] = {
                name: None if column is None else column[row : row + 1] for name, column in columns.items()
            }
            if here["first"] is not None:
                here["first"] = here["first"] + (router.counts.triples - before)
            yield from router.text(text, **here, name=place["file"])
    except MalformedInput as error:
        if router.job.on_error == "raise":
            raise
        router.counts.malformed += 1
        router.counts.first_malformed.append(str(error))
