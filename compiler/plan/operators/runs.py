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
from retewave.compiler.plan.operators.join import numbers_in
from retewave.compiler.plan.producers import (
    EITHER,
    END,
    LINK,
    NOTHING,
    OWN,
    RUN,
    START,
    TAKEN,
    WAY,
    Gap,
    Input,
    Instants,
    Open,
    Plan,
    Probe,
    RunCall,
    RunStep,
    RunWay,
    State,
    ToldRuns,
)
from retewave.compiler.rewrite.branch import Branch, Decided
from retewave.compiler.rewrite.runs import BEGIN, OVER_GROUPS, Barred, Runs
from retewave.compiler.rewrite.runs import Way as Written
from retewave.rete.words import layout
from retewave.rete.words.layout import OF_NOTHING, OF_ROW

__all__ = ["runs"]

_FOLLOWS = {Follows.ANY: layout.ANY, Follows.NEXT: layout.NEXT, Follows.STRICT: layout.STRICT}


def runs(plan: Plan, found: Runs, planned: Callable[[Branch], Open], shown: frozenset[int]) -> Open:
    """Add the states and steps of runs; return those that are complete.

    `planned` gives the producer of an event's solutions; `shown` are the variables that are asked for in the end.
    """
    events = [planned(each) for each in found.events]
    instants = [planned(each) for each in found.instants]
    mappings = [_once(plan, each) for each in events]
    return _Planning(plan, found, mappings, events, _instants(plan, found, instants), shown).done()


def _once(plan: Plan, solutions: Open) -> Open:
    """Return an event's solutions as a set: its triples may be given or entailed more than once."""
    names = sorted(solutions.columns, key=lambda name: solutions.columns[name])  # alike, however variables are named
    row = tuple(solutions.columns[name] for name in names)
    number = plan.number(State((solutions.read(),), (row,), tuple(range(len(names))), once=True))
    return Open(number, {name: column for column, name in enumerate(names)}, {}, False, solutions.leaves)


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
    there: list[Open]  # by number: the same, perhaps more than once
    instants: int | None  # the producer of the instants
    shown: frozenset[int]  # what is asked of complete runs
    states: dict[int, Open] = field(default_factory=dict)  # by number
    inside: dict[int, tuple[int, ...]] = field(default_factory=dict)  # by state: its leaves; ~n stands for state n's

    def done(self) -> Open:
        """Return the complete runs."""
        needed = self._needed()
        order = sorted(range(len(self.runs.states)), key=lambda n: (self._state(n).step, len(self._state(n).variables)))
        for number in order:
            self.states[number] = self._planned(number, sorted(needed[number]))
        final = self.states[self.runs.final]
        final.leaves = tuple(self._leaves(final.leaves, set()))
        if self.runs.tells:
            told = {each.producer: (self._state(number), each.columns) for number, each in self.states.items()}
            final.runs = ToldRuns(final.columns[LINK], final.producer, told, self.runs.calls)
        return final

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
        if self.runs.looks_back:
            for number, names in enumerate(needed):
                names |= self._told(number)
        changed = True
        while changed:
            before = [len(each) for each in needed]
            for way in self.runs.ways:
                if way.source != BEGIN:
                    needed[way.source] |= self._asked_by(way, needed[way.target])
            changed = before != [len(each) for each in needed]
        return needed

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
        for way in self.runs.ways_to(number):
            entry = self._entry(way, names)
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

    def _entry(self, way: Written, names: list[int]) -> Open:
        """Return what enters a state along a way, with a column for each of some variables."""
        event = self.events[way.event]
        if way.source == BEGIN:
            entered = self._begun(way, names)
            for each in way.barred:
                entered = self._unbarred(entered, each, ())
            return entered
        source = self.states[way.source]
        barred = way.barred
        wanted = dict.fromkeys((*names, *self._for_barred(way))) if barred else dict.fromkeys(names)
        columns = {name: column for column, name in enumerate(wanted)}
        keys = [name for name in source.columns if source.columns[name] in self._keys(source)]
        made = self._way(way, source.columns, keys, columns)
        if barred:
            made = replace(made, columns=(*made.columns, (RUN, END)))
        state = self.plan.producers[source.producer]
        assert isinstance(state, State)
        number = self.plan.number(RunStep(Input(source.producer, state.keys), made, self.runs.width))
        entered = Open(number, columns, {}, False, source.leaves + event.leaves)
        for each in barred:
            entered = self._unbarred(entered, each, (len(wanted),))
        return entered

    def _keys(self, source: Open) -> tuple[int, ...]:
        state = self.plan.producers[source.producer]
        assert isinstance(state, State)
        return state.keys

    def _for_barred(self, way: Written) -> list[int]:
        """Return the variables that what must not be between a run and its event looks at."""
        seen: set[int] = set()
        for each in way.barred:
            seen |= self.events[each.event].columns.keys()
            seen |= set().union(*map(numbers_in, each.conditions)) if each.conditions else set()
        return sorted(seen & (self._bound(way.source) | self.events[way.event].columns.keys()))

    def _begun(self, way: Written, names: list[int]) -> Open:
        """Return the runs that begin along a way: the event's solutions, where these have all that is asked."""
        event = self.events[way.event]
        if all(name in event.columns for name in names) and self.runs.tumbling is None:
            return event
        special = {WAY: (OF_NOTHING, way.repeats)}
        columns = tuple(
            (TAKEN, event.columns[name]) if name in event.columns else special.get(name, NOTHING) for name in names
        )
        made = RunStep(None, RunWay(event.read(), columns), self.runs.width, self.runs.tumbling)
        number = self.plan.number(made)
        return Open(number, {name: column for column, name in enumerate(names)}, {}, False, event.leaves)

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
        special = {LINK: (OF_ROW, 0), WAY: (OF_NOTHING, way.repeats)}
        calls: dict[RunCall, None] = {}
        conditions = tuple(
            _condition(self._called(each, way, run, calls, building), event.columns, run, rebound)
            for each in way.conditions
        )

        def source(name: int) -> tuple[int, int]:
            if name in special:
                return special[name]
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

    def _called(
        self,
        condition: Expression,
        way: Written,
        run: Mapping[int, int],
        calls: dict[RunCall, None],
        building: int | None,
    ) -> Expression:
        """Return a condition with `r0`, `r1`, … in place of what looks at all repetitions of a step."""

        def part(one: Expression) -> Expression:
            return self._called(one, way, run, calls, building)

        match condition:
            case Call(name, (Variable() as variable, *more)) if name in OVER_GROUPS:
                call = self._call(name, variable, more[0] if more else None, way, run, building)
                calls.setdefault(call)
                return Variable(f"r{list(calls).index(call)}")
            case Operation():
                return replace(condition, operands=tuple(map(part, condition.operands)))
            case Call():
                return replace(condition, arguments=tuple(map(part, condition.arguments)))
            case Membership(needle=needle, members=members):
                return replace(condition, needle=part(needle), members=tuple(map(part, members)))
        return condition

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

    def _unbarred(self, entered: Open, barred: Barred, since: tuple[int, ...]) -> Open:
        """Return the runs of some for which nothing came between; `since` is the column of the time before that."""
        there = self.there[barred.event]
        patterns = (pattern for branch in self.runs.branches for pattern in branch.all_patterns)
        events = {_number(each.event) for each in patterns if each.event is not None}  # two events may be of one name
        shared = sorted((entered.columns.keys() & there.columns.keys()) - events)
        first = entered.read(tuple(entered.columns[each] for each in shared))
        second = there.read(tuple(there.columns[each] for each in shared))
        origins = tuple(sorted({*entered.columns.values(), *since}))
        gaps = [Gap((1, END), 1, (0, END))]
        gaps += [Gap((0, column), 1, (1, START)) for column in since]
        gaps += [Gap((0, END), -barred.within, (1, START))] if barred.within is not None else []
        reach = -1 if self.runs.width is None else self.runs.width
        conditions = tuple(_of_barred(each, entered.columns, there.columns) for each in barred.conditions)
        probe = Probe(
            (first, second), origins, tuple(sorted(gaps)), conditions, Decided.AT_ARRIVAL,
            False, False, False, 0, reach, None,
        )  # fmt: skip
        number = self.plan.number(probe)
        columns = {name: origins.index(column) for name, column in entered.columns.items()}
        looked = entered.looked | frozenset(there.leaves)
        return Open(number, columns, {}, False, entered.leaves + there.leaves, looked=looked)


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
            return Variable(f"d{run[number]}") if number in run and number not in rebound else expression
        case Operation():
            return replace(expression, operands=tuple(map(part, expression.operands)))
        case Call():
            return replace(expression, arguments=tuple(map(part, expression.arguments)))
        case Membership(needle=needle, members=members):
            return replace(expression, needle=part(needle), members=tuple(map(part, members)))
    return expression


def _of_barred(expression: Expression, entered: Mapping[int, int], there: Mapping[int, int]) -> Expression:
    """Return a condition over the columns of what is decided, `c…`, and of what must not be there, `d…`."""
    from retewave.compiler.expressions.tree import rename

    names = {}
    for number in numbers_in(expression):
        if number in entered:
            names[Variable(f"c{number}")] = Variable(f"c{entered[number]}")
        elif number in there:
            names[Variable(f"c{number}")] = Variable(f"d{there[number]}")
    return rename(expression, names)
