"""Doubt what is dated far ahead of all before it: there was a gap, or its clock was wrong, and what comes next tells.

Data's way: the ends of arrivals -> **what becomes of each** -> order (`windows/order.py`), merge of readers.
One item dated far in the future would expire all state and make the rest late, so it waits for the next arrival of
another END.  If that is nearer to it than to what was accepted before, there was a gap; else its clock was wrong.

Invariant: where one block of arrivals ends and the next starts makes no difference, if what is doubted is judged again
at the head of the next.
Left out: two wrong items one behind the other, which confirm each other.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from retewave.windows.waiting import late

__all__ = ["ACCEPTED", "BEGINNING", "DOUBTED", "FAR", "FUTURE", "LATE", "Doubt"]

Ends = NDArray[np.int64]
Verdicts = NDArray[np.int8]

FAR = 2**62  # further than any two times are apart
BEGINNING = -FAR  # earlier than every time
ACCEPTED, LATE, FUTURE, DOUBTED = range(4)  # what an arrival may be


class Doubt:
    """What is far ahead, and what is to be thought of it."""

    def __init__(self, bound: int, now: Callable[[], int] | None = None) -> None:
        self.bound = bound  # microseconds: what is ahead by no more is not doubted; FAR: nothing is
        self.now = now  # the clock, for the first arrival; None: that is believed, whatever its time
        self.of_first = False  # whether the first arrival has to wait for the next, whatever its time

    def doubts_first(self, end: int) -> bool:
        """Say whether an arrival has to wait for the next, if it is the first of all."""
        if self.bound == FAR:
            return False
        return self.of_first or (self.now is not None and end > self.now() + self.bound)

    def verdicts(
        self, ends: Ends, newest: int | None, *, lateness: int, floor: int = BEGINNING, last: bool = False
    ) -> Verdicts | None:
        """Return what becomes of each arrival; None if all are accepted.

        `newest` is the greatest END accepted before; what is more than `lateness` behind the newest, or before the
        `floor`, is late.  Behind the `last` arrivals nothing comes that could refute what is doubted.

        >>> Doubt(bound=10).verdicts(np.array([0, 99, 1, 50, 51]), None, lateness=0).tolist()
        [0, 2, 0, 0, 0]
        """
        first = int(ends[0])
        if newest is None and self.doubts_first(first):
            return self._one_by_one(ends, newest, lateness, floor, last)
        base = first if newest is None else newest
        before = np.empty_like(ends)  # the greatest END before each
        before[0] = base
        np.maximum(np.maximum.accumulate(ends[:-1]), base, out=before[1:])
        if (ends - before > self.bound).any():
            return self._one_by_one(ends, newest, lateness, floor, last)
        behind = late(ends, np.maximum(before - lateness, floor), closed=False)
        return np.where(behind, LATE, ACCEPTED).astype(np.int8) if behind.any() else None

    def _one_by_one(self, ends: Ends, newest: int | None, lateness: int, floor: int, last: bool) -> Verdicts:
        """Return the same where something is doubted, which is seldom."""
        verdicts = np.zeros(len(ends), np.int8)
        doubted, time = 0, 0  # how many arrivals before the one at hand, and their END
        for place, end in enumerate(ends.tolist()):
            if doubted and end == time:
                doubted += 1
                continue
            if doubted:
                believed = self._confirms(end, time, newest)
                verdicts[place - doubted : place] = ACCEPTED if believed else FUTURE
                newest, doubted = time if believed else newest, 0
            if self.doubts_first(end) if newest is None else end > newest + self.bound:
                doubted, time = 1, end
            elif newest is not None and end < max(newest - lateness, floor):
                verdicts[place] = LATE
            else:
                newest = end if newest is None else max(newest, end)
        verdicts[len(ends) - doubted :] = ACCEPTED if last else DOUBTED
        return verdicts

    def _confirms(self, end: int, time: int, newest: int | None) -> bool:
        """Say whether an arrival confirms what is doubted; for the first of all, it must not be far behind."""
        return end >= time - self.bound if newest is None else end - newest > time - end
