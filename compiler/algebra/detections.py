"""Events as OBEP defines them: by a class expression, or composed of other events in time.

Data's way: text -> parse -> **definitions** -> patterns of one event, relations of detections -> branches -> plan.
A *detection* of an event has an individual, an interval and a *justification*: a set of given triples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from retewave.compiler.algebra.graph import TriplePattern
from retewave.compiler.expressions.tree import Expression
from retewave.epsilon.classes.expression import ClassExpression
from retewave.errors import Place

__all__ = [
    "AnyEvent",
    "BothEvents",
    "ChosenEvent",
    "CompositeEvent",
    "Definitions",
    "EventDefinition",
    "EventExpression",
    "EventGuard",
    "EventRest",
    "EventWithin",
    "EventsInTime",
    "GuardPart",
    "LogicalEvent",
    "NamedEvent",
    "local_name",
    "named_events",
    "operands_of",
]


@dataclass(frozen=True)
class NamedEvent:
    """The detections of an event, by its name."""

    event: bytes  # its IRI
    alias: str  # by which guards and matches name it: as written, or behind AS
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


@dataclass(frozen=True)
class BothEvents:
    """AND: both, with equal intervals; the justification is both's."""

    left: EventExpression  # written first
    right: EventExpression  # written second
    place: Place | None = field(default=None, compare=False, repr=False)  # where the operator is written


@dataclass(frozen=True)
class AnyEvent:
    """OR: those of either side."""

    left: EventExpression  # written first
    right: EventExpression  # written second
    place: Place | None = field(default=None, compare=False, repr=False)  # where the operator is written


@dataclass(frozen=True)
class EventsInTime:
    """SEQ and Allen's relations: SEQ has the right side's justification, DURING the left's, the others both's."""

    left: EventExpression  # written first
    relation: int  # a code of retewave.windows.relations
    right: EventExpression  # written second
    place: Place | None = field(default=None, compare=False, repr=False)  # where the operator is written


@dataclass(frozen=True)
class ChosenEvent:
    """FIRST and LAST: the detections such that no other detection in the window is earlier, or later."""

    pattern: EventExpression  # the events among which is chosen
    last: bool  # LAST, not FIRST
    place: Place | None = field(default=None, compare=False, repr=False)  # where the operator is written


@dataclass(frozen=True)
class EventRest:
    """NOT: of each event the triples that no justification at its time uses, if there are any."""

    pattern: EventExpression  # the triples that are taken away
    place: Place | None = field(default=None, compare=False, repr=False)  # where the operator is written


@dataclass(frozen=True)
class EventWithin:
    """WITHIN: the detections whose end less their start is at most the width."""

    pattern: EventExpression  # the events whose length is bounded
    width: int  # microseconds
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


EventExpression: TypeAlias = (
    NamedEvent | BothEvents | AnyEvent | EventsInTime | ChosenEvent | EventRest | EventWithin
)  # fmt: skip


@dataclass(frozen=True)
class GuardPart:
    """EVENT alias { triples }: a pattern that the justification of a part must match."""

    alias: str  # which part
    patterns: tuple[TriplePattern, ...]  # matched on its justification, with what the schema entails of it
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


@dataclass(frozen=True)
class EventGuard:
    """IF { … }: variables of one name join; filters see all."""

    parts: tuple[GuardPart, ...]  # in the order written
    filters: tuple[Expression, ...] = ()  # all must be true


@dataclass(frozen=True)
class LogicalEvent:
    """EVENT name AS class expression."""

    name: bytes  # its IRI
    expression: ClassExpression  # the class that an individual must be in
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


@dataclass(frozen=True)
class CompositeEvent:
    """EVENT name MATCH expression, with WITHIN and IF."""

    name: bytes  # its IRI
    pattern: EventExpression  # of which events; WITHIN is part of it
    guard: EventGuard = EventGuard(())  # conditions on the justifications of its parts
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


EventDefinition: TypeAlias = LogicalEvent | CompositeEvent


@dataclass(frozen=True)
class Definitions:
    """The events of one query, and which of them are told."""

    events: tuple[EventDefinition, ...]  # each after those that it uses
    returned: tuple[bytes, ...]  # the names of the events that are told
    form: Literal["EVENT", "RDF"] = "EVENT"  # the form in which they are told

    def __getitem__(self, name: bytes) -> EventDefinition:
        return next(each for each in self.events if each.name == name)


def operands_of(expression: EventExpression) -> tuple[EventExpression, ...]:
    """Return the expressions directly inside an expression."""
    match expression:
        case NamedEvent():
            return ()
        case ChosenEvent(pattern) | EventRest(pattern) | EventWithin(pattern):
            return (pattern,)
    return expression.left, expression.right


def named_events(expression: EventExpression) -> Iterator[NamedEvent]:
    """Yield the names in an expression, in the order written."""
    if isinstance(expression, NamedEvent):
        yield expression
    for each in operands_of(expression):
        yield from named_events(each)


def local_name(name: bytes) -> str:
    """Return what stands behind the namespace of an IRI.

    >>> local_name(b"<http://example.org/BusyRoom>")
    'BusyRoom'
    """
    text = name.decode().strip("<>")
    return text[max(map(text.rfind, "#/:")) + 1 :]
