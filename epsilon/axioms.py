"""The single-premise axioms that the ε-network understands, in one normal form.

Data's way: schema triples -> **axioms** -> network.  An axiom is one of eight kinds; every supported OWL
construct is a few of them (equivalentClass is two subClassOf, unionOf is one subClassOf a member, ...).
Each says: one triple, on its own, entails another.  That is what keeps the network stateless.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from retewave.epsilon.vocabulary import compact

__all__ = ["Axiom", "Kind"]


class Kind(Enum):
    """What an axiom lets one triple entail; C, D are classes, p, q properties, v a term."""

    SUB_CLASS = "rdfs:subClassOf"  # (x a C) entails (x a D)
    SUB_PROPERTY = "rdfs:subPropertyOf"  # (x p y) entails (x q y)
    DOMAIN = "rdfs:domain"  # (x p y) entails (x a C)
    RANGE = "rdfs:range"  # (x p y) entails (y a C)
    INVERSE = "owl:inverseOf"  # (x p y) entails (y q x), and (x q y) entails (y p x)
    HAS_VALUE = "owl:hasValue"  # (x a C) entails (x p v)
    OF_VALUE = "owl:hasValue, read backwards"  # (x p v) entails (x a C)
    FACT = "rdf:type"  # (v a C) holds


@dataclass(frozen=True)
class Axiom:
    """One axiom in normal form.

    >>> str(Axiom(Kind.DOMAIN, b"<http://e/p>", b"<http://e/C>"))
    '<http://e/p> rdfs:domain <http://e/C>'
    """

    kind: Kind  # how it lets a triple entail another
    subject: bytes  # the class or property that the premise names; a FACT's v
    object: bytes  # the class or property that the conclusion names; for the hasValue kinds: v
    property: bytes | None = None  # the p of the two hasValue kinds
    stated: str = field(default="", compare=False)  # how the schema said it, when that differs from the normal form

    def __str__(self) -> str:
        if self.stated:
            return self.stated
        if self.property is None:
            return f"{compact(self.subject)} {self.kind.value} {compact(self.object)}"
        value = f"[ owl:onProperty {compact(self.property)} ; owl:hasValue {compact(self.object)} ]"
        if self.kind is Kind.HAS_VALUE:
            return f"{compact(self.subject)} rdfs:subClassOf {value}"
        return f"{value} rdfs:subClassOf {compact(self.subject)}"
