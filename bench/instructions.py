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
    "--collect-atstart=no",  # but from one toggle to the next
)
TOGGLE = "#include <valgrind/callgrind.h>\nvoid toggle(void) { CALLGRIND_TOGGLE_COLLECT; }\n"


def missing() -> str:
    """Return why nothing can be counted here, or nothing."""
    if not shutil.which("valgrind"):
        return "there is no valgrind: install the system's package of that name"
    return compiler_missing()


def instructions(task: Task, expected: int) -> float:
    """Return the instructions that the network takes for a triple of a stream, whose matches must be so many."""
    env = os.environ | PROCESSOR | {"NUMBA_CACHE_DIR": str(KERNELS.resolve())}
    _pouring(task, env, ())  # compiles what is not on the disk
    done = _pouring(task, env, CALLGRIND)
    if int(done.stdout) != expected:
        raise ValueError(f"{int(done.stdout):,} matches instead of {expected:,}")
    collected = re.search(r"Collected\s*:\s*(\d+)", done.stderr)
    if collected is None:
        raise ValueError(f"callgrind has not said how much it collected: {done.stderr[-500:]}")
    return int(collected[1]) / task.triples


def _pouring(task: Task, env: dict[str, str], under: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Pour in a process, under a tool if one is told."""
    command = [*under, sys.executable, "-m", "retewave.bench.instructions", "--pour"]
    return subprocess.run(command, input=task.to_json(), env=env, text=True, capture_output=True, check=True)


def pour(task: Task) -> int:
    """Pour a stream between two toggles; return the matches."""
    encode(replace(task, offers=task.warm_up)).pour()
    rows, toggle = encode(task), _toggle()
    toggle()
    matches = rows.pour()
    toggle()
    return matches


def _toggle() -> Callable[[], object]:
    """Return what tells callgrind to begin and to end; where there is none, it does nothing."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "toggle.so"
        command = [*compiler(), "-shared", "-fPIC", "-x", "c", "-o", str(library), "-"]
        subprocess.run(command, input=TOGGLE, text=True, check=True)
        toggle: Callable[[], object] = ctypes.CDLL(str(library)).toggle
        return toggle


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
