"""Cool-down: how many matches with one key were reported within a time.

A match is reported when fewer than `most` matches with its key were reported at its end or less than a width before it,
the bound included.  What is not reported counts for nothing.  A key keeps the ends of its last reports, as many as
`most`: if the earliest of these is over, or there are fewer than `most`, another match may be reported.

Invariant: whether a match of an instant is reported depends on how many there are, never on their order.  The end of a
match of static data alone is before all times: such matches bar each other, and none of the stream.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from retewave.rete.reports.distinct import NEVER, place_of
from retewave.rete.words.jit import kernel
from retewave.windows.intervals import EARLIEST

__all__ = ["CoolDown"]


@kernel
def _report(keys, latest, reports, turn, columns, ends, width, mask):  # type: ignore[no-untyped-def]
    """Set the mask of rows to report; return how many places of the table were taken."""
    taken = 0
    for row in range(columns.shape[0]):
        place = place_of(keys, latest, columns, row)
        if latest[place] == NEVER:
            taken += 1
            turn[place] = 0
            for r in range(reports.shape[1]):
                reports[place, r] = NEVER
            for c in range(columns.shape[1]):
                keys[place, c] = columns[row, c]
        first = reports[place, turn[place]]
        if first == NEVER or ends[row] - first > width:
            mask[row] = True
            latest[place] = ends[row]
            reports[place, turn[place]] = ends[row]
            turn[place] = (turn[place] + 1) % reports.shape[1]
    return taken


@kernel
def _enter(keys, latest, reports, turn, new_keys, new_reports):  # type: ignore[no-untyped-def]
    """Enter keys with the ends of their reports, earliest first, into an empty table."""
    for row in range(new_keys.shape[0]):
        place = place_of(keys, latest, new_keys, row)
        turn[place] = 0
        latest[place] = new_reports[row, new_reports.shape[1] - 1]
        for r in range(new_reports.shape[1]):
            reports[place, r] = new_reports[row, r]
        for c in range(new_keys.shape[1]):
            keys[place, c] = new_keys[row, c]


@dataclass
class CoolDown:
    """The reports of one query that are not over, or were not long ago."""

    width: int  # microseconds in which a report counts
    keys: np.ndarray  # int64[places, columns]
    latest: np.ndarray  # int64[places]: the end of the last report; NEVER in an empty place
    reports: np.ndarray  # int64[places, most]: the ends of the last ones, a ring; NEVER where there was none
    turn: np.ndarray  # int64[places]: the earliest of a ring
    taken: int = 0  # places that are not empty
    follows = False  # whether a match is reported depends on all matches before
    terms = frozenset({"keys"})  # the arrays of its state that hold terms

    @classmethod
    def empty(cls, columns: int, width: int, most: int) -> CoolDown:
        """Return the memory of a query before any match."""
        return cls(width, *_table(64, columns, most))

    def __len__(self) -> int:
        return self.taken

    def new(self, columns: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Take matches in time order; return the mask of those that are to be reported."""
        mask = np.zeros(len(columns), dtype=np.bool_)
        if len(columns) == 0:
            return mask
        if 2 * (self.taken + len(columns)) > len(self.latest):
            self._make_room(int(ends[0]), len(columns))
        columns, ends = np.ascontiguousarray(columns), np.ascontiguousarray(ends)
        self.taken += _report(self.keys, self.latest, self.reports, self.turn, columns, ends, self.width, mask)
        return mask

    def advance(self, now: int) -> None:
        """Drop the keys whose last report is over; before the stream, none is."""
        if now > EARLIEST:
            self._make_room(now, 0)

    def _make_room(self, now: int, room: int) -> None:
        """Drop the keys whose last report is over, and make room for `room` more."""
        self._put(*self._rows((self.latest != NEVER) & (now - self.latest <= self.width)), room)

    def _rows(self, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the keys in some places, and the ends of their reports, earliest first."""
        living = np.flatnonzero(kept)
        order = (self.turn[living, None] + np.arange(self.reports.shape[1])) % self.reports.shape[1]
        return self.keys[living], self.reports[living[:, None], order]

    def _put(self, keys: np.ndarray, reports: np.ndarray, room: int) -> None:
        """Become the table of some keys, with room for `room` more."""
        size = 64
        while size < 4 * (len(keys) + room):
            size *= 2
        self.keys, self.latest, self.reports, self.turn = _table(size, keys.shape[1], reports.shape[1])
        self.taken = len(keys)
        _enter(self.keys, self.latest, self.reports, self.turn, keys, reports)

    def state(self) -> dict[str, np.ndarray]:
        """Return the keys and the ends of their reports, for a snapshot."""
        keys, reports = self._rows(self.latest != NEVER)
        return {"keys": keys, "reports": reports}

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Take over the state in a snapshot."""
        self._put(np.ascontiguousarray(state["keys"]), np.ascontiguousarray(state["reports"]), 0)

    def mark(self, marks: np.ndarray) -> None:
        """Mark those of the first terms that its keys hold."""
        terms = self.keys[self.latest != NEVER]  # times among them are no terms, and do no harm
        marks[terms[(terms > 0) & (terms < len(marks))]] = 1


def _table(size: int, columns: int, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the arrays of an empty table."""
    keys = np.zeros((size, columns), dtype=np.int64)
    latest, turn = np.full(size, NEVER, dtype=np.int64), np.zeros(size, dtype=np.int64)
    return keys, latest, np.full((size, most), NEVER, dtype=np.int64), turn
