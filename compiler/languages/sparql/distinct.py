"""Build the clause behind DISTINCT: ON (variables) LIMIT n FOR d.

Data's way: parse tree -> **which matches count as equal, and how many are reported** -> query -> report stage.
Invariant: each of its variables is bound by the pattern or assigned beside it.  LIMIT needs FOR, and has a maximum.
"""

from __future__ import annotations

from typing import Any

from lark import Tree

from retewave.compiler.algebra import Algebra, DistinctOn, visible
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import rule, token
from retewave.compiler.languages.sparql.expressions import unknown, variable

__all__ = ["MOST_REPORTS", "distinct_on"]

MOST_REPORTS = 1_000  # the greatest LIMIT: the time of each report is remembered, for every key


def distinct_on(tree: ParseTree, where: Algebra, context: Context) -> dict[str, Any]:
    """Return the fields of a query with DISTINCT ON."""
    known = visible(where)
    names: dict[str, None] = {}
    most, within = 1, None
    for part in tree.children:
        if not isinstance(part, Tree):
            continue  # the empty parentheses
        match rule(part):
            case "group_condition":
                names[_key(part, known, context)] = None
            case "distinct_limit":
                most = _most(part, tree, context)
            case "distinct_for":
                within = context.duration(token(part))
    return {"distinct": True, "on": DistinctOn(tuple(names), within, most)}


def _key(tree: ParseTree, known: tuple[Any, ...], context: Context) -> str:
    """Return the name of a variable that is compared."""
    first, *renamed = tree.children
    if renamed or rule(first) != "var":
        hint = "name it where it is shown or bound, (... AS ?key), and write ON (?key)"
        raise context.unsupported("an expression in DISTINCT ON", first, hint)
    if variable(first) not in known:
        raise unknown(variable(first), first, known, context)
    return variable(first).name


def _most(limit: ParseTree, of: ParseTree, context: Context) -> int:
    """Return how many matches are reported within the time."""
    number = token(limit, 1)
    if not any(isinstance(part, Tree) and rule(part) == "distinct_for" for part in of.children):
        raise context.error("LIMIT behind DISTINCT ON needs FOR", limit, f"within which time? LIMIT {number} FOR 5m")
    if not 1 <= int(number) <= MOST_REPORTS:
        raise context.error(f"LIMIT behind DISTINCT ON is from 1 to {MOST_REPORTS:,}, not {number}", number)
    return int(number)
