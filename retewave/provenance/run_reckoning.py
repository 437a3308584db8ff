"""The arithmetic of a run: how each event followed the one before it, and the window that all are in.

Data's way: the events of a run's steps -> **reckonings** -> explanation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from retewave.compiler.algebra import Follows
from retewave.compiler.rewrite.runs import Runs
from retewave.provenance.explanation import Reckoning
from retewave.provenance.time_words import TimeWords

__all__ = ["Taken", "of_run"]

_BETWEEN = {Follows.ANY: "", Follows.NEXT: ", and none that fits between", Follows.STRICT: ", and no event between"}


@dataclass(frozen=True)
class Taken:
    """The events that a step of a run took."""

    step: int  # its number, from 1 on
    arrivals: tuple[int, ...]  # the numbers of the triples
    time: int  # of the event, microseconds

    @property
    def label(self) -> str:
        """Return its name: (1) is the first arrival, (1–3) an event of three triples."""
        first, last = self.arrivals[0], self.arrivals[-1]
        return f"({first})" if first == last else f"({first}–{last})"


def of_run(runs: Runs, taken: Sequence[Taken], interval: tuple[int, int], clock: TimeWords) -> Iterator[Reckoning]:
    """Yield the arithmetic of a run that has taken some events."""
    for one, other in pairwise(taken):
        follows = _followed(runs, one.step, other.step)
        said = f"{one.label} then {other.label}: {clock.short(one.time)} < {clock.short(other.time)}{_BETWEEN[follows]}"
        span = min(one.time, other.time), max(one.time, other.time)
        yield Reckoning("relation", follows.value, said, span, (one.arrivals, other.arrivals))
    start, end = interval
    if runs.width is None:
        return
    if runs.late:
        until = clock.short(end)
        yield Reckoning("deadline", "WITHIN", f"nothing bars the run until {until}", (start, end))
    elif runs.tumbling is not None:
        begin = runs.tumbling + (start - runs.tumbling) // runs.width * runs.width
        window = f"{clock.short(begin)} to {clock.short(begin + runs.width)}"
        said = f"both {clock.short(start)} and {clock.short(end)} are in the window {window}"
        yield Reckoning("window", "TUMBLING", said, (begin, begin + runs.width))
    else:
        yield Reckoning("window", "WITHIN", clock.length(start, end, runs.width), (start, start + runs.width))


def _followed(runs: Runs, step: int, following: int) -> Follows:
    """Return how a step followed another one, or itself."""
    for way in runs.ways:
        before = 0 if way.source < 0 else runs.states[way.source].step
        if runs.states[way.target].step == following and before == step and not runs.states[way.target].passing:
            return way.follows
    return Follows.ANY
