"""Peers that ask each window again, as C-SPARQL's engine does: a store of RDF, DuckDB, Polars.

Where it stands: beside `engine`, under the same bytes.
Invariant: a window is a set of triples; each peer works in one thread, and reads the file as fast as it can.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from retewave.bench.views.readings import SensorReport

__all__ = ["PEERS", "SensorRun"]

SensorRun = Callable[[Path, int, int, int], tuple[float, list[SensorReport]]]

_ASKED = """PREFIX : <http://example.org/> SELECT ?s (COUNT(*) AS ?n) (SUM(?v) AS ?sum) (MIN(?v) AS ?least)
    (MAX(?v) AS ?most) WHERE { ?s :reads ?v } GROUP BY ?s"""


def _duckdb(path: Path, rate: int, width: int, step: int) -> tuple[float, list[SensorReport]]:
    base = import_module("duckdb").connect()
    base.execute("SET threads = 1")
    base.execute("SET enable_progress_bar = false")
    started, found = time.process_time(), []
    base.execute(f"""CREATE TABLE stream AS
        SELECT regexp_extract(s, '/s([0-9]+)>', 1)::BIGINT AS s,
               (replace(split_part(o, '"', 2), '.', ''))::BIGINT AS v,
               (row_number() OVER () - 1) * 1000000 // {rate} AS t
        FROM read_csv('{path}', delim=' ', header=false, quote='', escape='', auto_detect=false,
                      columns={{'s': 'VARCHAR', 'p': 'VARCHAR', 'o': 'VARCHAR', 'dot': 'VARCHAR'}})""")
    (last,) = base.execute("SELECT max(t) FROM stream").fetchone()
    for at in range(0, last + 1, step):
        rows = base.execute(
            """SELECT s, count(*), sum(v)::BIGINT, min(v), max(v) FROM
               (SELECT DISTINCT s, v FROM stream WHERE t > $low AND t <= $at) GROUP BY s ORDER BY s""",
            {"low": at - width, "at": at},
        ).fetchnumpy()
        found.append(SensorReport(at, *(np.asarray(column) for column in rows.values())))
    return time.process_time() - started, found


def _polars(path: Path, rate: int, width: int, step: int) -> tuple[float, list[SensorReport]]:
    pl = import_module("polars")
    started, found = time.process_time(), []
    stream = pl.read_csv(
        path, separator=" ", has_header=False, quote_char=None, new_columns=["s", "p", "o", "dot"]
    ).select(
        pl.col("s").str.extract(r"/s([0-9]+)>").cast(pl.Int64),
        pl.col("o").str.extract('"([^"]*)"').str.replace(".", "", literal=True).cast(pl.Int64).alias("v"),
    )
    times = np.arange(stream.height, dtype=np.int64) * 1_000_000 // rate
    for at in range(0, int(times[-1]) + 1, step):
        low, high = np.searchsorted(times, [at - width, at], "right").tolist()
        window = stream.slice(low, high - low).unique()
        v = pl.col("v")
        rows = window.group_by("s").agg(
            pl.len().alias("n"), v.sum().alias("sum"), v.min().alias("a"), v.max().alias("b")
        )
        found.append(SensorReport(at, *(each.to_numpy() for each in rows.sort("s").get_columns())))
    return time.process_time() - started, found


def _oxigraph(path: Path, rate: int, width: int, step: int) -> tuple[float, list[SensorReport]]:
    ox: Any = import_module("pyoxigraph")
    started, found = time.process_time(), []
    lines = path.read_bytes().splitlines(keepends=True)
    times = np.arange(len(lines), dtype=np.int64) * 1_000_000 // rate
    for at in range(0, int(times[-1]) + 1, step):
        low, high = np.searchsorted(times, [at - width, at], "right").tolist()
        store = ox.Store()
        store.load(b"".join(lines[low:high]), format=ox.RdfFormat.N_TRIPLES)
        rows = [
            (int(str(row["s"].value).rpartition("/s")[2]), int(row["n"].value), *_hundredths(row))
            for row in store.query(_ASKED)
        ]
        found.append(SensorReport(at, *np.array(sorted(rows), dtype=np.int64).reshape(-1, 5).T))
    return time.process_time() - started, found


def _hundredths(row: Any) -> list[int]:
    return [round(float(row[name].value) * 100) for name in ("sum", "least", "most")]


PEERS: dict[str, tuple[str, SensorRun]] = {
    "DuckDB, window asked again": ("duckdb", _duckdb),
    "Polars, window asked again": ("polars", _polars),
    "pyoxigraph, window asked again (C-SPARQL's published way)": ("pyoxigraph", _oxigraph),
}
