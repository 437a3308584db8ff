"""Filters that bound the duration of a solution: they become windows, so that old rows are collected.

Data's way: filters -> **widths** -> branches.
"""

from __future__ import annotations

from retewave.compiler.expressions.tree import Call, Constant, Expression, Operation
from retewave.compiler.terms import XSD
from retewave.windows import durations

__all__ = ["longest"]

_DURATION = Call("GETDURATION", ())
_SWAPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_DATATYPES = tuple(f'"^^<{XSD}{name}>'.encode() for name in ("dayTimeDuration", "duration"))


def longest(expression: Expression) -> int | None:
    """Return the greatest duration that an expression allows, in microseconds; None if it says anything else.

    >>> hour = Constant(b'"PT1H"^^<http://www.w3.org/2001/XMLSchema#dayTimeDuration>')
    >>> longest(Operation("<=", (Call("GETDURATION", ()), hour))), longest(Operation("<", (hour, Call("BNODE", ()))))
    (3600000000, None)
    >>> longest(Operation(">", (hour, Call("GETDURATION", ()))))
    3599999999
    """
    if not (isinstance(expression, Operation) and len(expression.operands) == 2):
        return None
    (left, right), operator = expression.operands, expression.operator
    if right == _DURATION:
        left, right, operator = right, left, _SWAPPED.get(operator, "")
    if left != _DURATION or operator not in ("<", "<=") or not isinstance(right, Constant):
        return None
    given = _micros(right.text)
    return None if given is None else given - (operator == "<")


def _micros(text: bytes) -> int | None:
    if not text.endswith(_DATATYPES):
        return None
    try:
        return durations.parse(text[1 : text.rindex(b'"^^')].decode())
    except ValueError:
        return None  # months, a sign, or parts of a microsecond: it stays a filter
