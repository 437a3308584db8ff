"""Build the clauses before WHERE: WITHIN, TUMBLING, PARTITION BY, AFTER MATCH SKIP PAST LAST, FROM.

Data's way: parse trees of the clauses -> **clauses** -> sequence and query.
Laws: WITHIN and AFTER MATCH stand once at most.  A stream has a name of its own; SEQ and GPMs know it by that name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from lark import Token, Tree

from retewave.compiler.algebra import Stream, Variable
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import Node, kind_of, rule, token, tokens_of, trees_of
from retewave.compiler.languages.sparql.expressions import variable
from retewave.compiler.terms import unquote
from retewave.windows.times import micros

__all__ = ["Clauses", "read_clauses"]

_UNITS = {  # the first letters of a unit's name -> the unit as durations know it
    "mil": "ms",
    "sec": "s",
    "min": "m",
    "h": "h",
    "d": "d",
}
_UNIT = re.compile(r"[a-z]+", re.IGNORECASE)


@dataclass
class Clauses:
    """What the clauses say."""

    width: int | None = None  # WITHIN, in microseconds
    tumbling: int | None = None  # where the first window begins
    partition: dict[Variable, ParseTree] = field(default_factory=dict)  # PARTITION BY, with the places
    past_last: bool = False  # AFTER MATCH SKIP PAST LAST
    streams: dict[str, Stream] = field(default_factory=dict)  # name -> stream
    dataset: dict[str, None] = field(default_factory=dict)  # FROM <…>


def read_clauses(trees: Iterable[ParseTree], context: Context) -> Clauses:
    """Read the clauses, in whatever order they stand."""
    found = Clauses()
    seen: dict[str, ParseTree] = {}
    for tree in trees:
        kind = rule(tree)
        if kind in ("within", "skip", "origin") and kind in seen:
            raise context.error(f"{_NAMES[kind]} stands once", tree)
        seen[kind] = tree
        match kind:
            case "within":
                _take_width(tree, found, context)
            case "origin":
                _take_origin(tree, found, context)
            case "partition":
                found.partition |= {variable(var): var for var in trees_of(tree)}
            case "skip":
                found.past_last = True
            case "stream":
                _take_stream(tree, found, context)
            case "default_graph":
                found.dataset[context.prologue.reference(tree.children[0])] = None
            case "named_graph":
                hint = "GRAPH <…> in a GPM names the background graph itself: leave the line out"
                raise context.unsupported("FROM NAMED", tree, hint)
    return found


_NAMES = {"within": "WITHIN", "skip": "AFTER MATCH", "origin": "TUMBLING FROM"}


def _take_width(tree: ParseTree, found: Clauses, context: Context) -> None:
    _, written, *tumbling = tokens_of(tree)
    found.width = _duration(written, context)
    if tumbling:
        if not found.width:
            raise context.error("windows that follow each other are longer than nothing", written, "write WITHIN 30s")
        found.tumbling = 0


def _take_origin(tree: ParseTree, found: Clauses, context: Context) -> None:
    """Read where the first of the windows that follow each other begins."""
    if found.tumbling is None:
        hint = "write WITHIN 30 MINUTES TUMBLING FROM …; a stream is FROM STREAM S1 <…>"
        raise context.error("FROM and a time stand behind TUMBLING", tree, hint)
    (written,) = tree.children
    found.tumbling = _moment(written, context)


def _moment(written: Node, context: Context) -> int:
    if isinstance(written, Token) and kind_of(written) == "DURATION":
        return _duration(written, context)
    try:
        if isinstance(written, Tree):
            return micros(unquote(str(token(written))))
        return micros(float(written) if "." in written else int(written))
    except ValueError as e:
        hint = 'write a number of seconds, or a time: "2024-01-31T12:00:00Z"^^xsd:dateTime'
        raise context.error(str(e), written, hint) from e


def _duration(written: Token, context: Context) -> int:
    """Return a duration in microseconds, of which the units may be written out: 30 MINUTES."""
    if kind_of(written) == "INTEGER" or written[0] in "Pp":
        return context.duration(written)
    short = _UNIT.sub(lambda unit: _short(unit[0].lower()), written)
    return context.duration(written.update(value="".join(short.split())))


def _short(unit: str) -> str:
    return next((short for start, short in _UNITS.items() if unit.startswith(start)), unit)


def _take_stream(tree: ParseTree, found: Clauses, context: Context) -> None:
    name, iri = tree.children
    assert isinstance(name, Token) and isinstance(iri, Tree)
    if name in found.streams:
        hint = "give each stream a name of its own"
        raise context.error(f"the stream {name} is named twice", name, hint)
    term = context.prologue.term(iri)
    twin = next((other for other, stream in found.streams.items() if stream.iri == term), None)
    if twin is not None:
        context.notice(f"{name} is the same stream as {twin}: {term.decode()}", name)
    found.streams[str(name)] = Stream(term, None, context.source.place(name))
