"""Refuse the clauses behind a pattern that do not run yet: GROUP BY, HAVING, ORDER BY, LIMIT, OFFSET."""

from __future__ import annotations

from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import rule

__all__ = ["refuse_modifiers"]

_MODIFIERS = {
    "group_clause": "GROUP BY",
    "having_clause": "HAVING",
    "order_clause": "ORDER BY",
    "limit_clause": "LIMIT",
    "offset_clause": "OFFSET",
}


def refuse_modifiers(tree: ParseTree, context: Context) -> None:
    """Refuse the first of the clauses."""
    for clause in tree.children:
        raise context.unsupported(_MODIFIERS[rule(clause)], clause)
