"""SPARQL 1.1's functions on rdflib terms: the table of all, and the functions of terms and hashes.

Data's way: expression -> evaluator -> operators and **functions**.
rdflib's own are not used: they take "1_000" for a number and "f" for a flag, give a blank node a string, and CEIL of
an infinity raises what Python raises. Only functions that a user registers with rdflib are its (`evaluate.py`).
Invariant: a function returns a term or raises `ExpressionError`. One that needs more than these, as NOW does, is
the evaluator's.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

from rdflib import RDF, XSD, BNode, Literal, URIRef
from rdflib.term import Node

from retewave.compiler.expressions import chance
from retewave.compiler.expressions.casts import CASTS
from retewave.compiler.expressions.faults import ExpressionError
from retewave.compiler.expressions.functions_numbers import NUMBERS
from retewave.compiler.expressions.functions_patterns import regex, replace
from retewave.compiler.expressions.functions_strings import STRINGS, plain_string
from retewave.compiler.expressions.functions_times import TIMES
from retewave.compiler.expressions.numbers import is_numeric, raw_literal
from retewave.compiler.expressions.operators import FALSE, TRUE, plain
from retewave.compiler.terms import is_absolute, is_iri, resolve

__all__ = ["FUNCTIONS", "labelled"]

_TAG = re.compile(r"[A-Za-z]+(?:-[A-Za-z0-9]+)*")
_STRING = XSD.string  # rdflib looks such a name up anew each time
_LANG_STRING = RDF.langString


# Terms


def _str(term: Node) -> Node:
    if isinstance(term, BNode):
        raise ExpressionError("a blank node has no string")
    return raw_literal(str(term))


def _literal(term: Node) -> Literal:
    if not isinstance(term, Literal):
        raise ExpressionError("not a literal")
    return term


def _lang(term: Node) -> Node:
    return raw_literal(_literal(term).language or "")


def _datatype(term: Node) -> Node:
    literal = _literal(term)
    return _LANG_STRING if literal.language is not None else literal.datatype or _STRING


def _iri(term: Node, base: Node | None = None) -> Node:
    """Make an IRI of a string, resolved against the query's base."""
    if isinstance(term, URIRef):
        return term
    written = plain_string(term)
    if not is_absolute(written):
        if base is None:
            raise ExpressionError("a relative IRI and no base")
        written = resolve(str(base), written)
    if not is_iri(written):
        raise ExpressionError("not an IRI")
    return URIRef(written)


def labelled(label: Node, solution: Node) -> Node:
    """Return the blank node of a label: the same node within a solution, another in every other solution (17.4.2.9)."""
    return BNode(f"{solution}x{plain_string(label).encode().hex()}")


def _strdt(lexical: Node, datatype: Node) -> Node:
    """Make a literal with a datatype from a plain string."""
    if not isinstance(datatype, URIRef) or datatype == _LANG_STRING:
        raise ExpressionError("not a datatype")
    return raw_literal(plain_string(lexical), None if datatype == _STRING else datatype)


def _strlang(lexical: Node, tag: Node) -> Node:
    """Make a literal with a language from a plain string."""
    written, language = plain_string(lexical), plain_string(tag)
    if not _TAG.fullmatch(language):
        raise ExpressionError("not a language tag")
    return raw_literal(written, language=language.lower())


def _is(*kinds: type) -> Callable[[Node], Node]:
    return lambda term: TRUE if isinstance(term, kinds) else FALSE


def _is_numeric(term: Node) -> Node:
    return TRUE if is_numeric(term) else FALSE


def _same_term(one: Node, other: Node) -> Node:
    return TRUE if plain(one) == plain(other) else FALSE


# Hashes


def _hash(name: str) -> Callable[[Node], Node]:
    def apply(term: Node) -> Node:
        return raw_literal(hashlib.new(name, plain_string(term).encode(), usedforsecurity=False).hexdigest())

    return apply


FUNCTIONS: dict[str, Callable[..., Node]] = {
    "STR": _str,
    "LANG": _lang,
    "DATATYPE": _datatype,
    "IRI": _iri,
    "BNODE": chance.new_blank,
    "STRDT": _strdt,
    "STRLANG": _strlang,
    "UUID": lambda: URIRef(f"urn:uuid:{chance.new_uuid()}"),
    "STRUUID": lambda: raw_literal(chance.new_uuid()),
    "ISIRI": _is(URIRef),
    "ISBLANK": _is(BNode),
    "ISLITERAL": _is(Literal),
    "ISNUMERIC": _is_numeric,
    "SAMETERM": _same_term,
    "REGEX": regex,
    "REPLACE": replace,
    **{name: _hash(name.lower()) for name in ("MD5", "SHA1", "SHA256", "SHA384", "SHA512")},
    **NUMBERS,
    **STRINGS,
    **TIMES,
    **CASTS,
}
