"""Small patterns, items and tokens, written shortly: what named tests of the operators of time are made of.

A pattern of one triple has the subject ?x and an object variable of the predicate's name; "s a 1" is an item, and a
token of it is shown as "a=1" (its subject is not shown if it is <urn:s>).
"""

from __future__ import annotations

from typing import Any

from naive.detectors import detected
from naive.streams import Item
from naive.times import duration_text
from naive.tokens import Token

from retewave.compiler import algebra
from retewave.compiler.algebra import (
    Algebra,
    PolicyName,
    Query,
    Solutions,
    Stream,
    TriplePattern,
    Triples,
    Variable,
    visible,
)
from retewave.compiler.expressions.tree import Call, Constant, Expression, Operation
from retewave.windows import relations


def iri(name: str) -> bytes:
    return f"<urn:{name}>".encode()


def one(predicate: str, subject: str = "?x", object_: str = "?{}") -> Triples:
    """Return the pattern of one triple, whose object is a variable of the predicate's name unless said otherwise."""
    texts = (subject, predicate, object_.format(predicate))
    s, p, o = (Variable(text[1:]) if text.startswith("?") else iri(text) for text in texts)
    return Triples((TriplePattern(s, p, o),))


A, B, C, N = one("a"), one("b"), one("c"), one("n")


def item(written: str, start: int, end: int | None = None, stream: str | None = None) -> Item:
    """Return an item; `written` is a subject, a predicate and an object: "s a 1"."""
    s, p, o = (iri(part) for part in written.split())
    return Item((s, p, o), start, start if end is None else end, stream)


def asked(where: Algebra, *streams: Stream, solutions: Solutions = "bag", policy: PolicyName = "unrestricted") -> Query:
    names = tuple(variable.name for variable in visible(where))
    return Query("SELECT", where, names, streams=streams, solutions=solutions, policy=algebra.Policy(policy))


def seen(token: Token) -> tuple[str, int, int, str]:
    """Return the objects that a token binds, by their names, its interval, and how it was told."""
    names = " ".join(sorted(f"{variable.name}={text[5:-1].decode()}" for variable, text in token.bindings.items()))
    return names.replace("x=s ", "").replace(" x=s", ""), token.start, token.end, token.how.name.lower()


def found(where: Algebra, *items: Item, streams: tuple[Stream, ...] = (), **more: Any) -> list[tuple]:
    return [seen(token) for token in detected(asked(where, *streams), items, **more)]


def binds(where: Algebra, *items: Item, streams: tuple[Stream, ...] = (), **more: Any) -> list[str]:
    """Return what the tokens found bind."""
    return [each[0] for each in found(where, *items, streams=streams, **more)]


def seq(left: Algebra, right: Algebra) -> algebra.Relate:
    return algebra.Relate(left, relations.SEQ, right)


def lasts(operator: str, microseconds: int) -> Expression:
    return Operation(operator, (Call("GETDURATION", ()), Constant(duration_text(microseconds))))
