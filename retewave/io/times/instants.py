"""One event an instant: all statements of a source that have one time are one event.

Data's way: rows with times -> **rows whose event is their instant** -> network.
Invariant: where chunks end makes no difference, as long as a time does not come again behind `KEPT` later times.
Left out: what tells the time, which is the times' that it stands behind.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from retewave.errors import UsageError
from retewave.io.reading.position import TimesState
from retewave.io.times.times import Times
from retewave.rete.words.rows import END, EVENT

__all__ = ["OneEventAnInstant"]

KEPT = 1 << 16  # instants whose event is known: the latest
_ENDS, _EVENTS, _LAST = "instants.ends", "instants.events", "instants.last"


class OneEventAnInstant:
    """Times that number events by their instants."""

    def __init__(self, times: Times, last_event: int) -> None:
        self.untimed, self.first_untimed = times.untimed, times.first_untimed
        self._times = times
        self._ends = np.zeros(0, np.int64)  # of the latest instants, in order
        self._events = np.zeros(0, np.int64)  # their events' numbers
        self._last = last_event  # the last number taken

    def held(self) -> np.ndarray:
        """Return the ids in rows that wait for their time."""
        return self._times.held()

    def place(self, raw: np.ndarray, first: int) -> np.ndarray:
        """Return the rows whose time is known, each with the event of its instant."""
        rows = self._times.place(raw, first)
        self._account()
        if len(rows):
            rows[:, EVENT] = -self._numbers(rows[:, END])
        return rows

    @property
    def tells(self) -> bool:
        """Whether some rows have been without a triple."""
        return self._times.tells

    def newest(self, rows: np.ndarray, settled: int) -> int | None:
        """Return the latest time that no row tells."""
        return self._times.newest(rows, settled)

    def _numbers(self, ends: np.ndarray) -> np.ndarray:
        """Return the number of each end's event; new ends get the next numbers, in their order."""
        changes = np.flatnonzero(np.diff(ends, prepend=ends[0] - 1))
        of_run = ends[changes]  # statements come in runs of one time
        used, where = np.unique(of_run, return_inverse=True)
        fresh = used[~np.isin(used, self._ends, assume_unique=True)]
        known = np.concatenate([self._ends, fresh])
        events = np.concatenate([self._events, self._last + 1 + np.arange(len(fresh))])
        self._last += len(fresh)
        order = np.argsort(known, kind="stable")
        known, events = known[order], events[order]
        self._ends, self._events = known[-KEPT:], events[-KEPT:]
        of_used = events[np.searchsorted(known, used)]
        found: np.ndarray = np.repeat(of_used[where], np.diff(changes, append=len(ends)))
        return found

    def finish(self) -> None:
        """Give up the rows that still wait, at the source's end."""
        self._times.finish()
        self._account()

    def state(self) -> TimesState:
        """Return the state of the times, and the latest instants with their events."""
        own = {_ENDS: self._ends, _EVENTS: self._events, _LAST: np.array([self._last])}
        return {**self._times.state(), **own}

    def go_on(self, state: TimesState, first_untimed: Sequence[str]) -> None:
        """Take over the state of another pass."""
        self._times.go_on(state, first_untimed)
        self._account()
        if _LAST not in state:
            raise UsageError("the position is of a reader whose events were made in another way")
        self._ends, self._events, self._last = state[_ENDS], state[_EVENTS], int(state[_LAST][0])

    def _account(self) -> None:
        """Take over what the times know of rows without a time."""
        self.untimed, self.first_untimed = self._times.untimed, self._times.first_untimed
