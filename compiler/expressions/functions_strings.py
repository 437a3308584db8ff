"""SPARQL's functions of strings (section 17.4.3), but for the functions of regular expressions.

Data's way: expression -> evaluator -> **functions of strings**.
Invariant: a string is a simple literal or a literal with a language; two strings go together when the second is
simple or both have the same language (17.4.3.1.2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import quote

from rdflib import XSD, Literal
from rdflib.term import Node

from retewave.compiler.expressions.faults import ExpressionError
from retewave.compiler.expressions.numbers import INTEGER, number, numeric_literal, raw_literal
from retewave.compiler.expressions.operators import FALSE, TRUE

__all__ = ["LONGEST", "STRINGS", "plain_string", "string"]

LONGEST: Final = 1 << 26  # characters of a computed string
_FAR = 1 << 40  # beyond the end of any string
_STRING = XSD.string  # rdflib looks such a name up anew each time
_EMPTY = raw_literal("")


def string(term: Node) -> Literal:
    """Return a term that must be a string, with a language or without."""
    if not isinstance(term, Literal) or term.datatype not in (None, _STRING):
        raise ExpressionError("not a string")
    return term


def plain_string(term: Node) -> str:
    """Return the characters of a term that must be a simple literal."""
    if string(term).language is not None:
        raise ExpressionError("a string with a language")
    return str(term)


def _pair(one: Node, other: Node) -> tuple[str, str]:
    if string(other).language is not None and string(one).language != other.language:  # type: ignore[attr-defined]
        raise ExpressionError("strings that do not go together")
    return str(string(one)), str(other)


def _test(holds: Callable[[str, str], bool]) -> Callable[[Node, Node], Node]:
    def test(one: Node, other: Node) -> Node:
        return TRUE if holds(*_pair(one, other)) else FALSE

    return test


def _mapped(change: Callable[[str], str]) -> Callable[[Node], Node]:
    def mapped(term: Node) -> Node:
        return raw_literal(change(str(string(term))), language=term.language)  # type: ignore[attr-defined]

    return mapped


def _strlen(term: Node) -> Node:
    return numeric_literal(len(string(term)), INTEGER)


def _substr(source: Node, start: Node, length: Node | None = None) -> Node:
    """Return the characters at the positions start <= p < start + length, the first being 1."""
    text, first = string(source), _position(start)
    end = len(text) + 1 if length is None else first + _position(length)
    return raw_literal(str(text)[max(first, 1) - 1 : max(end, 1) - 1], language=text.language)


def _position(term: Node) -> int:
    """Return an integer; an integer far outside all strings is brought nearer."""
    found = number(term)
    if found is None or found[0] != INTEGER:
        raise ExpressionError("not an integer")
    return int(min(max(found[1], -_FAR), _FAR))


def _before(source: Node, part: Node) -> Node:
    """Return the text before the first occurrence of a part; without an occurrence, a simple empty string."""
    text, searched = _pair(source, part)
    found = text.find(searched)
    return _EMPTY if found < 0 else raw_literal(text[:found], language=string(source).language)


def _after(source: Node, part: Node) -> Node:
    text, searched = _pair(source, part)
    found = text.find(searched)
    return _EMPTY if found < 0 else raw_literal(text[found + len(searched) :], language=string(source).language)


def _concat(*terms: Node) -> Node:
    """Join strings; the result has a language if all of them have it."""
    parts = [string(term) for term in terms]
    if sum(map(len, parts)) > LONGEST:
        raise ExpressionError("a string that is too long")
    languages = {part.language for part in parts}
    return raw_literal("".join(parts), language=languages.pop() if len(languages) == 1 else None)


def _encode(term: Node) -> Node:
    return raw_literal(quote(str(string(term)), safe="-_.~"))


def _lang_matches(tag: Node, wanted: Node) -> Node:
    """Tell whether a language tag is in a language range (RFC 4647, basic filtering)."""
    has, asked = plain_string(tag).lower(), plain_string(wanted).lower()
    if asked == "*":
        return TRUE if has else FALSE
    return TRUE if has == asked or (asked and has.startswith(f"{asked}-")) else FALSE


STRINGS: dict[str, Callable[..., Node]] = {
    "STRLEN": _strlen,
    "SUBSTR": _substr,
    "UCASE": _mapped(str.upper),
    "LCASE": _mapped(str.lower),
    "STRSTARTS": _test(str.startswith),
    "STRENDS": _test(str.endswith),
    "CONTAINS": _test(str.__contains__),
    "STRBEFORE": _before,
    "STRAFTER": _after,
    "ENCODE_FOR_URI": _encode,
    "CONCAT": _concat,
    "LANGMATCHES": _lang_matches,
}
