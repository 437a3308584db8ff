"""Which variables the runs of each state must have: those that somebody asks for later.

Data's way: ways of a sequence, what is shown -> **variables by state** -> the columns of runs.
"""

from __future__ import annotations

from dataclasses import dataclass

from retewave.compiler.expressions.tree import Call, Expression, Membership, Operation, Variable
from retewave.compiler.plan.operators.join import number_of, numbers_in
from retewave.compiler.plan.producers import LINK, SINCE, WAY, Open, is_told
from retewave.compiler.rewrite.runs import BEGIN, Runs, Way

__all__ = ["AskedVariables"]


@dataclass(frozen=True)
class AskedVariables:
    """Says what is asked of runs."""

    runs: Runs
    events: list[Open]  # by number: the solutions of an event, each once
    there: list[Open]  # by number: the same, perhaps some of them more than once
    shown: frozenset[int]  # what is asked of complete runs

    @property
    def explained(self) -> bool:
        """Tell whether somebody asks of what events matches are made."""
        return any(is_told(name) for each in self.events for name in each.columns)

    @property
    def looks_back(self) -> bool:
        """Tell whether somebody looks at all events of a run."""
        return self.runs.looks_back or self.explained

    def bound(self, number: int) -> set[int]:
        """Return the variables of the runs of a state."""
        if number == BEGIN:
            return set()
        state = self.runs.states[number]
        return {number_of(each) for each in state.variables | state.loose}

    def loose(self, number: int) -> set[int]:
        """Return those that some of the runs of a state bind."""
        return set() if number == BEGIN else set(map(number_of, self.runs.states[number].loose))

    def shared(self, way: Way) -> set[int]:
        """Return the variables in which a run and the event that it takes must agree."""
        return self.bound(way.source) & self.events[way.event].columns.keys() - set(map(number_of, way.rebound))

    def needed(self) -> list[set[int]]:
        """Return, by state, the variables of its runs that are asked for."""
        needed: list[set[int]] = [set() for _ in self.runs.states]
        needed[self.runs.final] |= self.bound(self.runs.final) & self.shown
        for number, names in enumerate(needed):
            names |= self._marks(number) | self._explained(number)
            names |= self._told(number) if self.looks_back else set()
        needed[self.runs.final] |= self._asked_behind() & self.bound(self.runs.final)
        changed = True
        while changed:
            before = [len(each) for each in needed]
            for way in self.runs.ways:
                if way.source != BEGIN:
                    needed[way.source] |= self._asked_by(way, needed[way.target])
            changed = before != [len(each) for each in needed]
        return needed

    def _marks(self, number: int) -> set[int]:
        """Return what runs of a state must have beside variables, whoever looks at them."""
        state = self.runs.states[number]
        if state.passing:
            return {LINK, SINCE}
        return {LINK} if state.step in {self.runs.longest, *(way.longest for way in self.runs.ways)} else set()

    def _explained(self, number: int) -> set[int]:
        """Return what runs of a state tell of the triples of their last event."""
        if self.runs.states[number].passing:
            return set()
        events = (self.events[way.event] for way in self.runs.ways if way.target == number)
        return {name for each in events for name in each.columns if is_told(name)}

    def _asked_behind(self) -> set[int]:
        """Return the variables that what must not come behind complete runs looks at."""
        seen = [set(self.there[each.event].columns) for each in self.runs.after]
        return set().union(*seen, *(numbers_in(one) for each in self.runs.after for one in each.conditions))

    def _told(self, number: int) -> set[int]:
        """Return what runs of a state must have so that all of their events can be looked at."""
        state = self.runs.states[number]
        told = {LINK, *map(number_of, state.own)}
        if self.runs.groups:
            named = {number_of(each) for one in state.repeated for _, names in one.parts for each in names}
            told |= named & self.bound(number)
        return told | {WAY} if len(state.repeated) > 1 else told

    def _asked_by(self, way: Way, later: set[int]) -> set[int]:
        """Return the variables of a run that a way asks for, if those of `later` are asked of what comes of it."""
        seen = set().union(*map(numbers_in, way.conditions)) if way.conditions else set()
        own = self.events[way.event].columns.keys()
        rebound = set(map(number_of, way.rebound))
        plain = seen - own
        plain |= set().union(*(_previous(each) for each in way.conditions)) if way.conditions else set()
        for each in way.barred:
            plain |= {number_of(each.passed[0])} if each.passed else set()
            plain |= self.events[each.event].columns.keys()
            plain |= set().union(*map(numbers_in, each.conditions)) if each.conditions else set()
        return (plain | self.shared(way) | (later - rebound)) & self.bound(way.source)

    def for_barred(self, way: Way) -> list[int]:
        """Return the variables that what must not be between a run and its event looks at."""
        seen: set[int] = set()
        for each in way.barred:
            seen |= {number_of(each.passed[0])} if each.passed else set()
            seen |= self.events[each.event].columns.keys()
            seen |= set().union(*map(numbers_in, each.conditions)) if each.conditions else set()
        return sorted(seen & (self.bound(way.source) | self.events[way.event].columns.keys()))


def _previous(expression: Expression) -> set[int]:
    """Return the variables whose value in the repetition before an expression looks at."""
    match expression:
        case Call("PREV", (Variable() as variable,)):
            return {number_of(variable)}
        case Operation(operands=parts) | Call(arguments=parts):
            return set().union(*map(_previous, parts))
        case Membership(needle=needle, members=members):
            return set().union(*map(_previous, (needle, *members)))
    return set()
