"""Sequences of events as states and ways.

Data's way: algebra -> **states and ways** -> branches -> plan.
A step with alternatives has a way for each; where these bind different variables, they lead to different states.  A
step that may be repeated has ways from its states to themselves.  A step that must not be there bars the way to the
next step; behind `,` it may also be an event that is passed over: a state between.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from retewave.compiler import algebra
from retewave.compiler.algebra import Follows, Occurs, Operand, SequenceStep, visible
from retewave.compiler.expressions.tree import Expression, Variable, mentions, variables
from retewave.compiler.rewrite.branch import ExtendStep, FilterStep
from retewave.compiler.rewrite.choosing import Normal
from retewave.compiler.rewrite.event_solutions import PREVIOUS, Looking, StepAlternative
from retewave.compiler.rewrite.inlining import inlined, values_of
from retewave.compiler.rewrite.joining import Fresh
from retewave.compiler.rewrite.repetitions import of_none
from retewave.compiler.rewrite.runs import BEGIN, Barred, Repeated, Runs, RunState, Way
from retewave.errors import QueryError

__all__ = ["Stepping"]

_REPEATED = (Occurs.SOME, Occurs.MOST)


@dataclass(frozen=True)
class _Groups:
    """The group variables of a step."""

    all: frozenset[Variable] = frozenset()  # each repetition binds them anew
    loose: frozenset[Variable] = frozenset()  # not all of its alternatives bind them
    repeated: tuple[Repeated, ...] = ()  # its alternatives


@dataclass(frozen=True)
class _Place:
    """A state while ways are made: states are the same if these fields are."""

    state: RunState  # the variables of its runs, and more
    assigned: tuple[ExtendStep, ...] = ()  # the assignments when a run is complete
    passed: tuple[Barred, ...] = ()  # the events that passed-over events must not be


_NOWHERE = _Place(RunState(0, frozenset()))


@dataclass
class Stepping:
    """Makes the states and ways of a sequence without steps that may be there or not."""

    sequence: algebra.Sequence
    written: tuple[SequenceStep, ...]  # its steps as they are written: an optional step can bind a variable
    of: Normal
    fresh: Fresh
    looking: Looking = field(init=False)  # the event solutions
    places: list[_Place] = field(default_factory=list)
    ways: list[Way] = field(default_factory=list)
    known: set[Variable] = field(default_factory=set)  # variables that the steps read until now may bind

    def __post_init__(self) -> None:
        self.looking = Looking(self.sequence, self.of, self.fresh)

    def alternatives(self, operand: Operand) -> list[StepAlternative]:
        """Return the alternatives of an operand."""
        return self.looking.alternatives(operand)

    def assigned(self, state: int) -> tuple[ExtendStep, ...]:
        """Return the assignments to complete runs of a state."""
        return self.places[state].assigned

    def states(self, taken: Sequence[int]) -> list[int]:
        """Make the states and ways of all steps up to the last one that is taken; return the states behind that."""
        current, absent = [BEGIN], list[SequenceStep]()
        for place, step in enumerate(self.sequence.steps[: taken[-1] + 1]):
            if step.occurs is not Occurs.NEVER:
                self.known = {each for one in self.written[:place] for each in _bound_by(one)}
                current, absent = self._step(taken.index(place) + 1, step, absent, current), []
            elif step.follows is Follows.STRICT and place > taken[0]:
                current = [*current, *(self._passed(place, step, source) for source in current)]
            else:
                absent.append(step)
        return current

    def closed(self, number: int, sources: Sequence[int]) -> tuple[list[int], Barred]:
        """Add the states of runs whose last step is closed by an event that is no repetition, or is none of it.

        Return these states, and the events that must not come if runs are complete without a closing event.
        """
        event = self.looking.any_event(Variable("_:closing"), frozenset())
        found = []
        for source in sources:
            before = self.places[source]
            state = replace(before.state, step=number + 1, own=frozenset(), repeated=(), passing=True)
            target = self._place(replace(before, state=state))
            self.ways.append(Way(source, target, event, Follows.STRICT, 2 * number + 2, longest=number))
            found.append(target)
        return found, Barred(event)

    def runs(self) -> Runs:
        """Return the states and ways that have been made."""
        sequence = self.sequence
        strict = any(way.follows is Follows.STRICT for way in self.ways if way.source != BEGIN)
        states = tuple(place.state for place in self.places)
        instants = tuple(self.looking.instants()) if strict else ()
        groups = any(state.repeated for state in states)
        return Runs(
            tuple(self.looking.events), states, tuple(self.ways), 0, instants, sequence.partition, sequence.width,
            sequence.tumbling, groups, settled=sequence.past_last,
        )  # fmt: skip

    def _step(self, number: int, step: SequenceStep, absent: Sequence[SequenceStep], sources: list[int]) -> list[int]:
        """Add the ways of a step from some states; return the states to which they lead."""
        alternatives = self.alternatives(step.operand)
        groups = self._groups(step, alternatives)
        before = self.sequence.steps[self._place_of(number - 1)] if number > 1 else None
        longest = number - 1 if before is not None and before.occurs is Occurs.MOST else 0
        once = any(source != BEGIN and self.places[source].passed for source in sources)
        found: dict[int, None] = {}
        begun = self.looking.alternatives(step.operand, begins=True) if sources == [BEGIN] else alternatives
        for source, each in product(sources, begun):
            barred = self._barred(source, absent) + self._before(source).passed
            conditions = tuple(one for one in each.conditions if not mentions(one, PREVIOUS))
            way = Way(source, 0, each.event, step.follows, 2 * number, conditions, barred, longest=longest, once=once)
            found[self._way(way, number, each, groups)] = None
        if step.occurs in _REPEATED:
            found |= self._repeated(number, step, alternatives, groups, list(found))
        return list(found)

    def _place_of(self, number: int) -> int:
        """Return the place of a step that is taken, by its number."""
        taken = [place for place, step in enumerate(self.sequence.steps) if step.occurs is not Occurs.NEVER]
        return taken[number - 1]

    def _groups(self, step: SequenceStep, alternatives: list[StepAlternative]) -> _Groups:
        if step.occurs not in _REPEATED:
            return _Groups()
        anew = frozenset(_bound_by(step)) - self.known - set(self.sequence.partition)
        own = anew & frozenset().union(*(each.bound for each in alternatives))
        always = frozenset.intersection(*(each.bound for each in alternatives))
        return _Groups(own, own - always, tuple(dict.fromkeys(each.taken for each in alternatives)))

    def _repeated(
        self, number: int, step: SequenceStep, alternatives: list[StepAlternative], groups: _Groups,
        waiting: list[int],
    ) -> dict[int, None]:  # fmt: skip
        """Add the ways by which a step is repeated; return the states to which they lead."""
        found: dict[int, None] = {}
        while waiting:
            source = waiting.pop(0)
            if source in found:
                continue
            found[source] = None
            for each in alternatives:
                way = Way(source, 0, each.event, step.between, 2 * number + 1, each.conditions, (), groups.all)
                waiting.append(self._way(way, number, each, groups))
        return found

    def _before(self, source: int) -> _Place:
        return _NOWHERE if source == BEGIN else self.places[source]

    def _place(self, place: _Place) -> int:
        """Return the number of a state, which is added if it is new."""
        if place not in self.places:
            self.places.append(place)
        return self.places.index(place)

    def _way(self, way: Way, number: int, each: StepAlternative, groups: _Groups) -> int:
        """Add a way, and the state to which it leads if that is new; return the state."""
        before = self._before(way.source)
        own = before.state.variables - {one.passed[0] for one in before.passed if one.passed}
        bound = own | (each.bound - groups.loose)
        assigned = tuple(dict.fromkeys((*before.assigned, *each.assigned)))
        loose = before.state.loose - (each.bound - groups.loose) | groups.loose
        state = RunState(number, bound, loose, groups.all, groups.repeated, name=each.name)
        target = self._place(_Place(state, assigned))
        values = values_of(assigned)
        seen = bound | loose | values.keys()
        conditions = tuple(self._condition(one, seen, assigned) for one in way.conditions)
        repeats = groups.repeated.index(each.taken) if groups.repeated else 0
        self.ways.append(replace(way, target=target, conditions=conditions, repeats=repeats))
        return target

    def _condition(
        self, condition: Expression, seen: frozenset[Variable], assigned: tuple[ExtendStep, ...]
    ) -> Expression:
        return inlined(FilterStep(condition, variables(condition) & seen), values_of(assigned)).expression

    def _passed(self, place: int, step: SequenceStep, source: int) -> int:
        """Add a state in which the event right behind runs has been passed over, as it is not the forbidden one."""
        passed, before = Variable(f"_:passed.{place}"), self.places[source]
        barred = tuple(
            Barred(each.event, each.conditions, passed=(passed, event))
            for each in self.alternatives(step.operand)
            for event in sorted(each.events, key=str)
        )
        known = before.state.variables | {passed}
        state = RunState(before.state.step, known, before.state.loose, passing=True)
        target = self._place(_Place(state, before.assigned, before.passed + barred))
        event = self.looking.any_event(passed, frozenset((passed,)))
        self.ways.append(Way(source, target, event, Follows.STRICT, -1 - place))
        return target

    def _barred(self, source: int, absent: Sequence[SequenceStep]) -> tuple[Barred, ...]:
        begins = source == BEGIN
        if absent and begins and self.sequence.width is None:
            raise QueryError(
                "what must not come before the first step needs WITHIN",
                place=absent[0].place,
                hint="say how far back to look: WITHIN 10 MINUTES",
            )
        return tuple(
            Barred(each.event, tuple(map(of_none, each.conditions)) if begins else each.conditions, begins)
            for step in absent
            for each in self.alternatives(step.operand)
        )


def _bound_by(step: SequenceStep) -> Iterable[Variable]:
    """Return the variables that the text of a step can bind; a step that must not be there binds none."""
    if step.occurs is Occurs.NEVER:
        return ()
    return (each for asked in algebra.event_patterns(step.operand) for each in visible(asked.pattern))
