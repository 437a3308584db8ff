"""The axis of a time line: which times it shows, where they are, and which have a tick.

Data's way: the times of an explanation -> **places in a picture**.
Windows may be far wider than what happened: the axis goes on to their ends only where that is not much farther.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from retewave.provenance.explanation import Explanation
from retewave.provenance.time_words import TimeWords

__all__ = ["Axis", "axis_of"]

SECOND, MINUTE, HOUR, DAY = 1_000_000, 60_000_000, 3_600_000_000, 86_400_000_000
MOST_TICKS = 7
_LETTER, _GAP = 5.8, 12  # width of a letter of a tick's label; room between two labels
_STEPS = (
    *(digit * power for power in (1, 10, 100, 1_000, 10_000, 100_000) for digit in (1, 2, 5)),
    *(SECOND * count for count in (1, 2, 5, 10, 15, 30)),
    *(MINUTE * count for count in (1, 2, 5, 10, 15, 30)),
    *(HOUR * count for count in (1, 2, 3, 6, 12)),
)


@dataclass(frozen=True)
class Axis:
    """Times from left to right."""

    first: int  # microseconds: the time at its left end
    last: int  # microseconds: at its right end
    left: float  # where it begins
    right: float  # where it ends
    words: TimeWords  # how times are told

    def at(self, time: int) -> float:
        """Return where a time is; a time beyond an end is at that end."""
        share = (min(max(time, self.first), self.last) - self.first) / (self.last - self.first)
        return self.left + share * (self.right - self.left)

    def ends_before(self, time: int) -> bool:
        """Tell whether a time is beyond it."""
        return time > self.last

    @property
    def ticks(self) -> Iterator[tuple[float, str]]:
        """Yield the places of round times, and their words."""
        step = _step(self.last - self.first, self._ticks_that_fit)
        time = -(-self.first // step) * step
        while time <= self.last:
            yield self.at(time), self.words.tick(time, step)
            time += step

    def _ticks_that_fit(self, step: int) -> int:
        """Return for how many ticks of a step there is room."""
        letters = max(
            len(self.words.tick(time, step)) for time in (self.first // step * step, self.last // step * step)
        )
        return min(MOST_TICKS, int((self.right - self.left) / (letters * _LETTER + _GAP)))


def axis_of(explanation: Explanation, left: float, width: float) -> Axis:
    """Return the axis for an explanation."""
    spans = [each.micros for each in explanation.arrivals if each.micros is not None]
    spans += [each.micros for each in explanation.reckonings if each.kind != "window" and each.micros is not None]
    spans += [explanation.micros] if explanation.micros is not None else []
    first = min((start for start, _ in spans), default=0)
    last = max((end for _, end in spans), default=first)
    windows = [each.micros for each in explanation.reckonings if each.kind == "window" and each.micros is not None]
    happened = max(last - first, 1)
    last = max([last, *(end for _, end in windows if end - first <= 3 * happened)])
    beside = max(last - first, 2) // 25 + 1
    return Axis(first - beside, last + beside, left, left + width, explanation.clock)


def _step(length: int, most: Callable[[int], int]) -> int:
    """Return the least round step with which a length has few ticks; `most` tells how many ticks of a step.

    >>> _step(10 * SECOND, lambda _: 7) / SECOND, _step(20 * DAY, lambda _: 7) / DAY
    (2.0, 5.0)
    """
    for step in _STEPS:
        if length <= step * most(step):
            return step
    days = 1
    while length > days * DAY * most(days * DAY):
        days = days * 2 if str(days)[0] != "2" else days * 5 // 2
    return days * DAY
