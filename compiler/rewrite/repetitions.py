"""Calls that look at all repetitions of a step: aggregates over group variables.

Data's way: conditions and expressions of a query -> **calls, taken out of them** -> states and ways.
"""

from __future__ import annotations

from dataclasses import replace

from retewave.compiler.expressions.tree import (
    Call,
    Constant,
    Expression,
    Operation,
    Variable,
    mentions,
    with_children,
)
from retewave.compiler.rewrite.branch import Branch, ExtendStep, FilterStep, Step
from retewave.compiler.rewrite.runs import OVER_GROUPS
from retewave.compiler.terms import XSD

__all__ = ["of_first", "of_none", "with_calls_apart"]

_ERROR = Variable("_:error")  # bound nowhere
_ZERO, _ONE = (Constant(f'"{number}"^^<{XSD}integer>'.encode()) for number in (0, 1))


def of_first(condition: Expression) -> Expression:
    """Return a condition as it is in the very first repetition, the only one that calls see.

    >>> of_first(Call("MAX", (Variable("x"),)))
    Variable(name='x')
    """
    match condition:
        case Call("PREV"):
            return condition
        case Call(name, (Variable() as variable, *_)) if name in OVER_GROUPS:
            return _of_one(name, variable)
    return with_children(condition, of_first)


def of_none(condition: Expression) -> Expression:
    """Return a condition as it is before any repetition.

    >>> of_none(Call("COUNT", (Variable("x"),)))
    Constant(text=b'"0"^^<http://www.w3.org/2001/XMLSchema#integer>')
    """
    match condition:
        case Call(name, (Variable(), *_)) if name in OVER_GROUPS:
            found = {"COUNT": _ZERO, "SUM": _ZERO, "AVG": _ZERO, "GROUP_CONCAT": Constant(b'""')}
            return found.get(name, _ERROR)
    return with_children(condition, of_none)


def _of_one(name: str, variable: Variable) -> Expression:
    """Return the value of a call that sees one repetition."""
    added = Operation("+", (_ZERO, variable))
    values: dict[str, Expression] = {"COUNT": _ONE, "SUM": added, "AVG": Operation("/", (added, _ONE))}
    empty = _ZERO
    if name == "GROUP_CONCAT":
        values["GROUP_CONCAT"], empty = Call("STR", (variable,)), Constant(b'""')
    if name not in values:
        return variable
    bound = Call("BOUND", (variable,))
    return Call("IF", (bound, values[name], empty))


def with_calls_apart(branch: Branch) -> Branch:
    """Return the branch of a sequence whose steps see hidden variables in place of calls; the runs have the calls."""
    runs = branch.runs
    if runs is None or not any(mentions(step.expression, OVER_GROUPS) for step in branch.steps):
        return branch
    calls: dict[Call, Variable] = {}

    def apart(expression: Expression) -> Expression:
        match expression:
            case Call(name, (Variable(), *_)) if name in OVER_GROUPS:
                return calls.setdefault(expression, Variable(f"_:.call.{len(calls)}"))
        return with_children(expression, apart)

    steps: list[Step] = []
    for step in branch.steps:
        expression = apart(step.expression)
        hidden = frozenset(calls.values())
        if isinstance(step, ExtendStep):
            steps.append(ExtendStep(step.variable, expression, step.scope | hidden))
        else:
            steps.append(FilterStep(expression, step.scope | hidden))
    asked = tuple((variable, call) for call, variable in calls.items())
    return replace(branch, steps=tuple(steps), runs=replace(runs, calls=asked))
