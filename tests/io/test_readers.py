"""Readers: sources, formats, times, events, static data, terms of rdflib."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import os
import threading
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rdflib
import rdflib.compare
from cases.many import many
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import BNode, Literal, URIRef

from retewave.errors import MalformedInput, UsageError
from retewave.io import GENERATED_AT, rdf, read, read_static
from retewave.io.rdf import from_text, to_text
from retewave.io.times import times
from retewave.rete.terms.dictionary import Terms
from retewave.rete.words.rows import END, EVENT, START

BSBM = Path(__file__).parents[2].parent / "shared" / "bsbm"
DOCUMENT = b"<a:s> <a:p> <a:o> .\n<a:s> <a:p> _:b .\n<a:s> <a:p> 'x' .\n".replace(b"'", b'"')
DATE = b"http://www.w3.org/2001/XMLSchema#dateTime"


def rows_of(reader: Any, terms: Terms | None = None, **options: Any) -> np.ndarray:
    terms = Terms(seed=1) if terms is None else terms
    chunks = [chunk.rows for chunk in reader.chunks(terms, scope=1, **options)]
    return np.concatenate([np.zeros((0, 7), np.int64), *chunks])


def test_every_kind_of_source_gives_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, packed = tmp_path / "d.nt", tmp_path / "d.nt.gz"
    plain.write_bytes(DOCUMENT)
    packed.write_bytes(gzip.compress(DOCUMENT))
    expected = rows_of(read(DOCUMENT, rate=1)).tolist()
    assert len(expected) == 3
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(DOCUMENT)))
    one_by_one = (DOCUMENT[i : i + 1] for i in range(len(DOCUMENT)))
    with plain.open("rb") as file:
        for source in (plain, str(plain), packed, "-", bytearray(DOCUMENT), io.BytesIO(DOCUMENT), file, one_by_one):
            assert rows_of(read(source, rate=1)).tolist() == expected


def test_a_pipe_is_handed_on_as_it_delivers() -> None:
    readable, writable = os.pipe()
    with os.fdopen(readable, "rb", buffering=0) as source, os.fdopen(writable, "wb", buffering=0) as sink:
        chunks = read(source, rate=1).chunks(Terms(seed=1))
        sink.write(b"<a:s> <a:p> <a:o> .\n<a:s> <a")
        assert next(chunks).triples == 1
        sink.write(b":p> <a:q> .\n")
        assert next(chunks).triples == 1
        sink.close()
        assert next(chunks, None) is None


def test_a_reader_is_only_a_description_until_it_is_iterated() -> None:
    reader = read("no/such/file.nt", rate=1)
    with pytest.raises(UsageError, match="there is no file"):
        next(reader.chunks(Terms(seed=1)))


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("data.csv", {}, "cannot tell the format"),
        ("data.nt", {"format": "csv"}, "unknown format"),
        ("data.nt", {"time_property": GENERATED_AT}, "belongs to a named graph"),
        ("data.nq", {"rate": 5, "arrival": True}, "only one of"),
        ("data.nq", {"on_error": "ignore"}, "on_error"),
    ],
)
def test_what_cannot_be_read_is_refused_before_anything_is_opened(
    source: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        read(source, **options)


def test_no_address_is_ever_fetched() -> None:
    with pytest.raises(UsageError, match="is not a file"):
        rows_of(read("http://example.org/data.nt"))


TURTLE = b'@prefix : <http://example.org/> . :s :p 1.5, "x"@EN, _:b ; :q ( true ) .'
XML = b"""<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://example.org/">
<r:Description r:about="http://example.org/s"><p>x</p></r:Description></r:RDF>"""
JSON = b'{"@id": "http://example.org/s", "http://example.org/p": {"@value": "x"}}'


@pytest.mark.parametrize(("format", "document", "count"), [("ttl", TURTLE, 6), ("rdf", XML, 1), ("jsonld", JSON, 1)])
def test_other_formats_give_the_triples_that_rdflib_reads(
    format: str, document: bytes, count: int, tmp_path: Path
) -> None:
    terms, path = Terms(seed=1), tmp_path / f"data.{format}.gz"
    path.write_bytes(gzip.compress(document))
    rows = read_static(path, terms)
    ours = rdflib.Graph()
    for row in rows:
        s, p, o = (from_text(text) for text in terms.texts(row[:3]))
        ours.add((s, p, o))
    theirs = rdflib.Graph().parse(data=document, format={"ttl": "turtle", "rdf": "xml"}.get(format, "json-ld"))
    lower = rdflib.Graph()
    for subject, predicate, value in theirs:
        lower.add((subject, predicate, from_text(to_text(value))))
    assert len(rows) == count and rdflib.compare.isomorphic(ours, lower)


def test_a_broken_turtle_file_hands_on_what_stands_before_the_error() -> None:
    document = b"<a:s> <a:p> 1 .\n<a:s> <a:p> 2 .\n<a:s> <a:p> .\n<a:s> <a:p> 3 ."
    reader = read(document, name="x.ttl", rate=1)
    assert len(rows_of(reader)) == 2
    (fault,) = reader.counters.first_malformed
    assert reader.counters.malformed == 1
    assert (
        fault.place and (fault.place.source, fault.place.line) == ("x.ttl", 3) and "rest of the document" in fault.what
    )
    with pytest.raises(MalformedInput, match=r"x\.ttl:3"):
        read_static(document, Terms(seed=1), name="x.ttl")


def test_a_remote_context_is_refused() -> None:
    document = b'{"@context": "http://127.0.0.1:9/context.jsonld", "@id": "a:s", "name": "x"}'
    reader = read(document, format="jsonld", rate=1)
    assert len(rows_of(reader)) == 0 and reader.counters.malformed == 1


def test_a_damaged_gz_hands_on_what_could_be_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "x.nt.gz"
    whole = gzip.compress(b"".join(b"<a:s> <a:p> <a:%d> .\n" % n for n in range(100_000)))
    path.write_bytes(whole[: len(whole) // 2])
    reader = read(path, rate=1)
    assert 1000 < len(rows_of(reader)) < 100_000
    assert reader.counters.malformed == 1 and "damaged" in reader.counters.first_malformed[0].what


def test_a_rate_counts_refused_triples_and_rounds_down() -> None:
    rows = rows_of(read(b"<a:s> <a:p> <a:o> .\n" * 7, rate=3, start=10))
    assert rows[:, START].tolist() == [10 + n * 1_000_000 // 3 for n in range(7)]
    assert (rows[:, START] == rows[:, END]).all()
    slow = rows_of(read(b"<a:s> <a:p> <a:o> .\n" * 3, rate=0.5))
    assert slow[:, START].tolist() == [0, 2_000_000, 4_000_000]
    with pytest.raises(UsageError, match="a rate is"):
        rows_of(read(b"", rate=0))


def test_arrival_is_the_clock_and_never_decreases() -> None:
    ticks = iter([5_000, 9_999, 7_000, 12_000])
    pieces = (b"<a:s> <a:p> <a:o> .\n" for _ in range(3))
    rows = rows_of(read(pieces, arrival=True), clock=lambda: next(ticks))
    assert rows[:, START].tolist() == [5, 9, 9]


def test_a_graph_is_an_event_and_keeps_its_first_arrival() -> None:
    ticks = iter(range(1_000, 100_000, 1_000))
    quads = [b"<a:s> <a:p> <a:%d> %s .\n" % (n, g) for n, g in enumerate([b"<g:1>", b"<g:1>", b"<g:2>", b"", b"<g:1>"])]
    rows = rows_of(read(iter(quads)), clock=lambda: next(ticks), last_event=40)
    assert rows[:, EVENT].tolist() == [-41, -41, -42, 0, -43]
    assert rows[:, START].tolist() == [1, 1, 3, 4, 5]


def statement(subject: str, second: int, graph: str = "") -> str:
    return f'<{subject}> <{GENERATED_AT}> "1970-01-01T00:00:{second:02}Z"^^<{DATE.decode()}> {graph} .'


def timed(lines: list[str], pieces: bool = False) -> tuple[list[tuple[str, int, int]], Any]:
    document = "\n".join(lines).encode()
    source = iter([document[i : i + 7] for i in range(0, len(document), 7)]) if pieces else document
    reader, terms = read(source, name="x.nq", time_property=GENERATED_AT), Terms(seed=1)
    rows = rows_of(reader, terms)
    found = [(terms.text(row[2]).decode(), int(row[START]) // 1_000_000, int(row[EVENT])) for row in rows]
    return [row for row in found if "XMLSchema" not in row[0]], reader.counters


@pytest.mark.parametrize("pieces", [False, True])
def test_an_events_time_may_stand_before_in_or_behind_it(pieces: bool) -> None:
    found, counters = timed(
        [
            statement("g:1", 1), '<a:s> <a:p> "one" <g:1> .', '<a:s> <a:p> "uno" <g:1> .',
            '<a:s> <a:p> "two" <g:2> .', statement("g:2", 2, "<g:2>"), '<a:s> <a:p> "due" <g:2> .',
            '<a:s> <a:p> "three" <g:3> .', '<g:3> <a:by> "note" .', statement("g:3", 3), statement("g:3", 9),
            '<a:s> <a:p> "four" <g:4> .', '<x:1> <a:p> "stray" .', statement("g:5", 5), '<a:s> <a:p> "five" <g:5> .',
        ],
        pieces,
    )  # fmt: skip
    assert found == [
        ('"one"', 1, -1), ('"uno"', 1, -1), ('"two"', 2, -2), ('"due"', 2, -2), ('"three"', 3, -3),
        ('"note"', 3, 0), ('"five"', 5, -5),
    ]  # fmt: skip
    assert counters.untimed == 2 and sorted(counters.first_untimed) == ["<g:4>", "<x:1>"]


def test_a_time_that_is_no_datetime_tells_no_time() -> None:
    found, counters = timed([f'<g:1> <{GENERATED_AT}> "soon" <g:1> .', '<a:s> <a:p> "x" <g:1> .'])
    assert found == [] and counters.untimed == 2


def test_an_event_too_large_to_wait_for_its_time_is_counted_as_untimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(times.EventTimes.__init__, "__defaults__", (3,))
    lines = [f'<a:s> <a:p> "{n}" <g:1> .' for n in range(5)]
    lines += [statement("g:1", 1), '<a:s> <a:p> "after" <g:2> .', statement("g:2", 2)]
    reader = read((line.encode() + b"\n" for line in lines), time_property=GENERATED_AT)
    assert rows_of(reader)[:, [START, EVENT]].tolist() == [
        [1_000_000, -1],
        [1_000_000, 0],
        [2_000_000, -2],
        [2_000_000, 0],
    ]
    assert reader.counters.untimed == 4 and reader.counters.first_untimed[0] == "<g:1>"


def test_rows_that_wait_for_their_time_survive_a_sweep() -> None:
    terms = Terms(seed=1)
    pieces = iter(['<a:s> <a:p> "waits" <g:1> .\n', statement("g:1", 4), "\n"])
    chunks = read((piece.encode() for piece in pieces), time_property=GENERATED_AT).chunks(terms)
    assert len(next(chunks).rows) == 0
    terms.sweep(np.zeros(0, np.uint8))
    rows = np.concatenate([chunk.rows for chunk in chunks])
    assert terms.texts(rows[0, :3]) == [b"<a:s>", b"<a:p>", b'"waits"'] and rows[0, START] == 4_000_000
    assert terms.sweep(np.zeros(0, np.uint8)) > 0 and terms.find(b'"waits"') == 0


def test_reading_may_overlap_with_decoding_in_another_thread() -> None:
    terms = Terms(seed=1)
    wrong: list[int] = []
    document = b"".join(b'<http://example.org/%d> <a:p> "%d" .\n' % (n, n) for n in range(60_000))
    chunks = read(document, rate=1).chunks(terms, chunk_rows=1000)
    first = next(chunks).rows

    def decode() -> None:
        for _ in range(20):
            wrong.extend(n for n, row in enumerate(first) if terms.text(row[2]) != b'"%d"' % n)

    thread = threading.Thread(target=decode)
    thread.start()
    assert sum(chunk.triples for chunk in chunks) == 59_000
    thread.join()
    assert not wrong


def test_the_official_offers_are_read_without_a_fault() -> None:
    if not BSBM.exists():
        pytest.skip(f"no BSBM sample at {BSBM}")
    terms, reader = Terms(seed=1), read(BSBM / "offers-1k.nt.gz", rate=100_000)
    rows = rows_of(reader, terms)
    assert (len(rows), reader.counters.malformed) == (11_000, 0)
    lines = gzip.decompress((BSBM / "offers-1k.nt.gz").read_bytes()).splitlines()
    assert [b" ".join(terms.texts(row[:3])) + b" ." for row in rows] == lines


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (URIRef("http://example.org/a"), b"<http://example.org/a>"),
        ("http://example.org/a", b"<http://example.org/a>"),
        ("<urn:a>", b"<urn:a>"),
        ("_:b", b"_:b"),
        (BNode("b"), b"_:b"),
        ('"a\\u0062"@EN', b'"ab"@en'),
        ('"5"^^<http://www.w3.org/2001/XMLSchema#string>', b'"5"'),
        (Literal('a\n"\\\t', lang="EN"), b'"a\\n\\"\\\\\t"@en'),
        (Literal("05", datatype=rdflib.XSD.integer, normalize=False), b'"05"^^<%sinteger>' % DATE[:-8]),
        (True, b'"true"^^<%sboolean>' % DATE[:-8]),
        (5, b'"5"^^<%sinteger>' % DATE[:-8]),
        (Decimal("1.5"), b'"1.5"^^<%sdecimal>' % DATE[:-8]),
        (dt.datetime(2020, 1, 1), b'"2020-01-01T00:00:00"^^<%s>' % DATE),
    ],
)
def test_a_value_has_one_text(value: Any, text: bytes) -> None:
    assert to_text(value) == text


@pytest.mark.parametrize(
    "value", ["chat", "", "<a>", "<a:b", '"x', "<a:b> <a:c>", "<a:b> . #", URIRef("a"), URIRef("a:<"), None, BNode("-")]
)
def test_what_is_no_term_is_refused_with_a_hint(value: Any) -> None:
    with pytest.raises(UsageError):
        to_text(value)


wild = st.text(st.characters(exclude_categories=["Cs"]))
terms_of_rdflib = (
    st.builds(Literal, wild)
    | st.builds(lambda text: Literal(text, lang="en-gb"), wild)
    | st.builds(lambda text: Literal(text, datatype=URIRef("a:d")), wild)
    | st.builds(Literal, st.integers() | st.booleans() | st.floats(allow_nan=False) | st.dates())
)


@settings(max_examples=many(300), deadline=None)
@given(st.from_regex(rdf._PLAIN_TERM, fullmatch=True))
def test_a_term_that_is_taken_as_it_stands_is_what_the_parser_makes_of_it(term: str) -> None:
    assert rdf._parsed(term) == term.encode()


@settings(max_examples=many(300), deadline=None)
@given(terms_of_rdflib)
def test_decoding_undoes_encoding(term: Literal) -> None:
    text = to_text(term)
    assert from_text(text) == term and to_text(from_text(text)) == text
    rows = read_static(b"<a:s> <a:p> %s ." % text, terms := Terms(seed=1))
    assert terms.text(rows[0, 2]) == text
