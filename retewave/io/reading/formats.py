"""The formats of RDF, known by a file's name; all but two are read through pyoxigraph, as lines of N-Quads.

Data's way: bytes of Turtle, TriG, RDF/XML or JSON-LD -> **bytes of N-Quads** -> scanner -> rows.
Invariant: strict; an error ends the document, after all that stands before it.  Nothing is ever fetched.
Left out: RDF 1.2's terms, which the scanner then reports.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from retewave.epsilon.encodings import MARK, NOT_UTF8, foreign
from retewave.epsilon.guard import TooMuch, guard_of
from retewave.errors import MalformedInput, Place, UsageError
from retewave.io.reading.sources import Bytes, Source, as_file, is_gzip, open_bytes

if TYPE_CHECKING:
    import pyoxigraph

__all__ = ["FORMATS", "LINES", "QUADS", "format_of", "open_document"]

# A format's name -> the suffixes that tell it.
FORMATS = {
    "nt": (".nt",),
    "nq": (".nq",),
    "ttl": (".ttl",),
    "trig": (".trig",),
    "rdf": (".rdf", ".xml"),
    "jsonld": (".jsonld",),
}
LINES = ("nt", "nq")  # the formats that the scanner reads itself
QUADS = ("nq", "trig", "jsonld")  # formats with named graphs

_BATCH = 1024  # quads that become one piece of N-Quads


def format_of(name: str, wanted: str | None = None) -> str:
    """Return the format of a source: as asked for, or as its name tells; bytes without a name are N-Quads.

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


def open_document(source: Source, format: str, name: str, *, behind: int = 0) -> Bytes:
    """Open a source as lines of N-Triples or N-Quads; files named *.gz are unpacked.

    Where it is lines, it can be opened behind its first bytes.
    """
    opened = open_bytes(source, compressed=is_gzip(name), behind=behind)
    if not behind:
        opened = _Begun(opened, name)
    return opened if format in LINES else AsQuads(opened, format, name)


class _Begun:
    """An opened source whose beginning is looked at: a byte order mark becomes blanks, so that places stay."""

    def __init__(self, opened: Bytes, name: str) -> None:
        self._opened, self._name = opened, name
        self._begun = False

    def fill(self, room: memoryview) -> int:
        size = self._opened.fill(room)
        return size if self._begun else self._looked_at(room, size)

    def _looked_at(self, room: memoryview, size: int) -> int:
        while 0 < size < len(MARK) and MARK.startswith(bytes(room[:size])):
            more = self._opened.fill(room[size:])
            size += more
            if not more:
                break
        self._begun = True
        beginning = bytes(room[: min(size, 4)])
        if other := foreign(beginning):
            raise MalformedInput(other, place=Place(self._name, 1, 1))
        if beginning.startswith(MARK):
            room[: len(MARK)] = b" " * len(MARK)
        return size

    def ready(self) -> bool:
        return self._opened.ready()

    def close(self) -> None:
        self._opened.close()


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
        failed: list[Exception] = []
        looked_at = as_file(_Guarded(self._opened, self._format))
        quads = _until_error(parse(looked_at, format=formats[self._format]), self._name, failed)
        while batch := list(islice(quads, _BATCH)):
            yield "".join(f"{quad} .\n" for quad in batch).encode()
        if failed:
            raise failed[0]


class _Guarded:
    """An opened source whose bytes are looked at before they are parsed."""

    def __init__(self, opened: Bytes, format: str) -> None:
        self._opened, self._guard = opened, guard_of(format)

    def fill(self, room: memoryview) -> int:
        size = self._opened.fill(room)
        self._guard.take(bytes(room[:size]))
        return size

    def ready(self) -> bool:
        return self._opened.ready()

    def close(self) -> None:
        self._opened.close()


def _until_error(quads: Iterator[pyoxigraph.Quad], name: str, failed: list[Exception]) -> Iterator[pyoxigraph.Quad]:
    """Hand on the statements that can be parsed; note the error that ends them, of the document or of the source."""
    try:
        yield from quads
    except (SyntaxError, TooMuch, MemoryError) as error:
        line, what = _told(error)
        place = Place(name, line, (isinstance(error, SyntaxError) and error.offset) or 1)
        failed.append(MalformedInput(f"{what}; the rest of the document is not read", place=place))
        failed[0].__cause__ = error
    except Exception as error:
        failed.append(error)


def _told(error: SyntaxError | TooMuch | MemoryError) -> tuple[int, str]:
    """Return the line of an error, or 1, and its message."""
    if isinstance(error, SyntaxError):
        said = str(error.msg)
        return error.lineno or 1, f"{said}; {NOT_UTF8}" if "UTF-8" in said else said
    if isinstance(error, TooMuch):
        return error.line, str(error)
    return 1, f"the parser has no room for it ({error})"  # Turtle and JSON-LD: a term of more than 16 MB
