"""Garbage collection, on the compute thread.

A row of a memory can never again be part of a match once its window start is more than the node's window before now.
Rows leave from the head of their memory: two at each insertion (so that a memory never holds more than it should by
more than a bounded share), all that are due at a full collection.  Rows that a join made arrive in the order of their
ends, not of their starts: one that is due may wait behind one that is not, for at most one window.
"""

from __future__ import annotations

from retewave.rete.jit import inlined, kernel
from retewave.rete.layout import (
    A_LIVE,
    A_NOW,
    A_SHED,
    A_SINCE,
    A_SLOT_STATES,
    N_NODES,
    N_SLOT_COUNT,
    N_SLOTS,
    NODE_WIDTH,
    NODE_WINDOW,
    R_WINDOW_START,
    S_HEAD,
    S_ROWS,
    S_WIDTH,
    SLOT_NODE,
    SLOT_WIDTH,
)
from retewave.rete.memory import drop_oldest
from retewave.rete.words import words

__all__ = ["collect_all", "collect_now", "collect_slot", "shed"]


@inlined
def collect_slot(arena, net, slot, most):  # type: ignore[no-untyped-def]
    """Drop at most `most` rows that are due from the head of a slot."""
    state = arena[A_SLOT_STATES] + slot * S_WIDTH
    node = net[net[N_SLOTS] + slot * SLOT_WIDTH + SLOT_NODE]
    due = arena[A_NOW] - net[net[N_NODES] + node * NODE_WIDTH + NODE_WINDOW]
    dropped = 0
    while dropped < most and arena[state + S_ROWS] > 0 and arena[arena[state + S_HEAD] + R_WINDOW_START] < due:
        drop_oldest(arena, net, slot)
        dropped += 1
    return dropped


@kernel
def collect_all(arena, net):  # type: ignore[no-untyped-def]
    """Drop every row that is due from every slot."""
    arena[A_SINCE] = 0
    dropped = 0
    for slot in range(net[N_SLOT_COUNT]):
        dropped += collect_slot(arena, net, slot, arena[A_LIVE])
    return dropped


@kernel
def collect_now(arena_array, net_array):  # type: ignore[no-untyped-def]
    """Drop every row that is due from every slot: `collect_all` for who holds the arrays."""
    return collect_all(words(arena_array), words(net_array))


@kernel
def shed(arena, net):  # type: ignore[no-untyped-def]
    """Drop the oldest sixteenth of the fullest memory, counted: what the user chose at the bound on live rows."""
    fullest, most = -1, 0
    for slot in range(net[N_SLOT_COUNT]):
        rows = arena[arena[A_SLOT_STATES] + slot * S_WIDTH + S_ROWS]
        if rows > most:
            fullest, most = slot, rows
    for _ in range((most + 15) // 16):
        drop_oldest(arena, net, fullest)
        arena[A_SHED] += 1
