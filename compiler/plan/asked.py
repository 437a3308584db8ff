"""Which variables the runs of each state must have: those that are needed later.

Data's way: ways of a sequence, what is shown -> **variables by state** -> the columns of runs.
"""

from __future__ import annotations

from dataclasses import dataclass

from retewave.compiler.expressions.tree import Call, Expression, Variable, children
from retewave.compiler.plan.operators.join import number_of, numbers_in
from retewave.compiler.plan.producers import LINK, SINCE, WAY, Open, is_told
from retewave.compiler.rewrite.runs import BEGIN, Runs, Way

__all__ = ["AskedVariables"]


@dataclass(frozen=True)
class AskedVariables:
    """Finds the variables that runs must have."""

    runs: Runs
    events: list[Open]  # by number: the solutions of an event, each once
    there: list[Open]  # by number: the same, perhaps some of them more than once
    shown: frozenset[int]  # the variables that complete runs must have

    @property
    def explained(self) -> bool:
        """Tell whether matches must tell the events that they are made of."""
        return any(is_told(name) for each in self.events for name in each.columns)

    @property
    def looks_back(self) -> bool:
        """Tell whether all events of a run must be found again."""
        return self.runs.looks_back or self.explained

    def bound(self, number: int) -> set[int]:
        """Return the variables of the runs of a state."""
        if number == BEGIN:
            return set()
        state = self.runs.states[number]
        return {number_of(each) for each in state.variables | state.loose}

    def loose(self, number: int) -> set[int]:
        """Return the variables that some runs of a state bind, and others do not."""
        return set() if number == BEGIN else set(map(number_of, self.runs.states[number].loose))

    def shared(self, way: Way) -> set[int]:
        """Return the variables in which a run and the event that it takes must agree."""
        return self.bound(way.source) & self.events[way.event].columns.keys() - set(map(number_of, way.rebound))

    def needed(self) -> list[set[int]]:
        """Return, by state, the variables that its runs must have."""
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
        """Return the names of columns beside variables that runs of a state must have in any case: links, times."""
        state = self.runs.states[number]
        if state.passing:
            return {LINK, SINCE}
        return {LINK} if state.step in {self.runs.longest, *(way.longest for way in self.runs.ways)} else set()

    def _explained(self, number: int) -> set[int]:
        """Return the names of columns in which runs of a state tell of the triples of their last event."""
        if self.runs.states[number].passing:
            return set()
        events = (self.events[way.event] for way in self.runs.ways if way.target == number)
        return {name for each in events for name in each.columns if is_told(name)}

    def _asked_behind(self) -> set[int]:
        """Return the variables that are compared with events that must not come behind complete runs."""
        seen = [set(self.there[each.event].columns) for each in self.runs.after]
        return set().union(*seen, *(numbers_in(one) for each in self.runs.after for one in each.conditions))

    def _told(self, number: int) -> set[int]:
        """Return the names of columns that runs of a state must have so that all of their events can be found."""
        state = self.runs.states[number]
        told = {LINK, *map(number_of, state.own)}
        if self.runs.groups:
            named = {number_of(each) for one in state.repeated for _, names in one.parts for each in names}
            told |= named & self.bound(number)
        return told | {WAY} if len(state.repeated) > 1 else told

    def _asked_by(self, way: Way, later: set[int]) -> set[int]:
        """Return the variables of a run that a way needs, if the run that it becomes must have those of `later`."""
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
        """Return the variables that are compared with events that must not stand between a run and its next event."""
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
    return set().union(*map(_previous, children(expression)))
