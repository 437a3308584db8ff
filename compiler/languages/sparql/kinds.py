"""The kind of value (number, time, duration …) that an expression with times of a solution has, as far as texts tell.

Data's way: parse tree of an expression -> **checked** -> expression.
A time compared with a number is an error in SPARQL: the filter would keep nothing, silently.  So it is refused.
Left out: expressions without functions of time, which SPARQL defines; kinds that depend on the terms of the stream.
"""

from __future__ import annotations

import re

from retewave.compiler.expressions.tree import TIMES, Call, Constant, Expression, Operation, mentions
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.reading import Node
from retewave.compiler.terms import XSD
from retewave.errors import QueryError
from retewave.windows.times import format_datetime

__all__ = ["check_calculated", "check_compared"]

_MOMENT, _DURATION, _NUMBER, _STRING = "a dateTime", "a duration", "a number", "a string"
_NUMBERS = ("integer", "decimal", "double", "float", "int", "long", "short", "byte", "nonNegativeInteger")
_TYPES = {f"^^<{XSD}{name}>": _NUMBER for name in _NUMBERS} | {
    f"^^<{XSD}dateTime>": _MOMENT,
    f"^^<{XSD}date>": "a date",
    f"^^<{XSD}time>": "a time of day",
    f"^^<{XSD}boolean>": "a truth value",
    f"^^<{XSD}duration>": _DURATION,
    f"^^<{XSD}dayTimeDuration>": _DURATION,
    f"^^<{XSD}yearMonthDuration>": _DURATION,
}
_CALLS = {"GETDURATION": _DURATION, "GETSTARTTIME": _MOMENT, "GETENDTIME": _MOMENT}
_HOW = {
    _MOMENT: 'write a moment as "2024-01-31T12:00:00Z"^^xsd:dateTime',
    _DURATION: 'write a duration as "PT5M"^^xsd:duration',
}
_SUMS = {
    ("+", _MOMENT, _DURATION): _MOMENT,
    ("+", _DURATION, _MOMENT): _MOMENT,
    ("+", _DURATION, _DURATION): _DURATION,
    ("-", _MOMENT, _MOMENT): _DURATION,
    ("-", _MOMENT, _DURATION): _MOMENT,
    ("-", _DURATION, _DURATION): _DURATION,
}


def check_compared(
    operator: str, left: Expression, right: Expression, nodes: tuple[Node, Node], context: Context
) -> None:
    """Refuse to compare a time of the solution with a value of another kind."""
    one, other = _kind(left), _kind(right)
    if not _has_times(left, right) or one is None or other is None or one == other:
        return
    timed, given, node = (one, right, nodes[1]) if mentions(left, TIMES) else (other, left, nodes[0])
    what = f"{one} is compared with {other}, which is {'always' if operator == '!=' else 'never'} true"
    raise context.error(what, node, _in_seconds(timed, given) or _HOW.get(timed, ""))


def _in_seconds(timed: str, given: Expression) -> str | None:
    """Return how to write a whole number of seconds as a moment or a duration: that is what most people meant."""
    if not isinstance(given, Constant) or timed not in _HOW:
        return None
    number = re.fullmatch(rb'"(\d{1,9})"\^\^<.*#integer>', given.text)
    if number is None:
        return None
    seconds = int(number[1])
    text = (
        f'"PT{seconds}S"^^xsd:duration' if timed == _DURATION else f'"{format_datetime(seconds * 10**6)}"^^xsd:dateTime'
    )
    return f"where times are numbers, they are seconds since 1970: write {text}"


def check_calculated(operator: str, left: Expression, right: Expression, node: Node, context: Context) -> None:
    """Refuse a sum or product with a time of the solution, where SPARQL gives it no value."""
    one, other = _kind(left), _kind(right)
    if not _has_times(left, right) or one is None or other is None or (operator, one, other) in _SUMS:
        return
    raise _no_value(operator, one, other, node, context)


def _no_value(operator: str, one: str, other: str, node: Node, context: Context) -> QueryError:
    what = f"{one} {operator} {other} has no value"
    hint = _HOW[_DURATION] if _NUMBER in (one, other) and operator in "+-" else "durations are added and subtracted"
    return context.error(what, node, hint)


def _has_times(*expressions: Expression) -> bool:
    return any(mentions(each, TIMES) for each in expressions)


def _kind(expression: Expression) -> str | None:
    """Return the kind of an expression's value, if its text tells."""
    match expression:
        case Call(name, ()) if name in _CALLS:
            return _CALLS[name]
        case Constant(text):
            return _kind_of_term(text.decode())
        case Operation(operator, (left, right)):
            return _SUMS.get((operator, _kind(left) or "", _kind(right) or ""))
    return None


def _kind_of_term(text: str) -> str | None:
    if text.startswith("<"):
        return "an IRI"
    end = text.rindex('"') + 1
    return _TYPES.get(text[end:]) if text[end:].startswith("^^") else _STRING
