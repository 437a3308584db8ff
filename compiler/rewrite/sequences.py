"""Sequences of events as states and ways.

Data's way: algebra -> **states and ways** -> branches -> plan.
A step that may be there or not makes two sequences.  A step with alternatives has a way for each; where these bind
different variables, they lead to different states.  A step that may be repeated has ways from its states to themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TypeAlias

from retewave.compiler import algebra
from retewave.compiler.algebra import Both, Either, EventPattern, Follows, Occurs, Operand, SequenceStep, visible
from retewave.compiler.expressions.tree import Expression, Variable, mentions, variables
from retewave.compiler.rewrite.branch import THERE, Bound, Branch, Decided, ExtendStep, FilterStep, Moment, Probe
from retewave.compiler.rewrite.choosing import Normal
from retewave.compiler.rewrite.inlining import inlined, values_of
from retewave.compiler.rewrite.joining import Fresh, as_part, conjuncts, join
from retewave.compiler.rewrite.probing import absent as absence
from retewave.compiler.rewrite.repetitions import of_first
from retewave.compiler.rewrite.runs import BEGIN, OVER_GROUPS, Barred, Repeated, Runs, RunState, Way
from retewave.errors import Place, QueryError

__all__ = ["OVER_RUNS", "event_variables", "in_sequence"]

_ITS_START, _ITS_END = Moment(THERE, False), Moment(THERE, True)
OVER_RUNS = OVER_GROUPS | {"PREV"}


def in_sequence(sequence: algebra.Sequence, of: Normal, fresh: Fresh) -> Iterator[Branch]:
    """Yield the branches of a sequence: of each choice of what may be there, one for each way in which it may end."""
    _refuse(sequence)
    for steps in product(*map(_choices, sequence.steps)):
        yield from _Building(replace(sequence, steps=steps), sequence.steps, of, fresh).branches()


def _refuse(sequence: algebra.Sequence) -> None:
    """Refuse what the network cannot do."""
    if sequence.tumbling is not None:
        hint = "leave TUMBLING out: each run then has a window of its own"
        raise QueryError("TUMBLING is not supported", place=sequence.place, hint=hint)
    for step in sequence.steps:
        if step.occurs is Occurs.MOST:
            hint = "write + : each number of repetitions is a match of its own"
            raise QueryError(
                "repetitions that are as many as can be (+!) are not supported", place=step.place, hint=hint
            )
        for asked in algebra.event_patterns(step.operand):
            called = any(mentions(one, OVER_RUNS) for one in asked.conditions)
            if called and step.occurs in (Occurs.MAYBE, Occurs.NEVER):
                what = f"what looks at all repetitions is not supported in a step with {step.occurs.value}"
                raise QueryError(what, place=asked.place, hint="write it in the FILTER of another step")
    if sequence.past_last:
        hint = "leave it out: all matches are told"
        raise QueryError("AFTER MATCH SKIP PAST LAST is not supported", place=sequence.place, hint=hint)


def _choices(step: SequenceStep) -> tuple[SequenceStep, ...]:
    if step.occurs is not Occurs.MAYBE:
        return (step,)
    return replace(step, occurs=Occurs.ONCE), replace(step, occurs=Occurs.NEVER)


def event_variables(branch: Branch) -> frozenset[Variable]:
    """Return the variables that stand for events."""
    return frozenset(pattern.event for pattern in branch.all_patterns if pattern.event is not None)


@dataclass(frozen=True)
class _Alternative:
    """One kind of solution of a step's operand."""

    event: int  # number of its event solutions
    bound: frozenset[Variable]  # what they bind, but events
    assigned: tuple[ExtendStep, ...]  # what is assigned when a run is complete
    conditions: tuple[Expression, ...]  # what they and the run before must keep
    taken: Repeated  # which event patterns they are of


_Taken: TypeAlias = tuple[tuple[str, frozenset[Variable]], ...]
_Solution: TypeAlias = tuple[Branch, tuple[Expression, ...], _Taken]


@dataclass(frozen=True)
class _Groups:
    """The group variables of a step."""

    all: frozenset[Variable] = frozenset()  # each repetition binds them anew
    loose: frozenset[Variable] = frozenset()  # not all of its alternatives bind them
    repeated: tuple[Repeated, ...] = ()  # its alternatives


@dataclass(frozen=True)
class _Place:
    """A state while ways are made: what tells one from another."""

    state: RunState  # what its runs bind
    assigned: tuple[ExtendStep, ...] = ()  # what is assigned when a run is complete


@dataclass
class _Building:
    """Makes the states and ways of a sequence without steps that may be there or not."""

    sequence: algebra.Sequence
    written: tuple[SequenceStep, ...]  # its steps as they are written: what may be left out can bind a variable
    of: Normal
    fresh: Fresh
    events: list[Branch] = field(default_factory=list)
    places: list[_Place] = field(default_factory=list)
    ways: list[Way] = field(default_factory=list)
    known: set[Variable] = field(default_factory=set)  # what the text of the steps so far may bind

    def branches(self) -> Iterator[Branch]:
        """Yield a branch for each state in which a run is complete."""
        steps = self.sequence.steps
        taken = [place for place, step in enumerate(steps) if step.occurs is not Occurs.NEVER]
        if not taken:
            raise QueryError("a sequence of steps that must not be there finds nothing", place=self.sequence.place)
        last, current = -1, [BEGIN]
        for number, place in enumerate(taken, 1):
            self.known = {
                each
                for step in self.written[:place]
                if step.occurs is not Occurs.NEVER
                for pattern in _patterns(step.operand)
                for each in visible(pattern)
            }
            current = self._step(number, steps[place], steps[last + 1 : place], current)
            last = place
        runs = self._runs()
        for final in current:
            yield self._complete(runs, final, steps[last + 1 :])

    def _step(self, number: int, step: SequenceStep, absent: Sequence[SequenceStep], sources: list[int]) -> list[int]:
        """Add the ways of a step from some states; return the states to which they lead."""
        names = {each for pattern in _patterns(step.operand) for each in visible(pattern)}
        alternatives, groups = self._alternatives(step.operand), _Groups()
        if step.occurs in (Occurs.SOME, Occurs.MOST):
            anew = frozenset(names - self.known - set(self.sequence.partition))
            own = anew & frozenset().union(*(each.bound for each in alternatives))
            always = frozenset.intersection(*(each.bound for each in alternatives))
            groups = _Groups(own, own - always, tuple(dict.fromkeys(each.taken for each in alternatives)))
        found: dict[int, None] = {}
        for source, each in product(sources, self._beginning(step.operand) if sources == [BEGIN] else alternatives):
            barred = self._barred(source, absent)
            conditions = tuple(one for one in each.conditions if not mentions(one, frozenset(("PREV",))))
            way = Way(source, 0, each.event, step.follows, 2 * number, conditions, barred)
            found[self._way(way, number, each, groups)] = None
        if step.occurs in (Occurs.SOME, Occurs.MOST):
            found |= self._repeated(number, step, alternatives, groups, list(found))
        return list(found)

    def _repeated(
        self, number: int, step: SequenceStep, alternatives: list[_Alternative], groups: _Groups,
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

    def _way(self, way: Way, number: int, each: _Alternative, groups: _Groups) -> int:
        """Add a way, and the state to which it leads if it is new; return that."""
        before = _Place(RunState(0, frozenset())) if way.source == BEGIN else self.places[way.source]
        bound = before.state.variables | (each.bound - groups.loose)
        assigned = tuple(dict.fromkeys((*before.assigned, *each.assigned)))
        loose = before.state.loose - (each.bound - groups.loose) | groups.loose
        place = _Place(RunState(number, bound, loose, groups.all, groups.repeated), assigned)
        if place not in self.places:
            self.places.append(place)
        target = self.places.index(place)
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

    def _barred(self, source: int, absent: Sequence[SequenceStep]) -> tuple[Barred, ...]:
        if not absent:
            return ()
        width = self.sequence.width
        if source == BEGIN and width is None:
            raise QueryError(
                "what must not come before the first step needs WITHIN",
                place=absent[0].place,
                hint="say how far back to look: WITHIN 10 MINUTES",
            )
        for each in absent:
            if each.follows is Follows.STRICT and source != BEGIN:
                raise QueryError(
                    "a step that must not be there cannot stand behind ,",
                    place=each.place,
                    hint="write ; or : before it",
                )
        return tuple(
            Barred(each.event, each.conditions, width if source == BEGIN else None)
            for step in absent
            for each in self._alternatives(step.operand)
        )

    def _beginning(self, operand: Operand) -> list[_Alternative]:
        """Return the alternatives with which runs begin: all of their conditions are on the event alone."""
        return self._alternatives(operand, begins=True)

    def _alternatives(self, operand: Operand, begins: bool = False) -> list[_Alternative]:
        found = []
        for branch, conditions, taken in self._solutions(operand):
            assigned = tuple(step for step in branch.steps if isinstance(step, ExtendStep))
            own = branch.bound - event_variables(branch)
            values = values_of(branch.steps)
            seen = own | values.keys()
            filters = [inlined(step, values) for step in branch.steps if isinstance(step, FilterStep)]
            later = []
            for one in conditions:
                if begins and mentions(one, frozenset(("PREV",))):
                    continue
                if begins:
                    one = of_first(one)
                if (begins or variables(one) <= seen) and not mentions(one, OVER_RUNS):
                    filters.append(inlined(FilterStep(one, variables(one) & seen), values))
                else:
                    later.append(one)
            event = replace(branch, steps=tuple(filters))
            if event not in self.events:
                self.events.append(event)
            found.append(_Alternative(self.events.index(event), own, assigned, tuple(later), Repeated(taken)))
        return found

    def _solutions(self, operand: Operand, side: str = "") -> Iterator[_Solution]:
        """Yield the branches of an operand, each with the conditions on what came before, and what it takes.

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
                    yield join(one, other, self.fresh, operand_place(operand)).branch, these + those, first + second

    def _on_streams(self, asked: EventPattern, side: str = "") -> algebra.Algebra:
        """Return the pattern of an event pattern, whose triples its streams bring, or else those of the sequence."""
        streams = asked.streams or self.sequence.streams

        def brought(triple: algebra.TriplePattern) -> algebra.TriplePattern:
            if triple.event is None:
                return triple
            return replace(triple, event=Variable(triple.event.name + side), streams=streams or triple.streams)

        return algebra.retold(asked.pattern, brought) if streams or side else asked.pattern

    def _runs(self) -> Runs:
        sequence = self.sequence
        strict = any(way.follows is Follows.STRICT for way in self.ways if way.source != BEGIN)
        states = tuple(place.state for place in self.places)
        instants = tuple(self._instants()) if strict else ()
        groups = any(state.repeated for state in states)
        return Runs(
            tuple(self.events), states, tuple(self.ways), 0, instants, sequence.partition, sequence.width,
            sequence.tumbling, groups,
        )  # fmt: skip

    def _instants(self) -> Iterator[Branch]:
        """Yield what tells that an event came: any on the streams; of a partition, one that a step's pattern takes."""
        if not self.sequence.partition:
            s, p, o, event = (Variable(f"_:any.{name}") for name in ("s", "p", "o", "event"))
            yield Branch(patterns=(algebra.TriplePattern(s, p, o, event=event, streams=self.sequence.streams),))
            return
        found: dict[Branch, None] = {}
        for step in self.sequence.steps:
            for asked in algebra.event_patterns(step.operand):
                for branch in self.of(_without_filters(self._on_streams(asked))):
                    if branch.bound.issuperset(self.sequence.partition):
                        found[replace(branch, steps=())] = None
        yield from found

    def _complete(self, runs: Runs, final: int, absent: Sequence[SequenceStep]) -> Branch:
        branch = Branch(runs=runs.ends_in(final), steps=self.places[final].assigned)
        return self._never_after(branch, absent) if absent else branch

    def _never_after(self, branch: Branch, absent: Sequence[SequenceStep]) -> Branch:
        """Return the runs behind which something does not come until their window is over: they end there."""
        width, place = self.sequence.width, absent[0].place
        if width is None:
            raise QueryError("a step that must not be there at the end needs WITHIN", place=place)
        assert branch.runs is not None
        bounds = (Bound(Moment(0, True), 1, _ITS_START), Bound(_ITS_END, -width, Moment(0, False)))
        branch = as_part(replace(branch, runs=replace(branch.runs, groups=False)), place)
        decided, deadline = Decided.AT_DEADLINE, width
        for step in absent:
            for each in self._alternatives(step.operand):
                there = self.events[each.event]
                seen = branch.bound | branch.assigned | there.bound
                conditions = tuple(FilterStep(one, variables(one) & seen) for one in each.conditions)
                look = Probe(
                    there, bounds, decided, streamed=True, conditions=conditions, deadline=deadline, keep=width,
                    lasting=True, operator="SEQ NOT",
                )  # fmt: skip
                branch = absence(branch, look, step.place)
                decided, deadline = Decided.AT_CLOSE, 0
        return branch


def operand_place(operand: Operand) -> Place | None:
    """Return where an operand is written: where its first pattern is."""
    while not isinstance(operand, EventPattern):
        operand = operand.left
    return operand.place


def _patterns(operand: Operand) -> Iterable[algebra.Algebra]:
    return (each.pattern for each in algebra.event_patterns(operand))


def _without_filters(pattern: algebra.Algebra) -> algebra.Algebra:
    while isinstance(pattern, algebra.Filter):
        pattern = pattern.pattern
    return pattern
