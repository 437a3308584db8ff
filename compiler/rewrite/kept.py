"""Which groups of a view are kept from report to report, beside the solutions of its leaves.

Data's way: algebra with `LeafFound`s -> **algebra with `GroupsFound`s** -> explain; `retewave.views`.
Groups of a leaf's solutions are kept if all of their aggregates can be: COUNT, SUM, AVG, MIN and MAX.  What they are
of, and what solutions are grouped by, may be expressions: each solution has their values as *computed* columns.
What stands above a leaf or groups is *row by row* if each solution gives its rows by itself: then what is new in a
report follows from what has come and gone.
Left out: how groups are kept (`rete/reports/groups.py`), how all else is evaluated (`retewave.views.evaluate`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from retewave.compiler.algebra import AggregateCall, Extend, Filter, Grouped, Projected, Query, Union, Variable
from retewave.compiler.algebra.walk import changed, operands
from retewave.compiler.expressions.tree import IMPURE, TIMESTAMP, Expression, mentions, rename, variables
from retewave.compiler.rewrite.leaves import LeafFound, MatchFound, PathFound, TimesFound

__all__ = [
    "KEPT_AGGREGATES",
    "GroupsFound",
    "goes_by_changes",
    "groups_in",
    "leaves_in",
    "picked_columns",
    "with_groups",
]

KEPT_AGGREGATES = ("COUNT", "SUM", "AVG", "MIN", "MAX", "PARTIAL_SUM")


@dataclass(frozen=True)
class GroupsFound:
    """The groups of a leaf's solutions: stands in the algebra in place of `Grouped`."""

    leaf: LeafFound  # whose solutions are grouped
    keys: tuple[Variable, ...]  # solutions that agree in these are a group
    aggregates: tuple[tuple[Variable, AggregateCall], ...]  # what each group's solution has beside the keys; the
    # arguments are columns
    implicit: bool  # no GROUP BY is written: no solutions are one empty group
    by: tuple[Variable, ...]  # the columns that the keys are
    computed: tuple[tuple[Variable, Expression], ...] = ()  # columns beside the leaf's, of these and those before

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that its solutions bind."""
        return *self.keys, *(variable for variable, _ in self.aggregates)


def with_groups(pattern: Any) -> Any:
    """Return the algebra of a view with the groups that can be kept."""
    match pattern:
        case LeafFound() | MatchFound():
            return pattern
        case Grouped() if groups := _groups(pattern):
            return groups
        case PathFound(path, nodes):
            return PathFound(with_groups(path), nodes)
        case TimesFound(inner):
            return replace(pattern, pattern=with_groups(inner))
    return changed(pattern, with_groups)


def _groups(pattern: Grouped) -> GroupsFound | None:
    """Return the groups that stand for others, if they can be kept."""
    columns = _Columns()
    leaf = columns.leaf(pattern.pattern)
    if leaf is None or not all(_is_kept(call) for _, call in pattern.aggregates):
        return None
    aggregates = []
    for variable, call in pattern.aggregates:
        argument = None if call.argument is None else columns.of(call.argument)
        if argument is None and call.argument is not None:
            return None
        aggregates.append((variable, replace(call, argument=argument)))
    by = tuple(columns.names[key] for key in pattern.keys if key in columns.names)
    if len(by) < len(pattern.keys):
        return None
    computed = tuple(columns.computed.items())
    return GroupsFound(leaf, pattern.keys, tuple(aggregates), pattern.implicit, by, computed)


@dataclass
class _Columns:
    """The columns that groups are made of: a leaf's, and computed ones, which are named by what they are."""

    names: dict[Variable, Variable] = field(default_factory=dict)  # the column that a variable of the pattern is
    computed: dict[Variable, Expression] = field(default_factory=dict)  # over columns

    def leaf(self, pattern: Any) -> LeafFound | None:
        """Return the leaf under assignments; note the columns that they are."""
        if isinstance(pattern, LeafFound):
            self.names |= {each: each for each in pattern.variables}
            return pattern
        if not isinstance(pattern, Extend):
            return None
        leaf, column = self.leaf(pattern.pattern), self.of(pattern.expression)
        if leaf is None or column is None:
            return None
        self.names[pattern.variable] = column
        return leaf

    def of(self, expression: Expression) -> Variable | None:
        """Return the column of an expression's values; None: they are not the same at each time that it is asked."""
        if isinstance(expression, Variable):
            return self.names.get(expression)
        if mentions(expression, IMPURE | {TIMESTAMP}) or not variables(expression) <= self.names.keys():
            return None
        column = rename(expression, self.names)
        name = Variable(f"_:.{column!r}")
        self.computed[name] = column
        return name


def _is_kept(call: AggregateCall) -> bool:
    return call.function in KEPT_AGGREGATES and not (call.distinct and call.argument is None)


def groups_in(pattern: Any) -> Iterator[GroupsFound]:
    """Yield the groups that are kept, in the order written."""
    if isinstance(pattern, GroupsFound):
        yield pattern
    elif isinstance(pattern, PathFound):
        yield from groups_in(pattern.path)
    elif isinstance(pattern, TimesFound):
        yield from groups_in(pattern.pattern)
    elif not isinstance(pattern, LeafFound | MatchFound):
        for each in operands(pattern):
            yield from groups_in(each)


def leaves_in(pattern: Any) -> Iterator[LeafFound]:
    """Yield the leaves of a pattern that goes by changes, without those that are grouped."""
    if isinstance(pattern, LeafFound):
        yield pattern
    elif not isinstance(pattern, GroupsFound):
        for each in operands(pattern):
            yield from leaves_in(each)


def picked_columns(pattern: Any, names: Iterable[str]) -> tuple[LeafFound | GroupsFound, list[int]] | None:
    """Return which columns of a leaf or of groups the rows are, if nothing else is to be done for them."""
    picked = _picked(pattern)
    if picked is None:
        return None
    found, columns = picked
    places = [columns.get(Variable(name), -1) for name in names]
    return None if -1 in places else (found, places)


def _picked(pattern: Any) -> tuple[LeafFound | GroupsFound, dict[Variable, int]] | None:
    """Return a leaf or groups, and which column each variable above them is; None: there is more above them."""
    match pattern:
        case LeafFound() | GroupsFound():
            return pattern, {each: place for place, each in enumerate(pattern.variables)}
        case Projected(inner, variables) if below := _picked(inner):
            found, columns = below
            return found, {each: columns[each] for each in variables if each in columns}
        case Extend(inner, variable, Variable() as known) if below := _picked(inner):
            found, columns = below
            return (found, columns | {variable: columns[known]}) if known in columns else None
    return None


def goes_by_changes(pattern: Any, query: Query) -> bool:
    """Tell whether what is told at a report follows from what has come and gone: no report needs the former rows."""
    assert query.view is not None
    return query.view.told != "RSTREAM" and query.form != "ASK" and _is_row_by_row(pattern)


def _is_row_by_row(pattern: Any) -> bool:
    """Tell whether each solution of leaves and groups gives its rows by itself."""
    match pattern:
        case LeafFound():
            return True
        case GroupsFound(implicit=implicit):
            return not implicit
        case Projected(inner, _):
            return _is_row_by_row(inner)
        case Filter(expression, inner) | Extend(inner, _, expression):
            return _is_row_by_row(inner) and not mentions(expression, IMPURE)
        case Union(left, right):
            return _is_row_by_row(left) and _is_row_by_row(right)
    return False
