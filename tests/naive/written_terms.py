"""Terms as the text formats of results have them, written in plain Python: what the kernels' bytes must equal."""

from __future__ import annotations

import re

__all__ = ["csv_field", "csv_term", "json_term", "tsv_term"]

_CONTROL = re.compile(rb"[\x00-\x1f]")
_NEEDS_QUOTES = re.compile(rb'[",\r\n]')
_ESCAPE = re.compile(rb'\\[nr"\\]')
_UNESCAPED = {rb"\n": b"\n", rb"\r": b"\r", rb"\"": b'"', b"\\\\": b"\\"}


def json_term(text: bytes) -> bytes:
    r"""Return a term as SPARQL 1.1 Query Results JSON writes it.

    >>> json_term(b'"a \\"tea\\""@en')
    b'{"type":"literal","value":"a \\"tea\\"","xml:lang":"en"}'
    """
    if text[:1] == b"<":
        return b'{"type":"uri","value":"' + text[1:-1] + b'"}'
    if text[:1] == b"_":
        return b'{"type":"bnode","value":"' + text[2:] + b'"}'
    quote = text.rindex(b'"')
    value = b'{"type":"literal","value":"' + _CONTROL.sub(_json_control, text[1:quote])
    tail = text[quote + 1 :]
    if not tail:
        return value + b'"}'
    if tail[:1] == b"@":
        return value + b'","xml:lang":"' + tail[1:] + b'"}'
    return value + b'","datatype":"' + tail[3:-1] + b'"}'


def _json_control(found: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % found[0][0]


def csv_term(text: bytes) -> bytes:
    """Return a term as SPARQL 1.1 Query Results CSV writes it: the value alone.

    >>> csv_term(b'"5"^^<http://www.w3.org/2001/XMLSchema#integer>'), csv_term(b"<http://e/a,b>")
    (b'5', b'"http://e/a,b"')
    """
    if text[:1] == b"<":
        return csv_field(text[1:-1])
    if text[:1] == b"_":
        return text
    lexical = text[1 : text.rindex(b'"')]
    return csv_field(_ESCAPE.sub(lambda found: _UNESCAPED[found[0]], lexical))


def csv_field(value: bytes) -> bytes:
    """Return a field of a CSV file, quoted where it must be."""
    if _NEEDS_QUOTES.search(value):
        return b'"' + value.replace(b'"', b'""') + b'"'
    return value


def tsv_term(text: bytes) -> bytes:
    r"""Return a term as SPARQL 1.1 Query Results TSV writes it: as in Turtle, tabs escaped.

    >>> tsv_term(b'"a\tb"')
    b'"a\\tb"'
    """
    return text.replace(b"\t", rb"\t")
