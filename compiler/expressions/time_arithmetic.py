"""Sums and differences of moments and durations, as XPath defines them (Functions and Operators, 10.6 to 10.8).

Data's way: expression -> evaluator -> operators -> **arithmetic of times**.
SPARQL leaves these operators to its implementations. Invariant: a moment keeps its datatype and its zone; the result is
exact, in the proleptic Gregorian calendar, for any year.
Left out: products and quotients of durations.
"""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal

from rdflib import XSD, Literal
from rdflib.term import Node

from retewave.compiler.expressions.faults import ExpressionError
from retewave.compiler.expressions.moments import (
    Duration,
    Moment,
    date_text,
    days_of,
    exact_sum,
    fields_of,
    month_length,
    parse_duration,
    parse_moment,
    parse_time,
)
from retewave.compiler.expressions.numbers import decimal_text, raw_literal

__all__ = ["DURATIONS", "calculated", "value_of_time"]

_DATETIME = str(XSD.dateTime)
_DATE = str(XSD.date)
_TIME = str(XSD.time)
_YEAR_MONTH = str(XSD.yearMonthDuration)
_DAY_TIME = str(XSD.dayTimeDuration)
DURATIONS = {  # whether a duration of the type may have months, and seconds
    str(XSD.duration): (True, True),
    _YEAR_MONTH: (True, False),
    _DAY_TIME: (False, True),
}
_DAY = 86_400
_OF_DATATYPE = {str(each): each for each in (XSD.yearMonthDuration, XSD.dayTimeDuration)}


def value_of_time(literal: Literal) -> Moment | Duration | None:
    """Return the value of a moment, time of day or duration; nothing for other and ill-typed literals."""
    datatype = str(literal.datatype)
    if datatype in (_DATETIME, _DATE):
        return parse_moment(literal, datatype == _DATETIME)
    if datatype == _TIME:
        return parse_time(literal)
    return parse_duration(literal, *DURATIONS[datatype]) if datatype in DURATIONS else None


def calculated(symbol: str, left: Literal, right: Literal) -> Node:
    """Apply `+` or `-` to moments and durations.

    >>> str(calculated("+", raw_literal("2024-01-31", XSD.date), raw_literal("P1M", XSD.yearMonthDuration)))
    '2024-02-29'
    """
    one, other = value_of_time(left), value_of_time(right)
    if isinstance(one, Duration) and isinstance(other, Moment) and symbol == "+":
        return calculated(symbol, right, left)
    if isinstance(one, Moment) and isinstance(other, Duration):
        return _moved(left, other if symbol == "+" else _negative(other))
    if left.datatype != right.datatype:
        raise ExpressionError("times that do not go together")
    if isinstance(one, Moment) and isinstance(other, Moment) and symbol == "-" and one.zoned == other.zoned:
        return _seconds_literal(one.difference(other))
    if isinstance(one, Duration) and isinstance(other, Duration) and str(left.datatype) in _OF_DATATYPE:
        total = _total(one, other if symbol == "+" else _negative(other))
        return _months_literal(total[0]) if str(left.datatype) == _YEAR_MONTH else _seconds_literal(total[1])
    raise ExpressionError("times that do not go together")


def _negative(one: Duration) -> Duration:
    months, seconds = _total(one, Duration(0, Decimal(0)))
    return Duration(-months, seconds.copy_negate())


def _total(one: Duration, other: Duration) -> tuple[int, Decimal]:
    if one.months is None or other.months is None or one.seconds is None or other.seconds is None:
        raise ExpressionError("a duration with too many digits")
    return one.months + other.months, exact_sum(one.seconds, other.seconds)


def _moved(moment: Literal, by: Duration) -> Node:
    months, seconds = _total(by, Duration(0, Decimal(0)))
    datatype = str(moment.datatype)
    if datatype == _TIME:
        if months:
            raise ExpressionError("a time of day and months")
        fields = fields_of(f"1970-01-01T{moment}", True)
    else:
        fields = fields_of(str(moment), datatype == _DATETIME)
    if fields is None:
        raise ExpressionError("not a moment")
    year, month, day, hour, minute, second, zone = fields
    year_there, month_there = divmod(_year(year) * 12 + month - 1 + months, 12)
    day = min(day, month_length(str(year_there), month_there + 1))
    start = days_of(year_there, month_there + 1, day) * _DAY + hour * 3_600 + minute * 60
    date, clock = _written(exact_sum(exact_sum(Decimal(start), second), seconds))
    text = {_DATETIME: f"{date}T{clock}", _DATE: date, _TIME: clock}[datatype]
    return raw_literal(text + zone, moment.datatype)


def _year(written: str) -> int:
    if len(written) > 1_000:
        raise ExpressionError("a year with too many digits")
    return int(written)


def _written(seconds: Decimal) -> tuple[str, str]:
    """Return the date and the time of day that are some seconds after the beginning of 1970."""
    whole = seconds.to_integral_value(ROUND_FLOOR)
    fraction = decimal_text(exact_sum(seconds, whole.copy_negate()))[1:]
    days, rest = divmod(int(whole), _DAY)
    return date_text(days), f"{rest // 3_600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}{fraction}"


def _seconds_literal(seconds: Decimal | None) -> Node:
    assert seconds is not None  # both have a zone, or both have none
    whole = seconds.copy_abs().to_integral_value(ROUND_FLOOR)
    fraction = decimal_text(exact_sum(seconds.copy_abs(), whole.copy_negate()))[1:]
    days, rest = divmod(int(whole), _DAY)
    parts = ((rest // 3_600, "H", ""), (rest // 60 % 60, "M", ""), (rest % 60, "S", fraction))
    clock = "".join(f"{number}{more}{unit}" for number, unit, more in parts if number or more)
    text = (f"{days}D" if days else "") + (f"T{clock}" if clock else "") or "T0S"
    return raw_literal(f"{'-' if seconds < 0 else ''}P{text}", XSD.dayTimeDuration)


def _months_literal(months: int) -> Node:
    years, rest = divmod(abs(months), 12)
    text = (f"{years}Y" if years else "") + (f"{rest}M" if rest else "") or "0M"
    return raw_literal(f"{'-' if months < 0 else ''}P{text}", XSD.yearMonthDuration)
