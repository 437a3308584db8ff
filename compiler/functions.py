"""The functions that rdflib gets wrong, as SPARQL 1.1 and XPath define them; all others are rdflib's.

Data's way: expression -> evaluator -> operators and **functions**.
rdflib's SUBSTR counts from the end for a start below 1, its REPLACE takes the flags for a count, its STRDT
and STRLANG accept tagged strings, TIMEZONE prints a zero as P0D, and its casts refuse numbers and booleans;
IRI takes any string for an IRI; REGEX is here because it shares the compiled patterns, BNODE with a label because it
has to know the solution.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any

from rdflib import XSD, BNode, Literal, URIRef
from rdflib.term import Node

from retewave.compiler.moments import parse_moment
from retewave.compiler.operators import (
    BOOLEANS,
    DECIMAL,
    DOUBLE,
    FALSE,
    FLOAT,
    INTEGER,
    TRUE,
    ExpressionError,
    number,
    numeric_literal,
    to_single,
)
from retewave.compiler.prologue import is_absolute, resolve

__all__ = ["FUNCTIONS", "labelled"]

_FLAGS = {"i": re.IGNORECASE, "s": re.DOTALL, "m": re.MULTILINE, "x": re.VERBOSE}
_NOT_IN_IRI = re.compile(r"[<>\"{}|^`\\\x00-\x20]")
_NO_FLAGS = Literal("")
_STRING = XSD.string  # rdflib looks such a name up anew each time
_BOOLEAN = XSD.boolean
_DATETIME = XSD.dateTime
_ZONE = re.compile(r"(?:(Z)|([+-])([0-9]{2}):([0-9]{2}))$")
_GROUP = re.compile(r"\\([\\$])|\$([0-9])|(\\|\$)")


def _string(term: Node) -> Literal:
    if not isinstance(term, Literal) or term.datatype not in (None, _STRING):
        raise ExpressionError("not a string")
    return term


def _plain(term: Node) -> Literal:
    string = _string(term)
    if string.language is not None:
        raise ExpressionError("a string with a language")
    return string


def _round(term: Node) -> float:
    found = number(term)
    if found is None:
        raise ExpressionError("not a number")
    value = found[1]
    return value if isinstance(value, int) or not math.isfinite(value) else math.floor(value + type(value)("0.5"))


def iri(term: Node, base: Node | None = None) -> Node:
    """Make an IRI of a string, resolved against the query's base."""
    if isinstance(term, URIRef):
        return term
    written = str(_plain(term))
    if not is_absolute(written):
        if base is None:
            raise ExpressionError("a relative IRI and no base")
        written = resolve(str(base), written)
    if _NOT_IN_IRI.search(written):
        raise ExpressionError("not an IRI")
    return URIRef(written)


def labelled(label: Node, solution: Node) -> Node:
    """Return the blank node of a label: in one solution the same one, in every solution another (17.4.2.9)."""
    return BNode(f"{solution}x{str(_plain(label)).encode().hex()}")


def substr(source: Node, start: Node, length: Node | None = None) -> Node:
    """Return the characters at the positions start <= p < start + length, the first being 1."""
    string = _string(source)
    first = _round(start)
    end = math.inf if length is None else first + _round(length)
    kept = "".join(char for place, char in enumerate(string, 1) if first <= place < end)
    return Literal(kept, lang=string.language)


def regex(text: Node, pattern: Node, flags: Node = _NO_FLAGS) -> Node:
    """Say whether a pattern matches somewhere in a string."""
    found = _pattern(str(_plain(pattern)), str(_plain(flags))).search(str(_string(text)))
    return FALSE if found is None else TRUE


def replace(source: Node, pattern: Node, replacement: Node, flags: Node = _NO_FLAGS) -> Node:
    """Replace every match of a pattern, `$1` being its first group."""
    string = _string(source)
    compiled = _pattern(str(_plain(pattern)), str(_plain(flags)))
    template = _GROUP.sub(_group, str(_plain(replacement)))
    try:
        return Literal(compiled.sub(template, str(string)), lang=string.language)
    except (re.error, IndexError) as error:
        raise ExpressionError(str(error)) from error


def _group(match: re.Match[str]) -> str:
    if match[2]:
        return rf"\g<{match[2]}>"
    if match[3]:
        raise ExpressionError("a replacement with a stray \\ or $")
    return r"\\" if match[1] == "\\" else "$"


@cache
def _pattern(pattern: str, flags: str) -> re.Pattern[str]:
    combined = 0
    for flag in flags:
        if flag not in _FLAGS:
            raise ExpressionError(f"the flag {flag!r}")
        combined |= _FLAGS[flag]
    try:
        return re.compile(pattern, combined)
    except re.error as error:
        raise ExpressionError(str(error)) from error


def strdt(lexical: Node, datatype: Node) -> Node:
    """Make a literal with a datatype from a plain string."""
    if not isinstance(datatype, URIRef):
        raise ExpressionError("not an IRI")
    string = str(_plain(lexical))
    return Literal(string, datatype=None if datatype == _STRING else datatype, normalize=False)


def strlang(lexical: Node, tag: Node) -> Node:
    """Make a literal with a language from a plain string."""
    return Literal(str(_plain(lexical)), lang=str(_plain(tag)).lower())


def timezone(term: Node) -> Node:
    """Return the zone of a dateTime as a duration."""
    if not isinstance(term, Literal) or term.datatype != _DATETIME or parse_moment(term, True) is None:
        raise ExpressionError("not a dateTime")
    match = _ZONE.search(term)
    if match is None:
        raise ExpressionError("no zone")
    hours, minutes = int(match[3] or 0), int(match[4] or 0)
    text = (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "") or "0S"
    sign = "-" if match[2] == "-" and (hours or minutes) else ""
    return Literal(f"{sign}PT{text}", datatype=XSD.dayTimeDuration, normalize=False)


def _to_string(term: Node) -> Node:
    if not isinstance(term, Literal | URIRef):
        raise ExpressionError("a blank node has no string")
    return Literal(str(term))


def _to_boolean(term: Node) -> Node:
    found = number(term)
    if found is not None:
        return TRUE if found[1] and not math.isnan(found[1]) else FALSE
    if isinstance(term, Literal) and term.datatype in (None, _STRING, _BOOLEAN) and str(term) in BOOLEANS:
        return TRUE if BOOLEANS[str(term)] else FALSE
    raise ExpressionError("not a boolean")


def _to_moment(term: Node) -> Node:
    if not isinstance(term, Literal) or term.datatype not in (None, _STRING, _DATETIME):
        raise ExpressionError("not a dateTime")
    if term.language is not None or parse_moment(str(term), True) is None:
        raise ExpressionError("not a dateTime")
    return Literal(str(term), datatype=_DATETIME, normalize=False)


def _to_number(rank: int, datatype: URIRef) -> Callable[[Node], Node]:
    def cast(term: Node) -> Node:
        if not isinstance(term, Literal) or term.language is not None:
            raise ExpressionError("not a literal that has a number")
        if term.datatype in (None, _STRING):
            copy = Literal(str(term).strip(" \t\r\n"), datatype=datatype, normalize=False)
            found = number(copy)
        elif term.datatype == _BOOLEAN and str(term) in BOOLEANS:
            found = INTEGER, int(BOOLEANS[str(term)])
        else:
            found = number(term)
        if found is None:
            raise ExpressionError("not a number")
        return numeric_literal(_converted(found[1], rank), rank)

    return cast


def _converted(value: Any, rank: int) -> Any:
    if rank <= DECIMAL and not math.isfinite(value):
        raise ExpressionError("not a finite number")
    if rank == INTEGER:
        return int(value)
    if rank == DECIMAL:
        return Decimal(value)
    try:
        wide = float(value)
    except OverflowError:
        wide = math.copysign(math.inf, value)
    return to_single(wide) if rank == FLOAT else wide


FUNCTIONS: dict[str, Callable[..., Node]] = {
    "IRI": iri,
    "SUBSTR": substr,
    "REGEX": regex,
    "REPLACE": replace,
    "STRDT": strdt,
    "STRLANG": strlang,
    "TIMEZONE": timezone,
    f"<{XSD.string}>": _to_string,
    f"<{XSD.boolean}>": _to_boolean,
    f"<{XSD.dateTime}>": _to_moment,
    f"<{XSD.integer}>": _to_number(INTEGER, XSD.integer),
    f"<{XSD.decimal}>": _to_number(DECIMAL, XSD.decimal),
    f"<{XSD.float}>": _to_number(FLOAT, XSD.float),
    f"<{XSD.double}>": _to_number(DOUBLE, XSD.double),
}
