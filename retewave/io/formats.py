"""The formats of RDF, told by a file's name; all but two are read through pyoxigraph, as lines of N-Quads.

Data's way: bytes of Turtle, TriG, RDF/XML or JSON-LD -> **bytes of N-Quads** -> scanner -> rows.
Invariant: strict; an error ends the document, after all that stands before it.  Nothing is ever fetched.
Left out: RDF 1.2's terms, which the scanner then reports.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from retewave.errors import MalformedInput, Place, UsageError
from retewave.io.sources import Bytes, as_file

if TYPE_CHECKING:
    import pyoxigraph

__all__ = ["FORMATS", "LINES", "QUADS", "AsQuads", "format_of"]

# A format's name -> the suffixes that tell it.
FORMATS = {
    "nt": (".nt",),
    "nq": (".nq",),
    "ttl": (".ttl",),
    "trig": (".trig",),
    "rdf": (".rdf", ".xml"),
    "jsonld": (".jsonld",),
}
LINES = ("nt", "nq")  # what the scanner reads itself
QUADS = ("nq", "trig", "jsonld")  # formats with named graphs

_BATCH = 1024  # quads that become one piece of N-Quads


def format_of(name: str, wanted: str | None = None) -> str:
    """Return the format of a source: the one asked for, or the one its name tells; nameless bytes are N-Quads.

    >>> format_of("offers.nt.gz"), format_of("<stdin>"), format_of("data.txt", "ttl")
    ('nt', 'nq', 'ttl')
    """
    if wanted is not None:
        if wanted not in FORMATS:
            raise UsageError(f"unknown format {wanted!r}", hint=f"known are {', '.join(FORMATS)}")
        return wanted
    plain = name.lower().removesuffix(".gz")
    for format, suffixes in FORMATS.items():
        if plain.endswith(suffixes):
            return format
    if name.startswith("<"):
        return "nq"
    raise UsageError(
        f"cannot tell the format of {name}",
        hint=f"say format= (--stream-format), one of {', '.join(FORMATS)}, or use a suffix such as .nt or .ttl.gz",
    )


class AsQuads:
    """An opened source in another format, as bytes of N-Quads."""

    def __init__(self, opened: Bytes, format: str, name: str) -> None:
        self._opened = opened
        self._format = format
        self._name = name
        self._pieces: Iterator[bytes] | None = None
        self._rest = memoryview(b"")

    def fill(self, room: memoryview) -> int:
        """Write some of the next N-Quads into the room, return how many bytes; 0 is the end."""
        if self._pieces is None:
            self._pieces = self._parsed()
        if not self._rest:
            self._rest = memoryview(next(self._pieces, b""))
        size = min(len(room), len(self._rest))
        room[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def ready(self) -> bool:
        """Tell whether the next `fill` will not have to wait."""
        return len(self._rest) > 0 or self._opened.ready()

    def close(self) -> None:
        """Close the source behind it."""
        self._opened.close()

    def _parsed(self) -> Iterator[bytes]:
        from pyoxigraph import RdfFormat, parse

        formats = {
            "ttl": RdfFormat.TURTLE,
            "trig": RdfFormat.TRIG,
            "rdf": RdfFormat.RDF_XML,
            "jsonld": RdfFormat.JSON_LD,
        }
        failed: list[MalformedInput] = []
        quads = _until_error(parse(as_file(self._opened), format=formats[self._format]), self._name, failed)
        while batch := list(islice(quads, _BATCH)):
            yield "".join(f"{quad} .\n" for quad in batch).encode()
        if failed:
            raise failed[0]


def _until_error(
    quads: Iterator[pyoxigraph.Quad], name: str, failed: list[MalformedInput]
) -> Iterator[pyoxigraph.Quad]:
    """Hand on what can be parsed; note the error that ends it."""
    try:
        yield from quads
    except SyntaxError as error:
        place = Place(name, error.lineno or 1, error.offset or 1)
        failed.append(MalformedInput(f"{error.msg}; the rest of the document is not read", place=place))
        failed[0].__cause__ = error
