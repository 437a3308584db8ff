"""Build the output of a query: SELECT's variables and expressions, CONSTRUCT's template.

Data's way: parse tree of SELECT or CONSTRUCT -> **fields of the query** -> report stage.
Invariant: every variable that is shown occurs in the pattern, or is assigned here.
"""

from __future__ import annotations

from typing import Any

from retewave.compiler.algebra import Algebra, Variable, hidden_parts, visible, walk
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import kind_of, rule, tokens_of, trees_of
from retewave.compiler.languages.sparql.distinct import distinct_on
from retewave.compiler.languages.sparql.expressions import unknown, variable
from retewave.compiler.languages.sparql.patterns import bind
from retewave.compiler.languages.sparql.triples import template
from retewave.errors import QueryError

__all__ = ["selection", "templated"]


def selection(clause: ParseTree, where: Algebra, context: Context) -> dict[str, Any]:
    """Return the fields of a SELECT query: its projection, and the pattern extended by the expressions in SELECT."""
    names: list[str] = []
    kinds = {kind_of(each) for each in tokens_of(clause)}
    if "STAR" in kinds:
        names = [each.name for each in visible(where) if not each.hidden]
    for projection in (part for part in trees_of(clause) if rule(part) == "projection"):
        where = _project(projection, names, where, context)
    on = next((part for part in trees_of(clause) if rule(part) == "distinct_on"), None)
    return {
        "form": "SELECT",
        "where": where,
        "projection": tuple(names),
        "distinct": "DISTINCT" in kinds,
        "reduced": "REDUCED" in kinds,
        **({} if on is None else distinct_on(on, where, context)),
    }


def _project(projection: ParseTree, names: list[str], where: Algebra, context: Context) -> Algebra:
    *value, target = projection.children
    new = variable(target)
    if new.name in names:
        raise context.error(f"{new} is projected twice", target)
    if value:
        where = bind(where, target, value[0], context)
    elif new not in visible(where):
        raise _missing(new, target, where, context)
    names.append(new.name)
    return where


def templated(tree: ParseTree, where: Algebra, context: Context) -> dict[str, Any]:
    """Return the fields of a CONSTRUCT query."""
    triples = template(tree, context)
    known = visible(where)
    for var in tree.find_pred(lambda part: rule(part) == "var"):
        if variable(var) not in known:
            raise _missing(variable(var), var, where, context)
    return {"form": "CONSTRUCT", "where": where, "projection": (), "template": triples}


def _missing(new: Variable, node: ParseTree, where: Algebra, context: Context) -> QueryError:
    """Return the error for a variable that no solution has."""
    if any(new in visible(part) for each in walk(where) for part in hidden_parts(each)):
        hint = "NOT, MINUS and EXISTS bind nothing: they only look"
        return context.error(f"{new} has no value outside of the group that is looked for", node, hint)
    return unknown(new, node, visible(where), context)
