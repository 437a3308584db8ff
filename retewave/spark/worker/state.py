"""Stage 2 on Spark: the shards' steps, with Spark's state store as their store.

Data's way: packets of a shard -> **a step of the shard** -> packed matches, or parts -> **a step of the last task**.
Invariant: what a step puts out and what it writes are committed together by Spark, or not at all.  Spark moves the
watermark between micro-batches; a shard knows from what it is sent how far that will be at least, and need not wait for
it.  What must wait is called for by a timer of event time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import BinaryType, LongType, StructField, StructType

from retewave.errors import UsageError
from retewave.spark.worker.parts import columns_of
from retewave.windows.intervals import BEFORE_ALL

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import ExpiredTimerInfo, MapState, TimerValues, ValueState

    from retewave.spark.driver.carried import Carried
    from retewave.spark.stats import Stats

__all__ = ["Keeping", "PuttingTogether"]

_DATA = StructType([StructField("data", BinaryType())])
_NUMBER = StructType([StructField("number", LongType())])
_AFTER_ALL = datetime(9999, 12, 30, tzinfo=UTC)  # no watermark is behind it
_MICROS = 1000  # in a millisecond, Spark's unit of watermarks and timers


class _Store:
    """A shard's store, in Spark's state store."""

    def __init__(self, meta: ValueState, chunks: MapState) -> None:
        self._meta, self._chunks = meta, chunks

    def meta(self) -> bytes | None:
        """Return the data that was put last."""
        value = self._meta.get()
        return None if value is None else bytes(value[0])

    def put_meta(self, data: bytes) -> None:
        """Keep how far the shard has come."""
        self._meta.update((data,))

    def chunk(self, number: int) -> bytes:
        """Return a chunk."""
        value = self._chunks.getValue((number,))
        if value is None:
            raise RuntimeError(f"the state store has lost chunk {number}")
        return bytes(value[0])

    def put_chunk(self, number: int, data: bytes) -> None:
        """Keep a chunk."""
        self._chunks.updateValue((number,), (data,))

    def drop(self, number: int) -> None:
        """Forget a chunk."""
        self._chunks.removeKey((number,))


class Keeping(StatefulProcessor):
    """Spark's view of the shards: one key, one shard."""

    def __init__(self, carried: Carried, keys: Sequence[int], delay: int | None, stats: Stats | None) -> None:
        self.carried, self.stats = carried, stats
        self.delay = delay  # milliseconds that the watermark stays behind the latest time; None: others decide, too
        self._shards = {key: shard for shard, key in enumerate(keys)}
        self._stepped: dict[int, int] = {}  # key -> the watermark that its last step in this batch has seen

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the state."""
        self._handle = handle
        self._store = _Store(handle.getValueState("meta", _DATA), handle.getMapState("chunks", _NUMBER, _DATA))

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: TimerValues) -> Iterator[Row]:  # noqa: N802, N803
        """Step a shard that has been sent something."""
        packets, newest = [], BEFORE_ALL
        for row in rows:
            newest = max(newest, row.newest)
            packets.append((row.oldest, bytes(row.payload)))
        return self._step(key[0], packets, timerValues, self._ahead(newest))

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: N803
    ) -> Iterator[Row]:
        """Step a shard whose waiting rows the watermark has passed."""
        if self._stepped.get(key[0]) == timerValues.getCurrentWatermarkInMs():
            return iter(())
        return self._step(key[0], [], timerValues)

    def close(self) -> None:
        """Let the live networks stay for the next batch."""
        from retewave.spark.worker.collector import settle

        settle()

    def _ahead(self, newest: int) -> int:
        """Return where the next watermark will be at least, if something so late has come in this micro-batch."""
        return BEFORE_ALL if self.delay is None else _watermark(newest // _MICROS - self.delay)

    def _step(
        self, key: int, packets: Sequence[tuple[int, bytes]], times: TimerValues, ahead: int = BEFORE_ALL
    ) -> Iterator[Row]:
        from retewave.spark.worker.shard import shard_of

        if key not in self._shards:
            raise UsageError(
                f"the checkpoint has more shards than the {len(self._shards)} that are wanted",
                hint="start with a new checkpoint folder, or ask for as many as it was made with",
            )
        millis = times.getCurrentWatermarkInMs()
        step = shard_of(self.carried.job(), self._shards[key]).step(self._store, packets, _watermark(millis), ahead)
        self._stepped[key] = millis
        if step.wake is not None:
            # A timer that is due already is over with this micro-batch: as long as there is no watermark, 0 is due.
            self._handle.registerTimer(max(-(-step.wake // _MICROS), millis + 1))
        if self.stats is not None:
            self.stats.came_late(step.late)
            self.stats.waits(self._shards[key], *step.waits)
        if not self.carried.job().last:
            return (Row(found=packed) for packed in step.found)
        return (_row(found, self._shards[key]) for found in step.found)


class PuttingTogether(StatefulProcessor):
    """Spark's view of the last tasks of views in two stages: one key, one view; matches of others pass through."""

    def __init__(self, carried: Carried) -> None:
        self.carried = carried
        self._stepped: dict[int, int] = {}  # key -> the watermark that its last step in this batch has seen

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the state."""
        self._handle = handle
        self._store = _Store(handle.getValueState("meta", _DATA), handle.getMapState("chunks", _NUMBER, _DATA))

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: TimerValues) -> Iterator[Row]:  # noqa: N802, N803
        """Take in parts of a view's reports."""
        if key[0] < 0:
            return (Row(found=bytes(row.found)) for row in rows)
        return self._step(key[0], [(row.time, bytes(row.found)) for row in rows], timerValues)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: N803
    ) -> Iterator[Row]:
        """Tell reports that the watermark has passed."""
        if self._stepped.get(key[0]) == timerValues.getCurrentWatermarkInMs():
            return iter(())
        return self._step(key[0], [], timerValues)

    def close(self) -> None:
        """Let what is loaded stay for the next batch."""
        from retewave.spark.worker.collector import settle

        settle()

    def _step(self, view: int, parts: Sequence[tuple[int, bytes]], times: TimerValues) -> Iterator[Row]:
        from retewave.spark.worker.last import last_of

        millis = times.getCurrentWatermarkInMs()
        step = last_of(self.carried.job()).step(self._store, view, parts, _watermark(millis))
        self._stepped[view] = millis
        if step.wake is not None:
            self._handle.registerTimer(max(-(-step.wake // _MICROS), millis + 1))
        return (Row(found=packed) for packed in step.found)


def _row(found: bytes, shard: int) -> Row:
    view, time, data = columns_of(found, shard)
    return Row(view=view, time=time, told=_AFTER_ALL, found=data)


def _watermark(millis: int) -> int:
    """Return a watermark of Spark's in microseconds; Spark says 0 as long as there is none."""
    return millis * _MICROS if millis > 0 else BEFORE_ALL
