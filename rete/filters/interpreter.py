"""Run a filter program on a row inside the kernel.

Data's way: candidate row -> **verdict** -> keep, drop, or leave to Python.
The logic has four values: true, false, error, and undecided (Python must look).  Invariant: a verdict other
than undecided is SPARQL's own.  Integers and decimals are carried as a double and a bound of its error;
where the bound leaves a comparison open, the verdict is undecided.  xsd:float is left to Python, strings to
`strings`.  A value is four numbers, (kind, number, bound, term); the functions take and return such scalars, because
a compiler inlines scalars well.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from retewave.rete.filters import codes as op
from retewave.rete.filters.arithmetic import INTEGERS, TINY, ULP, calculated, is_long, obstacle
from retewave.rete.filters.codes import ERROR as E
from retewave.rete.filters.codes import ERROR_VALUE as _ERROR
from retewave.rete.filters.codes import FALSE as F
from retewave.rete.filters.codes import INSTRUCTION_WIDTH
from retewave.rete.filters.codes import TRUE as T
from retewave.rete.filters.codes import UNDECIDED as U
from retewave.rete.filters.codes import UNDECIDED_VALUE as _UNDECIDED
from retewave.rete.filters.comparison import compared
from retewave.rete.filters.strings import apply_to_string, string_test, strings_compared
from retewave.rete.terms import kinds as kinds
from retewave.rete.words.jit import inlined, kernel
from retewave.rete.words.layout import T_COLUMNS, T_END, T_START, T_WINDOW_START

__all__ = ["Filters", "decide", "part_of"]


_START, _END = T_COLUMNS - T_START, T_COLUMNS - T_END  # how far before a row's columns its times are
_WINDOW_START = T_COLUMNS - T_WINDOW_START  # likewise


class Filters(NamedTuple):
    """The programs of all filters, one after the other, and the data that they need."""

    code: Any  # int64: instructions
    memo: Any  # uint8, a memo after the other: verdicts of filters on one variable by TermId; 0 is not known yet
    memo_width: Any  # int: the terms of a memo
    kind: Any  # int64 a place on the stack: a kind of rete/terms/kinds.py, ERROR_VALUE or UNDECIDED_VALUE
    number: Any  # float64 a place: the number
    bound: Any  # float64 a place: how far the number may be from the exact value
    term: Any  # int64 a place: the TermId; 0 is a computed value
    views: Any  # int64, VIEW_WIDTH a place: a computed string (rete/filters/strings.py)


@kernel
def decide(filters, lo, hi, row, base, values):  # type: ignore[no-untyped-def]
    """Return the verdict of the program at code[lo:hi] on the row whose columns start at row[base]."""
    code = filters.code
    top = -1
    for place in range(lo, hi, INSTRUCTION_WIDTH):
        action, argument = code[place], code[place + 1]
        if action <= op.PUSH_UNDECIDED:
            top += 1
            _store(filters, top, _pushed(action, argument, row, base, values))
        elif action == op.BOUND:
            top += 1
            _store(filters, top, _truth_value(T if row[base + argument] != 0 else F))
        elif action == op.IN_SHARE:
            top += 1
            _store(filters, top, _truth_value(_in_share(row[base + argument], code[place + 2], values)))
        elif action == op.MEMO:
            verdict = _truth(_load(filters, top))
            if verdict == U:
                verdict = _recalled(filters, argument, row[base + code[place + 2]])
            _store(filters, top, _truth_value(verdict))
        elif action > op.REGEX:
            if action != op.ASKING:
                top += 1
                _store(filters, top, _of_times(action, argument, row, base))
        elif action < op.NEGATE or op.EQUAL <= action < op.NOT or action == op.SAME_TERM or action >= op.CONTAINS:
            top -= 1
            _apply_to_two(action, argument, filters, top, values)
        else:
            _apply_to_one(action, argument, code[place + 2], filters, top, values)
    return _truth(_load(filters, top))


@kernel
def _store(filters, top, value):  # type: ignore[no-untyped-def]
    filters.kind[top] = value[0]
    filters.number[top] = value[1]
    filters.bound[top] = value[2]
    filters.term[top] = value[3]


@kernel
def _load(filters, top):  # type: ignore[no-untyped-def]
    return filters.kind[top], filters.number[top], filters.bound[top], filters.term[top]


@kernel
def part_of(hashed, share):  # type: ignore[no-untyped-def]
    """Return the part, of `share` parts, that a term with this hash belongs to."""
    return (hashed >> 20) % share


@kernel
def _in_share(term, share_and_part, values):  # type: ignore[no-untyped-def]
    """Tell whether a term belongs to a part."""
    return T if part_of(values.hashes[term], share_and_part >> 32) == share_and_part & 0xFFFFFFFF else F


@kernel
def _recalled(filters, number, term):  # type: ignore[no-untyped-def]
    """Return the verdict that is remembered of a term."""
    return int(filters.memo[number * filters.memo_width + term]) if term < filters.memo_width else U


@kernel
def _pushed(action, argument, row, base, values):  # type: ignore[no-untyped-def]
    """Return the value that an instruction without operands pushes."""
    if action == op.PUSH_VARIABLE or action == op.PUSH_TERM:
        term = row[base + argument] if action == op.PUSH_VARIABLE else argument
        if term <= 0:
            return _ERROR, 0.0, 0.0, 0
        kind, number = int(values.kind[term]), values.number[term]
        return kind, number, _bound_of(kind, number, values.exact[term]), int(term)
    if action == op.PUSH_FALSE:
        return kinds.BOOLEAN, 0.0, 0.0, 0
    return (_ERROR if action == op.PUSH_ERROR else _UNDECIDED), 0.0, 0.0, 0


@kernel
def _of_times(action, argument, row, base):  # type: ignore[no-untyped-def]
    """Return what an instruction says of a row's times, which stand before its columns; what is static has none."""
    start, end = row[base - _START], row[base - _END]
    if action == op.IS_STREAMED:
        return _truth_value(F if end < start else T)
    if action == op.DURATION_AT_MOST:
        return _truth_value(T if end - start <= argument else F)
    if action == op.IN_WINDOW:
        return _truth_value(T if end - row[base - _WINDOW_START] <= argument else F)
    if end < start:
        return _ERROR, 0.0, 0.0, 0
    micros = end - start if action == op.DURATION else (start if action == op.START_TIME else end)
    number = float(micros)
    bound = 0.0 if abs(number) < INTEGERS else abs(number) * ULP
    return (kinds.DAYTIME_DURATION if action == op.DURATION else kinds.DATETIME), number, bound, 0


@kernel
def _bound_of(kind, number, exact):  # type: ignore[no-untyped-def]
    """Return how far a term's number may be from its value; an infinite bound leaves everything open."""
    if exact != 0:
        return 0.0
    if (kind == kinds.INTEGER or kind == kinds.DECIMAL) and np.isfinite(number):
        return abs(number) * ULP + TINY
    return np.inf


# Truth


@kernel
def _truth_value(verdict):  # type: ignore[no-untyped-def]
    if verdict == U:
        return _UNDECIDED, 0.0, 0.0, 0
    if verdict == E:
        return _ERROR, 0.0, 0.0, 0
    return kinds.BOOLEAN, (1.0 if verdict == T else 0.0), 0.0, 0


@kernel
def _truth(value):  # type: ignore[no-untyped-def]
    """Return the effective boolean value."""
    kind, number, bound, _ = value
    if kind == kinds.BOOLEAN:
        return T if number != 0.0 else F
    if kind == kinds.INTEGER or kind == kinds.DECIMAL or kind == kinds.DOUBLE:
        if number != number:
            return F
        if abs(number) > bound:
            return T
        return F if bound == 0.0 else U
    is_open = kind == kinds.FLOAT or kind == kinds.STRING or kind == kinds.LANG or kind == kinds.NONE
    return U if is_open or kind == _UNDECIDED else E


@kernel
def _connected(action, left, right):  # type: ignore[no-untyped-def]
    decisive = F if action == op.AND else T
    if left == decisive or right == decisive:
        return decisive
    if left == U or right == U:
        return U
    if left == E or right == E:
        return E
    return T if action == op.AND else F


# Operators


@inlined
def _apply_to_two(action, argument, filters, top, values):  # type: ignore[no-untyped-def]
    """Replace the values at `top` and behind it by the result of an operator or a function."""
    if action >= op.CONTAINS:
        _store(filters, top, _truth_value(string_test(action, argument, filters, top, values)))
    elif _are_strings(action, filters.kind[top], filters.kind[top + 1]):
        _store(filters, top, _truth_value(strings_compared(action, filters, top, values)))
    else:
        _store(filters, top, _binary(action, _load(filters, top), _load(filters, top + 1)))


@inlined
def _apply_to_one(action, first, second, filters, top, values):  # type: ignore[no-untyped-def]
    """Replace the value at `top` by the result of an operator or a function."""
    if action >= op.TRUTH:
        apply_to_string(action, first, second, filters, top, values)
    else:
        _store(filters, top, _unary(action, _load(filters, top)))


@inlined
def _are_strings(action, kind, other):  # type: ignore[no-untyped-def]
    """Tell whether a comparison may have to look at the two texts."""
    return (
        kind == other
        and kinds.IRI <= kind <= kinds.LANG
        and kind != kinds.BLANK
        and action >= op.EQUAL
        and (action <= op.GREATER_OR_EQUAL or action == op.SAME_TERM)
    )


@kernel
def _binary(action, left, right):  # type: ignore[no-untyped-def]
    if action <= op.DIVIDE:
        return calculated(action, left, right)
    if action <= op.GREATER_OR_EQUAL:
        return _truth_value(compared(action, left, right))
    if action == op.SAME_TERM:
        return _truth_value(_same_term(left, right))
    return _truth_value(_connected(action, _truth(left), _truth(right)))


@kernel
def _unary(action, value):  # type: ignore[no-untyped-def]
    kind, number, bound, _ = value
    if action == op.NOT:
        verdict = _truth(value)
        return _truth_value(F if verdict == T else T if verdict == F else verdict)
    if action == op.NEGATE or action == op.UNARY_PLUS:
        found = obstacle(kind)
        if found != 0:
            return found, 0.0, 0.0, 0
        if is_long(value):
            return _UNDECIDED, 0.0, 0.0, 0
        return kind, (-number if action == op.NEGATE else number), bound, 0
    return _truth_value(_is_kind(action, kind))


@kernel
def _is_kind(action, kind):  # type: ignore[no-untyped-def]
    if kind == _ERROR:
        return E
    if kind == _UNDECIDED or (action == op.IS_NUMERIC and kind == kinds.NONE):
        return U
    if action == op.IS_IRI:
        found = kind == kinds.IRI
    elif action == op.IS_BLANK:
        found = kind == kinds.BLANK
    elif action == op.IS_LITERAL:
        found = kind != kinds.IRI and kind != kinds.BLANK
    else:
        found = kinds.INTEGER <= kind <= kinds.DOUBLE
    return T if found else F


@kernel
def _same_term(left, right):  # type: ignore[no-untyped-def]
    if left[0] == _ERROR or right[0] == _ERROR:
        return E
    if left[0] == _UNDECIDED or right[0] == _UNDECIDED or left[3] == 0 or right[3] == 0:
        return U
    return T if left[3] == right[3] else F
