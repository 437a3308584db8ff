"""The terms of RDF, RDFS and OWL that mean something to the ε-network, by their texts.

A term's text is its canonical N-Triples form (docs/architecture.md).  Data's way: schema -> axioms ->
network -> dispatch; every stage names terms by these constants.
"""

from __future__ import annotations

import re
from typing import TypeAlias

__all__ = [
    "OWL",
    "RDF",
    "RDFS",
    "TOP_CLASSES",
    "TYPE",
    "Triple",
    "compact",
    "is_blank",
    "is_iri",
    "is_literal",
    "membership_property",
    "owl",
    "rdf",
    "rdfs",
]

Triple: TypeAlias = tuple[bytes, bytes, bytes]  # three texts

RDF = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = b"http://www.w3.org/2000/01/rdf-schema#"
OWL = b"http://www.w3.org/2002/07/owl#"

_PREFIXES = {"rdf": RDF.decode(), "rdfs": RDFS.decode(), "owl": OWL.decode()}
_LOCAL_NAME = re.compile(r"[A-Za-z_][\w-]*")


def rdf(name: str) -> bytes:
    """Return the text of a term of RDF.

    >>> rdf("type")
    b'<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>'
    """
    return b"<" + RDF + name.encode() + b">"


def rdfs(name: str) -> bytes:
    """Return the text of a term of RDF Schema."""
    return b"<" + RDFS + name.encode() + b">"


def owl(name: str) -> bytes:
    """Return the text of a term of OWL."""
    return b"<" + OWL + name.encode() + b">"


TYPE = rdf("type")
TOP_CLASSES = frozenset({rdfs("Resource"), owl("Thing")})  # everything is in them: rdfs4a, rdfs4b


def is_iri(text: bytes) -> bool:
    """Tell whether a text is an IRI's."""
    return text.startswith(b"<")


def is_blank(text: bytes) -> bool:
    """Tell whether a text is a blank node's."""
    return text.startswith(b"_:")


def is_literal(text: bytes) -> bool:
    """Tell whether a text is a literal's."""
    return text.startswith(b'"')


def membership_property(number: int) -> bytes:
    """Return the text of a container membership property, rdf:_1 and so on."""
    return rdf(f"_{number}")


def compact(text: bytes) -> str:
    """Return a short readable form of a text, for messages and drawings.

    >>> compact(rdfs("subClassOf"))
    'rdfs:subClassOf'
    >>> compact(b"<http://example.org/a#b>")
    '<http://example.org/a#b>'
    """
    shown = text.decode("utf-8", "replace")
    for prefix, namespace in _PREFIXES.items():
        name = shown[1 + len(namespace) : -1]
        if shown.startswith("<" + namespace) and _LOCAL_NAME.fullmatch(name):
            return f"{prefix}:{name}"
    return shown
