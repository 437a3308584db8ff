"""SPARQL's functions of numbers (section 17.4.4).

Data's way: expression -> evaluator -> **functions of numbers**.
Invariant: each keeps the kind of its argument: CEIL of an xsd:float is an xsd:float, of an infinity the infinity. Of
a type derived from xsd:integer it makes an xsd:integer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from typing import Any

from rdflib.term import Node

from retewave.compiler.expressions import chance
from retewave.compiler.expressions.faults import ExpressionError
from retewave.compiler.expressions.numbers import DOUBLE, number, numeric_literal

__all__ = ["NUMBERS"]


def _of_number(function: Callable[[Any], Any]) -> Callable[[Node], Node]:
    def apply(term: Node) -> Node:
        found = number(term)
        if found is None:
            raise ExpressionError("not a number")
        rank, value = found
        return numeric_literal(function(value), rank)

    return apply


def _abs(value: Any) -> Any:
    return value.copy_abs() if isinstance(value, Decimal) else abs(value)


def _ceil(value: Any) -> Any:
    if isinstance(value, Decimal):
        return value.to_integral_value(ROUND_CEILING)
    return value if isinstance(value, int) or not math.isfinite(value) else _signed(math.ceil(value), value)


def _floor(value: Any) -> Any:
    if isinstance(value, Decimal):
        return value.to_integral_value(ROUND_FLOOR)
    return value if isinstance(value, int) or not math.isfinite(value) else _signed(math.floor(value), value)


def _round(value: Any) -> Any:
    """Round to the nearest integer, a half upwards (fn:round).

    >>> _round(-2.5), _round(Decimal("2.5")), _round(0.49999999999999994)
    (-2.0, Decimal('3'), 0.0)
    """
    if isinstance(value, Decimal):
        return value.to_integral_value(ROUND_HALF_DOWN if value < 0 else ROUND_HALF_UP)
    if isinstance(value, int) or not math.isfinite(value):
        return value
    low = math.floor(value)
    return _signed(low + (value - low >= 0.5), value)


def _signed(whole: int, value: float) -> float:
    """Return an integral float; a zero that comes from below is the negative zero."""
    return math.copysign(float(whole), value) if whole == 0 else float(whole)


def _rand() -> Node:
    return numeric_literal(chance.number(), DOUBLE)


NUMBERS: dict[str, Callable[..., Node]] = {
    "ABS": _of_number(_abs),
    "ROUND": _of_number(_round),
    "CEIL": _of_number(_ceil),
    "FLOOR": _of_number(_floor),
    "RAND": _rand,
}
