"""Lower states, steps and instants: memories of runs, and the edges that take events to them.

Data's way: plan -> **records of states and steps** -> the kernel's array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from retewave.compiler.expressions.programs import Programs, conjunction
from retewave.compiler.expressions.tree import Expression, Variable, variables
from retewave.compiler.lower.lowered import AskedCall, AskedFilter, Lowered, OutputRuns, SlotPlan
from retewave.compiler.lower.needs import Needs
from retewave.compiler.plan.producers import (
    EITHER,
    OWN,
    TAKEN,
    WAY,
    Input,
    Instants,
    RunCall,
    RunStep,
    RunWay,
    State,
    ToldRuns,
    columns_of,
    is_told,
    told_by,
)
from retewave.compiler.plan.shape import Member
from retewave.compiler.rewrite.runs import Repeated, RunState
from retewave.rete.filters import codes as op
from retewave.rete.network import records
from retewave.rete.network.pairs import pairs_of
from retewave.rete.network.records import Edge, Node, Slot
from retewave.rete.words import layout

__all__ = ["UNDECIDED", "LoweringRuns", "told_runs"]


@dataclass
class LoweringRuns:
    """Gives a network the records of its runs."""

    lowered: Lowered  # the records that have been lowered until now
    needs: Needs  # the columns and times that are needed of each producer
    programs: Programs  # conditions as programs
    physical: dict[int, dict[int, int]]  # producer -> its column -> the tuple's column
    add: Callable[[Input, Edge], None]  # adds an edge to the producer that an input reads
    read: Callable[[Input], tuple[int, ...]]  # the program of all that an input's tuples must pass

    def state(self, number: int, state: State) -> None:
        """Add a state, its memory, and the ways by which its runs enter it again."""
        network, plan = self.lowered.network, self.lowered.plan
        leaving = [each.way for each in plan.producers if isinstance(each, RunStep) and _is_of(each, number)]
        ways = [*leaving, *state.again]
        marks = list(dict.fromkeys(way.rivals for way in ways if way.follows == layout.NEXT))
        columns, slot = columns_of(state), -1
        own = columns in self.needs.columns[number]
        if ways or state.once or own:
            slot = self._memory(number, state, columns + len(marks))
        self.lowered.rivals[number] = marks
        record = records.State(
            columns,
            slot,
            len(marks),
            any(way.follows == layout.STRICT for way in ways),
            any(way.follows == layout.ANY for way in ways),
            link=_link(state),
            own=own,
            once=state.once,
        )
        self.lowered.states[number] = place = len(network.states)
        network.states.append(record)
        self.physical[number] = {column: column for column in range(columns + own)} | _TIMES
        for each, row in zip(state.entries, state.columns, strict=True):
            self._enter(each, row, place, state.keys)
        for way in state.again:
            edge = Edge(layout.TO_STATE, place, state.keys, tuple(range(columns)))
            self._step(way, number, place, self.needs.windows[number]).edges.append(edge)

    def step(self, number: int, step: RunStep) -> None:
        """Add a step from a state."""
        run = None if step.run is None else step.run.producer
        place = -1 if run is None else self.lowered.states[run]
        self.lowered.steps[number] = len(self.lowered.network.steps)
        record = self._step(step.way, run, place, self.needs.windows[number])
        if step.tumbling is not None and step.width is not None:
            record.tumbling = (-step.width if step.closing else step.width, step.tumbling)
        self.physical[number] = {column: column for column in range(columns_of(step))} | _TIMES

    def instants(self, number: int, instants: Instants) -> None:
        """Add the memory of the times at which events came."""
        network = self.lowered.network
        slot, keys = len(network.slots), len(instants.inputs[0].keys)
        network.nodes.append(Node([slot], keys, self.needs.windows[number], []))
        network.slots.append(Slot(len(network.nodes) - 1, 0, 1))
        network.apart = True
        first = instants.inputs[0]
        self.lowered.slots.append(SlotPlan(number, first.keys, (), ()))
        self.lowered.instants[number] = slot
        for each in instants.inputs:
            columns = self.physical[each.producer]
            keyed = tuple(columns[key] for key in each.keys)
            self.add(each, Edge(layout.TO_INSTANTS, slot, keyed, (layout.OF_END,), self.read(each)))

    def numbers(self) -> None:
        """Give runs the numbers that steps compare: each is looked up once, when the run is made."""
        network = self.lowered.network
        compared: dict[int, set[int]] = {}
        for step in network.steps:
            places = (place - step.columns for pair in pairs_of(step.program) for place in pair.places)
            compared.setdefault(step.state, set()).update(step.seen[place] for place in places if place >= 0)
        for number, columns in compared.items():
            if columns:
                state = network.states[number]
                state.numbers = tuple(sorted(columns))
                slot = network.slots[state.slot]
                network.slots[state.slot] = replace(slot, columns=slot.columns + len(columns))

    def _memory(self, number: int, state: State, columns: int) -> int:
        """Add the memory of a state; return its slot."""
        network = self.lowered.network
        slot = len(network.slots)
        network.nodes.append(Node([slot], len(state.keys), self.needs.windows[number], []))
        network.slots.append(Slot(len(network.nodes) - 1, 0, columns))
        network.apart = True
        self.lowered.slots.append(SlotPlan(number, state.keys, tuple(range(columns_of(state))), ()))
        return slot

    def _enter(self, each: Input, row: Sequence[int], place: int, keys: tuple[int, ...]) -> None:
        columns = self.physical[each.producer]
        payload = tuple(columns[column] for column in row)
        self.add(each, Edge(layout.TO_STATE, place, tuple(payload[key] for key in keys), payload, self.read(each)))

    def _step(self, way: RunWay, run: int | None, place: int, window: int) -> records.Step:
        """Add the record of a way, and the edge by which events come to it."""
        network, event = self.lowered.network, self.physical[way.event.producer]
        seen = sorted({each for one in way.conditions for each in _numbers(one, "d")})
        seen += [layout.OF_ROW] if way.calls else []
        number = len(network.steps)
        width = 1 + max((column for column in event.values() if column >= 0), default=-1)
        mark = self.lowered.rivals[run].index(way.rivals) if run is not None and way.follows == layout.NEXT else -1
        instants, partition = -1, tuple[int, ...]()
        if way.instants is not None and run is not None:
            instants = self.lowered.instants[way.instants.producer]
            partition = tuple(event[column] for column in way.instants.keys)
        record = records.Step(
            place, width, tuple(_written(of, column, event) for of, column in way.columns),
            way.follows, mark, window, tuple(event[key] for key in way.event.keys), instants, partition,
            tuple((column, ~event[other] if column in way.loose else event[other]) for column, other in way.equal),
            self._condition(way, number, event, width, seen, place), tuple(seen),
        )  # fmt: skip
        network.steps.append(record)
        self.add(way.event, Edge(layout.TO_STEP, number, (), (), self.read(way.event)))
        return record

    def behind(self, call: RunCall, column: int) -> AskedCall:
        """Return a call that looks at the run to which a link in a column leads."""
        numbers = {self.lowered.states[number]: of for number, of in call.states}
        return AskedCall(call.name, call.separator, None, False, numbers, (column, None))

    def _call(self, call: RunCall, event: Mapping[int, int], column: int, state: int) -> AskedCall:
        """Return a call in the words of the network; `column` has the place of the run's row, of some state."""
        numbers = {state if number == OWN else self.lowered.states[number]: of for number, of in call.states}
        taken = None if call.event is None else event[call.event]
        return AskedCall(call.name, call.separator, taken, call.counts, numbers, (column, state))

    def _condition(
        self, way: RunWay, step: int, event: Mapping[int, int], width: int, seen: Sequence[int], state: int
    ) -> tuple[int, ...]:
        """Return the program of a step's conditions: over the event's columns, then those of the run."""
        place = {Variable(f"c{column}"): at_ for column, at_ in event.items() if column >= 0}
        place |= {Variable(f"d{column}"): width + i for i, column in enumerate(seen) if column >= 0}
        conditions = way.conditions
        mentioned = frozenset().union(*map(variables, conditions)) if conditions else frozenset[Variable]()
        known = {each: column for each, column in place.items() if each in mentioned}
        loose = {Variable(f"d{column}") for column in way.loose} | {Variable(f"r{i}") for i in range(len(way.calls))}
        if conditions:
            calls = tuple(
                (Variable(f"r{i}"), self._call(call, event, width + len(seen) - 1, state))
                for i, call in enumerate(way.calls)
            )
            self.lowered.asked[layout.ASKED_STEP, step] = AskedFilter(tuple(conditions), known, calls)
        return conjunction([self._program(each, known, loose) for each in conditions])

    def _program(self, condition: Expression, known: Mapping[Variable, int], loose: Set[Variable]) -> tuple[int, ...]:
        """Return the program of a condition; where a variable may be unbound, Python decides."""
        if variables(condition) & loose:
            return UNDECIDED
        return self.programs.compile(condition, known, frozenset(known) & variables(condition))


UNDECIDED = (op.PUSH_UNDECIDED, 0, 0)  # the program of a condition that Python decides
_TIMES = {layout.OF_START: layout.OF_START, layout.OF_END: layout.OF_END}


def _is_of(step: RunStep, state: int) -> bool:
    return step.run is not None and step.run.producer == state


def _numbers(expression: Expression, side: str) -> set[int]:
    return {int(each.name[1:]) for each in variables(expression) if each.name.startswith(side)}


def _written(of: int, column: int, event: Mapping[int, int]) -> tuple[int, int]:
    """Return the source of a column of the tuple that a step makes, by the tuple's columns."""
    if of == TAKEN:
        return of, event[column]
    return (EITHER + event[of - EITHER], column) if of >= EITHER else (of, column)


def _link(state: State) -> int:
    """Return the column of a state that has the link to the run before; -1: none."""
    return -1 if state.link is None else state.link


def told_runs(told: ToldRuns, member: Member, lowered: Lowered) -> OutputRuns:
    """Return the content of the rows that tell the parts of a match's run, in the words of a member."""
    names = {number: variable for variable, number in member.numbers.items()}
    numbers = {Variable(f"c{number}"): variable for number, variable in names.items()}
    found: dict[int, tuple[RunState, Mapping[Variable, int], int]] = {}
    for producer, (state, columns) in told.states.items():
        repeated = tuple(
            Repeated(tuple((name, frozenset(numbers[each] for each in of)) for name, of in one.parts))
            for one in state.repeated
        )
        own = frozenset(numbers[each] for each in state.own)
        named = {names[number]: column for number, column in columns.items() if number in names}
        found[lowered.states[producer]] = replace(state, repeated=repeated, own=own), named, columns.get(WAY, -1)
    found[-1] = (RunState(0, frozenset()), {}, -1) if told.final is None else found[lowered.states[told.final]]
    runs = member.steps.runs
    assert runs is not None
    explained = {
        -1 if producer == told.final else lowered.states[producer]: {
            told_by(name): column for name, column in columns.items() if is_told(name)
        }
        for producer, (_, columns) in told.states.items()
    }
    if told.final is not None:
        explained[lowered.states[told.final]] = explained[-1]
    return OutputRuns(found, runs.calls, runs.groups, explained)
