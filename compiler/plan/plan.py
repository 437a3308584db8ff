"""The plan: all registered queries as one network of shared memories and joins.

Data's way: shapes -> join order -> **plan** -> `lower` -> the records of `retewave.rete.network.records`.
A plan is a graph of producers (α tests, inline tables, joins) that refer to each other by number.  Equal
producers are one: the number of an α test is found by its test, the number of a join by its inputs, keys
and filters.  A join that several queries use keeps the widest of their windows; each query's own window is
checked at its end.

Left out: what a constant's id is, and the words of the kernel (`lower`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from retewave.compiler.expressions.tree import Expression, Variable, rename, to_sparql, variables
from retewave.compiler.plan.order import Candidate, next_star
from retewave.compiler.plan.shape import Lifted, Member, Part, Shape, ShapePattern, Streams
from retewave.compiler.rewrite.normal import FilterStep
from retewave.epsilon.atoms import Atom

__all__ = [
    "AlphaTest",
    "End",
    "Input",
    "Join",
    "Plan",
    "Producer",
    "SlotFilter",
    "Table",
    "Tested",
    "atoms_of",
    "make_plan",
    "tested",
]


@dataclass(frozen=True)
class AlphaTest:
    """What single triples must pass."""

    atom: Atom  # constants
    equal: tuple[tuple[int, int], ...]  # places that must be equal (a variable that occurs twice)
    streams: Streams  # streams it hears; None: all
    columns: tuple[int, ...]  # places that are not one constant: what a memory behind it keeps


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


@dataclass(frozen=True)
class Input:
    """One input of a join: a producer, read under a key."""

    producer: int  # number of the producer
    keys: tuple[int, ...]  # the producer's columns that make the key
    filters: tuple[SlotFilter, ...] = ()  # what its tuples must pass first


@dataclass(frozen=True)
class Join:
    """A keyed join of two or more inputs; its columns are the key's, then each input's others, input by input."""

    inputs: tuple[Input, ...]  # sorted by producer, so that equal joins are equal
    origins: tuple[tuple[int, int], ...]  # a column: (input, the producer's column); (-1, i) for the key's i-th


Producer: TypeAlias = AlphaTest | Table | Join


@dataclass
class End:
    """Where a shape's complete tuples arrive."""

    producer: int  # number of the producer
    shape: Shape  # the shape
    columns: dict[int, int]  # the shape's variable -> the producer's column
    parameters: tuple[int, ...]  # the producer's columns that hold the open constants, by their numbers
    pushed: frozenset[Expression]  # filters, over the shape's variables, that the plan holds before its end
    leaves: tuple[int, ...]  # the leaves below, depth first: which pattern of the branch, or table behind them, each is


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


@dataclass(frozen=True)
class _Open:
    """A producer that waits to be joined."""

    producer: int  # its number
    columns: dict[int, int]  # the shape's variable -> the producer's column
    parameters: dict[int, int]  # the open constant's number -> the producer's column
    static: bool  # has rows before the stream starts
    leaves: tuple[int, ...]  # see End


def atoms_of(shapes: Sequence[Shape]) -> tuple[Atom, ...]:
    """Return what the patterns of all shapes ask for, each once."""
    return tuple(dict.fromkeys(_atom(pattern) for shape in shapes for pattern in shape.patterns))


def make_plan(shapes: Sequence[Shape], has_static: Callable[[Atom], bool]) -> Plan:
    """Plan all shapes; `has_static` tells which atoms static data feeds."""
    plan = Plan()
    for shape in shapes:
        _plan_shape(plan, shape, has_static)
    return plan


def _plan_shape(plan: Plan, shape: Shape, has_static: Callable[[Atom], bool]) -> None:
    common = _common_filters(shape.members)
    waiting = [_alpha(plan, pattern, has_static, place) for place, pattern in enumerate(shape.patterns)]
    waiting += [_table(plan, *table, place) for place, table in enumerate(shape.tables, len(waiting))]
    if not waiting:
        waiting = [_table(plan, (), ((),), 0)]
    pushed: set[Expression] = set()
    while len(waiting) > 1:
        star = next_star([Candidate(frozenset(each.columns), each.static) for each in waiting])
        chosen = [waiting[place] for place in star.inputs]
        rest = [each for place, each in enumerate(waiting) if place not in star.inputs]
        waiting = [_join(plan, chosen, star.key, common, pushed), *rest]
    (root,) = waiting
    parameters = tuple(root.parameters[number] for number in sorted(root.parameters))
    plan.ends.append(End(root.producer, shape, root.columns, parameters, frozenset(pushed), root.leaves))


def _common_filters(members: Sequence[Member]) -> tuple[Expression, ...]:
    """Return the filters, over the shape's variables, that every member has: these may be done early."""
    found = [dict.fromkeys(_over_numbers(member)) for member in members]
    return tuple(each for each in found[0] if all(each in other for other in found[1:]))


def _over_numbers(member: Member) -> list[Expression]:
    """Return a member's filters that see bound variables only, with the variables named by their numbers."""
    names = {variable: Variable(f"c{number}") for variable, number in member.numbers.items()}
    return [
        rename(step.expression, names)
        for step in member.steps.steps
        if isinstance(step, FilterStep) and variables(step.expression) == step.scope <= names.keys()
    ]


@dataclass(frozen=True)
class Tested:
    """A triple pattern as an α test, and where its variables are in the test's tuples."""

    test: AlphaTest  # what its triples must pass
    columns: dict[int, int]  # the shape's variable -> the place
    parameters: dict[int, int]  # the open constant's number -> the place


def tested(pattern: ShapePattern) -> Tested:
    """Return the α test of a triple pattern."""
    columns: dict[int, int] = {}
    parameters: dict[int, int] = {}
    equal: list[tuple[int, int]] = []
    for place, part in enumerate(pattern.parts):
        if isinstance(part, Lifted):
            parameters[part.number] = place
        elif isinstance(part, int):
            if part in columns:
                equal.append((columns[part], place))
            columns.setdefault(part, place)
    kept = tuple(sorted({*columns.values(), *parameters.values()}))
    return Tested(AlphaTest(_atom(pattern), tuple(equal), pattern.streams, kept), columns, parameters)


def _alpha(plan: Plan, pattern: ShapePattern, has_static: Callable[[Atom], bool], place: int) -> _Open:
    found = tested(pattern)
    number = plan.number(found.test)
    return _Open(number, found.columns, found.parameters, has_static(found.test.atom), (place,))


def _atom(pattern: ShapePattern) -> Atom:
    return Atom(_constants(pattern.subject), _constant(pattern.predicate), _constants(pattern.object))


def _constant(part: Part) -> bytes | None:
    return part if isinstance(part, bytes) else None


def _constants(part: Part) -> frozenset[bytes] | None:
    if isinstance(part, Lifted):
        return part.constants
    return frozenset((part,)) if isinstance(part, bytes) else None


def _table(plan: Plan, names: tuple[int, ...], rows: tuple[tuple[bytes, ...], ...], place: int) -> _Open:
    number = plan.number(Table(len(names), rows))
    return _Open(number, {name: column for column, name in enumerate(names)}, {}, True, (place,))


def _join(
    plan: Plan,
    chosen: list[_Open],
    key: tuple[int, ...],
    common: Sequence[Expression],
    pushed: set[Expression],
) -> _Open:
    """Add the join of some producers under a key, with the filters that can be done before it.

    Inputs, key and columns are ordered by the producers' numbers and columns, never by the names of variables, so that
    equal joins of different shapes come out equal.
    """
    ordered = sorted(chosen, key=lambda each: each.producer)
    key = tuple(sorted(key, key=lambda variable: ordered[0].columns[variable]))
    inputs, origins = [], [(-1, i) for i in range(len(key))]
    columns = {variable: i for i, variable in enumerate(key)}
    parameters: dict[int, int] = {}
    for place, each in enumerate(ordered):
        filters = _filters(each, common, pushed)
        inputs.append(Input(each.producer, tuple(each.columns[variable] for variable in key), filters))
        others = [(column, columns, name) for name, column in each.columns.items() if name not in key]
        others += [(column, parameters, number) for number, column in each.parameters.items()]
        for column, target, name in sorted(others, key=lambda other: other[0]):
            target[name] = len(origins)
            origins.append((place, column))
    number = plan.number(Join(tuple(inputs), tuple(origins)))
    leaves = tuple(leaf for each in ordered for leaf in each.leaves)
    return _Open(number, columns, parameters, all(each.static for each in chosen), leaves)


def _filters(each: _Open, common: Sequence[Expression], pushed: set[Expression]) -> tuple[SlotFilter, ...]:
    """Take the filters that look only at what this producer binds, and were not done before."""
    found: list[SlotFilter] = []
    for expression in common:
        names = {int(variable.name[1:]) for variable in variables(expression)}
        if expression in pushed or not names <= each.columns.keys():
            continue
        pushed.add(expression)
        to_columns = {Variable(f"c{name}"): Variable(f"c{each.columns[name]}") for name in names}
        found.append(SlotFilter(rename(expression, to_columns), frozenset(each.columns[name] for name in names)))
    return tuple(sorted(found, key=lambda each: to_sparql(each.expression)))
