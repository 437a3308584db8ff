"""How an explanation tells times: as the user's clock does, and within one day without the day.

Where it stands: beside data's way; it makes text of microseconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from retewave.viz.explain.names import spell_window
from retewave.windows import durations
from retewave.windows.times import Clock, Instant

__all__ = ["TimeWords"]

_DAYS = ("datetime", "datetime64", "text")  # clocks that tell the day


@dataclass(frozen=True)
class TimeWords:
    """Words for the times of one match."""

    clock: Clock  # the user's
    one_day: bool  # all of the match's times are of one day: arithmetic leaves it out

    @classmethod
    def of(cls, clock: Clock, times: Iterable[int]) -> TimeWords:
        """Return the words for some times."""
        days = {str(clock.decode(time))[:10] for time in times} if clock.kind in _DAYS else set()
        return cls(clock, len(days) == 1)

    def instant(self, time: int) -> Instant:
        """Return a time as the user's clock tells it."""
        return self.clock.decode(time)

    def short(self, time: int) -> str:
        """Return a time for arithmetic.

        >>> TimeWords.of(Clock("text"), [0]).short(60_000_000), TimeWords.of(Clock("int"), [0]).short(60_000_000)
        ('00:01:00', '60')
        """
        told = str(self.clock.decode(time))
        return told[11:19] + _fraction(told) if self.one_day else told

    def length(self, start: int, end: int, width: int) -> str:
        """Return how long an interval is, and that this is within a width.

        >>> TimeWords(Clock("int"), False).length(1_000_000, 3_000_000, 5_000_000)
        '3 − 1 = 2s ≤ 5s'
        """
        most = spell_window(width)
        bound = f"< {most.removeprefix('less than ')}" if most.startswith("less") else f"≤ {most}"
        return f"{self.short(end)} − {self.short(start)} = {durations.spell(end - start)} {bound}"


def _fraction(told: str) -> str:
    """Return the fraction of a second that a date and time has, with its point.

    >>> _fraction("2012-07-16T10:00:00.250+00:00"), _fraction("2012-07-16T10:00:00Z")
    ('.250', '')
    """
    rest = told[19:]
    return rest[: next((i for i, each in enumerate(rest) if each not in ".0123456789"), len(rest))]
