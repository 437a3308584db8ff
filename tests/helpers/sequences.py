"""Small sequences and events, written shortly: what named tests of SPAseq's meaning are made of.

An event pattern is "?h pow ?p . ?h loc ?l" with its conditions behind "|": "?s b ?q | ?q < ?p & COUNT(?q) > 1"; where
it should be on a stream, "s1:" stands before it.  A sequence is written as SPAseq has it, of names of event patterns:
"A; (B & C)+! , D?" — the operator between repetitions stands before the plus: "B:+".
An event is written as the triples that it says: `event(3, "h a 1 . h b 2")`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from naive.detectors import detected
from naive.streams import Item
from naive.tokens import Token

from retewave.compiler import algebra
from retewave.compiler.algebra import (
    Both,
    Either,
    EventPattern,
    Follows,
    Occurs,
    Operand,
    Query,
    SequenceStep,
    Term,
    TriplePattern,
    Triples,
    Variable,
    visible,
)
from retewave.compiler.expressions.tree import Call, Constant, Expression, Operation

SUFFIX = re.compile(r"([,;:]?\+!?|[?!]?)")
FOLLOWS = {each.value: each for each in Follows}
INTEGER = b'"%d"^^<http://www.w3.org/2001/XMLSchema#integer>'


def term(text: str) -> Term:
    """Return a variable, an integer, or an IRI of that local name."""
    if text.startswith("?"):
        return Variable(text[1:])
    return INTEGER % int(text) if text.lstrip("-").isdigit() else f"<urn:{text}>".encode()


def triples(text: str, **more: Any) -> Triples:
    found = [tuple(map(term, each.split())) for each in text.split(" . ") if each.strip()]
    return Triples(tuple(TriplePattern(s, p, o, **more) for s, p, o in found))


def expression(text: str) -> Expression:
    """Return a side of a comparison: "?x", "3", "COUNT(?x)"."""
    if call := re.fullmatch(r"(\w+)\((.*)\)", text):
        return Call(call[1], (expression(call[2]),))
    found = term(text)
    return Constant(found) if isinstance(found, bytes) else found


def condition(text: str) -> Expression:
    left, operator, right = text.split()
    return Operation(operator, (expression(left), expression(right)))


def pattern(name: str, text: str) -> EventPattern:
    stream = re.match(r"(\w+): ", text)
    body, _, conditions = text[stream.end() if stream else 0 :].partition(" | ")
    asked = triples(body, event=Variable(f"_:event {name}"))
    streams = (f"<urn:{stream[1]}>".encode(),) if stream else ()
    return EventPattern(name, asked, tuple(condition(each) for each in conditions.split(" & ") if each), streams)


class Reader:
    """Reads what stands in SEQ( … )."""

    def __init__(self, text: str, patterns: Mapping[str, str | EventPattern]) -> None:
        self.rest, self.patterns = text.replace(" ", ""), patterns

    def steps(self) -> Iterator[SequenceStep]:
        operator = ""
        for number in count():
            operand = self.atom()
            suffix = self.take(SUFFIX)
            between = suffix[:1] if suffix[:1] in FOLLOWS else "," if number else ";"
            occurs = Occurs(suffix.lstrip(",;:"))
            follows = FOLLOWS[operator or ";"]
            yield SequenceStep(operand, occurs, follows, FOLLOWS[between] if "+" in suffix else Follows.NEXT)
            if not self.rest:
                return
            operator = self.take(re.compile("[,;:]"))

    def atom(self) -> Operand:
        if self.take(re.compile(r"\(?")):
            found = self.either()
            self.take(re.compile(r"\)"))
            return found
        name = self.take(re.compile(r"\w+"))
        asked = self.patterns[name]
        return pattern(name, asked) if isinstance(asked, str) else replace(asked, name=name)

    def either(self) -> Operand:
        found = self.both()
        while self.take(re.compile(r"\|?")):
            found = Either(found, self.both())
        return found

    def both(self) -> Operand:
        found = self.atom()
        while self.take(re.compile("&?")):
            found = Both(found, self.atom())
        return found

    def take(self, what: re.Pattern[str]) -> str:
        found = what.match(self.rest)
        assert found, f"{what.pattern} is not at {self.rest!r}"
        self.rest = self.rest[found.end() :]
        return found[0]


def sequence(text: str, patterns: Mapping[str, str | EventPattern], **more: Any) -> algebra.Sequence:
    partition = tuple(Variable(name) for name in more.pop("partition", ""))
    return algebra.Sequence(
        tuple(Reader(text, patterns).steps()), tuple(more.pop("streams", ())), partition=partition, **more
    )


def query(where: algebra.Algebra) -> Query:
    names = tuple(each.name for each in visible(where) if not each.hidden)
    return Query("SELECT", where, names, language="spaseq")


_numbers = count(1)


def event(time: int, *texts: str, stream: str | None = None, start: int | None = None) -> list[Item]:
    """Return an event that says what is written, and something for what is written as a predicate alone."""
    number, iri = next(_numbers), None if stream is None else f"urn:{stream}"
    said = (pattern.terms for pattern in triples(" . ".join(texts)).patterns)
    return [Item(each, time if start is None else start, time, iri, number) for each in said]  # type: ignore[arg-type]


def short(text: bytes) -> str:
    return text.decode().removeprefix("<urn:").strip('<>"').partition('"')[0]


def seen(token: Token) -> str:
    """Return what a token binds, and its interval: "h=H1 p=3 @ 10-20"."""
    named = {variable.name: short(text) for variable, text in token.bindings.items() if not variable.hidden}
    return " ".join([*(f"{name}={text}" for name, text in sorted(named.items())), f"@ {token.start}-{token.end}"])


def found(where: algebra.Algebra, *events: list[Item], **more: Any) -> list[str]:
    """Return what is told of some events, in order."""
    return [seen(each) for each in detected(query(where), [item for each in events for item in each], **more)]


def taken(token: Token) -> str:
    """Return the times of the events of a token's run, in order."""
    return " ".join(str(time) for time in dict.fromkeys(fact.end for fact in token.facts))


def runs(where: algebra.Algebra, *events: list[Item], **more: Any) -> list[str]:
    """Return the times of the events of each run that is told."""
    return [taken(each) for each in detected(query(where), [item for each in events for item in each], **more)]


def letters(text: str, start: int = 1) -> list[list[Item]]:
    """Return an event of one triple for each letter, an instant each; "." is an instant without one."""
    return [event(time, f"s {each} {time}") for time, each in enumerate(text, start) if each != "."]


LETTERS: Mapping[str, str | EventPattern] = {each.upper(): f"?s {each} ?{each}" for each in "abcdnxyz"}


def of_letters(text: str, stream: str, **more: Any) -> list[str]:
    """Return the runs that a sequence has in events of one letter each: "A; B" in "axb" is "1 3"."""
    return runs(sequence(text, LETTERS, **more), *letters(stream))
