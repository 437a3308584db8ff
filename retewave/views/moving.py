"""When the triples change in a window whose bounds depend on the items that come.

Data's way: output rows of the network, the window's bounds -> **the triples in it** -> report times.
Both bounds never go back, so each arrival enters once and leaves once, in the order of time.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from heapq import heappop, heappush

import numpy as np

from retewave.compiler.algebra import Extent
from retewave.views.bounds import NEVER, bounds, enters, leaves
from retewave.views.history import History

__all__ = ["MovingTriples"]

_Triple = tuple[int, ...]  # number of the leaf, terms


class MovingTriples:
    """The arrivals that are in one window, or may come into it."""

    def __init__(self, extent: Extent, history: History) -> None:
        self._extent, self._history = extent, history
        self._coming: list[tuple[int, _Triple]] = []  # with their times: a heap
        self._inside: deque[tuple[int, _Triple]] = deque()  # in the order of times
        self._there: Counter[_Triple] = Counter()

    def add(self, leaf: int, rows: np.ndarray) -> None:
        """Take rows of start, end and terms."""
        for _, end, *terms in rows.tolist():
            if enters(self._extent, end) < NEVER:
                heappush(self._coming, (end, (leaf, *terms)))

    @property
    def is_empty(self) -> bool:
        """Tell whether no triple is in the window."""
        return not self._inside

    def next(self, at: int) -> int:
        """Return the first time after another at which the set may change."""
        found = self._history.next_instant(at) if self._inside or self._coming else NEVER
        if self._coming:
            found = min(found, max(enters(self._extent, self._coming[0][0]), at + 1))
        if self._inside:
            found = min(found, max(leaves(self._extent, self._inside[0][0]), at + 1))
        return found

    def go_to(self, time: int) -> bool:
        """Let triples enter and leave up to a time; tell whether the set has changed."""
        low, high = bounds(self._extent, time, self._history)
        before: dict[_Triple, bool] = {}
        while self._coming and self._coming[0][0] <= high:
            end, triple = heappop(self._coming)
            before.setdefault(triple, self._there[triple] > 0)
            self._inside.append((end, triple))
            self._there[triple] += 1
        while self._inside and self._inside[0][0] <= low:
            _, triple = self._inside.popleft()
            before.setdefault(triple, True)
            self._there[triple] -= 1
            if not self._there[triple]:
                del self._there[triple]
        return any(was != (triple in self._there) for triple, was in before.items())

    def all(self) -> Iterable[tuple[int, ...]]:
        """Yield time, leaf and terms of all arrivals that it knows."""
        for end, triple in (*self._inside, *sorted(self._coming)):
            yield end, *triple

    def put(self, rows: Iterable[tuple[int, ...]], at: int) -> None:
        """Take over rows, as `all` yielded them at a time."""
        self._coming, self._inside = [], deque()
        self._there.clear()
        for end, *triple in rows:
            heappush(self._coming, (end, tuple(triple)))
        self.go_to(at)
