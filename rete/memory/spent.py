"""Events that a query has used up: their marks are rows of a memory, and what holds them is gone for that query.

A query that uses things up has one such memory: its key is the event, a row's window start the time at which a match
used it.  From the next instant on the rows and tuples that hold the event are not there for the query: whoever meets
them passes them over, and now and then `Runtime` collects them.
Left out: static triples, and those that came before anybody asked for their events: these have 0, which is never used.
"""

from __future__ import annotations

from retewave.rete.memory.arena import HASH, mix
from retewave.rete.memory.slots import fill_row, find_group, new_row, seek_group
from retewave.rete.words.jit import inlined, kernel
from retewave.rete.words.layout import (
    A_BUCKET_MASK,
    A_BUCKETS,
    A_SPENT,
    EDGE_KEYS,
    EDGE_TARGET,
    G_KEY,
    G_NODE,
    LOW,
    NODE_LISTS,
    NODE_NUMBER,
    NODE_SEED,
    R_WINDOW_START,
    SLOT_EVENT_COUNT,
    SLOT_EVENTS,
    SLOT_NODE,
    T_COLUMNS,
    T_END,
)
from retewave.windows.intervals import AFTER_ALL

__all__ = ["is_row_spent", "is_tuple_spent", "spend"]


@kernel
def _spent_at(arena, net, node, event):  # type: ignore[no-untyped-def]
    """Return the time at which an event was used up, or a time after all."""
    h = mix(net[node + NODE_SEED], event) & HASH
    buckets, mask, number = arena[A_BUCKETS], arena[A_BUCKET_MASK], net[node + NODE_NUMBER]
    at = h & mask
    while arena[buckets + at] != 0:
        group = arena[buckets + at] & LOW
        if arena[buckets + at] >> 32 == h and arena[group + G_NODE] == number and arena[group + G_KEY] == event:
            return arena[(arena[group + net[node + NODE_LISTS]] >> 32) + R_WINDOW_START]
        at = (at + 1) & mask
    return AFTER_ALL


@kernel
def is_row_spent(arena, net, node, slot, row, time):  # type: ignore[no-untyped-def]
    """Tell whether an event of a slot's row was used up before a time; `node` has the marks."""
    events = net[slot + SLOT_EVENTS]
    for place in range(events, events + net[slot + SLOT_EVENT_COUNT]):
        if _spent_at(arena, net, node, arena[row + net[place]]) < time:
            return True
    return False


@kernel
def is_tuple_spent(arena, net, node, events, count, item, time):  # type: ignore[no-untyped-def]
    """Tell whether an event of a tuple was used up before a time; `events` lists the words that hold them."""
    for place in range(events, events + count):  # noqa: SIM110
        if _spent_at(arena, net, node, item[net[place]]) < time:
            return True
    return False


@inlined
def spend(arena, net, edge, item):  # type: ignore[no-untyped-def]
    """Mark an event of a match as used up at the match's end; one that was marked before stays so."""
    slot, keys = net[edge + EDGE_TARGET], net[edge + EDGE_KEYS]
    node = net[slot + SLOT_NODE]
    if item[T_COLUMNS + net[keys]] == 0 or seek_group(arena, net, node, keys, item) != 0:
        return
    row = new_row(arena, net, slot, item)
    fill_row(arena, net, slot, edge, find_group(arena, net, node, edge, item), row, item)
    arena[row + R_WINDOW_START] = item[T_END]
    arena[A_SPENT] += 1
