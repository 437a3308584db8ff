"""What a view keeps between reports: solutions that may be in a window, and which triples come and go.

Data's way: output rows of the network -> **solutions, presence** -> relations and report times.
Solutions lie in the order of arrival, each with its interval; one that comes again lengthens the life of an equal one,
as rows are taken once.  Invariant: what has left its window for good is forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heapify, heappop, heappush

import numpy as np

from retewave.compiler.algebra import Extent
from retewave.views.bounds import NEVER, enters, leaves
from retewave.views.relation import first_places

__all__ = ["Arrivals", "Changes", "LeafSolutions"]

_ENTERS, _LEAVES = 0, 1  # what happens to a triple; at one time all enter first


class LeafSolutions:
    """The solutions of one leaf."""

    def __init__(self, columns: int) -> None:
        self.rows = np.zeros((0, columns + 2), dtype=np.int64)  # start, end, terms
        self._new: list[np.ndarray] = []

    def add(self, rows: np.ndarray) -> None:
        """Take rows of start, end and terms."""
        self._new.append(rows)

    def inside(self, low: int, high: int) -> np.ndarray:
        """Return the different solutions in a window, each once, and forget those that are older."""
        if self._new:
            self.rows = np.concatenate([self.rows, *self._new])
            self._new.clear()
        alive = self.rows[:, 0] > low
        if not alive.all():
            self.rows = self.rows[alive]
        found = self.rows if (self.rows[:, 1] <= high).all() else self.rows[self.rows[:, 1] <= high]
        return found[first_places(found[:, 2:]), 2:]

    def all(self) -> np.ndarray:
        """Return all rows."""
        self.rows = np.concatenate([self.rows, *self._new])
        self._new.clear()
        return self.rows


class Arrivals:
    """The times of the triples that some pattern can use, in one window."""

    def __init__(self) -> None:
        self.times = np.zeros(0, dtype=np.int64)  # in order, each once

    def add(self, ends: np.ndarray) -> None:
        """Take times."""
        fresh = np.unique(ends)
        if len(fresh) and (not len(self.times) or fresh[0] > self.times[-1]):
            self.times = np.concatenate([self.times, fresh])
        elif len(fresh):
            self.times = np.union1d(self.times, fresh)

    def any_inside(self, low: int, high: int) -> bool:
        """Tell whether a time is in a window, and forget those that are older."""
        gone = int(np.searchsorted(self.times, low, "right"))
        if gone:
            self.times = self.times[gone:]
        return bool(len(self.times)) and bool(self.times[0] <= high)


class Changes:
    """When the set of triples in some window changes, by entering or leaving."""

    def __init__(self) -> None:
        self.there: dict[tuple[int, ...], int] = {}  # (window, leaf, terms …) -> when it leaves
        self._coming: list[tuple[int, int, tuple[int, ...], int]] = []  # (when, what, triple, when it leaves): a heap

    def add(self, window: int, extent: Extent, leaf: int, rows: np.ndarray) -> None:
        """Take rows of start, end and terms."""
        for _, end, *terms in rows.tolist():
            when, until = enters(extent, end), leaves(extent, end)
            if when < until:
                heappush(self._coming, (when, _ENTERS, (window, leaf, *terms), until))

    @property
    def next(self) -> int:
        """The next time at which something enters or leaves."""
        return self._coming[0][0] if self._coming else NEVER

    def go_to(self, time: int) -> bool:
        """Let triples enter and leave that do so at a time; tell whether the set has changed."""
        changed = False
        while self._coming and self._coming[0][0] == time:
            _, what, triple, until = heappop(self._coming)
            if what == _ENTERS:
                changed |= triple not in self.there
                if until > self.there.get(triple, until - 1):
                    self.there[triple] = until
                    if until < NEVER:
                        heappush(self._coming, (until, _LEAVES, triple, until))
            elif self.there.get(triple) == time:
                del self.there[triple]
                changed = True
        return changed

    def state(self, width: int) -> dict[str, np.ndarray]:
        """Return all as arrays; a triple has at most `width` terms."""
        there = [(until, *_filled(triple, width)) for triple, until in self.there.items()]
        coming = [(when, what, until, *_filled(triple, width)) for when, what, triple, until in self._coming]
        return {
            "there": np.array(there, dtype=np.int64).reshape(-1, width + 4),
            "coming": np.array(coming, dtype=np.int64).reshape(-1, width + 6),
        }

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Take over such arrays."""
        self.there = {_triple(row[1:]): row[0] for row in state["there"].tolist()}
        self._coming = [(row[0], row[1], _triple(row[3:]), row[2]) for row in state["coming"].tolist()]
        heapify(self._coming)


def _filled(triple: tuple[int, ...], width: int) -> tuple[int, ...]:
    """Return a triple with its number of terms, filled up to one length."""
    return len(triple), *triple, *(0 for _ in range(width + 2 - len(triple)))


def _triple(row: list[int]) -> tuple[int, ...]:
    return tuple(row[1 : 1 + row[0]])
