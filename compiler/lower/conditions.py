"""The conditions of a branch's steps, over the variables that its patterns and tables bind.

Data's way: branch -> **conditions** -> the program that decides whether a match uses up its events.
A step that assigns a variable is no condition: the conditions behind it have its expression in place of the variable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from retewave.compiler.expressions.tree import (
    Call,
    Constant,
    Expression,
    Variable,
    variables,
    with_children,
)
from retewave.compiler.rewrite.branch import Branch, ExtendStep, is_timed
from retewave.compiler.terms import XSD

__all__ = ["conditions"]

_UNBOUND = Variable("unbound")  # stands for each variable that a step may not see
_FALSE = Constant(f'"false"^^<{XSD}boolean>'.encode())


def conditions(branch: Branch) -> Iterator[Expression]:
    """Yield a branch's filters but those on times, which are decided before.

    >>> from retewave.compiler.parse import parse
    >>> from retewave.compiler.rewrite.normal import branches
    >>> (branch,) = branches(parse("SELECT * { ?x <urn:p> ?y BIND(?y * 2 AS ?z) FILTER(?z > 3) }"))
    >>> [sorted(map(str, variables(each))) for each in conditions(branch)]
    [['?y']]
    """
    values: dict[Variable, Expression] = {}
    for step in branch.steps:
        seen = {each: values.get(each, each) if each in step.scope else _UNBOUND for each in variables(step.expression)}
        expression = _put_in(step.expression, seen)
        if isinstance(step, ExtendStep):
            values[step.variable] = expression
        elif not is_timed(step):
            yield expression


def _put_in(expression: Expression, values: Mapping[Variable, Expression]) -> Expression:
    """Return an expression with values in place of variables; BOUND is true if the value is no error."""
    match expression:
        case Variable():
            return values[expression]
        case Call("BOUND", (Variable() as asked,)) if not isinstance(values[asked], Variable):
            return Call("COALESCE", (Call("SAMETERM", (values[asked], values[asked])), _FALSE))
    return with_children(expression, lambda part: _put_in(part, values))
