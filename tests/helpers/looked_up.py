"""Small queries and streams in short words, and their matches by the naive meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from naive.reports import Distinct, Match, matches
from naive.streams import Entail, Item, Triple

from retewave.compiler import algebra
from retewave.compiler.algebra import Algebra, Stream, TriplePattern, Triples, Variable

Window = int | None | Mapping[str, int | None]  # one width, or a width for each named stream; None: unbounded


def triple(text: str) -> Triple:
    """`"t11 a b"` as three terms; any bytes will do, for the meaning only compares."""
    subject, predicate, object_ = text.encode().split()
    return subject, predicate, object_


def term(word: str) -> bytes | Variable:
    return Variable(word[1:]) if word.startswith("?") else word.encode()


def pattern(text: str, event: str | None = None) -> TriplePattern:
    """`"?x a b"` as a pattern: what starts with a question mark is a variable."""
    subject, predicate, object_ = map(term, text.split())
    return TriplePattern(subject, predicate, object_, event=None if event is None else Variable(event))


def every(*texts: str, event: str | None = None) -> Triples:
    return Triples(tuple(pattern(text, event) for text in texts))


def at(time: int, text: str, stream: str | None = None, event: int | None = None) -> Item:
    return Item(triple(text), time, time, stream, event)


@dataclass(frozen=True)
class Asked:
    """A query, and which of its matches are reported."""

    query: algebra.Query
    distinct: Distinct = False


def selecting(
    where: Algebra, *, window: Window = None, distinct: Distinct = False, project: tuple[str, ...] | None = None
) -> Asked:
    names = tuple(variable.name for variable in algebra.visible(where)) if project is None else project
    if isinstance(window, Mapping):
        streams = tuple(Stream(f"<{name}>".encode(), width) for name, width in window.items())
        return Asked(algebra.Query("SELECT", where, names, streams=streams), distinct)
    return Asked(algebra.Query("SELECT", where, names, window=window), distinct)


def query(*patterns: str, window: Window = None, distinct: bool = False) -> Asked:
    return selecting(every(*patterns), window=window, distinct=distinct)


def looked_up(
    of: Asked, stream: Sequence[Item], static: Set[Triple] = frozenset(), entail: Entail = lambda triple: {triple}
) -> list[Match]:
    return matches(of.query, stream, static, entail, distinct=of.distinct)


def bindings(match: Match) -> dict[str, str]:
    return {variable: text.decode() for variable, text in match.bindings}


def times_of(told: list[Match]) -> list[tuple[int, int]]:
    return [(match.start, match.end) for match in told]
