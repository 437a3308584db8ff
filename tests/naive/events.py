"""Events, and what the event patterns of a sequence find in each (MEANING §6): its solutions, which are instants.

Data's way: facts -> **events -> solutions** -> runs (`sequences.py`).
An event counts by its end.  A solution of A & B has the events of both, one of A | B those of either side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from naive.graphs import Graph
from naive.streams import Fact
from naive.tokens import Bindings, compatible
from retewave.compiler import algebra
from retewave.compiler.algebra import Algebra, Both, Either, EventPattern, Exists, Filter, Operand, Variable, visible


@dataclass(frozen=True)
class Event:
    """A graph that arrived at once."""

    key: tuple[str, int]  # its number
    time: int  # its end
    stream: str | None  # None: every stream
    facts: tuple[Fact, ...]  # what it says, and what that entails


@dataclass(frozen=True)
class Part:
    """An event, taken for an event pattern."""

    pattern: EventPattern
    event: Event
    bindings: Bindings


@dataclass(frozen=True)
class Solution:
    """What an operand finds at one time."""

    time: int
    parts: tuple[Part, ...]
    bindings: Bindings  # of all parts

    def is_of(self, event: Event) -> bool:
        """Tell whether an event is one of its own."""
        return any(part.event.key == event.key for part in self.parts)


def events_of(streams: Sequence[bytes], facts: Sequence[Fact]) -> list[Event]:
    """Return the events on some streams, of all where none is named, in the order of arrival."""
    found: dict[tuple[str, int], list[Fact]] = {}
    for fact in facts:
        if fact.event is not None and _is_on(streams, fact.stream):
            found.setdefault(fact.event, []).append(fact)
    return [Event(key, each[0].end, each[0].stream, tuple(each)) for key, each in found.items()]


def solutions(operand: Operand, events: Sequence[Event], static: Sequence[Fact]) -> list[Solution]:
    """Return the solutions of an operand."""
    match operand:
        case EventPattern(pattern=pattern):
            return [
                Solution(event.time, (Part(operand, event, bindings),), bindings)
                for event in events
                for bindings in mappings(operand, pattern, event, static)
            ]
        case Both(left, right):
            return [
                Solution(one.time, one.parts + other.parts, {**one.bindings, **other.bindings})
                for one in solutions(left, events, static)
                for other in solutions(right, events, static)
                if one.time == other.time and compatible(one.bindings, other.bindings)
            ]
        case Either(left, right):
            return solutions(left, events, static) + solutions(right, events, static)


def mappings(asked: EventPattern, pattern: Algebra, event: Event, static: Sequence[Fact]) -> list[Bindings]:
    """Return what a pattern finds in an event, if that is on a stream of the event pattern."""
    if not _is_on(asked.streams, event.stream):
        return []
    return Graph((*event.facts, *static), event.time).mappings(pattern)


def without_filters(pattern: Algebra) -> Algebra:
    """Return a group without its own FILTERs; those of groups inside it stay."""
    while isinstance(pattern, Filter | Exists):
        pattern = pattern.pattern
    return pattern


def variables_of(operand: Operand) -> Iterator[Variable]:
    """Yield the variables that the text of an operand can bind."""
    for each in algebra.event_patterns(operand):
        yield from visible(each.pattern)


def _is_on(streams: Sequence[bytes], stream: str | None) -> bool:
    return not streams or stream is None or f"<{stream}>".encode() in streams
