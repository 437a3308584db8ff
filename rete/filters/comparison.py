"""Comparison of two values in filters.

Data's way: two values -> their **relation** -> a verdict.
A value is four numbers, (kind, number, bound, term), as in `interpreter.py`.
"""

from __future__ import annotations

from retewave.rete.filters import codes as op
from retewave.rete.filters.codes import ERROR as E
from retewave.rete.filters.codes import ERROR_VALUE as _ERROR
from retewave.rete.filters.codes import FALSE as F
from retewave.rete.filters.codes import TRUE as T
from retewave.rete.filters.codes import UNDECIDED as U
from retewave.rete.filters.codes import UNDECIDED_VALUE as _UNDECIDED
from retewave.rete.terms import kinds as kinds
from retewave.rete.words.jit import kernel

__all__ = ["compared"]

# What a comparison finds before its operator is looked at.
_LESS = 0
_EQUAL = 1
_GREATER = 2
_DIFFERENT = 3  # unequal and without an order
_UNORDERED = 4  # NaN: every comparison but != is false
_OPEN = 5  # not known here


@kernel
def compared(action, left, right):  # type: ignore[no-untyped-def]
    """Return the verdict of a comparison of two values."""
    if left[0] == _ERROR or right[0] == _ERROR:
        return E
    if left[0] == _UNDECIDED or right[0] == _UNDECIDED:
        return U
    relation = _relation(left, right)
    if relation == _OPEN:
        return U
    if action == op.EQUAL or action == op.NOT_EQUAL:
        return T if (relation == _EQUAL) == (action == op.EQUAL) else F
    return _ordered(action, relation, _comparable(left))


@kernel
def _ordered(action, relation, kind):  # type: ignore[no-untyped-def]
    """Return the verdict of `<` and its kin."""
    if relation == _UNORDERED:
        return F
    if relation == _DIFFERENT or kind == kinds.IRI or kind == kinds.BLANK or kind == kinds.LANG:
        return E
    if kind == kinds.NONE or kind == kinds.DURATION:
        return U
    if relation == _EQUAL:
        return T if action == op.LESS_OR_EQUAL or action == op.GREATER_OR_EQUAL else F
    less = action == op.LESS or action == op.LESS_OR_EQUAL
    return T if less == (relation == _LESS) else F


@kernel
def _comparable(value):  # type: ignore[no-untyped-def]
    """Return the kind of a value as it is compared: an xsd:duration without months is one of days and seconds."""
    is_plain = value[0] == kinds.DURATION and value[2] == 0.0
    return kinds.DAYTIME_DURATION if is_plain else value[0]


@kernel
def _relation(left, right):  # type: ignore[no-untyped-def]
    """Compare two values."""
    kind, other = _comparable(left), _comparable(right)
    if left[3] != 0 and left[3] == right[3]:
        return _UNORDERED if left[1] != left[1] else _EQUAL
    if kind == kinds.IRI or kind == kinds.BLANK or other == kinds.IRI or other == kinds.BLANK:
        return _DIFFERENT
    if kind == kinds.NONE or other == kinds.NONE:
        return _OPEN
    if _space(kind) != _space(other) or kind == kinds.STRING or kind == kinds.LANG:
        return _DIFFERENT
    if kind == kinds.FLOAT or other == kinds.FLOAT or (kind != other and kind > kinds.DOUBLE):
        return _OPEN
    return _order_of_numbers(left[1], right[1], left[2] + right[2])


@kernel
def _space(kind):  # type: ignore[no-untyped-def]
    """Return the value space of a literal's kind, as the space's first kind."""
    if kinds.INTEGER <= kind <= kinds.DOUBLE:
        return kinds.INTEGER
    if kind == kinds.DATETIME_LOCAL:
        return kinds.DATETIME
    if kind == kinds.DATE_LOCAL:
        return kinds.DATE
    return kinds.DAYTIME_DURATION if kind >= kinds.DAYTIME_DURATION else kind


@kernel
def _order_of_numbers(one, other, bound):  # type: ignore[no-untyped-def]
    if one != one or other != other:
        return _UNORDERED
    if bound != 0.0 and not abs(one - other) > bound:
        return _OPEN
    if one == other:
        return _EQUAL
    return _LESS if one < other else _GREATER
