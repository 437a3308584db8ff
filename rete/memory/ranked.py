"""Rows that matter in one instant only, and of which the best of each key is kept.

What makes a row good are some of its words, the weightiest first: of *chronological* the least are best, of *recent*
the greatest.  The window start of such a row is its end, and the window of its node is 0: it is collected when the
instant is over.
"""

from __future__ import annotations

from retewave.rete.memory.slots import fill_row, find_group, new_row, seek_group
from retewave.rete.words.jit import inlined, kernel
from retewave.rete.words.layout import (
    EDGE_KEYS,
    EDGE_PAYLOAD,
    EDGE_TARGET,
    LOW,
    N_TIMES,
    PROBE_RANK,
    PROBE_SLOT,
    R_WINDOW_START,
    SLOT_LATEST,
    SLOT_LIST,
    SLOT_NODE,
    SLOT_RANK,
    SLOT_RANK_COUNT,
    T_COLUMNS,
    T_END,
)

__all__ = ["is_better", "keep_best"]


@inlined
def is_better(arena, net, probe, row, item):  # type: ignore[no-untyped-def]
    """Tell whether a row is better than the tuple that a probe decides on; without a rank, every row is."""
    slot = net[probe + PROBE_SLOT]
    rank, its = net[slot + SLOT_RANK], net[probe + PROBE_RANK]
    for i in range(net[slot + SLOT_RANK_COUNT]):
        one, other = arena[row + net[rank + i]], item[net[its + i]]
        if one != other:
            return (one > other) == (net[slot + SLOT_LATEST] != 0)
    return net[slot + SLOT_RANK_COUNT] == 0


@kernel
def _is_worse(arena, net, slot, payload, row, item):  # type: ignore[no-untyped-def]
    """Tell whether a row is worse than a tuple that comes; `payload` lists the tuple's columns that a row has."""
    rank = net[slot + SLOT_RANK]
    for i in range(net[slot + SLOT_RANK_COUNT]):
        word = net[rank + i]
        one, other = arena[row + word], item[T_COLUMNS + net[payload + word - 1 - net[N_TIMES]]]
        if one != other:
            return (one < other) == (net[slot + SLOT_LATEST] != 0)
    return False


@kernel
def keep_best(arena, net, edge, item):  # type: ignore[no-untyped-def]
    """Keep a tuple if it is the best of its key in its instant; return its row, if that is new, or 0."""
    slot, payload = net[edge + EDGE_TARGET], net[edge + EDGE_PAYLOAD]
    node = net[slot + SLOT_NODE]
    group = seek_group(arena, net, node, net[edge + EDGE_KEYS], item)
    row = 0 if group == 0 else arena[group + net[slot + SLOT_LIST]] & LOW
    if row != 0 and arena[row + R_WINDOW_START] == item[T_END]:
        if _is_worse(arena, net, slot, payload, row, item):
            for i in range(net[slot + SLOT_RANK_COUNT]):
                word = net[net[slot + SLOT_RANK] + i]
                arena[row + word] = item[T_COLUMNS + net[payload + word - 1 - net[N_TIMES]]]
        return 0
    row = new_row(arena, net, slot, item)
    fill_row(arena, net, slot, edge, find_group(arena, net, node, edge, item), row, item)
    arena[row + R_WINDOW_START] = item[T_END]
    return row
