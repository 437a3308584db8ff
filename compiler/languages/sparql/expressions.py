"""Build expressions from parse trees.

Data's way: parse tree -> **expression**.
Invariant: a function that retewave does not know is refused here; it never becomes an expression that always fails.
An aggregate is a hidden variable, which `Context.aggregates` holds; where none may stand it is refused by name, as is
EXISTS inside an expression of languages without views (`looking.py` reads it in the others).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import cast

from lark import Token, Tree

from retewave.compiler.algebra import AggregateCall, AggregateName
from retewave.compiler.expressions.tree import TIMESTAMP, Call, Constant, Expression, Membership, Operation, Variable
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import Node, kind_of, rule, trees_of
from retewave.compiler.languages.sparql.kinds import check_calculated, check_compared
from retewave.compiler.languages.sparql.regex import check_patterns
from retewave.compiler.languages.sparql.times import check_duration
from retewave.compiler.terms import XSD, unquote
from retewave.errors import QueryError

__all__ = ["conjunction", "expression", "similar", "tell_unbound", "unknown", "variable"]

_SYNONYMS = {"URI": "IRI", "ISURI": "ISIRI"}
_BINARY = {"or_": "||", "and_": "&&"}
_CASTS = frozenset(
    f"<{XSD}{kind}>" for kind in ("boolean", "double", "float", "decimal", "integer", "dateTime", "string")
)


def variable(tree: ParseTree) -> Variable:
    """Return the variable that a `var` tree names."""
    return Variable(str(tree.children[0])[1:])


def similar(missing: Variable, known: Iterable[Variable]) -> str:
    """Return a question that offers the known variable with a similar name, or an empty text.

    >>> similar(Variable("prise"), [Variable("product"), Variable("price")])
    'did you mean ?price?'
    """
    near = difflib.get_close_matches(missing.name, [each.name for each in known if not each.hidden], 1, 0.6)
    return f"did you mean ?{near[0]}?" if near else ""


def unknown(missing: Variable, node: Node, known: Iterable[Variable], context: Context) -> QueryError:
    """Return the error for a variable that the pattern does not have."""
    return context.error(f"{missing} does not occur in the pattern", node, hint=similar(missing, known))


def tell_unbound(tree: ParseTree, known: tuple[Variable, ...], context: Context) -> None:
    """Tell of variables that have no value where the expression stands."""
    bound = set(known)
    for var in _variables(tree):
        missing = variable(var)
        if missing not in bound:
            bound.add(missing)
            hint = similar(missing, known) or "a filter sees its own group, and BIND what stands before it"
            context.unseen(missing, hint, var)


def _variables(tree: ParseTree) -> Iterator[ParseTree]:
    """Yield the variables of an expression, but not those of groups in it."""
    waiting = [tree]  # a stack of its own: an expression may be nested as deeply as one likes
    while waiting:
        each = waiting.pop()
        if rule(each) == "var":
            yield each
        elif rule(each) not in ("exists", "not_exists"):
            waiting += reversed(list(trees_of(each)))


def expression(tree: ParseTree, context: Context) -> Expression:
    """Build the expression of a tree, whatever its rule."""
    kind = rule(tree)
    if kind == "var":
        return variable(tree)
    builder = context.language.expressions.get(kind) or _BUILDERS.get(kind)
    if builder:
        return builder(tree, context)
    return Constant(context.prologue.term(tree))


def conjunction(parts: list[Expression]) -> Expression:
    """Connect expressions by &&."""
    return _balanced("&&", parts)


def _all(nodes: list[Node], context: Context) -> tuple[Expression, ...]:
    return tuple(expression(node, context) for node in nodes if isinstance(node, Tree))


def _logical(tree: ParseTree, context: Context) -> Expression:
    kind = rule(tree)
    operands: list[Expression] = []
    while rule(tree) == kind:
        tree, last = tree.children
        operands.append(expression(last, context))
    operands.append(expression(tree, context))
    return _balanced(_BINARY[kind], operands[::-1])


def _balanced(operator: str, operands: list[Expression]) -> Expression:
    """Connect operands in a tree of little depth: a thousand operands must not make a thousand levels."""
    if len(operands) == 1:
        return operands[0]
    half = (len(operands) + 1) // 2
    return Operation(operator, (_balanced(operator, operands[:half]), _balanced(operator, operands[half:])))


def _infix(tree: ParseTree, context: Context) -> Expression:
    left, operator, right = tree.children
    operands = expression(left, context), expression(right, context)
    if rule(tree) == "comparison":
        check_duration(*operands, (left, right), context)
        check_compared(str(operator), *operands, (left, right), context)
    else:
        check_calculated(str(operator), *operands, right, context)
    return Operation(str(operator), operands)


def _prefix(tree: ParseTree, context: Context) -> Expression:
    operator = str(tree.children[0]) if len(tree.children) == 2 else "!"
    return Operation(operator, (expression(tree.children[-1], context),))


def _signed_addition(tree: ParseTree, context: Context) -> Expression:
    # `?a -1` is read as one token after ?a; the specification makes it an addition of -1.
    left, right = _all(tree.children, context)
    check_calculated("+", left, right, tree.children[-1], context)
    return Operation("+", (left, right))


def _membership(tree: ParseTree, context: Context) -> Expression:
    needle, members = tree.children
    return Membership(expression(needle, context), _all(members.children, context), rule(tree) == "not_in")


def _builtin(tree: ParseTree, context: Context) -> Expression:
    head, *rest = tree.children
    if isinstance(head, Tree):
        own = context.language.expressions.get(rule(head))
        if own is not None:
            return own(head, context)
        if rule(head) == "aggregate":
            return _aggregate(head, context)
        raise _refused(head, context)
    name = _SYNONYMS.get(head.upper(), head.upper())
    arguments = rest[0].children if rest and _is_list(rest[0]) else rest
    built = _all(arguments, context)
    if name == "IRI" and context.prologue.base:
        built += (Constant(f"<{context.prologue.base}>".encode()),)  # so that evaluation needs no prologue
    call = Call(name, built)
    check_patterns(call, list(arguments), context)
    return call


def _refused(call: ParseTree, context: Context) -> QueryError:
    name = {"exists": "EXISTS", "not_exists": "NOT EXISTS"}.get(rule(call))
    assert name is not None
    hint = f"make it a condition of its own: FILTER {name} {{ … }}, or FILTER (… && {name} {{ … }})"
    return context.unsupported(f"{name} inside an expression", call, hint)


def _aggregate(tree: ParseTree, context: Context) -> Expression:
    """Return the hidden variable of an aggregate's value."""
    context.view_by("aggregation", tree)
    if context.aggregates is None:
        hint = "compute it in a subquery: { SELECT (COUNT(?x) AS ?n) … }"
        raise context.error("an aggregate stands in SELECT, HAVING and ORDER BY only, and in no other", tree, hint)
    known, context.aggregates = context.aggregates, None  # its argument has none
    head, *rest = tree.children
    function = cast(AggregateName, str(head).upper())
    distinct = any(isinstance(each, Token) and kind_of(each) == "DISTINCT" for each in rest)
    looked = len(context.looked)
    argument = next((expression(each, context) for each in rest if isinstance(each, Tree)), None)
    context.refuse_looked("an aggregate", looked)
    separator = next((unquote(str(each)) for each in rest if isinstance(each, Token) and each[0] in "\"'"), " ")
    context.aggregates = known
    call = AggregateCall(function, argument, distinct, separator)
    return known.setdefault(call, context.fresh())


def _is_list(node: Node) -> bool:
    return isinstance(node, Tree) and rule(node) == "expression_list"


def _function(tree: ParseTree, context: Context) -> Expression:
    name, arguments = tree.children
    iri = f"<{context.prologue.iri(name)}>"
    if iri == TIMESTAMP:
        return _timestamp(name, arguments, context)
    if iri not in _CASTS and not _is_registered(iri):
        raise context.error(f"the function {iri} is not known", name, "the casts xsd:integer and such are")
    distinct = any(isinstance(each, Token) and each.type.endswith("DISTINCT") for each in arguments.children)
    return Call(iri, _all(arguments.children, context), distinct)


def _timestamp(name: ParseTree, arguments: ParseTree, context: Context) -> Expression:
    """Build C-SPARQL's f:timestamp(?s, p, ?o)."""
    context.timestamps.append(name)
    built = _all(arguments.children, context)
    if len(built) != 3 or not all(isinstance(each, Variable | Constant) for each in built):
        hint = "subject, predicate and object: f:timestamp(?s, :p, ?o)"
        raise context.error("f:timestamp asks for the time of a triple, and takes its three terms", name, hint)
    return Call(TIMESTAMP, built)


def _is_registered(iri: str) -> bool:
    from retewave.compiler.expressions.registered import is_registered  # imports rdflib: only for such a call

    return is_registered(iri)


_BUILDERS = {
    "or_": _logical,
    "and_": _logical,
    "comparison": _infix,
    "arithmetic": _infix,
    "sign": _prefix,
    "not_": _prefix,
    "signed_addition": _signed_addition,
    "in_": _membership,
    "not_in": _membership,
    "builtin_call": _builtin,
    "function_call": _function,
}
