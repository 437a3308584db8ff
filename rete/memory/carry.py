"""Put rows of another network's memory into one: what joins and probes made that cannot be made again.

Data's way: rows of a slot (`rete/facts.py`) -> **the slot of a network of the same meaning**.
"""

from __future__ import annotations

import numpy as np

from retewave.rete.memory.arena import make_room, roomy
from retewave.rete.memory.slots import drop_oldest, fill_row, find_group, new_row
from retewave.rete.words.bare import words
from retewave.rete.words.jit import kernel
from retewave.rete.words.layout import (
    A_COLLECTED,
    A_LIVE,
    EDGE_KEYS,
    MOST_GROUP_WORDS,
    N_TIMES,
    NODE_KEY_COUNT,
    NONE,
    OPEN,
    PAGE,
    READING_EXTREME,
    READING_INTO,
    READING_UPPER,
    READING_WIDTH,
    SLOT_NODE,
    SLOT_READING_COUNT,
    SLOT_READINGS,
    T_COLUMNS,
    T_END,
    T_START,
    T_WINDOW_START,
)
from retewave.windows.intervals import AFTER_ALL

__all__ = ["ROW_TIMES", "empty_slot", "put_rows"]

ROW_TIMES = 3  # columns of a row before the key's and its own: end, window start, start


@kernel
def empty_slot(net_array, arena_array, slot):  # type: ignore[no-untyped-def]
    """Take all streamed rows out of a slot, uncounted."""
    net, arena = words(net_array), words(arena_array)
    collected = arena[A_COLLECTED]
    drop_oldest(arena, net, slot, AFTER_ALL, AFTER_ALL, arena[A_LIVE])
    arena[A_COLLECTED] = collected


@kernel
def _leave_open(arena, net, slot, group, row):  # type: ignore[no-untyped-def]
    """Let comparisons refuse nothing of a row whose numbers are not looked at."""
    at = net[slot + SLOT_READINGS]
    for reading in range(at, at + net[slot + SLOT_READING_COUNT] * READING_WIDTH, READING_WIDTH):
        word = OPEN if net[reading + READING_UPPER] != 0 else -OPEN
        arena[row + net[reading + READING_INTO]] = word
        if net[reading + READING_EXTREME] != NONE:
            arena[group + net[reading + READING_EXTREME]] = word


@kernel
def put_rows(net_array, arena_array, slot, edge, rows, first):  # type: ignore[no-untyped-def]
    """Put rows into the slot that an edge feeds, from the first on; return how many are in, or where room is wanted."""
    net, arena = words(net_array), words(arena_array)
    keys, node = net[edge + EDGE_KEYS], net[slot + SLOT_NODE]
    count = net[node + NODE_KEY_COUNT]
    own = rows.shape[1] - ROW_TIMES - count
    item_array = np.zeros(T_COLUMNS + MOST_GROUP_WORDS, np.int64)
    item, most = words(item_array), arena_array.size - 3 * PAGE - MOST_GROUP_WORDS
    for row in range(first, rows.shape[0]):
        if not roomy(arena, most) and not make_room(arena, most):
            return row
        item[T_END], item[T_WINDOW_START], item[T_START] = rows[row, 0], rows[row, 1], rows[row, 2]
        for i in range(count):
            item[T_COLUMNS + net[keys + i]] = rows[row, ROW_TIMES + i]
        place = new_row(arena, net, slot, item)
        group = find_group(arena, net, node, edge, item)
        fill_row(arena, net, slot, edge, group, place, item)
        for i in range(own):
            arena[place + 1 + net[N_TIMES] + i] = rows[row, ROW_TIMES + count + i]
        _leave_open(arena, net, slot, group, place)
    return rows.shape[0]
