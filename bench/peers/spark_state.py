"""Spark, a stateful operator written by hand: an offer's triples gathered by key, then joined with the types."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from retewave.bench.peers.spark_files import REQUIRES, Stream, java_missing, kinds, of_offers, run
from retewave.bench.question import FOREVER
from retewave.bench.task import Adapter, Result, Task
from retewave.bench.vocabulary import PREDICATES

__all__ = ["ADAPTER"]

_LINES = 400_000  # of a micro-batch
_BITS = {predicate: 1 << n for n, predicate in enumerate(PREDICATES)}
_ALL = (1 << len(PREDICATES)) - 1
_OFFERS = "product string, first bigint, last timestamp"
_GATHERED = "seen int, product string, first bigint, last bigint"


def _gathering(window: int) -> Any:
    """Return a processor that is called with an offer and the triples of it that a micro-batch has."""
    sql = import_module("pyspark.sql")
    processor: Any = import_module("pyspark.sql.streaming").StatefulProcessor

    class Gathering(processor):
        """Collects ten triples; offers that are not complete within a window are forgotten."""

        def init(self, handle: Any) -> None:
            self._handle = handle
            self._state = handle.getValueState("gathered", _GATHERED)

        def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: N802, N803
            seen, product, first, last = self._state.get() or (0, None, FOREVER, -FOREVER)
            for row in rows:
                first, last = min(first, row.at), max(last, row.at)
                seen |= _BITS[row.p]
                product = row.o if _BITS[row.p] == 2 else product
            if seen == _ALL:
                self._state.clear()
                if last - first <= window:
                    yield sql.Row(product=product, first=first, last=_moment(last))
            else:
                self._state.update((seen, product, first, last))
                self._handle.registerTimer((first + window) // 1000 + 1)

        def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Any]:  # noqa: N802, N803
            self._state.clear()
            return iter(())

        def close(self) -> None:
            pass

    return Gathering()


def _moment(micros: int) -> Any:
    """Return a time as Spark takes it from Python: local, which is UTC in the workers."""
    datetime: Any = import_module("datetime")
    return datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(microseconds=micros)


def _matches(stream: Stream) -> Any:
    functions = import_module("pyspark.sql.functions")
    rows = of_offers(stream).withWatermark("t", "0 seconds")
    sent = rows.select("s", "p", "o", "t", functions.unix_micros("t").alias("at"))
    offers = sent.groupBy("s").transformWithState(
        _gathering(stream.window), _OFFERS, "Append", "EventTime", eventTimeColumnName="last"
    )
    width = f"INTERVAL {stream.window} MICROSECONDS"
    near = functions.expr(f"product = kind AND tk BETWEEN last - {width} AND last + {width}")
    found = offers.join(kinds(stream), near)
    end = functions.unix_micros(functions.greatest("last", "tk"))
    start = functions.least("first", functions.unix_micros("tk"))
    return found.where(end - start <= stream.window)


def _run(task: Task) -> Result:
    return run(task, _LINES, _matches)


ADAPTER = Adapter(
    name="Spark, transformWithState by hand",
    cannot="no RDF, no patterns, no inference: a stateful Python operator keyed by offer, then a join",
    run=_run,
    requires=REQUIRES,
    missing=java_missing,
    most_offers=50_000,
)
