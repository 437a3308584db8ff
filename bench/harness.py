"""Measure points, each run in a process of its own, repetitions interleaved, matches checked every time.

Where it stands: `sweeps` says what to measure, `run` does one run, `report` draws the rows that this makes.
Invariant: a row's figure comes only from runs whose matches were the expected ones; warm-up (imports,
compilation) is excluded by every adapter.
"""

from __future__ import annotations

import csv
import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

from retewave.bench.run import adapter
from retewave.bench.task import Result, Task
from retewave.bench.workload import Workload, prepare

__all__ = [
    "Asked",
    "Machine",
    "Measured",
    "Point",
    "Row",
    "answer",
    "measure_all",
    "read_rows",
    "rows_of",
    "shown",
    "write_rows",
]

TIMEOUT = 900  # seconds; a run that takes longer has failed


class Asked(Protocol):
    """A task, for whatever bench."""

    def to_json(self) -> str:
        """Return the task as one line."""

    def files(self) -> list[Path]:
        """Return what a run reads."""


@dataclass(frozen=True)
class Point:
    """A place in a plot."""

    sweep: str  # the plot
    series: str  # the line in it
    x: float  # the place on the line
    measured: str  # the adapter's name, as in `run.ADAPTERS`
    workload: Workload  # the work to be measured
    version: Path | None = None  # the folder of another version's packages; None: these are measured


@dataclass(frozen=True)
class Measured:
    """A point and the results of its runs."""

    point: Point
    triples: int  # in the stream
    expected: int  # matches
    results: tuple[Result, ...]  # of the runs that counted right
    failure: str = ""  # why there are fewer results than were asked for, or no result


@dataclass(frozen=True)
class Row:
    """One figure."""

    sweep: str  # the plot
    series: str  # the line in it
    x: float  # the place on the line
    metric: str  # throughput, read, join, memory, latency…
    unit: str  # triples/s, MB, µs
    repetitions: int  # runs behind it; 0 when there is no figure
    median: float
    minimum: float
    maximum: float
    target: str = ""  # the bound that it has to reach, if there is one
    offers: int = 0  # in the stream that was measured
    note: str = ""  # why there is no figure; what the measured thing cannot do


@dataclass(frozen=True)
class Machine:
    """Where and with what the figures were made."""

    cpu: str  # model name
    cores: int  # that this process may use
    system: str  # operating system and Python
    commit: str  # of the project; ends with + when files were changed
    versions: str  # of the libraries measured
    command: str  # that made the figures

    @staticmethod
    def here() -> Machine:
        """Look around."""
        return Machine(
            cpu=_cpu(),
            cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
            system=f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
            commit=_commit(),
            versions=_versions(),
            command=f"python -m retewave.bench {' '.join(sys.argv[1:])}".strip(),
        )


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    names = [line for line in info.read_text().splitlines() if "model name" in line] if info.exists() else []
    return names[0].partition(":")[2].strip() if names else platform.processor() or "unknown"


def _commit() -> str:
    git = ["git", "-C", str(Path(__file__).parent)]
    try:
        head = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
        changed = subprocess.run([*git, "status", "--porcelain", "-uno"], capture_output=True, text=True)
    except FileNotFoundError:
        return "unknown"
    return head.stdout.strip() + ("+" if changed.stdout.strip() else "") if head.returncode == 0 else "unknown"


def _versions() -> str:
    names = ["retewave", "numpy", "numba", "polars", "duckdb", "bytewax", "pathway", "pyoxigraph", "clipspy"]
    found = {dist.metadata["Name"].lower(): dist.version for dist in metadata.distributions()}
    return ", ".join(f"{name} {found[name]}" for name in names if name in found)


def answer(
    module: str, name: str, task: Asked, version: Path | None = None
) -> tuple[dict[str, Any], str] | tuple[None, str]:
    """Let a module do a task in a process of its own; return what it printed, or why there is nothing."""
    _cache(task.files())
    command = [sys.executable, "-m", module, name]
    told, found = task.to_json(), os.environ if version is None else os.environ | {"PYTHONPATH": str(version)}
    try:
        done = subprocess.run(
            command, input=told, capture_output=True, text=True, timeout=TIMEOUT, cwd=version, env=found
        )
    except subprocess.TimeoutExpired:
        return None, f"not done after {TIMEOUT} s"
    if done.returncode:
        return (
            None,
            f"failed: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else done.returncode}",
        )
    return json.loads(done.stdout.splitlines()[-1]), ""


def _run_once(name: str, task: Task, version: Path | None = None) -> tuple[Result | None, str]:
    """Run a task in a process of its own; return its result, or why there is none."""
    told, failure = answer("retewave.bench.run", name, task, version)
    if told is None:
        return None, failure
    if "missing" in told:
        return None, f"skipped: {told['missing']}"
    return Result(**told), ""


def _cache(files: Sequence[Path]) -> None:
    """Have the files in the page cache: a system takes out what nobody has read for minutes."""
    for path in files:
        with path.open("rb", buffering=0) as file:
            while file.read(1 << 20):
                pass


@dataclass
class _Runs:
    """A point while it is being measured."""

    point: Point
    task: Task
    expected: int
    results: list[Result]
    failure: str = ""

    def again(self) -> None:
        """Run once more, unless a run has already failed."""
        if self.failure:
            return
        result, self.failure = _run_once(self.point.measured, self.task, self.point.version)
        if result is None:
            return
        if result.matches != self.expected:
            self.failure = f"WRONG: {result.matches:,} matches instead of {self.expected:,}"
            self.results.clear()
        else:
            self.results.append(result)

    def done(self) -> Measured:
        """Return the result of the process."""
        return Measured(self.point, self.task.triples, self.expected, tuple(self.results), self.failure)


def measure_all(
    points: Sequence[Point], repetitions: int, folder: Path, progress: Callable[[str], None]
) -> list[Measured]:
    """Measure every point several times: one run of each after the other, and again from the first."""
    runs = [_Runs(point, *prepare(point.workload, folder), []) for point in points]
    if hasattr(os, "sync"):
        os.sync()  # else the system writes the data down while the first runs are measured
    _compile(runs)
    for repetition in range(repetitions):
        for run in runs:
            other = f" at {run.point.version.name}" if run.point.version else ""
            progress(f"{run.point.sweep}: {run.point.series}, {run.point.x:g}{other} ({repetition + 1}/{repetitions})")
            run.again()
    return [run.done() for run in runs]


def _compile(runs: Sequence[_Runs]) -> None:
    """Let each version compile its kernels in a run that does not count: compiling takes twice the memory."""
    own = {run.point.version: run for run in reversed(runs) if run.point.measured == "retewave"}
    for version, first in own.items():
        _run_once("retewave", first.task, version)


def figures(measured: Measured) -> dict[tuple[str, str], list[float]]:
    """Return the figures of a point's runs: (metric, unit) -> one a run."""
    found: dict[tuple[str, str], list[float]] = {}
    for result in measured.results:
        values = {} if result.costs else {("throughput", "triples/s"): measured.triples / result.seconds}
        values |= {(name, unit): value for name, (value, unit) in result.costs.items()}
        if result.read_seconds:
            values["read", "triples/s"] = measured.triples / result.read_seconds
        if result.match_seconds:
            values["join", "triples/s"] = measured.triples / result.match_seconds
        if result.peak_rss and not result.costs:
            values["memory", "MB"] = result.peak_rss / 1e6
        values |= {(f"latency {name}", "µs"): value * 1e6 for name, value in result.latencies.items()}
        values |= {(name, "triples/s"): measured.triples / value for name, value in result.stages.items()}
        for key, value in values.items():
            found.setdefault(key, []).append(value)
    return found


def rows_of(measured: Measured) -> list[Row]:
    """Return a row for each figure of a point, or one that says why there is none."""
    point = measured.point
    place = (point.sweep, point.series, point.x)
    note = "; ".join(filter(None, [measured.failure, adapter(point.measured).cannot]))
    tail = {"offers": point.workload.offers, "note": note}
    if not measured.results:
        return [Row(*place, "throughput", "triples/s", 0, 0.0, 0.0, 0.0, **tail)]  # type: ignore[arg-type]
    return [
        Row(*place, metric, unit, len(v), statistics.median(v), min(v), max(v), **tail)  # type: ignore[arg-type]
        for (metric, unit), v in figures(measured).items()
    ]


def shown(figure: float) -> str:
    """Return a figure for a table.

    >>> shown(9_643_600.0), shown(12.345)
    ('9,643,600', '12.3')
    """
    return f"{figure:,.0f}" if abs(figure) >= 100 else f"{figure:.3g}"


def write_rows(rows: Iterable[Row], machine: Machine, path: Path) -> None:
    """Write rows as CSV, each with the machine that made it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names = [f.name for f in fields(Row)] + [f.name for f in fields(Machine)]
    with path.open("w", newline="") as out:
        table = csv.writer(out)
        table.writerow(names)
        table.writerows([*astuple(row), *astuple(machine)] for row in rows)


def read_rows(path: Path) -> tuple[list[Row], Machine]:
    """Read the rows that `write_rows` wrote."""
    with path.open(newline="") as lines:
        table = list(csv.DictReader(lines))
    kinds = {
        "x": float,
        "repetitions": int,
        "median": float,
        "minimum": float,
        "maximum": float,
        "offers": int,
    }
    rows = [Row(**{f.name: kinds.get(f.name, str)(line[f.name]) for f in fields(Row)}) for line in table]
    own = {name: table[0][name] for name in asdict(_NOWHERE)}
    return rows, Machine(**own | {"cores": int(own["cores"])})  # type: ignore[arg-type]


_NOWHERE = Machine("", 0, "", "", "", "")
