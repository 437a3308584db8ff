"""Put the expressions of BIND in place of its variables, for filters that cannot see an assigned variable.

Data's way: steps of a branch -> **filters without assigned variables** -> probes and parts.
An expression with an error leaves its variable unbound.  In place of the variable it is an error, too, so the filter
says the same; only BOUND could tell the two apart.  Callers refuse an expression with a new value each time, as RAND().
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
    """Return the value of each assigned variable, as an expression without assigned variables.

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
    """Return a filter with expressions in place of the assigned variables."""
    expression = _with(step.expression, step.scope, assigned)
    return replace(step, expression=expression, scope=variables(expression) - {_UNBOUND})


def agreed(one: Expression, other: Expression, *, unbound: bool) -> FilterStep:
    """Return the filter that two values are the same term; `unbound`: its value where one of them is unbound."""
    said = Call("COALESCE", (Call("SAMETERM", (one, other)), _TRUE if unbound else _FALSE))
    return FilterStep(said, variables(said) - {_UNBOUND})


def _with(expression: Expression, scope: frozenset[Variable], assigned: Assigned) -> Expression:
    """Return an expression that sees only its scope, with expressions in place of the assigned variables."""

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
