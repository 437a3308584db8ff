"""Class expressions: restrictions, unions, intersections and enumerations, as axioms about a node's name.

Data's way: triples -> **expressions** -> axioms.  An expression stands on the left when being in it entails
something (it is a sub-class), on the right when something entails being in it.  One triple can tell
membership of a union, or of what has some value; it cannot tell which member of a union is meant.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from retewave.epsilon.axioms import Axiom, Kind
from retewave.epsilon.vocabulary import (
    TOP_CLASSES,
    TYPE,
    Triple,
    compact,
    is_blank,
    is_iri,
    owl,
    rdf,
    rdfs,
)
from retewave.errors import SchemaError

__all__ = ["STRUCTURE", "Expressions", "turtle"]

_UNION, _INTERSECTION, _ONE_OF = owl("unionOf"), owl("intersectionOf"), owl("oneOf")
_HAS_VALUE, _SOME = owl("hasValue"), owl("someValuesFrom")
_UNREADABLE = tuple(
    owl(name)
    for name in (
        "allValuesFrom",
        "cardinality",
        "minCardinality",
        "maxCardinality",
        "qualifiedCardinality",
        "minQualifiedCardinality",
        "maxQualifiedCardinality",
        "hasSelf",
        "complementOf",
        "datatypeComplementOf",
        "onDatatype",
        "onProperties",
    )
)
_MEMBERS = (_UNION, _INTERSECTION, _ONE_OF)
_DETAILS = frozenset(owl(name) for name in ("onProperty", "onClass", "onDataRange", "withRestrictions"))
STRUCTURE = frozenset({*_UNREADABLE, *_MEMBERS, _HAS_VALUE, _SOME, *_DETAILS})  # triples that spell expressions

_LIST = frozenset({rdf("first"), rdf("rest")})
_EQUIVALENT = owl("equivalentClass")
_LEFT_OF = frozenset({rdfs("subClassOf"), owl("equivalentClass")})  # its subject is on the left
_RIGHT_OF = frozenset({rdfs("subClassOf"), owl("equivalentClass"), rdfs("domain"), rdfs("range")})


@dataclass(frozen=True)
class Expressions:
    """The class expressions of a schema, with where each stands."""

    parts: Mapping[bytes, Mapping[bytes, Sequence[bytes]]]  # predicate -> node -> objects
    left: frozenset[bytes]  # nodes whose membership entails something
    right: frozenset[bytes]  # nodes whose membership is entailed

    @classmethod
    def of(cls, triples: Iterable[Triple]) -> Expressions:
        """Index the triples that spell expressions."""
        parts: dict[bytes, dict[bytes, list[bytes]]] = defaultdict(lambda: defaultdict(list))
        left, right = set[bytes](), set[bytes]()
        for subject, predicate, object_ in triples:
            if predicate in STRUCTURE or predicate in _LIST:
                parts[predicate][subject].append(object_)
            if predicate in _LEFT_OF:
                left.add(subject)
            if predicate in _RIGHT_OF:
                right.add(object_)
            if predicate == _EQUIVALENT:
                left.add(object_)
                right.add(subject)
        found = cls(parts, frozenset(left), frozenset(right))
        return cls(parts, found.left | found._members(_UNION), found.right | found._members(_INTERSECTION))

    def is_list_cell(self, node: bytes) -> bool:
        """Tell whether a node is a nameless cell of a list: syntax, which says nothing on its own."""
        return is_blank(node) and node in self._cells

    def is_expression(self, node: bytes) -> bool:
        """Tell whether a node is a nameless class that is spelled out."""
        return is_blank(node) and any(node in nodes for at, nodes in self.parts.items() if at in STRUCTURE)

    def axioms(self) -> Iterator[Axiom]:
        """Yield the axioms of the expressions: those by which one triple entails another."""
        yield from self._member_axioms()
        for node, values in self._of(_HAS_VALUE).items():
            for on in self._of(owl("onProperty")).get(node, ()):
                for value in values:
                    yield Axiom(Kind.HAS_VALUE, node, value, on)
                    yield Axiom(Kind.OF_VALUE, node, value, on)
        for node, classes in self._of(_SOME).items():
            if not TOP_CLASSES.isdisjoint(classes):
                for on in self._of(owl("onProperty")).get(node, ()):
                    stated = f"{self._shown(node)} owl:onProperty {compact(on)} ; owl:someValuesFrom owl:Thing"
                    yield Axiom(Kind.DOMAIN, on, node, stated=stated)

    def unsupported(self) -> Iterator[tuple[str, Triple]]:
        """Yield the further statements of the expressions: their kind, and a triple of each."""
        for predicate in _UNREADABLE:
            for node, objects in self._of(predicate).items():
                yield compact(predicate), (node, predicate, objects[0])
        for node, classes in self._of(_SOME).items():
            if TOP_CLASSES.isdisjoint(classes):
                yield "owl:someValuesFrom of a class", (node, _SOME, classes[0])
            elif node in self.right:
                yield "owl:someValuesFrom as a super-class", (node, _SOME, classes[0])
        for predicate in (_HAS_VALUE, _SOME):
            for node, objects in self._of(predicate).items():
                if node not in self._of(owl("onProperty")):
                    yield f"{compact(predicate)} without owl:onProperty", (node, predicate, objects[0])
        yield from self._wrong_sides()

    def _wrong_sides(self) -> Iterator[tuple[str, Triple]]:
        for predicate in _MEMBERS:
            for node, heads in self._of(predicate).items():
                for head in heads:
                    many = len(self._list(head)) > 1
                    on_left = (node in self.left or is_iri(node)) and many
                    on_right = node in self.right or is_iri(node)
                    if predicate == _INTERSECTION and on_left:
                        yield "owl:intersectionOf as a sub-class", (node, predicate, head)
                    if predicate == _UNION and on_right and many:
                        yield "owl:unionOf as a super-class", (node, predicate, head)
                    if predicate == _ONE_OF and on_right:
                        yield "owl:oneOf as a super-class", (node, predicate, head)

    def _member_axioms(self) -> Iterator[Axiom]:
        for predicate in _MEMBERS:
            for node, heads in self._of(predicate).items():
                for head in heads:
                    members = self._list(head)
                    shown = " ".join(self._shown(member) for member in members)
                    stated = f"{self._shown(node)} {compact(predicate)} ( {shown} )"
                    yield from _of_members(predicate, node, members, stated)

    def _members(self, predicate: bytes) -> frozenset[bytes]:
        return frozenset(m for heads in self._of(predicate).values() for head in heads for m in self._list(head))

    def _list(self, head: bytes) -> tuple[bytes, ...]:
        """Return a list's members; a list that is cut short or runs in a circle is a SchemaError."""
        members: list[bytes] = []
        cells: set[bytes] = set()
        while head != rdf("nil"):
            first, rest = self._of(rdf("first")).get(head, ()), self._of(rdf("rest")).get(head, ())
            if head in cells or len(first) != 1 or len(rest) != 1:
                raise SchemaError(
                    f"a list of a class expression is broken behind {len(members)} members",
                    hint="each cell needs one rdf:first and one rdf:rest, and the last rdf:rest is rdf:nil",
                )
            cells.add(head)
            members.append(first[0])
            head = rest[0]
        return tuple(members)

    @cached_property
    def _cells(self) -> frozenset[bytes]:
        return frozenset(self._of(rdf("first"))) | frozenset(self._of(rdf("rest")))

    def _of(self, predicate: bytes) -> Mapping[bytes, Sequence[bytes]]:
        return self.parts.get(predicate, {})

    def _shown(self, node: bytes) -> str:
        return "[]" if is_blank(node) else compact(node)


def _of_members(predicate: bytes, node: bytes, members: Sequence[bytes], stated: str) -> Iterator[Axiom]:
    for member in members:
        if predicate == _ONE_OF:
            yield Axiom(Kind.FACT, member, node, stated=stated)
            continue
        if predicate == _UNION or len(members) == 1:
            yield Axiom(Kind.SUB_CLASS, member, node, stated=stated)
        if predicate == _INTERSECTION or len(members) == 1:
            yield Axiom(Kind.SUB_CLASS, node, member, stated=stated)


def turtle(triple: Triple, triples: Sequence[Triple]) -> str:
    """Return the statement that a triple belongs to, in Turtle, its blank nodes written out.

    >>> turtle((b"<http://e/p>", rdfs("range"), b"_:x"), [(b"_:x", owl("cardinality"), b'"1"')])
    '<http://e/p> rdfs:range [ owl:cardinality "1" ] .'
    """
    about: dict[bytes, list[Triple]] = defaultdict(list)
    users: dict[bytes, Triple] = {}
    for each in triples:
        if is_blank(each[0]):
            about[each[0]].append(each)
        if is_blank(each[2]):
            users.setdefault(each[2], each)
    seen: set[Triple] = set()
    while is_blank(triple[0]) and triple[0] in users and triple not in seen:
        seen.add(triple)
        triple = users[triple[0]]
    subject, predicate, object_ = (_written(term, about, 8) for term in triple)
    return f"{subject} {'a' if triple[1] == TYPE else predicate} {object_} ."


def _written(term: bytes, about: Mapping[bytes, Sequence[Triple]], depth: int) -> str:
    if not is_blank(term):
        return compact(term)
    if depth == 0 or not about.get(term):
        return "[]"
    if any(predicate == rdf("first") for _, predicate, _ in about[term]):
        return f"( {' '.join(_written_list(term, about, depth))} )"
    said = (
        f"{'a' if predicate == TYPE else compact(predicate)} {_written(object_, about, depth - 1)}"
        for _, predicate, object_ in about[term]
    )
    return f"[ {' ; '.join(said)} ]"


def _written_list(cell: bytes, about: Mapping[bytes, Sequence[Triple]], depth: int) -> Iterator[str]:
    seen: set[bytes] = set()
    while cell not in seen:
        seen.add(cell)
        said = {predicate: object_ for _, predicate, object_ in about.get(cell, ())}
        if rdf("first") in said:
            yield _written(said[rdf("first")], about, depth - 1)
        cell = said.get(rdf("rest"), cell)
