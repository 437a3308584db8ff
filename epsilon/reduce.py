"""The reduced ε-network: what the registered patterns can see of a schema, flattened.

Data's way: network + atoms -> **reduction** -> dispatch tables.  Every relevant input property and class is
linked straight to what is asked (section 3.4 of the paper).  Its invariant: an atom gets from it exactly the
triples that it would get from the full network.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

from retewave.epsilon.atoms import Atom
from retewave.epsilon.derivation import INPUT, OBJECT, SUBJECT, Derivation, Goal
from retewave.epsilon.derive import Answers, answers, path
from retewave.epsilon.network import LinkKind, Network, Node, graph_of

if TYPE_CHECKING:
    import networkx

__all__ = ["FlatLink", "Reduction", "goals", "reduce"]


@dataclass(frozen=True)
class FlatLink:
    """A derivation drawn as a link from the input's node to the asked node."""

    source: Node  # the form of the input triple
    target: Node  # the form of the entailed triple
    kind: LinkKind  # which term of the input triple comes to which place


@dataclass(frozen=True)
class Reduction:
    """The derivations of each goal of each atom, without the steps between."""

    network: Network  # the full network that was reduced
    atoms: tuple[Atom, ...]  # the demand
    answered: dict[Goal, Answers]  # each goal of an atom -> all that it can get

    @cached_property
    def links(self) -> tuple[FlatLink, ...]:
        """Return the flattened links; an input that is asked for as it is needs none."""
        every = (one for found in self.answered.values() for one in found.derivations)
        return tuple(dict.fromkeys(_flat(one) for one in every if not one.is_identity))

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Return the nodes of the links and of the goals that name a predicate."""
        asked = [Node(*goal) for goal in self.answered if goal.predicate is not None]
        linked = [node for link in self.links for node in (link.source, link.target)]
        return tuple(dict.fromkeys(asked + linked))

    @property
    def class_nodes(self) -> tuple[Node, ...]:
        """Return the nodes `? rdf:type c`."""
        return tuple(node for node in self.nodes if node.is_class)

    @property
    def property_nodes(self) -> tuple[Node, ...]:
        """Return the nodes `? p ?`."""
        return tuple(node for node in self.nodes if node.is_property)

    def count_links(self, kind: LinkKind) -> int:
        """Return how many flattened links of a kind there are."""
        return Counter(link.kind for link in self.links)[kind]

    def why(self, goal: Goal, derivation: Derivation) -> tuple[str, ...]:
        """Return the axioms that carry a derivation to a goal; found when asked, not kept."""
        return path(self.network, goal, derivation)

    def to_networkx(self) -> networkx.MultiDiGraph:
        """Return the reduced network as a graph, in the form of the full network's."""
        return graph_of(self.nodes, ((link.source, link.target, link.kind, "") for link in self.links))


def reduce(network: Network, atoms: Sequence[Atom]) -> Reduction:
    """Return the part of a network that the atoms can see; atoms with equal goals share the work.

    >>> from retewave.epsilon.axioms import Axiom, Kind
    >>> chain = [Axiom(Kind.SUB_CLASS, b"<c%d>" % n, b"<c%d>" % (n + 1)) for n in range(3)]
    >>> from retewave.epsilon.vocabulary import TYPE
    >>> asked = Atom.of(None, TYPE, b"<c3>")
    >>> {str(link.target) for link in reduce(Network.of(chain), [asked]).links}
    {'? rdf:type <c3>'}
    """
    wanted = dict.fromkeys(goal for atom in atoms for goal in goals(atom))
    return Reduction(network, tuple(atoms), {goal: answers(network, goal) for goal in wanted})


def goals(atom: Atom) -> Iterator[Goal]:
    """Yield one goal for each choice of constants of an atom."""
    sets = (atom.subject, atom.predicate, atom.object)
    for texts in product(*([None] if each is None else sorted(each) for each in sets)):
        yield Goal(*texts)


def _flat(derivation: Derivation) -> FlatLink:
    source = Node(derivation.given_subject, derivation.given_predicate, derivation.given_object)
    ends = (derivation.subject, derivation.object)
    predicate = None if derivation.predicate is INPUT else derivation.predicate
    assert predicate is None or isinstance(predicate, bytes)
    subject, object_ = (part if isinstance(part, bytes) else None for part in ends)
    return FlatLink(source, Node(subject, predicate, object_), _kind(ends))


def _kind(ends: tuple[object, object]) -> LinkKind:
    """Name the part of the input that is carried; a term carried alone is named by the place it came from."""
    if ends == (SUBJECT, OBJECT):
        return LinkKind.SO
    if ends == (OBJECT, SUBJECT):
        return LinkKind.OS
    if SUBJECT in ends:
        return LinkKind.S
    return LinkKind.O if OBJECT in ends else LinkKind.NONE
