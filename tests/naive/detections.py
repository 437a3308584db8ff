"""What OBEP's events are (MEANING §8): logical events, composites, guards and NOT, by sets and nested loops.

A token is a justification with an interval, and the parts that it is made of.  `told` says what is told at each
instant: the detections that end there.  FIRST and LAST are decided at that instant; as the left side of SEQ, for each
token of the right side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from naive.allen import RELATIONS
from naive.classes import Ontology, entailed
from naive.individuals import individuals
from naive.justifications import justifications
from naive.times import is_true
from naive.tokens import Token
from retewave.compiler.algebra import TriplePattern, Variable
from retewave.compiler.algebra.detections import (
    AnyEvent,
    BothEvents,
    ChosenEvent,
    CompositeEvent,
    Definitions,
    EventExpression,
    EventGuard,
    EventRest,
    EventsInTime,
    EventWithin,
    LogicalEvent,
    NamedEvent,
)
from retewave.epsilon.vocabulary import Triple
from retewave.windows import relations

FOREVER = 1 << 60
Bindings = Mapping[Variable, bytes]


@dataclass(frozen=True)
class Graph:
    """An event: triples that came at once."""

    triples: frozenset[Triple]
    start: int
    end: int


@dataclass(frozen=True)
class Detected:
    """A token: of an expression, or of an event with a name."""

    justification: frozenset[Triple]
    start: int
    end: int
    shown: tuple[int, int]  # the interval that is told: DURING tells the left one
    event: bytes | None = None  # the name, of a detection
    individual: bytes | None = None  # of a logical event
    parts: frozenset[tuple[str, Detected]] = frozenset()  # by alias


@dataclass(frozen=True)
class Events:
    """Definitions over a stream."""

    definitions: Definitions
    graphs: tuple[Graph, ...]
    static: tuple[Triple, ...] = ()
    ontology: Ontology = field(default_factory=Ontology)

    def told(self) -> list[Detected]:
        """Return what is told, instant by instant."""
        times = sorted({each.end for each in self.graphs})
        return [
            one for now in times for name in self.definitions.returned
            for one in self.detections(name, now, FOREVER) if one.end == now
        ]  # fmt: skip

    def detections(self, name: bytes, now: int, width: int) -> set[Detected]:
        """Return the detections of an event that are known at a time."""
        definition = self.definitions[name]
        if isinstance(definition, LogicalEvent):
            return {each for graph in self.graphs if graph.end <= now for each in self._of_graph(definition, graph)}
        found = set()
        for at in sorted({each.end for each in self.graphs if each.end <= now}):
            for token in self.tokens(definition.pattern, at, FOREVER):
                if token.end == at and self.guarded(definition, token):
                    found.add(replace(token, event=name, parts=token.parts))
        return found

    def _of_graph(self, definition: LogicalEvent, graph: Graph) -> Iterator[Detected]:
        for one in individuals(entailed(self.ontology, (*graph.triples, *self.static))):
            for each in justifications(self.ontology, definition.expression, one, sorted(graph.triples), self.static):
                span = graph.end, graph.end  # an event counts by its end
                yield Detected(each, *span, span, definition.name, one)

    def tokens(self, expression: EventExpression, now: int, width: int) -> set[Detected]:
        """Return the tokens of an expression that are known at a time, in the eyes of who decides then."""
        match expression:
            case NamedEvent(event, alias):
                found = self.detections(event, now, width)
                return {replace(each, event=None, individual=None, parts=frozenset(((alias, each),))) for each in found}
            case EventWithin(pattern, own):
                return {each for each in self.tokens(pattern, now, own) if each.end - each.start <= own}
            case AnyEvent(left, right):
                return self.tokens(left, now, width) | self.tokens(right, now, width)
            case BothEvents(left, right):
                pairs = self._pairs(left, relations.EQUALS, right, now, width)
                return {_joined(one, other, one.justification | other.justification) for one, other in pairs}
            case EventsInTime(left, relation, right):
                return {_related(*pair, relation) for pair in self._pairs(left, relation, right, now, width)}
            case ChosenEvent(pattern, last):
                seen = [each for each in self.tokens(pattern, now, width) if each.start >= now - width]
                return set(_chosen(seen, last))
            case EventRest(pattern):
                return set(self._rests(pattern, now, width))
        raise AssertionError(expression)

    def _pairs(
        self, left: EventExpression, relation: int, right: EventExpression, now: int, width: int
    ) -> Iterator[tuple[Detected, Detected]]:
        for other in self.tokens(right, now, width):
            if isinstance(left, ChosenEvent) and relation == relations.BEFORE:
                at = other.end
                before = [
                    each for each in self.tokens(left.pattern, at, width)
                    if each.end < other.start and each.start >= at - width
                ]  # fmt: skip
                yield from ((one, other) for one in _chosen(before, left.last))
                continue
            for one in self.tokens(left, now, width):
                if RELATIONS[relation](_span(one), _span(other)):
                    yield one, other

    def _rests(self, pattern: EventExpression, now: int, width: int) -> Iterator[Detected]:
        for graph in self.graphs:
            if graph.end > now:
                continue
            ending = [each for each in self.tokens(pattern, graph.end, width) if each.end == graph.end]
            rest = graph.triples - frozenset().union(*(each.justification for each in ending))
            if rest:
                one = Detected(rest, graph.end, graph.end, (graph.end, graph.end))
                yield replace(one, parts=frozenset(((f"not {pattern}", one),)))

    def guarded(self, definition: CompositeEvent, token: Detected) -> bool:
        """Tell whether the guard of an event is true of a token."""
        return any(
            all(is_true(each, bindings, token.start, token.end) for each in definition.guard.filters)
            for bindings in self._guard_solutions(definition.guard, dict(token.parts))
        )

    def _guard_solutions(self, guard: EventGuard, parts: Mapping[str, Detected]) -> Sequence[Bindings]:
        found: list[Bindings] = [{}]
        for part in guard.parts:
            if part.alias not in parts:
                continue  # OR has left it out: it asks nothing
            facts = entailed(self.ontology, parts[part.alias].justification)
            for pattern in part.patterns:
                found = [more for one in found for fact in facts for more in _bound(pattern, fact, one)]
        return found


def _bound(pattern: TriplePattern, fact: Triple, known: Bindings) -> Iterator[Bindings]:
    bindings = dict(known)
    for term, text in zip(pattern.terms, fact, strict=True):
        if isinstance(term, Variable):
            if bindings.setdefault(term, text) != text:
                return
        elif term != text:
            return
    yield bindings


def _chosen(tokens: Sequence[Detected], last: bool) -> Iterator[Detected]:
    keys = [(each.end, each.start) for each in tokens]
    return (each for each in tokens if (each.end, each.start) == (max(keys) if last else min(keys)))


def _span(one: Detected) -> Token:
    return Token({}, one.start, one.end)


def _related(one: Detected, other: Detected, relation: int) -> Detected:
    if relation == relations.BEFORE:
        return _joined(one, other, other.justification)
    if relation == relations.DURING:
        return replace(_joined(one, other, one.justification), shown=(one.start, one.end))
    return _joined(one, other, one.justification | other.justification)


def _joined(one: Detected, other: Detected, justification: frozenset[Triple]) -> Detected:
    span = min(one.start, other.start), max(one.end, other.end)
    return Detected(justification, *span, span, parts=one.parts | other.parts)
