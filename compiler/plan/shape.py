"""Shapes: branches that differ in constants only are one plan.

Data's way: algebra -> normal form -> **shapes** -> join order -> plan -> network.
Ten thousand queries "tell me of offers for products of type T" are one shape with the constant T left open
(lifted): their joins are one set of joins, T is a column like any other, and the end of the plan finds the
queries of a complete tuple by hash.  A constant that all members share is not lifted, so a shape of one
member costs nothing.  Predicates are left open, too, where many branches of one event differ in them: else a triple
that says a class would go into the memories of each of their shapes.

Branches of which time asks something are one shape only if they have the same constants and filters: what their probes
remember hangs on these, and must not change with the queries that come and go.

Queries that ask what matches are made of share their shapes with others that ask the same.  One that uses events up
shares nothing but α tests: what it has used up is there for the others.

Invariant: a member's matches are the shape's tuples whose lifted columns equal the member's constants.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from retewave.compiler.algebra import TemplateTriple, Term, TriplePattern, Values, Variable
from retewave.compiler.expressions.tree import Expression, rename, variables
from retewave.compiler.plan.lifting import Places, liftable, liftable_predicates
from retewave.compiler.rewrite.branch import Branch, FilterStep, is_timed
from retewave.compiler.rewrite.canonical import canonical
from retewave.compiler.rewrite.detected import BACKGROUND
from retewave.compiler.rewrite.runs import Runs

__all__ = [
    "Lifted",
    "Listener",
    "Member",
    "Part",
    "Rule",
    "Shape",
    "ShapePattern",
    "Streams",
    "filters_over",
    "full_rows",
    "shapes_of",
    "table_numbers",
]

Streams: TypeAlias = frozenset[tuple[int, int]] | None  # (stream number, shift of the window start); None: every stream


@dataclass(frozen=True)
class Rule:
    """What a query builds of its solutions that comes in again."""

    template: tuple[TemplateTriple, ...]  # the triples that it builds
    stream: int  # the number of the stream on which that comes in; 0: it is every stream's
    in_python: bool = False  # Python builds it, whatever the template says


@dataclass(frozen=True)
class Listener:
    """A registered query, as far as the planner cares."""

    number: int  # the engine's number of it
    branches: tuple[Branch, ...]  # its normal form
    projection: tuple[str, ...]  # variables that its rows must show
    width: int  # the widest of its windows, in microseconds
    streams: Streams = None  # the streams that it hears
    compared: tuple[str, ...] = ()  # variables in which DISTINCT compares its rows
    sources: Mapping[bytes, int] = field(default_factory=dict)  # the numbers of streams that its patterns name
    rule: Rule | None = None  # the triples that it feeds back
    told: tuple[int, ...] = ()  # what its rows tell of each of their triples: see `producers.Told`
    streamed: int | None = None  # in the streams of a pattern: static data do not match it; None: they match all
    spender: str = ""  # its identity, if it uses events up: its part of the network is its own
    rules: tuple[Rule | None, ...] = ()  # by branch, if each has a rule of its own, or none
    cells: tuple[tuple[int, int] | None, ...] = ()  # by branch, for those that are told once in each stretch of time:
    # the width of these, and where one of them ends
    by_ends: bool = False  # its triples count by their ends, as in the windows of views

    def rule_of(self, branch: int) -> Rule | None:
        """Return what a branch feeds back."""
        return self.rules[branch] if self.rules else self.rule

    @property
    def all_rules(self) -> tuple[Rule, ...]:
        """Return all that it feeds back."""
        return tuple(each for each in (self.rule, *self.rules) if each is not None)


@dataclass(frozen=True)
class Lifted:
    """An open constant: one of several, by member."""

    number: int  # which of the shape's open constants
    constants: frozenset[bytes]  # all members' constants in this place


Part: TypeAlias = int | bytes | Lifted  # a variable's number in the shape, a constant all members share, or an open one


@dataclass(frozen=True)
class ShapePattern:
    """A triple pattern of a shape."""

    subject: Part  # subject
    predicate: Part  # predicate
    object: Part  # object
    streams: Streams  # the streams that it listens to
    told: tuple[int, ...] = ()  # what must be told of the triples that it takes
    event: int | None = None  # the number of the variable of its event; None: it is not looked at by events
    background: bool = False  # only static data has it
    graph: bytes | None = None  # only the static data of this named graph has it; None: data in no named graph
    by_ends: bool = False  # its triples count by their ends, as in the windows of views

    @property
    def parts(self) -> tuple[Part, Part, Part]:
        """Return subject, predicate and object."""
        return self.subject, self.predicate, self.object


@dataclass(frozen=True)
class Member:
    """One branch of one query, as a member of a shape."""

    listener: Listener  # the query
    branch: int  # which of its branches
    numbers: dict[Variable, int]  # its variables' numbers in the shape
    constants: tuple[bytes, ...]  # its constants in the shape's open places, in the order of their numbers

    @property
    def rule(self) -> Rule | None:
        """Return what the branch feeds back."""
        return self.listener.rule_of(self.branch)

    @property
    def steps(self) -> Branch:
        """Return the branch itself."""
        return self.listener.branches[self.branch]


@dataclass(frozen=True)
class Shape:
    """Branches that differ in constants only."""

    patterns: tuple[ShapePattern, ...]  # in the order written
    tables: tuple[tuple[tuple[int, ...], tuple[tuple[bytes, ...], ...]], ...]  # inline data: (variables, rows)
    members: tuple[Member, ...]  # at least one
    variables: int  # how many there are
    branch: Branch | None = None  # its conditions in time, over the variables' numbers; its members are alike
    within: int | None = None  # likewise, where that is all: the greatest end - start, microseconds


_Key: TypeAlias = tuple[object, ...]
_LEAST_OPEN = 4  # shapes that differ in predicates alone; from this number on one shape that tests more is worth it


@dataclass(frozen=True)
class _Found:
    """A branch that is about to become a member of a shape."""

    listener: Listener  # its query
    number: int  # which of the query's branches it is
    numbers: dict[Variable, int]  # its variables' numbers
    liftable: Places  # where its constants may be left open

    @property
    def branch(self) -> Branch:
        """Return the branch itself."""
        return self.listener.branches[self.number]

    @property
    def constants(self) -> tuple[bytes, ...]:
        """Return the constants that may be left open, in the order of their places."""
        terms = (self.branch.patterns[pattern].terms[place] for pattern, place in sorted(self.liftable))
        return tuple(term for term in terms if isinstance(term, bytes))

    def opened(self) -> _Found:
        """Return it with predicates left open, too, where that may be."""
        return replace(self, liftable=self.liftable | liftable_predicates(self.branch))


def shapes_of(listeners: Iterable[Listener]) -> tuple[Shape, ...]:
    """Group the branches of all queries by shape, in the order of their first member."""
    groups: dict[_Key, list[_Found]] = {}
    for listener in listeners:
        for number, branch in enumerate(listener.branches):
            found = _Found(listener, number, _numbered(branch), liftable(branch))
            groups.setdefault(_key(found), []).append(found)
    return tuple(map(_shape, _united(groups)))


def _united(groups: Mapping[_Key, list[_Found]]) -> Iterable[list[_Found]]:
    """Return the groups; many that differ in predicates alone become one."""
    wider = {key: _key(group[0].opened()) for key, group in groups.items() if liftable_predicates(group[0].branch)}
    often = Counter(wider.values())
    united: dict[_Key, list[_Found]] = {}
    for key, group in groups.items():
        if key in wider and often[wider[key]] >= _LEAST_OPEN:
            united.setdefault(wider[key], []).extend(each.opened() for each in group)
        else:
            united[key] = group
    return united.values()


def _numbered(branch: Branch) -> dict[Variable, int]:
    """Number the variables that patterns and tables bind by their first appearance."""
    numbers: dict[Variable, int] = {}
    for leaf in branch.leaves:
        for term in (*leaf.terms, leaf.event) if isinstance(leaf, TriplePattern) else leaf.variables:
            if isinstance(term, Variable):
                numbers.setdefault(term, len(numbers))
    return numbers


def filters_over(branch: Branch, numbers: Mapping[Variable, int]) -> list[Expression]:
    """Return a branch's filters that see bound variables only, with the variables named by their numbers."""
    names = {variable: Variable(f"c{number}") for variable, number in numbers.items()}
    return [
        rename(step.expression, names)
        for step in branch.steps
        if isinstance(step, FilterStep)
        and variables(step.expression) == step.scope <= names.keys()
        and not is_timed(step)
    ]


def _key(found: _Found) -> _Key:
    """Return what tells one shape from another, without the constants that are left open."""
    listener, branch, numbers = found.listener, found.branch, found.numbers
    if not _leaves_constants_open(branch):
        named = tuple(_streams(listener, pattern) for pattern in branch.all_patterns)
        filters = frozenset(filters_over(branch, numbers))  # else another query's would change which are done early
        own_key = named, listener.width, listener.told, listener.spender, listener.by_ends
        return canonical(branch, numbers), filters, *own_key
    parts = tuple(
        None if (number, place) in found.liftable else _part(term, numbers)
        for number, pattern in enumerate(branch.patterns)
        for place, term in enumerate(pattern.terms)
    )
    tables = tuple((tuple(numbers[v] for v in table.variables), table.rows) for table in branch.values)
    named = tuple(_streams(listener, pattern) for pattern in branch.patterns)
    own = (listener.spender, found.constants) if listener.spender else None
    events = tuple(None if pattern.event is None else numbers[pattern.event] for pattern in branch.patterns)
    graphs = tuple(pattern.graph for pattern in branch.patterns)
    asked = listener.told, own, listener.by_ends
    return parts, tables, named, events, graphs, asked, branch.width


def _leaves_constants_open(branch: Branch) -> bool:
    """Tell whether branches that differ in constants are one shape: those without time, and those of one event."""
    return branch.is_plain or branch.is_of_one_event


def _streams(listener: Listener, pattern: TriplePattern) -> Streams:
    """Return what a pattern listens to: the streams of its query, or those that it names."""
    named = pattern.streams if pattern.source is None else (pattern.source,)
    if not named:
        return listener.streams
    if pattern.source == BACKGROUND:
        return frozenset()
    numbers = {listener.sources[each] for each in named}
    if listener.streams is None:
        return frozenset((number, 0) for number in numbers)
    heard = frozenset(each for each in listener.streams if each[0] in numbers)
    return heard | {(listener.streamed, 0)} if heard and listener.streamed is not None else heard


def _part(term: Term, numbers: dict[Variable, int]) -> int | bytes:
    return numbers[term] if isinstance(term, Variable) else term


def _shape(found: list[_Found]) -> Shape:
    listener, branch, numbers = found[0].listener, found[0].branch, found[0].numbers
    if not _leaves_constants_open(branch):
        members = tuple(Member(each.listener, each.number, each.numbers, ()) for each in found)
        patterns = tuple(_patterns(listener, branch, numbers, {}))
        return Shape(patterns, (), members, len(numbers), canonical(branch, numbers))
    given = [each.constants for each in found]
    columns = [frozenset(column) for column in zip(*given, strict=True)]
    open_ = [column for column, values in enumerate(columns) if len(values) > 1]
    places = sorted(found[0].liftable)
    lifted = {places[column]: Lifted(number, columns[column]) for number, column in enumerate(open_)}
    members = tuple(
        Member(each.listener, each.number, each.numbers, tuple(constants[column] for column in open_))
        for each, constants in zip(found, given, strict=True)
    )
    tables = tuple((tuple(numbers[v] for v in table.variables), full_rows(table)) for table in branch.values)
    patterns = tuple(_patterns(listener, branch, numbers, lifted))
    return Shape(patterns, tables, members, len(numbers), within=branch.width)


def full_rows(table: Values) -> tuple[tuple[bytes, ...], ...]:
    """Return the rows of a table that has a value in each cell."""
    return tuple(tuple(cell for cell in row if cell is not None) for row in table.rows)


def table_numbers(table: Values) -> tuple[int, ...]:
    """Return the numbers of the columns of a table of a canonical branch."""
    return tuple(int(variable.name[1:]) for variable in table.variables)


def _patterns(
    listener: Listener, branch: Branch, numbers: dict[Variable, int], lifted: Mapping[tuple[int, int], Lifted]
) -> Iterable[ShapePattern]:
    for number, (pattern, taken) in enumerate(zip(branch.all_patterns, _taken(branch), strict=True)):
        asked = taken or listener.spender  # used-up events are not looked at, either
        parts = [lifted.get((number, place), _part(term, numbers)) for place, term in enumerate(pattern.terms)]
        told = listener.told if asked else ()
        event = None if pattern.event is None else numbers[pattern.event]
        background = pattern.source == BACKGROUND or pattern.graph is not None
        heard = _streams(listener, pattern)
        by_ends = listener.by_ends and not background
        yield ShapePattern(parts[0], parts[1], parts[2], heard, told, event, background, pattern.graph, by_ends)


def _taken(branch: Branch) -> Iterator[bool]:
    """Yield, for all patterns of a branch, whether their triples are in its solutions: not those that must not come."""
    yield from (True for _ in branch.patterns)
    for part in branch.parts:
        yield from _taken(part.branch)
    if branch.runs is not None:
        yield from _taken_by_runs(branch.runs)
    for probe in branch.probes:
        yield from _taken(probe.there) if probe.wanted else (False for _ in probe.there.all_patterns)


def _taken_by_runs(runs: Runs) -> Iterator[bool]:
    """Yield likewise for the patterns of a sequence: not of what must not come, nor of what is passed over."""
    taken = {way.event for way in runs.ways if not runs.states[way.target].passing}
    for number, wanted in enumerate(runs.events):
        for each in wanted.alternatives:
            yield from (number in taken and one for one in _taken(each))
    for each in runs.instants:
        yield from (False for _ in each.all_patterns)
