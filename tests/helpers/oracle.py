"""owlrl as the oracle: the closure of schema and data, restricted to what a stream's triples entail.

owlrl says more than a stream asks: schema triples, reflexive owl:sameAs, types in the vocabularies of RDF,
RDFS and OWL, literals and blank class expressions.  `closure` leaves those out, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable

import owlrl
import rdflib
from rdflib import Graph
from rdflib.term import BNode, Literal, URIRef

from retewave.epsilon.texts import text_of
from retewave.epsilon.vocabulary import OWL, RDF, RDFS, TYPE, Triple, is_blank, is_literal, membership_property, rdfs

__all__ = ["closure", "resources"]

_VOCABULARIES = (b"<" + RDF, b"<" + RDFS, b"<" + OWL)
_CONTAINER = rdfs("ContainerMembershipProperty")
_KEPT = frozenset({TYPE, rdfs("member")})


def closure(triples: Iterable[Triple]) -> set[Triple]:
    """Return the closure under OWL 2 RL, without what is only about the vocabularies.

    OWL 2 RL has all rules of RDFS that are asked here but rdfs12, which is given as axioms: with its RDFS
    rules too, owlrl takes four times as long.
    """
    said = list(triples)
    said += [(p, rdfs("subPropertyOf"), rdfs("member")) for p, _, o in said if o == _CONTAINER]
    said += [(membership_property(n), rdfs("subPropertyOf"), rdfs("member")) for n in (1, 2)]
    graph = Graph()
    graph.parse(data=b"".join(b" ".join(triple) + b" .\n" for triple in said), format="nt")
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
    rows = ((_text(s), _text(p), _text(o)) for s, p, o in graph)
    return {row for row in rows if _is_about_data(row)}


def resources(triples: Iterable[Triple]) -> set[bytes]:
    """Return all that is an rdfs:Resource under RDFS."""
    graph = Graph()
    graph.parse(data=b"".join(b" ".join(triple) + b" .\n" for triple in triples), format="nt")
    owlrl.DeductiveClosure(owlrl.RDFS_Semantics).expand(graph)
    return {_text(subject) for subject in graph.subjects(rdflib.RDF.type, rdflib.RDFS.Resource)}


def _text(term: object) -> bytes:
    assert isinstance(term, URIRef | BNode | Literal), term
    return text_of(term)


def _is_about_data(triple: Triple) -> bool:
    s, p, o = triple
    if is_literal(s) or is_blank(s) or is_blank(p):
        return False
    if p == TYPE:
        return not (is_blank(o) or o.startswith((*_VOCABULARIES, b"<http://www.w3.org/2001/XMLSchema#")))
    container = p.startswith(b"<" + RDF + b"_")
    return p in _KEPT or container or not p.startswith(_VOCABULARIES)
