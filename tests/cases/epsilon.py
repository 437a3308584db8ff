"""Random schemas, data and atoms for the tests of the ε-network.

A case is made of texts of one namespace, so that many cases may share one closure run of owlrl.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

from hypothesis import strategies as st

from retewave.epsilon.atoms import Atom
from retewave.epsilon.vocabulary import TYPE, Triple, membership_property, owl, rdf, rdfs

__all__ = ["Case", "atoms", "cases"]

N_CLASSES, N_PROPERTIES, N_VALUES, N_INDIVIDUALS = 5, 4, 2, 3
LITERALS = (b'"word"', b'"mot"@fr')


@dataclass(frozen=True)
class Case:
    """A random schema with data for it."""

    schema: tuple[Triple, ...]  # as an RDF graph
    data: tuple[Triple, ...]


class _Names:
    """The terms of one namespace."""

    def __init__(self, space: int) -> None:
        self.classes = tuple(f"<http://e/{space}/C{n}>".encode() for n in range(N_CLASSES))
        self.properties = tuple(f"<http://e/{space}/p{n}>".encode() for n in range(N_PROPERTIES))
        self.values = tuple(f"<http://e/{space}/v{n}>".encode() for n in range(N_VALUES))
        self.individuals = tuple(f"<http://e/{space}/i{n}>".encode() for n in range(N_INDIVIDUALS))
        self._blanks = (f"_:n{space}x{n}".encode() for n in count())

    def blank(self) -> bytes:
        return next(self._blanks)

    def list_of(self, members: tuple[bytes, ...]) -> tuple[bytes, list[Triple]]:
        head, triples = rdf("nil"), []
        for member in reversed(members):
            cell = self.blank()
            triples += [(cell, rdf("first"), member), (cell, rdf("rest"), head)]
            head = cell
        return head, triples


Draw = Callable[..., Any]  # hypothesis's own: draws from a strategy


def _hierarchy(draw: Draw, names: _Names) -> list[Triple]:
    a, b = draw(st.sampled_from(names.classes)), draw(st.sampled_from(names.classes))
    p, q = draw(st.sampled_from(names.properties)), draw(st.sampled_from(names.properties))
    choices = [
        (a, rdfs("subClassOf"), b),
        (a, rdfs("subClassOf"), b),
        (p, rdfs("subPropertyOf"), q),
        (p, rdfs("subPropertyOf"), q),
        (p, rdfs("domain"), a),
        (p, rdfs("range"), a),
        (a, owl("equivalentClass"), b),
        (p, owl("equivalentProperty"), q),
        (p, owl("inverseOf"), q),
        (p, TYPE, owl("SymmetricProperty")),
    ]
    return [draw(st.sampled_from(choices))]


def _placed(draw: Draw, names: _Names, node: bytes, sides: tuple[str, ...]) -> Triple:
    """Put a class expression on one of the sides that are supported."""
    named = draw(st.sampled_from(names.classes))
    side = draw(st.sampled_from(sides))
    if side == "left":
        return node, rdfs("subClassOf"), named
    return (named, rdfs("subClassOf"), node) if side == "right" else (named, owl("equivalentClass"), node)


def _has_value(draw: Draw, names: _Names) -> list[Triple]:
    node, on = names.blank(), draw(st.sampled_from(names.properties))
    value = draw(st.sampled_from(names.values + names.classes[:1] + LITERALS[:1]))
    said = [(node, owl("onProperty"), on), (node, owl("hasValue"), value)]
    return [*said, _placed(draw, names, node, ("left", "right", "both"))]


def _some_value(draw: Draw, names: _Names) -> list[Triple]:
    node, on = names.blank(), draw(st.sampled_from(names.properties))
    said = [(node, owl("onProperty"), on), (node, owl("someValuesFrom"), owl("Thing"))]
    return [*said, _placed(draw, names, node, ("left",))]


def _members(draw: Draw, names: _Names) -> list[Triple]:
    node = names.blank()
    kind = draw(st.sampled_from(["unionOf", "intersectionOf", "oneOf"]))
    pool = names.values if kind == "oneOf" else names.classes
    head, cells = names.list_of((draw(st.sampled_from(pool)), draw(st.sampled_from(pool))))
    sides = ("right",) if kind == "intersectionOf" else ("left", "both")
    return [*cells, (node, owl(kind), head), _placed(draw, names, node, sides)]


def _shared(draw: Draw, names: _Names, beyond_owlrl: bool = False) -> list[Triple]:
    """Say something about a term that all namespaces share: such a case needs a closure of its own.

    What follows from being typed at all is beyond owlrl as an oracle: there everything is an owl:Thing,
    schema and vocabularies included.
    """
    p, a = draw(st.sampled_from(names.properties)), draw(st.sampled_from(names.classes))
    choices = [
        (p, rdfs("subPropertyOf"), TYPE),
        (rdfs("member"), rdfs("domain"), a),
        (rdfs("member"), rdfs("subPropertyOf"), p),
        (p, rdfs("subPropertyOf"), membership_property(2)),
        (p, TYPE, rdfs("ContainerMembershipProperty")),
    ]
    if beyond_owlrl:
        choices += [(TYPE, rdfs("subPropertyOf"), p), (p, owl("inverseOf"), TYPE), (TYPE, rdfs("domain"), a)]
    return [draw(st.sampled_from(choices))]


@st.composite
def cases(draw: Draw, space: int = 0, shared: bool = False, beyond_owlrl: bool = False) -> Case:
    """Draw a schema of a few axioms of all supported kinds, and data; cycles come by themselves."""
    names = _Names(space)
    about_shared = partial(_shared, beyond_owlrl=beyond_owlrl)
    makers = [_hierarchy, _hierarchy, _hierarchy, _has_value, _some_value, _members] + [about_shared] * (2 * shared)
    schema: list[Triple] = about_shared(draw, names) if shared else []
    for maker in draw(st.lists(st.sampled_from(makers), min_size=1, max_size=9)):
        schema += maker(draw, names)
    predicates = (*names.properties, TYPE, *([membership_property(1), membership_property(2)] if shared else []))
    subjects = names.individuals + names.values
    data = []
    for _ in range(draw(st.integers(1, 6))):
        predicate = draw(st.sampled_from(predicates))
        objects = names.classes if predicate == TYPE else subjects + LITERALS + names.classes[:2]
        data.append((draw(st.sampled_from(subjects)), predicate, draw(st.sampled_from(objects))))
    return Case(tuple(dict.fromkeys(schema)), tuple(data))


@st.composite
def atoms(draw: Draw, space: int = 0) -> Atom:
    """Draw what a triple pattern may ask, with sets of constants and open predicates."""
    names = _Names(space)
    subjects = st.frozensets(st.sampled_from(names.individuals + names.values), min_size=1, max_size=2)
    objects = st.frozensets(
        st.sampled_from(names.classes + names.values + names.individuals[:1] + LITERALS), min_size=1, max_size=3
    )
    predicates = st.frozensets(
        st.sampled_from((TYPE, TYPE, *names.properties, rdfs("member"), b"<http://e/unknown>")), min_size=1, max_size=2
    )
    return Atom(draw(st.none() | subjects), draw(st.none() | predicates), draw(st.none() | objects))
