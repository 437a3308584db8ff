"""Queries, triples and sources of the tests of what was once found wrong."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import retewave as rw

ONE = "SELECT ?x { ?x <http://e/p> ?y }"
TWO = "SELECT ?x ?y ?z { ?x <http://e/p> ?y . ?x <http://e/q> ?z }"
SUB_PROPERTY = b"<http://e/%s> <http://www.w3.org/2000/01/rdf-schema#subPropertyOf> <http://e/p> ."


def triple(s: str, p: str, o: str) -> tuple[str, str, str]:
    return f"http://e/{s}", f"http://e/{p}", f"http://e/{o}"


def ten_subjects() -> rw.Reader:
    """Return a reader of <s0> <p> <o> to <s9> <p> <o>, a second apart from 0 on."""
    lines = "\n".join(f"<http://e/s{i}> <http://e/p> <http://e/o> ." for i in range(10))
    return rw.read(lines.encode(), format="nt", rate=1)


class Silent:
    """A source that brings nothing until it is told to."""

    def __init__(self) -> None:
        self.asked, self.released = threading.Event(), threading.Event()

    def __iter__(self) -> Iterator[bytes]:
        yield b"<http://e/s> <http://e/p> <http://e/o> .\n"
        self.asked.set()
        self.released.wait(30)
        yield b"<http://e/late> <http://e/p> <http://e/o> .\n"


class Counted:
    """A source of so many triples, each in a piece, and so a chunk, of its own."""

    def __init__(self, count: int, of: str = "s") -> None:
        self.count, self.of, self.taken = count, of.encode(), 0

    def __iter__(self) -> Iterator[bytes]:
        while self.taken < self.count:
            self.taken += 1
            yield b"<http://e/%s%d> <http://e/p> <http://e/o> .\n" % (self.of, self.taken)
