"""Loops over arrays that Numba compiles, one for each event workload: about what one thread can do.

Where it stands: a peer of the event workloads.  Keys are small integers, so that arrays by key take the place of hash
tables; a key's events are linked by row numbers, the newest first.
Invariant: each loop looks at each event once, and compiles before the clock starts.  Left out: what an endless stream
would ask for (rows are never dropped, arrays are as long as the stream).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numba
import numpy as np

from retewave.bench.events.streams import KINDS, EventColumns, columns
from retewave.bench.events.task import WITHIN, EventFound, EventPeer, EventTask, clocked

__all__ = ["PEERS"]

_Q, _A, _B = KINDS["Q"], KINDS["A"], KINDS["B"]
_NONE, _NO_BAR = -1, 1 << 62
_WITHIN_1, _WITHIN_2, _WITHIN_3, _WITHIN_4 = (WITHIN[name] for name in ("W1", "W2", "W3", "W4"))
_WARM_UP = 2_000  # rows; the compiler sees the same types


class _Falls(NamedTuple):
    """Pairs a, b of W1 that wait for their c."""

    a: np.ndarray  # a's row
    b: np.ndarray  # b's row
    before: np.ndarray  # the key's pair before


@numba.njit  # type: ignore[untyped-decorator]
def _longer(array: np.ndarray) -> np.ndarray:
    twice = np.empty(2 * len(array), array.dtype)
    twice[: len(array)] = array
    return twice


@numba.njit  # type: ignore[untyped-decorator]
def _ended(time: np.ndarray, price: np.ndarray, falls: _Falls, at: int, row: int) -> tuple[int, int, int]:
    """Return what a row completes, from a key's newest pair on: matches, sum, and the bar of the pairs that live."""
    matches, total, bar, horizon = 0, 0, _NO_BAR, time[row] - _WITHIN_1
    while at != _NONE and time[falls.b[at]] >= horizon:
        a = falls.a[at]
        if time[a] >= horizon:
            bar = min(bar, 21 * price[a])
            if 20 * price[row] > 21 * price[a]:
                matches += 1
                total += a + 3 * falls.b[at] + 5 * row
        at = falls.before[at]
    return matches, total, bar


@numba.njit  # type: ignore[untyped-decorator]
def _begun(
    time: np.ndarray, price: np.ndarray, before: np.ndarray, a: int, row: int, falls: _Falls, count: int, at: int
) -> tuple[_Falls, int, int, int]:
    """Pair a row with what stood so much higher; return the pairs, their number, the key's newest, and their bar."""
    bar = _NO_BAR
    while a != _NONE and time[a] >= time[row] - _WITHIN_1:
        if 10 * price[row] < 7 * price[a]:
            if count == len(falls.a):
                falls = _Falls(_longer(falls.a), _longer(falls.b), _longer(falls.before))
            falls.a[count], falls.b[count], falls.before[count] = a, row, at
            at, count, bar = count, count + 1, min(bar, 21 * price[a])
        a = before[a]
    return falls, count, at, bar


@numba.njit  # type: ignore[untyped-decorator]
def _w1(time: np.ndarray, key: np.ndarray, price: np.ndarray, keys: int) -> tuple[int, int, int]:
    newest, before = np.full(keys, _NONE, np.int32), np.empty(len(time), np.int32)
    # The highest prices of a key's window, each higher than all behind it: its first and its last, and the links.
    first, last = np.full(keys, _NONE, np.int32), np.full(keys, _NONE, np.int32)
    lower, higher = np.full(len(time), _NONE, np.int32), np.empty(len(time), np.int32)
    # A key's newest pair, and a price (times 20) up to which no pair of it is completed.
    fall, bar = np.full(keys, _NONE, np.int32), np.full(keys, _NO_BAR, np.int64)
    falls, count = _Falls(np.empty(1024, np.int32), np.empty(1024, np.int32), np.empty(1024, np.int32)), 0
    matches = total = 0
    for row in range(len(time)):
        k, p = key[row], price[row]
        if 20 * p > bar[k]:
            more, rows, bar[k] = _ended(time, price, falls, fall[k], row)
            matches, total = matches + more, total + rows
        high, low = first[k], last[k]
        while high != _NONE and time[high] < time[row] - _WITHIN_1:
            high = lower[high]
        if high != _NONE and 10 * p < 7 * price[high]:
            falls, count, fall[k], least = _begun(time, price, before, newest[k], row, falls, count, fall[k])
            bar[k] = min(bar[k], least)
        if high == _NONE or price[high] <= p:
            high = row
        else:
            while price[low] <= p:
                low = higher[low]
            lower[low], higher[row] = row, low
        first[k], last[k] = high, row
        before[row], newest[k] = newest[k], row
    return matches, total, 0


@numba.njit  # type: ignore[untyped-decorator]
def _w2(time: np.ndarray, key: np.ndarray, price: np.ndarray, keys: int) -> tuple[int, int, int]:
    newest, before = np.full(keys, _NONE, np.int32), np.empty(len(time), np.int32)  # before: in the same fall
    matches = total = 0
    for row in range(len(time)):
        k, p = key[row], price[row]
        last = newest[k]
        newest[k], before[row] = row, _NONE
        if last == _NONE:
            continue
        if p < price[last]:
            before[row] = last
        a = before[last]
        while a != _NONE and price[a] < p and time[a] >= time[row] - _WITHIN_2:
            matches += 1
            total += a + 3 * last + 5 * row
            a = before[a]
    return matches, total, 0


@numba.njit  # type: ignore[untyped-decorator]
def _w3(time: np.ndarray, key: np.ndarray, kind: np.ndarray, keys: int) -> tuple[int, int, int]:
    rows = len(time)
    asked = np.full(keys, _NONE, np.int32)  # the row of a request without a response
    matches = total = dues = due = 0
    for row in range(rows + 1):
        now = time[row] if row < rows else 1 << 62
        while due < row and time[due] + _WITHIN_3 < now:
            if kind[due] == _Q and asked[key[due]] == due:
                matches += 1
                total += due
                dues += time[due] + _WITHIN_3
            due += 1
        if row < rows:
            asked[key[row]] = row if kind[row] == _Q else _NONE
    return matches, total, dues


@numba.njit  # type: ignore[untyped-decorator]
def _w4(time: np.ndarray, key: np.ndarray, kind: np.ndarray, keys: int) -> tuple[int, int, int]:
    newest, before = np.full(keys, _NONE, np.int32), np.empty(len(time), np.int32)  # A's since the last B
    matches = total = 0
    for row in range(len(time)):
        k, what = key[row], kind[row]
        if what == _A:
            before[row], newest[k] = newest[k], row
        elif what == _B:
            newest[k] = _NONE
        else:
            a = newest[k]
            while a != _NONE and time[a] >= time[row] - _WITHIN_4:
                matches += 1
                total += a + 3 * row
                a = before[a]
    return matches, total, 0


_LOOPS: dict[str, Callable[..., tuple[int, int, int]]] = {"W1": _w1, "W2": _w2, "W3": _w3, "W4": _w4}


def _words(workload: str, stream: EventColumns) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Return what a loop takes: times, keys, what it looks at, how many keys there are."""
    told = stream.value if workload in ("W1", "W2") else stream.kind.astype(np.int8)
    return stream.time, stream.key.astype(np.int32), told, int(stream.key.max()) + 1


def _run(task: EventTask) -> EventFound:
    stream, loop = columns(task.csv), _LOOPS[task.workload]
    words = _words(task.workload, stream)
    loop(*(each[:_WARM_UP] for each in words[:3]), words[3])
    found = clocked(lambda: loop(*words))
    return found if task.workload == "W3" else replace(found, dues=None)


PEERS = {
    "numba": EventPeer(
        name="Numba, by hand",
        cannot="no engine: a compiled loop for each workload, keys are small integers, nothing is ever dropped",
        run=_run,
    )
}
