"""Any bytes whatever: the reader neither crashes nor hangs, and accounts for every line."""

from __future__ import annotations

import re

from cases.many import many
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from retewave.epsilon.encodings import foreign
from retewave.io import read
from retewave.rete.terms.dictionary import Terms

fragments = st.sampled_from(
    [b"<a:s>", b"<a:", b" ", b"\t", b".", b'"', b'"x"',
     b"\\", b"\\u00", b"\\U0001F600", b"@en", b"@", b"^^", b"^^<a:d>",
     b"_:", b"_:b", b"_:b.", b"#", b"\n", b"\r", b"\r\n", b"\xc3", b"\xa9", b"\xf0\x9d\x84\x9e", b"\xff", b"\x00",
     b"<a:s> <a:p> <a:o> .\n", b'<a:s> <a:p> "o"@EN-gb <a:g> . # note\n']
)  # fmt: skip
soups = st.binary(max_size=200) | st.lists(fragments | st.binary(max_size=3), max_size=40).map(b"".join)


def statements_at_most(data: bytes) -> int:
    """Count the lines that are neither blank nor a comment."""
    return sum(1 for line in re.split(rb"[\r\n]", data) if not re.fullmatch(rb"[ \t]*(#.*)?", line, re.DOTALL))


def bad_comments(data: bytes) -> int:
    """Count the comment lines that are not UTF-8."""
    lines = [line for line in re.split(rb"[\r\n]", data) if re.fullmatch(rb"[ \t]*#.*", line, re.DOTALL)]
    return sum(1 for line in lines if line.decode("utf-8", "ignore").encode() != line)


@settings(max_examples=many(600), deadline=None)
@given(soups, st.integers(1, 50))
@example(b'<a:s> <a:p> "' + b"\xf0", 1)
@example(b"\r" * 70, 3)
def test_every_line_is_a_statement_or_malformed_or_blank(data: bytes, size: int) -> None:
    assume(foreign(data) is None)  # a text of another encoding is malformed as a whole, with its first line
    terms = Terms(seed=1)
    reader = read((data[i : i + size] for i in range(0, len(data), size)), format="nq", rate=1)
    rows = sum(len(chunk.rows) for chunk in reader.chunks(terms, chunk_rows=3))
    counters = reader.counters
    assert rows == counters.triples
    assert counters.triples + counters.malformed == statements_at_most(data) + bad_comments(data)
    assert len(counters.first_malformed) == min(counters.malformed, 20)
    for text in terms.texts(range(1, len(terms) + 1)):
        text.decode()
        assert text[:1] in b'<_"' and not set(text) & set(b"\r\n")


@settings(max_examples=many(100), deadline=None)
@given(st.binary(max_size=100), st.sampled_from(["ttl", "trig", "rdf", "jsonld"]), st.booleans())
def test_other_formats_and_archives_never_crash(data: bytes, format: str, packed: bool) -> None:
    reader = read(data, format=format, name="x.gz" if packed else "x", rate=1)
    triples = sum(chunk.triples for chunk in reader.chunks(Terms(seed=1)))
    assert triples == reader.counters.triples and reader.counters.malformed <= 1
