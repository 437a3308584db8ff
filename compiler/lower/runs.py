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
    RUN,
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
            slot = self._memory(number, state, columns + len(marks), self._beside(state, ways))
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
            keys=state.keys,
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
        first = instants.inputs[0]
        slot = self._slot(number, len(first.keys), 1, -1)
        self.lowered.slots.append(SlotPlan(number, first.keys, (), ()))
        self.lowered.instants[number] = slot
        for each in instants.inputs:
            columns = self.physical[each.producer]
            keyed = tuple(columns[key] for key in each.keys)
            self.add(each, Edge(layout.TO_INSTANTS, slot, keyed, (layout.OF_END,), self.read(each)))

    def numbers(self) -> None:
        """Give runs, and the solutions that they take, the numbers that steps compare: each is looked up once."""
        network = self.lowered.network
        of_runs: dict[int, set[int]] = {}
        of_events: dict[int, set[int]] = {}
        for step in network.steps:
            for place in (place for pair in pairs_of(step.program) for place in pair.places):
                if place < step.columns:
                    of_events.setdefault(step.event, set()).add(place)
                else:
                    of_runs.setdefault(step.state, set()).add(step.seen[place - step.columns])
        for step in network.steps:
            for edge in step.edges:
                kept = of_runs.get(edge.target, set()) if edge.kind == layout.TO_STATE else set()
                taken = {step.out[edge.payload[column]] for column in kept}
                of_events.setdefault(step.event, set()).update(column for of, column in taken if of == TAKEN)
        for number, columns in of_runs.items():
            state = network.states[number]
            state.numbers = tuple(sorted(columns))
            slot = network.slots[state.slot]
            network.slots[state.slot] = replace(slot, columns=slot.columns + len(columns))
        for number, columns in of_events.items():
            if number >= 0:
                network.states[number].tells = tuple(sorted(each for each in columns if each >= 0))

    def _memory(self, number: int, state: State, columns: int, beside: int) -> int:
        """Add the memory of a state; return its slot."""
        slot = self._slot(number, len(state.keys), columns, beside)
        self.lowered.slots.append(SlotPlan(number, state.keys, tuple(range(columns_of(state))), ()))
        return slot

    def _slot(self, number: int, keys: int, columns: int, beside: int) -> int:
        """Add a slot, beside another one whose rows are kept as long and have the same key, if there is any (-1)."""
        network = self.lowered.network
        slot, node = len(network.slots), -1 if beside < 0 else network.slots[beside].node
        near = node >= 0 and network.nodes[node].keys == keys and len(network.nodes[node].slots) < _MOST_TOGETHER
        if not near or network.nodes[node].window != self.needs.windows[number]:
            node = len(network.nodes)
            network.nodes.append(Node([], keys, self.needs.windows[number], []))
        network.slots.append(Slot(node, len(network.nodes[node].slots), columns))
        network.nodes[node].slots.append(slot)
        network.apart = True
        return slot

    def _beside(self, state: State, ways: Sequence[RunWay]) -> int:
        """Return a slot whose rows are found under the key of a state, by the same event; -1: there is none.

        That is where the instants are at which its runs look, or the runs from which they come.  One look then does.
        """
        for way in ways:
            if way.instants is not None and way.instants.keys == way.event.keys:
                return self.lowered.instants[way.instants.producer]
        for each, row in zip(state.entries, state.columns, strict=True):
            step = self.lowered.plan.producers[each.producer]
            if not isinstance(step, RunStep) or step.run is None:
                continue
            source = self.lowered.plan.producers[step.run.producer]
            assert isinstance(source, State)
            taken = zip(source.keys, step.way.event.keys, strict=True)
            same = [{(RUN, column), (TAKEN, of_event)} for column, of_event in taken]
            made = [step.way.columns[row[key]] for key in state.keys]
            if len(made) == len(same) and all(one in own for one, own in zip(made, same, strict=True)):
                return self.lowered.network.states[self.lowered.states[step.run.producer]].slot
        return -1

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
            event=self.lowered.states.get(way.event.producer, -1),
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
_MOST_TOGETHER = 8  # memories whose groups are one: each has a word in it
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
