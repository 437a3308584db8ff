"""C-SPARQL's f:timestamp: an expression asks when a triple arrived last.

Data's way: expressions of a view -> **expressions over hidden variables**, and the calls for which these stand.
"""

from __future__ import annotations

from collections.abc import Callable

from retewave.compiler.expressions.tree import (
    TIMESTAMP,
    Call,
    Expression,
    Variable,
    with_children,
)

__all__ = ["calls_apart"]


def calls_apart(expression: Expression, fresh: Callable[[], Variable]) -> tuple[Expression, dict[Call, Variable]]:
    """Return an expression with a variable in place of each call of f:timestamp; equal calls are one.

    >>> from retewave.compiler.expressions.tree import Operation
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
        return with_children(each, changed)

    return changed(expression), found
