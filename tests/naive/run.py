"""A run of a sequence (MEANING §6): what it has matched so far, and the windows that it may be in.

A run is a tuple of events, each with the event pattern and the step that it was taken for, and one joined mapping; of
two ways to the same run one counts: the same events, mapping, and values in each repetition.
"""

from __future__ import annotations

from dataclasses import dataclass

from naive.events import Event, Part, Solution
from naive.tokens import FOREVER, Bindings, How, Repetition
from retewave.compiler import algebra
from retewave.compiler.algebra import SequenceStep
from retewave.windows.intervals import STATIC_END

BEFORE_ALL = STATIC_END  # a time that nothing comes before

Gap = tuple[SequenceStep, Event]


@dataclass(frozen=True)
class Run:
    """What a sequence has matched so far."""

    bindings: Bindings
    solutions: tuple[tuple[int, Solution], ...] = ()  # with the places of the steps that they were taken for
    groups: tuple[Repetition, ...] = ()
    gaps: tuple[Gap, ...] = ()  # since the last solution: what was passed over, and for which NEVER

    @property
    def start(self) -> int:
        return self.solutions[0][1].time

    @property
    def time(self) -> int:
        """Return when it has taken its last solution."""
        return self.solutions[-1][1].time

    @property
    def parts(self) -> list[Part]:
        return [part for _, solution in self.solutions for part in solution.parts]


@dataclass(frozen=True)
class Complete:
    """A run that is complete, and when that is known."""

    run: Run
    end: int
    how: How

    def identity(self) -> object:
        """Return what two ways to the same run have in common."""
        taken = (
            (place, part.pattern.name, part.event.key)
            for place, each in self.run.solutions
            for part in each.parts
        )  # fmt: skip
        repeated = (frozenset(bindings.items()) for each in self.run.groups for _, bindings in each.parts)
        return (*taken, *repeated, frozenset(self.run.bindings.items()), self.end)


def windows(sequence: algebra.Sequence, start: int) -> list[tuple[int, int]]:
    """Return the bounds of the windows in which a run that starts at some time may be, both inside."""
    if sequence.tumbling is None:
        return [(BEFORE_ALL, FOREVER) if sequence.width is None else (start - sequence.width, start + sequence.width)]
    assert sequence.width, "windows that tumble have a width"
    number = (start - sequence.tumbling) // sequence.width
    begins = [sequence.tumbling + each * sequence.width for each in (number - 1, number) if each >= 0]
    return [(begin, begin + sequence.width) for begin in begins if begin <= start <= begin + sequence.width]
