"""Runs: the states of a sequence of events, and the ways from one to another.

Data's way: algebra -> **states and ways** -> plan -> network.
A run is in a state; an event solution takes it along a way to the next state.  Runs in one state have taken as many
steps and bind the same variables; *group variables*, those of repeated steps, may be unbound where a step has
alternatives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from retewave.compiler.algebra import Follows
from retewave.compiler.expressions.tree import Call, Expression, Variable, mentions

if TYPE_CHECKING:
    from retewave.compiler.rewrite.branch import Branch

__all__ = ["BEGIN", "OVER_GROUPS", "Barred", "Repeated", "RunState", "Runs", "WantedEvents", "Way"]

OVER_GROUPS = frozenset(("COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT", "FIRST", "LAST"))
BEGIN = -1  # in place of a state: where runs begin


@dataclass(frozen=True)
class Repeated:
    """One of the alternatives of a repeated step."""

    parts: tuple[tuple[str, frozenset[Variable]], ...]  # the event patterns by name, and the variables of each


@dataclass(frozen=True)
class RunState:
    """A state: its runs wait for the same step."""

    step: int  # the steps that they have taken; where the last one may be repeated, they wait for that, too
    variables: frozenset[Variable]  # the variables that all of them bind, but events
    loose: frozenset[Variable] = frozenset()  # group variables that some of them bind: those of some alternatives
    own: frozenset[Variable] = frozenset()  # the group variables of their last step
    repeated: tuple[Repeated, ...] = ()  # of their last event, if its step may be repeated; by `Way.repeats`
    passing: bool = False  # their last event was passed over: it is no part of them
    name: str = field(default="", compare=False)  # the name of their last step


@dataclass(frozen=True)
class Barred:
    """An event that must not come strictly between a run and the event that it takes, or behind a complete run."""

    event: int  # number of the event solutions
    conditions: tuple[Expression, ...] = ()  # they see the run, the event that is taken, and the one between
    begins: bool = False  # it must not come before the run, in its window
    passed: tuple[Variable, Variable] | None = None  # it must not be an event that was passed over: the run's, its own


@dataclass(frozen=True)
class Way:
    """How runs of one state become runs of another one: by one more event solution."""

    source: int  # number of the state, or BEGIN
    target: int  # number of the state
    event: int  # number of the event solutions
    follows: Follows = Follows.ANY  # which of them
    rivals: int = 0  # of one state's ways, those with one number look for the same: the first found is the next
    conditions: tuple[Expression, ...] = ()  # they see the run and the event; PREV is a `Call`
    barred: tuple[Barred, ...] = ()  # the events that must not stand between
    rebound: frozenset[Variable] = frozenset()  # group variables that the event binds anew
    repeats: int = 0  # which of the alternatives of a repeated step it takes
    longest: int = 0  # the step of which the run must not have had a further repetition by then; 0: none
    once: bool = False  # of this way and others to the same run, one counts


@dataclass(frozen=True)
class WantedEvents:
    """The event solutions that ways take: each is of one instant, and comes once."""

    alternatives: tuple[Branch, ...]  # all bind the same variables; equal solutions of several are one
    kept: frozenset[Variable] | None = None  # the variables that count; None: all


@dataclass(frozen=True)
class Runs:
    """A sequence without choices of how often: its states and ways."""

    events: tuple[WantedEvents, ...]  # the event solutions that ways take
    states: tuple[RunState, ...]  # in the order in which runs go through them
    ways: tuple[Way, ...]  # in the order written
    final: int  # the state whose runs are complete
    instants: tuple[Branch, ...] = ()  # the events that count for contiguity; none, if no way asks
    partition: tuple[Variable, ...] = ()  # the variables that instants have in common with a run
    width: int | None = None  # the longest run, microseconds
    tumbling: int | None = None  # when the first of the windows begins in which runs must be
    groups: bool = False  # whether matches tell of each repetition
    calls: tuple[tuple[Variable, Call], ...] = ()  # they look at all repetitions of a complete run; hidden variables
    after: tuple[Barred, ...] = ()  # the events that must not come behind a complete run until its window is over
    longest: int = 0  # likewise: a further repetition of this step; 0: none
    settled: bool = False  # whether complete runs wait for the close of their instant

    @property
    def late(self) -> bool:
        """Tell whether complete runs wait until their window is over, and end there."""
        return bool(self.after or self.longest)

    @property
    def waits(self) -> bool:
        """Tell whether some decision is later than the arrival of an event."""
        return self.late or self.settled or any(way.longest for way in self.ways)

    @property
    def tells(self) -> bool:
        """Tell whether matches tell of the events of their runs."""
        return self.groups or self.settled or bool(self.calls)

    @property
    def looks_back(self) -> bool:
        """Tell whether all events of a run must be found again."""
        barred = (*self.after, *(each for way in self.ways for each in way.barred))
        asked = [each.conditions for each in self.ways] + [each.conditions for each in barred]
        return self.tells or any(mentions(one, OVER_GROUPS) for conditions in asked for one in conditions)

    @property
    def bound(self) -> frozenset[Variable]:
        """Return the variables of a complete run; a group variable of an alternative may be unbound in it."""
        return self.states[self.final].variables | self.states[self.final].loose

    @property
    def branches(self) -> Iterator[Branch]:
        """Yield the branches of single instants, in the order of their leaves' numbers."""
        for each in self.events:
            yield from each.alternatives
        yield from self.instants

    def ways_from(self, state: int) -> tuple[Way, ...]:
        """Return the ways by which runs leave a state, or repeat its step."""
        return tuple(way for way in self.ways if way.source == state)

    def ways_to(self, state: int) -> tuple[Way, ...]:
        """Return the ways by which runs come to a state from other states, or begin in it."""
        return tuple(way for way in self.ways if way.target == state != way.source)

    def ends_in(self, state: int) -> Runs:
        """Return the same with another final state."""
        return replace(self, final=state)
