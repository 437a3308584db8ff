"""Arithmetic of filters: sums of numbers, of moments and of durations, with a bound of the error.

Data's way: two values -> **a value**, an error, or undecided (Python must look).
A value is four numbers, (kind, number, bound, term), as in `interpreter.py`.
"""

from __future__ import annotations

import numpy as np

from retewave.rete.filters import codes as op
from retewave.rete.filters.codes import ERROR_VALUE as _ERROR
from retewave.rete.filters.codes import UNDECIDED_VALUE as _UNDECIDED
from retewave.rete.terms import kinds as kinds
from retewave.rete.words.jit import kernel

__all__ = ["INTEGERS", "TINY", "ULP", "calculated", "is_long", "obstacle"]

ULP = 2.0**-52  # twice the relative error of one rounding
TINY = 1e-300  # more than the absolute error of a rounding that underflows
INTEGERS = 2.0**53  # below it, a double holds every integer


@kernel
def obstacle(kind):  # type: ignore[no-untyped-def]
    """Return the result of arithmetic on a kind: an error, undecided, or 0 for a number that is carried here."""
    if kind == kinds.INTEGER or kind == kinds.DECIMAL or kind == kinds.DOUBLE:
        return 0
    if kind == _ERROR or kinds.IRI <= kind <= kinds.BOOLEAN:
        return _ERROR
    return _UNDECIDED


@kernel
def is_long(value):  # type: ignore[no-untyped-def]
    """Tell whether a value is a term's, of more digits than a double has: the evaluator refuses to add thousands."""
    return value[3] > 0 and value[2] != 0.0


@kernel
def _is_of_time(kind):  # type: ignore[no-untyped-def]
    return kinds.DATETIME <= kind <= kinds.DURATION


@kernel
def _kind_of_times(action, kind, other):  # type: ignore[no-untyped-def]
    """Return what the sum or difference of two kinds is, as far as the kernel calculates with times."""
    if kind == other and kind <= kinds.DATE_LOCAL and action == op.SUBTRACT:
        return kinds.DAYTIME_DURATION
    if kind == other and (kind == kinds.DAYTIME_DURATION or kind == kinds.YEARMONTH_DURATION):
        return kind
    if kind <= kinds.DATETIME_LOCAL and (other == kinds.DAYTIME_DURATION or other == kinds.DURATION):
        return kind
    if other <= kinds.DATETIME_LOCAL and (kind == kinds.DAYTIME_DURATION or kind == kinds.DURATION):
        return other if action == op.ADD else _UNDECIDED
    return _UNDECIDED


@kernel
def _calculated_in_time(action, left, right):  # type: ignore[no-untyped-def]
    """Return the sum or difference of moments and durations, to the microsecond; one of them is of time."""
    kind, other = left[0], right[0]
    if kind == _ERROR or other == _ERROR:
        return _ERROR, 0.0, 0.0, 0
    if kind == _UNDECIDED or other == _UNDECIDED or kind == kinds.NONE or other == kinds.NONE:
        return _UNDECIDED, 0.0, 0.0, 0
    if not (_is_of_time(kind) and _is_of_time(other)) or action > op.SUBTRACT:
        return _ERROR, 0.0, 0.0, 0
    found = _kind_of_times(action, kind, other)
    number = left[1] + right[1] if action == op.ADD else left[1] - right[1]
    if left[2] != 0.0 or right[2] != 0.0 or not abs(number) < INTEGERS:
        found = _UNDECIDED
    return found, number, 0.0, 0


@kernel
def calculated(action, left, right):  # type: ignore[no-untyped-def]
    """Return the result of + - * / on two values."""
    if _is_of_time(left[0]) or _is_of_time(right[0]):
        return _calculated_in_time(action, left, right)
    found = max(obstacle(left[0]), obstacle(right[0]))
    if found != 0:
        return found, 0.0, 0.0, 0
    if is_long(left) or is_long(right):
        return _UNDECIDED, 0.0, 0.0, 0
    kind = max(left[0], right[0])
    if action == op.DIVIDE and kind == kinds.INTEGER:
        kind = kinds.DECIMAL
    if action == op.DIVIDE and kind == kinds.DECIMAL and right[1] == 0.0 and right[2] == 0.0:
        return _ERROR, 0.0, 0.0, 0
    number, moved = _result(action, left[1], right[1], left[2], right[2])
    bound = moved + abs(number) * 2.0 * ULP + TINY
    if moved == 0.0 and (kind == kinds.DOUBLE or (kind == kinds.INTEGER and abs(number) < INTEGERS)):
        bound = 0.0  # the very operation that SPARQL asks for, or an exact one
    if bound != 0.0 and not (np.isfinite(number) and np.isfinite(bound)):
        return _UNDECIDED, 0.0, 0.0, 0
    return kind, number, bound, 0


@kernel
def _result(action, one, other, one_bound, other_bound):  # type: ignore[no-untyped-def]
    """Return a result and how far the operands' bounds may move it."""
    if action == op.ADD:
        return one + other, one_bound + other_bound
    if action == op.SUBTRACT:
        return one - other, one_bound + other_bound
    number = one * other if action == op.MULTIPLY else one / other
    if one_bound == 0.0 and other_bound == 0.0:
        return number, 0.0
    if action == op.MULTIPLY:
        return number, abs(one) * other_bound + (abs(other) + other_bound) * one_bound
    room = abs(other) - other_bound
    return number, (one_bound + abs(number) * other_bound) / room if room > 0.0 else np.inf
