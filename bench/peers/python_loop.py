"""A hand-written Python loop over dicts, for pattern 1 alone."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from typing import Any

from retewave.bench.task import Adapter, Result, Task
from retewave.bench.vocabulary import PREDICATES

__all__ = ["ADAPTER"]

_TYPE = PREDICATES[0].encode()
_BITS = {predicate.encode(): 1 << n for n, predicate in enumerate(PREDICATES)}
_PRODUCT, _OFFER, _ALL = _BITS[PREDICATES[1].encode()], b"Offer>", (1 << len(PREDICATES)) - 1


def _live(times: deque[int], horizon: int) -> int:
    while times and times[0] < horizon:
        times.popleft()
    return len(times)


def _run(task: Task) -> Result:
    started = time.perf_counter()
    classes, window, rate = task.target_classes(), task.question.window, task.question.rate
    offers: dict[bytes, list[Any]] = {}  # offer -> [first time, bits of the triples seen, product]
    order: deque[bytes] = deque()  # offers as they came, to expire them
    complete: defaultdict[bytes, deque[int]] = defaultdict(deque)  # product -> its offers' first times
    typed: defaultdict[bytes, deque[int]] = defaultdict(deque)  # product -> arrivals of its type
    matches = 0
    with task.offers.open("rb") as lines:
        for i, line in enumerate(lines):
            now = i * 1_000_000 // rate
            s, p, o = line[:-3].split(b" ", 2)
            while order and offers[order[0]][0] < now - window:
                del offers[order.popleft()]
            if p == _TYPE and not o.endswith(_OFFER):
                if o in classes:
                    typed[s].append(now)
                    matches += _live(complete[s], now - window)
                continue
            if s not in offers:
                offers[s] = [now, 0, b""]
                order.append(s)
            offer = offers[s]
            offer[1] |= _BITS.get(p, 0)
            if p in _BITS and _BITS[p] == _PRODUCT:
                offer[2] = o
            if offer[1] == _ALL:
                complete[offer[2]].append(offer[0])
                matches += _live(typed[offer[2]], now - window)
    return Result(matches, time.perf_counter() - started)


ADAPTER = Adapter(
    name="Python dicts, by hand",
    cannot="no engine: this one pattern, no RDF but these very lines, no inference",
    run=_run,
)
