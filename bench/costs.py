"""What it costs before and beside matching: memory a live row, a process's start, loading static data, counters.

Where it stands: further modes of the engine's adapter (`engine`), under the same protocol: every run's matches are
checked.  Invariant: kernels are compiled before any clock starts; processes that are started find them on the disk.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from retewave.bench.changes import changes
from retewave.bench.engine import drain, encode, engine_of
from retewave.bench.string_filters import string_filters
from retewave.bench.task import Result, Task
from retewave.rete.counters import totals

__all__ = ["COSTS"]

_IMPORT = "import time; started = time.perf_counter(); import retewave; print(time.perf_counter() - started)"


def _rows(task: Task) -> Result:
    """Fill the memories with a stream, and look how large they have become."""
    engine = engine_of(task)
    started = time.perf_counter()
    matches = drain(engine, str(task.offers), task.question.rate)
    seconds = time.perf_counter() - started
    arena = engine.matcher.current().runtime.arena
    held = totals(arena)
    rows = held.live + held.static
    return Result(
        matches,
        seconds,
        costs={
            "arena in use, a live row": (held.held_bytes / rows, "bytes"),
            "arena reserved, a live row": (arena.nbytes / rows, "bytes"),
            "live rows": (rows, "rows"),
        },
    )


def _start(task: Task) -> Result:
    """Start a process that runs a query over a stream, and wait for its first match."""
    with tempfile.TemporaryDirectory() as folder:
        query = Path(folder) / "question.rq"
        query.write_text(task.queries[0])
        command = [sys.executable, "-m", "retewave", "run", str(query), "--stream", str(task.offers)]
        command += ["--rate", str(task.question.rate), *(["--schema", str(task.schema)] if task.schema else [])]
        _first_line(command)  # compiles kernels that are not on the disk
        imported = float(subprocess.run([sys.executable, "-c", _IMPORT], check=True, capture_output=True).stdout)
        first, seconds, lines = _first_line(command)
    return Result(
        lines,
        seconds,
        costs={
            "import retewave": (1e3 * imported, "ms"),
            "process start to first match": (1e3 * first, "ms"),
        },
    )


def _first_line(command: list[str]) -> tuple[float, float, int]:
    """Return when a command's first line came, when its last line came, and how many lines there were."""
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        lines = int(bool(process.stdout.readline()))
        first = time.perf_counter() - started
        lines += sum(1 for _ in process.stdout)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return first, time.perf_counter() - started, lines


def _load(task: Task) -> Result:
    """Read static data and load it into the memories; and, in a warm process, wait for a query's first match."""
    drain(engine_of(task), str(task.warm_up), task.question.rate)
    started = time.perf_counter()
    engine = engine_of(task)
    engine.flush()
    loaded = time.perf_counter() - started
    matches = drain(engine, str(task.offers), task.question.rate)
    static = {"static data, read and loaded": (loaded, "s")}
    return Result(matches, time.perf_counter() - started, costs=static)


def _first(task: Task) -> Result:
    """Register a query in a warm process, and wait for its first match."""
    drain(engine_of(task), str(task.warm_up), task.question.rate)
    came: list[float] = []
    started = time.perf_counter()
    engine = engine_of(task, lambda match: came.append(time.perf_counter() - started))
    matches = drain(engine, str(task.offers), task.question.rate)
    first = {"schema read and query registered to first match, warm process": (1e3 * came[0], "ms")}
    return Result(matches, time.perf_counter() - started, costs=first)


PASSES = 60  # over the stream, of each kind
KINDS = {"off": False, "on": True, "off again": False}  # counters


def _counters(task: Task) -> Result:
    """Pour one encoded stream into one network with its counters on and off, by turns.

    It takes turns of some milliseconds in one thread, whose own clock is read: that tells differences of one per cent,
    which runs of the whole engine do not.
    """
    rows = encode(task)
    spent: dict[str, list[float]] = {kind: [] for kind in KINDS}
    matches = set()
    started = time.perf_counter()
    for _ in range(PASSES):
        for kind, counting in KINDS.items():
            began = time.thread_time()
            matches.add(rows.pour(_empty(rows.engine, counting)))
            spent[kind].append(time.thread_time() - began)
    (found,) = matches
    return Result(
        found,
        time.perf_counter() - started,
        costs={
            "network alone, counters on against off": (_percent(spent["off"], spent["on"]), "%"),
            "network alone, counters off against off again": (_percent(spent["off"], spent["off again"]), "%"),
        },
    )


def _empty(engine: Any, counting: bool) -> Any:
    """Return an empty network like the engine's."""
    runtime = engine.matcher.current().runtime
    return type(runtime)(runtime.network, replace(runtime.options, stats=counting), runtime.depth, runtime.memo)


def _percent(below: list[float], above: list[float]) -> float:
    """Return the speed of one of two that took turns in the other's, turn by turn."""
    return 100 * statistics.median(one / other for one, other in zip(below, above, strict=True))


COSTS: dict[str, Callable[[Task], Result]] = {
    "rows": _rows,
    "start": _start,
    "load": _load,
    "first": _first,
    "counters": _counters,
    "filters": string_filters,
    "changes": changes,
}
