"""One run of one query of the city, in a process of its own: how long it takes, and what memory it adds.

Where it stands: below `__main__`, which compares runs.
Invariant: readings, background and kernels are there before the clock starts.
"""

from __future__ import annotations

import gc
import resource
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from retewave.bench.city.data import QUERIES, background, readings
from retewave.bench.city.engine import reported, written
from retewave.bench.city.peer import asked_again, windows_of

__all__ = ["CityRun", "measured"]


@dataclass(frozen=True)
class CityRun:
    """What a run took, and found."""

    seconds: float  # of the processor
    triples: int  # that were poured
    added: int  # bytes of memory, at most
    rows: list[int]  # of each report

    @property
    def rate(self) -> float:
        """Triples a second."""
        return self.triples / self.seconds


def measured(who: str, number: int, seconds: int, rate: int) -> CityRun:
    """Run a query in C-SPARQL, by `retewave` or by an RDF store that is asked again."""
    name, known = f"q{number}.csparql", background()
    asked = {window.stream for window in windows_of((QUERIES / name).read_text())}
    items = [item for item in readings(seconds, rate) if item.stream in asked]  # CityBench starts no other streams
    with tempfile.TemporaryDirectory() as folder:
        places = written(known, Path(folder))
        if who == "retewave":
            reported(name, items[: len(items) // 10], places)  # what is compiled, is
        gc.collect()
        gc.freeze()
        before, started = _memory(), time.process_time()
        if who == "retewave":
            found = reported(name, items, places)
        else:
            found = list(asked_again((QUERIES / name).read_text(), items, known))
        spent = time.process_time() - started
    triples = sum(len(item.triples) for item in items)
    return CityRun(spent, triples, _memory() - before, [sum(rows.values()) for _, rows in found])


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
