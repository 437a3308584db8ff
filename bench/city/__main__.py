"""Run the city: `python -m retewave.bench.city`."""

from __future__ import annotations

from multiprocessing import get_context
from typing import Annotated

import typer

from retewave.bench.city.measure import CityRun, measured
from retewave.bench.harness import Machine

__all__ = ["main"]


def _own_process(who: str, *task: int) -> CityRun:
    with get_context("spawn").Pool(1) as pool:
        return pool.apply_async(measured, (who, *task)).get(timeout=600)


def main(
    seconds: Annotated[int, typer.Option(help="of readings", min=2)] = 60,
    rate: Annotated[int, typer.Option(help="readings of each sensor a second", min=1)] = 4,
) -> None:
    """Ask CityBench's questions, and ask an RDF store the same at each report."""
    machine = Machine.here()
    print(f"{machine.cpu}, {machine.cores} cores, commit {machine.commit}; C-SPARQL's texts as they are")
    print(f"{seconds} s, {rate} readings of each sensor a second, pushed one by one")
    print("| query | rows | retewave, triples/s | asked again (pyoxigraph), triples/s | times | MB added, both |")
    print("|---|---|---|---|---|---|", flush=True)
    for number in range(1, 13):
        task = (number, seconds, rate)
        mine, its = _own_process("retewave", *task), _own_process("pyoxigraph", *task)
        if mine.rows != its.rows:
            raise SystemExit(f"WRONG: q{number}: rows of reports {mine.rows} instead of {its.rows}")
        print(f"| {number} | {sum(mine.rows):,} | {mine.rate:,.0f} | {its.rate:,.0f} ", end="")
        print(f"| {its.seconds / mine.seconds:.1f} | {mine.added / 1e6:.1f}, {its.added / 1e6:.1f} |", flush=True)


if __name__ == "__main__":
    typer.run(main)
