"""What must be found in an event stream, from its columns alone: the referee of every run.

Where it stands: beside `measure`, for every workload.  A stream is put in the order of its keys, so that what is
*lag* events later for one key is *lag* places further; every lag is one comparison of whole columns.
Invariant: nothing here is shared with a peer.  Tests compare the answers with the generator's own table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from retewave.bench.events.streams import KINDS, EventColumns
from retewave.bench.events.task import WITHIN

__all__ = ["Expected", "expected"]

WRAP = 1 << 64


@dataclass(frozen=True)
class Expected:
    """The exact answer."""

    matches: int  # every combination of rows
    sum: int  # of the matches' rows: 1a + 3b + 5c by their places
    dues: int | None = None  # of the deadlines, where there are some
    as_set: int | None = None  # how many differ in what they show or in their times; None: all do


def expected(workload: str, stream: EventColumns) -> Expected:
    """Return the exact answer of a workload."""
    return _ANSWERS[workload](stream)


def _w1(stream: EventColumns) -> Expected:
    by_key = np.argsort(stream.key, kind="stable")
    key, time, price = stream.key[by_key], stream.time[by_key], stream.value[by_key]
    every = np.arange(len(key))
    falls = [np.empty((2, 0), np.int64)]
    for a, b in _later(key, time, every, every, WITHIN["W1"]):
        fell = 10 * price[b] < 7 * price[a]
        falls.append(np.stack((a[fell], b[fell])))
    first, low = np.concatenate(falls, axis=1)
    found = [np.empty((3, 0), np.int64)]
    for pair, c in _later(key, time, first, low, WITHIN["W1"]):
        rose = 20 * price[c] > 21 * price[first[pair]]
        found.append(np.stack((first[pair[rose]], low[pair[rose]], c[rose])))
    a, b, c = np.concatenate(found, axis=1)
    shown = np.unique(np.stack((a, price[b], c)), axis=1)
    return Expected(len(a), _sum(by_key[a], by_key[b], by_key[c]), as_set=shown.shape[1])


def _later(
    key: np.ndarray, time: np.ndarray, first: np.ndarray, last: np.ndarray, width: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield, lag by lag, which pairs of places are left, and the places that are so much behind their last one."""
    pair = np.arange(len(first))
    for lag in count(1):
        there = last[pair] + lag
        live = there < len(key)
        live[live] = key[there[live]] == key[first[pair[live]]]
        live[live] = time[there[live]] - time[first[pair[live]]] <= width
        if not live.any():
            return
        pair = pair[live]
        yield pair, there[live]


def _w2(stream: EventColumns) -> Expected:
    by_key = np.argsort(stream.key, kind="stable")
    key, time, price = stream.key[by_key], stream.time[by_key], stream.value[by_key]
    place = np.arange(len(key))
    falls = np.zeros(len(key), np.bool_)  # against the event of the company before
    falls[1:] = (key[1:] == key[:-1]) & (price[1:] < price[:-1])
    high = np.maximum.accumulate(np.where(falls, 0, place))  # where the fall began that an event is in
    found = [np.empty((2, 0), np.int64)]
    for pair, c in _later(key, time, place, place, WITHIN["W2"]):
        a = place[pair]
        right = (c - a > 1) & (high[c - 1] <= a) & (price[c] > price[a])
        found.append(np.stack((a[right], c[right])))
    a, c = np.concatenate(found, axis=1)
    return Expected(len(a), _sum(by_key[a], by_key[c - 1], by_key[c]))


def _w3(stream: EventColumns) -> Expected:
    asked, told = stream.kind == KINDS["Q"], stream.kind == KINDS["R"]
    answered = np.full(stream.key.max() + 1, -1)
    answered[stream.key[told]] = stream.time[told]
    rows = np.flatnonzero(asked)
    waited = answered[stream.key[rows]] - stream.time[rows]
    open_ = rows[(waited <= 0) | (waited > WITHIN["W3"])]
    return Expected(len(open_), _sum(open_), int((stream.time[open_] + WITHIN["W3"]).sum()))


def _w4(stream: EventColumns) -> Expected:
    by_key = np.argsort(stream.key, kind="stable")
    key, time, kind = stream.key[by_key], stream.time[by_key], stream.kind[by_key]
    barred = np.cumsum(kind == KINDS["B"])
    found = [np.empty((2, 0), np.int64)]
    starts = np.flatnonzero(kind == KINDS["A"])
    for pair, c in _later(key, time, starts, starts, WITHIN["W4"]):
        a = starts[pair]
        right = (kind[c] == KINDS["C"]) & (barred[c] == barred[a])
        found.append(np.stack((a[right], c[right])))
    a, c = np.concatenate(found, axis=1)
    return Expected(len(a), _sum(by_key[a], by_key[c]))


def _sum(*rows: np.ndarray) -> int:
    return sum((2 * place + 1) * int(column.sum()) for place, column in enumerate(rows)) % WRAP


_ANSWERS: dict[str, Callable[[EventColumns], Expected]] = {"W1": _w1, "W2": _w2, "W3": _w3, "W4": _w4}
