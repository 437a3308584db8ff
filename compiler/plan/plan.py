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
from dataclasses import dataclass
from itertools import count

from retewave.compiler.expressions.tree import Expression, Variable
from retewave.compiler.plan.conjunction import Conjunction, joined
from retewave.compiler.plan.operators.join import Scope
from retewave.compiler.plan.producers import EVENT, AlphaTest, End, Open, Plan, Spent, Table, Told
from retewave.compiler.plan.shape import (
    Lifted,
    Member,
    Part,
    Shape,
    ShapePattern,
    filters_over,
    full_rows,
    table_numbers,
)
from retewave.compiler.rewrite.branch import Branch
from retewave.epsilon.atoms import Atom

__all__ = ["Tested", "atoms_of", "make_plan", "tested"]


def atoms_of(shapes: Sequence[Shape]) -> tuple[Atom, ...]:
    """Return the atoms of all patterns of all shapes, each once."""
    return tuple(dict.fromkeys(_atom(pattern) for shape in shapes for pattern in shape.patterns))


def make_plan(shapes: Sequence[Shape], has_static: Callable[[Atom], bool]) -> Plan:
    """Plan all shapes; `has_static` tells which atoms static data feeds."""
    plan = Plan()
    for shape in shapes:
        _plan_shape(plan, shape, has_static)
    return plan


def _plan_shape(plan: Plan, shape: Shape, has_static: Callable[[Atom], bool]) -> None:
    common, spender = _common_filters(shape.members), shape.members[0].listener.spender
    if spender:
        plan.number(Spent(spender))
    pushed: set[Expression] = set()
    if shape.branch is None:
        waiting = [_alpha(plan, pattern, has_static, place) for place, pattern in enumerate(shape.patterns)]
        waiting += [_table(plan, *table, place) for place, table in enumerate(shape.tables, len(waiting))]
        root = joined(plan, waiting or [_table(plan, (), ((),), 0)], Scope(common, pushed, spender=spender))
        root.within = shape.within
    else:
        root = _planned(plan, shape, shape.branch, has_static, pushed)
    parameters = tuple(root.parameters[number] for number in sorted(root.parameters))
    read, early, leaves = root.read(), frozenset(pushed), root.leaves
    told = root.told, root.events, root.runs, root.states
    end = End(root.producer, read, shape, root.columns, parameters, early, leaves, *told)
    plan.ends.append(end)


def _planned(
    plan: Plan, shape: Shape, branch: Branch, has_static: Callable[[Atom], bool], pushed: set[Expression]
) -> Open:
    """Return the producer of a branch with conditions in time: a shape with one member's constants."""
    patterns, leaves = iter(shape.patterns), count()
    conjunction = Conjunction(
        plan,
        lambda _: _alpha(plan, next(patterns), has_static, 0),
        lambda table: _table(plan, table_numbers(table), full_rows(table), 0),
        shape.members[0].listener.width,
        leaves,
        shape.members[0].listener.spender,
        _shown(shape.members),
    )
    return conjunction.planned(branch, _common_filters(shape.members), pushed, False)


def _shown(members: Sequence[Member]) -> frozenset[int]:
    """Return the variables, by number, that are needed at the end of a shape's plan."""
    shown: set[int] = set()
    for member in members:
        listener = member.listener
        names = {Variable(name) for name in (*listener.projection, *listener.compared)}
        names.update(*(step.scope for step in member.steps.steps))
        shown |= {member.numbers[variable] for variable in names if variable in member.numbers}
    return frozenset(shown)


def _common_filters(members: Sequence[Member]) -> tuple[Expression, ...]:
    """Return the filters, over the shape's variables, that every member has: these may be done early."""
    found = [dict.fromkeys(filters_over(member.steps, member.numbers)) for member in members]
    return tuple(each for each in found[0] if all(each in other for other in found[1:]))


@dataclass(frozen=True)
class Tested:
    """A triple pattern as an α test, and where its variables are in the test's tuples."""

    test: AlphaTest  # the test that its triples must pass
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
    if pattern.event is not None:
        columns[pattern.event] = EVENT
    told = (what for what in pattern.told if what >= 0)
    kept = tuple(sorted({*columns.values(), *parameters.values(), *told}))
    streams = None if pattern.background else pattern.streams
    whole = pattern.event is not None
    test = AlphaTest(
        _atom(pattern), tuple(equal), streams, kept, whole, pattern.background, pattern.graph, pattern.by_ends
    )
    return Tested(test, columns, parameters)


def _alpha(plan: Plan, pattern: ShapePattern, has_static: Callable[[Atom], bool], place: int) -> Open:
    found = tested(pattern)
    number = plan.number(found.test)
    told = {Told(place, what): what for what in pattern.told}
    static = has_static(found.test.atom) or pattern.background
    streamed = found.test.whole and static  # no event has static triples
    return Open(
        number,
        found.columns,
        found.parameters,
        static and not streamed,
        (place,),
        told=told,
        streamed=streamed,
        background=pattern.background,
    )


def _atom(pattern: ShapePattern) -> Atom:
    return Atom(_constants(pattern.subject), _constants(pattern.predicate), _constants(pattern.object))


def _constants(part: Part) -> frozenset[bytes] | None:
    if isinstance(part, Lifted):
        return part.constants
    return frozenset((part,)) if isinstance(part, bytes) else None


def _table(plan: Plan, names: tuple[int, ...], rows: tuple[tuple[bytes, ...], ...], place: int) -> Open:
    number = plan.number(Table(len(names), rows))
    return Open(number, {name: column for column, name in enumerate(names)}, {}, True, (place,))
