"""The triples behind the solutions of a view that is explained, as long as they may be in a window.

Data's way: output rows of the network -> **evidence** -> derivations (`retewave.views.derivations`).
The network tells of each solution the triples that made it (`Told`).  Which of its columns do so changes with the
queries that are registered, so they are put in one order when they come.
Invariant: whatever has left its window for good is forgotten.  A view that is not explained has none of this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from retewave.compiler.plan.producers import EXPLAINED, Told
from retewave.compiler.rewrite.leaves import ViewLeaves
from retewave.provenance.derivation import PartSolution
from retewave.provenance.made_of import Sources, place_of
from retewave.windows.intervals import BEFORE_ALL

__all__ = ["Evidence", "Witnesses"]

_START, _END, _EVENT, _TERMS = 0, 1, 2, 3  # columns: start, end and event of a solution, then its terms, then the told


class Evidence:
    """The triples behind the solutions of each part of a view."""

    def __init__(self, number: int, split: ViewLeaves, sources: Sources, bounds: Callable[[int, int], tuple[int, int]]):
        self._number, self._split, self.sources = number, split, sources
        self._bounds = bounds  # of a window, by its number, at a time
        self._widths = [len(leaf.variables) for leaf in split.leaves]
        patterns = [len(branch.leaves) for branch in split.branches]
        self._rows = [
            np.zeros((0, _TERMS + width + len(EXPLAINED) * count), dtype=np.int64)
            for width, count in zip(self._widths, patterns, strict=True)
        ]
        self._new: list[list[np.ndarray]] = [[] for _ in split.leaves]

    def add(self, leaf: int, times: np.ndarray, events: np.ndarray, terms: np.ndarray, rows: np.ndarray) -> None:
        """Take solutions of a part, with the output rows that they came in."""
        output = self.sources.outputs[self._number, leaf]
        patterns = range(len(self._split.branches[leaf].leaves))
        places = [place_of(output.told[Told(pattern, what)]) for pattern in patterns for what in EXPLAINED]
        self._new[leaf].append(np.column_stack([times, events, terms, rows[:, places]]))

    def inside(self, leaf: int, time: int) -> Witnesses:
        """Return what a part's window has at a time; what has left it is forgotten."""
        window = self._split.leaves[leaf].window
        low, high = (BEFORE_ALL, time) if window is None else self._bounds(window, time)
        rows = self._all(leaf)
        self._rows[leaf] = rows = rows[rows[:, _START] > low]
        return Witnesses(leaf, rows[rows[:, _END] <= high], self._widths[leaf])

    def _all(self, leaf: int) -> np.ndarray:
        if self._new[leaf]:
            self._rows[leaf] = np.concatenate([self._rows[leaf], *self._new[leaf]])
            self._new[leaf].clear()
        return self._rows[leaf]

    @property
    def held(self) -> list[np.ndarray]:
        """All terms that it has, with other numbers among them."""
        return [self._all(leaf)[:, _TERMS:] for leaf in range(len(self._rows))]

    def state(self) -> dict[str, np.ndarray]:
        """Return all of it."""
        return {f"evidence{leaf}": self._all(leaf) for leaf in range(len(self._rows))}

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Take over all of another."""
        self._rows = [state[f"evidence{leaf}"] for leaf in range(len(self._rows))]
        self._new = [[] for _ in self._rows]


class Witnesses:
    """The solutions of one part that are in its window at a report."""

    def __init__(self, leaf: int, rows: np.ndarray, width: int) -> None:
        self._leaf, self._rows, self._told = leaf, rows, _TERMS + width
        self._places: dict[tuple[int, ...], int] | None = None  # of the latest solution with these terms

    def of(self, terms: tuple[int, ...]) -> PartSolution:
        """Return the latest solution with some terms."""
        return self._solved(self._rows[self._latest[terms]])

    def of_event(self, event: int, known: Mapping[int, int]) -> PartSolution:
        """Return a solution of one event that has some terms, by their places."""
        rows = self._rows[self._rows[:, _EVENT] == event]
        fits = np.ones(len(rows), dtype=np.bool_)
        for place, term in known.items():
            fits &= rows[:, _TERMS + place] == term
        return self._solved(rows[fits][0])

    def _solved(self, row: np.ndarray) -> PartSolution:
        return PartSolution(self._leaf, tuple(row[self._told :].tolist()))

    def end_of(self, terms: tuple[int, ...]) -> int | None:
        """Return when the latest solution with some terms ended; None: there is none."""
        place = self._latest.get(terms)
        return None if place is None else int(self._rows[place, _END])

    @property
    def _latest(self) -> dict[tuple[int, ...], int]:
        if self._places is None:
            order = np.argsort(self._rows[:, _START], kind="stable")
            terms = self._rows[order, _TERMS : self._told].tolist()
            self._places = {tuple(row): place for row, place in zip(terms, order.tolist(), strict=True)}
        return self._places
