"""How an explanation tells times: as the user's clock does, and within one day without the day.

Where it stands: beside data's way; it makes text of microseconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from retewave.viz.explain.names import spell_window
from retewave.windows import durations
from retewave.windows.times import Clock, Instant, format_datetime, spell_instant

__all__ = ["TimeWords"]

MINUTE, DAY = 60_000_000, 86_400_000_000  # microseconds
_DAYS = ("datetime", "datetime64", "text")  # clocks that tell the day


@dataclass(frozen=True)
class TimeWords:
    """Words for the times of one match."""

    clock: Clock  # the user's
    one_day: bool  # all of the match's times are of one day: arithmetic leaves it out

    @classmethod
    def of(cls, clock: Clock, times: Iterable[int]) -> TimeWords:
        """Return the words for some times."""
        days = {format_datetime(time).partition("T")[0] for time in times} if clock.kind in _DAYS else set()
        return cls(clock, len(days) == 1)

    def instant(self, time: int) -> Instant:
        """Return a time as the user's clock tells it."""
        return self.clock.decode(time)

    def short(self, time: int) -> str:
        """Return a time for arithmetic.

        >>> TimeWords.of(Clock("text"), [0]).short(60_000_000), TimeWords.of(Clock("int"), [0]).short(60_000_000)
        ('00:01:00', '60')
        """
        told = spell_instant(self.clock.decode(time))
        return told.partition("T")[2].rstrip("Z") if self.one_day else told

    def tick(self, time: int, step: int) -> str:
        """Return a time for an axis whose ticks are a step apart: whole days, or the time of day as far as it differs.

        >>> TimeWords(Clock("text"), False).tick(86_400_000_000, 86_400_000_000)
        '1970-01-02'
        >>> TimeWords(Clock("text"), False).tick(86_400_000_000, 3_600_000_000)
        '01-02 00:00'
        """
        told = self.short(time)
        if self.one_day or self.clock.kind not in _DAYS:
            return told
        day, _, rest = told.partition("T")
        if step % DAY == 0:
            return day
        return f"{day[-5:]} {rest[:5] if step % MINUTE == 0 else rest.rstrip('Z')}"

    def length(self, start: int, end: int, width: int) -> str:
        """Return how long an interval is, and that this is within a width.

        >>> TimeWords(Clock("int"), False).length(1_000_000, 3_000_000, 5_000_000)
        '3 − 1 = 2s ≤ 5s'
        """
        most = spell_window(width)
        bound = f"< {most.removeprefix('less than ')}" if most.startswith("less") else f"≤ {most}"
        return f"{self.short(end)} − {self.short(start)} = {durations.spell(end - start)} {bound}"
