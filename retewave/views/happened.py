"""Solutions whose times a report asks for: those of event patterns, and the triples that f:timestamp looks at.

Data's way: output rows of the network -> **solutions with their events and times** -> MATCH, f:timestamp.
Invariant: a solution that has left its window for good is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from retewave.compiler.rewrite.leaves import SingleEventFound, TimesFound
from retewave.rete.terms.dictionary import Terms
from retewave.views.matching import EventSolutions
from retewave.views.relation import Bag, first_places

__all__ = ["Happened", "times_of"]

_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"


def latest_of(rows: np.ndarray) -> np.ndarray:
    """Return, of rows of a time and terms, the row with the latest time for each combination of terms."""
    ordered = rows[np.argsort(-rows[:, 0], kind="stable")]
    found: np.ndarray = ordered[first_places(ordered[:, 1:])]
    return found


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

    def latest(self, low: int, high: int) -> np.ndarray:
        """Return the different solutions in a window, each with its latest time before the terms; forget older ones."""
        rows = self.all()
        self._rows = rows[rows[:, 1] > low]
        found = self._rows[self._rows[:, 1] <= high]
        return latest_of(np.column_stack([found[:, 1], found[:, 3:]]))

    def all(self) -> np.ndarray:
        """Return all rows."""
        if self._new:
            self._rows = np.concatenate([self._rows, *self._new])
            self._new.clear()
        return self._rows

    def put(self, rows: np.ndarray) -> None:
        """Take over rows, as `all` returns them."""
        self._rows = rows
        self._new.clear()


def times_of(each: TimesFound, happened: Iterable[Happened], bounds: Iterable[tuple[int, int]], terms: Terms) -> Bag:
    """Return the triples in windows that f:timestamp asks for, with the times of their latest arrivals."""
    parts = [np.zeros((0, len(each.variables) + 1), dtype=np.int64)]
    parts += [one.latest(*between) for one, between in zip(happened, bounds, strict=True)]
    found = latest_of(np.concatenate(parts))
    texts = [f'"{when // 1000}"^^<{_INTEGER}>'.encode() for when in found[:, 0].tolist()]
    known = np.array([terms.intern(text) for text in texts], dtype=np.int64)
    return Bag((*each.variables, each.variable), np.column_stack([found[:, 1:], known]))
