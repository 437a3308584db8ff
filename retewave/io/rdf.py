"""Terms of rdflib and plain Python values <-> the texts of the dictionary.

Data's way: terms that a user pushes -> **text** -> dictionary … match -> **rdflib term** -> the user.
Invariant: `to_text` gives the canonical text (docs/architecture.md), so equal terms get equal ids however they
came in; `from_text` undoes it.
Left out: remembering decoded terms, which is the caller's choice.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from retewave.epsilon.prefixes import expanded
from retewave.errors import UsageError

if TYPE_CHECKING:
    from rdflib.term import BNode, Literal, URIRef

__all__ = ["from_text", "to_text"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
_LABEL = re.compile(r"\w(?:[\w.\-·]*[\w\-·])?")
_STRING = "http://www.w3.org/2001/XMLSchema#string"
_PLAIN_IRI = r"<[A-Za-z][A-Za-z0-9+.-]*://[A-Za-z0-9.-]+(?::[0-9]+)?(?:/[A-Za-z0-9._~/-]*)?(?:#[A-Za-z0-9._~/-]*)?>"
_PLAIN_DATATYPE = rf"<http://www\.w3\.org/2001/XMLSchema#(?!string>)[A-Za-z]+>|(?!<http://www\.w3\.org/){_PLAIN_IRI}"
_PLAIN_TERM = re.compile(  # a term that is canonical as it stands, and needs no parser: most terms are
    rf'{_PLAIN_IRI}|"[ !#-\[\]-~]*"(?:@[a-z][a-z]|\^\^(?:{_PLAIN_DATATYPE}))?'
)
_SHORT = 256  # characters; longer terms are neither kept nor shown in full
_PIECE = 1 << 20  # characters of a literal that are parsed at once
_LONGEST_ESCAPE = len(r"\U0010FFFF")
_PLAIN = (bool, int, float, Decimal, datetime, date, timedelta)
_ESCAPES = str.maketrans({'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r"})
_UNESCAPES = {"\\n": "\n", "\\r": "\r", '\\"': '"', "\\\\": "\\"}


def _is_news(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith("Failed to convert Literal lexical form")


# An ill-typed literal is data like any other; rdflib would print a traceback for every one that is decoded.
logging.getLogger("rdflib.term").addFilter(_is_news)


def to_text(term: object) -> bytes:
    r"""Return the canonical N-Triples text of an rdflib term, a plain Python value or a string.

    A string is N-Triples when it starts with `<`, `_:` or `"`; an IRI when it starts with a scheme and a colon (one of
    the well-known prefixes stands for its namespace); anything else is refused, because it could be meant as a
    literal. Numbers, booleans, decimals, dates and durations become the literals that rdflib makes of them.

    >>> to_text("http://example.org/a"), to_text(5), to_text('"chat"@FR')
    (b'<http://example.org/a>', b'"5"^^<http://www.w3.org/2001/XMLSchema#integer>', b'"chat"@fr')
    >>> to_text("chat")
    Traceback (most recent call last):
        ...
    retewave.errors.UsageError: cannot tell what term 'chat' is
      hint: write an IRI as http://…, a literal as '"chat"' or rdflib.Literal('chat')
    """
    if type(term) is str:
        return _of_string(term)
    if type(term) is int:
        return b'"%d"^^<http://www.w3.org/2001/XMLSchema#integer>' % term
    if isinstance(term, _PLAIN):
        from rdflib import Literal

        return _of_literal(Literal(term))
    kind = type(term).__mro__
    names = {f"{base.__module__}.{base.__name__}" for base in kind}
    if "rdflib.term.Literal" in names:
        return _of_literal(term)
    if "rdflib.term.BNode" in names:
        return _of_label(str(term))
    if "rdflib.term.URIRef" in names:
        return _of_iri(str(term))
    raise UsageError(
        f"cannot make a term of {type(term).__name__} {term!r}",
        hint="give an rdflib term, a string, a number, a boolean, a date or a duration",
    )


def from_text(text: bytes) -> URIRef | BNode | Literal:
    """Return the rdflib term of a canonical text.

    >>> from_text(b'"chat"@fr')
    rdflib.term.Literal('chat', lang='fr')
    """
    make = _makers()
    term = text.decode()
    if term.startswith("<"):
        return make.iri(term[1:-1])
    if term.startswith("_:"):
        return make.label(term[2:])
    quote = term.rindex('"')
    lexical = term[1:quote]
    if "\\" in lexical:
        lexical = re.sub(r'\\[nr"\\]', lambda found: _UNESCAPES[found[0]], lexical)
    if term[quote + 1 : quote + 2] == "@":
        return make.literal(lexical, lang=term[quote + 2 :])
    if quote == len(term) - 1:
        return make.literal(lexical)
    return make.literal(lexical, datatype=make.datatype(term[quote + 4 : -1]), normalize=False)


class _Makers(NamedTuple):
    """Makes rdflib's terms of canonical texts, whose IRIs and labels need no check."""

    iri: Callable[[str], URIRef]
    label: Callable[[str], BNode]
    literal: type[Literal]
    datatype: Callable[[str], URIRef]  # remembers the last datatypes: there are few


@cache
def _makers() -> _Makers:
    """Import rdflib when the first term is made."""
    from rdflib.term import BNode, Literal, URIRef

    iri = partial(str.__new__, URIRef)
    return _Makers(iri, partial(str.__new__, BNode), Literal, lru_cache(maxsize=256)(iri))


def _of_iri(iri: str) -> bytes:
    if not _SCHEME.match(iri):
        raise UsageError(f"the IRI {iri!r} is not absolute", hint="it has to start with a scheme, as http://… does")
    if found := _NOT_IN_IRI.search(iri):
        raise UsageError(f"the IRI {iri!r} contains {found[0]!r}", hint="write it with a percent sign and its code")
    return f"<{iri}>".encode()


def _of_label(label: str) -> bytes:
    if not _LABEL.fullmatch(label):
        raise UsageError(f"{label!r} cannot be a blank node's label", hint="use letters, digits and _")
    return f"_:{label}".encode()


def _of_literal(literal: Any) -> bytes:
    """Return the text of an rdflib literal, with its lexical form as it stands."""
    quoted = '"' + str(literal).translate(_ESCAPES) + '"'
    if literal.language:
        return f"{quoted}@{literal.language.lower()}".encode()
    if literal.datatype is None or str(literal.datatype) == _STRING:
        return quoted.encode()
    return quoted.encode() + b"^^" + _of_iri(str(literal.datatype))


def _of_string(term: str) -> bytes:
    return _of_short(term) if len(term) <= _SHORT else _of_any(term)


def _of_any(term: str) -> bytes:
    if term.startswith(("<", "_:", '"')):
        return _canonical(term)
    if _SCHEME.match(term):
        return _of_iri(expanded(term))
    raise UsageError(
        f"cannot tell what term {_quoted(term)!r} is",
        hint=f"write an IRI as http://…, a literal as '\"{_quoted(term)}\"' or rdflib.Literal({_quoted(term)!r})",
    )


_of_short = lru_cache(maxsize=4096)(_of_any)  # predicates and classes come again and again; long terms hardly


def _quoted(term: str) -> str:
    """Return as much of a term as an error tells."""
    return term if len(term) <= _SHORT else f"{term[:_SHORT]}…"


def _canonical(term: str) -> bytes:
    """Return the canonical text of a term in N-Triples; the label of a blank node stays as it is."""
    return term.encode() if _PLAIN_TERM.fullmatch(term) else _parsed(term)


def _parsed(term: str) -> bytes:
    """Return the same by a parser, which takes ten times as long."""
    from pyoxigraph import Literal, NamedNode

    if term.startswith("_:"):
        return _of_label(term[2:])
    if term.startswith("<<"):  # the parser goes through triple terms by recursion, and has a stack like everyone
        raise UsageError(f"{_quoted(term)} is not a term of RDF 1.1")
    found = _read(term) if len(term) <= _PIECE or term[:1] != '"' else _read_in_pieces(term)
    if isinstance(found, NamedNode):
        return _of_iri(found.value)
    if isinstance(found, Literal):
        return _of_oxigraph(found)
    raise UsageError(f"{_quoted(term)} is not a term of RDF 1.1")


def _read(term: str) -> Any:
    """Return pyoxigraph's term of a text."""
    from pyoxigraph import NamedNode, RdfFormat, parse

    try:
        (quad,) = parse(f"<a:s> <a:p> {term} <retewave:end> .", format=RdfFormat.N_QUADS)
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"{_quoted(term)} is not a term of N-Triples: {_quoted(str(error))}") from error
    if quad.graph_name != NamedNode("retewave:end"):  # a dot and a comment, say, follow the term
        raise UsageError(f"{_quoted(term)} is more than one term")
    return quad.object


def _read_in_pieces(term: str) -> Any:
    """Return the term of a literal that the parser's buffer, of 16 MiB, may be too small for."""
    from pyoxigraph import Literal

    behind, begin, values = term.rindex('"'), 1, []
    while begin < behind:
        end = _cut(term, begin, behind)
        values.append(_read(f'"{term[begin:end]}"').value)
        begin = end
    kind = _read('""' + term[behind + 1 :])
    whole = "".join(values)
    return Literal(whole, language=kind.language) if kind.language else Literal(whole, datatype=kind.datatype)


def _cut(term: str, begin: int, behind: int) -> int:
    """Return where a piece of a literal may end that begins somewhere: not within an escape."""
    end = min(begin + _PIECE, behind)
    last = term.rfind("\\", max(begin, end - _LONGEST_ESCAPE), end) if end < behind else -1
    first = last
    while first > begin and term[first - 1] == "\\":
        first -= 1
    return last if last >= 0 and (last - first) % 2 == 0 else end


def _of_oxigraph(literal: Any) -> bytes:
    quoted = '"' + literal.value.translate(_ESCAPES) + '"'
    if literal.language:
        return f"{quoted}@{literal.language.lower()}".encode()
    datatype = literal.datatype.value
    return (quoted if datatype == _STRING else f"{quoted}^^<{datatype}>").encode()
