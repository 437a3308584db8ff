"""SPARQL's operators on rdflib terms, exactly as SPARQL 1.1 section 17 defines them.

Data's way: expression -> evaluator -> **operators** (here) and functions (rdflib's).
rdflib's own operators are not used: they give `error && false` an error, compare strings with numbers by a
sort order, compare IN by terms, and make a decimal of 2 * 3.  Invariant: an operator returns a value or
raises `ExpressionError`; nothing else leaves this file. Two literals of different known kinds are unequal;
one of an unknown datatype, or ill-typed, is equal to itself and otherwise incomparable.
"""

from __future__ import annotations

import decimal
import math
import operator
import re
import struct
from collections.abc import Callable
from datetime import time, timedelta
from decimal import Decimal
from typing import Any, Final

from rdflib import XSD, Literal
from rdflib.term import Node
from rdflib.xsd_datetime import Duration

from retewave.compiler.moments import Moment, parse_moment

__all__ = [
    "BOOLEANS",
    "DECIMAL",
    "DOUBLE",
    "FALSE",
    "FLOAT",
    "INTEGER",
    "TRUE",
    "ExpressionError",
    "arithmetic",
    "compare",
    "is_numeric",
    "negate",
    "number",
    "numeric_literal",
    "plain",
    "to_single",
    "truth",
]

TRUE: Final = Literal("true", datatype=XSD.boolean)
FALSE: Final = Literal("false", datatype=XSD.boolean)


class ExpressionError(Exception):
    """SPARQL's type error: the expression has no value for these bindings."""


# Datatypes by their IRI as a plain string: rdflib's own attributes and hashes are slow.
_STRING = str(XSD.string)
_BOOLEAN = str(XSD.boolean)
_DATETIME = str(XSD.dateTime)
_DATE = str(XSD.date)
_TIME = str(XSD.time)

# A numeric's rank is the promotion order: the higher operand's rank is the result's.
INTEGER, DECIMAL, FLOAT, DOUBLE = range(4)
_INTEGERS = [
    "integer",
    "nonPositiveInteger",
    "negativeInteger",
    "long",
    "int",
    "short",
    "byte",
    "nonNegativeInteger",
    "unsignedLong",
    "unsignedInt",
    "unsignedShort",
    "unsignedByte",
    "positiveInteger",
]
_RANKS = {
    str(XSD.decimal): DECIMAL,
    str(XSD.float): FLOAT,
    str(XSD.double): DOUBLE,
    **{str(XSD[name]): INTEGER for name in _INTEGERS},
}
_LEXICAL = (
    re.compile(r"[+-]?[0-9]+", re.ASCII),
    re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)", re.ASCII),
    re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN", re.ASCII),
    re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN", re.ASCII),
)
BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_EXACT = decimal.Context(prec=200, traps=[decimal.InvalidOperation, decimal.DivisionByZero])
_DIVIDE = decimal.Context(prec=28, traps=[decimal.InvalidOperation, decimal.DivisionByZero])
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def number(term: Node) -> tuple[int, Any] | None:
    """Return a numeric literal's rank and value, or nothing when it is none or ill-typed."""
    if not isinstance(term, Literal):
        return None
    rank = _RANKS.get(str(term.datatype))
    if rank is None or not _LEXICAL[rank].fullmatch(term):
        return None
    return rank, _CONVERT[rank](str(term))


def to_single(value: float) -> float:
    """Round to xsd:float.

    >>> to_single(0.1)
    0.10000000149011612
    """
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:  # Python refuses thousands of digits
        raise ExpressionError("too many digits") from error


_CONVERT: tuple[Callable[[Any], Any], ...] = (_integer, Decimal, lambda text: to_single(float(text)), float)


def plain(term: Node) -> Node:
    """Return a term in the one form that equality needs: xsd:string is no datatype."""
    return Literal(str(term)) if isinstance(term, Literal) and str(term.datatype) == _STRING else term


def is_numeric(term: Node) -> bool:
    """Say whether a term is a well-formed number (isNumeric)."""
    return number(term) is not None


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
        if datatype in _RANKS:
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
    if one[0] == "duration" and not _same_component(*values):
        raise ExpressionError("durations of months and of seconds have no order")
    return values


def _comparable(kind: str, one: Any, other: Any) -> tuple[Any, Any]:
    """Return the two values as Python can compare them."""
    if kind == "number":
        rank = max(one[0], other[0])
        return _promote(one, rank), _promote(other, rank)
    if isinstance(one, Moment):
        difference = one.difference(other)
        if difference is None:
            raise ExpressionError("one moment has a zone, the other not")
        return difference, 0
    if isinstance(one, time) and (one.tzinfo is None) != (other.tzinfo is None):
        raise ExpressionError("one time has a zone, the other not")
    return one, other


def _same_component(one: tuple[int, Any], other: tuple[int, Any]) -> bool:
    return (not one[0] and not other[0]) or (not one[1] and not other[1])


def _kind_and_value(literal: Literal) -> tuple[str, Any] | None:
    """Return the value space of a literal and its value there, or nothing when that is not known."""
    if literal.language is not None:
        return "language", (str(literal), literal.language.lower())
    datatype = str(literal.datatype)
    if literal.datatype is None or datatype == _STRING:
        return "string", str(literal)
    if datatype in _RANKS:
        found = number(literal)
        return None if found is None else ("number", found)
    if datatype == _BOOLEAN:
        value = BOOLEANS.get(str(literal))
        return None if value is None else ("boolean", value)
    return _moment(literal, datatype)


def _moment(literal: Literal, datatype: str) -> tuple[str, Any] | None:
    if datatype in (_DATETIME, _DATE):
        moment = parse_moment(literal, datatype == _DATETIME)
        return None if moment is None else (datatype, moment)
    value = literal.value
    if datatype == _TIME and isinstance(value, time):
        return "time", value
    if isinstance(value, timedelta):
        return "duration", (0, value)
    if isinstance(value, Duration):
        return "duration", (int(value.years * 12 + value.months), value.tdelta)
    return None


def _promote(value: tuple[int, Any], rank: int) -> Any:
    own, plain = value
    if own == rank:
        return plain
    if rank == DECIMAL:
        return Decimal(plain)
    try:
        wide = float(plain)
    except OverflowError:
        wide = math.inf if plain > 0 else -math.inf
    return to_single(wide) if rank == FLOAT else wide


def arithmetic(symbol: str, left: Node, right: Node) -> Literal:
    """Apply `+`, `-`, `*` or `/` to two numbers.

    >>> str(arithmetic("*", Literal("2", datatype=XSD.integer), Literal("3", datatype=XSD.integer)))
    '6'
    """
    one, other = number(left), number(right)
    if one is None or other is None:
        raise ExpressionError("not a number")
    rank = max(one[0], other[0], DECIMAL if symbol == "/" else INTEGER)
    return numeric_literal(_calculate(symbol, _promote(one, rank), _promote(other, rank), rank), rank)


def negate(term: Node) -> Literal:
    """Apply the unary minus."""
    found = number(term)
    if found is None:
        raise ExpressionError("not a number")
    return numeric_literal(-found[1] if found[0] != DECIMAL else found[1].copy_negate(), found[0])


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
_DATATYPES = (XSD.integer, XSD.decimal, XSD.float, XSD.double)


def numeric_literal(value: Any, rank: int) -> Literal:
    """Return the literal of a value, in canonical form."""
    if rank == INTEGER:
        text = str(value)
    elif rank == DECIMAL:
        text = format(value, "f")
        text = text.rstrip("0").rstrip(".") if "." in text else text
        text = "0" if text in ("-0", "") else text
    else:
        text = _scientific(value)
    return Literal(text, datatype=_DATATYPES[rank], normalize=False)


def _scientific(value: float) -> str:
    """Return the canonical form of a double, such as 1.5E2."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "INF" if value > 0 else "-INF"
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)).rstrip("0") or "0"
    power = exponent + len(digits) - 1 if any(digits) else 0
    return f"{'-' if sign else ''}{text[0]}.{text[1:] or '0'}E{power}"
