"""Nodes that gather: where the triples of an event are kept aside, and where its solution goes at once.

Data's way: records -> **places in the arena** -> `rete/network/assemble.py`; `rete/gather.py` runs it.
"""

from __future__ import annotations

from retewave.rete.network.records import TUPLE_TIMES, Edge, Network, Node, Slot
from retewave.rete.words import layout

__all__ = [
    "aside_places",
    "aside_words",
    "columns_aside",
    "gathers",
    "keeps_aside",
    "leads_to",
    "looked_for",
    "rows_noted",
    "slot_aside",
]

_MOST_AHEAD = 8  # nodes that are looked for before a solution goes there
_TUPLE = layout.T_COLUMNS + layout.GIVEN_COLUMNS  # words of a tuple that is aside


def gathers(network: Network, node: Node) -> bool:
    """Tell whether a node may gather: it does not matter to its readers whether a solution comes twice."""
    return node.gathers and _tells_once(network, node)


def _tells_once(network: Network, node: Node) -> bool:
    """Tell whether a node's tuples come to nothing but instants and states that have each once, by joins perhaps."""

    def once(edge: Edge) -> bool:
        if edge.kind in (layout.TO_SLOT, layout.TO_PASSING):
            return _tells_once(network, network.nodes[network.slots[edge.target].node])
        return edge.kind == layout.TO_INSTANTS or (edge.kind == layout.TO_STATE and network.states[edge.target].once)

    return all(map(once, node.edges))


def leads_to(node: Node, state: int) -> bool:
    """Tell whether a node's tuples enter a state."""
    return any(edge.kind == layout.TO_STATE and edge.target == state for edge in node.edges)


def keeps_aside(network: Network, number: int) -> bool:
    """Tell whether a state keeps the first solution of an instant aside: no gathering node sends it at once."""
    state = network.states[number]
    if not state.once or state.own:
        return False
    return not any(leads_to(node, number) and gathers(network, node) for node in network.nodes)


def columns_aside(network: Network, number: int) -> int:
    """Return how many columns of what comes to a state have to be kept."""
    entering = [edge for edge in network.edges() if (edge.kind, edge.target) == (layout.TO_STATE, number)]
    return 1 + max((column for edge in entering for column in edge.payload), default=-1)


def aside_words(node: Node) -> int:
    """Return how many words of the arena a node needs for what is aside."""
    return layout.ASIDE_KEY + node.keys + len(node.slots) * (_TUPLE + 2)


def rows_noted(node: Node, aside: int) -> int:
    """Return where it is noted which input row each slot of a node has, if a star is taken whole, and in what order."""
    return aside + layout.ASIDE_KEY + node.keys + len(node.slots) * _TUPLE


def slot_aside(network: Network, slot: Slot, aside: int) -> int:
    """Return where the tuple of a slot is, of a node for which all is at a place."""
    return aside + layout.ASIDE_KEY + network.nodes[slot.node].keys + slot.index * _TUPLE


def aside_places(network: Network, node: Node, aside: int) -> list[int]:
    """Return where the columns of a node's tuples are in the arena, while they are aside."""
    edges = {
        edge.target: edge
        for alpha in network.alphas
        for edge in alpha.edges
        if edge.kind == layout.TO_SLOT and edge.target in node.slots
    }
    places = []
    for index, column in node.out:
        slot = node.slots[max(index, 0)]
        columns = edges[slot].keys if index < 0 else edges[slot].payload
        source = column if column < 0 else columns[column]
        places.append(
            slot_aside(network, network.slots[slot], aside) + layout.T_COLUMNS + TUPLE_TIMES.get(source, source)
        )
    return places


def looked_for(network: Network, node: Node) -> list[tuple[int, tuple[int, ...]]]:
    """Return in which nodes a node's tuples look first, and by which columns: for instants, and runs that go on."""
    found: dict[tuple[int, tuple[int, ...]], None] = {}
    for edge in node.edges:
        if edge.kind == layout.TO_INSTANTS:
            found[network.slots[edge.target].node, edge.keys] = None
        if edge.kind != layout.TO_STATE:
            continue
        for each in network.states[edge.target].edges:
            step = network.steps[each.target] if each.kind == layout.TO_STEP else None
            if step is not None and step.state >= 0:
                slot = network.slots[network.states[step.state].slot]
                found[slot.node, tuple(edge.payload[key] for key in step.keys)] = None
    return list(found)[:_MOST_AHEAD]
