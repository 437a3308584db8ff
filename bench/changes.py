"""Queries that come and go while the stream runs: what one costs beside none, 300 and 3,000 others.

Where it stands: a mode of the engine's adapter (`engine`).  A cycle is register, push one triple, remove.
Invariant: a cycle's figure is the median of many.  What becomes due in some of them only, one network of all, is in
"registered one by one", which is a mean.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from retewave.bench.engine import drain, engine_of
from retewave.bench.task import Result, Task

__all__ = ["CYCLE", "ONE_BY_ONE", "changes"]

COUNTS = (0, 300, 3_000)
MANY = 1_000  # registered one by one
CYCLES = 200
CYCLE, ONE_BY_ONE = "a cycle beside {:,} of {}, a guest of {}", "{:,} of {}, registered one by one, each"
SHAPES: dict[str, Callable[[int], str]] = {
    "one shape": lambda n: f"?x <http://e/type> <http://e/T{n}> . ?x <http://e/price> ?y FILTER(?y > 10)",
    "shapes of their own": lambda n: f"?x <http://e/is{n}> ?z . ?x <http://e/price> ?y FILTER(?y > 10)",
}


def _query(shape: str, number: int) -> str:
    return f"SELECT ?x ?y FROM STREAM <http://e/s> [RANGE 10s] {{ {SHAPES[shape](number)} }}"


def _pushed(engine: Any, time_: float) -> None:
    engine.push(("http://e/thing", "http://e/price", 12), time=time_)


def _cycle(others: int, shape: str, guest: str) -> float:
    """Return the milliseconds of a cycle."""
    engine = import_module("retewave").Engine()
    for number in range(others):
        engine.register(_query(shape, number), keep=0)
    _pushed(engine, 0)
    spent = []
    for number in range(CYCLES):
        began = time.perf_counter()
        asked = engine.register(_query(guest, 1_000_000 + number), keep=0)
        _pushed(engine, 1 + number)
        engine.remove(asked)
        spent.append(time.perf_counter() - began)
    return 1e3 * statistics.median(spent)


def _one_by_one(count: int, shape: str) -> float:
    """Return the milliseconds that each of `count` queries takes, a triple pushed behind each."""
    engine = import_module("retewave").Engine()
    _pushed(engine, 0)
    began = time.perf_counter()
    for number in range(count):
        engine.register(_query(shape, number), keep=0)
        _pushed(engine, 1 + number)
    return 1e3 * (time.perf_counter() - began) / count


def changes(task: Task) -> Result:
    """Measure cycles beside others of the same shape and of different ones, and many queries one by one."""
    started = time.perf_counter()
    matches = drain(engine_of(task), str(task.offers), task.question.rate)
    _cycle(1, "one shape", "one shape")  # the loading of the first time does not count
    found = {
        CYCLE.format(others, shape, guest): _cycle(others, shape, guest)
        for others in COUNTS
        for shape in SHAPES
        for guest in SHAPES
        if others or shape == guest
    }
    found |= {ONE_BY_ONE.format(MANY, shape): _one_by_one(MANY, shape) for shape in SHAPES}
    return Result(matches, time.perf_counter() - started, costs={name: (took, "ms") for name, took in found.items()})
