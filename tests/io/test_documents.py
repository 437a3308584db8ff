"""Documents at their beginning and at their worst: marks, other encodings, a few bytes that stand for many."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from retewave.engine.engine import Engine
from retewave.engine.registry import read_query
from retewave.epsilon import guard
from retewave.epsilon import sources as schemas
from retewave.epsilon.schema import Schema
from retewave.errors import MalformedInput, QueryError, SchemaError, UsageError
from retewave.io import read, read_static
from retewave.io.rdf import to_text
from retewave.io.reading.formats import open_document
from retewave.rete.terms.dictionary import Terms

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XML = f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:e="http://e/"><rdf:Description rdf:about="http://e/a">%s</rdf:Description></rdf:RDF>'


def doctype(*entities: str) -> str:
    """Declarations of the entities a0, a1 …."""
    declared = "".join(f'<!ENTITY a{number} "{value}">\n' for number, value in enumerate(entities))
    return f'<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF [\n{declared}]>\n'


BOMB = (doctype("a" * 10, *(f"&a{n};" * 10 for n in range(9))) + XML % "<e:p>&a9;</e:p>").encode()  # 10 GB
LATE = (XML % (doctype("a" * 10, *(f"&a{n};" * 10 for n in range(9)))[22:] + "<e:p>&a9;</e:p>")).encode()
HIDDEN = BOMB.replace(b"[\n<!ENTITY a0", b"[<!-- -->\n<!ENTITY % a0")
DEEP = (XML % ("<e:p><rdf:Description>" * 100_000)).encode()
WAYS: dict[str, Callable[[Path], object]] = {
    "stream": lambda path: list(read(path, rate=1, on_error="raise").chunks(Terms(seed=1))),
    "static": lambda path: read_static(path, Terms(seed=1)),
    "schema": lambda path: Schema.load(path),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("document", [BOMB, LATE, HIDDEN, DEEP], ids=["bomb", "late", "hidden", "deep"])
def test_a_small_document_that_stands_for_a_huge_one_is_refused_with_its_line(
    document: bytes, way: str, tmp_path: Path
) -> None:
    assert document.startswith(b"<")
    path = tmp_path / "bomb.rdf"
    path.write_bytes(document)
    with pytest.raises((MalformedInput, SchemaError), match=r"entity of the DOCTYPE|elements of RDF/XML") as error:
        WAYS[way](path)
    assert error.value.place is not None and error.value.place.source == str(path)
    if document is BOMB:
        assert error.value.place.line == 6  # 10, 100 and 1,000 bytes are no harm


@pytest.mark.parametrize("size", [1, 7, 1 << 16])
def test_an_entity_is_bounded_however_its_bytes_come(size: int) -> None:
    looking = guard.guard_of("rdf")
    with pytest.raises(guard.TooMuch, match="may stand for 14,440 bytes"):
        for at in range(0, len(BOMB), size):
            looking.take(BOMB[at : at + size])


def test_entities_that_abbreviate_namespaces_are_read_as_before() -> None:
    document = doctype("http://e/", "&a0;ns#") + XML % '<e:p rdf:resource="&a1;x"/>'
    terms = Terms(seed=1)
    rows = read_static(document.encode(), terms, format="rdf")
    assert terms.text(int(rows[0][2])) == b"<http://e/ns#x>"
    assert list(Schema.load(document.encode()).axioms) == []


def test_a_text_that_many_entities_make_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "LONGEST_TEXT", 10_000)
    looking = guard.guard_of("rdf")
    looking.take((doctype("x" * 100) + "<a>" + "&a0;" * 50 + "</a><a>" + "&a0;" * 50).encode())
    with pytest.raises(guard.TooMuch, match="longer than 10,000 bytes"):
        looking.take(b"&a0;" * 60)


def test_elements_in_comments_and_plain_text_do_not_count_as_nested() -> None:
    looking = guard.guard_of("rdf")
    piece = b'<a b="c"/><d><![CDATA[<li><li><!ENT]]></d><!-- <a><a> -->\n'
    document = piece * 20_000
    for at in range(0, len(document), 997):  # every token is cut apart somewhere
        looking.take(document[at : at + 997])
    assert looking._depth < 500  # type: ignore[attr-defined]


def test_nested_triple_terms_do_not_use_up_the_stack() -> None:
    depth = 100_000
    document = b"@prefix : <http://e/> . :a :p " + b"<<( :a :p " * depth + b":b" + b" )>>" * depth + b" ."
    with pytest.raises(MalformedInput, match="triple terms are nested"):
        read_static(document, Terms(seed=1), format="ttl")
    with pytest.raises(SchemaError, match="triple terms are nested"):
        Schema.load(document)
    with pytest.raises(UsageError, match=r"not a term of RDF 1\.1"):
        to_text("<<( <a:a> <a:p> " * depth + "<a:b>" + " )>>" * depth)


def test_a_term_that_the_parser_has_no_room_for_ends_the_document_and_not_the_run() -> None:
    document = b'<a:s> <a:p> 1 .\n<a:s> <a:p> "' + b"x" * (1 << 24) + b'" .'
    reader = read(document, name="x.ttl", rate=1)
    assert sum(len(chunk.rows) for chunk in reader.chunks(Terms(seed=1))) == 1
    assert "no room" in reader.counters.first_malformed[0].what
    with pytest.raises(SchemaError, match="no room"):
        Schema.load(document)


def test_a_schema_that_unpacks_to_very_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schemas, "MOST_UNPACKED", 1_000)
    path = tmp_path / "bomb.ttl.gz"
    path.write_bytes(gzip.compress(b" " * 1_001))
    with pytest.raises(SchemaError, match="unpacks to more than 1,000 bytes"):
        Schema.load(path)


def test_a_damaged_gz_of_turtle_hands_on_what_could_be_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "x.ttl.gz"
    whole = gzip.compress(b"".join(b"<a:s> <a:p> <a:%d> .\n" % n for n in range(3_000)))
    path.write_bytes(whole[: len(whole) * 9 // 10])
    reader = read(path, rate=1)
    rows = sum(len(chunk.rows) for chunk in reader.chunks(Terms(seed=1)))
    assert rows % 1024 and reader.counters.malformed == 1
    assert "damaged" in reader.counters.first_malformed[0].what


# Encodings

TRIPLE = b"<http://e/a> <http://e/p> <http://e/b> ."
DOCUMENTS = {
    "nt": TRIPLE,
    "nq": TRIPLE,
    "ttl": TRIPLE,
    "trig": TRIPLE,
    "rdf": (XML % '<e:p rdf:resource="http://e/b"/>').encode(),
    "jsonld": b'{"@id": "http://e/a", "http://e/p": {"@id": "http://e/b"}}',
}
MARK = "\ufeff".encode()


@pytest.mark.parametrize("format", DOCUMENTS)
def test_a_byte_order_mark_is_skipped_in_every_format(format: str) -> None:
    document = MARK + DOCUMENTS[format]
    pieces = [document[at : at + 1] for at in range(len(document))]
    assert len(read_static(document, Terms(seed=1), format=format)) == 1
    assert len(read_static(pieces, Terms(seed=1), format=format)) == 1
    axiom = document.replace(b"http://e/p", b"http://www.w3.org/2000/01/rdf-schema#subClassOf")
    assert len(Schema.load(axiom if format != "rdf" else document).axioms) == (format != "rdf")


def test_a_byte_order_mark_is_nowhere_but_at_the_beginning() -> None:
    reader = read(TRIPLE + b"\n" + MARK + TRIPLE, rate=1)
    assert sum(len(chunk.rows) for chunk in reader.chunks(Terms(seed=1))) == 1
    assert len(read_static(MARK[:2], Terms(seed=1), on_error="count")) == 0


@pytest.mark.parametrize("format", DOCUMENTS)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1"])
def test_another_encoding_is_called_by_its_name(format: str, encoding: str) -> None:
    text = DOCUMENTS[format].replace(b"http://e/b", "http://e/é".encode()).decode()
    name = encoding.replace("latin-1", "LATIN1").upper().removesuffix("-LE").removesuffix("-BE")
    with pytest.raises(MalformedInput, match=f"(?i){name}"):
        read_static(text.encode(encoding), Terms(seed=1), format=format)
    if format != "rdf" or encoding != "latin-1":  # the parser tells of it in words of its own
        with pytest.raises(SchemaError, match=f"(?i){name}"):
            Schema.load(text.encode(encoding))


def test_an_empty_document_has_no_encoding() -> None:
    assert open_document(b"", "nt", "x.nt").fill(memoryview(bytearray(8))) == 0


def test_a_query_may_begin_with_a_mark_and_must_be_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "q.rq"
    query = "SELECT * {\n ?x <http://e/é> ?y }"
    path.write_bytes(MARK + query.encode())
    assert read_query(path).projection == read_query("\ufeff" + query).projection == ("x", "y")
    path.write_bytes(query.encode("latin-1"))
    with pytest.raises(QueryError, match="LATIN1") as error:
        Engine().register(path)
    assert (error.value.place.line, error.value.place.column) == (2, 15)  # type: ignore[union-attr]
    path.write_bytes(query.encode("utf-16"))
    with pytest.raises(QueryError, match="UTF-16"):
        Engine().register(path)


def test_a_text_that_is_too_long_for_a_path_is_no_file() -> None:
    with pytest.raises(UsageError, match="there is no file"):
        read_query("x" * 5_000)
