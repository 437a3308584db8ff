"""Event workloads in plain Spark: a stateful operator by hand, with timers, keyed as one would key it.

W1 keeps the prices of a company and the pairs that fell; W3 keeps an open request and a timer at its deadline.
It is given the CSV, so it parses no RDF.  Left out: all that a query language would give.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from retewave.bench.events.task import WITHIN, EventTask

__all__ = ["matches"]

_OUT = "key bigint, started bigint, ended bigint"
_STATE = "data binary"
_LATER = 3_600_000_000  # microseconds behind the last event: a row there closes all


def _processor(handle_row: Any, expired: Any) -> Any:
    """Return a processor: what a row of a key does to its state, and what a timer does."""
    sql = import_module("pyspark.sql")
    base: Any = import_module("pyspark.sql.streaming").StatefulProcessor

    class ByHand(base):  # type: ignore[misc]  # known only where Spark is
        """Keeps one pickled value a key."""

        def init(self, handle: Any) -> None:
            self._handle = handle
            self._state = handle.getValueState("kept", _STATE)

        def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: N802, N803
            held = self._state.get()
            kept = pickle.loads(held[0]) if held else None
            found: list[tuple[int, int, int]] = []
            for row in sorted(rows, key=lambda row: row.time_us):
                kept = handle_row(kept, key[0], row, found, self._handle)
            if kept is None:
                self._state.clear()
            else:
                self._state.update((pickle.dumps(kept),))
            return (sql.Row(key=k, started=s, ended=e) for k, s, e in found)

        def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Any]:  # noqa: N802, N803
            held = self._state.get()
            if not expired or not held:
                return iter(())
            self._state.clear()
            return (sql.Row(key=key[0], started=at, ended=at + WITHIN["W3"]) for at in pickle.loads(held[0]))

        def close(self) -> None:
            pass

    return ByHand()


def _recovery(kept: Any, key: int, row: Any, found: list[tuple[int, int, int]], handle: Any) -> Any:
    """Take a price: it may recover what fell, and fall below what came before."""
    prices, fallen = kept or ([], [])
    at, value, oldest = row.time_us, row.value, row.time_us - WITHIN["W1"]
    prices = [each for each in prices if each[0] >= oldest]
    fallen = [each for each in fallen if each[0] >= oldest]
    found += [(key, begun, at) for begun, before, low in fallen if low < at and value > 1.05 * before]
    fallen += [(begun, before, at) for begun, before in prices if begun < at and value < 0.7 * before]
    prices.append((at, value))
    return prices, fallen


def _unanswered(kept: Any, key: int, row: Any, found: list[tuple[int, int, int]], handle: Any) -> Any:
    """Take a request or its response."""
    at, within = row.time_us, WITHIN["W3"]
    if row.kind == "Q":
        handle.registerTimer((at + within) // 1000 + 1)
        return [*(kept or []), at]
    return [begun for begun in kept or [] if not begun < at <= begun + within] or None


def matches(task: EventTask, spark: Any, folder: Path) -> Any:
    """Return the DataFrame of a workload's matches."""
    functions = import_module("pyspark.sql.functions")
    folder.mkdir()
    (folder / "a.csv").symlink_to(task.csv.resolve())
    last = task.csv.read_bytes().splitlines()[-1].split(b",")
    head = b"time_us,key,value,kind\n"
    (folder / "b.csv").write_bytes(head + b"%d,-1,0,%s\n" % (int(last[0]) + _LATER, b"R" if last[3] in b"QR" else b"T"))
    schema = "time_us bigint, key bigint, value bigint, kind string"
    rows = spark.readStream.schema(schema).option("header", True).option("maxFilesPerTrigger", 1).csv(str(folder))
    timed = rows.withColumn("t", functions.timestamp_micros("time_us")).withWatermark("t", "0 seconds")
    of_prices = task.workload == "W1"
    processor = _processor(_recovery if of_prices else _unanswered, not of_prices)
    return timed.groupBy("key").transformWithState(processor, _OUT, "Append", "EventTime")
