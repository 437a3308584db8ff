"""Two versions by turns: these files and another commit's, the same points, a process a run.

`python -m retewave.bench.turns COMMIT [SWEEP …]` is for what a change brings: a machine that changes its speed in the
meantime changes that of both.
Where it stands: makes each point of a sweep twice for `harness`, one of them with the packages of the commit; its own
bench measures these, so the two must agree about what a task is.  Invariant: the figures of a pair come from runs that
followed each other, and from right matches only.
"""

from __future__ import annotations

import io
import statistics
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from retewave.bench.harness import Measured, Point, figures, shown
from retewave.bench.question import Question
from retewave.bench.sweeps import SECOND, TARGET, points
from retewave.bench.targets import TARGETS
from retewave.bench.watched import SweepNames, leave_if_failed, measure_watched
from retewave.bench.workload import WARM_UP_OFFERS, Workload

__all__ = ["Pair", "both", "pairs", "unpack"]

PACKAGES = ("rete", "epsilon", "windows", "compiler", "viz", "bench")  # which the front door holds when installed
ROOT = Path(__file__).parents[1]
# A first run of each, so that no measured one compiles.
COMPILED = Point("turns", "kernels", 0, "retewave", Workload(Question(1, TARGET, SECOND), WARM_UP_OFFERS))
VERSIONS = Path(".cache/versions")  # below the root; kernels stay compiled there


@dataclass(frozen=True)
class Pair:
    """A figure of two versions."""

    what: str  # sweep, series, place; or the target's words
    figure: str  # metric and unit
    before: tuple[float, ...]  # the commit's, one a repetition
    after: tuple[float, ...]  # ours

    def ratios(self) -> list[float]:
        """Return ours in percent of the commit's, repetition by repetition."""
        return [100 * new / old for old, new in zip(self.before, self.after, strict=False) if old]


def unpack(commit: str, folder: Path) -> Path:
    """Return the folder that holds a commit's packages as an installation would have them."""
    try:
        named = _git("rev-parse", "--verify", "--end-of-options", f"{commit}^{{commit}}").decode().strip()
    except subprocess.CalledProcessError as error:
        raise typer.BadParameter(f"git knows no commit {commit}: {error.stderr.decode().strip()}") from error
    place = folder / named[:12]
    if not place.exists():
        part = place.with_suffix(".part")
        with tarfile.open(fileobj=io.BytesIO(_git("archive", named, "retewave", *PACKAGES))) as files:
            files.extractall(part, filter="data")
        for name in PACKAGES:
            (part / name).rename(part / "retewave" / name)
        part.rename(place)
    return place


def _git(*words: str) -> bytes:
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, check=True).stdout


def both(found: Sequence[Point], version: Path) -> list[Point]:
    """Return each of our points twice, the other version's first; what is not ours stays as it is, to compare with."""
    return [
        each
        for point in found
        for each in ([replace(point, version=version), point] if point.measured == "retewave" else [point])
    ]


def pairs(measured: Sequence[Measured]) -> Iterator[Pair]:
    """Yield the figures that both versions have, and then those that targets are made of."""
    old = [one for one in measured if one.point.version or one.point.measured != "retewave"]
    new = [one for one in measured if not one.point.version]
    for before, after in zip(old, new, strict=True):
        if before is after:
            continue
        named = f"{after.point.sweep}: {after.point.series}, {after.point.x:g}"
        theirs = figures(before)
        for (metric, unit), values in figures(after).items():
            yield Pair(named, f"{metric}, {unit}", tuple(theirs.get((metric, unit), ())), tuple(values))
    for target in TARGETS:
        told = Pair(target.what, target.unit, tuple(target.values(old)), tuple(target.values(new)))
        if told.after:
            yield told


def _table(found: Sequence[Pair], commit: str) -> Table:
    table = Table(title=f"{commit} and these files, by turns")
    for name in ("what", "figure", commit, "here", f"of {commit}, %", "from", "to", "pairs"):
        table.add_column(name, justify="left" if name in ("what", "figure") else "right")
    for pair in found:
        ratios = pair.ratios()
        middles = [shown(statistics.median(values)) if values else "–" for values in (pair.before, pair.after)]
        told = [f"{statistics.median(ratios):.0f}", f"{min(ratios):.0f}", f"{max(ratios):.0f}"] if ratios else [""] * 3
        table.add_row(pair.what, pair.figure, *middles, *told, str(len(ratios)))
    return table


def main(
    commit: Annotated[str, typer.Argument(help="what these files are compared with: any name that git knows")],
    sweep: SweepNames = None,
    repetitions: Annotated[int, typer.Option(help="runs of each point", min=1)] = 5,
) -> None:
    """Measure these files and another commit by turns."""
    version = unpack(commit, ROOT / VERSIONS)
    measured = measure_watched([replace(COMPILED, version=version), COMPILED], 1)
    leave_if_failed(measured)
    measured = measure_watched(both(points(sweep or ["window", "network"], full=False), version), repetitions)
    Console(width=None if sys.stdout.isatty() else 200).print(_table(list(pairs(measured)), commit))
    leave_if_failed(measured)


if __name__ == "__main__":
    typer.run(main)
