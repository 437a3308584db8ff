"""Filters on strings that nobody has seen before: what each function leaves of the engine's speed.

Where it stands: a mode of the engine's adapter (`engine`), with a stream of its own: readings whose literals are all
different, so that no filter can remember an answer.
Invariant: every filter's matches are counted, and must be those that the generator knows of.
"""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any

from retewave.bench.engine import drain, engine_of
from retewave.bench.task import Result, Task

__all__ = ["FILTERS", "NONE", "NUMBER", "PYTHON", "SLOWEST", "string_filters"]

HALLS = 100
FEWER = 20  # times fewer triples, where Python decides
TURNS = 3  # of each filter; the best counts, since the machine is others', too
SLOWEST = "the slowest function of strings"
# What asks, by function, for the readings of one hall.
FILTERS = {
    "CONTAINS": 'CONTAINS(?text, "Hall 42:")',
    "STRSTARTS": 'STRSTARTS(STR(?text), "Hall 42:")',
    "STRENDS": 'STRENDS(?text, " 42")',
    "STRLEN": "STRLEN(?text) = 58",
    "LANG": 'LANG(?text) = "fr"',
    "LANGMATCHES": 'LANGMATCHES(LANG(?text), "fr")',
    "REGEX": 'REGEX(?text, "^Hall 42:")',
    "REGEX, any case": 'REGEX(?text, "HALL 42:|HALL 142:", "i")',
    "LCASE": 'CONTAINS(LCASE(?text), "hall 42:")',
    "STR of an IRI": 'STRSTARTS(STR(?reading), "http://example.org/hall-42/")',
    "order of strings": 'STR(?text) >= "Hall 42:" && STR(?text) < "Hall 42;"',
    "two variables": 'STR(?reading) < STR(?text) || CONTAINS(?text, "Hall 42:")',
}
NUMBER, NONE, PYTHON = "a number, to compare with", "no filter", "REGEX that Python decides"


def _stream(triples: int) -> bytes:
    """Return readings of the halls by turns, each with a text of its own."""
    lines = []
    for n in range(triples):
        hall = n % HALLS
        said, tag = ("de jour", "fr") if hall == 42 else ("by day", "en")
        text = f'"Hall {hall:02d}: reading {n:09d} é, all well {said} or night {hall:02d}"@{tag}'
        lines.append(f"<http://example.org/hall-{hall}/{n}> <http://example.org/p> {text} .\n")
    return "".join(lines).encode()


def _speed(condition: str, data: bytes, triples: int, expected: int) -> float:
    """Return the triples a second of a stream under a filter."""
    rw: Any = import_module("retewave")
    best = 0.0
    for _ in range(TURNS):
        engine = rw.Engine()
        engine.register(f"SELECT ?reading {{ ?reading <http://example.org/p> ?text {condition} }}", keep=0)
        engine.flush()
        started = time.perf_counter()
        found = drain(engine, data, 100_000)
        best = max(best, triples / (time.perf_counter() - started))
        if found != expected:
            raise ValueError(f"{condition}: {found:,} matches instead of {expected:,}")
    return best


def string_filters(task: Task) -> Result:
    """Measure each function, beside no filter, one on numbers, and one that Python decides."""
    started = time.perf_counter()
    matches = drain(engine_of(task), str(task.offers), task.question.rate)
    many = task.triples // (FEWER * HALLS) * FEWER * HALLS
    few, data = many // FEWER, _stream(many)
    speeds = {each: _speed(f"FILTER({text})", data, many, many // HALLS) for each, text in FILTERS.items()}
    slowest = min(speeds.values())
    speeds[NONE] = _speed("", data, many, many)
    speeds[NUMBER] = _speed("FILTER(?text > 5)", data, many, 0)
    speeds[PYTHON] = _speed('FILTER(REGEX(?text, "^Hall [4]2:"))', _stream(few), few, few // HALLS)
    told = {SLOWEST: slowest, **speeds}
    return Result(
        matches, time.perf_counter() - started, costs={name: (speed, "triples/s") for name, speed in told.items()}
    )
