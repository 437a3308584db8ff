"""What a view with MATCH keeps: the solutions of its event patterns, and which events are used up.

Data's way: output rows of the network -> **solutions with their events** -> MATCH (`retewave.views.matching`).
Invariant: what has left its window for good is forgotten, and so are used-up events of which nothing is kept.
"""

from __future__ import annotations

import numpy as np

from retewave.compiler.rewrite.leaves import SingleEventFound
from retewave.views.matching import EventSolutions
from retewave.views.relation import Bag

__all__ = ["Happened"]


class Happened:
    """The solutions of one event pattern."""

    def __init__(self, columns: int) -> None:
        self._rows = np.zeros((0, columns + 3), dtype=np.int64)  # start, end, event, terms
        self._new: list[np.ndarray] = []

    def add(self, rows: np.ndarray) -> None:
        """Take rows of start, end, event and terms."""
        self._new.append(rows)

    def inside(self, each: SingleEventFound, low: int, high: int, spent: np.ndarray) -> EventSolutions:
        """Return the solutions in a window of events that are not used up; forget those that are older."""
        rows = self.all()
        self._rows = rows[rows[:, 1] > low]
        found = self._rows[(self._rows[:, 1] <= high) & ~np.isin(self._rows[:, 2], spent)]
        ends, events = found[:, 1], found[:, 2:3]
        return EventSolutions(
            Bag(each.variables, found[:, 3:]), np.zeros(len(found), dtype=np.int64), ends, ends, events
        )

    def all(self) -> np.ndarray:
        """Return all rows."""
        if self._new:
            self._rows = np.concatenate([self._rows, *self._new])
            self._new.clear()
        return self._rows

    def put(self, rows: np.ndarray) -> None:
        """Take over such rows."""
        self._rows = rows
        self._new.clear()
