"""Pathway, an incremental join of eleven tables."""

from __future__ import annotations

import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from retewave.bench.task import Adapter, Result, Task
from retewave.bench.vocabulary import OFFER_CLASS, PREDICATES

__all__ = ["ADAPTER"]


def _number(task: Task, folder: Path) -> Path:
    """Write the stream as CSV with each triple's time: Pathway's reader gives rows no order."""
    path = folder / "stream.csv"
    with task.offers.open("rb") as lines, path.open("wb") as out:
        out.write(b"t s p o\n")
        for i, line in enumerate(lines):
            out.write(b"%d %s\n" % (i * 1_000_000 // task.question.rate, line[:-3].replace(b'"', b"'")))
    return path


def _matches(pw: Any, stream: Any, classes: set[str], width: int) -> Any:
    """Return the table of matches: an offer's ten tables joined by subject, then with the types."""
    offers = stream.filter((pw.this.p == PREDICATES[0]) & (pw.this.o == OFFER_CLASS))
    offers = offers.select(pw.this.s, product=pw.this.o, start=pw.this.t, end=pw.this.t)
    for n, predicate in enumerate(PREDICATES[1:], 1):
        rows = stream.filter(pw.this.p == predicate)
        offers = offers.join(rows, pw.left.s == pw.right.s).select(
            s=pw.left.s,
            product=pw.right.o if n == 1 else pw.left.product,
            start=pw.if_else(pw.left.start < pw.right.t, pw.left.start, pw.right.t),
            end=pw.if_else(pw.left.end > pw.right.t, pw.left.end, pw.right.t),
        )
    kinds = stream.filter(pw.this.p == PREDICATES[0])
    kinds = kinds.filter(pw.apply_with_type(classes.__contains__, bool, pw.this.o))
    found = offers.join(kinds, pw.left.product == pw.right.s).select(
        start=pw.if_else(pw.left.start < pw.right.t, pw.left.start, pw.right.t),
        end=pw.if_else(pw.left.end > pw.right.t, pw.left.end, pw.right.t),
    )
    return found.filter(pw.this.end - pw.this.start <= width)


def _run(task: Task) -> Result:
    pw = import_module("pathway")

    classes = {kind.decode() for kind in task.target_classes()}
    counted: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        path = _number(task, Path(folder))
        schema = pw.schema_from_types(t=int, s=str, p=str, o=str)
        settings = pw.io.csv.CsvParserSettings(delimiter=" ")
        stream = pw.io.csv.read(str(path), schema=schema, mode="static", csv_settings=settings)
        found = _matches(pw, stream, classes, task.question.window).reduce(count=pw.reducers.count())
        pw.io.subscribe(found, on_change=lambda key, row, time, is_addition: counted.append(row["count"]))
        started = time.perf_counter()
        pw.run(monitoring_level=pw.MonitoringLevel.NONE)
        seconds = time.perf_counter() - started
    return Result(counted[-1] if counted else 0, seconds)


ADAPTER = Adapter(
    name="Pathway",
    cannot="no RDF, no inference; joined as one batch, and nothing expires in this formulation",
    run=_run,
    requires=("pathway",),
    most_offers=20_000,
)
