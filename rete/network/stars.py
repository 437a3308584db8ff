"""Whole stars: which nodes that gather may take all triples of an event at once, and where these have what.

Data's way: records -> **how stars are taken** -> `rete/network/assemble.py`; `rete/stars.py` takes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from retewave.rete.network.records import Edge, Key, Network, Node, Route
from retewave.rete.words import layout
from retewave.rete.words.rows import EVENT, OBJECT, PREDICATE, SUBJECT

__all__ = ["WholeStar", "star_of"]

IN_ROW = (SUBJECT, PREDICATE, OBJECT, EVENT)  # where an input row has what the columns of an α's tuple are


@dataclass(frozen=True)
class WholeStar:
    """How a node takes whole stars: by slot, the triples of one predicate each, as they come."""

    streams: int  # number of their set of streams; -1: any
    predicates: tuple[int, ...]  # by slot
    edges: tuple[tuple[int, tuple[int, ...]], ...]  # by slot: the number of its edge, where the row has the key
    out: tuple[tuple[int, int], ...]  # by column of its tuples: the slot, and the place in the row


def star_of(network: Network, node: Node) -> WholeStar | None:
    """Return how a node that gathers takes whole stars; None: some triple of it may go elsewhere, too."""
    routes: dict[int, list[tuple[Key, Route]]] = {}
    for key, of_key in network.keys.items():
        for route in of_key:
            routes.setdefault(route.alpha, []).append((key, route))
    taken = [_taken(network, routes, slot) for slot in node.slots]
    found = [each for each in taken if each is not None]
    streams = {network.alphas[alpha].streams for alpha, _, _ in found}
    predicates = tuple(predicate for _, predicate, _ in found)
    distinct = len(found) == len(taken) and len(streams) == 1 and len(set(predicates)) == len(predicates)
    if not distinct or network.built != frozenset():
        return None
    out = []
    for index, column in node.out:
        edge = found[max(index, 0)][2]
        source = edge.keys[column] if index < 0 else column if column < 0 else edge.payload[column]
        if source < 0:
            return None
        out.append((max(index, 0), IN_ROW[source]))
    numbers = {id(edge): number for number, edge in enumerate(network.edges())}
    edges = tuple((numbers[id(edge)], tuple(IN_ROW[key] for key in edge.keys)) for _, _, edge in found)
    return WholeStar(streams.pop(), predicates, edges, tuple(out))


def _taken(network: Network, routes: Mapping[int, list[tuple[Key, Route]]], slot: int) -> tuple[int, int, Edge] | None:
    """Return by which α a slot gets the triples of one predicate, as they come, and the edge; None: it is not so."""
    feeding = [
        (number, edge)
        for number, alpha in enumerate(network.alphas)
        for edge in alpha.edges
        if edge.kind == layout.TO_SLOT and edge.target == slot
    ]
    if len(feeding) != 1:
        return None
    number, edge = feeding[0]
    alpha, found = network.alphas[number], routes.get(number, [])
    if len(alpha.edges) > 1 or edge.program or alpha.equal or alpha.given or not alpha.whole or len(found) != 1:
        return None
    key, route = found[0]
    plain = (
        (route.subject, route.object) == (layout.FROM_SUBJECT, layout.FROM_OBJECT)
        and not route.guard
        and not route.twin
    )
    plain = plain and route.predicate in (layout.FROM_PREDICATE, key[1])
    alone = [each for each in network.keys if each[1] == key[1]] == [(0, key[1], 0)] and len(network.keys[key]) == 1
    return (number, key[1], edge) if plain and alone else None
