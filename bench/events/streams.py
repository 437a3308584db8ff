"""The streams of the event workloads: made by a generator that is not part of the project, and read as columns.

Where it stands: before `measure`.  The generator's folder is named by the environment variable
RETEWAVE_SHARED_EVENTS, or is `../shared/events` beside the checkout.  Invariant: it makes the same bytes on every
machine, so files are made once.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from csv import reader
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from retewave.bench.events.task import WORKLOADS, EventTask

__all__ = ["KINDS", "EventColumns", "absent", "columns", "generator", "make"]

VARIABLE = "RETEWAVE_SHARED_EVENTS"
SEED = 7
KINDS = {kind: number for number, kind in enumerate("TQRABC")}
_BESIDE = Path(__file__).resolve().parents[3] / "shared" / "events"


@dataclass(frozen=True)
class EventColumns:
    """A stream in memory, in the order of time."""

    time: np.ndarray  # µs
    key: np.ndarray
    value: np.ndarray  # cents in W1, the row's number in W4
    kind: np.ndarray  # as in KINDS


def generator() -> Path:
    """Return where the generator should be."""
    return Path(os.environ.get(VARIABLE, _BESIDE)) / "generate.py"


def absent() -> str:
    """Return why no stream can be made here, or nothing."""
    return "" if generator().is_file() else f"no generator at {generator()}: {VARIABLE} names its folder"


def make(workload: str, size: int, folder: Path, rdf: bool = False) -> EventTask:
    """Make a workload's files in a folder, unless they are there."""
    stem = f"{workload}-{size}"
    csv, text = folder / f"{stem}.csv", folder / f"{stem}.{WORKLOADS[workload].rdf}"
    wanted = [csv, *([text] if rdf else [])]
    if not all(path.exists() for path in wanted):
        _generate(workload, size, wanted)
    rows, step = _rows_and_step(csv)
    return EventTask(workload, csv, rows, step, text if rdf else None)


def _rows_and_step(csv: Path) -> tuple[int, int]:
    """Count the rows, and tell the microseconds between two, without Arrow: its pool keeps what it has used.

    Runs that watch their memory would see that, and what the system makes of it.
    """
    with csv.open(newline="") as lines:
        table = reader(lines)
        time = next(table).index("time_us")
        first, second = (int(next(table)[time]) for _ in range(2))
        return 2 + sum(1 for _ in lines), second - first


def _generate(workload: str, size: int, wanted: list[Path]) -> None:
    """Let the generator write into a folder of its own, so that no file is ever there in part."""
    folder = wanted[0].parent
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as made:
        words = [made, "--seed", SEED, "--sizes", size, "--only", workload, *(["--rdf"] if len(wanted) > 1 else [])]
        command = [sys.executable, str(generator()), *map(str, words)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for path in wanted:
            (Path(made) / path.name).replace(path)


@cache
def columns(csv: Path) -> EventColumns:
    """Read a stream."""
    table = pyarrow.csv.read_csv(csv)
    kind = pc.index_in(table["kind"], value_set=pa.array(list(KINDS)))
    time, key, value = (table[name].to_numpy().astype(np.int64) for name in ("time_us", "key", "value"))
    return EventColumns(time, key, value, kind.to_numpy().astype(np.int64))
