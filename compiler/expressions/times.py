"""The times of a solution in an expression: getDURATION(), getSTARTTIME(), getENDTIME() as constants.

Data's way: an expression, the interval of a solution -> **the expression without calls** -> evaluator.
Where the kernel can tell, it looks at the row's times itself (`kernel.py`).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from retewave.compiler.expressions.tree import (
    TIMES,
    Call,
    Constant,
    Expression,
    Membership,
    Operation,
    Variable,
    mentions,
)
from retewave.compiler.terms import XSD

__all__ = ["at_times", "duration_text", "moment_text"]

_NONE = Variable("_:.no time")  # nothing binds it
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def at_times(expression: Expression, start: int, end: int) -> Expression:
    """Return an expression with the times of an interval in microseconds; what is static has none, which is an error.

    >>> at_times(Call("GETDURATION", ()), 0, 1_500_000)
    Constant(text=b'"PT1.5S"^^<http://www.w3.org/2001/XMLSchema#dayTimeDuration>')
    """
    if not mentions(expression, TIMES):
        return expression
    match expression:
        case Call(name, ()) if name in TIMES and end < start:
            return _NONE
        case Call("GETDURATION", ()):
            return Constant(duration_text(end - start))
        case Call("GETSTARTTIME", ()):
            return Constant(moment_text(start))
        case Call("GETENDTIME", ()):
            return Constant(moment_text(end))
        case Operation(operator, operands):
            return Operation(operator, tuple(at_times(each, start, end) for each in operands))
        case Call(function, arguments, distinct):
            return Call(function, tuple(at_times(each, start, end) for each in arguments), distinct)
        case Membership(needle, members, negated):
            inside = tuple(at_times(each, start, end) for each in members)
            return Membership(at_times(needle, start, end), inside, negated)
    return expression


def duration_text(micros: int) -> bytes:
    """Return a duration in microseconds as xsd:dayTimeDuration, in seconds.

    >>> duration_text(60_000_000).decode()
    '"PT60S"^^<http://www.w3.org/2001/XMLSchema#dayTimeDuration>'
    """
    seconds = Decimal(micros).scaleb(-6)
    text = f"{seconds:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f'"PT{text}S"^^<{XSD}dayTimeDuration>'.encode()


def moment_text(micros: int) -> bytes:
    """Return a time in microseconds since 1970 as xsd:dateTime in UTC.

    >>> moment_text(1_500_000).decode()
    '"1970-01-01T00:00:01.5Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
    """
    moment = _EPOCH + timedelta(microseconds=micros)
    text = moment.strftime("%Y-%m-%dT%H:%M:%S")
    fraction = f".{moment.microsecond:06d}".rstrip("0").rstrip(".")
    return f'"{text.zfill(19)}{fraction}Z"^^<{XSD}dateTime>'.encode()
