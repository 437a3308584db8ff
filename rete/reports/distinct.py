"""DISTINCT: which matches are new, by the support of each distinct row.

A distinct row is reported when its support goes from none to one: when no earlier match with the same columns is alive.
A match is alive while now - (its window start) <= width, so the latest window start of a row's matches is all that must
be kept of them.

Invariant: a row that is found in the table and alive is not reported again; one that has died is as good as new.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from retewave.rete.memory.arena import mix
from retewave.rete.words.jit import kernel

__all__ = ["NEVER", "Support", "place_of"]

NEVER = -(1 << 63)  # the latest start of an empty place


@kernel
def place_of(keys, latest, columns, row):  # type: ignore[no-untyped-def]
    """Return where a row is in the table, or where it would go."""
    h = np.int64(0)
    for c in range(columns.shape[1]):
        h = mix(h, columns[row, c])
    mask = latest.size - 1
    place = h & mask
    while latest[place] != NEVER:
        same = True
        for c in range(columns.shape[1]):
            same = same and keys[place, c] == columns[row, c]
        if same:
            break
        place = (place + 1) & mask
    return place


@kernel
def _report(keys, latest, columns, window_starts, ends, width, mask):  # type: ignore[no-untyped-def]
    """Set the mask of rows to report; return how many places of the table were taken."""
    taken = 0
    for row in range(columns.shape[0]):
        place = place_of(keys, latest, columns, row)
        if latest[place] == NEVER:
            taken += 1
            mask[row] = True
            latest[place] = window_starts[row]
            for c in range(columns.shape[1]):
                keys[place, c] = columns[row, c]
        else:
            mask[row] = ends[row] - latest[place] > width
            latest[place] = max(latest[place], window_starts[row])
    return taken


@kernel
def _copy_living(keys, latest, new_keys, new_latest, now, width):  # type: ignore[no-untyped-def]
    living = 0
    for old in range(latest.size):
        if latest[old] != NEVER and now - latest[old] <= width:
            place = place_of(new_keys, new_latest, keys, old)
            new_latest[place] = latest[old]
            new_keys[place] = keys[old]
            living += 1
    return living


@dataclass
class Support:
    """The distinct rows of one query that are alive, or were not long ago."""

    width: int  # the query's window
    keys: np.ndarray  # int64[places, columns]
    latest: np.ndarray  # int64[places]: the latest window start of a row's matches
    taken: int = 0  # places that are not empty
    follows = True  # from the rows that are alive
    terms = frozenset({"keys"})  # the arrays of its state that hold terms

    @classmethod
    def empty(cls, columns: int, width: int) -> Support:
        """Return the support of a query before any match."""
        return cls(width, np.zeros((64, columns), dtype=np.int64), np.full(64, NEVER, dtype=np.int64))

    def __len__(self) -> int:
        return self.taken

    def new(self, columns: np.ndarray, window_starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Take matches in time order; return the mask of those that are to be reported."""
        mask = np.zeros(len(columns), dtype=np.bool_)
        if len(columns) == 0:
            return mask
        if 2 * (self.taken + len(columns)) > len(self.latest):
            self._make_room(int(ends[0]), len(columns))
        columns, window_starts = np.ascontiguousarray(columns), np.ascontiguousarray(window_starts)
        ends = np.ascontiguousarray(ends)
        self.taken += _report(self.keys, self.latest, columns, window_starts, ends, self.width, mask)
        return mask

    def advance(self, now: int) -> None:
        """Drop the rows that are dead."""
        self._make_room(now, 0)

    def _make_room(self, now: int, room: int) -> None:
        """Drop the rows that are dead, and make room for `room` more."""
        living = int(np.count_nonzero((self.latest != NEVER) & (now - self.latest <= self.width)))
        size = 64
        while size < 4 * (living + room):
            size *= 2
        keys = np.zeros((size, self.keys.shape[1]), dtype=np.int64)
        latest = np.full(size, NEVER, dtype=np.int64)
        self.taken = _copy_living(self.keys, self.latest, keys, latest, now, self.width)
        self.keys, self.latest = keys, latest

    def state(self) -> dict[str, np.ndarray]:
        """Return the table, for a snapshot."""
        return {"keys": self.keys, "latest": self.latest}

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Take over the state in a snapshot."""
        self.keys, self.latest = state["keys"], state["latest"]
        self.taken = int(np.count_nonzero(self.latest != NEVER))

    def mark(self, marks: np.ndarray) -> None:
        """Mark those of the first terms that its rows hold."""
        terms = self.keys[self.latest != NEVER]
        marks[terms[terms < len(marks)]] = 1
