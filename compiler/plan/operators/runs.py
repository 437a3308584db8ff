"""Runs: states, and the steps by which runs go on.

Data's way: states and ways of a branch -> **states, steps, instants** -> plan; `retewave.rete.operators.runs` runs it.
A run's columns are the variables that are needed later.  The variables that all of its ways share with their events are
the key under which it is found; the other shared variables are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from retewave.compiler.plan.asked import AskedVariables
from retewave.compiler.plan.barring import Barring
from retewave.compiler.plan.operators.join import number_of
from retewave.compiler.plan.operators.states import instants, once
from retewave.compiler.plan.producers import (
    LINK,
    NOTHING,
    SELF,
    SINCE,
    TAKEN,
    WAY,
    Input,
    Open,
    Plan,
    RunStep,
    RunWay,
    State,
    ToldRuns,
)
from retewave.compiler.plan.ways import Ways
from retewave.compiler.rewrite.branch import Branch
from retewave.compiler.rewrite.runs import BEGIN, Runs, RunState, WantedEvents, Way
from retewave.rete.words.layout import OF_NOTHING

__all__ = ["runs"]


def runs(plan: Plan, found: Runs, planned: Callable[[Branch], Open], shown: frozenset[int]) -> Open:
    """Add the states and steps of runs; return the complete runs.

    `planned` gives the producer of an event's solutions; `shown` are the variables that complete runs must have.
    """
    opened = [[planned(each) for each in of.alternatives] for of in found.events]
    came = instants(plan, found, [planned(each) for each in found.instants])
    events = [once(plan, each, _kept(of)) for each, of in zip(opened, found.events, strict=True)]
    alone = [len(each) == 1 and of.kept is None for each, of in zip(opened, found.events, strict=True)]
    there = [each[0] if one else solved for each, one, solved in zip(opened, alone, events, strict=True)]
    asked, states = AskedVariables(found, events, there, shown), dict[int, Open]()
    ways = Ways(found, asked, events, states, came)
    return _Planning(plan, found, events, asked, ways, Barring(plan, found, there, states), states).done()


def _kept(solutions: WantedEvents) -> set[int] | None:
    return None if solutions.kept is None else set(map(number_of, solutions.kept))


@dataclass
class _Planning:
    """Plans the states of a sequence, each behind those from which runs come to it."""

    plan: Plan
    runs: Runs
    events: list[Open]  # by number: the solutions of an event, each once
    asked: AskedVariables  # the variables that runs must have
    ways: Ways  # by which they go on
    barring: Barring  # adds the probes for barring events
    states: dict[int, Open]  # by number, as far as they are planned; `ways` and `barring` read them, too
    inside: dict[int, tuple[int, ...]] = field(default_factory=dict)  # by state: its leaves; ~n stands for state n's

    def done(self) -> Open:
        """Return the complete runs."""
        needed = self.asked.needed()
        for number in sorted(range(len(self.runs.states)), key=self._rank):
            self.states[number] = self._planned(number, sorted(needed[number]))
        final, link, own = self.states[self.runs.final], LINK, True
        if self.runs.late or self.runs.settled:
            final, link, own = self.barring.ended(final), SELF, False
        final.leaves = tuple(self._leaves(final.leaves, set()))
        if self.runs.tells or self.asked.explained:
            told = {each.producer: (self._state(number), each.columns) for number, each in self.states.items()}
            complete = self.states[self.runs.final].producer if own else None
            final.runs = ToldRuns(final.columns[link], complete, told, self.runs.calls)
        final.states = {each.producer: self._state(number) for number, each in self.states.items()}
        return final

    def _rank(self, number: int) -> tuple[int, bool, int]:
        """Return a key that sorts states behind those from which runs come to them."""
        state = self.runs.states[number]
        return state.step, state.passing, len(state.variables)

    def _leaves(self, leaves: tuple[int, ...], told: set[int]) -> Iterator[int]:
        """Yield leaves in the order of the walk, which goes below each state once."""
        for leaf in leaves:
            if leaf >= 0:
                yield leaf
            elif self.states[~leaf].producer not in told:
                told.add(self.states[~leaf].producer)
                yield from self._leaves(self.inside[~leaf], told)

    def _state(self, number: int) -> RunState:
        return self.runs.states[number]

    def _planned(self, number: int, names: list[int]) -> Open:
        """Add a state whose runs have some variables."""
        columns = {name: column for column, name in enumerate(names)}
        leaving = self.runs.ways_from(number)
        certain = [name for name in names if name not in self.asked.loose(number)]
        keys = [name for name in certain if all(name in self.asked.shared(way) for way in leaving)] if leaving else []
        entries, rows, leaves = [], [], tuple[int, ...]()
        for entry in self._entries(number, names):
            entries.append(entry.read())
            rows.append(tuple(entry.columns[name] for name in names))
            leaves += entry.leaves
        again = tuple(self.ways.way(way, columns, keys, columns, number) for way in leaving if way.target == number)
        leaves += tuple(leaf for way in leaving if way.target == number for leaf in self.events[way.event].leaves)
        state = State(
            tuple(entries), tuple(rows), tuple(columns[key] for key in keys), again, self.runs.width, columns.get(LINK)
        )
        self.inside[number] = leaves
        return Open(self.plan.number(state), columns, {}, False, (~number,))

    def _entries(self, number: int, names: list[int]) -> Iterator[Open]:
        """Yield the runs that enter a state, with a column for each of `names`; runs by two ways may be one run."""
        ways = self.runs.ways_to(number)
        again: dict[int, list[Open]] = {}
        for way in ways:
            if way.source == BEGIN:
                yield from (self._unbarred(each, way) for each in self._begun(way, names))
            elif any(each.once for each in ways):
                again.setdefault(way.event, []).append(self._entry(replace(way, once=True), names))
            else:
                yield self._entry(way, names)
        for event, found in again.items():
            yield once(self.plan, found, {LINK, *names, *self.events[event].columns})

    def _entry(self, way: Way, names: list[int]) -> Open:
        """Return the runs that enter a state from another one, with a column for each of `names`, perhaps others."""
        event, source = self.events[way.event], self.states[way.source]
        wanted = dict.fromkeys(names)
        if way.barred or way.longest:
            wanted |= dict.fromkeys((*self.asked.for_barred(way), SINCE))
        if way.once or way.longest or self.asked.looks_back:
            wanted |= dict.fromkeys((LINK, *(event.columns if way.once else ())))
        columns = {name: column for column, name in enumerate(wanted)}
        keys = [name for name in source.columns if source.columns[name] in self._keys(source)]
        made = self.ways.way(way, source.columns, keys, columns)
        state = self.plan.producers[source.producer]
        assert isinstance(state, State)
        number = self.plan.number(RunStep(Input(source.producer, state.keys), made, self.runs.width))
        return self._unbarred(Open(number, columns, {}, False, source.leaves + event.leaves), way)

    def _unbarred(self, entered: Open, way: Way) -> Open:
        """Return the entering runs without those that a barring event bars."""
        loose = self.asked.loose(way.source) | self.asked.loose(way.target)
        for each in way.barred:
            entered = self.barring.unbarred(entered, each, loose)
        return self.barring.unlengthened(entered, way.longest) if way.longest else entered

    def _keys(self, source: Open) -> tuple[int, ...]:
        state = self.plan.producers[source.producer]
        assert isinstance(state, State)
        return state.keys

    def _begun(self, way: Way, names: list[int]) -> Iterator[Open]:
        """Yield the runs that begin along a way: the event's solutions, where these have all columns.

        Where a window begins, the one before it ends: an event at that time may begin runs in both.
        """
        event = self.events[way.event]
        if all(name in event.columns for name in names) and self.runs.tumbling is None:
            yield event
            return
        special = {WAY: (OF_NOTHING, way.repeats)}
        columns = tuple(
            (TAKEN, event.columns[name]) if name in event.columns else special.get(name, NOTHING) for name in names
        )
        made = RunStep(None, RunWay(event.read(), columns), self.runs.width, self.runs.tumbling)
        for closing in (False, True) if self.runs.late and self.runs.tumbling is not None else (False,):
            number = self.plan.number(replace(made, closing=closing))
            yield Open(number, {name: column for column, name in enumerate(names)}, {}, False, event.leaves)
