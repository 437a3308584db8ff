"""SPARQL's operators on rdflib terms, exactly as SPARQL 1.1 section 17 defines them.

Data's way: expression -> evaluator -> **operators** and functions, on the numbers of `numbers.py`.
rdflib's own operators are not used: they give `error && false` an error, compare strings with numbers by a
sort order, compare IN by terms, and make a decimal of 2 * 3.  Invariant: an operator returns a value or
raises `ExpressionError`. Two literals of different known kinds are unequal, and so are one with a language tag and
one without; one of an unknown datatype, or ill-typed, is equal to itself and otherwise incomparable.
"""

from __future__ import annotations

import decimal
import math
import operator
from collections.abc import Callable
from typing import Any, Final

from rdflib import XSD, Literal
from rdflib.term import Node

from retewave.compiler.expressions.faults import ExpressionError
from retewave.compiler.expressions.moments import Duration, Moment
from retewave.compiler.expressions.numbers import (
    DECIMAL,
    FLOAT,
    INTEGER,
    is_numeric_type,
    manageable,
    number,
    numeric_literal,
    promoted,
    to_single,
)
from retewave.compiler.expressions.time_arithmetic import calculated, value_of_time

__all__ = [
    "BOOLEANS",
    "FALSE",
    "TRUE",
    "arithmetic",
    "compare",
    "is_of_time",
    "negate",
    "plain",
    "truth",
]

TRUE: Final = Literal("true", datatype=XSD.boolean)
FALSE: Final = Literal("false", datatype=XSD.boolean)

# Datatypes by their IRI as a plain string: rdflib's own attributes and hashes are slow.
_STRING = str(XSD.string)
_BOOLEAN = str(XSD.boolean)
_TIME = str(XSD.time)
BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_EXACT = decimal.Context(prec=200, traps=[decimal.InvalidOperation, decimal.DivisionByZero])
_DIVIDE = decimal.Context(prec=28, traps=[decimal.InvalidOperation, decimal.DivisionByZero])
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def plain(term: Node) -> Node:
    """Return a term in the one form that equality needs: xsd:string is no datatype."""
    return Literal(str(term)) if isinstance(term, Literal) and str(term.datatype) == _STRING else term


def truth(term: Node) -> bool:
    """Return the effective boolean value (section 17.2.2).

    >>> truth(Literal("")), truth(Literal("0.0", datatype=XSD.double)), truth(Literal("no"))
    (False, False, True)
    """
    if isinstance(term, Literal):
        datatype = str(term.datatype)
        if term.datatype is None or datatype == _STRING:
            return len(term) > 0
        if datatype == _BOOLEAN:
            return BOOLEANS.get(str(term), False)
        if is_numeric_type(datatype):
            found = number(term)
            return found is not None and bool(found[1]) and not math.isnan(found[1])
    raise ExpressionError("no effective boolean value")


def compare(symbol: str, left: Node, right: Node) -> Literal:
    """Apply a comparison operator.

    >>> compare("=", Literal("1", datatype=XSD.integer), Literal("1.0", datatype=XSD.decimal)) == TRUE
    True
    """
    if symbol == "=":
        return _boolean(_equal(left, right))
    if symbol == "!=":
        return _boolean(not _equal(left, right))
    return _boolean(_COMPARE[symbol](*_ordered(left, right)))


def _boolean(value: bool) -> Literal:
    return TRUE if value else FALSE


def _equal(left: Node, right: Node) -> bool:
    if not (isinstance(left, Literal) and isinstance(right, Literal)):
        return left == right
    one, other = _kind_and_value(left), _kind_and_value(right)
    if one is None or other is None:
        if left == right:
            return True
        if (left.language is None) != (right.language is None):  # no datatype but one has values with a language
            return False
        raise ExpressionError("literals of unknown value")
    if one[0] != other[0]:
        return False
    return bool(operator.eq(*_comparable(one[0], one[1], other[1])))


def _ordered(left: Node, right: Node) -> tuple[Any, Any]:
    one = _kind_and_value(left) if isinstance(left, Literal) else None
    other = _kind_and_value(right) if isinstance(right, Literal) else None
    if one is None or other is None or one[0] != other[0] or one[0] == "language":
        raise ExpressionError("no order between these")
    values = _comparable(one[0], one[1], other[1])
    if one[0] == "duration" and not _same_component(one[1], other[1]):
        raise ExpressionError("durations of months and of seconds have no order")
    return values


def _comparable(kind: str, one: Any, other: Any) -> tuple[Any, Any]:
    """Return the two values as Python can compare them."""
    if kind == "number":
        rank = max(one[0], other[0])
        return promoted(one, rank), promoted(other, rank)
    if isinstance(one, Moment):
        difference = one.difference(other)
        if difference is None or (kind == _TIME and one.zoned != other.zoned):
            raise ExpressionError("one moment has a zone, the other not")
        return difference, 0
    if isinstance(one, Duration):
        if None in (one.months, one.seconds, other.months, other.seconds):
            raise ExpressionError("a duration with too many digits")
        return (one.months, one.seconds), (other.months, other.seconds)
    return one, other


def _same_component(one: Duration, other: Duration) -> bool:
    return not (one.months or other.months) or not (one.seconds or other.seconds)


def _kind_and_value(literal: Literal) -> tuple[str, Any] | None:
    """Return the value space of a literal and its value there, or nothing when that is not known."""
    if literal.language is not None:
        return "language", (str(literal), literal.language.lower())
    datatype = str(literal.datatype)
    if literal.datatype is None or datatype == _STRING:
        return "string", str(literal)
    if is_numeric_type(datatype):
        found = number(literal)
        return None if found is None else ("number", found)
    if datatype == _BOOLEAN:
        value = BOOLEANS.get(str(literal))
        return None if value is None else ("boolean", value)
    return _of_time(literal, datatype)


def _of_time(literal: Literal, datatype: str) -> tuple[str, Any] | None:
    value = value_of_time(literal)
    return None if value is None else ("duration" if isinstance(value, Duration) else datatype, value)


def is_of_time(term: Node) -> bool:
    """Tell whether a term is a well-formed moment, time of day or duration."""
    return isinstance(term, Literal) and term.language is None and value_of_time(term) is not None


def arithmetic(symbol: str, left: Node, right: Node) -> Node:
    """Apply `+`, `-`, `*` or `/` to two numbers, or the first two operators to moments and durations.

    >>> str(arithmetic("*", Literal("2", datatype=XSD.integer), Literal("3", datatype=XSD.integer)))
    '6'
    """
    one, other = number(left), number(right)
    if one is None and other is None and symbol in "+-" and is_of_time(left) and is_of_time(right):
        return calculated(symbol, left, right)  # type: ignore[arg-type]
    if one is None or other is None:
        raise ExpressionError("not a number")
    rank = max(one[0], other[0], DECIMAL if symbol == "/" else INTEGER)
    left_value, right_value = (manageable(promoted(each, rank)) for each in (one, other))
    return numeric_literal(manageable(_calculate(symbol, left_value, right_value, rank)), rank)


def negate(term: Node) -> Literal:
    """Apply the unary minus."""
    found = number(term)
    if found is None:
        raise ExpressionError("not a number")
    rank, value = found  # a decimal's own minus rounds it
    return numeric_literal(value.copy_negate() if isinstance(value, decimal.Decimal) else -value, rank)


def _calculate(symbol: str, one: Any, other: Any, rank: int) -> Any:
    if symbol == "/" and rank > DECIMAL and other == 0:
        # IEEE: x/0 is an infinity with the sign of both, 0/0 and NaN/0 are NaN.
        if one == 0 or math.isnan(one):
            return math.nan
        return math.copysign(math.inf, one) * math.copysign(1.0, other)
    try:
        if rank == DECIMAL:
            return _DECIMAL[symbol](one, other)
        value = _PLAIN[symbol](one, other)
    except (decimal.DivisionByZero, decimal.InvalidOperation) as error:
        raise ExpressionError("division by zero") from error
    return to_single(value) if rank == FLOAT else value


_PLAIN = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
_DECIMAL = {"+": _EXACT.add, "-": _EXACT.subtract, "*": _EXACT.multiply, "/": _DIVIDE.divide}
