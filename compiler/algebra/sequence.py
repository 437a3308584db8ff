"""Sequences of events: runs, as SPAseq has them.

Data's way: text -> parse -> **algebra** -> normal form -> plan -> network.
An *event* is a graph that arrived at once; it counts by its end.  An event pattern is looked at in one event alone,
when the event is whole; its solutions are instants.  A *run* is what a sequence has matched so far: an event solution
for each step, or several where a step repeats, and one joined mapping.  Its interval is from its first event's time to
its last one's.  What is compatible has equal terms in all variables that both bind, and makes the conditions true.

Conditions, and what stands around a sequence, see *group variables*: those of a repeated step that no earlier step
can bind.  Plainly, they have the value of the last repetition; in a `Call` of COUNT, SUM, AVG, MIN, MAX, SAMPLE, FIRST,
LAST or GROUP_CONCAT (its second argument is the separator), those of all repetitions; in a `Call` of PREV, which only
the step's own conditions have, the value of the repetition before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias, Union

from retewave.compiler.algebra.graph import Algebra
from retewave.compiler.expressions.tree import Expression, Variable
from retewave.errors import Place

__all__ = [
    "Both",
    "Either",
    "EventPattern",
    "Follows",
    "Occurs",
    "Operand",
    "Sequence",
    "SequenceStep",
    "event_patterns",
]


class Follows(Enum):
    """Which later events continue a run; *between* is strictly between in time."""

    ANY = ":"  # each that is compatible
    NEXT = ";"  # the next compatible event
    STRICT = ","  # the next event of the sequence's streams (of the run's partition)


class Occurs(Enum):
    """How often a step is to be there."""

    ONCE = ""
    MAYBE = "?"  # once, or never
    NEVER = "!"  # no event between that is compatible with the run before and with the step behind
    SOME = "+"  # once or more; each number of repetitions is a run of its own
    MOST = "+!"  # likewise, but only as often as can be


@dataclass(frozen=True)
class EventPattern:
    """A pattern over one event (SPAseq: GPM)."""

    name: str  # as it is defined
    pattern: Algebra  # its triple patterns have one event, a hidden variable, or a background graph
    conditions: tuple[Expression, ...] = ()  # its filters on earlier events: earlier variables, aggregates, PREV
    streams: tuple[bytes, ...] = ()  # the IRIs of the streams whose events it looks at; none: all of the sequence
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


@dataclass(frozen=True)
class Both:
    """A & B: two solutions of one time, compatible; one event may give both."""

    left: Operand  # written first
    right: Operand  # its conditions may see the left one's variables


@dataclass(frozen=True)
class Either:
    """A | B: either solution; an event that gives both gives two runs."""

    left: Operand  # written first
    right: Operand  # written second


Operand: TypeAlias = Union[EventPattern, "Both", "Either"]


@dataclass(frozen=True)
class SequenceStep:
    """One step of a sequence."""

    operand: Operand  # the events that are looked for
    occurs: Occurs = Occurs.ONCE  # how often
    follows: Follows = Follows.NEXT  # how it follows the step before; the first step follows nothing
    between: Follows = Follows.NEXT  # how its repetitions follow each other
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


@dataclass(frozen=True)
class Sequence:
    """SEQ(…): each complete run."""

    steps: tuple[SequenceStep, ...]  # in order
    streams: tuple[bytes, ...]  # the IRIs of its streams; none: all
    partition: tuple[Variable, ...] = ()  # the variables in which all events of a run agree
    width: int | None = None  # the longest time from the first event to the last one, microseconds; None: unbounded
    tumbling: int | None = None  # when the first of the windows [t + k width, t + (k+1) width] begins; None: no such
    past_last: bool = False  # AFTER MATCH SKIP PAST LAST
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


def event_patterns(operand: Operand) -> Iterator[EventPattern]:
    """Yield the event patterns of an operand, in the order written."""
    if isinstance(operand, EventPattern):
        yield operand
    else:
        yield from event_patterns(operand.left)
        yield from event_patterns(operand.right)
