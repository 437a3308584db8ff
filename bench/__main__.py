"""Run the benches: `python -m retewave.bench` for a few minutes of them, `--full` for all."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from retewave.bench.harness import Machine, Measured, Point, Row, measure_all, rows_of, write_rows
from retewave.bench.report import write_report
from retewave.bench.sweeps import SWEEPS, points
from retewave.bench.targets import rows_of_targets

__all__ = ["main"]

_LINES = 20  # that tell of a bench's progress where there is no terminal


def _measure(wanted: Sequence[Point], repetitions: int, console: Console) -> list[Measured]:
    """Measure with a bar on a terminal, and a line for each twentieth of the runs in a pipe."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    watched, total, begun = sys.stderr.isatty(), len(wanted) * repetitions, 0
    with Progress(*columns, console=console, disable=not watched) as bar, tempfile.TemporaryDirectory() as folder:
        task = bar.add_task("making the data", total=total)

        def progress(text: str) -> None:
            nonlocal begun
            if not watched and begun * _LINES // total != (begun - 1) * _LINES // total:
                print(f"run {begun + 1} of {total}: {text}", file=sys.stderr, flush=True)
            begun += 1
            bar.update(task, description=text, advance=1)

        return measure_all(wanted, repetitions, Path(folder), progress)


def _table(rows: Sequence[Row], machine: Machine) -> Table:
    table = Table(title=f"{machine.cpu}, {machine.cores} cores, commit {machine.commit}")
    for name in ("sweep", "what", "x", "figure", "median", "from", "to", "runs", "target", "note"):
        table.add_column(name, justify="right" if name in ("x", "median", "from", "to", "runs") else "left")
    for row in rows:
        values = [
            f"{value:,.0f}" if value >= 100 else f"{value:.3g}" for value in (row.median, row.minimum, row.maximum)
        ]
        figure = f"{row.metric}, {row.unit}"
        shown = values if row.repetitions else ["–", "", ""]
        note = row.note if row.sweep == "targets" or not row.repetitions else ""
        table.add_row(row.sweep, row.series, f"{row.x:g}", figure, *shown, str(row.repetitions), row.target, note)
    return table


def main(
    sweep: Annotated[list[str] | None, typer.Argument(help=f"which of: {', '.join(SWEEPS)}; all by default")] = None,
    full: Annotated[bool, typer.Option("--full", help="every point of every sweep")] = False,
    repetitions: Annotated[int, typer.Option(help="runs of each point; 0: three, or five with --full")] = 0,
    out: Annotated[Path, typer.Option(help="where the report goes")] = Path("bench/out"),
) -> None:
    """Measure retewave and what one would pick instead, and write a report."""
    unknown = set(sweep or []) - set(SWEEPS)
    if unknown:
        raise typer.BadParameter(f"no sweep {', '.join(sorted(unknown))}; there are {', '.join(SWEEPS)}")
    measured = _measure(points(sweep or list(SWEEPS), full), repetitions or (5 if full else 3), Console(stderr=True))
    machine = Machine.here()
    rows = rows_of_targets(measured) + [row for one in measured for row in rows_of(one)]
    write_rows(rows, machine, out / "results.csv")
    Console(width=None if sys.stdout.isatty() else 200).print(_table(rows, machine))
    print(write_report(rows, machine, out))
    if any(one.failure and not one.failure.startswith("skipped") for one in measured):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
