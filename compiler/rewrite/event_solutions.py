"""Event solutions: the alternatives of a sequence's operand, each as solutions of one instant.

Data's way: operand -> **alternatives, and the event solutions that they share** -> states and ways.
Equal solutions of several arms of one event pattern are one solution, as long as no arm assigns a variable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TypeAlias

from retewave.compiler import algebra
from retewave.compiler.algebra import Both, Either, EventPattern, Operand, visible
from retewave.compiler.expressions.tree import Expression, Variable, mentions, variables
from retewave.compiler.rewrite.branch import Branch, ExtendStep, FilterStep
from retewave.compiler.rewrite.choosing import Normal
from retewave.compiler.rewrite.inlining import inlined, values_of
from retewave.compiler.rewrite.joining import Fresh, conjuncts, join
from retewave.compiler.rewrite.repetitions import of_first
from retewave.compiler.rewrite.runs import OVER_GROUPS, Repeated, WantedEvents
from retewave.errors import Place

__all__ = ["PREVIOUS", "Looking", "StepAlternative", "event_variables"]

PREVIOUS = frozenset(("PREV",))
_OVER_RUNS = OVER_GROUPS | PREVIOUS


def event_variables(branch: Branch) -> frozenset[Variable]:
    """Return the variables that stand for events."""
    return frozenset(pattern.event for pattern in branch.all_patterns if pattern.event is not None)


@dataclass(frozen=True)
class StepAlternative:
    """One kind of solution of a step's operand."""

    event: int  # number of its event solutions
    bound: frozenset[Variable]  # the variables that they bind, but events
    events: frozenset[Variable]  # the events that they are of
    assigned: tuple[ExtendStep, ...]  # the assignments when a run is complete
    conditions: tuple[Expression, ...]  # the conditions on them and the run before
    taken: Repeated  # which event patterns they are of

    @property
    def name(self) -> str:
        """Return the name that messages have for them."""
        return " & ".join(name for name, _ in self.taken.parts)


_Taken: TypeAlias = tuple[tuple[str, frozenset[Variable]], ...]
_Solution: TypeAlias = tuple[Branch, tuple[Expression, ...], _Taken]


@dataclass
class Looking:
    """The event solutions that a sequence looks for."""

    sequence: algebra.Sequence
    of: Normal
    fresh: Fresh
    events: list[WantedEvents] = field(default_factory=list)  # by number

    def number(self, solutions: WantedEvents) -> int:
        """Return the number of event solutions."""
        if solutions not in self.events:
            self.events.append(solutions)
        return self.events.index(solutions)

    def any_event(self, event: Variable, kept: frozenset[Variable]) -> int:
        """Return the number of the solutions that any event gives, with its partition; `event` stands for the event."""
        return self.number(WantedEvents(tuple(self.instants(event)), kept | set(self.sequence.partition)))

    def instants(self, event: Variable | None = None) -> Iterator[Branch]:
        """Yield the branches that tell that an event came: any event, or, in a partition, one that a step takes."""
        if not self.sequence.partition:
            s, p, o = (Variable(f"_:any.{name}") for name in ("s", "p", "o"))
            event = event or Variable("_:any.event")
            yield Branch(patterns=(algebra.TriplePattern(s, p, o, event=event, streams=self.sequence.streams),))
            return
        found: dict[Branch, None] = {}
        for step in self.sequence.steps:
            for asked in algebra.event_patterns(step.operand):
                for branch in self.of(_without_filters(self._on_streams(asked, event=event))):
                    if branch.bound.issuperset(self.sequence.partition):
                        found[replace(branch, steps=())] = None
        yield from found

    def alternatives(self, operand: Operand, begins: bool = False) -> list[StepAlternative]:
        """Return the alternatives of an operand; where runs begin, all of their conditions are on the event alone."""
        found: dict[object, tuple[StepAlternative, list[Branch]]] = {}
        for branch, conditions, taken in self._solutions(operand):
            assigned = tuple(step for step in branch.steps if isinstance(step, ExtendStep))
            events = event_variables(branch)
            filters, later = _apart(branch, conditions, begins)
            each = StepAlternative(0, branch.bound - events, events, assigned, later, Repeated(taken))
            key = len(found) if assigned else each
            found.setdefault(key, (each, []))[1].append(replace(branch, steps=filters))
        return [
            replace(each, event=self.number(WantedEvents(tuple(dict.fromkeys(branches)))))
            for each, branches in found.values()
        ]

    def _solutions(self, operand: Operand, side: str = "") -> Iterator[_Solution]:
        """Yield the branches of an operand, each with its conditions on earlier events, and the events that it takes.

        The sides of & are of two events, even if they are of one pattern: `side` tells these apart.
        """
        match operand:
            case EventPattern(name=name, conditions=conditions):
                parts = tuple(part for each in conditions for part in conjuncts(each))
                names = frozenset(each for each in visible(operand.pattern) if not each.hidden)
                for branch in self.of(self._on_streams(operand, side)):
                    yield branch, parts, ((name, names & branch.bound),)
            case Either(left, right):
                yield from self._solutions(left, side)
                if right != left:
                    yield from self._solutions(right, side)
            case Both(left, right):
                for (one, these, first), (other, those, second) in product(
                    self._solutions(left, side), list(self._solutions(right, side + "'"))
                ):
                    yield join(one, other, self.fresh, _place(operand)).branch, these + those, first + second

    def _on_streams(self, asked: EventPattern, side: str = "", event: Variable | None = None) -> algebra.Algebra:
        """Return the pattern of an event pattern, whose triples its streams bring, or else those of the sequence."""
        streams = asked.streams or self.sequence.streams

        def brought(triple: algebra.TriplePattern) -> algebra.TriplePattern:
            if triple.event is None:
                return triple
            named = event or Variable(triple.event.name + side)
            return replace(triple, event=named, streams=streams or triple.streams)

        return algebra.retold(asked.pattern, brought) if streams or side or event else asked.pattern


def _apart(
    branch: Branch, conditions: tuple[Expression, ...], begins: bool
) -> tuple[tuple[FilterStep, ...], tuple[Expression, ...]]:
    """Return the filters on an event alone, and the conditions that also look at earlier events."""
    values = values_of(branch.steps)
    seen = (branch.bound - event_variables(branch)) | values.keys()
    filters = [inlined(step, values) for step in branch.steps if isinstance(step, FilterStep)]
    later = []
    for one in conditions:
        if begins and mentions(one, PREVIOUS):
            continue
        if begins:
            one = of_first(one)
        if (begins or variables(one) <= seen) and not mentions(one, _OVER_RUNS):
            filters.append(inlined(FilterStep(one, variables(one) & seen), values))
        else:
            later.append(one)
    return tuple(filters), tuple(later)


def _place(operand: Operand) -> Place | None:
    """Return where an operand is written: where its first pattern is."""
    while not isinstance(operand, EventPattern):
        operand = operand.left
    return operand.place


def _without_filters(pattern: algebra.Algebra) -> algebra.Algebra:
    while isinstance(pattern, algebra.Filter):
        pattern = pattern.pattern
    return pattern
