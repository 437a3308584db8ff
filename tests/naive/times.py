"""Expressions that see time (MEANING §3): GETDURATION() and the like of one solution, and the windows they make.

* A duration is an xsd:dayTimeDuration, a moment an xsd:dateTime in UTC, both in their canonical texts.
* A static solution has no times: the calls are errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

from rdflib import BNode
from rdflib.term import Node

from retewave.compiler.expressions.evaluate import Evaluator
from retewave.compiler.expressions.tree import Call, Constant, Expression, Operation, Variable, with_children
from retewave.io.rdf import from_text

XSD = "http://www.w3.org/2001/XMLSchema#"
CALLS = ("GETDURATION", "GETSTARTTIME", "GETENDTIME")
DURATION = re.compile(
    rf'"(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?"\^\^<{XSD}(?:dayTimeD|d)uration>'
)
SECOND = 1_000_000
DAY = 86_400 * SECOND
SWAPPED = {">": "<", ">=": "<="}


def is_true(expression: Expression | None, bindings: Mapping[Variable, bytes], start: int, end: int) -> bool:
    """Tell whether a condition is true of a solution in time; none is true of all."""
    return expression is None or _compiled(expression).truth(_environment(bindings, start, end), BNode()) is True


def value_of(expression: Expression, bindings: Mapping[Variable, bytes], start: int, end: int) -> Node | None:
    """Return the value of an expression; nothing when it is an error."""
    return _compiled(expression).value(_environment(bindings, start, end), BNode())


def _environment(bindings: Mapping[Variable, bytes], start: int, end: int) -> dict[str, Node]:
    texts = {variable.name: text for variable, text in bindings.items()}
    if start <= end:
        times = (duration_text(end - start), moment_text(start), moment_text(end))
        texts.update({f"_:{call}": text for call, text in zip(CALLS, times, strict=True)})
    return {name: _term(text) for name, text in texts.items()}


@lru_cache(10_000)
def _term(text: bytes) -> Node:
    return from_text(text)


@lru_cache(10_000)
def _compiled(expression: Expression) -> Evaluator:
    return Evaluator(_with_variables(expression))


def _with_variables(expression: Expression) -> Expression:
    """Put a variable for each call that asks for a time."""
    match expression:
        case Call(name, ()) if name in CALLS:
            return Variable(f"_:{name}")
    return with_children(expression, _with_variables)


def duration_text(microseconds: int) -> bytes:
    """Return a duration's canonical text."""
    days, rest = divmod(microseconds, DAY)
    hours, rest = divmod(rest, 3600 * SECOND)
    minutes, rest = divmod(rest, 60 * SECOND)
    clock = f"{hours}H" * bool(hours) + f"{minutes}M" * bool(minutes) + f"{_seconds(rest)}S" * bool(rest)
    text = f"{days}D" * bool(days) + f"T{clock}" * bool(clock) or "T0S"
    return f'"P{text}"^^<{XSD}dayTimeDuration>'.encode()


def moment_text(microseconds: int) -> bytes:
    """Return a moment's canonical text."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
    whole, rest = moment.strftime("%Y-%m-%dT%H:%M:"), moment.second * SECOND + moment.microsecond
    seconds = _seconds(rest)
    return f'"{whole}{"0" * (rest < 10 * SECOND)}{seconds}Z"^^<{XSD}dateTime>'.encode()


def _seconds(microseconds: int) -> str:
    whole, rest = divmod(microseconds, SECOND)
    return f"{whole}.{rest:06d}".rstrip("0") if rest else str(whole)


def window_of(expression: Expression) -> int | None:
    """Return the width to which the duration conjuncts of a filter bound its group."""
    return min((width for each in _conjuncts(expression) if (width := _bound(each)) is not None), default=None)


def _conjuncts(expression: Expression) -> Iterator[Expression]:
    match expression:
        case Operation("&&", (left, right)):
            yield from _conjuncts(left)
            yield from _conjuncts(right)
        case _:
            yield expression


def _bound(conjunct: Expression) -> int | None:
    match conjunct:
        case Operation(">" | ">=" as operator, (left, right)):
            return _bound(Operation(SWAPPED[operator], (right, left)))
        case Operation("<" | "<=" as operator, (Call("GETDURATION", ()), Constant(text))):
            width = microseconds_of(text)
            if width is not None:
                return floor(width) if operator == "<=" else ceil(width) - 1
    return None


def microseconds_of(text: bytes) -> Fraction | None:
    """Return the length of a duration without months."""
    found = DURATION.fullmatch(text.decode())
    if found is None:
        return None
    sign, *numbers = found.groups()
    parts = zip(numbers, (86_400, 3_600, 60, 1), strict=True)
    return (
        sum((Fraction(number or 0) * seconds for number, seconds in parts), Fraction()) * SECOND * (-1 if sign else 1)
    )
