"""The stretch of time in which something was missing: as far as the bounds of a probe go.

Data's way: bounds of a probe, the times of a match -> **from when to when** -> words, a picture.
"""

from __future__ import annotations

from dataclasses import dataclass

from retewave.provenance.time_words import TimeWords
from retewave.windows.intervals import AFTER_ALL, BEFORE_ALL

__all__ = ["Absence"]


@dataclass
class Absence:
    """From when to when something did not come; a bound that is open is by a microsecond further inside.

    >>> from retewave.windows.times import Clock
    >>> absence, words = Absence(), TimeWords(Clock("int"), False)
    >>> absence.not_before(1_000_000, 1)
    >>> absence.not_behind(3_000_000, -2_000_000)
    >>> absence.said("?x e:gets 7", words)
    'no ?x e:gets 7 after 1 and up to 5'
    """

    first: int = BEFORE_ALL  # the earliest time at which it would have counted
    last: int = AFTER_ALL  # the latest
    first_open: bool = False  # `first` is a microsecond behind the bound
    last_open: bool = False  # `last` is a microsecond before the bound

    def not_before(self, time: int, gap: int) -> None:
        """Let nothing count before a time and a gap."""
        if time + gap > self.first:
            self.first, self.first_open = time + gap, gap == 1

    def not_behind(self, time: int, gap: int) -> None:
        """Let nothing count of which a time minus a gap is not the end at most."""
        if time - gap < self.last:
            self.last, self.last_open = time - gap, gap == 1

    def said(self, what: str, words: TimeWords) -> str:
        """Return the absence in words."""
        bounds = []
        if self.first > BEFORE_ALL:
            time = words.short(self.first - self.first_open)
            bounds.append(f"after {time}" if self.first_open else f"from {time} on")
        if self.last < AFTER_ALL:
            time = words.short(self.last + self.last_open)
            bounds.append(f"before {time}" if self.last_open else f"up to {time}")
        return " ".join([f"no {what}", " and ".join(bounds)]).rstrip()

    def span(self, start: int, decision: int) -> tuple[int, int]:
        """Return the stretch for a picture; where there is no bound, from the match's start, or to the decision."""
        first = start if self.first == BEFORE_ALL else self.first - self.first_open
        last = decision if self.last == AFTER_ALL else self.last + self.last_open
        return min(first, last), last
