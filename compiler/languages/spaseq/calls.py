"""Build the calls that look at all repetitions of a GPM: COUNT, SUM, AVG …, FIRST, LAST, and PREV.

Data's way: parse tree of an aggregate -> **call** -> condition of a step, or expression of SELECT.
Laws: an aggregate has one argument, a group variable; PREV stands in the filters of the step that repeats, at the top.
"""

from __future__ import annotations

from lark import Tree

from retewave.compiler.expressions.tree import Call, Constant, Expression, Variable
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import kind_of, rule, token, tokens_of, trees_of
from retewave.compiler.languages.sparql.expressions import similar, variable
from retewave.compiler.languages.spaseq.context import SequenceContext
from retewave.compiler.terms import literal, unquote

__all__ = ["AGGREGATES", "aggregate", "is_of_run", "run_call"]

AGGREGATES = frozenset(("COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT", "FIRST", "LAST"))

_OF_RUN = ("aggregate", "run_call")


def is_of_run(tree: ParseTree) -> bool:
    """Tell whether an expression looks at repetitions."""
    return any(True for _ in tree.find_pred(lambda part: rule(part) in _OF_RUN))


def aggregate(tree: ParseTree, context: Context) -> Expression:
    """Build an aggregate of SPARQL."""
    assert isinstance(context, SequenceContext)
    for written in tokens_of(tree):
        if kind_of(written) == "DISTINCT":
            raise context.unsupported("DISTINCT in an aggregate", written)
        if kind_of(written) == "STAR":
            hint = "count the values of one variable: COUNT(?x)"
            raise context.error("COUNT(*) does not say of which GPM", written, hint)
    name = str(token(tree)).upper()
    separator = [each for each in tokens_of(tree) if kind_of(each).startswith("STRING")]
    arguments: tuple[Expression, ...] = (_argument(tree, name, context),)
    if separator:
        arguments += (Constant(literal(unquote(str(separator[0])))),)
    return Call(name, arguments)


def run_call(tree: ParseTree, context: Context) -> Expression:
    """Build FIRST, LAST or PREV."""
    assert isinstance(context, SequenceContext)
    name = str(token(tree)).upper()
    if name != "PREV":
        return Call(name, (_argument(tree, name, context),))
    asked = _variable(tree, name, context)
    if asked not in context.repeated:
        what = f"PREV({asked}) has no value here: {asked} is no variable that each repetition of this GPM binds anew"
        hint = "PREV stands in a FILTER of the GPM that repeats, such as B in SEQ (A; B+)"
        raise context.error(what, tree, hint)
    return Call(name, (asked,))


def _argument(tree: ParseTree, name: str, context: SequenceContext) -> Variable:
    asked = _variable(tree, name, context)
    if asked not in context.groups:
        what = f"{name}({asked}) needs a variable that repetitions bind"
        known = ", ".join(map(str, context.groups))
        hint = similar(asked, context.groups) or (f"here: {known}" if known else "a GPM repeats with +: SEQ (A; B+)")
        raise context.error(what, tree, hint)
    return asked


def _variable(tree: ParseTree, name: str, context: SequenceContext) -> Variable:
    (inner,) = trees_of(tree)[:1]
    assert isinstance(inner, Tree)
    if rule(inner) != "var":
        hint = f"bind the value in the GPM, BIND (… AS ?value), and write {name}(?value)"
        raise context.unsupported(f"an expression in {name}", inner, hint)
    return variable(inner)
