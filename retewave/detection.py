"""Detections: their tokens, by which each travels as one term, and what users see of them.

Data's way: rows of a proof, tokens of parts -> **token** -> a triple that comes in again -> guards, NOT, **matches**.
Invariant: the same detection has the same token, in every process: its text is canonical, and its name is a digest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from retewave.compiler.terms import literal
from retewave.epsilon.vocabulary import TYPE

if TYPE_CHECKING:
    import rdflib

    from retewave.windows.times import Clock, Instant

__all__ = ["Detection", "DetectionPart", "Source", "Token", "TripleText", "graph_of", "named", "read_token", "written"]

TripleText: TypeAlias = tuple[str, str, str]  # three canonical texts
Source: TypeAlias = tuple[str, int, int] | None  # stream ("": it has no name), start, end; None: static data


_ENCODED = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True)
class Token:
    """A detection: of an event, or of what stands in a MATCH."""

    name: str  # an IRI of its own
    event: str  # the event's IRI; of a NOT: nothing
    individual: str  # canonical text; of a NOT: nothing
    start: int  # microseconds
    end: int  # microseconds
    justification: Mapping[TripleText, Source]  # the given triples, and where each came from
    parts: Mapping[str, tuple[str, str, str, int, int]]  # alias -> name, event, individual, start, end
    proof: tuple[str, ...] = ()  # the axioms that a logical event hangs on, but for ε's


def named(base: str, *parts: object) -> str:
    """Return an IRI that is made of what it names.

    >>> named("urn:x", 1, "a") == named("urn:x", 1, "a")
    True
    """
    return f"{base}/{hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()}"


def written(token: Token) -> bytes:
    """Return a token as the canonical text of a literal."""
    justification = [[*triple, source] for triple, source in _sorted(token.justification)]
    parts = {alias: list(part) for alias, part in sorted(token.parts.items())}
    said = [token.name, token.event, token.individual, token.start, token.end, justification, parts, list(token.proof)]
    return literal(_ENCODED(said))


def _sorted(found: Mapping[TripleText, Source]) -> Iterable[tuple[TripleText, Source]]:
    return sorted(found.items(), key=lambda each: each[0])


def read_token(text: bytes) -> Token:
    """Return the token that a literal holds."""
    said: list[Any] = json.loads(_unquoted(text.decode()))
    name, event, individual, start, end, justification, parts, proof = said
    given = {(s, p, o): None if source is None else tuple(source) for s, p, o, source in justification}
    return Token(name, event, individual, start, end, given, {a: tuple(p) for a, p in parts.items()}, tuple(proof))


def _unquoted(text: str) -> str:
    """Return the JSON inside a literal: there, nothing but quotes and backslashes stands behind a backslash."""
    return "\\".join(part.replace('\\"', '"') for part in text[1:-1].split("\\\\"))


def graph_of(token: Token) -> Iterable[tuple[bytes, bytes, bytes]]:
    """Return a detection as a graph: its justification, and of which event it is."""
    for s, p, o in sorted(token.justification):
        yield s.encode(), p.encode(), o.encode()
    yield token.individual.encode(), TYPE, token.event.encode()


@dataclass(frozen=True)
class DetectionPart:
    """A part of a composite event: a detection of another event."""

    name: str  # the IRI of the detection
    event: str  # the event that it is of, in N-Triples form; nothing for what NOT leaves
    individual: Any  # what it was found of, as an rdflib term
    start: Instant  # when it begins, in the form in which times went in
    end: Instant  # when it ends


class Detection:
    """One detection of an event."""

    def __init__(self, token: Token, clock: Clock) -> None:
        self._token, self._clock = token, clock
        self.name = token.name  # its own IRI
        self.event = token.event  # the event's IRI, in N-Triples form
        self.individual = token.individual  # what it was found of, likewise; of a composite event: its name
        self.justification = tuple(sorted(token.justification))  # the given triples, in N-Triples form
        self.axioms = token.proof  # of the ontology, as far as they take several triples

    @cached_property
    def parts(self) -> Mapping[str, DetectionPart]:
        """The parts of a composite event, by the names that MATCH gives them; what NOT leaves has none."""
        from retewave.io.rdf import from_text

        decode = self._clock.decode
        return {
            alias: DetectionPart(name, event, from_text(individual.encode()), decode(start), decode(end))
            for alias, (name, event, individual, start, end) in self._token.parts.items()
            if event
        }

    @property
    def graph(self) -> rdflib.Graph:
        """The justification and the type of the individual, as RETURN … AS RDF STREAM has them."""
        import rdflib

        from retewave.io.rdf import from_text

        found = rdflib.Graph()
        for s, p, o in graph_of(self._token):
            found.add((from_text(s), from_text(p), from_text(o)))
        return found

    def arrivals(self) -> Iterable[tuple[TripleText, str | None, Instant | None]]:
        """Yield the given triples, each with its stream and when it came; static data has neither."""
        for triple in self.justification:
            source = self._token.justification[triple]
            if source is None:
                yield triple, None, None
            else:
                yield triple, source[0] or None, self._clock.decode(source[2])

    def to_json(self) -> dict[str, Any]:
        """Return it as RETURN … AS EVENT STREAM has it; times are microseconds."""
        parts = {
            alias: {"event": _plain(event), "individual": _plain(individual), "start": start, "end": end}
            for alias, (_, event, individual, start, end) in self._token.parts.items()
            if event
        }
        return {
            "event": _plain(self.event),
            "individual": _plain(self.individual),
            "parts": parts,
            "axioms": [" ".join(triple) for triple in self.justification],
        }


def _plain(text: str) -> str:
    """Return an IRI without its brackets; other terms as they are."""
    return text[1:-1] if text.startswith("<") else text
