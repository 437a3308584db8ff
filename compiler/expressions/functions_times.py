"""SPARQL's functions of moments (section 17.4.5).

Data's way: expression -> evaluator -> **functions of times**.
Invariant: each speaks of the moment's own zone. YEAR, MONTH and DAY take an xsd:date, too, which SPARQL leaves to us.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from rdflib import XSD, Literal
from rdflib.term import Node

from retewave.compiler.expressions.faults import ExpressionError
from retewave.compiler.expressions.moments import fields_of
from retewave.compiler.expressions.numbers import DECIMAL, INTEGER, number, numeric_literal, raw_literal

__all__ = ["TIMES"]

_DATETIME = XSD.dateTime  # rdflib looks such a name up anew each time
_DATE = XSD.date
_DURATION = XSD.dayTimeDuration
_INTEGER = XSD.integer
_YEAR, _MONTH, _DAY, _HOURS, _MINUTES, _SECONDS, _ZONE = range(7)


def _field(term: Node, place: int) -> str | int | Decimal:
    datatype = term.datatype if isinstance(term, Literal) else None
    if datatype != _DATETIME and (datatype != _DATE or place > _DAY):
        raise ExpressionError("not a dateTime")
    fields = fields_of(str(term), datatype == _DATETIME)
    if fields is None:
        raise ExpressionError("not a dateTime")
    return fields[place]


def _part(place: int) -> Callable[[Node], Node]:
    def part(term: Node) -> Node:
        found = number(raw_literal(str(_field(term, place)), _INTEGER))
        assert found is not None
        return numeric_literal(found[1], INTEGER)

    return part


def _seconds(term: Node) -> Node:
    return numeric_literal(_field(term, _SECONDS), DECIMAL)


def _timezone(term: Node) -> Node:
    """Return the zone of a dateTime as a duration."""
    zone = str(_field(term, _ZONE))
    if not zone:
        raise ExpressionError("no zone")
    hours, minutes = (0, 0) if zone == "Z" else (int(zone[1:3]), int(zone[4:6]))
    text = (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "") or "0S"
    sign = "-" if zone[0] == "-" and (hours or minutes) else ""
    return raw_literal(f"{sign}PT{text}", _DURATION)


def _tz(term: Node) -> Node:
    """Return the zone of a dateTime as it is written."""
    return raw_literal(str(_field(term, _ZONE)))


TIMES: dict[str, Callable[..., Node]] = {
    "YEAR": _part(_YEAR),
    "MONTH": _part(_MONTH),
    "DAY": _part(_DAY),
    "HOURS": _part(_HOURS),
    "MINUTES": _part(_MINUTES),
    "SECONDS": _seconds,
    "TIMEZONE": _timezone,
    "TZ": _tz,
}
