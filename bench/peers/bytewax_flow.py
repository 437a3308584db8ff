"""Bytewax, a dataflow of two hand-written stateful steps: an offer's triples, then offers with types."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from retewave.bench.task import Adapter, Result, Task
from retewave.bench.vocabulary import PREDICATES

__all__ = ["ADAPTER"]

_BITS = {predicate.encode(): 1 << n for n, predicate in enumerate(PREDICATES)}
_ALL = (1 << len(PREDICATES)) - 1

Keyed = tuple[str, tuple[int, bytes, bytes]]  # subject -> time, predicate, object
_Times = tuple[deque[int], deque[int]]  # of a product: its offers' first times, arrivals of its type


def _arrivals(task: Task) -> Iterator[Keyed]:
    """Yield the stream's triples that pattern 1 can use, keyed by their subject."""
    classes = task.target_classes()
    with task.offers.open("rb") as lines:
        for i, line in enumerate(lines):
            s, p, o = line[:-3].split(b" ", 2)
            if _BITS[p] != 1 or o.endswith(b"/Offer>") or o in classes:
                yield s.decode(), (i * 1_000_000 // task.question.rate, p, o)


def _gather(window: int) -> Any:
    """Return the step that collects an offer's ten triples; it passes the types of products on."""

    def step(state: list[Any] | None, arrived: tuple[int, bytes, bytes]) -> tuple[list[Any] | None, list[Any]]:
        now, p, o = arrived
        if _BITS[p] == 1 and not o.endswith(b"/Offer>"):
            return state, [("type", b"", now)]
        if state is None or state[0] < now - window:
            state = [now, 0, b""]
        state[1] |= _BITS[p]
        if _BITS[p] == 2:
            state[2] = o
        return (None, [("offer", state[2], state[0], now)]) if state[1] == _ALL else (state, [])

    return step


def _pair(window: int) -> Any:
    """Return the step that pairs a product's offers with the arrivals of its type."""

    def step(state: _Times | None, came: tuple[str, int, int]) -> tuple[_Times, list[int]]:
        offers, types = state or (deque(), deque())
        kind, start, now = came
        for times in (offers, types):
            while times and times[0] < now - window:
                times.popleft()
        found = len(types) if kind == "offer" else len(offers)
        (offers if kind == "offer" else types).append(start)
        return (offers, types), [found] if found else []

    return step


def _by_product(item: tuple[str, tuple[Any, ...]]) -> tuple[str, tuple[str, int, int]]:
    subject, came = item
    if came[0] == "type":
        return subject, ("type", came[2], came[2])
    return came[1].decode(), ("offer", came[2], came[3])


def _run(task: Task) -> Result:
    op, testing = import_module("bytewax.operators"), import_module("bytewax.testing")

    counts: list[tuple[str, int]] = []
    flow = import_module("bytewax.dataflow").Dataflow("pattern1")
    triples = op.input("in", flow, testing.TestingSource(_arrivals(task), batch_size=1_000))
    offers = op.stateful_flat_map("gather", triples, _gather(task.question.window))
    products = op.map("by_product", offers, _by_product)
    matches = op.stateful_flat_map("pair", products, _pair(task.question.window))
    op.output("out", matches, testing.TestingSink(counts))
    started = time.perf_counter()
    testing.run_main(flow)
    return Result(sum(count for _, count in counts), time.perf_counter() - started)


ADAPTER = Adapter(
    name="Bytewax, by hand",
    cannot="no RDF, no patterns, no inference: two stateful Python steps written for this pattern",
    run=_run,
    requires=("bytewax",),
    most_offers=60_000,
)
