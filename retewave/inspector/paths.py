"""The ε nodes that lead from an input triple to the α tests that it reached, and the streams that these hear.

Data's way: graph, triple, α tests reached -> **names of nodes** -> the page, which marks them.
"""

from __future__ import annotations

from collections.abc import Iterable

import networkx

from retewave.epsilon.network import Node

__all__ = ["leading_to"]


def leading_to(graph: networkx.MultiDiGraph, triple: tuple[bytes, bytes, bytes], alphas: Iterable[str]) -> list[str]:
    """Return the nodes before the α tests that a triple passed on its way to them."""
    reached = [alpha for alpha in alphas if alpha in graph]
    before = set().union(*(networkx.ancestors(graph, alpha) for alpha in reached))
    _, predicate, object_ = triple
    forms = [Node(s, p, o) for s in (None, triple[0]) for p in (None, predicate) for o in (None, object_)]
    starts = {f"epsilon:{form}" for form in forms} & before
    behind = set().union(starts, *(networkx.descendants(graph, start) for start in starts)) & before
    heard = {name for alpha in reached for name in graph.predecessors(alpha) if graph.nodes[name]["kind"] == "stream"}
    return sorted(behind) + sorted(heard)
