"""What a plan is made of: producers that refer to each other by number, and the ends of shapes.

Data's way: shapes -> planner -> **producers** -> `lower` -> the records of the network.
Equal producers are one: the number of an α test is found by its test, the number of a join by its inputs, keys and
filters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from retewave.compiler.expressions.tree import Call, Expression, Variable
from retewave.compiler.plan.shape import Shape, Streams
from retewave.compiler.rewrite.branch import Decided, Moment
from retewave.compiler.rewrite.runs import RunState
from retewave.epsilon.atoms import Atom
from retewave.rete.words.layout import (
    ALPHA_COLUMNS,
    ANY,
    EITHER,
    GIVEN,
    GIVEN_COLUMNS,
    OF_END,
    OF_NOTHING,
    OF_START,
    OF_WINDOW,
)

__all__ = [
    "EITHER",
    "END",
    "EVENT",
    "EXPLAINED",
    "GIVEN_TRIPLE",
    "LINK",
    "NOTHING",
    "OWN",
    "RUN",
    "SELF",
    "SINCE",
    "START",
    "STREAM",
    "TAKEN",
    "TRIPLE",
    "WAY",
    "WINDOW",
    "AlphaTest",
    "End",
    "Gap",
    "Input",
    "Instants",
    "Join",
    "Maker",
    "Open",
    "Plan",
    "Probe",
    "Producer",
    "Rival",
    "RunCall",
    "RunStep",
    "RunWay",
    "SlotFilter",
    "Spent",
    "State",
    "Table",
    "Told",
    "ToldRuns",
    "columns_of",
    "is_told",
    "name_of",
    "told_by",
    "told_columns",
]

START, END = OF_START, OF_END  # in place of a column: the start and the end of a producer's tuple
WINDOW = OF_WINDOW  # likewise: when the window begins in which it is
RUN, TAKEN = 0, 1  # where a column of a run that goes on is from: the run as it was, or the event that it takes
OWN = -1  # in place of a producer: the state itself
LINK, WAY = -1, -2  # in place of a variable: the link to the run before, and which alternative a repetition was
SELF, SINCE = -3, -4  # likewise: the link to the run itself; when its last event was
NOTHING = (OF_NOTHING, 0)  # or neither: it is unbound
# EITHER and more, by a column of the event: the run's, or the event's where the run has none
EVENT = ALPHA_COLUMNS - 1  # the column of an α test's tuple that has the number of the event, as the input row has it
TRIPLE = (0, 1, 2)  # its columns that have the triple as the pattern sees it: subject, predicate, object
GIVEN_TRIPLE = (GIVEN, GIVEN + 1, GIVEN + 2)  # the triple that came: the schema may make another of it
STREAM = GIVEN_COLUMNS - 1  # the column that has the number of its stream
EXPLAINED = (START, END, *TRIPLE, EVENT, *GIVEN_TRIPLE, STREAM)  # all that an explained query is told of each triple


class Told(NamedTuple):
    """Something that a match tells of one of the triples that it is made of."""

    leaf: int  # which pattern of the branch took the triple
    what: int  # a column of the α test's tuple, or START or END


_FIRST_TOLD = -100  # in place of a variable: told of a triple of a run's last event; from there on down


def name_of(told: Told) -> int:
    """Return the number that stands, in place of a variable's, for something told of a triple."""
    return _FIRST_TOLD - (told.leaf * len(EXPLAINED) + EXPLAINED.index(told.what))


def is_told(name: int) -> bool:
    """Tell whether a number stands for something told of a triple."""
    return name <= _FIRST_TOLD


def told_by(name: int) -> Told:
    """Return what is told where such a number stands.

    >>> told_by(name_of(Told(3, END))) == Told(3, END)
    True
    """
    leaf, what = divmod(_FIRST_TOLD - name, len(EXPLAINED))
    return Told(leaf, EXPLAINED[what])


@dataclass(frozen=True)
class AlphaTest:
    """The test that single triples must pass."""

    atom: Atom  # constants
    equal: tuple[tuple[int, int], ...]  # places that must be equal (a variable that occurs twice)
    streams: Streams  # streams it hears; None: all
    columns: tuple[int, ...]  # a memory behind it keeps these: no constants, but columns that are told
    whole: bool = False  # it looks at events, which count by their ends
    background: bool = False  # static data alone can pass it
    graph: bytes | None = None  # the named graph whose static data it looks at; None: data in no named graph
    by_ends: bool = False  # its triples count by their ends, whatever event they are of


@dataclass(frozen=True)
class Table:
    """Inline data: rows that are there before the stream."""

    columns: int  # how many
    rows: tuple[tuple[bytes, ...], ...]  # a bag


@dataclass(frozen=True)
class SlotFilter:
    """A filter on the way into a memory, over the producer's columns."""

    expression: Expression  # with variables named `c0`, `c1`, … for the columns
    columns: frozenset[int]  # the columns it looks at
    asked: bool = False  # it must be decided there; else undecided tuples pass, and are decided at the end


@dataclass(frozen=True)
class Input:
    """One input of a join: a producer, read under a key."""

    producer: int  # number of the producer
    keys: tuple[int, ...]  # the producer's columns that make the key
    filters: tuple[SlotFilter, ...] = ()  # the filters that its tuples must pass first
    within: int | None = None  # likewise: end - start is at most this, microseconds
    streamed: bool = False  # likewise: they are not static
    background: bool = False  # likewise: they are static
    timeless: bool = False  # some of its tuples may be static
    events: tuple[int, ...] = ()  # the producer's columns that hold events which may be used up


@dataclass(frozen=True, order=True)
class Gap:
    """A bound between two inputs: the first time and the gap are at most the second time."""

    earlier: tuple[int, int]  # (input, the producer's column, START or END)
    gap: int  # microseconds
    later: tuple[int, int]  # likewise


@dataclass(frozen=True)
class Join:
    """A keyed join of two or more inputs; its columns are the key's, then each input's others, input by input."""

    inputs: tuple[Input, ...]  # sorted by producer, so that equal joins are equal
    origins: tuple[tuple[int, int], ...]  # a column: (input, the producer's column); (-1, i) for the key's i-th
    gaps: tuple[Gap, ...] = ()  # the gaps between times of the inputs
    last: int | None = None  # the input whose tuple can only come last, as each other one ends before it starts
    spender: str = ""  # the query that it is for alone, as that one uses events up


@dataclass(frozen=True)
class Probe:
    """Tuples of one input for which a row of the other input fits, or for which none does.

    The columns are the tuple's; columns of the fitting row may follow.
    """

    inputs: tuple[Input, Input]  # the tuples that are decided on, and the rows that are looked at
    origins: tuple[int, ...]  # a column: the first input's column, START or END
    gaps: tuple[Gap, ...]  # a row fits: gaps between times of the two (inputs 0 and 1)
    conditions: tuple[Expression, ...]  # a row fits: `c0`, … are columns of the first input, `d0`, … of the second
    decided: Decided  # when
    wanted: bool  # whether something must be there
    streamed: bool  # whether static rows do not fit
    joint: bool  # whether times in conditions are times of both inputs together
    deadline: int  # AT_DEADLINE: how long after the tuple's start
    reach: int  # how far before the decision window starts may lie, microseconds; -1: as far as the gaps say
    keep: int | None  # how long rows that it looks at are needed, after their start; None: as far as it reaches
    taken: tuple[int, ...] = ()  # further columns: the second input's columns, START or END, of the row that fits
    rank: tuple[tuple[int, int], ...] = ()  # only a better row fits: columns or times of both inputs, weightiest first
    latest: bool = False  # whether the later is better; it looks at the instant of the decision only, if it ranks
    chooses: bool = False  # it chooses among the found rows, and tells of no absence
    spender: str = ""  # see Join
    calls: tuple[RunCall, ...] = ()  # the calls that `r0`, `r1`, … in the conditions stand for
    link: int | None = None  # its own column with the link to the run that calls look at
    windowed: bool = False  # AT_DEADLINE: the deadline counts from where the tuple's window begins


# see RunWay: an event's solutions, equal columns, conditions
Rival: TypeAlias = tuple[Input, tuple[tuple[int, int], ...], tuple[Expression, ...]]


@dataclass(frozen=True)
class RunCall:
    """A call that looks at all repetitions of a step: those of the run, and perhaps the event that it takes."""

    name: str  # COUNT, SUM, …
    separator: Expression | None  # the text that GROUP_CONCAT puts between values
    event: int | None  # the event's column, if it is a repetition, too; None: it is not, or does not bind it
    counts: bool  # whether the event is a repetition
    states: tuple[tuple[int, int], ...]  # whose runs' last events are repetitions: producer, or OWN; their column


@dataclass(frozen=True)
class RunWay:
    """How runs go on: a solution of an event comes, and each run that is compatible becomes another one."""

    event: Input  # the event's solutions, with the columns that make the key of the state
    columns: tuple[tuple[int, int], ...]  # of the new run: (RUN, column or time), (TAKEN, column or time), NOTHING
    follows: int = ANY  # which runs may take it
    rivals: tuple[Rival, ...] = ()  # NEXT: the events that runs look for, by any way: the first that comes is the next
    equal: tuple[tuple[int, int], ...] = ()  # a column of the run and one of the event that must be equal
    conditions: tuple[Expression, ...] = ()  # likewise true: `c0`, … are columns of the event, `d0`, … of the run
    loose: frozenset[int] = frozenset()  # columns of the run that may be unbound
    calls: tuple[RunCall, ...] = ()  # the calls that `r0`, `r1`, … in the conditions stand for
    instants: Input | None = None  # the instants that count for contiguity, with the event's columns that are its key


@dataclass(frozen=True)
class State:
    """Runs that wait for the same step; each run that enters is a tuple of it."""

    entries: tuple[Input, ...]  # whose tuples enter it, …
    columns: tuple[tuple[int, ...], ...]  # … and by entry, the columns that become its own
    keys: tuple[int, ...]  # its columns that make the key under which its runs are found
    again: tuple[RunWay, ...] = ()  # the ways by which its runs enter it again
    width: int | None = None  # the longest run, microseconds
    link: int | None = None  # the column that has the link to the run before
    once: bool = False  # its tuples are an event's solutions: equal solutions are one

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Return its inputs, itself left out."""
        return (*self.entries, *(way.event for way in self.again))


@dataclass(frozen=True)
class RunStep:
    """Runs of a state that go on; or runs that begin."""

    run: Input | None  # the state; None: they begin
    way: RunWay  # how
    width: int | None = None  # the longest run, microseconds
    tumbling: int | None = None  # of runs that begin, when the first of the windows does in which they must be
    closing: bool = False  # of runs that begin, whether they begin where their window ends

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Return its inputs."""
        return (self.way.event,) if self.run is None else (self.run, self.way.event)


@dataclass(frozen=True)
class Instants:
    """The times at which events of a partition came."""

    inputs: tuple[Input, ...]  # whose tuples tell them, under the partition


@dataclass(frozen=True)
class ToldRuns:
    """How the events of complete runs are found."""

    link: int  # the column of a complete run that has the link to the run before
    final: int | None  # the producer of the complete runs; None: the link leads to the complete run
    states: Mapping[int, tuple[RunState, Mapping[int, int]]]  # by producer: the state of the runs; variable -> column
    calls: tuple[tuple[Variable, Call], ...] = ()  # the calls that look at all repetitions


@dataclass(frozen=True)
class Spent:
    """The events that a query has used up; its one column is the event."""

    spender: str  # the query


Maker: TypeAlias = AlphaTest | Table | Join | Probe | State | RunStep  # the producers of tuples
Producer: TypeAlias = Maker | Spent | Instants


@dataclass
class End:
    """Where a shape's complete tuples arrive."""

    producer: int  # number of the producer
    read: Input  # how it is read
    shape: Shape  # the shape
    columns: dict[int, int]  # the shape's variable -> the producer's column
    parameters: tuple[int, ...]  # the producer's columns that hold the open constants, by their numbers
    pushed: frozenset[Expression]  # filters, over the shape's variables, that the plan holds before its end
    leaves: tuple[int, ...]  # the leaves below, depth first: which pattern of the branch, or table behind them, each is
    told: dict[Told, int] = field(default_factory=dict)  # what must be told of the triples -> column, START or END
    events: tuple[int, ...] = ()  # columns that hold the events which a match uses up
    runs: ToldRuns | None = None  # if matches tell of the events of their runs
    states: Mapping[int, RunState] = field(default_factory=dict)  # the states of a sequence, by producer


@dataclass
class Plan:
    """A graph of producers, and the ends of all shapes."""

    producers: list[Producer] = field(default_factory=list)
    ends: list[End] = field(default_factory=list)
    _numbers: dict[Producer, int] = field(default_factory=dict)

    def number(self, producer: Producer) -> int:
        """Return the number of a producer; equal producers have one."""
        if producer not in self._numbers:
            self._numbers[producer] = len(self.producers)
            self.producers.append(producer)
        return self._numbers[producer]


@dataclass(eq=False)
class Open:
    """A producer that waits to be joined."""

    producer: int  # its number
    columns: dict[int, int]  # the shape's variable -> the producer's column
    parameters: dict[int, int]  # the open constant's number -> the producer's column
    static: bool  # has rows before the stream starts
    leaves: tuple[int, ...]  # see End
    times: dict[Moment, int] = field(default_factory=dict)  # moments of a branch's operands -> column, START or END
    told: dict[Told, int] = field(default_factory=dict)  # see End
    looked: frozenset[int] = frozenset()  # the leaves below that are only looked at
    runs: ToldRuns | None = None  # see End
    states: Mapping[int, RunState] = field(default_factory=dict)  # see End
    filters: tuple[SlotFilter, ...] = ()  # the filters that its tuples must pass when they are read
    within: int | None = None  # likewise: how long they may be
    streamed: bool = False  # likewise: they are not static
    background: bool = False  # likewise: they are static

    @property
    def events(self) -> tuple[int, ...]:
        """Return the columns that hold the events of its tuples, without those of rows that were only looked at."""
        made_of = (each for each in self.told.items() if each[0].what == EVENT and each[0].leaf not in self.looked)
        return tuple(sorted({column for _, column in made_of}))

    def read(self, keys: tuple[int, ...] = (), filters: Iterable[SlotFilter] = (), spender: str = "") -> Input:
        """Return how it is read under a key, with some filters more; perhaps for a query that uses events up."""
        timeless, events = self.static and not self.streamed, self.events if spender else ()
        own = (*self.filters, *filters)
        return Input(self.producer, keys, own, self.within, self.streamed, self.background, timeless, events)


def told_columns(told: dict[Told, int]) -> list[tuple[Told, int]]:
    """Return all that is told, with its columns, in an order that equal producers share."""
    return sorted(told.items(), key=lambda each: each[1])


def columns_of(producer: Producer) -> int:
    """Return how many columns the tuples of a producer have."""
    match producer:
        case AlphaTest():
            return GIVEN_COLUMNS
        case Table(columns):
            return columns
        case Spent():
            return 1
        case Probe(origins=origins, taken=taken):
            return len(origins) + len(taken)
        case State(columns=columns):
            return len(columns[0])
        case RunStep(way=RunWay(columns=columns)):
            return len(columns)
        case Instants():
            return 0
    return len(producer.origins)
