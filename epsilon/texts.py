"""Make a term's text of an rdflib or pyoxigraph term.

Data's way: schema file or graph -> **texts** -> axioms.  A text is canonical N-Triples
(docs/architecture.md): escapes resolved, in literals only the quote, the
backslash, LF and CR escaped, language tags in lower case, no ^^xsd:string.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import pyoxigraph

from retewave.errors import SchemaError

if TYPE_CHECKING:
    from rdflib.term import BNode, Literal, URIRef

__all__ = ["Term", "text_of"]

Term: TypeAlias = "URIRef | BNode | Literal | pyoxigraph.NamedNode | pyoxigraph.BlankNode | pyoxigraph.Literal | bytes"

_STRING = "http://www.w3.org/2001/XMLSchema#string"
_LANGUAGE_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
_ESCAPES = str.maketrans({'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r"})


def text_of(term: Term) -> bytes:
    r"""Return the text of a term; a text stays what it is.

    >>> from rdflib import Literal
    >>> text_of(Literal('say "hi"\t', lang="EN"))
    b'"say \\"hi\\"\t"@en'
    """
    make = _BY_TYPE.get(type(term))
    if make is None and type(term).__module__ == "rdflib.term":
        make = _know_rdflib().get(type(term))
    if make is None:
        raise SchemaError(
            f"a schema cannot hold the term {term!r} of type {type(term).__name__}",
            hint="terms are IRIs, blank nodes or literals, of rdflib or pyoxigraph, or texts in bytes",
        )
    return make(term)


def _literal(lexical: str, language: str | None, datatype: str | None) -> bytes:
    quoted = '"' + lexical.translate(_ESCAPES) + '"'
    if language:
        return f"{quoted}@{language.lower()}".encode()
    if datatype and datatype not in (_STRING, _LANGUAGE_STRING):
        return f"{quoted}^^<{datatype}>".encode()
    return quoted.encode()


# By type, for speed: a large schema has hundreds of thousands of terms.
_BY_TYPE: dict[type, Callable[[Any], bytes]] = {
    pyoxigraph.NamedNode: lambda term: f"<{term.value}>".encode(),
    pyoxigraph.BlankNode: lambda term: f"_:{term.value}".encode(),
    pyoxigraph.Literal: lambda term: _literal(term.value, term.language, term.datatype.value),
    bytes: lambda term: term,
}


def _know_rdflib() -> dict[type, Callable[[Any], bytes]]:
    """Add rdflib's types when the first of its terms comes: most schemas are files, which need none."""
    from rdflib.term import BNode, Literal, URIRef

    _BY_TYPE[URIRef] = lambda term: f"<{term}>".encode()
    _BY_TYPE[BNode] = lambda term: f"_:{term}".encode()
    _BY_TYPE[Literal] = lambda term: _literal(str(term), term.language, str(term.datatype) if term.datatype else None)
    return _BY_TYPE
