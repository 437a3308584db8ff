"""The ways by which runs go on: what a run and an event must share, what becomes of them, who rivals.

Data's way: a way between two states, the columns of both -> **a run's way** -> a step, or a state entered again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from retewave.compiler.algebra import Follows
from retewave.compiler.expressions.tree import Call, Expression, Variable, with_children
from retewave.compiler.plan.asked import AskedVariables
from retewave.compiler.plan.barring import UNBOUND, with_calls
from retewave.compiler.plan.operators.join import number_of
from retewave.compiler.plan.producers import (
    EITHER,
    END,
    LINK,
    NOTHING,
    OWN,
    RUN,
    SINCE,
    TAKEN,
    WAY,
    Input,
    Open,
    Rival,
    RunCall,
    RunWay,
    is_told,
)
from retewave.compiler.rewrite.runs import BEGIN, Runs, Way
from retewave.rete.words import layout
from retewave.rete.words.layout import OF_NOTHING, OF_ROW

__all__ = ["Ways"]

_FOLLOWS = {Follows.ANY: layout.ANY, Follows.NEXT: layout.NEXT, Follows.STRICT: layout.STRICT}


@dataclass(frozen=True)
class Ways:
    """Makes the ways of a plan of those of a sequence."""

    runs: Runs
    asked: AskedVariables
    events: list[Open]  # by number: the solutions of an event, each once
    states: Mapping[int, Open]  # by number, as far as they are planned
    instants: int | None  # the producer of the instants

    def way(
        self,
        way: Way,
        run: Mapping[int, int],
        keys: list[int],
        names: Mapping[int, int],
        building: int | None = None,
    ) -> RunWay:
        """Return a way by which runs with some columns become runs with some variables.

        `building`: the state that it leaves, if it is not planned yet.
        """
        event = self.events[way.event]
        rebound = {number_of(each) for each in way.rebound}
        shared = sorted(self.asked.shared(way) - set(keys), key=lambda each: run[each])
        loose = self.asked.loose(way.source)
        calls: dict[RunCall, None] = {}

        def call(name: str, variable: Variable, separator: Expression | None) -> RunCall:
            return self._call(name, variable, separator, way, run, building)

        conditions = tuple(
            _condition(with_calls(each, call, calls), event.columns, run, rebound) for each in way.conditions
        )
        return RunWay(
            event.read(tuple(event.columns[key] for key in keys)),
            tuple(self._source(name, way, run, rebound) for name in names),
            _FOLLOWS[way.follows],
            self._rivals(way, run, keys) if way.follows is Follows.NEXT else (),
            tuple((run[name], event.columns[name]) for name in shared),
            conditions,
            frozenset(run[name] for name in loose if name in run),
            tuple(calls),
            self._instants(event),
        )

    def _source(self, name: int, way: Way, run: Mapping[int, int], rebound: set[int]) -> tuple[int, int]:
        """Return where a way takes a column of the longer run from: the run, the event, or a word of its own."""
        event = self.events[way.event]
        is_passing = way.source != BEGIN and self.runs.states[way.source].passing
        if name == WAY:
            return OF_NOTHING, way.repeats
        if name == LINK:
            return (RUN, run[LINK]) if is_passing else (OF_ROW, 0)
        if name == SINCE:
            return RUN, run[SINCE] if is_passing else END
        kept = name in run and name not in rebound and not is_told(name)
        if kept and name in event.columns and name in self.asked.loose(way.source):
            return EITHER + event.columns[name], run[name]
        if kept:
            return RUN, run[name]
        return (TAKEN, event.columns[name]) if name in event.columns else NOTHING

    def _instants(self, event: Open) -> Input | None:
        """Return how the instants of the event's partition are read."""
        if self.instants is None:
            return None
        partition = sorted(number_of(each) for each in self.runs.partition)
        return Input(self.instants, tuple(event.columns[each] for each in partition))

    def _rivals(self, way: Way, run: Mapping[int, int], keys: list[int]) -> tuple[Rival, ...]:
        """Return the ways that bar a way of skip till next, if one of their events comes first."""
        rivals = (each for each in self.runs.ways_from(way.source) if each.rivals == way.rivals)
        return tuple(self._rival(each, run, keys) for each in rivals)

    def _call(
        self,
        name: str,
        variable: Variable,
        separator: Expression | None,
        way: Way,
        run: Mapping[int, int],
        building: int | None,
    ) -> RunCall:
        repeats = [number for number, each in enumerate(self.runs.states) if variable in each.own]
        number = number_of(variable) if repeats else 0
        planned = [self.states[each] for each in repeats if each in self.states]
        states = [(each.producer, each.columns[number]) for each in planned]
        if building in repeats:
            states.append((OWN, run[number]))
        counts = way.target in repeats
        column = self.events[way.event].columns.get(number) if counts else None
        return RunCall(name, separator, column, counts, tuple(states))

    def _rival(self, way: Way, run: Mapping[int, int], keys: list[int]) -> Rival:
        event, rebound = self.events[way.event], {number_of(each) for each in way.rebound}
        shared = sorted(self.asked.shared(way) - set(keys), key=lambda each: run[each])
        return (
            event.read(tuple(event.columns[key] for key in keys)),
            tuple((run[name], event.columns[name]) for name in shared),
            tuple(_condition(each, event.columns, run, rebound) for each in way.conditions),
        )


def _condition(
    expression: Expression, event: Mapping[int, int], run: Mapping[int, int], rebound: set[int]
) -> Expression:
    """Return a condition over the columns of an event, `c…`, and of a run, `d…`."""

    def part(one: Expression) -> Expression:
        return _condition(one, event, run, rebound)

    match expression:
        case Call("PREV", (Variable() as variable,)):
            number = number_of(variable)
            return Variable(f"d{run[number]}") if number in run else UNBOUND
        case Variable(name) if name.startswith("c"):
            number = number_of(expression)
            if number in event:
                return Variable(f"c{event[number]}")
            return Variable(f"d{run[number]}") if number in run and number not in rebound else UNBOUND
    return with_children(expression, part)
