"""The memory of a view between reports: solutions that may be in a window, and triples that come and go.

Data's way: output rows of the network -> **solutions, presence** -> relations and report times.
A solution that comes again lengthens the life of the equal one that is there (`rete/reports/lives.py`).
Invariant: whatever has left its window for good is forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from retewave.compiler.algebra import Extent
from retewave.rete.reports.lives import Lives
from retewave.rete.terms.kinds import Values
from retewave.views.bounds import NEVER, enters, grid_of, leaves, reach
from retewave.views.history import is_moved
from retewave.windows.intervals import AFTER_ALL, BEFORE_ALL

if TYPE_CHECKING:
    from retewave.views.grouping import KeptGroups

__all__ = ["Arrivals", "Changes", "LeafSolutions"]

_MOVED = 1 << 32  # microseconds for which a window that what comes moves has a cell for each stretch
_ENTERS, _LEAVES = 0, 1  # what happens to a triple; at one time all enter first


class LeafSolutions:
    """The different solutions of one leaf that are in its window, and those that may yet come into it."""

    def __init__(self, columns: int, extent: Extent | None, computed: int = 0, *, told: bool = True) -> None:
        """Keep solutions of some columns: terms, and computed ones behind these; without an extent for ever.

        `told`: somebody asks which have come and gone.
        """
        self._told = told
        self._shown = columns
        span, grid = (None, None) if extent is None else (reach((extent,)), grid_of(extent))
        if extent is not None and is_moved(extent):
            span = _MOVED
        self.lives = Lives(columns + computed, 0 if span is None else span + 1, grid)
        self._new = [np.zeros((0, columns + computed + 2), dtype=np.int64)]  # start, end and terms of what may come in
        self.came = self.gone = self._new[0][:, 2 : columns + 2]  # what has come and gone at the latest report
        self._there: np.ndarray | None = None  # all, if somebody has asked since the last change

    def add(self, rows: np.ndarray) -> None:
        """Take rows of start, end and terms."""
        self._new.append(rows)

    def advance(self, low: int, high: int, groupings: Sequence[KeptGroups], values: Values) -> None:
        """Let solutions come and go until the window has the times from behind `low` up to `high`."""
        lives = self.lives
        rows = np.concatenate(self._new) if len(self._new[0]) or len(self._new) > 2 else self._new[-1]
        touched, waiting = lives.enter(rows, low, high)
        self._new = [rows[waiting]] if len(waiting) else [rows[:0]]
        gone = lives.leave(low)
        for each in groupings:
            each.change(lives, touched, gone, values)
        if self._told:
            self.came, self.gone = self._terms(touched[touched > 0]), self._terms(gone)
        if len(gone):
            lives.give_back(gone)
        if len(touched) or len(gone):
            self._there = None
        for each in groupings:
            each.settle(lives, low)

    def there(self) -> np.ndarray:
        """Return the terms of all solutions in the window."""
        if self._there is None:
            self._there = self._terms(self.lives.there)
        return self._there

    def _terms(self, rows: np.ndarray) -> np.ndarray:
        """Return what rows bind."""
        return self.lives.terms(rows)[:, : self._shown]

    def waiting(self) -> np.ndarray:
        """Return start, end and terms of the solutions that may yet come in."""
        self._new = [np.concatenate(self._new)]
        return self._new[0]

    def put(self, there: np.ndarray, waiting: np.ndarray) -> None:
        """Begin with the solutions in the window, and with those that may come into it."""
        self.lives.enter(there, BEFORE_ALL, AFTER_ALL)
        self._new = [waiting]


class Arrivals:
    """The times of the triples that some pattern can use, in one window."""

    def __init__(self, cells: tuple[int, int] | None) -> None:
        """Begin with none; `cells`: the stretches within which all times are alike (`retewave.views.cells`)."""
        self.times = np.zeros(0, dtype=np.int64)  # in order, each once; of a stretch only its last
        self._cells = cells

    def add(self, ends: np.ndarray) -> None:
        """Take times."""
        if not len(ends):
            return
        if self._cells is not None:
            width, origin = self._cells
            ends = ends + (origin - ends) % width
        fresh = ends[np.append(True, ends[1:] != ends[:-1])]
        if (fresh[1:] < fresh[:-1]).any() or (len(self.times) and fresh[0] <= self.times[-1]):
            fresh = np.sort(np.concatenate([self.times, fresh]))
            self.times = fresh[np.append(True, fresh[1:] != fresh[:-1])]
        else:
            self.times = np.concatenate([self.times, fresh])

    def any_inside(self, low: int, high: int) -> bool:
        """Tell whether a time is in a window, and forget older times."""
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
        """The next time at which a triple enters or leaves."""
        return self._coming[0][0] if self._coming else NEVER

    def go_to(self, time: int) -> bool:
        """Let the triples enter and leave that do so at a time; tell whether the set has changed."""
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
