"""The full ε-network: one node a property, one node a class, and the links that carry entailment.

Data's way: schema -> axioms -> **network** -> reduction -> dispatch tables.  It is built exactly as section
3.3 of the Sparkwave paper says; a node is a triple pattern.  The nodes (? p v) for owl:hasValue are an
addition.  The network is never run: it is walked backwards from what patterns ask (`derive`), counted and
drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from retewave.epsilon.axioms import Axiom, Kind
from retewave.epsilon.vocabulary import TYPE, compact

if TYPE_CHECKING:
    import networkx

__all__ = ["Link", "LinkKind", "Network", "Node", "class_node", "graph_of", "property_node", "value_node"]


CONTAINER_MEMBERS = 100  # rdf:_1 to rdf:_100: there is no end of them, so a bound; a schema may declare more


class LinkKind(Enum):
    """What a link carries from the triple of its source to the triple of its target (section 3.3)."""

    S = "S"  # the subject, which is the subject of a class node's triple
    O = "O"  # noqa: E741  the object, which becomes the subject of a class node's triple
    SO = "SO"  # both
    OS = "OS"  # both, swapped
    NONE = "-"  # neither: the entailed triple is made of the schema's constants alone


class Node(NamedTuple):
    """A triple pattern; None is "any term"."""

    subject: bytes | None  # a constant only behind a reduction
    predicate: bytes | None
    object: bytes | None  # the class of a class node, the value of a value node

    @property
    def is_class(self) -> bool:
        """Tell whether this is a class node, `? rdf:type c`."""
        return self.subject is None and self.predicate == TYPE and self.object is not None

    @property
    def is_property(self) -> bool:
        """Tell whether this is a property node, `? p ?`."""
        return self.subject is None and self.predicate is not None and self.object is None

    def __str__(self) -> str:
        return " ".join("?" if part is None else compact(part) for part in self)


def property_node(predicate: bytes) -> Node:
    """Return the node `? p ?`.

    >>> str(property_node(b"<http://e/p>"))
    '? <http://e/p> ?'
    """
    return Node(None, predicate, None)


def class_node(name: bytes) -> Node:
    """Return the node `? rdf:type c`."""
    return Node(None, TYPE, name)


def value_node(predicate: bytes, value: bytes) -> Node:
    """Return the node `? p v` of an owl:hasValue."""
    return Node(None, predicate, value)


class Link(NamedTuple):
    """An axiom as a link: a triple of the source entails a triple of the target."""

    source: Node
    target: Node
    kind: LinkKind
    axiom: Axiom


@dataclass(frozen=True)
class Network:
    """The links of a schema, found by their target.

    >>> network = Network.of([Axiom(Kind.SUB_CLASS, b"<http://e/C>", b"<http://e/D>")])
    >>> network.count_links(LinkKind.S), len(network.class_nodes)
    (1, 2)
    """

    into: Mapping[Node, tuple[Link, ...]]  # every node -> the links that end there
    facts: Mapping[bytes, tuple[Axiom, ...]] = field(default_factory=dict)  # class -> its members for ever
    containers: int = CONTAINER_MEMBERS  # rdf:_1 to this one are sub-properties of rdfs:member, undeclared

    @classmethod
    def of(cls, axioms: Iterable[Axiom], declared: Iterable[Node] = (), containers: int = CONTAINER_MEMBERS) -> Network:
        """Build the full network of some axioms; the same link stated twice is one link."""
        into: dict[Node, dict[tuple[Node, LinkKind], Link]] = {node: {} for node in declared}
        facts: dict[bytes, list[Axiom]] = {}
        for axiom in axioms:
            if axiom.kind is Kind.FACT:
                facts.setdefault(axiom.object, []).append(axiom)
            for link in _links(axiom):
                into.setdefault(link.source, {})
                into.setdefault(link.target, {}).setdefault((link.source, link.kind), link)
        return cls(
            {node: tuple(found.values()) for node, found in into.items()},
            {name: tuple(found) for name, found in facts.items()},
            containers,
        )

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Return every node."""
        return tuple(self.into)

    @property
    def links(self) -> tuple[Link, ...]:
        """Return every link."""
        return tuple(link for found in self.into.values() for link in found)

    @property
    def class_nodes(self) -> tuple[Node, ...]:
        """Return the nodes `? rdf:type c`."""
        return tuple(node for node in self.into if node.is_class)

    @property
    def property_nodes(self) -> tuple[Node, ...]:
        """Return the nodes `? p ?`."""
        return tuple(node for node in self.into if node.is_property)

    @cached_property
    def values(self) -> Mapping[bytes, tuple[Node, ...]]:
        """Return, by predicate, the nodes with a constant object that some link ends in."""
        found: dict[bytes, list[Node]] = {}
        for node, links in self.into.items():
            if node.object is not None and node.predicate is not None and links:
                found.setdefault(node.predicate, []).append(node)
        return {predicate: tuple(nodes) for predicate, nodes in found.items()}

    @cached_property
    def predicates(self) -> frozenset[bytes]:
        """Return every predicate that a node names."""
        return frozenset(node.predicate for node in self.into if node.predicate is not None)

    def count_links(self, kind: LinkKind) -> int:
        """Return how many links of a kind there are."""
        return Counter(link.kind for link in self.links)[kind]

    def to_networkx(self) -> networkx.MultiDiGraph:
        """Return the network as a graph; nodes carry `label` and `type`, links `kind` and `axiom`."""
        return graph_of(self.nodes, ((link.source, link.target, link.kind, str(link.axiom)) for link in self.links))


def graph_of(nodes: Iterable[Node], links: Iterable[tuple[Node, Node, LinkKind, str]]) -> networkx.MultiDiGraph:
    """Return nodes and links as a networkx graph."""
    import networkx  # only drawings need it

    graph = networkx.MultiDiGraph()
    for node in nodes:
        shape = "class" if node.is_class else "property" if node.is_property else "value"
        graph.add_node(node, label=str(node), type=shape)
    for source, target, kind, axiom in links:
        graph.add_edge(source, target, kind=kind.value, axiom=axiom)
    return graph


def _links(axiom: Axiom) -> Iterator[Link]:
    """Yield the links of one axiom, as section 3.3 says."""
    subject, object_ = axiom.subject, axiom.object
    match axiom.kind:
        case Kind.SUB_CLASS:
            yield Link(class_node(subject), class_node(object_), LinkKind.S, axiom)
        case Kind.SUB_PROPERTY:
            yield Link(property_node(subject), property_node(object_), LinkKind.SO, axiom)
        case Kind.DOMAIN:
            yield Link(property_node(subject), class_node(object_), LinkKind.S, axiom)
        case Kind.RANGE:
            yield Link(property_node(subject), class_node(object_), LinkKind.O, axiom)
        case Kind.INVERSE:
            yield Link(property_node(subject), property_node(object_), LinkKind.OS, axiom)
            yield Link(property_node(object_), property_node(subject), LinkKind.OS, axiom)
        case Kind.HAS_VALUE:
            assert axiom.property is not None
            yield Link(class_node(subject), value_node(axiom.property, object_), LinkKind.S, axiom)
        case Kind.OF_VALUE:
            assert axiom.property is not None
            yield Link(value_node(axiom.property, object_), class_node(subject), LinkKind.S, axiom)
        case Kind.FACT:
            return
