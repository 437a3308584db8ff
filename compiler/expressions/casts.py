"""The casts of SPARQL 1.1 (section 17.5), which are XPath's constructor functions.

Data's way: expression -> evaluator -> **casts**.
Invariant: casts not in section 17.5 are errors: of a literal with a language, a blank node, an ill-typed literal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_DOWN, Decimal
from typing import Any

from rdflib import XSD, Literal, URIRef
from rdflib.term import Node

from retewave.compiler.expressions.faults import ExpressionError
from retewave.compiler.expressions.moments import parse_moment
from retewave.compiler.expressions.numbers import (
    DECIMAL,
    DOUBLE,
    FLOAT,
    INTEGER,
    decimal_text,
    number,
    numeric_literal,
    promoted,
    raw_literal,
    shortest,
    to_single,
)
from retewave.compiler.expressions.operators import BOOLEANS, FALSE, TRUE, is_of_time

__all__ = ["CASTS"]

_STRING = XSD.string  # rdflib looks such a name up anew each time
_BOOLEAN = XSD.boolean
_DATETIME = XSD.dateTime
_SPACE = " \t\r\n"
_BIG = 10**15  # beyond it a float is a decimal first: Python makes no int of an infinity


def _written(term: Node) -> str | None:
    """Return the string of a simple literal, without the white space around it, or nothing for another term."""
    if isinstance(term, Literal) and term.language is None and term.datatype in (None, _STRING):
        return str(term).strip(_SPACE)
    return None


def _boolean_of(term: Node) -> bool | None:
    return BOOLEANS.get(str(term)) if isinstance(term, Literal) and term.datatype == _BOOLEAN else None


def to_string(term: Node) -> Node:
    """Return the characters of a term; a number's and a boolean's are those of its value."""
    if isinstance(term, URIRef) or (_written(term) is not None):
        return raw_literal(str(term))
    if (truth := _boolean_of(term)) is not None:
        return raw_literal("true" if truth else "false")
    if (found := number(term)) is not None:
        return raw_literal(_number_text(*found))
    if is_of_time(term):
        return raw_literal(str(term))
    raise ExpressionError("a term that has no string")


def _number_text(rank: int, value: Any) -> str:
    """Return a number as XPath casts it: a float without an exponent where it is neither tiny nor huge."""
    if rank == DECIMAL:
        return decimal_text(value)
    if rank == INTEGER:
        return str(numeric_literal(value, rank))
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    if 1e-6 <= abs(value) < 1e6:
        return decimal_text(Decimal(shortest(value, rank)))
    return str(numeric_literal(value, rank))


def to_boolean(term: Node) -> Node:
    """Cast to xsd:boolean."""
    if (found := number(term)) is not None:
        return TRUE if found[1] and not math.isnan(found[1]) else FALSE
    truth = BOOLEANS.get(written) if (written := _written(term)) is not None else _boolean_of(term)
    if truth is None:
        raise ExpressionError("not a boolean")
    return TRUE if truth else FALSE


def to_moment(term: Node) -> Node:
    """Cast to xsd:dateTime."""
    written = _written(term)
    if written is None and isinstance(term, Literal) and term.datatype == _DATETIME:
        written = str(term)
    if written is None or parse_moment(written, True) is None:
        raise ExpressionError("not a dateTime")
    return raw_literal(written, _DATETIME)


def _to_number(rank: int, datatype: URIRef) -> Callable[[Node], Node]:
    def cast(term: Node) -> Node:
        found = number(term)
        if found is None and (written := _written(term)) is not None:
            found = number(raw_literal(written, datatype))
        if found is None and (truth := _boolean_of(term)) is not None:
            found = INTEGER, int(truth)
        if found is None:
            raise ExpressionError("not a number")
        return numeric_literal(_converted(*found, rank), rank)

    return cast


def _converted(own: int, value: Any, rank: int) -> Any:
    if rank > DECIMAL:
        wide = promoted((own, value), max(own, rank))
        return to_single(wide) if rank == FLOAT else wide
    if isinstance(value, float) and not math.isfinite(value):
        raise ExpressionError("not a finite number")
    if rank == DECIMAL:
        return Decimal(value)
    if isinstance(value, Decimal):
        whole = value.to_integral_value(ROUND_DOWN)
        return whole if abs(whole) >= _BIG else int(whole)
    return int(value)


CASTS: dict[str, Callable[..., Node]] = {
    f"<{XSD.string}>": to_string,
    f"<{XSD.boolean}>": to_boolean,
    f"<{XSD.dateTime}>": to_moment,
    f"<{XSD.integer}>": _to_number(INTEGER, XSD.integer),
    f"<{XSD.decimal}>": _to_number(DECIMAL, XSD.decimal),
    f"<{XSD.float}>": _to_number(FLOAT, XSD.float),
    f"<{XSD.double}>": _to_number(DOUBLE, XSD.double),
}
