"""The empty state of a network: the arena before anything has come.

Data's way: records, the network's array -> **the arena** -> the kernel.
"""

from __future__ import annotations

import numpy as np

from retewave.rete.network.gathering import aside_words, columns_aside, gathers, keeps_aside
from retewave.rete.network.laying import first_room, slot_state
from retewave.rete.network.records import Network
from retewave.rete.words import layout
from retewave.windows.intervals import AFTER_ALL, BEFORE_ALL, EARLIEST

__all__ = ["new_arena"]


def new_arena(network: Network, net: np.ndarray, *, words: int = 1 << 14) -> np.ndarray:
    """Return the empty state of a network."""
    slots, nodes, edges = len(network.slots), len(network.nodes), len(network.edges())
    agenda = first_room(slots, nodes, edges) + _passing_words(network) + len(network.probes) * layout.W_WIDTH
    agenda += sum(aside_words(node) for node in network.nodes if gathers(network, node))
    kept = [number for number in range(len(network.states)) if keeps_aside(network, number)]
    agenda += sum(layout.T_COLUMNS + columns_aside(network, number) for number in kept)
    agenda += sum(each.cells is not None for terminal in network.terminals for each in terminal.instances)
    nowhere = agenda + 3 * (len(network.probes) + 1)
    buckets = nowhere + (layout.MOST_GROUP_WORDS if network.states else 0)
    count = layout.PAGE
    top = buckets + count
    while words < top + 8 * layout.PAGE:
        words *= 2
    arena = np.zeros(words, dtype=np.int64)
    arena[layout.A_SLOT_STATES], arena[layout.A_EDGE_COUNTERS] = slot_state(0), slot_state(slots) + nodes
    arena[layout.A_BUCKETS], arena[layout.A_BUCKET_MASK], arena[layout.A_TOP] = buckets, count - 1, top
    arena[layout.A_NOW], arena[layout.A_MOST_WORDS] = EARLIEST, 1 << 31
    arena[layout.A_AGENDA], arena[layout.A_DUE] = agenda, AFTER_ALL
    if network.states:
        arena[layout.A_NOWHERE], arena[nowhere + layout.G_MASK] = nowhere, -1
    for edge in network.edges():
        if edge.kind == layout.TO_INSTANTS:
            arena[arena[layout.A_SLOT_STATES] + edge.target * layout.S_WIDTH + layout.S_SINCE] = BEFORE_ALL
    for probe in range(len(network.probes)):
        state = int(net[int(net[layout.N_PROBES]) + probe * layout.PROBE_WIDTH + layout.PROBE_STATE])
        arena[state + layout.W_SINCE] = arena[state + layout.W_SINCE_END] = BEFORE_ALL
    first, instances = int(net[layout.N_INSTANCES]), sum(len(terminal.instances) for terminal in network.terminals)
    told = net[first + layout.INSTANCE_TOLD : first + instances * layout.INSTANCE_WIDTH : layout.INSTANCE_WIDTH]
    arena[told[told > 0]] = BEFORE_ALL
    first = int(net[layout.N_KEPT])
    for state in net[first : first + int(net[layout.N_KEPT_COUNT])]:
        arena[net[state + layout.STATE_KEPT] + layout.T_END] = BEFORE_ALL
    return arena


def _passing_words(network: Network) -> int:
    passing = ((node, network.slots[node.slots[node.passing]]) for node in network.nodes if node.passing >= 0)
    return sum(1 + network.times + slot.columns + len(node.readings(slot.index)) for node, slot in passing)
