"""Read schema sources: files in any RDF format, bytes, rdflib graphs, triples.

Data's way: **sources** -> triples of texts -> axioms.  Nothing here opens a network connection.  Each source
keeps its blank nodes to itself: they are renamed by source and order of appearance, so the same files give
the same names in every run, and no name of a stream's.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias, cast

import pyoxigraph

from retewave.epsilon.encodings import NOT_UTF8, foreign, without_mark
from retewave.epsilon.guard import TooMuch, check
from retewave.epsilon.texts import text_of
from retewave.epsilon.vocabulary import Triple, is_blank
from retewave.errors import Place, SchemaError

if TYPE_CHECKING:
    from rdflib import Graph

__all__ = ["FORMATS", "Source", "read_source"]

Source: TypeAlias = "str | Path | bytes | Graph | Iterable[tuple[Any, ...]]"

FORMATS = {
    "nt": pyoxigraph.RdfFormat.N_TRIPLES,
    "nq": pyoxigraph.RdfFormat.N_QUADS,
    "ttl": pyoxigraph.RdfFormat.TURTLE,
    "trig": pyoxigraph.RdfFormat.TRIG,
    "rdf": pyoxigraph.RdfFormat.RDF_XML,
    "xml": pyoxigraph.RdfFormat.RDF_XML,
    "owl": pyoxigraph.RdfFormat.RDF_XML,
    "jsonld": pyoxigraph.RdfFormat.JSON_LD,
}

MOST_UNPACKED = 1 << 28  # bytes of a schema that may come out of a .gz
_XML = re.compile(rb"\s*(<\?xml|<!DOCTYPE|<!--|<[\w-]+:RDF\b)")
_JSON = re.compile(rb'\s*(\[\s*)?\{\s*["}]')


def read_source(source: Source, number: int, format: str | None = None) -> tuple[list[Triple], str]:
    """Return a source's triples and its name for messages; a malformed one is a SchemaError with its place.

    >>> triples, name = read_source(b"<http://e/a> <http://e/p> _:x .", 0)
    >>> triples[0][2], name
    (b'_:schema0b0', '<bytes 0>')
    """
    if isinstance(source, str | Path):
        name, triples = str(source), _read_file(Path(source), format)
    elif isinstance(source, bytes):
        name = f"<bytes {number}>"
        content = without_mark(source)
        triples = _parse(content, _format(format) or _guess(content), name, base=None)
    elif not isinstance(source, Iterable):
        raise SchemaError(f"cannot read a schema from {source!r}", hint="give paths, bytes, a Graph or triples")
    else:
        name = f"<graph {number}>"
        triples = _texts(source)
    return list(_with_own_blanks(triples, number)), name


def _read_file(path: Path, format: str | None) -> Iterator[Triple]:
    try:
        content = path.read_bytes() if path.suffix != ".gz" else _unpacked(path)
    except (OSError, EOFError, zlib.error) as e:
        why = e.strerror if isinstance(e, OSError) and e.strerror else e
        raise SchemaError(f"the schema file {path} cannot be read: {why}") from e
    content = without_mark(content)
    suffixes = [suffix[1:].lower() for suffix in path.suffixes if suffix != ".gz"]
    chosen = _format(format) or (FORMATS.get(suffixes[-1]) if suffixes else None) or _guess(content)
    if chosen is pyoxigraph.RdfFormat.RDF_XML and not content.lstrip().startswith((b"<?", b"<!", b"<")):
        chosen = _guess(content)
    return _parse(content, chosen, str(path), base=path.resolve().as_uri())


def _unpacked(path: Path) -> bytes:
    with gzip.open(path) as file:
        content = file.read(MOST_UNPACKED + 1)
    if len(content) > MOST_UNPACKED:
        raise SchemaError(
            f"the schema file {path} unpacks to more than {MOST_UNPACKED:,} bytes", hint="unpack it first"
        )
    return content


def _format(name: str | None) -> pyoxigraph.RdfFormat | None:
    if name is None:
        return None
    if name not in FORMATS:
        raise SchemaError(f"unknown RDF format {name!r}", hint=f"known formats: {', '.join(FORMATS)}")
    return FORMATS[name]


def _guess(content: bytes) -> pyoxigraph.RdfFormat:
    """Tell the format by its first characters; TriG also reads Turtle and N-Triples."""
    if _XML.match(content):
        return pyoxigraph.RdfFormat.RDF_XML
    return pyoxigraph.RdfFormat.JSON_LD if _JSON.match(content) else pyoxigraph.RdfFormat.TRIG


def _parse(content: bytes, format: pyoxigraph.RdfFormat, name: str, base: str | None) -> Iterator[Triple]:
    if other := foreign(content):
        raise SchemaError(other, place=Place(name, 1, 1))
    try:
        check(format.file_extension, content)
        for quad in pyoxigraph.parse(content, format, base_iri=base):
            if isinstance(quad.object, pyoxigraph.Triple):
                raise SchemaError(f"{name} holds a triple term, which no axiom is made of: {quad.object}")
            yield text_of(quad.subject), text_of(quad.predicate), text_of(quad.object)
    except TooMuch as e:
        raise SchemaError(str(e), place=Place(name, e.line, 1)) from e
    except MemoryError as e:  # of the parser's own buffer
        raise SchemaError(f"malformed {format.name}: the parser has no room for a term of it ({e})") from e
    except SyntaxError as e:
        what = re.sub(r"^Parser error at line .*?: ", "", str(e.msg))
        if "UTF-8" in what:
            what += f"; {NOT_UTF8}"
        raise SchemaError(f"malformed {format.name}: {what}", place=_place(e, content, format, name, base)) from e


def _place(error: SyntaxError, content: bytes, format: pyoxigraph.RdfFormat, name: str, base: str | None) -> Place:
    line = error.lineno or _line_of_failure(content, format, base)
    lines = content.decode("utf-8", "replace").splitlines()
    excerpt = lines[line - 1] if 0 < line <= len(lines) else ""
    return Place(name, max(1, line), min(error.offset or 1, len(excerpt) + 1), excerpt)


def _line_of_failure(content: bytes, format: pyoxigraph.RdfFormat, base: str | None) -> int:
    """Find the line at which a parser that does not tell it gives up: hand it line by line; 0 if it does not."""
    handed = _LineByLine(content)
    try:
        for _ in pyoxigraph.parse(cast(IO[bytes], handed), format, base_iri=base):
            pass
    except SyntaxError:  # the error at hand, which comes again: only its line was not known
        return max(1, handed.line)
    return 0


class _LineByLine(io.RawIOBase):
    """A stream that gives no more than a line at a time, so that its position tells the line."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._rest = io.BytesIO(content)

    @property
    def line(self) -> int:
        """Return the number of the line that was given last."""
        return len(self._content[: self._rest.tell()].splitlines())

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return at most one line."""
        return self._rest.readline(size)


def _texts(triples: Iterable[tuple[Any, ...]]) -> Iterator[Triple]:
    for triple in triples:
        if len(tuple(triple)) < 3:
            raise SchemaError(f"a triple of a schema has three terms, and not {triple!r}")
        subject, predicate, object_ = tuple(triple)[:3]
        yield text_of(subject), text_of(predicate), text_of(object_)


def _with_own_blanks(triples: Iterable[Triple], number: int) -> Iterator[Triple]:
    names: dict[bytes, bytes] = {}
    for subject, predicate, object_ in triples:
        if is_blank(subject):
            subject = names.setdefault(subject, b"_:schema%db%d" % (number, len(names)))
        if is_blank(object_):
            object_ = names.setdefault(object_, b"_:schema%db%d" % (number, len(names)))
        yield subject, predicate, object_
