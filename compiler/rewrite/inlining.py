"""What BIND assigns, put where it is asked for: a filter below what may be missing sees no assigned variable.

Data's way: steps of a branch -> **filters without assigned variables** -> probes and parts.
An expression that is an error leaves its variable unbound, and so is an error wherever the variable would be; only
BOUND tells the two apart.  An expression that gives another value each time cannot be put elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from retewave.compiler.expressions.tree import Call, Constant, Expression, Membership, Operation, Variable, variables
from retewave.compiler.rewrite.branch import ExtendStep, FilterStep, Step
from retewave.compiler.terms import XSD

__all__ = ["Assigned", "agreed", "inlined", "values_of"]

Assigned = Mapping[Variable, Expression]

_UNBOUND = Variable("_:.unbound")  # nothing binds it
_TRUE, _FALSE = (Constant(f'"{text}"^^<{XSD}boolean>'.encode()) for text in ("true", "false"))


def values_of(steps: Iterable[Step]) -> dict[Variable, Expression]:
    """Return what steps assign, by expressions that no step assigns anything of.

    >>> a, b, c = map(Variable, "abc")
    >>> both = ExtendStep(b, a, frozenset((a,))), ExtendStep(c, Operation("-", (b,)), frozenset((b,)))
    >>> values_of(both)[c]
    Operation(operator='-', operands=(Variable(name='a'),))
    """
    found: dict[Variable, Expression] = {}
    for step in steps:
        if isinstance(step, ExtendStep):
            found[step.variable] = _with(step.expression, step.scope, found)
    return found


def inlined(step: FilterStep, assigned: Assigned) -> FilterStep:
    """Return a filter that asks for assigned variables by their expressions."""
    expression = _with(step.expression, step.scope, assigned)
    return replace(step, expression=expression, scope=variables(expression) - {_UNBOUND})


def agreed(one: Expression, other: Expression, *, unbound: bool) -> FilterStep:
    """Return the filter that two values are the same term; `unbound`: whether it is true if there are not two."""
    said = Call("COALESCE", (Call("SAMETERM", (one, other)), _TRUE if unbound else _FALSE))
    return FilterStep(said, variables(said) - {_UNBOUND})


def _with(expression: Expression, scope: frozenset[Variable], assigned: Assigned) -> Expression:
    """Return an expression that sees some variables, with the expressions of those that are assigned."""

    def each(parts: tuple[Expression, ...]) -> tuple[Expression, ...]:
        return tuple(_with(part, scope, assigned) for part in parts)

    match expression:
        case Variable():
            return assigned.get(expression, expression) if expression in scope else _UNBOUND
        case Call("BOUND", (Variable() as variable,)) if variable in scope and variable in assigned:
            return Call("COALESCE", (Call("SAMETERM", (assigned[variable],) * 2), _FALSE))
        case Operation():
            return replace(expression, operands=each(expression.operands))
        case Call():
            return replace(expression, arguments=each(expression.arguments))
        case Membership():
            (needle,) = each((expression.needle,))
            return replace(expression, needle=needle, members=each(expression.members))
    return expression
