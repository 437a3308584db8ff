"""Doubt arrivals dated far ahead of all before them: the next one tells whether there was a gap or a wrong clock.

Data's way: the ends of arrivals -> **a verdict for each** -> order (`windows/order.py`), merge of readers.
One item dated far in the future would expire all state and make the rest late, so it waits for the next arrival of
another END.  If that is nearer to it than to the newest accepted one, there was a gap; else its clock was wrong.

Invariant: where one block of arrivals ends and the next starts makes no difference, if doubted arrivals are judged
again at the head of the next.
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
ACCEPTED, LATE, FUTURE, DOUBTED = range(4)  # verdicts on an arrival


class Doubt:
    """The rule for arrivals that are far ahead of all before them."""

    def __init__(self, bound: int, now: Callable[[], int] | None = None) -> None:
        self.bound = bound  # microseconds; an arrival ahead by no more is not doubted; FAR: none is doubted
        self.now = now  # the clock, for the first arrival; None: that is believed, whatever its time
        self.of_first = False  # whether the first arrival has to wait for the next, whatever its time

    def doubts_first(self, end: int) -> bool:
        """Tell whether an arrival has to wait for the next, if it is the first of all."""
        if self.bound == FAR:
            return False
        return self.of_first or (self.now is not None and end > self.now() + self.bound)

    def verdicts(
        self, ends: Ends, newest: int | None, *, lateness: int, floor: int = BEGINNING, last: bool = False
    ) -> Verdicts | None:
        """Return the verdict on each arrival; None if all are accepted.

        `newest` is the greatest END accepted before; an arrival more than `lateness` behind the newest, or before
        the `floor`, is late.  Behind the `last` arrivals none comes that could refute a doubt.

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
        """Return the verdicts where some arrival is doubted, which is seldom."""
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
        """Tell whether an arrival confirms the doubted one; it must not be far behind if that is the first of all."""
        return end >= time - self.bound if newest is None else end - newest > time - end
