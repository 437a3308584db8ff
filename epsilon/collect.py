"""Collect the supported axioms of a schema's triples, and name all that is not supported.

Data's way: sources -> triples -> **axioms** -> network.  Nothing is passed over in silence: a triple becomes
axioms, a declaration, an annotation, data (it says nothing about the schema), or an `Unsupported`.
A class expression is a blank node with a name of ours; which side of "entails" it stands on decides what
of it one triple can entail.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from retewave.epsilon.axioms import Axiom, Kind
from retewave.epsilon.expressions import STRUCTURE, Expressions, turtle
from retewave.epsilon.network import Node, class_node, property_node
from retewave.epsilon.vocabulary import (
    OWL,
    RDFS,
    TOP_CLASSES,
    TYPE,
    Triple,
    compact,
    is_literal,
    owl,
    rdf,
    rdfs,
)

__all__ = ["STATEMENTS", "Collected", "Unsupported", "collect"]


@dataclass(frozen=True)
class Unsupported:
    """A sort of axiom that was found and is not supported."""

    kind: str  # the OWL or RDFS term, and where it stands when that matters
    count: int  # how many there are
    first: str  # the first of them, in Turtle

    def __str__(self) -> str:
        return f"{self.count} x {self.kind}, first: {self.first}"


@dataclass(frozen=True)
class Collected:
    """The axioms that the triples of a schema state."""

    axioms: tuple[Axiom, ...]  # the supported axioms, in normal form, each once
    declared: tuple[Node, ...]  # classes and properties that are declared
    unsupported: tuple[Unsupported, ...]  # axioms that are not supported
    data: tuple[Triple, ...]  # triples that say nothing about the schema
    imports: tuple[bytes, ...]  # the IRIs that owl:imports names


_CLASSES = frozenset({owl("Class"), rdfs("Class"), owl("Restriction"), rdfs("Datatype"), owl("DeprecatedClass")})
_PROPERTIES = frozenset(
    {rdf("Property"), owl("DeprecatedProperty")}
    | {owl(name + "Property") for name in ("Object", "Datatype", "Annotation", "Ontology")}
)
_OTHER_DECLARATIONS = frozenset(owl(name) for name in ("Ontology", "NamedIndividual", "Axiom", "Annotation"))
_ANNOTATIONS = frozenset(
    {rdfs(name) for name in ("label", "comment", "seeAlso", "isDefinedBy")}
    | {owl("version" + name) for name in ("Info", "IRI")}
    | {owl(name) for name in ("priorVersion", "backwardCompatibleWith", "incompatibleWith", "deprecated")}
    | {owl("annotated" + name) for name in ("Source", "Property", "Target")}
)
STATEMENTS = {  # the predicates of axioms -> the normal form
    rdfs("subClassOf"): Kind.SUB_CLASS,
    owl("equivalentClass"): Kind.SUB_CLASS,
    rdfs("subPropertyOf"): Kind.SUB_PROPERTY,
    owl("equivalentProperty"): Kind.SUB_PROPERTY,
    rdfs("domain"): Kind.DOMAIN,
    rdfs("range"): Kind.RANGE,
    owl("inverseOf"): Kind.INVERSE,
}
_BOTH_WAYS = frozenset({owl("equivalentClass"), owl("equivalentProperty")})
_SCHEMA_PROPERTIES = frozenset(STATEMENTS)
_IMPORTS, _MEMBER = owl("imports"), rdfs("member")
_SYMMETRIC, _CONTAINER = owl("SymmetricProperty"), rdfs("ContainerMembershipProperty")
_VOCABULARIES = (b"<" + OWL, b"<" + RDFS)
_SCHEMA_CLASSES = frozenset({_SYMMETRIC, _CONTAINER})


@dataclass
class _Collector:
    """Sorts triples, in one pass, then the class expressions."""

    expressions: Expressions
    axioms: dict[Axiom, None] = field(default_factory=dict)
    declared: dict[Node, None] = field(default_factory=dict)
    beyond: dict[str, list[Triple]] = field(default_factory=lambda: defaultdict(list))
    data: list[Triple] = field(default_factory=list)
    imports: list[bytes] = field(default_factory=list)

    def take(self, triple: Triple) -> None:
        """Sort one triple."""
        subject, predicate, object_ = triple
        if predicate in STATEMENTS:
            self._statement(triple)
        elif predicate == TYPE:
            self._type(triple)
        elif predicate == _IMPORTS:
            self.imports.append(object_)
        elif predicate in STRUCTURE or predicate in _ANNOTATIONS or self.expressions.is_list_cell(subject):
            return
        elif predicate.startswith(_VOCABULARIES) and predicate != _MEMBER:
            self.beyond[compact(predicate)].append(triple)
        else:
            self.data.append(triple)

    def _statement(self, triple: Triple) -> None:
        subject, predicate, object_ = triple
        kind = STATEMENTS[predicate]
        if is_literal(object_):
            self.beyond[f"{compact(predicate)} with a literal"].append(triple)
            return
        if _is_about_the_vocabulary(kind, predicate, subject, object_):
            self.beyond["axiom about the schema vocabulary itself"].append(triple)
            return
        both_ways = predicate in _BOTH_WAYS
        stated = f"{compact(subject)} {compact(predicate)} {compact(object_)}" if both_ways else ""
        self.axioms[Axiom(kind, subject, object_, stated=stated)] = None
        if both_ways:
            self.axioms[Axiom(kind, object_, subject, stated=stated)] = None

    def _type(self, triple: Triple) -> None:
        subject, _, object_ = triple
        if object_ in _CLASSES:
            self.declared.setdefault(class_node(subject))
        elif object_ in _PROPERTIES:
            self.declared.setdefault(property_node(subject))
        elif object_ == _SYMMETRIC:
            stated = f"{compact(subject)} a owl:SymmetricProperty"
            self.axioms[Axiom(Kind.INVERSE, subject, subject, stated=stated)] = None
        elif object_ == _CONTAINER:
            stated = f"{compact(subject)} a rdfs:ContainerMembershipProperty"
            self.axioms[Axiom(Kind.SUB_PROPERTY, subject, rdfs("member"), stated=stated)] = None
        elif object_ in _OTHER_DECLARATIONS or self.expressions.is_list_cell(subject):
            return
        elif self.expressions.is_expression(object_):
            self.axioms[Axiom(Kind.FACT, subject, object_, stated=f"{compact(subject)} a []")] = None
        elif object_.startswith(b"<" + OWL) and object_ not in TOP_CLASSES:
            self.beyond[compact(object_)].append(triple)
        else:
            self.data.append(triple)


def collect(triples: Iterable[Triple]) -> Collected:
    """Sort the triples of a schema.

    >>> from retewave.epsilon.vocabulary import rdfs
    >>> str(collect([(b"<http://e/C>", rdfs("subClassOf"), b"<http://e/D>")]).axioms[0])
    '<http://e/C> rdfs:subClassOf <http://e/D>'
    """
    once = list(dict.fromkeys(triples))
    expressions = Expressions.of(once)
    collector = _Collector(expressions)
    for triple in once:
        collector.take(triple)
    for axiom in expressions.axioms():
        collector.axioms[axiom] = None
    for kind, triple in expressions.unsupported():
        collector.beyond[kind].append(triple)
    blank_free = (node for node in collector.declared if _is_named(node))
    return Collected(
        tuple(collector.axioms),
        tuple(blank_free),
        tuple(_summed_up(collector.beyond, once)),
        tuple(collector.data),
        tuple(dict.fromkeys(collector.imports)),
    )


def _is_named(node: Node) -> bool:
    return not any(part is not None and part.startswith(b"_:") for part in node)


def _summed_up(beyond: dict[str, list[Triple]], triples: list[Triple]) -> Iterator[Unsupported]:
    for kind, found in beyond.items():
        yield Unsupported(kind, len(found), turtle(found[0], triples))


def _is_about_the_vocabulary(kind: Kind, predicate: bytes, subject: bytes, object_: bytes) -> bool:
    """Tell whether an axiom would make schema axioms out of data."""
    ends = {object_, subject} if predicate in _BOTH_WAYS or kind is Kind.INVERSE else {object_}
    meta = _SCHEMA_CLASSES if kind in (Kind.SUB_CLASS, Kind.DOMAIN, Kind.RANGE) else _SCHEMA_PROPERTIES
    return bool(ends & meta)
