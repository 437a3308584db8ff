"""Spark, an aggregation and a join: an offer's triples gathered in a session window, then joined with the types."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from retewave.bench.peers.spark_files import REQUIRES, StreamFiles, java_missing, kinds, of_offers, run
from retewave.bench.task import Adapter, Result, Task
from retewave.bench.vocabulary import PREDICATES

__all__ = ["ADAPTER"]

_LINES = 400_000  # of a micro-batch
_ALL = (1 << len(PREDICATES)) - 1


def _offers(stream: StreamFiles) -> Any:
    """Return the offers that are complete within a window: product, first time, last time."""
    functions = import_module("pyspark.sql.functions")
    column = functions.col
    bit: Any = functions.lit(0)
    for number, predicate in enumerate(PREDICATES):
        bit = functions.when(column("p") == predicate, 1 << number).otherwise(bit)
    rows = of_offers(stream).withWatermark("t", "0 seconds")
    session = functions.session_window("t", f"{stream.window // 1000 + 1} milliseconds")
    gathered = rows.groupBy("s", session).agg(
        functions.bit_or(bit).alias("seen"),
        functions.max(functions.when(column("p") == PREDICATES[1], column("o"))).alias("product"),
        functions.min("t").alias("first"),
        functions.max("t").alias("last"),
    )
    return gathered.where(column("seen") == _ALL)


def _matches(stream: StreamFiles) -> Any:
    functions = import_module("pyspark.sql.functions")
    wide = f"INTERVAL {2 * stream.window + 2000} MICROSECONDS"
    near = functions.expr(
        f"product = kind AND tk BETWEEN session_window.end - {wide} - {wide} AND session_window.end + {wide}"
    )
    found = _offers(stream).join(kinds(stream), near)
    end = functions.unix_micros(functions.greatest("last", "tk"))
    start = functions.unix_micros(functions.least("first", "tk"))
    return found.where(end - start <= stream.window)


def _run(task: Task) -> Result:
    return run(task, _LINES, _matches)


ADAPTER = Adapter(
    name="Spark, session windows and a join",
    cannot="no RDF, no inference; an offer's match comes a window late, and repeated triples count once",
    run=_run,
    requires=REQUIRES,
    missing=java_missing,
    most_offers=100_000,
)
