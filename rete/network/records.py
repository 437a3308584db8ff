"""A network as records: what is lowered from a plan, and laid out as the array that the kernel reads.

Data's way: plan -> **records** -> `rete/network/assemble.py` -> the kernel.
Records refer to each other by number, and by place once they are laid out.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from retewave.rete.words import layout
from retewave.windows.intervals import UNBOUNDED

__all__ = [
    "TUPLE_TIMES",
    "Alpha",
    "Comparison",
    "Edge",
    "Instance",
    "Key",
    "Network",
    "Node",
    "Probe",
    "Reading",
    "Relation",
    "Route",
    "Slot",
    "State",
    "Step",
    "Terminal",
]

TUPLE_TIMES = {  # as columns of a tuple
    layout.OF_START: layout.T_START - layout.T_COLUMNS,
    layout.OF_END: layout.T_END - layout.T_COLUMNS,
    layout.OF_WINDOW: layout.T_WINDOW_START - layout.T_COLUMNS,
}
Key = tuple[int, int, int]  # subject, predicate, object of an input triple; 0 says "any"


@dataclass(frozen=True)
class Route:
    """One triple that an input entails, for one α that asked for it."""

    alpha: int  # which α
    subject: int  # FROM_SUBJECT, FROM_OBJECT or a constant
    predicate: int  # FROM_PREDICATE or a constant
    object: int  # FROM_SUBJECT, FROM_OBJECT or a constant
    guard: bool = False  # does not fire when the input's object is a literal
    twin: bool = False  # another route to the same α may derive the same triple from the same input


@dataclass(frozen=True)
class Edge:
    """A way from a producer (an α, a node, a probe, a state, a step) to where its tuples go."""

    kind: int  # TO_SLOT, TO_TERMINAL, …
    target: int  # number of the slot, probe, state, step or terminal
    keys: tuple[int, ...] = ()  # columns of the tuple that make the key, in the node's order
    payload: tuple[int, ...] = ()  # columns that the slot's row keeps
    program: tuple[int, ...] = ()  # filter; empty for none

    @property
    def at_once(self) -> bool:
        """Tell whether what an event's triples give goes this way as soon as they are gathered."""
        return self.kind in (layout.TO_INSTANTS, layout.TO_STATE) and not self.program


@dataclass
class Alpha:
    """A test that single triples pass; its tuples are (subject, predicate, object, event), and what they tell."""

    streams: int = -1  # number of the stream set, or -1 for every stream
    equal: int = 0  # EQUAL_* bits: repeated variables
    edges: list[Edge] = field(default_factory=list)  # where its triples go
    given: bool = False  # whether its tuples tell the input, too
    whole: bool = False  # whether it looks at events, which count by their ends


@dataclass(frozen=True)
class Slot:
    """A memory: one input of one node."""

    node: int  # number of the node
    index: int  # which of its inputs
    columns: int  # columns of a row
    events: tuple[int, ...] = ()  # of its columns, those that hold events which may be used up
    rank: tuple[int, ...] = ()  # of its columns, those that tell which row is the best, the weightiest first
    latest: bool = False  # whether the best is the greatest; else the least
    length: int = UNBOUNDED  # how long after its true start a row is of use; the node's window bounds window starts


@dataclass(frozen=True)
class Relation:
    """What two times must keep: the one and the gap are at most the other.

    A time is (slot index, column), with OF_START or OF_END for the row's own; in a probe (0, …) is of the tuple that is
    decided, (1, …) of the row that is looked at.
    """

    earlier: tuple[int, int]  # a time
    gap: int  # microseconds
    later: tuple[int, int]  # a time


@dataclass(frozen=True)
class Reading:
    """One side of a comparison, as a row has it: factor * number + constant + slack * |number|."""

    slot: int  # index of the slot whose rows have it
    column: int  # of the row: the term whose number is read
    factor: float
    constant: float
    slack: float  # the margin that keeps the side from being taken as too high, or too low


@dataclass(frozen=True)
class Comparison:
    """Two rows do not go together if the lower reading of the one is above the upper reading of the other."""

    lower: Reading
    upper: Reading


@dataclass
class Node:
    """A join of two or more slots under one key; without a join, memories that are looked at."""

    slots: list[int]  # numbers of its slots; consecutive where they are joined
    keys: int  # columns of the key
    window: int  # the widest window of all queries that use it
    out: list[tuple[int, int]]  # a column of its tuples: (slot index, column), or (-1, key column)
    edges: list[Edge] = field(default_factory=list)
    relations: tuple[Relation, ...] = ()
    passing: int = -1  # index of the slot whose rows can only come last: none of them is kept; -1: all are
    spent: int = -1  # number of the node that has the events which its query has used up; -1: it uses up none
    comparisons: tuple[Comparison, ...] = ()  # they follow from the filters of all its readers

    gathers: bool = False  # its inputs are patterns of one event on one subject: their triples come together

    def readings(self, slot: int) -> list[tuple[Reading, bool]]:
        """Return the readings that the rows of a slot have, in their order, and whether each is of an upper side."""
        sides = ((side, side is each.upper) for each in self.comparisons for side in (each.lower, each.upper))
        return [(side, upper) for side, upper in sides if side.slot == slot]


@dataclass
class Probe:
    """A look, for each tuple that comes, at the rows of a memory: it goes on if one fits, or if none does."""

    slot: int  # number of the slot whose rows it looks at
    columns: int  # columns of its tuples
    keys: tuple[int, ...]  # of its columns, those that make the key
    relations: tuple[Relation, ...]  # a row fits: relations between the tuple (0) and the row (1)
    decided: int  # AT_ARRIVAL, AT_CLOSE or AT_DEADLINE
    wanted: bool = False  # whether one must fit; else none may
    streamed: bool = False  # whether static rows do not fit
    joint: bool = False  # whether times in the condition are times of both together; else the row's
    deadline: int = 0  # AT_DEADLINE: how long after the tuple's start it is decided
    reach: int = UNBOUNDED  # how far before its decision it looks; -1: as far as its relations say
    program: tuple[int, ...] = ()  # a row fits: the tuple's columns, then those of `seen`
    seen: tuple[int, ...] = ()  # columns of the row that the program sees
    taken: tuple[
        int, ...
    ] = ()  # the row's columns, or times, that the tuple takes along behind its own if the row fits
    level: int = 0  # at one time, lower levels are decided first
    events: tuple[int, ...] = ()  # columns of its tuples that hold events which may be used up
    rank: tuple[int, ...] = ()  # its tuples' columns or times, which the slot's rank must outdo: only a better row fits
    windowed: bool = False  # AT_DEADLINE: the deadline counts from the tuple's window start
    edges: list[Edge] = field(default_factory=list)  # the edges of tuples that pass


@dataclass
class State:
    """The runs that wait for one and the same step; what enters it is a tuple for those who ask, too."""

    columns: int  # columns of a run
    slot: int = -1  # number of its memory; -1: it keeps nothing
    marks: int = 0  # marks of a run: when the event came that a step was to take next
    strict: bool = False  # whether some step takes the next instant only
    undying: bool = False  # whether some step takes all that comes
    link: int = -1  # the column that has the link to the run before; -1: none
    own: bool = False  # whether its tuples have a link to their own row, behind their columns
    once: bool = (
        False  # whether a tuple that is there already, of the same end, does not enter again; its key is all columns
    )
    numbers: tuple[int, ...] = ()  # columns whose terms' numbers rows have, too, behind the marks: steps compare them
    keys: tuple[int, ...] = ()  # columns of a run that make its key
    tells: tuple[int, ...] = ()  # columns of its tuples whose terms' numbers these have, too, behind all else
    edges: list[Edge] = field(default_factory=list)  # where its tuples go


@dataclass
class Step:
    """By what runs go on: a tuple comes, and each run of a state that may take it becomes another one."""

    state: int  # number of the state whose runs go on; -1: runs begin
    columns: int  # columns of the tuple that comes
    out: tuple[tuple[int, int], ...]  # its tuples: (0, column or time of the run), (1, of the tuple), OF_*
    follows: int = layout.ANY  # ANY, NEXT, STRICT
    mark: int = -1  # which mark of the run it leaves; -1: none
    window: int = UNBOUNDED  # how old a run may be
    keys: tuple[int, ...] = ()  # columns of the tuple that make the key of the state
    instants: int = -1  # number of the slot that has the instants; -1: none
    instant_keys: tuple[int, ...] = ()  # columns of the tuple that make its key
    equal: tuple[tuple[int, int], ...] = ()  # a column of the run, one of the tuple: equal
    program: tuple[int, ...] = ()  # whether they are compatible: the tuple's columns, then those of `seen`
    seen: tuple[int, ...] = ()  # columns of the run that the program sees
    tumbling: tuple[int, int] | None = None  # width and origin of the windows, that follow each other, of what begins;
    # a width below 0: what begins where such a window ends
    event: int = -1  # number of the state whose tuples come; -1: those of something else
    edges: list[Edge] = field(default_factory=list)  # the edges of its tuples


@dataclass(frozen=True)
class Instance:
    """A query at the end of its plan: what tells it from others of the same shape."""

    query: int  # number of the query
    branch: int  # which of its branches
    window: int  # its own window
    out: tuple[int, ...]  # columns of the tuple that its output row has
    program: tuple[int, ...] = ()  # all its filters, once more: here an undecided one is noted
    parameters: tuple[int, ...] = ()  # constants, where queries of one shape differ
    builds: int = layout.BUILDS_NOTHING  # whether it is a rule's, and the kernel can build
    template: tuple[tuple[int, int, int], ...] = ()  # triples of constants, and of columns as -1, -2, …
    stream: int = 0  # on which stream they come in; 0: they are every stream's
    link: int = -1  # the tuple's column with the link to the run before, if the match tells of its run; else -1
    cells: tuple[int, int] | None = None  # one tuple is told for each such stretch of time: width, where one ends


@dataclass
class Terminal:
    """Where complete tuples of one shape end."""

    parameters: tuple[int, ...] = ()  # columns that hold the constants in which its instances differ
    instances: list[Instance] = field(default_factory=list)


@dataclass
class Network:
    """All records of a network."""

    keys: dict[Key, list[Route]] = field(default_factory=dict)  # dispatch
    known: frozenset[int] = frozenset()  # predicates that have keys of their own
    alphas: list[Alpha] = field(default_factory=list)
    slots: list[Slot] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    probes: list[Probe] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    terminals: list[Terminal] = field(default_factory=list)
    streams: list[dict[int, int]] = field(default_factory=list)  # a stream set: stream number -> shift
    intervals: bool = False  # items may be intervals: rows have room for an end
    widest: int = layout.ALPHA_COLUMNS  # columns of the widest tuple that an α or an inline table has
    settles: bool = False  # some query chooses among all that is complete at one instant
    apart: bool = False  # some row's end is asked for, and is not its start
    built: frozenset[int] | None = frozenset()  # predicates that rules build; None: any

    @property
    def times(self) -> int:
        """Words of a row's times: as few as tell its window start, its end where that matters, and its true start."""
        shifted = any(shift for shifts in self.streams for shift in shifts.values())
        if shifted or any(step.tumbling is not None for step in self.steps):
            return 3
        return 2 if self.intervals or self.apart else 1

    def passes(self, slot: int) -> bool:
        """Tell whether the rows of a slot only pass: it keeps none."""
        record = self.slots[slot]
        return self.nodes[record.node].passing == record.index

    def slot_of(self, edge: Edge) -> int:
        """Return the number of the slot to which an edge leads, or -1."""
        if edge.kind == layout.TO_STATE:
            return self.states[edge.target].slot
        return edge.target if edge.kind in layout.TO_SLOTS else -1

    def edges(self) -> list[Edge]:
        """Return all edges, producer by producer."""
        producers: tuple[Alpha | Node | Probe | State | Step, ...] = (
            *self.alphas, *self.nodes, *self.probes, *self.states, *self.steps,
        )  # fmt: skip
        return [edge for producer in producers for edge in producer.edges]
