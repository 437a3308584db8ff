"""Where the nodes of a network stand on the page: layers left to right, few crossings, no two on one place.

Data's way: graph (`retewave.viz.draw.graph`) -> **places** -> the page, which draws them.
A simple layered layout of our own, so that the page needs no program that draws.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import networkx

__all__ = ["MOST_NODES", "place"]

MOST_NODES = 400  # of a larger network the ε part is left out
WIDTH, HEIGHT = 164, 46  # of a node, in pixels
GAP_X, GAP_Y = 46, 14
_SWEEPS = 6
_EPSILON = frozenset(("class", "property", "value", "rest"))
_SHOWN = ("kind", "label", "text", "shared_by", "of", "static", "pattern", "window", "operator", "when", "passing")


def place(graph: networkx.MultiDiGraph) -> dict[str, Any]:
    """Return nodes with their places and links between them, as plain data."""
    left_out = 0
    if len(graph) > MOST_NODES:
        epsilon = [name for name, kind in graph.nodes(data="kind") if kind in _EPSILON]
        graph, left_out = graph.copy(), len(epsilon)
        graph.remove_nodes_from(epsilon)
    columns = _columns(graph)
    ys = _heights(graph, columns)
    nodes = [
        {"name": name, "x": x * (WIDTH + GAP_X), "y": ys[name], **_said(graph.nodes[name])}
        for x, column in enumerate(columns)
        for name in column
    ]
    links = [{"source": s, "target": t, "behind": behind} for s, t, behind in sorted(set(_links(graph)))]
    return {
        "nodes": nodes,
        "links": links,
        "node": [WIDTH, HEIGHT],
        "size": [len(columns) * (WIDTH + GAP_X) - GAP_X, max(ys.values(), default=0) + HEIGHT],
        "left_out": left_out,
    }


def _said(data: dict[str, Any]) -> dict[str, Any]:
    return {key: data[key] for key in _SHOWN if key in data}


def _links(graph: networkx.MultiDiGraph) -> list[tuple[str, str, bool]]:
    """Return source, target, and whether the link stands behind others: triples given where others are entailed."""
    return [(s, t, bool(data.get("entailed"))) for s, t, data in graph.edges(data=True)]


def _columns(graph: networkx.MultiDiGraph) -> list[list[str]]:
    """Return the nodes of each layer, nodes with common neighbours beside each other."""
    layers: dict[int, list[str]] = defaultdict(list)
    for name, layer in graph.nodes(data="layer"):
        layers[layer].append(name)
    columns = [layers[layer] for layer in sorted(layers)]
    for sweep in range(_SWEEPS):
        forward = sweep % 2 == 0
        rank = {name: place for column in columns for place, name in enumerate(column)}
        for column in columns if forward else reversed(columns):
            near = graph.predecessors if forward else graph.successors
            mean = {name: _mean([rank[other] for other in near(name)], rank[name]) for name in column}
            column.sort(key=mean.__getitem__)
            rank.update({name: place for place, name in enumerate(column)})
    return columns


def _heights(graph: networkx.MultiDiGraph, columns: list[list[str]]) -> dict[str, float]:
    """Return each node's y: as near as may be to its neighbours on the left, in the order of its column."""
    ys: dict[str, float] = {}
    for column in columns:
        free = 0.0
        for name in column:
            wanted = _mean([ys[other] for other in graph.predecessors(name) if other in ys], free)
            ys[name] = max(free, wanted)
            free = ys[name] + HEIGHT + GAP_Y
    lowest = min(ys.values(), default=0.0)
    return {name: round(y - lowest, 1) for name, y in ys.items()}


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
