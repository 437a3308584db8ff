"""Which groups of a view are kept from report to report, beside the solutions of its leaves.

Data's way: algebra with `LeafFound`s -> **algebra with `GroupsFound`s** -> explain; `retewave.views`.
Groups of a leaf's solutions are kept if all of their aggregates can be: COUNT, SUM, AVG, MIN and MAX of variables, not
of different values only.  The algebra above a leaf or groups is *row by row* if each solution gives its rows by itself:
then the new rows of a report follow from the solutions that have come and gone.
Left out: how groups are kept (`rete/reports/groups.py`), how all else is evaluated (`retewave.views.evaluate`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from retewave.compiler.algebra import AggregateCall, Extend, Filter, Grouped, Projected, Union, Variable
from retewave.compiler.algebra.walk import changed, operands
from retewave.compiler.expressions.tree import IMPURE, mentions
from retewave.compiler.rewrite.leaves import LeafFound, MatchFound, PathFound, TimesFound

__all__ = ["KEPT_AGGREGATES", "GroupsFound", "groups_in", "is_row_by_row", "with_groups"]

KEPT_AGGREGATES = ("COUNT", "SUM", "AVG", "MIN", "MAX")


@dataclass(frozen=True)
class GroupsFound:
    """The groups of a leaf's solutions: stands in the algebra in place of `Grouped`."""

    leaf: LeafFound  # whose solutions are grouped
    keys: tuple[Variable, ...]  # solutions that agree in these are a group
    aggregates: tuple[tuple[Variable, AggregateCall], ...]  # what each group's solution has beside the keys
    implicit: bool  # no GROUP BY is written: no solutions are one empty group

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that its solutions bind."""
        return *self.keys, *(variable for variable, _ in self.aggregates)


def with_groups(pattern: Any) -> Any:
    """Return the algebra of a view with the groups that can be kept."""
    match pattern:
        case LeafFound() | MatchFound():
            return pattern
        case Grouped(LeafFound() as leaf, keys, aggregates, implicit) if all(
            _is_kept(call, leaf) for _, call in aggregates
        ):
            return GroupsFound(leaf, keys, aggregates, implicit)
        case PathFound(path, nodes):
            return PathFound(with_groups(path), nodes)
        case TimesFound(inner):
            return replace(pattern, pattern=with_groups(inner))
    return changed(pattern, with_groups)


def _is_kept(call: AggregateCall, leaf: LeafFound) -> bool:
    known = call.argument is None or call.argument in leaf.variables
    return known and not call.distinct and call.function in KEPT_AGGREGATES


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


def is_row_by_row(pattern: Any) -> bool:
    """Tell whether each solution of leaves and groups gives its rows by itself."""
    match pattern:
        case LeafFound():
            return True
        case GroupsFound(implicit=implicit):
            return not implicit
        case Projected(inner, _):
            return is_row_by_row(inner)
        case Filter(expression, inner) | Extend(inner, _, expression):
            return is_row_by_row(inner) and not mentions(expression, IMPURE)
        case Union(left, right):
            return is_row_by_row(left) and is_row_by_row(right)
    return False
