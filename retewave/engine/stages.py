"""Stages: the steps, all of one shape, that the kernel's output goes through before it leaves as matches.

Data's way: output rows of one query -> **stage -> stage -> …** -> a batch of matches.
The first stage of every query decides (`retewave/engine/deciding.py`).  Each stage behind it reports: it remembers the
solutions that a query has told and says which new solutions are told, too.  DISTINCT is such a stage.

Invariant: a stage lets solutions pass or keeps them back, and never changes their order.  The memory of a report stage
is a state with an identity (`retewave/engine/states.py`): it is bounded by time, outlives a change of the queries,
spares its terms from sweeps, and is part of snapshots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from retewave.engine.states import State
from retewave.provenance.groups import RunParts
from retewave.query import Query
from retewave.rete.words import layout

__all__ = ["Once", "ReportMemory", "Reporting", "Solutions", "Stage"]


class Solutions(NamedTuple):
    """Solutions of one query between two stages (a tuple, because that is made quickly)."""

    query: Query  # the query
    rows: np.ndarray  # int64[n, …]: the kernel's output rows
    places: np.ndarray  # int64[n]: where they stood among the rows of all queries
    columns: np.ndarray  # int64[n, variables]: ids by the query's `columns`; no columns before the first stage
    ahead: bool = False  # from a flush: they hold if nothing more comes
    parts: RunParts | None = None  # the events of their runs, if that is told; the rows' last column says which

    def only(self, kept: np.ndarray) -> Solutions:
        """Return the solutions that a mask keeps."""
        if kept.all():
            return self
        return Solutions(self.query, self.rows[kept], self.places[kept], self.columns[kept], self.ahead, self.parts)


class Stage(Protocol):
    """One step on the way from output rows to matches."""

    def take(self, found: Solutions) -> Solutions:
        """Return the solutions that pass, in their order."""


class ReportMemory(State, Protocol):
    """The memory of a report stage: the solutions that one query has told."""

    def __len__(self) -> int:
        """Return how many things are remembered."""

    def new(self, columns: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Take solutions in time order, with the starts that the window sees; return the mask of those to report."""


class Reporting:
    """A stage that lets those solutions pass that its memory reports."""

    def __init__(self, report: ReportMemory, keys: Sequence[int]) -> None:
        self.report = report  # the memory
        self.suppressed = 0  # solutions that were not reported
        self._keys = list(keys)  # the columns that the memory compares

    def take(self, found: Solutions) -> Solutions:
        """Return the solutions to report."""
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
        """Tell whether the memory follows from the live rows."""
        return self.report.follows

    @property
    def terms(self) -> frozenset[str]:
        """Return which arrays of its state hold terms."""
        return self.report.terms

    def advance(self, now: int) -> None:
        """Forget what cannot matter any more once the time is `now`."""
        self.report.advance(now)

    def mark(self, marks: np.ndarray) -> None:
        """Mark the remembered terms that `marks` has room for."""
        self.report.mark(marks)

    def state(self) -> dict[str, np.ndarray]:
        """Return all that is remembered and counted."""
        return {**self.report.state(), "suppressed": np.array([self.suppressed])}

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Take over the state of such a stage, and drop the own one."""
        self.report.put(state)
        self.suppressed = int(state["suppressed"][0])


class Once(Reporting):
    """A stage that lets only the first solution pass of those with the same terms and interval."""

    def _compared(self, found: Solutions) -> np.ndarray:
        times = found.rows[:, [layout.O_START, layout.O_END]]
        return np.concatenate([found.columns[:, self._keys], times], axis=1)

    def state(self) -> dict[str, np.ndarray]:
        """Return all that is remembered and counted, terms and times apart."""
        found = super().state()
        keys = found["keys"]
        return found | {"keys": keys[:, : len(self._keys)], "times": keys[:, len(self._keys) :]}

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Take over the state of such a stage, and drop the own one."""
        times = state["times"].reshape(-1, 2)
        keys = state["keys"].reshape(len(times), len(self._keys))
        super().put({**state, "keys": np.concatenate([keys, times], axis=1)})
