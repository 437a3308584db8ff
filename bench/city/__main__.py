"""Run the city: `python -m retewave.bench.city`."""

from __future__ import annotations

import gc
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated

import typer

from retewave.bench.city.data import QUERIES, background, readings
from retewave.bench.city.engine import reported, written
from retewave.bench.city.peer import Row, asked_again
from retewave.bench.harness import Machine

__all__ = ["main"]

Reports = list[tuple[int, Counter[Row]]]


def _measured(who: str, number: int, seconds: int, rate: int, others: int) -> tuple[float, int, int, list[int]]:
    """Return the processor's seconds, the triples, the memory that was added in KB, and the rows of each report."""
    items, known = list(readings(seconds, rate, others)), background(others)
    name = f"q{number}.csparql"
    run: Callable[[], Reports]
    with tempfile.TemporaryDirectory() as folder:
        places = written(known, Path(folder))
        if who == "retewave":
            run = lambda: reported(name, items, places)  # noqa: E731
            reported(name, items[: len(items) // 10], places)  # what is compiled, is
        else:
            run = lambda: list(asked_again((QUERIES / name).read_text(), items, known))  # noqa: E731
        gc.collect()
        gc.freeze()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.process_time()
        found = run()
        spent = time.process_time() - started
    added = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    triples = sum(len(item.triples) for item in items)
    return spent, triples, added, [sum(rows.values()) for _, rows in found]


def _own_process(*task: object) -> tuple[float, int, int, list[int]]:
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, task)


def main(
    seconds: Annotated[int, typer.Option(help="of readings", min=2)] = 60,
    rate: Annotated[int, typer.Option(help="readings of each sensor a second", min=1)] = 2,
    others: Annotated[int, typer.Option(help="sensors that no query asks for", min=0)] = 100,
) -> None:
    """Ask CityBench's questions, and ask an RDF store the same at each report."""
    machine = Machine.here()
    print(f"{machine.cpu}, {machine.cores} cores, commit {machine.commit}; C-SPARQL's texts as they are")
    print(f"{seconds} s, {rate} readings of each sensor a second, {others} sensors beside those asked for")
    print("| query | rows | retewave, triples/s | asked again (pyoxigraph), triples/s | times | MB added, both |")
    print("|---|---|---|---|---|---|", flush=True)
    for number in range(1, 13):
        task = (number, seconds, rate, others)
        mine, triples, my_memory, rows = _own_process("retewave", *task)
        its, _, its_memory, right = _own_process("pyoxigraph", *task)
        if rows != right:
            raise SystemExit(f"WRONG: q{number}: rows of reports {rows} instead of {right}")
        print(f"| {number} | {sum(rows):,} | {triples / mine:,.0f} | {triples / its:,.0f} ", end="")
        print(f"| {its / mine:.1f} | {my_memory / 1000:.1f}, {its_memory / 1000:.1f} |", flush=True)


if __name__ == "__main__":
    typer.run(main)
