"""retewave in the city: a query of CityBench over the readings, as it is written.

Where it stands: beside `peer`, under the same readings.
Invariant: each reading is pushed as one event, at its time, on its stream.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import retewave as rw
from retewave.bench.city.data import QUERIES, SensorReading, Triple
from retewave.bench.city.peer import Row

__all__ = ["engine_of", "reported", "written"]

SECOND = 1_000_000  # microseconds


def written(known: Mapping[str, Sequence[Triple]], folder: Path) -> dict[str, str]:
    """Write the background as files; return where the queries' FROM lines find them."""
    places = {}
    for name, triples in known.items():
        path = folder / f"{name}.ttl"
        path.write_text("".join(f"{' '.join(triple)} .\n" for triple in triples))
        places[path.name] = str(path)
    return places


def engine_of(name: str, datasets: Mapping[str, str]) -> tuple[Any, Any]:
    """Return an engine with one query, and that query."""
    engine = rw.Engine(datasets=datasets)
    return engine, engine.register(QUERIES / name, keep=0)


def reported(name: str, items: Sequence[SensorReading], datasets: Mapping[str, str]) -> list[tuple[int, Counter[Row]]]:
    """Return each report of a query: its time in seconds, and its rows."""
    engine, query = engine_of(name, datasets)
    found: list[tuple[int, Counter[Row]]] = []
    query.on_report = lambda report: found.append((int(report.time), _rows(report)))
    for item in items:
        engine.push(item.triples, time=item.time / SECOND, stream=item.stream)
    engine.flush()
    return found


def _rows(report: Any) -> Counter[Row]:
    """Return the rows of a report, as texts."""
    names = report.query.variables
    if not names:
        return Counter({(): len(report)} if len(report) else {})
    columns = ([(text or b"").decode() for text in report.rows.texts(name)] for name in names)
    return Counter(zip(*columns, strict=True))
