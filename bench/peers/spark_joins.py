"""Spark, stream-stream joins: eleven streams joined in the time of a window, as one would write it in SQL."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from retewave.bench.peers.spark_files import REQUIRES, StreamFiles, java_missing, kinds, of_offers, run
from retewave.bench.task import Adapter, Result, Task
from retewave.bench.vocabulary import PREDICATES

__all__ = ["ADAPTER"]

_LINES = 1_000_000  # of a micro-batch: each costs seconds for forty state stores


def _one(stream: StreamFiles, number: int) -> Any:
    """Return the triples of one of an offer's patterns: subject, time, and the product where it is said."""
    column = import_module("pyspark.sql.functions").col
    rows = of_offers(stream).where(column("p") == PREDICATES[number])
    named = [column("s").alias(f"s{number}"), column("t").alias(f"t{number}")]
    named += [column("o").alias("product")] if number == 1 else []
    return rows.select(*named).withWatermark(f"t{number}", "0 seconds")


def _near(left: str, right: str, width: int) -> Any:
    return import_module("pyspark.sql.functions").expr(
        f"{right} BETWEEN {left} - INTERVAL {width} MICROSECONDS AND {left} + INTERVAL {width} MICROSECONDS"
    )


def _wider(found: Any, time: str, *, product: bool) -> Any:
    """Return rows with one time of Spark's kind, as it wants, and the first and the last of all so far as numbers."""
    functions = import_module("pyspark.sql.functions")
    at = functions.unix_micros(time)
    first, last = functions.least("first", at).alias("first"), functions.greatest("last", at).alias("last")
    return found.select("s0", "t0", first, last, *(["product"] if product else []))


def _matches(stream: StreamFiles) -> Any:
    functions = import_module("pyspark.sql.functions")
    at = functions.unix_micros("t0")
    found = _one(stream, 0).select("s0", "t0", at.alias("first"), at.alias("last"))
    for number in range(1, len(PREDICATES)):
        same = functions.col("s0") == functions.col(f"s{number}")
        joined = found.join(_one(stream, number), same & _near("t0", f"t{number}", stream.window))
        found = _wider(joined, f"t{number}", product=True)
    found = found.join(kinds(stream), functions.expr("product = kind") & _near("t0", "tk", stream.window))
    found = _wider(found, "tk", product=False)
    return found.where(functions.col("last") - functions.col("first") <= stream.window)


def _run(task: Task) -> Result:
    return run(task, _LINES, _matches)


ADAPTER = Adapter(
    name="Spark, stream-stream joins",
    cannot="no RDF, no inference: ten joins over eleven readings of the stream; forty state stores a core",
    run=_run,
    requires=REQUIRES,
    missing=java_missing,
    most_offers=20_000,
)
