"""C-SPARQL's f:timestamp: an expression asks when a triple arrived last.

Data's way: expressions of a view -> **expressions over hidden variables**, and the calls for which these stand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from retewave.compiler.expressions.tree import TIMESTAMP, Call, Expression, Membership, Operation, Variable

__all__ = ["calls_apart"]


def calls_apart(expression: Expression, fresh: Callable[[], Variable]) -> tuple[Expression, dict[Call, Variable]]:
    """Return an expression with a variable in place of each call of f:timestamp; equal calls are one.

    >>> call = Call(TIMESTAMP, (Variable("x"), Variable("p"), Variable("y")))
    >>> calls_apart(Operation("<", (call, call)), lambda: Variable("t"))[0]
    Operation(operator='<', operands=(Variable(name='t'), Variable(name='t')))
    """
    found: dict[Call, Variable] = {}

    def changed(each: Expression) -> Expression:
        match each:
            case Call(function=function) if function == TIMESTAMP:
                if each not in found:
                    found[each] = fresh()
                return found[each]
            case Call():
                return replace(each, arguments=tuple(map(changed, each.arguments)))
            case Operation():
                return replace(each, operands=tuple(map(changed, each.operands)))
            case Membership():
                return replace(each, needle=changed(each.needle), members=tuple(map(changed, each.members)))
        return each

    return changed(expression), found
