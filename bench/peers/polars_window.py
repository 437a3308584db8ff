"""Polars, joining the window anew every slide."""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any

from retewave.bench.task import Adapter, Result, Task
from retewave.bench.vocabulary import PREDICATES

__all__ = ["ADAPTER"]


def _count(pl: Any, window: Any, classes: set[str], horizon: int, width: int) -> int:
    """Count the matches of a window whose last triple is not before the horizon."""
    offers: Any = None
    for n, predicate in enumerate(PREDICATES):
        rows = window.filter(pl.col("p") == predicate)
        if n == 0:
            rows = rows.filter(pl.col("o").str.ends_with("/Offer>"))
        kept = rows.select("s", pl.col("t").alias(f"t{n}"), *([pl.col("o").alias("product")] if n == 1 else []))
        offers = kept if offers is None else offers.join(kept, on="s")
    kinds = window.filter((pl.col("p") == PREDICATES[0]) & pl.col("o").is_in(list(classes)))
    kinds = kinds.select(pl.col("s").alias("product"), pl.col("t").alias("tk"))
    times = [*(f"t{n}" for n in range(len(PREDICATES))), "tk"]
    found = offers.join(kinds, on="product").select(
        pl.max_horizontal(times).alias("end"), pl.min_horizontal(times).alias("start")
    )
    return int(found.filter((pl.col("end") >= horizon) & (pl.col("end") - pl.col("start") <= width)).height)


def _run(task: Task) -> Result:
    pl = import_module("polars")

    classes = {kind.decode() for kind in task.target_classes()}
    started = time.perf_counter()
    stream = pl.read_csv(
        task.offers, separator=" ", has_header=False, quote_char=None, new_columns=["s", "p", "o", "dot"]
    )
    stream = (
        stream.drop("dot")
        .with_row_index("t")
        .with_columns(pl.col("t").cast(pl.Int64) * 1_000_000 // task.question.rate)
    )
    loaded = time.perf_counter()
    matches, width, slide = 0, task.question.window, task.slide
    for start in range(0, task.triples * 1_000_000 // task.question.rate + 1, slide):
        window = stream.filter(pl.col("t").is_between(start - width, start + slide - 1))
        matches += _count(pl, window, classes, start, width)
    ended = time.perf_counter()
    return Result(matches, ended - started, loaded - started, ended - loaded)


ADAPTER = Adapter(
    name="Polars, window anew",
    cannot="no RDF, no stream, no inference: data frames joined each second, matches up to a second late",
    run=_run,
    requires=("polars",),
)
