"""Lines of N-Triples and N-Quads: laws of the scanner."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pyoxigraph
import pytest
from cases.many import many
from hypothesis import given, settings
from hypothesis import strategies as st

from retewave.errors import MalformedInput
from retewave.io import read
from retewave.io.lines import lines
from retewave.io.lines.job import SCRATCH
from retewave.io.lines.reasons import REASONS
from retewave.io.lines.terms import WRITTEN
from retewave.rete.terms.acceptance import ACCEPT, ACCEPT_OBJECT, Acceptance, sieve_of
from retewave.rete.terms.dictionary import Terms

letters = st.text(st.characters(min_codepoint=0x20, exclude_categories=["Cs", "Co", "Cn"]), max_size=12)
wild = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
names = st.text(st.sampled_from("abcXYZ019-_/?é中𝄞"), max_size=50)
iris = names.map(lambda name: f"<http://example.org/{name}>")
blanks = st.from_regex(r"_:[A-Za-z0-9_éλ]([A-Za-z0-9_.·-]{0,4}[A-Za-z0-9_-])?", fullmatch=True)


def quote(text: str, escape_all: bool) -> str:
    """Write a string of N-Triples: with as few escapes as can be, or with nothing but escapes."""
    if escape_all:
        return '"' + "".join(f"\\U{ord(c):08X}" if ord(c) % 2 else f"\\u{ord(c):04x}" if ord(c) < 65536 else c
                             for c in text) + '"'  # fmt: skip
    plain = str.maketrans({'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})
    return '"' + text.translate(plain) + '"'


strings = st.builds(quote, wild, st.booleans())
tags = st.sampled_from(["@en", "@EN", "@en-gb", "@de-AT", "@zh-Hant-TW", "@FR-fr"])
datatypes = st.sampled_from(["string", "integer", "dateTime"]).map(
    lambda name: f"^^<http://www.w3.org/2001/XMLSchema#{name}>"
) | iris.map(lambda iri: "^^" + iri)
literals = st.builds(lambda string, rest: string + rest, strings, st.just("") | tags | datatypes)
gaps = st.sampled_from([" ", "\t", "  ", ""])
subjects = iris | blanks.map(lambda label: label + " ")
objects = iris | blanks.map(lambda label: label + " ") | literals
statements = st.builds(
    lambda s, p, o, g, gap, end: gap.join(["", s, p, o, g, ""]) + "." + end,
    subjects, iris, objects, st.just("") | subjects, gaps, st.sampled_from(["", " ", "# note é", "\t# x"]),
)  # fmt: skip
line_ends = st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\n# comment\n"])
documents = st.lists(st.tuples(statements, line_ends), max_size=12).map(
    lambda parts: "".join(line + end for line, end in parts)
)


def scanned(source: Any, terms: Terms | None = None, **options: Any) -> tuple[list, list]:
    """Read a document: return (the rows' texts, the reports of its malformed lines)."""
    terms = Terms(seed=5) if terms is None else terms
    reader = read(source, format="nq", rate=1, **options)
    chunks = list(reader.chunks(terms, scope=1, chunk_rows=4))
    rows = np.concatenate([chunk.rows for chunk in chunks]) if chunks else np.zeros((0, 7), np.int64)
    triples = [tuple(terms.texts(row[:3])) for row in rows]
    assert sum(chunk.triples for chunk in chunks) == reader.counters.triples
    return triples, reader.counters.first_malformed


def canonical(term: Any) -> bytes:
    """Return the canonical text of pyoxigraph's term, independently of the scanner."""
    if isinstance(term, pyoxigraph.NamedNode):
        return f"<{term.value}>".encode()
    if isinstance(term, pyoxigraph.BlankNode):
        return f"_:d1.{term.value}".encode()
    text = term.value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    if term.language:
        return f'"{text}"@{term.language.lower()}'.encode()
    if term.datatype.value.endswith("XMLSchema#string"):
        return f'"{text}"'.encode()
    return f'"{text}"^^<{term.datatype.value}>'.encode()


@settings(max_examples=many(200), deadline=None)
@given(documents)
def test_the_scanner_reads_what_pyoxigraph_reads(document: str) -> None:
    data = document.encode()
    expected = [
        (canonical(quad.subject), canonical(quad.predicate), canonical(quad.object))
        for quad in pyoxigraph.parse(data, format=pyoxigraph.RdfFormat.N_QUADS)
    ]
    assert scanned(data) == (expected, [])


alike = st.sampled_from(
    ["<http://e/p>", "<http://e/pq>", "<http://e/\\u0070>", "<http://e/p\\U00000071>", "<http://e/p#é>", "<http://f/p>"]
    + [f"<http://example.org/a/long/vocabulary/that/all/of/them/share#{name}>" for name in ("a", "b", "bb")]
)
grouped = st.lists(
    st.builds(
        lambda subject, order, objects: [f"{subject} {p} {o} .\n" for p, o in zip(order * 3, objects, strict=False)],
        alike | st.sampled_from(["_:x", "_:d1.x", "_:d1.d1.x"]),
        st.lists(alike, min_size=1, max_size=4),
        st.lists(alike | st.sampled_from(['"1"', '"\\u0031"', "_:x"]), min_size=1, max_size=12),
    ),
    max_size=8,
).map(lambda groups: "".join(line for group in groups for line in group))


@settings(max_examples=many(300), deadline=None)
@given(grouped, st.integers(1, 2_000))
def test_subjects_and_predicates_that_come_again_in_any_order_are_told_apart(document: str, size: int) -> None:
    data = document.encode()
    expected = [
        (canonical(quad.subject), canonical(quad.predicate), canonical(quad.object))
        for quad in pyoxigraph.parse(data, format=pyoxigraph.RdfFormat.N_QUADS)
    ]
    pieces = (data[at : at + size] for at in range(0, len(data), size))
    assert scanned(pieces, name="x.nq") == (expected, [])


def test_more_predicates_than_the_scanner_keeps_in_mind_are_told_apart() -> None:
    order = [f"http://e/p{n * n % 307}" for n in range(900)]
    data = "".join(f'<http://e/s{n // 7}> <{predicate}> "{n}" .\n' for n, predicate in enumerate(order)).encode()
    expected = [(b"<http://e/s%d>" % (n // 7), b"<%s>" % p.encode(), b'"%d"' % n) for n, p in enumerate(order)]
    assert scanned(data) == (expected, [])


@pytest.mark.parametrize("line", [b"_:a", b"_:a <a:p> _:b .", b"_:b1 <http://e/knows> _:b2 _:graph ."])
def test_what_lines_that_are_left_out_were_rewritten_to_takes_no_room(
    line: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing = Acceptance(0, np.zeros(1, np.uint8), np.zeros(1, np.uint8))
    most: list[int] = []
    scan = lines.LineReading._scan

    def watched(reading: Any, acceptance: Acceptance) -> Any:
        ended = scan(reading, acceptance)
        most.append(int(reading._cells[WRITTEN]) - int(reading._cells[SCRATCH]) - len(reading._scratch))
        return ended

    monkeypatch.setattr(lines, "BLOCK_BYTES", 1 << 14)
    monkeypatch.setattr(lines.LineReading, "_scan", watched)
    reader = read((line + b"\n") * 20_000, format="nq", rate=1)
    assert sum(len(chunk.rows) for chunk in reader.chunks(Terms(seed=1), lambda: refusing, scope=1 << 61)) == 0
    assert reader.counters.triples + reader.counters.malformed == 20_000
    assert max(most) <= 0


def test_a_subject_is_not_taken_for_one_that_stood_in_its_place_in_the_block_before() -> None:
    lines = [b"<http://e/a> <http://e/p> <http://e/1> .\n", b"<http://e/b> <http://e/p> <http://e/2> .\n"]
    triples, _ = scanned(iter(lines), name="x.nq")
    assert [subject for subject, _, _ in triples] == [b"<http://e/a>", b"<http://e/b>"]


@settings(max_examples=many(150), deadline=None)
@given(st.lists(statements | wild, max_size=8), line_ends, st.data())
def test_where_the_pieces_end_makes_no_difference(parts: list[str], end: str, data: st.DataObject) -> None:
    whole = end.join(parts).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    triples, faults = scanned(whole, name="x.nq")
    again, faults_again = scanned(iter(pieces), name="x.nq")
    assert again == triples
    assert [str(fault) for fault in faults_again] == [str(fault) for fault in faults]


@settings(max_examples=many(200), deadline=None)
@given(statements, statements, statements, st.data())
def test_a_mutated_line_never_touches_its_neighbours(before: str, victim: str, after: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(victim)))
    cut = data.draw(st.integers(0, 3))
    junk = data.draw(st.binary(max_size=3).filter(lambda junk: not set(junk) & set(b"\r\n")))
    mutated = victim.encode()[:at] + junk + victim.encode()[at + cut :]
    triples, faults = scanned(before.encode() + b"\n" + mutated + b"\n" + after.encode())
    assert triples[0] == scanned(before.encode())[0][0]
    assert triples[-1] == scanned(after.encode())[0][0]
    empty = not mutated.strip(b" \t") or mutated.strip(b" \t").startswith(b"#")
    assert len(triples) + len(faults) == (2 if empty and not faults else 3)
    assert all(fault.place.line == 2 for fault in faults)


@pytest.mark.parametrize(
    ("line", "column", "reason"),
    [
        (b'"a" <a:p> <a:o> .', 1, "expected a subject"),
        (b"<a:s> _:p <a:o> .", 7, "expected a predicate"),
        (b"<a:s> <a:p> .", 13, "expected an object"),
        (b"<a:s> <a:p> <a:o>", 18, 'expected " ."'),
        (b"<a:s> <a:p> <a:o> <a:g> <a:h> .", 25, 'expected " ."'),
        (b"<a:s> <a:p> <a:o> . <a:s>", 21, "only a comment"),
        (b"<a:s <a:p> <a:o> .", 5, "the character is not allowed in an IRI"),
        (b"<a:s", 5, "the IRI is not closed"),
        (b"<s> <a:p> <a:o> .", 1, "the IRI is not absolute"),
        (b"<\\u0061> <a:p> <a:o> .", 1, "the IRI is not absolute"),
        (b"<a:\\u0020> <a:p> <a:o> .", 4, "the character is not allowed in an IRI"),
        (b"<a:\\x> <a:p> <a:o> .", 4, "the escape is not \\u"),
        (b'<a:s> <a:p> "o .', 17, "the literal is not closed"),
        (b'<a:s> <a:p> "\\x" .', 14, "the escape is none of"),
        (b'<a:s> <a:p> "\\uD800" .', 14, "the escape is not a Unicode character"),
        (b'<a:s> <a:p> "\\U00110000" .', 14, "the escape is not a Unicode character"),
        (b'<a:s> <a:p> "\xc3" .', 14, "the bytes are not UTF-8"),
        (b'<a:s> <a:p> "\xed\xa0\x80" .', 14, "the bytes are not UTF-8"),
        (b"<a:\xc0\x80> <a:p> <a:o> .", 4, "the bytes are not UTF-8"),
        (b"# \xff", 3, "the bytes are not UTF-8"),
        (b"_:-a <a:p> <a:o> .", 3, "the blank node's label"),
        (b"_a <a:p> <a:o> .", 1, "the blank node's label"),
        (b'<a:s> <a:p> "o"@1 .', 17, "the language tag"),
        (b'<a:s> <a:p> "o"^<a:d> .', 16, "expected a datatype"),
        (b'<a:s> <a:p> "o"^^xsd:string .', 18, "expected a datatype"),
        (b'<a:s> <a:p> "o"^^<d> .', 18, "the IRI is not absolute"),
        (b"\xef\xbb\xbf<a:s> <a:p> <a:o> .", 1, "expected a subject"),
    ],
)
def test_a_malformed_line_is_reported_with_place_and_reason(line: bytes, column: int, reason: str) -> None:
    triples, (fault,) = scanned(b"<a:s> <a:p> <a:o> .\r\n\r\n" + line + b"\r\n<a:s> <a:p> <a:o> .")
    assert (fault.place.line, fault.place.column) == (3, column)
    assert fault.what.startswith(reason) and fault.what in REASONS
    assert len(triples) == 2


def test_ntriples_has_no_fourth_term() -> None:
    reader = read(b"<a:s> <a:p> <a:o> <a:g> .", format="nt", rate=1)
    assert not [chunk for chunk in reader.chunks(Terms(seed=1)) if len(chunk.rows)]
    assert "N-Quads" in reader.counters.first_malformed[0].what


def test_raising_comes_after_everything_before_was_handed_on() -> None:
    reader = read([b"<a:s> <a:p> <a:o> .\n<a:s> <a:p> <a:q> .\n<a:s>\n", b"never"], rate=1, on_error="raise")
    rows = []
    with pytest.raises(MalformedInput) as refusal:
        for chunk in reader.chunks(Terms(seed=1)):
            rows.extend(chunk.rows.tolist())
    assert len(rows) == 2 and refusal.value.place and refusal.value.place.line == 3
    assert str(refusal.value).splitlines()[-1] == "       ^"
    assert reader.counters.malformed == 1


def test_equal_terms_get_equal_ids_however_they_are_written() -> None:
    terms = Terms(seed=1)
    same = [b'"a\tb"@en-gb', b'"a\\tb"@EN-GB', b'"a\\u0009b" @en-GB', b'"\\U00000061\\tb"@en-gb']
    string = b"http://www.w3.org/2001/XMLSchema#"
    other = [b'"\xc3\xa9"', b'"\\u00E9"^^<%sstring>' % string, b'"\\u00e9" ^^ <%s\\u0073tring>' % string]
    document = b"".join(b"<a:s> <a:p> %s .\n" % text for text in same + other)
    assert len({triple[2] for triple in scanned(document, terms)[0]}) == 2
    assert len(terms) == 4


def test_blank_nodes_of_two_documents_differ_and_scopes_repeat() -> None:
    terms = Terms(seed=1)
    ids = [
        next(iter(read(b"_:x <a:p> _:x.y .", rate=1).chunks(terms, scope=scope))).rows[0, [0, 2]].tolist()
        for scope in (1, 2, 1)
    ]
    assert ids[0] == ids[2] != ids[1]
    assert terms.texts(ids[0]) == [b"_:d1.x", b"_:d1.x.y"]


@pytest.mark.parametrize("accepted", [1, 700])
def test_of_many_objects_only_the_accepted_ones_pass_whatever_their_hashes_share(accepted: int) -> None:
    terms, count = Terms(seed=1), 20_000
    typed = int(terms.intern(b"<a:type>"))
    names = [b"<a:%d>" % n for n in range(count)]
    ids = terms.intern_many(names[: count // 2])  # the dictionary knows half of those that come
    predicates, objects = np.zeros(typed + 1, np.uint8), np.zeros(len(ids) + 2, np.uint8)
    predicates[typed], objects[ids[:accepted]] = ACCEPT_OBJECT, 1
    acceptance = Acceptance(0, predicates, objects)
    sieve = sieve_of(acceptance, terms.table.hashes)
    bits = terms.values.hashes[ids] & (8 * len(sieve) - 1)
    through = np.count_nonzero(sieve[bits >> 3] >> (bits & 7) & 1)
    assert accepted < through < accepted + count // 10  # some share a bit
    document = b"".join(b"<a:s> <a:type> %b .\n" % name for name in names)
    rows = [row for c in read(document, rate=1).chunks(terms, lambda: acceptance) for row in c.rows.tolist()]
    assert [terms.text(row[2]) for row in rows] == names[:accepted]
    assert len(terms) == len(ids) + 2  # nothing else was interned


def test_an_acceptance_that_changes_between_blocks_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", 1 << 12)
    terms = Terms(seed=1)
    typed, first, second = terms.intern_many([b"<a:type>", b"<a:first>", b"<a:second>"]).tolist()
    predicates, objects = np.zeros(4, np.uint8), np.zeros((2, 4), np.uint8)
    predicates[typed], objects[0, first], objects[1, second] = ACCEPT_OBJECT, 1, 1
    wanted = [Acceptance(0, predicates, each) for each in objects]
    asked: list[Acceptance] = []

    def acceptance() -> Acceptance:
        asked.append(wanted[len(asked) // 3 % 2])
        return asked[-1]

    document = b"<a:s> <a:type> <a:first> .\n<a:s> <a:type> <a:second> .\n" * 1_000
    rows = [row for c in read(document, rate=1).chunks(terms, acceptance) for row in c.rows.tolist()]
    found = [row[2] for row in rows]
    assert set(found) == {first, second} and abs(found.count(first) - found.count(second)) < 300
    assert len(found) == 1_000


def test_a_refused_line_is_counted_and_validated_but_not_interned() -> None:
    terms = Terms(seed=1)
    wanted, typed, offer = terms.intern_many([b"<a:wanted>", b"<a:type>", b"<a:Offer>"]).tolist()
    predicates, objects = np.zeros(8, np.uint8), np.zeros(8, np.uint8)
    predicates[[wanted, typed]] = ACCEPT, ACCEPT_OBJECT
    objects[offer] = 1
    document = b"""<a:1> <a:noise> "new" .
<a:2> <a:wanted> "5" .
<a:3> <a:type> <a:Other> .
<a:4> <a:type> <a:Offer> .
<a:5> <a:noise> "open .
<a:6> <a:wanted> "6" .
"""
    reader = read(document, rate=1)
    rows = [row for c in reader.chunks(terms, lambda: Acceptance(0, predicates, objects)) for row in c.rows]
    assert [terms.text(row[0]) for row in rows] == [b"<a:2>", b"<a:4>", b"<a:6>"]
    assert [row[3] for row in rows] == [1_000_000, 3_000_000, 4_000_000]
    assert (reader.counters.triples, reader.counters.malformed) == (5, 1)
    assert terms.find(b'"new"') == terms.find(b"<a:Other>") == terms.find(b"<a:1>") == 0


def test_a_line_longer_than_a_block_is_read_and_one_that_is_too_long_is_malformed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", 64)
    monkeypatch.setattr(lines.Wanted, "max_line", 1024)
    _, *others = lines.Wanted.__init__.__defaults__  # type: ignore[misc]
    monkeypatch.setattr(lines.Wanted.__init__, "__defaults__", (1024, *others))
    fits, too_long = b'<a:s> <a:p> "' + b"x" * 400 + b'" .', b'<a:s> <a:p> "' + b"y" * 5000 + b'" .'
    triples, (fault,) = scanned(b"\n".join([fits, too_long, fits, b"<a:s> <a:p> <a:o> ."]))
    assert [len(triple[2]) for triple in triples] == [402, 402, 5]
    assert fault.what == "the line is too long" and fault.place.line == 2


def test_many_lines_of_every_kind_cross_the_blocks_unharmed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", 128)
    document = b"".join(
        b'<http://example.org/%d> <a:p> "%d\\n\xc3\xa9"@EN .\r\n# %d\r\nbad %d\r' % (n, n, n, n) for n in range(3000)
    )
    terms = Terms(seed=1)
    triples, faults = scanned(document, terms)
    assert [triple[2] for triple in triples] == [b'"%d\\n\xc3\xa9"@en' % n for n in range(3000)]
    assert [fault.place.line for fault in faults] == [3 * n + 3 for n in range(20)]


def test_without_the_jit_the_same_rows_come_out() -> None:
    program = textwrap.dedent("""
        import sys
        from retewave.io import read
        from retewave.rete.terms.dictionary import Terms
        terms = Terms(seed=1)
        reader = read(sys.argv[1].encode("latin-1"), rate=3)
        rows = [row for chunk in reader.chunks(terms, scope=1) for row in chunk.rows.tolist()]
        values = [column[:len(terms) + 1].tolist() for column in terms.values]
        print(rows, terms.texts(range(1, len(terms) + 1)), values, *reader.counters.first_malformed)
        print(terms.state()["hashes"].tolist())
    """)
    document = (
        b'<http://example.org/a-long-name-of-more-than-32-bytes> <a:p> "x\\ty\xc3\xa9"@EN .\n'
        b'_:b.c <a:p> "2008-03-20T00:00:00.5Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> <a:g> .\r\n'
        b'<a:s> <a:p> "3.25"^^<http://www.w3.org/2001/XMLSchema#decimal> . # c\n<a:s> <a:\\u00e9> "\\q" .\n'
        b'<a:s> <a:p> "1.7976931348623157"^^<http://www.w3.org/2001/XMLSchema#double> .\n<a:\xff> .'
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", program, document.decode("latin-1")],
            env={**os.environ, "NUMBA_DISABLE_JIT": off},
            capture_output=True,
            text=True,
        )
        for off in ("0", "1")
    ]
    assert [output.stderr for output in outputs] == ["", ""]
    assert outputs[1].stdout == outputs[0].stdout != ""
