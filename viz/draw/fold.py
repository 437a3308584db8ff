"""Make a large graph legible: alike nodes become one; nodes far from the queries become a node with their number.

And a link is left out where two others say the same.

Data's way: graph -> **fold** -> DOT.  A folded graph is a graph of the same form: its new nodes have `count`, the
number of nodes that they stand for.  The graph that was given stays as it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator

import networkx

__all__ = [
    "MOST_ALIKE",
    "MOST_EPSILON",
    "MOST_LINKS",
    "MOST_MEMORIES",
    "fold_alike",
    "fold_far",
    "fold_shortcuts",
    "fold_tests",
]

MOST_ALIKE = 4  # more nodes of one kind with the same neighbours are drawn as one
MOST_EPSILON = 80  # of more ε nodes only the nearest to the patterns' goals are drawn
MOST_LINKS = 60  # of more ε links, those that two other links add up to are left out
MOST_MEMORIES = 40  # with more memories, α tests are written into them
_CHAINED = {  # the kind of link that two ε links in a row make
    ("SO", "SO"): "SO", ("SO", "OS"): "OS", ("OS", "SO"): "OS", ("OS", "OS"): "SO", ("SO", "S"): "S", ("SO", "O"): "O",
    ("OS", "S"): "O", ("OS", "O"): "S", ("S", "S"): "S", ("O", "S"): "O",
}  # fmt: skip
_FOLDABLE = frozenset(("class", "property", "value", "query", "alpha"))


def fold_alike(graph: networkx.MultiDiGraph) -> networkx.MultiDiGraph:
    """Draw nodes of the same kind and with the same neighbours as one node; repeat until no two are alike."""
    folded = graph.copy()
    while True:
        groups: dict[Hashable, list[str]] = defaultdict(list)
        for name, data in folded.nodes(data=True):
            if data["kind"] in _FOLDABLE and "count" not in data:
                groups[_likeness(folded, name)].append(name)
        many = [names for names in groups.values() if len(names) > MOST_ALIKE]
        if not many:
            return folded
        for names in many:
            _merge(folded, names)


def _likeness(graph: networkx.MultiDiGraph, name: str) -> Hashable:
    """Return the features that tell a node from others; nodes without neighbours are all alike."""
    into = frozenset((source, kind) for source, _, kind in graph.in_edges(name, data="kind"))
    out = frozenset((target, kind) for _, target, kind in graph.out_edges(name, data="kind"))
    data = graph.nodes[name]
    return data["kind"], data["layer"], into, out


def _merge(graph: networkx.MultiDiGraph, names: list[str]) -> None:
    """Let the first of some nodes with the same neighbours stand for all."""
    first, others = names[0], names[1:]
    data = graph.nodes[first]
    shown = [graph.nodes[name]["label"] for name in names[:3]]
    data["label"] = "\n".join([*shown, f"and {len(names) - len(shown):,} more"])
    data["text"] = ", ".join(graph.nodes[name]["text"] for name in names[:50])
    data["count"] = len(names)
    if "matches" in data:
        data["matches"] = sum(graph.nodes[name]["matches"] for name in names)
    graph.remove_nodes_from(others)


def fold_shortcuts(graph: networkx.MultiDiGraph, most: int = MOST_LINKS) -> networkx.MultiDiGraph:
    """Leave out an ε link where a way over another node says the same, when the links are many.

    The reduced network links every input straight to all that it entails; drawn, a chain says as much.
    """
    kinds = {kind for pair in _CHAINED for kind in pair}
    links = [(s, t, key) for s, t, key, kind in graph.edges(keys=True, data="kind") if kind in kinds]
    if len(links) <= most:
        return graph
    folded = graph.copy()
    for source, target, key in sorted(links, key=lambda link: (-len(list(_ways(graph, *link))), link)):
        if any(_ways(folded, source, target, key)):  # the longest first: a way stays as long as it is needed
            folded.remove_edge(source, target, key)
    return folded


def _ways(graph: networkx.MultiDiGraph, source: str, target: str, key: int) -> Iterator[str]:
    """Yield the nodes by which two links lead from a node to another, and carry the same as a direct link does."""
    wanted = graph.edges[source, target, key]["kind"]
    for _, between, first in graph.out_edges(source, data="kind"):
        if between in (source, target) or not graph.has_edge(between, target):
            continue
        if any(_CHAINED.get((first, each["kind"])) == wanted for each in graph[between][target].values()):
            yield between


def fold_far(graph: networkx.MultiDiGraph, most: int = MOST_EPSILON) -> networkx.MultiDiGraph:
    """Keep the nodes nearest to the patterns' goals; the others become one node that shows their number."""
    if len(graph) <= most:
        return graph
    kept = set(_nearest_first(graph)[:most])
    far = [name for name in graph if name not in kept]
    folded = graph.copy()  # a subgraph's nodes would come in no certain order
    folded.remove_nodes_from(far)
    count = sum(graph.nodes[name].get("count", 1) for name in far)
    label = f"… {count:,} more"
    folded.add_node("rest", kind="rest", label=label, text=label, layer=0, shared_by=0, count=count)
    into = {target for name in far for target in graph.successors(name) if target in kept}
    out = {source for name in far for source in graph.predecessors(name) if source in kept} - into
    folded.add_edges_from((("rest", target) for target in sorted(into)), kind="rest")
    folded.add_edges_from(((source, "rest") for source in sorted(out)), kind="rest")
    return folded


def _nearest_first(graph: networkx.MultiDiGraph) -> list[str]:
    """Return the nodes by their distance to the patterns' goals; without goals, by their number of links."""
    asked = [name for name, is_asked in graph.nodes(data="asked", default=False) if is_asked]
    if not asked:
        return sorted(graph, key=lambda name: (-graph.degree(name), name))
    distances = networkx.multi_source_dijkstra_path_length(graph.to_undirected(as_view=True), set(asked), weight=None)
    far = len(graph)
    return sorted(graph, key=lambda name: (distances.get(name, far), name))


def fold_tests(graph: networkx.MultiDiGraph, most: int = MOST_MEMORIES) -> networkx.MultiDiGraph:
    """Write the α tests into the memories that they fill, when these are many; an α test that ends a query stays.

    Links that led to a test lead to its memories; if these are many, one link shows their number.
    """
    if sum(1 for _, kind in graph.nodes(data="kind") if kind == "memory") <= most:
        return graph
    folded = graph.copy()
    for name in [name for name, kind in graph.nodes(data="kind") if kind in ("alpha", "table")]:
        memories = [target for _, target, kind in graph.out_edges(name, data="kind") if kind == "fills"]
        for memory in memories:
            folded.nodes[memory]["label"] = graph.nodes[memory]["pattern"]
        for goal in [source for source, _, kind in graph.in_edges(name, data="kind") if kind == "asked"]:
            _lead_to(folded, goal, memories)
        if len(memories) == graph.out_degree(name):
            folded.remove_node(name)
    streams = [name for name, kind in folded.nodes(data="kind") if kind == "stream" and not folded.out_degree(name)]
    folded.remove_nodes_from(streams)
    return folded


def _lead_to(graph: networkx.MultiDiGraph, goal: str, memories: list[str]) -> None:
    if len(memories) <= MOST_ALIKE:
        graph.add_edges_from(((goal, memory) for memory in memories), kind="asked")
    else:
        graph.nodes[goal]["label"] += f"\nfills {len(memories):,} memories"
