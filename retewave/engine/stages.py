"""Stages: what the kernel's output goes through before it leaves as matches; all have one shape.

Data's way: output rows of one query -> **stage -> stage -> …** -> a batch of matches.
The first stage of every query decides (`retewave/engine/deciding.py`); each one behind it reports: it remembers what a
query has told and says which of the solutions that are there now are to be told, too.  DISTINCT is one of these.

Invariant: a stage lets solutions pass or keeps them back, and never changes their order.  What a report stage remembers
is a state with an identity (`retewave/engine/states.py`): it is bounded by time, outlives a change of the queries,
spares its terms from sweeps, and is part of snapshots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from retewave.engine.states import State
from retewave.query import Query
from retewave.rete.words import layout

__all__ = ["Once", "Report", "Reporting", "Solutions", "Stage"]


class Solutions(NamedTuple):
    """Solutions of one query, as far as the stages have come (a tuple, which is soon made)."""

    query: Query  # whose they are
    rows: np.ndarray  # int64[n, …]: the kernel's output rows
    places: np.ndarray  # int64[n]: where they stood among the rows of all queries
    columns: np.ndarray  # int64[n, variables]: ids by the query's `columns`; none before it is decided
    ahead: bool = False  # a flush asks: they are so if nothing more comes

    def only(self, kept: np.ndarray) -> Solutions:
        """Return those that a mask keeps."""
        if kept.all():
            return self
        return Solutions(self.query, self.rows[kept], self.places[kept], self.columns[kept], self.ahead)


class Stage(Protocol):
    """One step on the way from output rows to matches."""

    def take(self, found: Solutions) -> Solutions:
        """Return what passes, in its order."""


class Report(State, Protocol):
    """What a report stage remembers of one query's solutions."""

    def __len__(self) -> int:
        """Return how many things are remembered."""

    def new(self, columns: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Take solutions in time order, with the starts that the window sees; return the mask of those to report."""


class Reporting:
    """A stage that lets pass what its memory says is to be reported."""

    def __init__(self, report: Report, keys: Sequence[int]) -> None:
        self.report = report  # what is remembered
        self.suppressed = 0  # solutions that were not reported
        self._keys = list(keys)  # the columns that the memory is told

    def take(self, found: Solutions) -> Solutions:
        """Return what is to be reported."""
        if len(found.rows) == 0:
            return found
        starts, ends = found.rows[:, layout.O_WINDOW_START], found.rows[:, layout.O_END]
        reported = found.only(self.report.new(self._compared(found), starts, ends))
        self.suppressed += len(found.rows) - len(reported.rows)
        return reported

    def _compared(self, found: Solutions) -> np.ndarray:
        """Return the columns in which solutions are compared."""
        return found.columns[:, self._keys]

    @property
    def follows(self) -> bool:
        """Tell whether what is remembered follows from the rows that are alive."""
        return self.report.follows

    @property
    def terms(self) -> frozenset[str]:
        """Return which arrays of its state hold terms."""
        return self.report.terms

    def advance(self, now: int) -> None:
        """Forget what cannot matter any more once the time is `now`."""
        self.report.advance(now)

    def mark(self, marks: np.ndarray) -> None:
        """Mark those of the first terms that are remembered."""
        self.report.mark(marks)

    def state(self) -> dict[str, np.ndarray]:
        """Return all that is remembered and counted."""
        return {**self.report.state(), "suppressed": np.array([self.suppressed])}

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Remember what such a stage remembered, and nothing else."""
        self.report.put(state)
        self.suppressed = int(state["suppressed"][0])


class Once(Reporting):
    """A stage that lets each solution pass once: of those with the same terms and the same interval, the first."""

    def _compared(self, found: Solutions) -> np.ndarray:
        times = found.rows[:, [layout.O_START, layout.O_END]]
        return np.concatenate([found.columns[:, self._keys], times], axis=1)
