"""Memories: find the group of a key, store a row in a slot, take a slot's oldest row out again.

Rows arrive in time order, so the oldest row of a slot is the head of its first page, and the head of its group's
list: taking it out is O(1), with no search and no tombstone.
"""

from __future__ import annotations

from retewave.rete.arena import HASH, forget_group, free_group, free_page, key_hash, mix, new_group, new_page
from retewave.rete.jit import inlined, kernel
from retewave.rete.layout import (
    A_BUCKET_MASK,
    A_BUCKETS,
    A_COLLECTED,
    A_COUNTING,
    A_LAST_GROUPS,
    A_LIVE,
    A_SLOT_STATES,
    A_STATIC,
    EDGE_KEYS,
    EDGE_PAYLOAD,
    EDGE_PAYLOAD_COUNT,
    EDGE_TARGET,
    EDGE_WIDTH,
    G_KEY,
    G_MASK,
    G_NODE,
    LOW,
    N_COLUMNS,
    N_EDGES,
    N_END,
    N_NODES,
    N_SEED,
    N_SLOTS,
    N_START,
    N_TIMES,
    NODE_FORESEEN,
    NODE_GROUP_WORDS,
    NODE_KEY_COUNT,
    NODE_OUT,
    NODE_SLOTS,
    NODE_WIDTH,
    PAGE,
    R_LINK,
    R_WINDOW_START,
    S_COLLECTED,
    S_HEAD,
    S_HEAD_PAGE,
    S_IN,
    S_ROWS,
    S_STATIC,
    S_STATIC_PAGE,
    S_TAIL,
    S_TAIL_PAGE,
    S_WIDTH,
    SLOT_INDEX,
    SLOT_NODE,
    SLOT_ROW_WORDS,
    SLOT_WIDTH,
    T_COLUMNS,
    T_END,
    T_START,
    T_WINDOW_START,
)
from retewave.rete.words import prefetch

__all__ = ["drop_oldest", "find_group", "foresee", "store_row"]

AHEAD = (
    32  # words: the oldest rows were written so long ago that they have left the caches; fetch them before their turn
)


@inlined
def _same_key(arena, net, group, keys, count, item):  # type: ignore[no-untyped-def]
    for i in range(count):  # noqa: SIM110
        if arena[group + G_KEY + i] != item[T_COLUMNS + net[keys + i]]:
            return False
    return True


@inlined
def find_group(arena, net, node, edge, item):  # type: ignore[no-untyped-def]
    """Return the group of `node` for the key that `edge` takes from the tuple `item`; make it when it is not there."""
    record = net[N_NODES] + node * NODE_WIDTH
    count = net[record + NODE_KEY_COUNT]
    keys = net[N_COLUMNS] + net[edge + EDGE_KEYS]
    note = arena[A_LAST_GROUPS] + node
    last = arena[note]
    if last != 0 and _same_key(arena, net, last, keys, count, item):
        return last
    h = mix(net[N_SEED], node)
    for i in range(count):
        h = mix(h, item[T_COLUMNS + net[keys + i]])
    h &= HASH
    buckets, mask = arena[A_BUCKETS], arena[A_BUCKET_MASK]
    at = h & mask
    while arena[buckets + at] != 0:
        group = arena[buckets + at] & LOW
        same = arena[buckets + at] >> 32 == h and arena[group + G_NODE] == node
        if same and _same_key(arena, net, group, keys, count, item):
            arena[note] = group
            return group
        at = (at + 1) & mask
    group = new_group(arena, net[record + NODE_GROUP_WORDS])
    arena[buckets + at] = (h << 32) | group
    arena[group + G_NODE] = node
    for i in range(count):
        arena[group + G_KEY + i] = item[T_COLUMNS + net[keys + i]]
    arena[note] = group
    return group


@inlined
def foresee(arena, net, node, group):  # type: ignore[no-untyped-def]
    """Prefetch the group to which the tuples of `group` will go, which lacks rows of one slot only.

    Two loads that miss the caches, one after the other: when the last row comes, nothing else is left to do meanwhile.
    The first bucket is the right one more often than not, and to look whether it is would be to wait for it.
    """
    record = net[N_NODES] + node * NODE_WIDTH
    edge = net[N_EDGES] + net[record + NODE_FORESEEN] * EDGE_WIDTH
    target = net[net[N_SLOTS] + net[edge + EDGE_TARGET] * SLOT_WIDTH + SLOT_NODE]
    lists, out = group + G_KEY + net[record + NODE_KEY_COUNT], net[N_COLUMNS] + net[record + NODE_OUT]
    keys = net[N_COLUMNS] + net[edge + EDGE_KEYS]
    h = mix(net[N_SEED], target)
    for i in range(net[net[N_NODES] + target * NODE_WIDTH + NODE_KEY_COUNT]):
        column = out + 2 * net[keys + i]
        of_group = net[column] == net[record + NODE_SLOTS]
        place = group if of_group else arena[lists + net[column]] >> 32
        if place == 0:
            return  # a row of the slot that is missing tells the key
        h = mix(h, arena[place + net[column + 1]])
    bucket = arena[A_BUCKETS] + (h & arena[A_BUCKET_MASK])
    prefetch(arena, (arena[bucket] & LOW) + G_KEY)


@inlined
def _place(arena, state, words, page_word, place_word):  # type: ignore[no-untyped-def]
    """Return the place of a new row in the pages that the two words of a slot's state tell of."""
    page, place = arena[state + page_word], arena[state + place_word]
    if page == 0 or place + words > page + PAGE:
        fresh = new_page(arena)
        if page != 0:
            arena[page] = fresh
        arena[state + page_word] = fresh
        page, place = fresh, fresh + 1
    arena[state + place_word] = place + words
    return place


@inlined
def _new_row(arena, net, slot, static):  # type: ignore[no-untyped-def]
    state = arena[A_SLOT_STATES] + slot * S_WIDTH
    words = net[net[N_SLOTS] + slot * SLOT_WIDTH + SLOT_ROW_WORDS]
    if static:
        arena[A_STATIC] += 1
        return _place(arena, state, words, S_STATIC_PAGE, S_STATIC)
    row = _place(arena, state, words, S_TAIL_PAGE, S_TAIL)
    if arena[state + S_ROWS] == 0:
        arena[state + S_HEAD_PAGE] = arena[state + S_TAIL_PAGE]
        arena[state + S_HEAD] = row
    arena[state + S_ROWS] += 1
    arena[A_LIVE] += 1
    return row


@inlined
def _link_row(arena, group, word, row, static, none_static):  # type: ignore[no-untyped-def]
    """Put a row in its group's list: streamed rows in arrival order, static ones after them.

    The tail has long left the caches.  Where no static row can follow it, it is written, but not read: nothing waits.
    """
    head, tail = arena[word] >> 32, arena[word] & LOW
    if static:
        arena[row + R_LINK] = (head << 32) | group
        arena[word] = row << 32
    elif tail == 0:
        arena[row + R_LINK] = (head << 32) | group
        arena[word] = (row << 32) | row
    else:
        arena[row + R_LINK] = group if none_static else (arena[tail + R_LINK] & ~LOW) | group
        arena[tail + R_LINK] = (row << 32) | (arena[tail + R_LINK] & LOW)
        arena[word] = (head << 32) | row


@inlined
def store_row(arena, net, slot, edge, group, item):  # type: ignore[no-untyped-def]
    """Store the tuple `item` in a slot, as a row of `group`; return the row.

    Static rows are stored before any streamed one, so a group's list never has a streamed row behind a static one.
    """
    static = item[T_END] < item[T_WINDOW_START]
    row = _new_row(arena, net, slot, static)
    arena[row + net[N_END]], arena[row + net[N_START]] = item[T_END], item[T_START]
    arena[row + R_WINDOW_START] = item[T_WINDOW_START]  # the last one: of three that share a word this is the one
    times = net[N_TIMES]
    payload = net[N_COLUMNS] + net[edge + EDGE_PAYLOAD]
    for i in range(net[edge + EDGE_PAYLOAD_COUNT]):
        arena[row + 1 + times + i] = item[T_COLUMNS + net[payload + i]]
    record = net[N_SLOTS] + slot * SLOT_WIDTH
    index = net[record + SLOT_INDEX]
    none_static = arena[arena[A_SLOT_STATES] + slot * S_WIDTH + S_STATIC_PAGE] == 0
    _link_row(arena, group, _list_word(arena, net, slot, group), row, static, none_static)
    arena[group + G_MASK] |= 1 << index
    if arena[A_COUNTING] != 0:
        arena[arena[A_SLOT_STATES] + slot * S_WIDTH + S_IN] += 1
    return row


@kernel
def _drop_group(arena, net, group, node, words):  # type: ignore[no-untyped-def]
    forget_group(arena, key_hash(arena, net, node, group + G_KEY), group)
    if arena[arena[A_LAST_GROUPS] + node] == group:
        arena[arena[A_LAST_GROUPS] + node] = 0
    free_group(arena, group, words)


@inlined
def _list_word(arena, net, slot, group):  # type: ignore[no-untyped-def]
    """Return where a group has the head and the tail of a slot's list."""
    record = net[N_SLOTS] + slot * SLOT_WIDTH
    keys = net[net[N_NODES] + net[record + SLOT_NODE] * NODE_WIDTH + NODE_KEY_COUNT]
    return group + G_KEY + keys + net[record + SLOT_INDEX]


@inlined
def _unlink_oldest(arena, net, slot, row):  # type: ignore[no-untyped-def]
    record = net[N_SLOTS] + slot * SLOT_WIDTH
    node, index = net[record + SLOT_NODE], net[record + SLOT_INDEX]
    node_record = net[N_NODES] + node * NODE_WIDTH
    group = arena[row + R_LINK] & LOW
    word = _list_word(arena, net, slot, group)
    tail = arena[word] & LOW
    following = arena[row + R_LINK] >> 32
    arena[word] = (following << 32) | (0 if tail == row else tail)
    if following == 0:
        arena[group + G_MASK] &= ~(1 << index)
        if arena[group + G_MASK] == 0:
            _drop_group(arena, net, group, node, net[node_record + NODE_GROUP_WORDS])


@inlined
def drop_oldest(arena, net, slot):  # type: ignore[no-untyped-def]
    """Take the oldest streamed row of a slot out: off its group's list and off the slot's first page."""
    state = arena[A_SLOT_STATES] + slot * S_WIDTH
    words = net[net[N_SLOTS] + slot * SLOT_WIDTH + SLOT_ROW_WORDS]
    row, page = arena[state + S_HEAD], arena[state + S_HEAD_PAGE]
    prefetch(arena, row + AHEAD)
    _unlink_oldest(arena, net, slot, row)
    arena[state + S_ROWS] -= 1
    arena[A_LIVE] -= 1
    arena[A_COLLECTED] += 1
    arena[state + S_COLLECTED] += 1
    if arena[state + S_ROWS] == 0:
        free_page(arena, page)
        arena[state + S_HEAD_PAGE] = 0
        arena[state + S_TAIL_PAGE] = 0
    elif row + 2 * words > page + PAGE:
        following = arena[page]
        free_page(arena, page)
        arena[state + S_HEAD_PAGE] = following
        arena[state + S_HEAD] = following + 1
    else:
        arena[state + S_HEAD] = row + words
        prefetch(arena, _list_word(arena, net, slot, arena[row + words + R_LINK] & LOW))
