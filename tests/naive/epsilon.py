"""What schema reasoning means, as plainly as it can be written: a fixpoint over the axioms, by nested loops.

The ε-network is compared with this, and this with owlrl.  It knows no network, no walk, no tables.
"""

from __future__ import annotations

from collections.abc import Iterable

from retewave.epsilon.atoms import Atom
from retewave.epsilon.axioms import Axiom, Kind
from retewave.epsilon.network import CONTAINER_MEMBERS
from retewave.epsilon.vocabulary import TYPE, Triple, is_blank, is_literal, membership_property, rdfs

__all__ = ["entailed", "facts", "matches"]

_MEMBERS = frozenset(membership_property(number) for number in range(1, CONTAINER_MEMBERS + 1))


def entailed(axioms: Iterable[Axiom], triple: Triple) -> set[Triple]:
    """Return all that a triple entails over some axioms, itself included."""
    return {triple} | {each for each in _closed(tuple(axioms), {triple}) if _is_said(each)}


def facts(axioms: Iterable[Axiom]) -> set[Triple]:
    """Return all that the axioms' own facts entail."""
    known = tuple(axioms)
    stated = {(axiom.subject, TYPE, axiom.object) for axiom in known if axiom.kind is Kind.FACT}
    return {each for each in _closed(known, stated) if _is_said(each)}


def matches(atom: Atom, triple: Triple) -> bool:
    """Tell whether a triple is one that an atom asks for."""
    subject, predicate, object_ = triple
    return (
        (atom.subject is None or subject in atom.subject)
        and (atom.predicate is None or predicate in atom.predicate)
        and (atom.object is None or object_ in atom.object)
    )


def _closed(axioms: tuple[Axiom, ...], triples: set[Triple]) -> set[Triple]:
    found = set(triples)
    waiting = list(triples)
    while waiting:
        triple = waiting.pop()
        new = {conclusion for axiom in axioms for conclusion in _concluded(axiom, triple)} - found
        if triple[1] in _MEMBERS:
            new |= {(triple[0], rdfs("member"), triple[2])} - found
        found |= new
        waiting += new
    return found


def _concluded(axiom: Axiom, triple: Triple) -> list[Triple]:
    s, p, o = triple
    a, b = axiom.subject, axiom.object
    match axiom.kind:
        case Kind.SUB_CLASS:
            return [(s, TYPE, b)] if (p, o) == (TYPE, a) else []
        case Kind.SUB_PROPERTY:
            return [(s, b, o)] if p == a else []
        case Kind.DOMAIN:
            return [(s, TYPE, b)] if p == a else []
        case Kind.RANGE:
            return [(o, TYPE, b)] if p == a else []
        case Kind.INVERSE:
            return [(o, b, s)] * (p == a) + [(o, a, s)] * (p == b)
        case Kind.HAS_VALUE:
            assert axiom.property is not None
            return [(s, axiom.property, b)] if (p, o) == (TYPE, a) else []
        case Kind.OF_VALUE:
            return [(s, TYPE, a)] if (p, o) == (axiom.property, b) else []
        case Kind.FACT:
            return []


def _is_said(triple: Triple) -> bool:
    """Tell whether it is an RDF triple, about no nameless class of the schema."""
    s, p, o = triple
    return not (is_literal(s) or is_blank(p) or (p == TYPE and is_blank(o)))
