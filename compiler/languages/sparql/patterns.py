"""Build the algebra of a group graph pattern (SPARQL 1.1, section 18.2.2).

Data's way: parse tree -> **algebra** -> normal form.
Invariant: a filter covers its whole group, wherever it stands in it; BIND sees what its group has bound
before it; OPTIONAL and MINUS take all parts before them as their left side.  SERVICE is refused by name and place, as
is GRAPH in languages without views.
"""

from __future__ import annotations

from lark import Tree

from retewave.compiler.algebra import (
    Algebra,
    Exists,
    Extend,
    InGraph,
    InWindow,
    LeftJoin,
    Minus,
    Row,
    Triples,
    Values,
    visible,
)
from retewave.compiler.expressions.tree import Variable
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import rule, token, trees_of
from retewave.compiler.languages.sparql.braces import check_braces
from retewave.compiler.languages.sparql.expressions import expression, tell_unbound, variable
from retewave.compiler.languages.sparql.filters import Open, closed, condition, conjuncts, existence
from retewave.compiler.languages.sparql.paths import join, union
from retewave.compiler.languages.sparql.times import refuse_times
from retewave.compiler.languages.sparql.triples import triples
from retewave.compiler.languages.sparql.unrelated import tell_unrelated

__all__ = ["bind", "group", "opened", "values"]

_UNSUPPORTED = {
    "service_graph_pattern": "SERVICE",
    "sub_select": "a subquery",
}


def group(tree: ParseTree, context: Context) -> Algebra:
    """Build a group: everything between one pair of braces."""
    return closed(opened(tree, context), context)


def opened(tree: ParseTree, context: Context) -> Open:
    """Build a group without its own filters."""
    context.basic_pattern += 1
    check_braces(tree, context)
    whole: Algebra = Triples(())
    filters: list[ParseTree] = []
    for part in tree.children:
        kind = rule(part)
        if kind == "filter":
            filters.append(part)
        else:
            whole = _with_part(whole, part, kind, context)
        if kind not in ("filter", "triples_block"):
            context.basic_pattern += 1
    return _filtered(whole, filters, context)


def _filtered(pattern: Algebra, filters: list[ParseTree], context: Context) -> Open:
    """Put EXISTS and NOT EXISTS around a pattern, and keep the other conditions apart."""
    kept: list[tuple[ParseTree, ...]] = []
    for each in filters:
        parts = [(part, existence(part)) for part in conjuncts(each.children[0])]
        looked_for = [found for _, found in parts if found is not None]
        for found in looked_for:
            pattern = _looked_for(pattern, *found, context)
        conditions = tuple(part for part, found in parts if found is None) if looked_for else (each.children[0],)
        if conditions:
            kept.append(conditions)
    return Open(pattern, tuple(kept))


def _looked_for(pattern: Algebra, tree: ParseTree, negated: bool, context: Context) -> Algebra:
    inner = opened(tree.children[-1], context)
    place, seen = context.source.place(tree), condition(inner, (pattern,), context)
    tell_unrelated("NOT EXISTS" if negated else "EXISTS", tree, inner.pattern, (pattern,), seen, context)
    return Exists(pattern, inner.pattern, seen, negated, place)


def _with_part(whole: Algebra, part: ParseTree, kind: str, context: Context) -> Algebra:
    """Return a group's pattern with one more part."""
    match kind:
        case "triples_block":
            return join(whole, triples(part, context))
        case "bind":
            return bind(whole, part.children[1], part.children[0], context)
        case "optional_graph_pattern":
            inner = opened(part.children[-1], context)
            place = context.source.place(token(part))
            return LeftJoin(whole, inner.pattern, condition(inner, (whole,), context), place)
        case "minus_graph_pattern":
            taken = group(part.children[-1], context)
            tell_unrelated("MINUS", token(part), taken, (whole,), None, context)
            return Minus(whole, taken, context.source.place(token(part)))
    return join(whole, _part(part, kind, context))


def _part(part: ParseTree, kind: str, context: Context) -> Algebra:
    if kind in context.language.patterns:
        return context.language.patterns[kind](part, context)
    if kind == "group_or_union_graph_pattern":
        return union([group(branch, context) for branch in trees_of(part)])
    if kind == "inline_data":
        return values(part.children[0], context)
    if kind in _NAMING and context.language.views:
        return _named(part, kind, context)
    raise context.unsupported(_UNSUPPORTED.get(kind, "GRAPH"), part)


_NAMING = ("graph_graph_pattern", "window_graph_pattern")


def _named(part: ParseTree, kind: str, context: Context) -> Algebra:
    """Build a group that is read from a window, or from a named background graph."""
    head, name, inner = part.children
    assert context.windows is not None
    place = context.source.place(part)
    term = variable(name) if rule(name) == "var" else context.prologue.name(name)
    if kind == "window_graph_pattern" or term in context.windows.by_graph:
        context.windows.read(term, name, context)
        context.view_by(token(part).upper(), head)
        return InWindow(term, group(inner, context), place)
    context.graph_groups.append(head)
    if not isinstance(term, Variable):
        context.graph_names[context.prologue.reference(name)] = None
    return InGraph(term, group(inner, context), place)


def bind(pattern: Algebra, target: ParseTree, value: ParseTree, context: Context) -> Algebra:
    """Extend a pattern by a variable that it does not bind yet."""
    new = variable(target)
    known = visible(pattern)
    if new in known:
        raise context.error(f"{new} is bound already", target, hint="AS needs a variable that is new here")
    refuse_times(value, context)
    tell_unbound(value, known, context)
    built = expression(value, context)
    return Extend(context.around(pattern), new, built)


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
