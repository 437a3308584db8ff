"""Lower a plan to the records of `retewave.rete.network.records`: numbers for terms, words for columns.

Data's way: plan + dispatch tables -> **network records** -> the kernel's array.
Here a producer's tuple loses the columns that nobody needs, a node gets the widest window of its readers, and every
filter becomes a program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from retewave.compiler.expressions.programs import (
    Programs,
    asked,
    at_most,
    conjunction,
    decides,
    in_window,
    is_static,
    is_streamed,
)
from retewave.compiler.expressions.tree import Variable, rename, variables
from retewave.compiler.lower.comparing import Compared
from retewave.compiler.lower.conditions import conditions
from retewave.compiler.lower.dispatching import lower_dispatch
from retewave.compiler.lower.levels import fed, levels
from retewave.compiler.lower.lowered import AskedFilter, Lowered, SlotPlan, columns_told
from retewave.compiler.lower.needs import Needs, length_of
from retewave.compiler.lower.rules import building, built_predicates
from retewave.compiler.lower.runs import UNDECIDED, LoweringRuns, told_runs
from retewave.compiler.plan.producers import (
    END,
    EVENT,
    START,
    AlphaTest,
    End,
    Input,
    Instants,
    Join,
    Plan,
    Probe,
    Producer,
    RunStep,
    SlotFilter,
    Spent,
    State,
    Table,
    columns_of,
)
from retewave.compiler.plan.shape import Member, Streams
from retewave.compiler.plan.walk import comes_last, momentary
from retewave.compiler.rewrite.branch import Branch, FilterStep, is_timed
from retewave.epsilon.dispatch import Dispatch
from retewave.rete.network import records
from retewave.rete.network.records import Alpha, Edge, Instance, Node, Relation, Slot, Terminal
from retewave.rete.words import layout
from retewave.windows.intervals import UNBOUNDED

__all__ = ["lower"]

_EQUAL = {(0, 2): layout.EQUAL_SO, (0, 1): layout.EQUAL_SP, (1, 2): layout.EQUAL_PO}


def lower(plan: Plan, dispatch: Dispatch, programs: Programs, intervals: bool) -> Lowered:
    """Lower a plan, perhaps for items that are intervals; the dispatch's atoms include those of the plan's α tests."""
    return _Lowering(plan, dispatch, programs, intervals).done()


class _Lowering:
    """One pass over the producers for the records, one over the ends."""

    def __init__(self, plan: Plan, dispatch: Dispatch, programs: Programs, intervals: bool) -> None:
        self.plan, self.dispatch, self.programs = plan, dispatch, programs
        self.needs, self.compared, self.momentary = Needs(plan), Compared(plan), momentary(plan)
        self.lowered = Lowered(plan, outputs=self.needs.outputs)
        self.network = self.lowered.network
        self.network.intervals = intervals
        self.streams: dict[frozenset[tuple[int, int]], int] = {}
        self.physical: dict[int, dict[int, int]] = {}  # producer -> its column -> the tuple's column
        self.asking: list[tuple[Edge, AskedFilter]] = []  # edges whose filters must be decided there
        self.runs = LoweringRuns(self.lowered, self.needs, programs, self.physical, self._add, self._read)

    def done(self) -> Lowered:
        for number, producer in enumerate(self.plan.producers):
            self._record(number, producer)
        for end in self.plan.ends:
            self._terminal(end)
        listeners = {m.listener.number: m.listener for end in self.plan.ends for m in end.shape.members}
        self.network.built = built_predicates(listeners.values(), self.programs)
        lower_dispatch(self.lowered, self.dispatch, self.programs)
        self.runs.numbers()
        for node in self.network.nodes:
            if node.gathers:  # edges by which its tuples go, then edges to instants, then to states
                node.edges.sort(key=lambda edge: edge.kind if edge.at_once else 0)
                node.gathers = all(map(self._enters_alone, node.edges))
        self._level()
        numbers = {id(edge): number for number, edge in enumerate(self.network.edges())}
        self.lowered.asked.update(((layout.ASKED_EDGE, numbers[id(edge)]), what) for edge, what in self.asking)
        return self.lowered

    def _record(self, number: int, producer: Producer) -> None:
        match producer:
            case Join():
                self._node(number, producer)
            case Probe():
                self._probe(number, producer)
            case AlphaTest():
                equal = sum(_EQUAL[pair] for pair in producer.equal)
                given = max(producer.columns, default=0) >= layout.GIVEN
                self.network.widest = max(self.network.widest, layout.GIVEN_COLUMNS if given else 0)
                alpha = Alpha(
                    self._stream_set(producer.streams), equal, given=given, whole=producer.whole or producer.by_ends
                )
                self._alpha(number, alpha, layout.GIVEN_COLUMNS)
            case State():
                self.runs.state(number, producer)
            case RunStep():
                self.runs.step(number, producer)
            case Instants():
                self.runs.instants(number, producer)
            case Spent(spender):
                self._spent(number, spender)
            case Table():
                self.network.widest = max(self.network.widest, producer.columns)
                self._alpha(number, Alpha(), producer.columns)

    def _alpha(self, number: int, alpha: Alpha, columns: int) -> None:
        self.lowered.alphas[number] = len(self.network.alphas)
        self.network.alphas.append(alpha)
        self.physical[number] = {column: column for column in (*range(columns), START, END)}

    def _stream_set(self, streams: Streams) -> int:
        if streams is None:
            return -1
        if streams not in self.streams:
            self.streams[streams] = len(self.network.streams)
            self.network.streams.append(dict(streams))
        return self.streams[streams]

    def _node(self, number: int, join: Join) -> None:
        node, first = len(self.network.nodes), len(self.network.slots)
        slots = list(range(first, first + len(join.inputs)))
        payloads = [self.needs.payload(number, place) for place in range(len(join.inputs))]
        needed = sorted(self.needs.columns[number])
        out = [self._origin(join, payloads, column) for column in needed]
        self.physical[number] = {column: i for i, column in enumerate(needed)} | {START: START, END: END}
        relations = tuple(
            Relation(self._stored(gap.earlier, payloads), gap.gap, self._stored(gap.later, payloads))
            for gap in join.gaps
        )
        for slot, column in [*out, *(time for each in relations for time in (each.earlier, each.later))]:
            self._note_end(join.inputs, slot, column)
        passing = comes_last(join, self.momentary[number])
        comparisons = self.compared.comparisons(number, lambda source: self._stored(source, payloads))
        keys, window, spent = len(join.inputs[0].keys), self.needs.windows[number], self._spent_node(join.spender)
        made = Node(
            slots, keys, window, out, relations=relations, passing=passing, spent=spent, comparisons=comparisons
        )
        made.gathers = window == 0 and self._is_star(join) and not comparisons
        self.network.nodes.append(made)
        self.lowered.nodes[number] = node
        for place, each in enumerate(join.inputs):
            events = tuple(payloads[place].index(column) for column in each.events)
            length = self.needs.lengths[number]
            self.network.slots.append(Slot(node, place, len(payloads[place]), events, length=length))
            self.lowered.slots.append(SlotPlan(each.producer, each.keys, payloads[place], each.filters))
            kind = layout.TO_PASSING if place == passing else layout.TO_SLOT
            self._add(each, self._slot_edge(kind, each, slots[place], payloads[place]))

    def _enters_alone(self, edge: Edge) -> bool:
        """Tell whether a state of solutions gets tuples from one edge alone."""
        entries = [each for each in self.network.edges() if (each.kind, each.target) == (edge.kind, edge.target)]
        return edge.kind != layout.TO_STATE or len(entries) == 1

    def _is_star(self, join: Join) -> bool:
        """Tell whether a join is of patterns that look at one event, and is asked for nothing else."""
        sources = [self.plan.producers[each.producer] for each in join.inputs]
        tests = all(isinstance(each, AlphaTest) and each.whole for each in sources)
        keyed = all(EVENT in each.keys for each in join.inputs)
        return tests and keyed and not join.gaps and join.last is None and not join.spender

    def _note_end(self, inputs: Sequence[Input], place: int, column: int) -> None:
        """Note that a row's end is needed, if it may differ from its start."""
        if place < 0 or column != END:
            return
        if inputs[place].timeless or inputs[place].producer not in self.lowered.alphas:
            self.network.apart = True

    def _stored(self, time: tuple[int, int], payloads: Sequence[tuple[int, ...]]) -> tuple[int, int]:
        place, column = time
        return place, column if column < 0 else payloads[place].index(column)

    def _origin(self, join: Join, payloads: Sequence[tuple[int, ...]], column: int) -> tuple[int, int]:
        slot, source = join.origins[column]
        return (slot, source) if slot < 0 else self._stored((slot, source), payloads)

    def _probe(self, number: int, probe: Probe) -> None:
        """Add a probe, and the memory that it looks at."""
        decided, seen = probe.inputs[0], self.needs.seen(probe)
        slot, kept = self._memory(probe)
        relations = tuple(
            Relation(self._looked_at(probe, gap.earlier, kept), gap.gap, self._looked_at(probe, gap.later, kept))
            for gap in probe.gaps
        )
        for each in relations:
            for place, column in (each.earlier, each.later):
                self._note_end(probe.inputs, -1 if place == 0 else place, column)
        columns = [probe.origins.index(key) for key in decided.keys]
        self.lowered.probes[number] = record = len(self.network.probes)
        self.network.probes.append(
            records.Probe(
                slot, len(probe.origins), tuple(columns), relations, probe.decided,
                probe.wanted, probe.streamed, probe.joint, probe.deadline, UNBOUNDED if probe.rank else probe.reach,
                self._condition(probe, record, seen), tuple(kept.index(column) for column in seen if column in kept),
                tuple(column if column < 0 else kept.index(column) for column in probe.taken),
                events=tuple(probe.origins.index(column) for column in decided.events),
                rank=tuple(column if column < 0 else probe.origins.index(column) for column, _ in probe.rank),
                windowed=probe.windowed,
            )
        )  # fmt: skip
        for column in probe.taken:
            self._note_end(probe.inputs, 1, column)
        self.physical[number] = {column: column for column in range(columns_of(probe))} | {START: START, END: END}
        self._add(decided, self._slot_edge(layout.TO_PROBE, decided, record, probe.origins))

    def _memory(self, probe: Probe) -> tuple[int, tuple[int, ...]]:
        """Add the memory that a probe looks at; return its slot, and the producer's columns that it keeps."""
        looked, node, slot = probe.inputs[1], len(self.network.nodes), len(self.network.slots)
        source = self.plan.producers[looked.producer]
        kept, window = self.needs.looked(probe), self.needs.kept(probe)
        if probe.rank:
            kept, window = tuple(dict.fromkeys(column for _, column in probe.rank)), 0
        elif isinstance(source, AlphaTest):
            kept = tuple(column for column in source.columns if column not in looked.keys)
        elif not self.needs.lasting[looked.producer]:
            kept = tuple(column for column in range(columns_of(source)) if column not in looked.keys)
        self.network.nodes.append(Node([slot], len(looked.keys), window, [], spent=self._spent_node(probe.spender)))
        events, rank = (
            tuple(map(kept.index, columns)) for columns in (looked.events, (each[1] for each in probe.rank))
        )
        self.network.slots.append(Slot(node, 0, len(kept), events, rank, probe.latest, length_of(probe)))
        self.lowered.slots.append(SlotPlan(looked.producer, looked.keys, kept, looked.filters))
        edge = self._slot_edge(layout.TO_INSTANT if probe.rank else layout.TO_MEMORY, looked, slot, kept)
        if probe.rank and probe.reach >= 0:
            edge = replace(edge, program=self._read(looked, in_window(probe.reach)))
        self._add(looked, edge)
        return slot, kept

    def _spent(self, number: int, spender: str) -> None:
        """Add the memory of the events that a query has used up."""
        slot, node = len(self.network.slots), len(self.network.nodes)
        self.network.nodes.append(Node([slot], 1, self.needs.spent(spender), []))
        self.network.slots.append(Slot(node, 0, 0))
        self.lowered.slots.append(SlotPlan(number, (0,), (), ()))
        self.lowered.spent[spender] = slot

    def _spent_node(self, spender: str) -> int:
        return self.network.slots[self.lowered.spent[spender]].node if spender else -1

    def _looked_at(self, probe: Probe, time: tuple[int, int], kept: tuple[int, ...]) -> tuple[int, int]:
        place, column = time
        if column < 0:
            return time
        return place, kept.index(column) if place else probe.origins.index(column)

    def _level(self) -> None:
        """Set the order of decisions at one time: a probe comes before the probes that look at its tuples."""
        lowered = self.lowered
        lowered.fed = fed(lowered, self.programs)
        lowered.levels = levels(self.plan, lowered.fed)
        for producer, record in lowered.probes.items():
            self.network.probes[record].level = lowered.levels[producer]

    def _condition(self, probe: Probe, record: int, seen: tuple[int, ...]) -> tuple[int, ...]:
        """Return the program of a probe's conditions: over the tuple's columns, then those of the row."""
        place = {Variable(f"c{column}"): i for i, column in enumerate(probe.origins)}
        width = len(probe.origins)
        place |= {Variable(f"d{column}"): width + i for i, column in enumerate(seen)}
        called = {Variable(f"r{i}") for i in range(len(probe.calls))}
        programs = [
            UNDECIDED
            if variables(each) & called
            else self.programs.compile(each, place, frozenset(place) & variables(each))
            for each in probe.conditions
        ]
        if programs:
            mentioned = frozenset().union(*map(variables, probe.conditions))  # other columns may hold times
            columns = {each: column for each, column in place.items() if each in mentioned}
            link = 0 if probe.link is None else probe.link
            calls = tuple((Variable(f"r{i}"), self.runs.behind(each, link)) for i, each in enumerate(probe.calls))
            self.lowered.asked[layout.ASKED_PROBE, record] = AskedFilter(probe.conditions, columns, calls)
        return conjunction(programs)

    def _producer(self, number: int) -> Alpha | Node | records.Probe | records.State | records.Step:
        """Return the record that sends a producer's tuples."""
        if number in self.lowered.states:
            return self.network.states[self.lowered.states[number]]
        if number in self.lowered.steps:
            return self.network.steps[self.lowered.steps[number]]
        if number in self.lowered.nodes:
            return self.network.nodes[self.lowered.nodes[number]]
        if number in self.lowered.probes:
            return self.network.probes[self.lowered.probes[number]]
        return self.network.alphas[self.lowered.alphas[number]]

    def _add(self, each: Input, edge: Edge) -> None:
        """Add an edge to the producer that an input reads."""
        if not self.needs.lasting[each.producer] and edge.kind in (layout.TO_SLOT, layout.TO_MEMORY, layout.TO_INSTANT):
            self.network.apart = True  # the next network takes these rows over, and may need their ends
        self._producer(each.producer).edges.append(edge)
        asking = tuple(one.expression for one in each.filters if one.asked)
        if asking:
            columns = self.physical[each.producer]
            place = {Variable(f"c{c}"): columns[c] for one in each.filters if one.asked for c in one.columns}
            self.asking.append((edge, AskedFilter(asking, place)))

    def _slot_edge(self, kind: int, each: Input, target: int, payload: Sequence[int]) -> Edge:
        columns = self.physical[each.producer]
        keys, kept = tuple(columns[c] for c in each.keys), tuple(columns[c] for c in payload)
        return Edge(kind, target, keys, kept, self._read(each))

    def _read(self, each: Input, *also: tuple[int, ...]) -> tuple[int, ...]:
        """Return the program of all that an input's tuples must pass; `also`: more programs for it."""
        columns = self.physical[each.producer]
        programs = [*also]
        if each.streamed:
            programs.append(is_streamed())
        if each.background:
            programs.append(is_static())
        instants = each.producer in self.lowered.alphas and not self.network.intervals
        if each.within is not None and not (instants and each.within >= 0):
            programs.append(at_most(each.within))
        for one in each.filters:
            place = {Variable(f"c{column}"): columns[column] for column in one.columns}
            programs.append(self.programs.compile(one.expression, place, frozenset(place)))
        whole = conjunction(filter(decides, programs))
        asking = [one for one in each.filters if one.asked]
        if asking and not all(map(decides, programs)):
            whole = conjunction(programs)
        return asked(whole) if asking else whole

    def _terminal(self, end: End) -> None:
        columns = self.physical[end.producer]
        told = tuple(columns[column] for column in columns_told(end.told))
        terminal = Terminal(tuple(columns[column] for column in end.parameters))
        for member in end.shape.members:
            places = {
                variable: end.columns[number] for variable, number in member.numbers.items() if number in end.columns
            }
            place = {variable: columns[column] for variable, column in places.items() if column in columns}
            output = self.lowered.outputs[member.listener.number, member.branch]
            builds, template, stream = building(member.rule, output, place, self.programs)
            terminal.instances.append(
                Instance(
                    member.listener.number,
                    member.branch,
                    member.listener.width,
                    (*(place[Variable(name)] for name in output.names), *told),
                    self._final_program(member.steps, place),
                    tuple(self.programs.id(constant) for constant in member.constants),
                    builds,
                    template,
                    stream,
                    -1 if end.runs is None else columns[end.runs.link],
                    member.listener.cells[member.branch] if member.listener.cells else None,
                )
            )
            asked = member.steps.runs
            self.network.settles = self.network.settles or (asked is not None and asked.settled)
            if end.runs is not None:
                runs = told_runs(end.runs, member, self.lowered)
                self.lowered.outputs[member.listener.number, member.branch] = replace(output, runs=runs)
        self._add(end.read, Edge(layout.TO_TERMINAL, len(self.network.terminals), program=self._read(end.read)))
        self.network.terminals.append(terminal)
        for member in end.shape.members:
            if member.listener.spender:
                self._spend(end, member)

    def _spend(self, end: End, member: Member) -> None:
        """Let each match of a query use up its events; so the kernel decides all of its filters, too."""
        places = {variable: end.columns[number] for variable, number in member.numbers.items() if number in end.columns}
        names = {variable: Variable(f"c{column}") for variable, column in places.items()}
        filters = tuple(
            SlotFilter(rename(each, names), frozenset(places[v] for v in variables(each) & places.keys()), asked=True)
            for each in conditions(member.steps)
        )
        read = replace(end.read, filters=(*end.read.filters, *filters))
        program, slot = self._read(read, in_window(member.listener.width)), self.lowered.spent[member.listener.spender]
        for column in end.events:
            self._add(read, Edge(layout.TO_SPENT, slot, (self.physical[end.producer][column],), (), program))

    def _final_program(self, branch: Branch, place: Mapping[Variable, int]) -> tuple[int, ...]:
        """Return all the branch's filters over bound variables as one program."""
        found, sure = [], branch.bound
        for step in branch.steps:
            if isinstance(step, FilterStep) and step.scope <= sure and not is_timed(step):
                found.append(self.programs.compile(step.expression, place, step.scope))
        return conjunction(found)
