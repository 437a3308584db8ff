"""Run the benches: `python -m retewave.bench` for a few minutes of them, `--full` for all.

`events`, `ontology`, `roads` and `usecases` have tables of their own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from retewave.bench.events.__main__ import main as events
from retewave.bench.harness import Machine, Row, rows_of, shown, write_rows
from retewave.bench.ontology.__main__ import main as ontology
from retewave.bench.report import write_report
from retewave.bench.roads.__main__ import main as roads
from retewave.bench.sweeps import SWEEPS, points
from retewave.bench.targets import rows_of_targets
from retewave.bench.usecases.__main__ import main as usecases
from retewave.bench.watched import SweepNames, leave_if_failed, measure_watched

__all__ = ["main"]


def _table(rows: Sequence[Row], machine: Machine) -> Table:
    table = Table(title=f"{machine.cpu}, {machine.cores} cores, commit {machine.commit}")
    for name in ("sweep", "what", "x", "figure", "median", "from", "to", "runs", "target", "note"):
        table.add_column(name, justify="right" if name in ("x", "median", "from", "to", "runs") else "left")
    for row in rows:
        told = (row.median, row.minimum, row.maximum)
        values = [shown(value) for value in told] if row.repetitions else ["–", "", ""]
        figure = f"{row.metric}, {row.unit}"
        note = row.note if row.sweep == "targets" or not row.repetitions else ""
        table.add_row(row.sweep, row.series, f"{row.x:g}", figure, *values, str(row.repetitions), row.target, note)
    return table


def main(
    sweep: SweepNames = None,
    full: Annotated[bool, typer.Option("--full", help="every point of every sweep")] = False,
    repetitions: Annotated[int, typer.Option(help="runs of each point; 0: three, or five with --full", min=0)] = 0,
    out: Annotated[Path, typer.Option(help="where the report goes; one that is there is replaced")] = Path("bench/out"),
) -> None:
    """Measure retewave beside the tools that people would use instead, and write a report."""
    if find_spec("matplotlib") is None:
        raise typer.BadParameter(
            "the report's plots need matplotlib: make .venv/.dev, or pip install 'retewave[bench]'"
        )
    measured = measure_watched(points(sweep or list(SWEEPS), full), repetitions or (5 if full else 3))
    machine = Machine.here()
    rows = rows_of_targets(measured) + [row for one in measured for row in rows_of(one)]
    write_rows(rows, machine, out / "results.csv")
    Console(width=None if sys.stdout.isatty() else 200).print(_table(rows, machine))
    print(write_report(rows, machine, out))
    leave_if_failed(measured)


if __name__ == "__main__":
    chosen: dict[str, Callable[..., None]] = {
        "events": events,
        "ontology": ontology,
        "roads": roads,
        "usecases": usecases,
    }
    own = chosen.get("".join(sys.argv[1:2]), main)
    if own is not main:
        del sys.argv[1]
    typer.run(own)
