"""A query for pairs of triples of a subject, and the triples for it."""

from __future__ import annotations

E = "http://e/"
PAIR = "SELECT ?x ?y ?z {range} WHERE {{ ?x <http://e/p> ?y . ?x <http://e/q> ?z }}"


def pair(width: str = "5s") -> str:
    return PAIR.format(range=f"FROM STREAM <http://e/s> [RANGE {width}]")


def triple(s: str, p: str, o: object) -> tuple[str, str, object]:
    return E + s, E + p, E + o if isinstance(o, str) else o
