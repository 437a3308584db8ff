"""The physical limit as a peer: `limit/limit.c`, compiled on the spot with the system's C compiler."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from retewave.bench.task import Adapter, Result, Task

__all__ = ["ADAPTER", "WRITES", "compiler", "compiler_missing"]

WRITES = "written, ndjson"  # the mode in which it writes its matches
_SOURCE = Path(__file__).parents[1] / "limit" / "limit.c"


def compiler() -> list[str]:
    """Return the command that compiles C."""
    return shlex.split(os.environ.get("CC", "cc"))


def compiler_missing() -> str:
    """Return why C cannot be compiled here, or nothing."""
    return "" if shutil.which(compiler()[0]) else f"there is no C compiler ({compiler()[0]})"


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder with the compiled program; both last as long as this process."""
    folder = tempfile.TemporaryDirectory()
    program = str(Path(folder.name) / "limit")
    subprocess.run([*compiler(), "-O3", "-march=native", "-o", program, str(_SOURCE)], check=True)
    return folder


def _run(task: Task, out: Path | None = None) -> Result:
    program = str(Path(_folder().name) / "limit")
    words = [task.offers, task.classes, task.question.window, task.question.rate, 1]
    writes = task.mode == WRITES
    with tempfile.TemporaryDirectory() as folder:
        words += [out or Path(folder) / "matches"] if writes else []
        done = subprocess.run([program, *map(str, words)], check=True, capture_output=True, text=True)
    told = json.loads(done.stdout)
    if not told["matches"] == told["matches_one"] == told["matches_written"]:
        raise RuntimeError(f"the joins disagree: {told}")
    if writes:
        return Result(told["matches"], told["scan"] + told["written"], told["scan"], peak_rss=told["peak_rss"])
    return Result(
        matches=told["matches"],
        seconds=told["scan"] + told["join_eleven"],
        read_seconds=told["scan"],
        match_seconds=told["join_eleven"],
        peak_rss=told["peak_rss"],
        stages={"join, one table": told["join_one"]},
    )


ADAPTER = Adapter(
    name="C, by hand",
    cannot="no engine: this one pattern, no query, no inference, no errors, counts but builds no match",
    run=_run,
    missing=compiler_missing,
)
