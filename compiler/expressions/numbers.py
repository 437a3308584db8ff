"""Numbers of XML Schema as SPARQL calculates with them: literal <-> rank and value.

Data's way: literal -> **number** -> operators, functions, casts -> **literal**.
Invariant: a literal whose lexical form its datatype does not allow ("1_000", "200"^^xsd:byte) is no number, here as
in the kernel (`rete/terms/value.py`). Integers are `int`, decimals `Decimal`, floats and doubles `float`; an integer
of thousands of digits is a `Decimal`, too, because Python's own conversion takes time by their square: it can be
compared and rounded, but not calculated with.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from rdflib import XSD, Literal
from rdflib.term import Node

from retewave.compiler.expressions.faults import ExpressionError

__all__ = [
    "DECIMAL",
    "DOUBLE",
    "FLOAT",
    "INTEGER",
    "decimal_text",
    "is_numeric",
    "is_numeric_type",
    "manageable",
    "number",
    "numeric_literal",
    "promoted",
    "raw_literal",
    "shortest",
    "to_single",
]

# A numeric's rank is the promotion order: the higher operand's rank is the result's.
INTEGER, DECIMAL, FLOAT, DOUBLE = range(4)
_MOST_DIGITS: Final = 4_000  # of a number that is calculated with; Python makes no int of more than 4,300

# The integer types: the least and the greatest value, where there is one.
_BOUNDS: dict[str, tuple[int | None, int | None]] = {
    "integer": (None, None),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
    "long": (-(2**63), 2**63 - 1),
    "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1),
    "byte": (-(2**7), 2**7 - 1),
    "nonNegativeInteger": (0, None),
    "unsignedLong": (0, 2**64 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedByte": (0, 2**8 - 1),
    "positiveInteger": (1, None),
}
_DATATYPES = (XSD.integer, XSD.decimal, XSD.float, XSD.double)
# Datatypes by their IRI as a plain string: rdflib's own attributes and hashes are slow.
_RANKS = {
    **{str(XSD[name]): INTEGER for name in _BOUNDS},
    str(XSD.decimal): DECIMAL,
    str(XSD.float): FLOAT,
    str(XSD.double): DOUBLE,
}
_RANGES = {str(XSD[name]): bounds for name, bounds in _BOUNDS.items() if bounds != (None, None)}
_DECIMAL_FORM = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_DOUBLE_FORM = re.compile(rf"{_DECIMAL_FORM}(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN", re.ASCII)
_LEXICAL = (re.compile(r"[+-]?[0-9]+", re.ASCII), re.compile(_DECIMAL_FORM, re.ASCII), _DOUBLE_FORM, _DOUBLE_FORM)


def raw_literal(lexical: str, datatype: Node | None = None, language: str | None = None) -> Literal:
    """Return a literal as it is written: rdflib's own constructor reads its value, and rewrites some.

    >>> raw_literal("1e9999999", XSD.decimal)
    rdflib.term.Literal('1e9999999', datatype=rdflib.term.URIRef('http://www.w3.org/2001/XMLSchema#decimal'))
    """
    made: Any = str.__new__(Literal, lexical)
    made._datatype, made._language, made._value, made._ill_typed = datatype, language, None, None
    whole: Literal = made
    return whole


def is_numeric_type(datatype: str) -> bool:
    """Tell whether a datatype is one of numbers."""
    return datatype in _RANKS


def number(term: Node) -> tuple[int, Any] | None:
    """Return a numeric literal's rank and value; nothing for other terms and ill-typed literals.

    >>> number(raw_literal("05", XSD.byte)), number(raw_literal("200", XSD.byte))
    ((0, 5), None)
    """
    if not isinstance(term, Literal):
        return None
    datatype = str(term.datatype)
    rank = _RANKS.get(datatype)
    if rank is None or not _LEXICAL[rank].fullmatch(term):
        return None
    value = _CONVERT[rank](str(term))
    low, high = _RANGES.get(datatype, (None, None))
    if (low is not None and value < low) or (high is not None and value > high):
        return None
    return rank, value


def is_numeric(term: Node) -> bool:
    """Tell whether a term is a well-formed number (isNumeric)."""
    return number(term) is not None


def _integer(text: str) -> int | Decimal:
    return int(text) if len(text) <= _MOST_DIGITS else Decimal(text)


def to_single(value: float) -> float:
    """Round to xsd:float.

    >>> to_single(0.1)
    0.10000000149011612
    """
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


_CONVERT: tuple[Callable[[str], Any], ...] = (_integer, Decimal, lambda text: to_single(float(text)), float)


def promoted(value: tuple[int, Any], rank: int) -> Any:
    """Return a number's value as a value of a rank that is at least its own."""
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


def manageable(value: Any) -> Any:
    """Return a number that is short enough to calculate with; a longer number is an error."""
    if isinstance(value, int):
        long = value.bit_length() > 3.3 * _MOST_DIGITS
    elif isinstance(value, Decimal):
        long = max(abs(value.adjusted()), -int(value.as_tuple().exponent)) > _MOST_DIGITS
    else:
        long = False
    if long:
        raise ExpressionError("a number with too many digits")
    return value


def numeric_literal(value: Any, rank: int) -> Literal:
    """Return the literal of a value, in canonical form."""
    if rank == INTEGER:
        text = format(value, "f") if isinstance(value, Decimal) else str(value)
        text = "0" if text == "-0" else text
    elif rank == DECIMAL:
        text = decimal_text(value)
    else:
        text = _scientific(value, rank)
    return raw_literal(text, _DATATYPES[rank])


def decimal_text(value: Decimal) -> str:
    """Return the shortest form of a decimal.

    >>> decimal_text(Decimal("1.50")), decimal_text(Decimal("-0.0"))
    ('1.5', '0')
    """
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def shortest(value: float, rank: int) -> str:
    """Return the shortest decimal form that reads as the same value."""
    if rank == FLOAT:
        for digits in range(1, 9):
            if to_single(float(text := f"{value:.{digits}g}")) == value:
                return text
    return repr(value)


def _scientific(value: float, rank: int) -> str:
    """Return the canonical form of a double, such as 1.5E2."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "INF" if value > 0 else "-INF"
    sign, digits, exponent = Decimal(shortest(value, rank)).as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)).rstrip("0") or "0"
    power = exponent + len(digits) - 1 if any(digits) else 0
    return f"{'-' if sign else ''}{text[0]}.{text[1:] or '0'}E{power}"
