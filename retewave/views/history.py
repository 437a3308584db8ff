"""The arrivals on the stream of a window, for windows whose bounds depend on arrivals: windows that count, and NOW.

Data's way: all input rows, also those that no pattern can use -> **instants and counts** -> bounds of windows.
Invariants: rows come in the order of their ends.  An event that came in several rows of one instant is one.  What lies
further back than the window reaches is forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from retewave.compiler.algebra import Current, Extent, Inside, Newest, newest_of
from retewave.rete.words.rows import END, EVENT, STREAM
from retewave.windows.intervals import AFTER_ALL, BEFORE_ALL

__all__ = ["History", "is_moved"]

_TIME, _TRIPLES, _EVENTS = 0, 1, 2  # the columns of the counts


def is_moved(extent: Extent) -> bool:
    """Tell whether a window's bounds depend on the items that come."""
    return bool(newest_of(extent)) or _has_current(extent)


def _has_current(extent: Extent) -> bool:
    if isinstance(extent, Inside):
        return _has_current(extent.outer) or _has_current(extent.inner)
    return isinstance(extent, Current)


class History:
    """The arrivals on one stream, and the instants of all streams."""

    def __init__(self, extent: Extent, stream: int | None) -> None:
        self._newest = newest_of(extent)
        self._looks = _has_current(extent)
        self._stream = stream  # its number; None: all streams
        self._counts = np.zeros((0, 3), dtype=np.int64)  # instants of the stream, and all triples and events until then
        self._open = np.zeros(0, dtype=np.int64)  # the events of the latest of them
        self._instants = np.zeros(0, dtype=np.int64)  # of any stream

    def see(self, rows: np.ndarray) -> None:
        """Take input rows."""
        if self._looks:
            fresh = np.unique(rows[:, END])
            fresh = fresh[1:] if len(self._instants) and fresh[0] == self._instants[-1] else fresh
            self._instants = np.concatenate([self._instants, fresh])
        own = rows if self._stream is None else rows[(rows[:, STREAM] == self._stream) | (rows[:, STREAM] == 0)]
        if self._newest and len(own):
            ends = own[:, END]
            cuts = [0, *(np.flatnonzero(ends[1:] != ends[:-1]) + 1).tolist(), len(own)]
            self._count([(int(ends[begin]), own[begin:end, EVENT]) for begin, end in pairwise(cuts)])

    def _count(self, instants: list[tuple[int, np.ndarray]]) -> None:
        """Count the arrivals of instants; the first of them may be the latest instant that is known."""
        made: list[tuple[int, int, int]] = []
        before = self._counts
        triples, events = before[-1, 1:].tolist() if len(before) else (0, 0)
        latest = int(before[-1, _TIME]) if len(before) else BEFORE_ALL
        for time, numbers in instants:
            if time != latest:
                self._open = np.zeros(0, dtype=np.int64)
            elif not made:
                before = before[:-1]
            named = np.setdiff1d(numbers[numbers != 0], self._open)
            self._open = np.concatenate([self._open, named])
            triples, events = triples + len(numbers), events + len(named) + int((numbers == 0).sum())
            made.append((time, triples, events))
        self._counts = np.concatenate([before, np.array(made, dtype=np.int64)])

    # ---- what windows ask ----
    def oldest(self, window: Newest, time: int) -> int | None:
        """Return when the oldest of the last arrivals came; none if nothing has."""
        there = int(np.searchsorted(self._counts[:, _TIME], time, "right"))
        if not there:
            return None
        counts = self._counts[:there, _TRIPLES if window.of == "triples" else _EVENTS]
        return int(self._counts[np.searchsorted(counts, counts[-1] - window.count + 1, "left"), _TIME])

    def latest(self, time: int) -> int | None:
        """Return the latest instant of any stream at or before a time."""
        there = int(np.searchsorted(self._instants, time, "right"))
        return int(self._instants[there - 1]) if there else None

    def next_step(self, at: int) -> int:
        """Return the first time after another at which the count of a window is at, or beyond, its next step."""
        found = AFTER_ALL
        for each in self._newest:
            if each.step is None or not len(self._counts):
                continue
            counts = self._counts[:, _TRIPLES if each.of == "triples" else _EVENTS]
            there = int(np.searchsorted(self._counts[:, _TIME], at, "right"))
            passed = int(counts[there - 1]) if there else 0
            place = int(np.searchsorted(counts, (passed // each.step + 1) * each.step, "left"))
            if place < len(counts):
                found = min(found, int(self._counts[place, _TIME]))
        return found

    def next_instant(self, at: int) -> int:
        """Return the first time after another at which the bounds may move."""
        known = [self._instants, *([self._counts[:, _TIME]] if self._newest else [])]
        places = [(each, int(np.searchsorted(each, at, "right"))) for each in known]
        return min((int(each[place]) for each, place in places if place < len(each)), default=AFTER_ALL)

    def forget(self, at: int) -> None:
        """Forget the arrivals that no report from a time on needs."""
        kept = [found for each in self._newest if (found := self.oldest(each, at)) is not None]
        if kept:
            first = int(np.searchsorted(self._counts[:, _TIME], min(kept), "left"))
            self._counts = self._counts[max(0, first - 1) :]
        before = int(np.searchsorted(self._instants, at, "right"))
        self._instants = self._instants[max(0, before - 1) :]

    # ---- as a part of a state ----
    def state(self) -> dict[str, np.ndarray]:
        """Return all that it remembers."""
        return {"counts": self._counts, "open": self._open, "instants": self._instants}

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Take over a state."""
        self._counts, self._open, self._instants = state["counts"], state["open"], state["instants"]
