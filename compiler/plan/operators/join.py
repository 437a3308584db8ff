"""The join of two or more producers under a key, with the filters that can be done before it.

Data's way: chosen producers, key -> **join** -> plan; `retewave.rete.operators.join` runs it.
"""

from __future__ import annotations

from collections.abc import Sequence

from retewave.compiler.expressions.tree import Expression, Variable, rename, to_sparql, variables
from retewave.compiler.plan.producers import Input, Join, Open, Plan, SlotFilter

__all__ = ["join"]


def join(
    plan: Plan,
    chosen: list[Open],
    key: tuple[int, ...],
    common: Sequence[Expression],
    pushed: set[Expression],
) -> Open:
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
    return Open(number, columns, parameters, all(each.static for each in chosen), leaves)


def _filters(each: Open, common: Sequence[Expression], pushed: set[Expression]) -> tuple[SlotFilter, ...]:
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
