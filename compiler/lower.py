"""Lower a plan to the records of `retewave.rete.network.records`: numbers for terms, words for columns.

Data's way: plan + dispatch tables -> **network records** -> the kernel's array.
Here a producer's tuple loses the columns that nobody needs, a node gets the widest window of those who use
it, and every filter becomes a program.  An α-memory keeps all its variables, needed or not: a pattern that
is registered later starts from what the memories hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from retewave.compiler.expressions.programs import Programs, conjunction, decides
from retewave.compiler.expressions.tree import Variable
from retewave.compiler.plan.producers import AlphaTest, End, Input, Join, Plan, SlotFilter, Table
from retewave.compiler.plan.shape import Member, Streams
from retewave.compiler.rewrite.normal import Branch, ExtendStep, FilterStep, Step
from retewave.epsilon.atoms import Atom
from retewave.epsilon.dispatch import Dispatch, From
from retewave.epsilon.dispatch import Route as Derived
from retewave.rete.network.records import Alpha, Edge, Instance, Key, Network, Node, Route, Slot, Terminal
from retewave.rete.words import layout as at

__all__ = ["AlphaMemory", "Lowered", "Output", "SlotPlan", "lower"]

_EQUAL = {(0, 2): at.EQUAL_SO, (0, 1): at.EQUAL_SP, (1, 2): at.EQUAL_PO}


@dataclass(frozen=True)
class Output:
    """What the output rows of one branch of one query hold."""

    names: tuple[str, ...]  # the variables, column by column
    steps: tuple[Step, ...]  # the branch's steps, for what the kernel leaves to Python
    always: bool  # every row must go through the steps in Python (they assign variables)


@dataclass(frozen=True)
class SlotPlan:
    """What a slot's rows are, in the plan's terms."""

    producer: int  # the producer that feeds it
    keys: tuple[int, ...]  # the producer's columns in the group's key
    payload: tuple[int, ...]  # the producer's columns in the row
    filters: tuple[SlotFilter, ...]  # what its rows have passed


@dataclass(frozen=True)
class AlphaMemory:
    """A slot that an α test feeds."""

    slot: int  # its number
    test: AlphaTest  # what its rows have passed
    filters: tuple[SlotFilter, ...]  # likewise
    window: int  # how long it keeps them


@dataclass
class Lowered:
    """A network, and how its parts relate to the plan."""

    plan: Plan  # what was lowered
    network: Network = field(default_factory=Network)  # the records
    alphas: dict[int, int] = field(default_factory=dict)  # producer (an α test or a table) -> number of its α record
    nodes: dict[int, int] = field(default_factory=dict)  # producer (a join) -> number of its node
    slots: list[SlotPlan] = field(default_factory=list)  # by slot number
    outputs: dict[tuple[int, int], Output] = field(default_factory=dict)  # (query, branch) -> its rows

    @cached_property
    def memories(self) -> dict[bytes | None, list[AlphaMemory]]:
        """Return the α-memories by the predicate that they ask for (None: any).

        Of those that hold the same there is one, that with the widest window.
        """
        found: dict[tuple[AlphaTest, tuple[SlotFilter, ...]], AlphaMemory] = {}
        for number, slot in enumerate(self.slots):
            test = self.plan.producers[slot.producer]
            if isinstance(test, AlphaTest):
                window = self.network.nodes[self.network.slots[number].node].window
                former = found.get((test, slot.filters))
                if former is None or window > former.window:
                    found[test, slot.filters] = AlphaMemory(number, test, slot.filters, window)
        grouped: dict[bytes | None, list[AlphaMemory]] = {}
        for memory in found.values():
            grouped.setdefault(memory.test.atom.predicate, []).append(memory)
        return grouped


def lower(plan: Plan, dispatch: Dispatch, programs: Programs, intervals: bool) -> Lowered:
    """Lower a plan, perhaps for items that are intervals; the dispatch's atoms include those of the plan's α tests."""
    return _Lowering(plan, dispatch, programs, intervals).done()


def output_of(member: Member) -> Output:
    """Return what a member's output rows hold: what it shows, what is compared, what its steps still look at."""
    branch, sure = member.steps, member.steps.bound
    bound = {variable.name: variable for variable in member.numbers}
    listener = member.listener
    names = dict.fromkeys(name for name in (*listener.projection, *listener.compared) if name in bound)
    names.update(dict.fromkeys(v.name for step in branch.steps for v in sorted(step.scope, key=str) if v.name in bound))
    always = any(isinstance(step, ExtendStep) or not step.scope <= sure for step in branch.steps)
    return Output(tuple(names), branch.steps, always)


class _Lowering:
    """One pass over the ends for what is needed, one over the producers for the records."""

    def __init__(self, plan: Plan, dispatch: Dispatch, programs: Programs, intervals: bool) -> None:
        self.plan, self.dispatch, self.programs = plan, dispatch, programs
        self.lowered = Lowered(plan)
        self.network = self.lowered.network
        self.network.intervals = intervals
        self.needed: list[set[int]] = [set() for _ in plan.producers]
        self.windows = [-1] * len(plan.producers)
        self.streams: dict[frozenset[tuple[int, int]], int] = {}
        self.physical: dict[int, dict[int, int]] = {}  # producer -> its column -> the tuple's column

    def done(self) -> Lowered:
        for end in self.plan.ends:
            self._need(end)
        for number in reversed(range(len(self.plan.producers))):
            self._pass_down(number)
        for number, producer in enumerate(self.plan.producers):
            self._record(number, producer)
        for end in self.plan.ends:
            self._terminal(end)
        self._dispatch()
        return self.lowered

    # ---- what is needed ----
    def _need(self, end: End) -> None:
        wanted = self.needed[end.producer]
        wanted.update(end.parameters)
        for member in end.shape.members:
            output = output_of(member)
            wanted.update(end.columns[member.numbers[Variable(name)]] for name in output.names)
            self.windows[end.producer] = max(self.windows[end.producer], member.listener.width)
            self.lowered.outputs[member.listener.number, member.branch] = output

    def _pass_down(self, number: int) -> None:
        producer = self.plan.producers[number]
        if isinstance(producer, Join):
            for place, each in enumerate(producer.inputs):
                needed = self.needed[each.producer]
                needed.update(each.keys, self._payload(number, place))
                needed.update(column for one in each.filters for column in one.columns)
                self.windows[each.producer] = max(self.windows[each.producer], self.windows[number])

    def _payload(self, number: int, place: int) -> tuple[int, ...]:
        """Return the columns of one of a join's inputs that its memory keeps beside the key."""
        join = self.plan.producers[number]
        assert isinstance(join, Join)
        each = join.inputs[place]
        source = self.plan.producers[each.producer]
        if isinstance(source, AlphaTest):
            return tuple(column for column in source.columns if column not in each.keys)
        origins = (join.origins[column] for column in sorted(self.needed[number]))
        return tuple(sorted({column for slot, column in origins if slot == place}))

    # ---- records ----
    def _record(self, number: int, producer: AlphaTest | Table | Join) -> None:
        if isinstance(producer, Join):
            self._node(number, producer)
            return
        self.lowered.alphas[number] = len(self.network.alphas)
        if isinstance(producer, AlphaTest):
            equal = sum(_EQUAL[pair] for pair in producer.equal)
            self.network.alphas.append(Alpha(self._stream_set(producer.streams), equal))
            self.physical[number] = {column: column for column in range(at.ALPHA_COLUMNS)}
        else:
            self.network.alphas.append(Alpha())
            self.network.widest = max(self.network.widest, producer.columns)
            self.physical[number] = {column: column for column in range(producer.columns)}

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
        payloads = [self._payload(number, place) for place in range(len(join.inputs))]
        out = [self._origin(join, payloads, column) for column in sorted(self.needed[number])]
        self.physical[number] = {column: i for i, column in enumerate(sorted(self.needed[number]))}
        self.network.nodes.append(Node(slots, len(join.inputs[0].keys), self.windows[number], out))
        self.lowered.nodes[number] = node
        for place, each in enumerate(join.inputs):
            self.network.slots.append(Slot(node, place, len(payloads[place])))
            self.lowered.slots.append(SlotPlan(each.producer, each.keys, payloads[place], each.filters))
            self._edges(each.producer).append(self._slot_edge(each, slots[place], payloads[place]))

    def _origin(self, join: Join, payloads: Sequence[tuple[int, ...]], column: int) -> tuple[int, int]:
        slot, source = join.origins[column]
        return (slot, source) if slot < 0 else (slot, payloads[slot].index(source))

    def _edges(self, number: int) -> list[Edge]:
        if number in self.lowered.nodes:
            return self.network.nodes[self.lowered.nodes[number]].edges
        return self.network.alphas[self.lowered.alphas[number]].edges

    def _slot_edge(self, each: Input, slot: int, payload: tuple[int, ...]) -> Edge:
        columns = self.physical[each.producer]
        programs = []
        for one in each.filters:
            place = {Variable(f"c{column}"): columns[column] for column in one.columns}
            programs.append(self.programs.compile(one.expression, place, frozenset(place)))
        keys, kept = tuple(columns[c] for c in each.keys), tuple(columns[c] for c in payload)
        return Edge(at.TO_SLOT, slot, keys, kept, conjunction(filter(decides, programs)))

    def _terminal(self, end: End) -> None:
        columns = self.physical[end.producer]
        terminal = Terminal(tuple(columns[column] for column in end.parameters))
        for member in end.shape.members:
            places = {variable: end.columns[number] for variable, number in member.numbers.items()}
            place = {variable: columns[column] for variable, column in places.items() if column in columns}
            output = self.lowered.outputs[member.listener.number, member.branch]
            terminal.instances.append(
                Instance(
                    member.listener.number,
                    member.branch,
                    member.listener.width,
                    tuple(place[Variable(name)] for name in output.names),
                    self._final_program(member.steps, place),
                    tuple(self.programs.id(constant) for constant in member.constants),
                )
            )
        self._edges(end.producer).append(Edge(at.TO_TERMINAL, len(self.network.terminals)))
        self.network.terminals.append(terminal)

    def _final_program(self, branch: Branch, place: Mapping[Variable, int]) -> tuple[int, ...]:
        """Return all the branch's filters over bound variables as one program."""
        found, sure = [], branch.bound
        for step in branch.steps:
            if isinstance(step, FilterStep) and step.scope <= sure:
                found.append(self.programs.compile(step.expression, place, step.scope))
        return conjunction(found)

    # ---- dispatch ----
    def _dispatch(self) -> None:
        tests: dict[Atom, list[int]] = {}
        for number, producer in enumerate(self.plan.producers):
            if isinstance(producer, AlphaTest):
                tests.setdefault(producer.atom, []).append(self.lowered.alphas[number])
        atoms = self.dispatch.reduction.atoms
        for key, found in self.dispatch.table.items():
            self.network.keys[self._key(key)] = [
                self._route(route, alpha) for route in found for alpha in tests.get(atoms[route.atom], ())
            ]
        self.network.known = frozenset(self.programs.id(text) for text in self.dispatch.known)

    def _route(self, route: Derived, alpha: int) -> Route:
        subject, predicate, object_ = self._part(route.subject), self._part(route.predicate), self._part(route.object)
        return Route(alpha, subject, predicate, object_, route.guard, route.twin)

    def _key(self, key: tuple[bytes | None, bytes | None, bytes | None]) -> Key:
        s, p, o = (0 if text is None else self.programs.id(text) for text in key)
        return s, p, o

    def _part(self, part: From | bytes) -> int:
        if isinstance(part, bytes):
            return self.programs.id(part)
        if part is From.SUBJECT:
            return at.FROM_SUBJECT
        return at.FROM_OBJECT if part is From.OBJECT else at.FROM_PREDICATE
