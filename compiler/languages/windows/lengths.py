"""Read lengths of time, moments and counts of a window: each notation that some language has.

Data's way: tokens of a window -> **microseconds** -> window.
Laws: a length is 10s, 10 SECONDS, 1m 30s, PT10S, or a bare number, which counts seconds.  A moment is a length counted
from 0, or an xsd:dateTime.  What must be more than 0 is.
"""

from __future__ import annotations

from lark import Token

from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import kind_of, token
from retewave.compiler.terms import unquote
from retewave.windows import durations, times

__all__ = ["count", "length", "moment", "positive"]


def length(tree: ParseTree, context: Context) -> int:
    """Return a length of time in microseconds."""
    return _micros(token(tree), context)


def positive(tree: ParseTree, what: str, context: Context) -> int:
    """Return a length of time that is more than 0."""
    micros = length(tree, context)
    if micros == 0:
        raise context.error(f"{what} is more than 0", tree)
    return micros


def moment(tree: ParseTree, context: Context) -> int:
    """Return a time in microseconds: a length counted from 0, or an xsd:dateTime."""
    written = token(tree)
    if kind_of(written) != "DATE_TIME":
        return _micros(written, context)
    try:
        return times.micros(_lexical(written))
    except ValueError as e:
        hint = 'write a number of seconds, or a time: "2024-01-31T12:00:00Z"^^xsd:dateTime'
        raise context.error(str(e), written, hint) from e


def count(tree: ParseTree, what: str, context: Context) -> int:
    """Return how many a window counts, or how many there are between two reports."""
    written = token(tree)
    if not written.isdecimal() or int(written) == 0:
        raise context.error(f"{what} is a whole number from 1 on, not {written}", tree)
    return int(written)


def _lexical(written: Token) -> str:
    return unquote(written[: written.rindex('"') + 1]) if written.startswith('"') else str(written)


def _micros(written: Token, context: Context) -> int:
    try:
        match kind_of(written):
            case "NUMBER":
                return durations.parse(f"{written}s")
            case "ISO_DURATION":
                return durations.parse(written.upper())
        return durations.parse(str(written))
    except ValueError as e:
        raise context.error(str(e), written) from e
