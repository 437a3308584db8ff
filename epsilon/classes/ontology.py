"""The class axioms of an ontology, read from its triples: inclusions of class expressions, and what roles are.

Data's way: triples of a schema -> **inclusions, role axioms** -> subsumptions -> proofs.
Invariant: an equivalence is two inclusions, a domain and a range are inclusions, disjoint classes have no common
member.  What is not read is named in `beyond`, with the names that it speaks of.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from retewave.epsilon.classes.expression import (
    NOTHING,
    THING,
    AllOf,
    AnyOf,
    AtLeast,
    AtMost,
    ClassExpression,
    Complement,
    DataType,
    Exactly,
    Facet,
    HasSelf,
    HasValue,
    NamedClass,
    OneOf,
    Only,
    Property,
    Restricted,
    Some,
    within,
)
from retewave.epsilon.vocabulary import TOP_CLASSES, TYPE, Triple, compact, is_blank, is_literal, owl, rdf, rdfs

__all__ = ["Inclusion", "Ontology", "RoleAxiom", "ontology_of"]

_XSD = b"<http://www.w3.org/2001/XMLSchema#"
_FACETS: dict[bytes, Facet] = {
    b"minInclusive>": ">=",
    b"minExclusive>": ">",
    b"maxInclusive>": "<=",
    b"maxExclusive>": "<",
    b"length>": "length",
    b"minLength>": "minLength",
    b"maxLength>": "maxLength",
    b"pattern>": "pattern",
    b"totalDigits>": "totalDigits",
    b"fractionDigits>": "fractionDigits",
}
_RECURSIVE = {owl("TransitiveProperty"): "owl:TransitiveProperty"}
_EQUATING = {
    owl(name): f"owl:{name}"
    for name in ("FunctionalProperty", "InverseFunctionalProperty", "ReflexiveProperty", "IrreflexiveProperty")
} | {owl("AsymmetricProperty"): "owl:AsymmetricProperty"}


@dataclass(frozen=True)
class Inclusion:
    """A class expression below another."""

    below: ClassExpression  # the class expression whose members are in it
    above: ClassExpression  # is in this, too
    stated: str = field(default="", compare=False)  # as the ontology says it, for messages

    def __str__(self) -> str:
        return self.stated or f"{self.below} SubClassOf {self.above}"


@dataclass(frozen=True)
class RoleAxiom:
    """What is said of roles, but that one is below another."""

    kind: str  # as OWL names it: TransitiveProperty …, DisjointProperties; SubObjectPropertyChain
    roles: tuple[Property, ...]  # of a chain: its parts, and the role above it


@dataclass(frozen=True)
class Ontology:
    """What an ontology says of classes and roles."""

    inclusions: tuple[Inclusion, ...] = ()  # each once
    roles: tuple[tuple[Property, Property], ...] = ()  # a role below another
    classes: frozenset[bytes] = frozenset()  # all classes that are named
    properties: frozenset[bytes] = frozenset()  # all properties that are named
    recursive: Mapping[bytes, str] = field(
        default_factory=dict
    )  # property -> why triples of it follow from others of it
    # property -> what the closure does not follow of it: that two of its ends are one, that all have it, or none
    equating: Mapping[bytes, str] = field(default_factory=dict)
    of_values: frozenset[bytes] = frozenset()  # properties that are declared to have values
    role_axioms: tuple[RoleAxiom, ...] = ()  # for a reasoner


def ontology_of(triples: Iterable[Triple]) -> Ontology:
    """Read an ontology.

    >>> from retewave.epsilon.vocabulary import rdfs
    >>> found = ontology_of([(b"<urn:C>", rdfs("subClassOf"), b"<urn:D>")])
    >>> str(found.inclusions[0]), sorted(found.classes)
    ('C SubClassOf D', [b'<urn:C>', b'<urn:D>'])
    """
    reading = _Reading(list(dict.fromkeys(triples)))
    inclusions = tuple(dict.fromkeys(reading.inclusions()))
    roles = tuple(dict.fromkeys(reading.roles()))
    classes = {*reading.declared(owl("Class"), rdfs("Class")), *_names(inclusions)}
    properties = {each.name for pair in roles for each in pair} | reading.properties()
    return Ontology(
        inclusions,
        roles,
        frozenset(each for each in classes if not is_blank(each)) - TOP_CLASSES,
        frozenset(properties),
        reading.of_kind(_RECURSIVE) | reading.chains(),
        reading.of_kind(_EQUATING),
        frozenset(reading.declared(owl("DatatypeProperty"))),
        tuple(dict.fromkeys(reading.role_axioms())),
    )


def _names(inclusions: Iterable[Inclusion]) -> Iterator[bytes]:
    for each in inclusions:
        for side in (each.below, each.above):
            yield from (one.name for one in within(side) if isinstance(one, NamedClass))


class _Reading:
    """Looks up triples by predicate and subject."""

    def __init__(self, triples: Sequence[Triple]) -> None:
        self.triples = triples
        self.about: dict[bytes, dict[bytes, list[bytes]]] = defaultdict(lambda: defaultdict(list))
        for s, p, o in triples:
            self.about[s][p].append(o)

    def declared(self, *kinds: bytes) -> set[bytes]:
        return {s for s, p, o in self.triples if p == TYPE and o in kinds}

    def properties(self) -> set[bytes]:
        kinds = {owl("ObjectProperty"), owl("DatatypeProperty"), rdf("Property"), owl("SymmetricProperty")}
        found = {s for s, p, o in self.triples if p == TYPE and o in {*kinds, *_RECURSIVE, *_EQUATING}}
        found |= {s for s, p, o in self.triples if p in (rdfs("domain"), rdfs("range"))}
        found |= {o for s, p, o in self.triples if p == owl("onProperty") and not is_blank(o)}
        return found

    def of_kind(self, kinds: Mapping[bytes, str]) -> dict[bytes, str]:
        return {s: kinds[o] for s, p, o in self.triples if p == TYPE and o in kinds}

    def chains(self) -> dict[bytes, str]:
        return {s: "owl:propertyChainAxiom" for s, p, _ in self.triples if p == owl("propertyChainAxiom")}

    def inclusions(self) -> Iterator[Inclusion]:
        for s, p, o in self.triples:
            if is_literal(o):
                continue
            if p == rdfs("subClassOf"):
                yield self._inclusion(s, o)
            elif p == owl("equivalentClass"):
                yield self._inclusion(s, o, "EquivalentTo")
                yield self._inclusion(o, s, "EquivalentTo", swapped=True)
            elif p in (rdfs("domain"), rdfs("range")):
                yield self._end(s, p, o)
            else:
                yield from self._of_classes(s, p, o)

    def _end(self, s: bytes, p: bytes, o: bytes) -> Inclusion:
        said = f"{NamedClass(s)} {compact(p)} {self.expression(o)}"
        if p == rdfs("domain"):
            return Inclusion(Some(self.role(s), THING), self.expression(o), said)
        return Inclusion(THING, Only(self.role(s), self.expression(o)), said)

    def _of_classes(self, s: bytes, p: bytes, o: bytes) -> Iterator[Inclusion]:
        if p == owl("disjointWith") or (p == owl("complementOf") and not is_blank(s)):
            yield self._apart(s, o)
        elif p in (owl("unionOf"), owl("intersectionOf"), owl("oneOf")) and not is_blank(s):
            yield from self._spelled(s)
        elif p == owl("disjointUnionOf"):
            yield from self._partition(s, self.members(o))
        elif p == owl("members") and owl("AllDisjointClasses") in self.about[s][TYPE]:
            yield from (self._apart(one, other) for one, other in combinations(self.members(o), 2))

    def _inclusion(self, s: bytes, o: bytes, said: str = "SubClassOf", swapped: bool = False) -> Inclusion:
        below, above = self.expression(s), self.expression(o)
        text = f"{above} {said} {below}" if swapped else f"{below} {said} {above}"
        return Inclusion(below, above, text)

    def _apart(self, one: bytes, other: bytes) -> Inclusion:
        said = f"{self.expression(one)} DisjointWith {self.expression(other)}"
        return Inclusion(AllOf((self.expression(one), self.expression(other))), NOTHING, said)

    def _spelled(self, s: bytes) -> Iterator[Inclusion]:
        spelled = self._boolean(s)
        if spelled is not None:
            yield Inclusion(NamedClass(s), spelled, f"{NamedClass(s)} EquivalentTo {spelled}")
            yield Inclusion(spelled, NamedClass(s), f"{NamedClass(s)} EquivalentTo {spelled}")

    def _partition(self, s: bytes, members: Sequence[bytes]) -> Iterator[Inclusion]:
        union = AnyOf(tuple(map(self.expression, members)))
        yield Inclusion(self.expression(s), union)
        yield Inclusion(union, self.expression(s))
        yield from (self._apart(one, other) for one, other in combinations(members, 2))

    def roles(self) -> Iterator[tuple[Property, Property]]:
        for s, p, o in self.triples:
            if p == rdfs("subPropertyOf"):
                yield self.role(s), self.role(o)
            elif p == owl("equivalentProperty"):
                yield self.role(s), self.role(o)
                yield self.role(o), self.role(s)
            elif p == owl("inverseOf") and not is_blank(s):
                yield self.role(s), _turned(self.role(o))
                yield _turned(self.role(o)), self.role(s)
            elif p == TYPE and o == owl("SymmetricProperty"):
                yield self.role(s), _turned(self.role(s))

    def role_axioms(self) -> Iterator[RoleAxiom]:
        for s, p, o in self.triples:
            if p == TYPE and (o in _EQUATING or o in _RECURSIVE):
                yield RoleAxiom((_EQUATING | _RECURSIVE)[o].removeprefix("owl:"), (self.role(s),))
            elif p == owl("propertyDisjointWith"):
                yield RoleAxiom("DisjointProperties", (self.role(s), self.role(o)))
            elif p == owl("propertyChainAxiom"):
                yield RoleAxiom("SubObjectPropertyChain", (*map(self.role, self.members(o)), self.role(s)))

    def role(self, node: bytes) -> Property:
        inverse = self.about[node][owl("inverseOf")] if is_blank(node) else ()
        return _turned(self.role(inverse[0])) if inverse else Property(node)

    def members(self, head: bytes) -> tuple[bytes, ...]:
        found: list[bytes] = []
        seen: set[bytes] = set()
        while head != rdf("nil") and head not in seen and self.about[head][rdf("first")]:
            seen.add(head)
            found.append(self.about[head][rdf("first")][0])
            head = next(iter(self.about[head][rdf("rest")]), rdf("nil"))
        return tuple(found)

    def expression(self, node: bytes) -> ClassExpression:
        """Return the class expression, or the data range, of a node."""
        if not is_blank(node):
            if node in TOP_CLASSES:
                return THING
            return DataType(node) if node.startswith(_XSD) or node == rdfs("Literal") else NamedClass(node)
        found = self._boolean(node) or self._restriction(node) or self._data_range(node)
        return NamedClass(node) if found is None else found

    def _boolean(self, node: bytes) -> ClassExpression | None:
        about = self.about[node]
        for predicate, make in ((owl("intersectionOf"), AllOf), (owl("unionOf"), AnyOf)):
            for head in about[predicate]:
                return make(tuple(map(self.expression, self.members(head))))
        for head in about[owl("oneOf")]:
            return OneOf(self.members(head))
        for each in (*about[owl("complementOf")], *about[owl("datatypeComplementOf")]):
            return Complement(self.expression(each))
        return None

    def _restriction(self, node: bytes) -> ClassExpression | None:
        about = self.about[node]
        if not about[owl("onProperty")]:
            return None
        role = self.role(about[owl("onProperty")][0])
        for predicate, make in ((owl("someValuesFrom"), Some), (owl("allValuesFrom"), Only)):
            for each in about[predicate]:
                return make(role, self.expression(each))
        for each in about[owl("hasValue")]:
            return HasValue(role, each)
        if about[owl("hasSelf")]:
            return HasSelf(role)
        return self._numbered(role, about)

    def _numbered(self, role: Property, about: Mapping[bytes, list[bytes]]) -> ClassExpression | None:
        fillers = [*about[owl("onClass")], *about[owl("onDataRange")]]
        filler = self.expression(fillers[0]) if fillers else THING
        for name, make in (("min", AtLeast), ("max", AtMost), ("", Exactly)):
            for form in (f"{name}Cardinality", f"{name}QualifiedCardinality"):
                for each in about[owl(form[0].lower() + form[1:])]:
                    return make(role, int(each.split(b'"')[1]), filler)
        return None

    def _data_range(self, node: bytes) -> ClassExpression | None:
        about = self.about[node]
        for datatype in about[owl("onDatatype")]:
            cells = [cell for head in about[owl("withRestrictions")] for cell in self.members(head)]
            facets = (
                (_FACETS[predicate.rpartition(b"#")[2]], values[0])
                for cell in cells
                for predicate, values in self.about[cell].items()
                if predicate.rpartition(b"#")[2] in _FACETS and values
            )
            return Restricted(datatype, tuple(facets))
        return None


def _turned(role: Property) -> Property:
    return Property(role.name, not role.inverse)
