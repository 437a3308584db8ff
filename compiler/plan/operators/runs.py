"""Runs: states, and the steps by which runs go on.

Data's way: states and ways of a branch -> **states, steps, instants** -> plan; `retewave.rete.operators.runs` runs it.
A run's columns are those variables that somebody asks for later.  What its next events share with it is the key under
which it is found, as far as all of its ways share it; the rest is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from retewave.compiler.algebra import Follows
from retewave.compiler.expressions.tree import Call, Expression, Membership, Operation, Variable
from retewave.compiler.plan.barring import UNBOUND, Barring, with_calls
from retewave.compiler.plan.operators.join import numbers_in
from retewave.compiler.plan.producers import (
    EITHER,
    END,
    LINK,
    NOTHING,
    OWN,
    RUN,
    SELF,
    SINCE,
    TAKEN,
    WAY,
    Input,
    Instants,
    Open,
    Plan,
    RunCall,
    RunStep,
    RunWay,
    State,
    Told,
    ToldRuns,
    is_told,
    name_of,
)
from retewave.compiler.rewrite.branch import Branch
from retewave.compiler.rewrite.runs import BEGIN, Runs, WantedEvents
from retewave.compiler.rewrite.runs import Way as Written
from retewave.rete.words import layout
from retewave.rete.words.layout import OF_NOTHING, OF_ROW

__all__ = ["runs"]

_FOLLOWS = {Follows.ANY: layout.ANY, Follows.NEXT: layout.NEXT, Follows.STRICT: layout.STRICT}


def runs(plan: Plan, found: Runs, planned: Callable[[Branch], Open], shown: frozenset[int]) -> Open:
    """Add the states and steps of runs; return those that are complete.

    `planned` gives the producer of an event's solutions; `shown` are the variables that are asked for in the end.
    """
    opened = [[planned(each) for each in of.alternatives] for of in found.events]
    instants = [planned(each) for each in found.instants]
    events = [_once(plan, each, _kept(of)) for each, of in zip(opened, found.events, strict=True)]
    alone = [len(each) == 1 and of.kept is None for each, of in zip(opened, found.events, strict=True)]
    there = [each[0] if one else once for each, one, once in zip(opened, alone, events, strict=True)]
    return _Planning(plan, found, events, there, _instants(plan, found, instants), shown).done()


def _kept(solutions: WantedEvents) -> set[int] | None:
    return None if solutions.kept is None else set(map(_number, solutions.kept))


def _once(plan: Plan, found: list[Open], kept: set[int] | None = None) -> Open:
    """Return solutions as a set: an event's triples may be given or entailed more than once."""
    own = found[0].columns  # in their order: solutions are alike, however variables are named
    names = sorted((name for name in own if kept is None or name in kept), key=lambda name: own[name])
    told = sorted({what for each in found for what in each.told}) if kept is None else []
    entered = [_with_all(plan, each, names, told) if len(found) > 1 and told else each for each in found]
    rows = tuple(tuple(each.columns[n] for n in names) + tuple(each.told[what] for what in told) for each in entered)
    number = plan.number(State(tuple(each.read() for each in entered), rows, tuple(range(len(names))), once=True))
    leaves = tuple(leaf for each in found for leaf in each.leaves)
    columns = {name: column for column, name in enumerate((*names, *map(name_of, told)))}
    return Open(number, columns, {}, False, leaves)


def _with_all(plan: Plan, solutions: Open, names: list[int], told: list[Told]) -> Open:
    """Return solutions with a column for all that others tell, too; there it is empty."""
    columns = [(TAKEN, solutions.columns[name]) for name in names]
    columns += [(TAKEN, solutions.told[what]) if what in solutions.told else NOTHING for what in told]
    number = plan.number(RunStep(None, RunWay(solutions.read(), tuple(columns))))
    own = {what: len(names) + place for place, what in enumerate(told)}
    return Open(number, {n: place for place, n in enumerate(names)}, {}, False, solutions.leaves, told=own)


def _instants(plan: Plan, found: Runs, opened: list[Open]) -> int | None:
    if not opened:
        return None
    partition = sorted(_number(each) for each in found.partition)
    read = (each.read(tuple(each.columns[v] for v in partition)) for each in opened)
    return plan.number(Instants(tuple(dict.fromkeys(read))))


@dataclass
class _Planning:
    """Plans the states of a sequence, each behind those from which runs come to it."""

    plan: Plan
    runs: Runs
    events: list[Open]  # by number: the solutions of an event, each once
    there: list[Open]  # by number: the same, perhaps some of them more than once
    instants: int | None  # the producer of the instants
    shown: frozenset[int]  # what is asked of complete runs
    states: dict[int, Open] = field(default_factory=dict)  # by number
    inside: dict[int, tuple[int, ...]] = field(default_factory=dict)  # by state: its leaves; ~n stands for state n's

    def done(self) -> Open:
        """Return the complete runs."""
        needed = self._needed()
        for number in sorted(range(len(self.runs.states)), key=self._rank):
            self.states[number] = self._planned(number, sorted(needed[number]))
        final, link, own = self.states[self.runs.final], LINK, True
        if self.runs.late or self.runs.settled:
            final, link, own = self._barring.ended(final), SELF, False
        final.leaves = tuple(self._leaves(final.leaves, set()))
        if self.runs.tells or self.explained:
            told = {each.producer: (self._state(number), each.columns) for number, each in self.states.items()}
            complete = self.states[self.runs.final].producer if own else None
            final.runs = ToldRuns(final.columns[link], complete, told, self.runs.calls)
        final.states = {each.producer: self._state(number) for number, each in self.states.items()}
        return final

    @property
    def explained(self) -> bool:
        """Tell whether somebody asks of what events matches are made."""
        return any(is_told(name) for each in self.events for name in each.columns)

    @property
    def looks_back(self) -> bool:
        """Tell whether somebody looks at all events of a run."""
        return self.runs.looks_back or self.explained

    @property
    def _barring(self) -> Barring:
        return Barring(self.plan, self.runs, self.there, self.states)

    def _rank(self, number: int) -> tuple[int, bool, int]:
        """Return what puts states behind those from which runs come to them."""
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

    def _state(self, number: int):  # type: ignore[no-untyped-def]
        return self.runs.states[number]

    def _bound(self, number: int) -> set[int]:
        """Return the variables of the runs of a state."""
        if number == BEGIN:
            return set()
        state = self.runs.states[number]
        return {_number(each) for each in state.variables | state.loose}

    def _loose(self, number: int) -> set[int]:
        """Return those that some of the runs of a state bind."""
        return set() if number == BEGIN else set(map(_number, self.runs.states[number].loose))

    def _shared(self, way: Written) -> set[int]:
        """Return the variables in which a run and the event that it takes must agree."""
        return self._bound(way.source) & self.events[way.event].columns.keys() - set(map(_number, way.rebound))

    def _needed(self) -> list[set[int]]:
        """Return, by state, the variables of its runs that are asked for."""
        needed: list[set[int]] = [set() for _ in self.runs.states]
        needed[self.runs.final] |= self._bound(self.runs.final) & self.shown
        for number, names in enumerate(needed):
            names |= self._marks(number) | self._explained(number)
            names |= self._told(number) if self.looks_back else set()
        needed[self.runs.final] |= self._asked_behind() & self._bound(self.runs.final)
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
        told = {LINK, *map(_number, state.own)}
        if self.runs.groups:
            named = {_number(each) for one in state.repeated for _, names in one.parts for each in names}
            told |= named & self._bound(number)
        return told | {WAY} if len(state.repeated) > 1 else told

    def _asked_by(self, way: Written, later: set[int]) -> set[int]:
        """Return the variables of a run that a way asks for, if those of `later` are asked of what comes of it."""
        seen = set().union(*map(numbers_in, way.conditions)) if way.conditions else set()
        own = self.events[way.event].columns.keys()
        rebound = set(map(_number, way.rebound))
        plain = seen - own
        plain |= set().union(*(_previous(each) for each in way.conditions)) if way.conditions else set()
        for each in way.barred:
            plain |= {_number(each.passed[0])} if each.passed else set()
            plain |= self.events[each.event].columns.keys()
            plain |= set().union(*map(numbers_in, each.conditions)) if each.conditions else set()
        return (plain | self._shared(way) | (later - rebound)) & self._bound(way.source)

    def _planned(self, number: int, names: list[int]) -> Open:
        """Add a state whose runs have some variables."""
        columns = {name: column for column, name in enumerate(names)}
        leaving = self.runs.ways_from(number)
        certain = [name for name in names if name not in self._loose(number)]
        keys = [name for name in certain if all(name in self._shared(way) for way in leaving)] if leaving else []
        entries, rows, leaves = [], [], tuple[int, ...]()
        for entry in self._entries(number, names):
            entries.append(entry.read())
            rows.append(tuple(entry.columns[name] for name in names))
            leaves += entry.leaves
        again = tuple(self._way(way, columns, keys, columns, number) for way in leaving if way.target == number)
        leaves += tuple(leaf for way in leaving if way.target == number for leaf in self.events[way.event].leaves)
        state = State(
            tuple(entries), tuple(rows), tuple(columns[key] for key in keys), again, self.runs.width, columns.get(LINK)
        )
        self.inside[number] = leaves
        return Open(self.plan.number(state), columns, {}, False, (~number,))

    def _entries(self, number: int, names: list[int]) -> Iterator[Open]:
        """Yield what enters a state, with a column for each of some variables; what comes by two ways may be one."""
        ways = self.runs.ways_to(number)
        again: dict[int, list[Open]] = {}
        for way in ways:
            if way.source == BEGIN:
                yield from (self._unbarred(each, way) for each in self._begun(way, names))
            elif any(each.once for each in ways):
                again.setdefault(way.event, []).append(self._entry(way, names))
            else:
                yield self._entry(way, names)
        for event, found in again.items():
            yield _once(self.plan, found, {LINK, *names, *self.events[event].columns})

    def _entry(self, way: Written, names: list[int]) -> Open:
        """Return what enters a state from another one, with a column for each of some variables, and for others."""
        event, source = self.events[way.event], self.states[way.source]
        wanted = dict.fromkeys(names)
        if way.barred or way.longest:
            wanted |= dict.fromkeys((*self._for_barred(way), SINCE))
        if way.once or way.longest or self.looks_back:
            wanted |= dict.fromkeys((LINK, *(event.columns if way.once else ())))
        columns = {name: column for column, name in enumerate(wanted)}
        keys = [name for name in source.columns if source.columns[name] in self._keys(source)]
        made = self._way(way, source.columns, keys, columns)
        state = self.plan.producers[source.producer]
        assert isinstance(state, State)
        number = self.plan.number(RunStep(Input(source.producer, state.keys), made, self.runs.width))
        return self._unbarred(Open(number, columns, {}, False, source.leaves + event.leaves), way)

    def _unbarred(self, entered: Open, way: Written) -> Open:
        """Return those runs of some for which nothing is there that must not be."""
        for each in way.barred:
            entered = self._barring.unbarred(entered, each)
        return self._barring.unlengthened(entered, way.longest) if way.longest else entered

    def _keys(self, source: Open) -> tuple[int, ...]:
        state = self.plan.producers[source.producer]
        assert isinstance(state, State)
        return state.keys

    def _for_barred(self, way: Written) -> list[int]:
        """Return the variables that what must not be between a run and its event looks at."""
        seen: set[int] = set()
        for each in way.barred:
            seen |= {_number(each.passed[0])} if each.passed else set()
            seen |= self.events[each.event].columns.keys()
            seen |= set().union(*map(numbers_in, each.conditions)) if each.conditions else set()
        return sorted(seen & (self._bound(way.source) | self.events[way.event].columns.keys()))

    def _begun(self, way: Written, names: list[int]) -> Iterator[Open]:
        """Yield the runs that begin along a way: the event's solutions, where these have all that is asked.

        Where a window begins, the one before it ends: what waits for its end may be of both.
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

    def _way(
        self,
        way: Written,
        run: Mapping[int, int],
        keys: list[int],
        names: Mapping[int, int],
        building: int | None = None,
    ) -> RunWay:
        """Return a way by which runs with some columns become runs with some variables.

        `building`: the state that it leaves, if it is not planned yet.
        """
        event = self.events[way.event]
        rebound = {_number(each) for each in way.rebound}
        shared = sorted(self._shared(way) - set(keys), key=lambda each: run[each])
        follows = _FOLLOWS[way.follows]
        rivals = tuple(
            self._rival(each, run, keys) for each in self.runs.ways_from(way.source) if each.rivals == way.rivals
        )
        instants = None
        if self.instants is not None:
            partition = sorted(_number(each) for each in self.runs.partition)
            instants = Input(self.instants, tuple(event.columns[each] for each in partition))

        loose = self._loose(way.source)
        special = {LINK: (OF_ROW, 0), WAY: (OF_NOTHING, way.repeats), SINCE: (RUN, END)}
        if way.source != BEGIN and self.runs.states[way.source].passing:
            special |= {LINK: (RUN, run[LINK]), SINCE: (RUN, run[SINCE])}
        calls: dict[RunCall, None] = {}

        def call(name: str, variable: Variable, separator: Expression | None) -> RunCall:
            return self._call(name, variable, separator, way, run, building)

        conditions = tuple(
            _condition(with_calls(each, call, calls), event.columns, run, rebound) for each in way.conditions
        )

        def source(name: int) -> tuple[int, int]:
            if name in special:
                return special[name]
            if is_told(name):
                return (TAKEN, event.columns[name]) if name in event.columns else NOTHING
            if name in loose and name in run and name not in rebound and name in event.columns:
                return EITHER + event.columns[name], run[name]
            if name in run and name not in rebound:
                return RUN, run[name]
            return (TAKEN, event.columns[name]) if name in event.columns else NOTHING

        return RunWay(
            event.read(tuple(event.columns[key] for key in keys)),
            tuple(source(name) for name in names),
            follows,
            rivals if follows == layout.NEXT else (),
            tuple((run[name], event.columns[name]) for name in shared),
            conditions,
            frozenset(run[name] for name in loose if name in run),
            tuple(calls),
            instants,
        )

    def _call(
        self,
        name: str,
        variable: Variable,
        separator: Expression | None,
        way: Written,
        run: Mapping[int, int],
        building: int | None,
    ) -> RunCall:
        repeats = [number for number, each in enumerate(self.runs.states) if variable in each.own]
        number = _number(variable) if repeats else 0
        planned = [self.states[each] for each in repeats if each in self.states]
        states = [(each.producer, each.columns[number]) for each in planned]
        if building in repeats:
            states.append((OWN, run[number]))
        counts = way.target in repeats
        column = self.events[way.event].columns.get(number) if counts else None
        return RunCall(name, separator, column, counts, tuple(states))

    def _rival(self, way: Written, run: Mapping[int, int], keys: list[int]):  # type: ignore[no-untyped-def]
        event, rebound = self.events[way.event], {_number(each) for each in way.rebound}
        shared = sorted(self._shared(way) - set(keys), key=lambda each: run[each])
        return (
            event.read(tuple(event.columns[key] for key in keys)),
            tuple((run[name], event.columns[name]) for name in shared),
            tuple(_condition(each, event.columns, run, rebound) for each in way.conditions),
        )


def _number(variable: Variable) -> int:
    return int(variable.name[1:])


def _previous(expression: Expression) -> set[int]:
    """Return the variables whose value in the repetition before an expression looks at."""
    match expression:
        case Call("PREV", (Variable() as variable,)):
            return {_number(variable)}
        case Operation(operands=parts) | Call(arguments=parts):
            return set().union(*map(_previous, parts))
        case Membership(needle=needle, members=members):
            return set().union(*map(_previous, (needle, *members)))
    return set()


def _condition(
    expression: Expression, event: Mapping[int, int], run: Mapping[int, int], rebound: set[int]
) -> Expression:
    """Return a condition over the columns of an event, `c…`, and of a run, `d…`."""

    def part(one: Expression) -> Expression:
        return _condition(one, event, run, rebound)

    match expression:
        case Call("PREV", (Variable() as variable,)):
            return Variable(f"d{run[_number(variable)]}")
        case Variable(name) if name.startswith("c"):
            number = _number(expression)
            if number in event:
                return Variable(f"c{event[number]}")
            return Variable(f"d{run[number]}") if number in run and number not in rebound else UNBOUND
        case Operation():
            return replace(expression, operands=tuple(map(part, expression.operands)))
        case Call():
            return replace(expression, arguments=tuple(map(part, expression.arguments)))
        case Membership(needle=needle, members=members):
            return replace(expression, needle=part(needle), members=tuple(map(part, members)))
    return expression
