"""The paper's own example: Figure 5's two networks, and the inferred triples of Figure 4."""

from __future__ import annotations

from pathlib import Path

import pytest
from naive.epsilon import entailed, matches

from retewave.epsilon import OBJECT, SUBJECT, Atom, LinkKind, Schema, reduce, routes
from retewave.epsilon.vocabulary import TYPE, Triple

ONTOLOGY = Path(__file__).parents[2] / "examples" / "social" / "ontology.ttl"


def term(name: str) -> bytes:
    spaces = {
        "fb": "http://facebook.example.org/ns#",
        "twd": "http://twitter.example.org/ns#",
        "sma": "http://socialmedia.example.org/ns#",
        "sioc": "http://rdfs.org/sioc/ns#",
        "geo": "http://sws.geonames.org/",
    }
    prefix, local = name.split(":")
    return f"<{spaces[prefix]}{local}>".encode()


QUERY = [
    Atom.of(None, TYPE, term("twd:Tweet")),
    Atom.of(None, term("sma:talksAbout"), None),
    Atom.of(None, term("sioc:creator_of"), None),
    Atom.of(None, term("sioc:account_of"), None),
    Atom.of(None, TYPE, term("fb:StatusUpdate")),
]


@pytest.fixture(scope="module")
def schema() -> Schema:
    return Schema.load(ONTOLOGY)


def test_full_network_has_eight_class_nodes_and_fifteen_s_links(schema: Schema) -> None:
    assert len(schema.network.class_nodes) == 8
    assert schema.network.count_links(LinkKind.S) == 15


def test_reduced_network_has_two_class_nodes_and_four_s_links(schema: Schema) -> None:
    reduced = reduce(schema.network, QUERY)
    assert {node.object for node in reduced.class_nodes} == {term("twd:Tweet"), term("fb:StatusUpdate")}
    assert reduced.count_links(LinkKind.S) == 4
    assert {str(link.kind.value) for link in reduced.links} == {"S", "O", "SO", "OS"}


def test_both_networks_can_be_drawn(schema: Schema) -> None:
    full, reduced = schema.network, reduce(schema.network, QUERY)
    assert len(full.to_networkx().edges) == len(full.links)
    assert len(reduced.to_networkx().nodes) == len(reduced.nodes) < len(full.nodes)
    assert {kind for _, _, kind in full.to_networkx().edges(data="kind")} == {"S", "O", "SO", "OS"}


def test_streamed_triples_entail_the_inferred_triples_of_figure_4(schema: Schema) -> None:
    streamed = [
        ("fb:JohnDoe", "fb:update", "fb:post123"),
        ("fb:post123", "fb:mentions", "geo:2775220"),
        ("twd:johnd", "twd:post", "twd:tweet456"),
        ("twd:tweet456", "twd:talksAbout", "geo:2775220"),
    ]
    inferred = {
        (term("twd:tweet456"), TYPE, term("twd:Tweet")),
        (term("twd:tweet456"), term("sma:talksAbout"), term("geo:2775220")),
        (term("twd:johnd"), term("sioc:creator_of"), term("twd:tweet456")),
        (term("fb:post123"), TYPE, term("fb:StatusUpdate")),
        (term("fb:post123"), term("sma:talksAbout"), term("geo:2775220")),
        (term("fb:JohnDoe"), term("sioc:creator_of"), term("fb:post123")),
    }
    assert {found for s, p, o in streamed for found in seen(schema, (term(s), term(p), term(o)))} == inferred


def seen(schema: Schema, triple: Triple) -> set[Triple]:
    """Return what the query's atoms get from a triple, which the naive fixpoint must confirm."""
    dispatch = routes(QUERY, schema.network)
    value = {SUBJECT: triple[0], OBJECT: triple[2]}
    got = set()
    for route in dispatch.table[None, triple[1], None]:
        assert isinstance(route.predicate, bytes)
        ends = [part if isinstance(part, bytes) else value[part] for part in (route.subject, route.object)]
        got.add((ends[0], route.predicate, ends[1]))
    naive = {each for each in entailed(schema.axioms, triple) if any(matches(atom, each) for atom in QUERY)}
    assert got == naive
    return got
