"""Hand-written Python loops over dicts, one for each event workload.

Where it stands: a peer of the event workloads.  Events are tuples in a list before the clock starts.
Invariant: what no bound reaches any more is dropped.  Left out: two events of one company at one time, which W1 has
not.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable

from retewave.bench.events.streams import KINDS, columns
from retewave.bench.events.task import WITHIN, EventFound, EventPeer, EventTask, clocked

__all__ = ["PEERS"]

Events = list[tuple[int, int, int, int]]  # time, key, value, kind
Answer = tuple[int, int, int | None]  # matches, sum, dues
_Q, _A, _B = KINDS["Q"], KINDS["A"], KINDS["B"]


class _Company:
    """What W1 remembers of one company."""

    __slots__ = ("falls", "recent", "tops")

    def __init__(self) -> None:
        self.recent: deque[tuple[int, int, int]] = deque()  # time, price, row: of the window
        self.tops: deque[tuple[int, int]] = deque()  # time, price: those that no later price reaches
        self.falls: list[tuple[int, int, int, int]] = []  # time, price and row of a; row of b


def _w1(events: Events) -> Answer:
    companies: dict[int, _Company] = {}
    matches = total = 0
    within = WITHIN["W1"]
    for row, (now, key, price, _) in enumerate(events):
        company = companies.get(key)
        if company is None:
            company = companies[key] = _Company()
        recent, tops, horizon = company.recent, company.tops, now - within
        while recent and recent[0][0] < horizon:
            recent.popleft()
        while tops and tops[0][0] < horizon:
            tops.popleft()
        if company.falls:
            company.falls = [fall for fall in company.falls if fall[0] >= horizon]
            for _, high, a, b in company.falls:
                if 20 * price > 21 * high:
                    matches += 1
                    total += a + 3 * b + 5 * row
        if tops and 10 * price < 7 * tops[0][1]:
            company.falls += [(at, high, a, row) for at, high, a in recent if 10 * price < 7 * high]
        while tops and tops[-1][1] <= price:
            tops.pop()
        tops.append((now, price))
        recent.append((now, price, row))
    return matches, total, None


def _w2(events: Events) -> Answer:
    falls: dict[int, list[tuple[int, int, int]]] = {}  # company -> time, price, row of the fall that it is in
    matches = total = 0
    within = WITHIN["W2"]
    for row, (now, key, price, _) in enumerate(events):
        fall = falls.get(key)
        if fall is None or price >= fall[-1][1]:
            if fall is not None and len(fall) > 1:
                last = fall.pop()[2]
                for at, high, a in reversed(fall):
                    if price <= high or at < now - within:
                        break
                    matches += 1
                    total += a + 3 * last + 5 * row
            falls[key] = [(now, price, row)]
        else:
            fall.append((now, price, row))
    return matches, total, None


def _w3(events: Events) -> Answer:
    unanswered: dict[int, int] = {}  # id -> row
    due: deque[tuple[int, int]] = deque()  # deadline, id
    matches = total = dues = 0
    within = WITHIN["W3"]
    for row, (now, key, _, kind) in enumerate([*events, (1 << 62, -1, 0, -1)]):
        while due and due[0][0] < now:
            deadline, late = due.popleft()
            asked = unanswered.pop(late, None)
            if asked is not None:
                matches += 1
                total += asked
                dues += deadline
        if kind == _Q:
            unanswered[key] = row
            due.append((now + within, key))
        else:
            unanswered.pop(key, None)
    return matches, total, dues


def _w4(events: Events) -> Answer:
    begun: dict[int, deque[tuple[int, int]]] = {}  # key -> time, row of each A since the last B
    matches = total = 0
    within = WITHIN["W4"]
    for row, (now, key, _, kind) in enumerate(events):
        if kind == _B:
            begun.pop(key, None)
            continue
        starts = begun.get(key)
        while starts and starts[0][0] < now - within:
            starts.popleft()
        if kind != _A:
            for _, a in starts or ():
                matches += 1
                total += a + 3 * row
        elif starts is None:
            begun[key] = deque([(now, row)])
        else:
            starts.append((now, row))
    return matches, total, None


_LOOPS: dict[str, Callable[[Events], Answer]] = {"W1": _w1, "W2": _w2, "W3": _w3, "W4": _w4}


def _run(task: EventTask) -> EventFound:
    stream = columns(task.csv)
    events: Events = list(zip(*(each.tolist() for each in vars(stream).values()), strict=True))
    gc.collect()
    gc.freeze()
    return clocked(lambda: _LOOPS[task.workload](events))


PEERS = {
    "python": EventPeer(
        name="Python dicts, by hand", cannot="no engine: a loop for each workload, on these very columns", run=_run
    )
}
