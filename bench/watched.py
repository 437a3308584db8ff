"""What the commands that measure sweeps share: their names, runs that are watched, the exit code.

Where it stands: between `harness` and the command line.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from retewave.bench.harness import Measured, Point, measure_all
from retewave.bench.sweeps import SWEEPS

__all__ = ["SweepNames", "leave_if_failed", "measure_watched"]

_LINES = 20  # that tell of a bench's progress where there is no terminal


def _known(names: list[str] | None) -> list[str] | None:
    unknown = set(names or []) - set(SWEEPS)
    if unknown:
        raise typer.BadParameter(f"no sweep {', '.join(sorted(unknown))}; there are {', '.join(SWEEPS)}")
    return names


SweepNames = Annotated[
    list[str] | None, typer.Argument(help=f"which sweeps: {', '.join(SWEEPS)}", callback=_known, show_default=False)
]


def measure_watched(wanted: Sequence[Point], repetitions: int) -> list[Measured]:
    """Measure with a bar on a terminal, and a line for each twentieth of the runs in a pipe."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    console, watched = Console(stderr=True), sys.stderr.isatty()
    total, begun = len(wanted) * repetitions, 0
    with Progress(*columns, console=console, disable=not watched) as bar, tempfile.TemporaryDirectory() as folder:
        task = bar.add_task("making the data, compiling", total=total)

        def progress(text: str) -> None:
            nonlocal begun
            if not watched and begun * _LINES // total != (begun - 1) * _LINES // total:
                print(f"run {begun + 1} of {total}: {text}", file=sys.stderr, flush=True)
            begun += 1
            bar.update(task, description=text, advance=1)

        return measure_all(wanted, repetitions, Path(folder), progress)


def leave_if_failed(measured: Sequence[Measured]) -> None:
    """End with an error, and the reasons, if a point that could be measured has failed."""
    failed = [one for one in measured if one.failure and not one.failure.startswith("skipped")]
    for one in failed:
        print(f"{one.point.sweep}: {one.point.series}, {one.point.x:g}: {one.failure}", file=sys.stderr)
    if failed:
        raise typer.Exit(1)
