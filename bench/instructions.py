"""How many instructions the network takes for a triple, counted by Valgrind: a figure that no neighbour changes.

`python -m retewave.bench.instructions` pours a stream, scanned beforehand, in a process under callgrind.  Where time
differs by a third from minute to minute, this differs by five thousandths from run to run.  It says nothing of loads
that miss the caches.
Invariant: the kernels are compiled for one named processor, which Valgrind knows, whatever the machine is.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from retewave.bench.engine import encode
from retewave.bench.peers.limit import compiler, compiler_missing
from retewave.bench.question import Question
from retewave.bench.sweeps import SECOND, TARGET
from retewave.bench.task import Task
from retewave.bench.workload import Workload, prepare

__all__ = ["instructions", "missing", "pour"]

OFFERS = 20_000
KERNELS = Path(".cache/instructions")  # compiled, below the working directory
PROCESSOR = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": ""}  # 256-bit vectors: Valgrind has no wider ones
CALLGRIND = (
    "valgrind",
    "--tool=callgrind",
    "--callgrind-out-file=/dev/null",
    "--smc-check=all-non-file",  # kernels are code that the process has made itself
    "--instr-atstart=no",  # but from `begin` to `end`: until then it runs several times as fast
)
MARKS = """#include <valgrind/callgrind.h>
void begin(void) { CALLGRIND_START_INSTRUMENTATION; }
void end(void) { CALLGRIND_STOP_INSTRUMENTATION; }
"""


def missing() -> str:
    """Return why nothing can be counted here, or nothing."""
    if not shutil.which("valgrind"):
        return "there is no valgrind: install the system's package of that name"
    return compiler_missing()


def instructions(task: Task, expected: int) -> float:
    """Return the instructions that the network takes for a triple of a stream, and check its number of matches."""
    env = os.environ | PROCESSOR | {"NUMBA_CACHE_DIR": str(KERNELS.resolve())}
    _pouring(task, env, ())  # compiles kernels that are not on the disk
    done = _pouring(task, env, CALLGRIND)
    if int(done.stdout) != expected:
        raise ValueError(f"{int(done.stdout):,} matches instead of {expected:,}")
    collected = re.search(r"Collected\s*:\s*(\d+)", done.stderr)
    if collected is None:
        raise ValueError(f"callgrind has not said how much it collected: {done.stderr[-500:]}")
    return int(collected[1]) / task.triples


def _pouring(task: Task, env: dict[str, str], under: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Pour in a process, under a tool if it is given."""
    command = [*under, sys.executable, "-m", "retewave.bench.instructions", "--pour"]
    return subprocess.run(command, input=task.to_json(), env=env, text=True, capture_output=True, check=True)


def pour(task: Task) -> int:
    """Pour a stream between two marks; return the matches."""
    encode(replace(task, offers=task.warm_up)).pour()
    rows, (begin, end) = encode(task), _marks()
    begin()
    matches = rows.pour()
    end()
    return matches


def _marks() -> tuple[Callable[[], object], Callable[[], object]]:
    """Return the functions by which callgrind begins and ends to count; outside callgrind they do nothing."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "marks.so"
        command = [*compiler(), "-shared", "-fPIC", "-x", "c", "-o", str(library), "-"]
        subprocess.run(command, input=MARKS, text=True, check=True)
        marks = ctypes.CDLL(str(library))
        return marks.begin, marks.end


def main(
    window: Annotated[
        list[float] | None, typer.Option(help="seconds; may be repeated; 1, 5 and 25 by default", min=0)
    ] = None,
    child: Annotated[bool, typer.Option("--pour", hidden=True)] = False,
) -> None:
    """Count the network's instructions for a triple of pattern 1."""
    if child:
        print(pour(Task.from_json(sys.stdin.read())))
        return
    if missing():
        print(missing(), file=sys.stderr)
        raise typer.Exit(1)
    with tempfile.TemporaryDirectory() as folder:
        for seconds in window or (1, 5, 25):
            question = Question(1, TARGET, int(seconds * SECOND))
            counted = instructions(*prepare(Workload(question, offers=OFFERS), Path(folder)))
            print(f"window {seconds:g} s: {counted:.1f} instructions a triple", flush=True)


if __name__ == "__main__":
    typer.run(main)
