"""Bound the memory that a document may take: a few hundred bytes of RDF/XML can stand for a terabyte.

Data's way: bytes of a document -> **guard** -> parser.
A document of any size is read.  Bounded are:
* the text that an entity stands for,
* the text between two tags,
* how deep elements and triple terms nest.
The parser has no such bounds: it would take all memory, or its stack.

Invariant: of entities and texts a guard may count too much, never too little.  The entities that RDF/XML is written
with, which abbreviate namespaces, are far below the bounds.  Depth is counted as well as can be without parsing.
Left out: gzip; the caller that unpacks bounds it or streams.
"""

from __future__ import annotations

import re
from typing import Protocol

__all__ = ["Guard", "TooMuch", "check", "guard_of"]

LONGEST_ENTITY = 1 << 12  # bytes that an entity may stand for
LONGEST_TEXT = 1 << 26  # bytes between two tags, entities counted with their texts: as many as the longest line has
DEEPEST = 1 << 13  # elements or triple terms, each in the one before
_PIECE = 1 << 16  # bytes that are looked at together
_ENTITY = b"<!ENTITY"
_VALUE = re.compile(rb'[^"]*"([^"]*)"')
_UNREAD = re.compile(rb"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)", re.DOTALL)  # comments and plain text
_ENDS = {b"<!-": b"-->", b"<![": b"]]>"}


class TooMuch(Exception):
    """A document is refused for the memory that it would take."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.line = line  # 1 for the first


class Guard(Protocol):
    """Looks at a document before its parser does."""

    def take(self, data: bytes) -> None:
        """Look at the next bytes."""


class _Xml:
    """For RDF/XML."""

    def __init__(self) -> None:
        self._line = 1
        self._longest = 0  # bytes of the longest text that an entity read until now stands for
        self._text = 0  # bytes since the last tag began, with those that their entities stand for at most
        self._depth = 0  # elements that have begun, and not ended
        self._open = b""  # the beginning of an entity's declaration that is not all there yet
        self._inside = b""  # the bytes that end the comment or plain text that goes on
        self._last = b""  # the last byte of tags

    def take(self, data: bytes) -> None:
        self._declarations(self._open + data)
        last = data.rfind(b"<")
        text = data[max(last, 0) :]
        self._text = len(text) + self._longest * text.count(b"&") + (self._text if last < 0 else 0)
        if self._text > LONGEST_TEXT:
            raise TooMuch(f"a text of RDF/XML is longer than {LONGEST_TEXT:,} bytes", self._line)
        self._depth = max(0, self._depth + self._begun(self._tags(data)))
        if self._depth > DEEPEST:
            raise TooMuch(f"more than {DEEPEST:,} elements of RDF/XML are nested", self._line)
        self._line += data.count(b"\n")

    def _tags(self, data: bytes) -> bytes:
        """Return the parts that are neither comments nor plain text."""
        if self._inside:
            _, ended, data = data.partition(self._inside)
            if not ended:
                return b""
            self._inside = b""
        if b"<!" not in data:
            return data
        for found in _UNREAD.finditer(data):
            end = _ENDS[found[0][:3]]
            self._inside = b"" if found[0].endswith(end) else end
        return _UNREAD.sub(b"", data)

    def _begun(self, tags: bytes) -> int:
        """Return how many more elements begin than end; marks of two characters may have been cut apart."""
        pairs, self._last = self._last + tags, tags[-1:] or self._last
        return tags.count(b"<") - sum(pairs.count(each) for each in (b"<?", b"<!", b"</", b"</", b"/>"))

    def _declarations(self, data: bytes) -> None:
        """Bound each entity that is declared: wherever it stands, for the parser takes it there.

        An entity that it refers to counts as long as the longest one read until now.
        """
        at = data.find(_ENTITY)
        while at >= 0:
            end = at + len(_ENTITY)
            value = _VALUE.match(data, end)
            if value is None and len(data) - at <= 2 * LONGEST_ENTITY:
                break
            size = len(data) if value is None else len(value[1]) + self._longest * value[1].count(b"&")
            if size > LONGEST_ENTITY:
                raise TooMuch(
                    f"an entity of the DOCTYPE may stand for {size:,} bytes, and {LONGEST_ENTITY:,} is the most",
                    self._line + data.count(b"\n", len(self._open), at),
                )
            self._longest = max(self._longest, size)
            at = data.find(_ENTITY, end)
        self._open = data[at:] if at >= 0 else data[max(0, len(data) - len(_ENTITY) + 1) :]


class _Turtle:
    """For Turtle and TriG, whose triple terms the parser goes through by recursion."""

    def __init__(self) -> None:
        self._line = 1
        self._depth = 0

    def take(self, data: bytes) -> None:
        self._depth = max(0, self._depth + data.count(b"<<(") - data.count(b")>>"))
        if self._depth > DEEPEST:
            raise TooMuch(f"more than {DEEPEST:,} triple terms are nested", self._line)
        self._line += data.count(b"\n")


class _Nothing:
    """For formats whose parser has bounds of its own."""

    def take(self, data: bytes) -> None:
        pass


def guard_of(format: str) -> Guard:
    """Return the guard for documents of a format.

    >>> guard_of("rdf").take(b'<!DOCTYPE rdf:RDF [<!ENTITY e "http://example.org/">]>')
    """
    if format in ("rdf", "xml", "owl"):
        return _Xml()
    return _Turtle() if format in ("ttl", "trig") else _Nothing()


def check(format: str, document: bytes) -> None:
    """Look at a whole document."""
    guard = guard_of(format)
    for at in range(0, len(document), _PIECE):
        guard.take(document[at : at + _PIECE])
