"""What writing costs: the same stream counted, and written in each format; into a pipe; and from a process's start.

Where it stands: further modes of the engine's adapter (`engine`), under the same protocol: every run's matches are
checked.  Invariant: all modes but `cold` run in a warm process, whose kernels a short stream has loaded.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from retewave.bench.engine import drain, engine_of
from retewave.bench.task import Result, Task

__all__ = ["COUNTED", "FORMATS", "WRITTEN", "through"]

COUNTED = "counted only"
FORMATS = ("ndjson", "csv", "tsv", "nt", "arrow")
_TEMPLATE = " . ".join(
    f"?offer <http://example.org/{name}> ?{name}"
    for name in ("product", "vendor", "price", "from", "to", "delivery", "webpage", "publisher", "date")
)


def _constructing(task: Task) -> Task:
    """Return a task whose query builds triples of what it selects."""
    before, _, behind = task.queries[0].partition("SELECT")
    query = before + "CONSTRUCT { " + _TEMPLATE + " }\nFROM" + behind.partition("\nFROM")[2]
    return replace(task, queries=(query,))


def through(task: Task, source: Path, format: str, file: BinaryIO) -> tuple[int, float]:
    """Write a stream's matches to a file; return how many there were, and how long it took from the first byte."""
    engine = engine_of(task)
    engine.flush()  # makes the network, which is not the stream's time
    reader = import_module("retewave").read(str(source), rate=task.question.rate)
    started, matches = time.perf_counter(), 0
    sink = import_module("retewave.io.sinks.sinks").open_sink(format, engine.queries, file, seconds=True)
    for found in engine.run_batches(reader):
        sink.write(found)
        matches += sum(map(len, found))
    sink.close()
    return matches, time.perf_counter() - started


def _written(task: Task, format: str) -> Result:
    asked = _constructing(task) if format == "nt" else task
    with tempfile.TemporaryDirectory() as folder:
        for name, source in (("warm", task.warm_up), ("matches", task.offers)):
            with (Path(folder) / name).open("wb") as file:
                done = through(asked, source, format, file)
    return Result(*done)


def _counted(task: Task) -> Result:
    drain(engine_of(task), str(task.warm_up), task.question.rate)
    engine = engine_of(task)
    engine.flush()
    started = time.perf_counter()
    return Result(drain(engine, str(task.offers), task.question.rate), time.perf_counter() - started)


def _piped(task: Task) -> Result:
    """Write matches, found beforehand, as ndjson into a pipe that another process empties."""
    drain(engine_of(task), str(task.warm_up), task.question.rate)
    engine = engine_of(task)
    reader = import_module("retewave").read(str(task.offers), rate=task.question.rate)
    batches = list(engine.run_batches(reader))
    empty = "import sys\nwhile sys.stdin.buffer.raw.read(1 << 20): pass"
    with subprocess.Popen([sys.executable, "-c", empty], stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        sink: Any = import_module("retewave.io.sinks.sinks").open_sink(
            "ndjson", engine.queries, process.stdin, seconds=True
        )
        sink.write(batches[0])  # the kernels are there, and so is the reader
        started = time.perf_counter()
        for found in batches[1:]:
            sink.write(found)
        sink.close()
        seconds = time.perf_counter() - started
    piped = sum(len(batch) for found in batches[1:] for batch in found)
    matches = piped + sum(map(len, batches[0]))
    return Result(matches, seconds, costs={"matches of ten terms into a pipe": (piped / seconds, "matches/s")})


def _cold(task: Task) -> Result:
    """Start `retewave run` with an output file, and wait for its end."""
    with tempfile.TemporaryDirectory() as folder:
        query, out = Path(folder) / "question.rq", Path(folder) / "matches"
        query.write_text(task.queries[0])
        command = [sys.executable, "-m", "retewave", "run", str(query), "--out", str(out)]
        command += ["--rate", str(task.question.rate), *(["--schema", str(task.schema)] if task.schema else [])]
        subprocess.run([*command, "--stream", str(task.warm_up)], check=True)  # compiles what is not on the disk
        before, started = os.times(), time.perf_counter()
        subprocess.run([*command, "--stream", str(task.offers)], check=True)
        seconds, behind = time.perf_counter() - started, os.times()
        with out.open("rb") as lines:
            matches = sum(1 for _ in lines)
    spent = behind.children_user + behind.children_system - before.children_user - before.children_system
    costs = {"process start to its end": (seconds, "s"), "processor time": (spent, "s")}
    return Result(matches, seconds, costs=costs)


WRITTEN: dict[str, Callable[[Task], Result]] = {
    f"written, {COUNTED}": _counted,
    **{f"written, {format}": partial(_written, format=format) for format in FORMATS},
    "written, pipe": _piped,
    "written, cold": _cold,
}
