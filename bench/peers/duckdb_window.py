"""DuckDB, joining the window anew every slide: a database asked again and again, as C-SPARQL does."""

from __future__ import annotations

import time
from importlib import import_module

from retewave.bench.task import Adapter, Result, Task
from retewave.bench.vocabulary import OFFER_CLASS, PREDICATES

__all__ = ["ADAPTER"]


def _load(path: str, rate: int) -> str:
    return f"""
        CREATE TABLE stream AS
        SELECT s, p, o, (row_number() OVER () - 1) * 1000000 // {rate} AS t
        FROM read_csv('{path}', delim=' ', header=false, quote='', escape='', auto_detect=false,
                      columns={{'s': 'VARCHAR', 'p': 'VARCHAR', 'o': 'VARCHAR', 'dot': 'VARCHAR'}})"""


def _question() -> str:
    """Return the eleven-way join of a window, for the matches whose last triple is of the newest slide."""
    tables = [f"(SELECT s, o, t FROM w WHERE p = '{PREDICATES[0]}' AND o = '{OFFER_CLASS}') t0"]
    tables += [f"JOIN (SELECT s, o, t FROM w WHERE p = '{p}') t{n} USING (s)" for n, p in enumerate(PREDICATES) if n]
    kinds = f"(SELECT s, t FROM w JOIN classes ON o = class WHERE p = '{PREDICATES[0]}') k"
    times = ", ".join([*(f"t{n}.t" for n in range(len(PREDICATES))), "k.t"])
    return f"""
        WITH w AS (SELECT * FROM stream WHERE t > $last - $slide - $width AND t <= $last)
        SELECT count(*) FROM {" ".join(tables)} JOIN {kinds} ON t1.o = k.s
        WHERE greatest({times}) > $last - $slide AND greatest({times}) - least({times}) <= $width"""


def _run(task: Task) -> Result:
    duckdb = import_module("duckdb")

    base = duckdb.connect()
    base.execute("CREATE TABLE classes (class VARCHAR)")
    base.executemany("INSERT INTO classes VALUES (?)", [[kind.decode()] for kind in task.target_classes()])
    started = time.perf_counter()
    base.execute(_load(str(task.offers), task.question.rate))
    loaded = time.perf_counter()
    slide, end = task.slide, task.triples * 1_000_000 // task.question.rate
    matches = 0
    for last in range(slide - 1, end + slide, slide):
        values = {"last": last, "slide": slide, "width": task.question.window}
        matches += base.execute(_question(), values).fetchall()[0][0]
    ended = time.perf_counter()
    return Result(matches, ended - started, loaded - started, ended - loaded)


ADAPTER = Adapter(
    name="DuckDB, window anew",
    cannot="no RDF, no stream, no inference: SQL asked again each second, matches up to a second late",
    run=_run,
    requires=("duckdb",),
)
