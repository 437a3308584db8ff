"""Build the filters of a group: conditions on its solutions, and groups that must or must not exist beside them.

Data's way: parse tree of FILTER -> **conditions**, EXISTS nodes -> algebra.
EXISTS stands alone or in a conjunction here; what it is anywhere else in an expression, `looking.py` says.
The filters of an optional group, or of a group under NOT or EXISTS, are not put around that group: they are conditions
that see the solutions of the other side, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lark import Tree

from retewave.compiler.algebra import Algebra, Filter, Variable, visible
from retewave.compiler.expressions.tree import Expression
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import rule
from retewave.compiler.languages.sparql.expressions import conjunction, expression, tell_unbound

__all__ = ["Open", "closed", "condition", "conjuncts", "existence"]


@dataclass(frozen=True)
class Open:
    """A group apart from its filters, which are put around it or become the condition of another node."""

    pattern: Algebra  # the join of its parts
    filters: tuple[tuple[ParseTree, ...], ...] = ()  # the conjuncts of each FILTER, in the order written


def closed(group: Open, context: Context) -> Algebra:
    """Return a group with its filters around it."""
    if not group.filters:
        return group.pattern
    whole, known = group.pattern, visible(group.pattern)
    for parts in group.filters:
        built = _built(parts, known, context)
        whole = Filter(built, context.around(whole))
    return whole


def condition(group: Open, others: tuple[Algebra, ...], context: Context) -> Expression | None:
    """Return the filters of a group as one expression that sees the solutions of other patterns, too."""
    known = tuple(variable for each in (group.pattern, *others) for variable in visible(each))
    parts = [part for each in group.filters for part in each]
    if not parts:
        return None
    built = _built(tuple(parts), known, context)
    context.refuse_looked("an expression that looks at two groups")
    return built


def _built(parts: tuple[ParseTree, ...], known: tuple[Variable, ...], context: Context) -> Expression:
    for part in parts:
        tell_unbound(part, known, context)
    return conjunction([expression(part, context) for part in parts])


def conjuncts(tree: ParseTree) -> Iterator[ParseTree]:
    """Yield the parts of an expression that && joins, in the order written."""
    waiting = [tree]
    while waiting:
        each = waiting.pop()
        if rule(each) == "and_":
            waiting += reversed(each.children)
        else:
            yield each


def existence(tree: ParseTree) -> tuple[ParseTree, bool] | None:
    """Return the group of an EXISTS and whether it must be missing; None for any other conjunct.

    `NOT EXISTS` is one, too, and both may have `!` before them.
    """
    negated = False
    while rule(tree) == "not_":
        (tree,) = tree.children
        negated = not negated
    head = tree.children[0] if rule(tree) == "builtin_call" else None
    if not isinstance(head, Tree) or rule(head) not in ("exists", "not_exists"):
        return None
    return head, negated ^ (rule(head) == "not_exists")
