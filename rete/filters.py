"""Run a filter program on a row inside the kernel.

Data's way: candidate row -> **verdict** -> keep, drop, or leave to Python.
The logic has four values: true, false, error, and undecided (Python must look).  Invariant: a verdict other
than undecided is SPARQL's own.  Integers and decimals are carried as a double and a bound of its error;
where the bound leaves a comparison open, the verdict is undecided.  xsd:float and the order of strings are
left to Python.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from retewave.rete import filter_codes as op
from retewave.rete import values as kinds
from retewave.rete.jit import kernel
from retewave.rete.values import Values

__all__ = ["Filters", "decide", "new_filters"]

# What stands on the stack besides the kinds of rete/values.py.
_UNDECIDED = 64
_ERROR = 65

_ULP = 2.0**-52  # twice the relative error of one rounding
_TINY = 1e-300  # more than the absolute error of a rounding that underflows
_INTEGERS = 2.0**53  # below it, a double holds every integer

# What a comparison finds before its operator is looked at.
_LESS = 0
_EQUAL = 1
_GREATER = 2
_DIFFERENT = 3  # unequal and without an order
_UNORDERED = 4  # NaN: every comparison but != is false
_OPEN = 5  # not known here


class Filters(NamedTuple):
    """The programs of all filters, one after the other, and what they need to run."""

    code: np.ndarray  # int64[]: instructions
    memo: np.ndarray  # uint8[memo number, TermId]: verdicts of filters on one variable; 0 is not known yet
    kind: np.ndarray  # int64[depth]: the stack, a kind of rete/values.py or one of the two above
    number: np.ndarray  # float64[depth]: the stack's numbers
    bound: np.ndarray  # float64[depth]: how far a number may be from the exact value
    term: np.ndarray  # int64[depth]: the stack's TermIds; 0 is a computed value


def new_filters(code: np.ndarray, memo: np.ndarray, depth: int) -> Filters:
    """Return filters with a stack of the depth that their deepest program needs."""
    size = max(depth, 1)
    stack = (np.zeros(size, np.int64), np.zeros(size), np.zeros(size), np.zeros(size, np.int64))
    return Filters(np.asarray(code, np.int64), memo, *stack)


@kernel
def decide(filters: Filters, lo: int, hi: int, row: np.ndarray, base: int, values: Values) -> int:
    """Return the verdict of the program at code[lo:hi] on the row whose columns start at row[base]."""
    top = -1
    for place in range(lo, hi, op.INSTRUCTION_WIDTH):
        code = filters.code[place]
        argument = filters.code[place + 1]
        if code <= op.PUSH_UNDECIDED:
            top += 1
            _push(filters, top, code, argument, row, base, values)
        elif code <= op.DIVIDE:
            top -= 1
            _calculate(filters, top, code)
        elif code <= op.UNARY_PLUS:
            _sign(filters, top, code)
        elif code <= op.GREATER_OR_EQUAL:
            top -= 1
            _set_truth(filters, top, _compared(filters, top, code))
        elif code <= op.OR:
            top -= 1
            _set_truth(filters, top, _connected(_truth(filters, top), _truth(filters, top + 1), code))
        elif code == op.BOUND:
            top += 1
            _set_truth(filters, top, op.TRUE if row[base + argument] != 0 else op.FALSE)
        elif code == op.SAME_TERM:
            top -= 1
            _set_truth(filters, top, _same_term(filters, top))
        elif code == op.MEMO:
            _recall(filters, top, argument, row[base + filters.code[place + 2]])
        elif code == op.NOT:
            _set_truth(filters, top, _opposite(_truth(filters, top)))
        else:
            _set_truth(filters, top, _is_kind(filters, top, code))
    return _truth(filters, top)


@kernel
def _push(filters, top, code, argument, row, base, values):  # type: ignore[no-untyped-def]
    term = 0
    if code == op.PUSH_VARIABLE:
        term = row[base + argument]
    elif code == op.PUSH_TERM:
        term = argument
    filters.term[top] = term
    filters.bound[top] = 0.0
    filters.number[top] = 0.0
    if term > 0:
        _push_value(filters, top, values.kind[term], values.number[term], values.exact[term])
    elif code == op.PUSH_FALSE:
        filters.kind[top] = kinds.BOOLEAN
    elif code == op.PUSH_UNDECIDED:
        filters.kind[top] = _UNDECIDED
    else:
        filters.kind[top] = _ERROR


@kernel
def _push_value(filters, top, kind, number, exact):  # type: ignore[no-untyped-def]
    filters.kind[top] = kind
    filters.number[top] = number
    if exact == 0:
        # An infinite bound leaves everything open: a moment that does not fit, a number that overflows.
        close = (kind == kinds.INTEGER or kind == kinds.DECIMAL) and np.isfinite(number)
        filters.bound[top] = abs(number) * _ULP + _TINY if close else np.inf


@kernel
def _set_truth(filters, top, verdict):  # type: ignore[no-untyped-def]
    filters.term[top] = 0
    filters.bound[top] = 0.0
    filters.number[top] = 1.0 if verdict == op.TRUE else 0.0
    if verdict == op.UNDECIDED:
        filters.kind[top] = _UNDECIDED
    elif verdict == op.ERROR:
        filters.kind[top] = _ERROR
    else:
        filters.kind[top] = kinds.BOOLEAN


@kernel
def _truth(filters, top):  # type: ignore[no-untyped-def]
    """Return the effective boolean value."""
    kind = filters.kind[top]
    number = filters.number[top]
    if kind == kinds.BOOLEAN:
        return op.TRUE if number != 0.0 else op.FALSE
    if kind == kinds.INTEGER or kind == kinds.DECIMAL or kind == kinds.DOUBLE:
        if number != number:
            return op.FALSE
        if abs(number) > filters.bound[top]:
            return op.TRUE
        return op.FALSE if filters.bound[top] == 0.0 else op.UNDECIDED
    open_here = kind == kinds.FLOAT or kind == kinds.STRING or kind == kinds.LANG or kind == kinds.NONE
    return op.UNDECIDED if open_here or kind == _UNDECIDED else op.ERROR


@kernel
def _connected(left, right, code):  # type: ignore[no-untyped-def]
    decisive = op.FALSE if code == op.AND else op.TRUE
    if left == decisive or right == decisive:
        return decisive
    if left == op.UNDECIDED or right == op.UNDECIDED:
        return op.UNDECIDED
    if left == op.ERROR or right == op.ERROR:
        return op.ERROR
    return op.TRUE if code == op.AND else op.FALSE


@kernel
def _opposite(verdict):  # type: ignore[no-untyped-def]
    if verdict == op.TRUE:
        return op.FALSE
    return op.TRUE if verdict == op.FALSE else verdict


@kernel
def _recall(filters, top, memo, term):  # type: ignore[no-untyped-def]
    verdict = _truth(filters, top)
    if verdict == op.UNDECIDED and term < filters.memo.shape[1]:
        verdict = filters.memo[memo, term]
    _set_truth(filters, top, verdict)


@kernel
def _is_kind(filters, top, code):  # type: ignore[no-untyped-def]
    kind = filters.kind[top]
    if kind == _ERROR:
        return op.ERROR
    if kind == _UNDECIDED or (code == op.IS_NUMERIC and kind == kinds.NONE):
        return op.UNDECIDED
    if code == op.IS_IRI:
        found = kind == kinds.IRI
    elif code == op.IS_BLANK:
        found = kind == kinds.BLANK
    elif code == op.IS_LITERAL:
        found = kind != kinds.IRI and kind != kinds.BLANK
    else:
        found = kinds.INTEGER <= kind <= kinds.DOUBLE
    return op.TRUE if found else op.FALSE


@kernel
def _same_term(filters, top):  # type: ignore[no-untyped-def]
    left = filters.kind[top]
    right = filters.kind[top + 1]
    if left == _ERROR or right == _ERROR:
        return op.ERROR
    if left == _UNDECIDED or right == _UNDECIDED or filters.term[top] == 0 or filters.term[top + 1] == 0:
        return op.UNDECIDED
    return op.TRUE if filters.term[top] == filters.term[top + 1] else op.FALSE


# Arithmetic


@kernel
def _obstacle(kind):  # type: ignore[no-untyped-def]
    """Return what a kind makes of arithmetic: an error, undecided, or 0 when it is a number that we carry."""
    if kind == kinds.INTEGER or kind == kinds.DECIMAL or kind == kinds.DOUBLE:
        return 0
    if kind == _ERROR or (kinds.IRI <= kind <= kinds.BOOLEAN):
        return _ERROR
    return _UNDECIDED


@kernel
def _calculate(filters, top, code):  # type: ignore[no-untyped-def]
    left = _obstacle(filters.kind[top])
    right = _obstacle(filters.kind[top + 1])
    filters.term[top] = 0
    if left != 0 or right != 0:
        filters.kind[top] = max(left, right)  # _ERROR is the greater: an error stays one
        return
    kind = max(filters.kind[top], filters.kind[top + 1])
    if code == op.DIVIDE and kind == kinds.INTEGER:
        kind = kinds.DECIMAL
    if code == op.DIVIDE and kind != kinds.DOUBLE and _is_zero(filters, top + 1):
        filters.kind[top] = _ERROR
        return
    number, error = _result(filters, top, code)
    if kind == kinds.INTEGER and error == 0.0 and abs(number) < _INTEGERS:
        bound = 0.0
    elif kind == kinds.DOUBLE and error == 0.0:
        bound = 0.0  # the very operation that SPARQL asks for
    else:
        bound = error + abs(number) * _ULP * 2.0 + _TINY
    filters.number[top] = number
    filters.bound[top] = bound
    is_open = bound != 0.0 and not (np.isfinite(number) and np.isfinite(bound))
    filters.kind[top] = _UNDECIDED if is_open else kind


@kernel
def _is_zero(filters, top):  # type: ignore[no-untyped-def]
    return filters.number[top] == 0.0 and filters.bound[top] == 0.0


@kernel
def _result(filters, top, code):  # type: ignore[no-untyped-def]
    """Return a result and how far the operands' bounds may move it."""
    one = filters.number[top]
    other = filters.number[top + 1]
    one_bound = filters.bound[top]
    other_bound = filters.bound[top + 1]
    if code == op.ADD:
        return one + other, one_bound + other_bound
    if code == op.SUBTRACT:
        return one - other, one_bound + other_bound
    if one_bound == 0.0 and other_bound == 0.0:
        return (one * other if code == op.MULTIPLY else one / other), 0.0
    if code == op.MULTIPLY:
        return one * other, abs(one) * other_bound + (abs(other) + other_bound) * one_bound
    room = abs(other) - other_bound
    if room <= 0.0:
        return one / other, np.inf
    return one / other, (one_bound + abs(one / other) * other_bound) / room


@kernel
def _sign(filters, top, code):  # type: ignore[no-untyped-def]
    obstacle = _obstacle(filters.kind[top])
    filters.term[top] = 0
    if obstacle != 0:
        filters.kind[top] = obstacle
    elif code == op.NEGATE:
        filters.number[top] = -filters.number[top]


# Comparison


@kernel
def _compared(filters, top, code):  # type: ignore[no-untyped-def]
    left = filters.kind[top]
    right = filters.kind[top + 1]
    if left == _ERROR or right == _ERROR:
        return op.ERROR
    if left == _UNDECIDED or right == _UNDECIDED:
        return op.UNDECIDED
    relation = _relation(filters, top)
    if relation == _OPEN:
        return op.UNDECIDED
    if code == op.EQUAL or code == op.NOT_EQUAL:
        return op.TRUE if (relation == _EQUAL) == (code == op.EQUAL) else op.FALSE
    return _ordered(filters, top, code, relation)


@kernel
def _ordered(filters, top, code, relation):  # type: ignore[no-untyped-def]
    kind = filters.kind[top]
    if relation == _UNORDERED:
        return op.FALSE
    if relation == _DIFFERENT:
        # Two strings have an order, which is not known here; other unequal things have none.
        return op.UNDECIDED if kind == kinds.STRING and filters.kind[top + 1] == kinds.STRING else op.ERROR
    if kind == kinds.IRI or kind == kinds.BLANK or kind == kinds.LANG:
        return op.ERROR
    if kind == kinds.NONE or kind == kinds.DURATION:
        return op.UNDECIDED
    if relation == _EQUAL:
        return op.TRUE if code == op.LESS_OR_EQUAL or code == op.GREATER_OR_EQUAL else op.FALSE
    less = code == op.LESS or code == op.LESS_OR_EQUAL
    return op.TRUE if less == (relation == _LESS) else op.FALSE


@kernel
def _relation(filters, top):  # type: ignore[no-untyped-def]
    left = filters.kind[top]
    right = filters.kind[top + 1]
    if filters.term[top] != 0 and filters.term[top] == filters.term[top + 1]:
        return _UNORDERED if filters.number[top] != filters.number[top] else _EQUAL
    if left == kinds.IRI or left == kinds.BLANK or right == kinds.IRI or right == kinds.BLANK:
        return _DIFFERENT
    if left == kinds.NONE or right == kinds.NONE:
        return _OPEN
    if _space(left) != _space(right):
        return _DIFFERENT
    if left == kinds.STRING or left == kinds.LANG:
        return _DIFFERENT
    if left == kinds.FLOAT or right == kinds.FLOAT:
        return _OPEN
    if left != right and left > kinds.DOUBLE:
        return _OPEN
    return _order_of_numbers(
        filters.number[top], filters.number[top + 1], filters.bound[top] + filters.bound[top + 1]
    )


@kernel
def _space(kind):  # type: ignore[no-untyped-def]
    """Return the value space of a literal's kind, by its first kind."""
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
