"""Build the algebra of a group graph pattern (SPARQL 1.1, section 18.2.2).

Data's way: parse tree -> **algebra** -> normal form.
Invariant: a filter covers its whole group, wherever it stands in it; BIND sees what its group has bound
before it. What is not supported yet (OPTIONAL, MINUS, GRAPH, SERVICE, subqueries) is refused by name and
place.
"""

from __future__ import annotations

from lark import Tree

from retewave.compiler.algebra import Algebra, Extend, Filter, Row, Triples, Values, visible
from retewave.compiler.expressions.tree import Expression, Variable
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import rule
from retewave.compiler.languages.sparql.expressions import expression, tell_unbound, variable
from retewave.compiler.languages.sparql.paths import join, union
from retewave.compiler.languages.sparql.triples import triples

__all__ = ["bind", "group", "values"]

_UNSUPPORTED = {
    "optional_graph_pattern": "OPTIONAL",
    "minus_graph_pattern": "MINUS",
    "graph_graph_pattern": "GRAPH",
    "service_graph_pattern": "SERVICE",
    "sub_select": "a subquery",
}


def group(tree: ParseTree, context: Context) -> Algebra:
    """Build a group: everything between one pair of braces."""
    context.basic_pattern += 1
    whole: Algebra = Triples(())
    filters: list[tuple[ParseTree, Expression]] = []
    for part in tree.children:
        kind = rule(part)
        if kind == "filter":
            filters.append((part, expression(part.children[0], context)))
        elif kind == "triples_block":
            whole = join(whole, triples(part, context))
        elif kind == "bind":
            whole = bind(whole, part.children[1], part.children[0], context)
        else:
            whole = join(whole, _part(part, kind, context))
        if kind not in ("filter", "triples_block"):
            context.basic_pattern += 1
    known = visible(whole)
    for part, each in filters:
        tell_unbound(part, known, context)
        whole = Filter(each, whole)
    return whole


def _part(part: ParseTree, kind: str, context: Context) -> Algebra:
    if kind in _UNSUPPORTED:
        raise context.unsupported(_UNSUPPORTED[kind], part)
    if kind == "group_or_union_graph_pattern":
        return union([group(branch, context) for branch in part.children])
    if kind == "inline_data":
        return values(part.children[0], context)
    return context.language.patterns[kind](part, context)


def bind(pattern: Algebra, target: ParseTree, value: ParseTree, context: Context) -> Algebra:
    """Extend a pattern by a variable that it does not bind yet."""
    new = variable(target)
    known = visible(pattern)
    if new in known:
        raise context.error(f"{new} is bound already", target, hint="AS needs a variable that is new here")
    tell_unbound(value, known, context)
    return Extend(pattern, new, expression(value, context))


def values(tree: ParseTree, context: Context) -> Values:
    """Build inline data, with one variable or with several."""
    if rule(tree) == "inline_data_one_var":
        column, *cells = tree.children
        return Values((variable(column),), tuple((_cell(cell, context),) for cell in cells))
    head, *rows = tree.children
    columns = tuple(variable(each) for each in head.children if isinstance(each, Tree))
    if len(set(columns)) < len(columns):
        raise context.error("VALUES names a variable twice", head)
    return Values(columns, tuple(_row(row, columns, context) for row in rows))


def _row(tree: ParseTree, columns: tuple[Variable, ...], context: Context) -> Row:
    cells = [cell for cell in tree.children if isinstance(cell, Tree)]
    if len(cells) != len(columns):
        what = f"a row of VALUES has {len(cells)} values for {len(columns)} variables"
        raise context.error(what, tree, hint="UNDEF stands for no value")
    return tuple(_cell(cell, context) for cell in cells)


def _cell(tree: ParseTree, context: Context) -> bytes | None:
    return None if rule(tree) == "undef" else context.prologue.term(tree)
