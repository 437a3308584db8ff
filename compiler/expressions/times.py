"""The times of a solution in an expression: getDURATION(), getSTARTTIME(), getENDTIME() as constants.

Data's way: an expression, the interval of a solution -> **the expression without calls** -> evaluator.
Where the kernel can tell, it looks at the row's times itself (`kernel.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from retewave.compiler.expressions.moments import date_text
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

__all__ = ["NAMED_TIMES", "at_times", "duration_text", "moment_text", "times_of", "with_named_times"]

_NONE = Variable("_:.no time")  # nothing binds it
_NAMED = {name: Variable(f"_:.{name}") for name in sorted(TIMES)}
NAMED_TIMES = frozenset(_NAMED.values())  # stand for the times in `with_named_times`


def at_times(expression: Expression, start: int, end: int) -> Expression:
    """Return an expression with the times of an interval in microseconds; static data has none, which is an error.

    >>> at_times(Call("GETDURATION", ()), 0, 1_500_000)
    Constant(text=b'"PT1.5S"^^<http://www.w3.org/2001/XMLSchema#dayTimeDuration>')
    """
    if not mentions(expression, TIMES):
        return expression
    given = times_of(start, end)
    return _with(expression, {name: Constant(given[v.name]) if given else _NONE for name, v in _NAMED.items()})


def with_named_times(expression: Expression) -> Expression:
    """Return an expression with variables in place of the calls, to which `times_of` binds the times.

    >>> with_named_times(Call("GETDURATION", ()))
    Variable(name='_:.GETDURATION')
    """
    return _with(expression, _NAMED)


def times_of(start: int, end: int) -> dict[str, bytes]:
    """Return the times of an interval in microseconds, by the names of their variables; static data has none.

    >>> sorted(times_of(0, 0)), times_of(1, 0)
    (['_:.GETDURATION', '_:.GETENDTIME', '_:.GETSTARTTIME'], {})
    """
    if end < start:
        return {}
    texts = {"GETDURATION": duration_text(end - start), "GETSTARTTIME": moment_text(start)}
    texts["GETENDTIME"] = moment_text(end)
    return {_NAMED[name].name: text for name, text in texts.items()}


def _with(expression: Expression, times: Mapping[str, Expression]) -> Expression:
    """Return an expression with something else in place of the calls."""
    match expression:
        case Call(name, ()) if name in times:
            return times[name]
        case Operation(operator, operands):
            return Operation(operator, tuple(_with(each, times) for each in operands))
        case Call(function, arguments, distinct):
            return Call(function, tuple(_with(each, times) for each in arguments), distinct)
        case Membership(needle, members, negated):
            return Membership(_with(needle, times), tuple(_with(each, times) for each in members), negated)
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
    """Return a time in microseconds since 1970 as xsd:dateTime in UTC, in any year.

    >>> moment_text(1_500_000).decode()
    '"1970-01-01T00:00:01.5Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
    """
    seconds, rest = divmod(micros, 1_000_000)
    days, second = divmod(seconds, 86_400)
    clock = f"{second // 3_600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
    fraction = f".{rest:06d}".rstrip("0").rstrip(".")
    return f'"{date_text(days)}T{clock}{fraction}Z"^^<{XSD}dateTime>'.encode()
