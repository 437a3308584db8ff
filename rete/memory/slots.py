"""Memories: find the group of a key, store a row in a slot, take a slot's oldest rows out again.

Rows arrive in time order, so the oldest row of a slot is the head of its first page, and the head of its group's
list: taking it out is O(1), with no search and no tombstone.  A slot, a node or an edge is told by its record's place.
"""

from __future__ import annotations

from retewave.rete.memory.arena import HASH, forget_group, free_group, free_page, key_hash, mix, new_group, new_page
from retewave.rete.words.bare import prefetch
from retewave.rete.words.jit import inlined, kernel
from retewave.rete.words.layout import (
    A_BUCKET_MASK,
    A_BUCKETS,
    A_COLLECTED,
    A_COUNTING,
    A_LIMIT,
    A_LIVE,
    A_NOW,
    A_STATIC,
    EDGE_KEYS,
    EDGE_PAYLOAD,
    EDGE_PAYLOAD_COUNT,
    EDGE_TARGET,
    G_KEY,
    G_MASK,
    G_NODE,
    LOW,
    N_END,
    N_START,
    N_TIMES,
    NODE_FORESEEN,
    NODE_GROUP_WORDS,
    NODE_KEY_COUNT,
    NODE_LAST_GROUP,
    NODE_LISTS,
    NODE_NUMBER,
    NODE_OUT,
    NODE_SEED,
    NODE_SLOTS,
    NODE_WINDOW,
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
    SLOT_INDEX,
    SLOT_LENGTH,
    SLOT_LIST,
    SLOT_NODE,
    SLOT_PASSING,
    SLOT_ROW_WORDS,
    SLOT_STATE,
    T_COLUMNS,
    T_END,
    T_START,
    T_WINDOW_START,
)

__all__ = [
    "collect_slot",
    "drop_group",
    "drop_oldest",
    "fill_row",
    "find_group",
    "foresee",
    "group_of",
    "last_group",
    "list_row",
    "new_row",
    "passing_row",
    "seek_group",
    "store_row",
    "streamed_row",
]

AHEAD = 4  # rows: the groups of the oldest ones have left the caches; fetch them before their turn


@inlined
def _same_key(arena, net, group, keys, count, item):  # type: ignore[no-untyped-def]
    if count == 1:
        return arena[group + G_KEY] == item[T_COLUMNS + net[keys]]
    for i in range(count):  # noqa: SIM110
        if arena[group + G_KEY + i] != item[T_COLUMNS + net[keys + i]]:
            return False
    return True


@inlined
def find_group(arena, net, node, edge, item):  # type: ignore[no-untyped-def]
    """Return the group of `node` for the key that `edge` takes from the tuple `item`; make it when it is not there."""
    return group_of(arena, net, node, net[edge + EDGE_KEYS], item)


@inlined
def group_of(arena, net, node, keys, item):  # type: ignore[no-untyped-def]
    """Return the group of `node` for a key that stands in some columns of `item`; make it when it is not there."""
    count = net[node + NODE_KEY_COUNT]
    note = net[node + NODE_LAST_GROUP]
    last = arena[note]
    if last != 0 and _same_key(arena, net, last, keys, count, item):
        return last
    h = net[node + NODE_SEED]
    for i in range(count):
        h = mix(h, item[T_COLUMNS + net[keys + i]])
    h &= HASH
    buckets, mask, number = arena[A_BUCKETS], arena[A_BUCKET_MASK], net[node + NODE_NUMBER]
    at = h & mask
    while arena[buckets + at] != 0:
        group = arena[buckets + at] & LOW
        same = arena[buckets + at] >> 32 == h and arena[group + G_NODE] == number
        if same and _same_key(arena, net, group, keys, count, item):
            arena[note] = group
            return group
        at = (at + 1) & mask
    group = new_group(arena, net[node + NODE_GROUP_WORDS])
    arena[buckets + at] = (h << 32) | group
    arena[group + G_NODE] = number
    for i in range(count):
        arena[group + G_KEY + i] = item[T_COLUMNS + net[keys + i]]
    arena[note] = group
    return group


@inlined
def last_group(arena, net, node, keys, item):  # type: ignore[no-untyped-def]
    """Return what `seek_group` does; where the last group is meant once more, there is no call."""
    last = arena[net[node + NODE_LAST_GROUP]]
    if last != 0 and _same_key(arena, net, last, keys, net[node + NODE_KEY_COUNT], item):
        return last
    return seek_group(arena, net, node, keys, item)


@kernel
def seek_group(arena, net, node, keys, item):  # type: ignore[no-untyped-def]
    """Return the group of `node` for a key that stands in some columns of the tuple `item`, or 0 if there is none."""
    count = net[node + NODE_KEY_COUNT]
    last = arena[net[node + NODE_LAST_GROUP]]
    if last != 0 and _same_key(arena, net, last, keys, count, item):
        return last
    h = net[node + NODE_SEED]
    for i in range(count):
        h = mix(h, item[T_COLUMNS + net[keys + i]])
    h &= HASH
    buckets, mask, number = arena[A_BUCKETS], arena[A_BUCKET_MASK], net[node + NODE_NUMBER]
    at = h & mask
    while arena[buckets + at] != 0:
        group = arena[buckets + at] & LOW
        same = arena[buckets + at] >> 32 == h and arena[group + G_NODE] == number
        if same and _same_key(arena, net, group, keys, count, item):
            arena[net[node + NODE_LAST_GROUP]] = group
            return group
        at = (at + 1) & mask
    return 0


@inlined
def passing_row(arena, net, slot, edge, group, item):  # type: ignore[no-untyped-def]
    """Fill the one row of a slot whose rows only pass; return its place, and the mask of the group's slots with it."""
    row = net[slot + SLOT_PASSING]
    times = net[N_TIMES]
    if times > 1:
        arena[row + net[N_END]], arena[row + net[N_START]] = item[T_END], item[T_START]
    arena[row + R_WINDOW_START], arena[row + R_LINK] = item[T_WINDOW_START], group
    payload = net[edge + EDGE_PAYLOAD]
    for i in range(net[edge + EDGE_PAYLOAD_COUNT]):
        arena[row + 1 + times + i] = item[T_COLUMNS + net[payload + i]]
    if arena[A_COUNTING] != 0:
        arena[net[slot + SLOT_STATE] + S_IN] += 1
    return row, arena[group + G_MASK] | 1 << net[slot + SLOT_INDEX]


@inlined
def foresee(arena, net, node, group):  # type: ignore[no-untyped-def]
    """Prefetch the group to which the tuples of `group` will go, which lacks rows of one slot only.

    Two loads that miss the caches, one after the other: when the last row comes, nothing else is left to do meanwhile.
    The first bucket is the right one more often than not, and to look whether it is would be to wait for it.
    """
    edge = net[node + NODE_FORESEEN]
    target = net[net[edge + EDGE_TARGET] + SLOT_NODE]
    lists, out, keys = group + net[node + NODE_LISTS], net[node + NODE_OUT], net[edge + EDGE_KEYS]
    h = net[target + NODE_SEED]
    for i in range(net[target + NODE_KEY_COUNT]):
        column = out + 2 * net[keys + i]
        of_group = net[column] == net[node + NODE_SLOTS]
        place = group if of_group else arena[lists + net[column]] >> 32
        if place == 0:
            return  # a row of the slot that is missing tells the key
        h = mix(h, arena[place + net[column + 1]])
    bucket = arena[A_BUCKETS] + (h & arena[A_BUCKET_MASK])
    prefetch(arena, (arena[bucket] & LOW) + G_KEY)


@inlined
def _turn_page(arena, page, page_word):  # type: ignore[no-untyped-def]
    """Put a new page behind a slot's last one, if it has any; return the place of its first row."""
    fresh = new_page(arena)
    if page != 0:
        arena[page] = fresh
    arena[page_word] = fresh
    return fresh + 1


@inlined
def _static_row(arena, state, words):  # type: ignore[no-untyped-def]
    """Return the place of a new static row."""
    page, row = arena[state + S_STATIC_PAGE], arena[state + S_STATIC]
    if page == 0 or row + words > page + PAGE:
        row = _turn_page(arena, page, state + S_STATIC_PAGE)
    arena[state + S_STATIC] = row + words
    arena[A_STATIC] += 1
    return row


@kernel
def _row_behind_due(arena, net, slot, state, words):  # type: ignore[no-untyped-def]
    """Return the place of a new streamed row, perhaps on a new page; the rows that are due go first."""
    collect_slot(arena, net, slot)
    page, row = arena[state + S_TAIL_PAGE], arena[state + S_TAIL]
    if page == 0 or row + words > page + PAGE:
        row = _turn_page(arena, page, state + S_TAIL_PAGE)
    if page == 0:
        arena[state + S_HEAD_PAGE], arena[state + S_HEAD] = row - 1, row
    return row


@inlined
def streamed_row(arena, net, slot, state, words):  # type: ignore[no-untyped-def]
    """Return the place of a new streamed row.

    Where a page is full, or the live rows are more than half their bound, the rows that are due go first.
    """
    page, row, bound = arena[state + S_TAIL_PAGE], arena[state + S_TAIL], arena[A_LIMIT]
    if page == 0 or row + words > page + PAGE or (bound != 0 and 2 * arena[A_LIVE] > bound):
        row = _row_behind_due(arena, net, slot, state, words)
    arena[state + S_TAIL] = row + words
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
def new_row(arena, net, slot, item):  # type: ignore[no-untyped-def]
    """Return the place of a new row of a slot, for the tuple `item`; what is due may be collected before."""
    state, words = net[slot + SLOT_STATE], net[slot + SLOT_ROW_WORDS]
    if item[T_END] < item[T_WINDOW_START]:
        return _static_row(arena, state, words)
    return streamed_row(arena, net, slot, state, words)


@inlined
def _fill(arena, net, slot, edge, group, row, item, static):  # type: ignore[no-untyped-def]
    times = net[N_TIMES]
    if times > 1:
        arena[row + net[N_END]], arena[row + net[N_START]] = item[T_END], item[T_START]
    arena[row + R_WINDOW_START] = item[T_WINDOW_START]  # the last one: of those that share a word this is the one
    payload, columns = net[edge + EDGE_PAYLOAD], net[edge + EDGE_PAYLOAD_COUNT]
    if columns == 1:
        arena[row + 1 + times] = item[T_COLUMNS + net[payload]]
    else:
        for i in range(columns):
            arena[row + 1 + times + i] = item[T_COLUMNS + net[payload + i]]
    state = net[slot + SLOT_STATE]
    _link_row(arena, group, group + net[slot + SLOT_LIST], row, static, arena[state + S_STATIC_PAGE] == 0)
    mask = arena[group + G_MASK] | 1 << net[slot + SLOT_INDEX]
    arena[group + G_MASK] = mask
    if arena[A_COUNTING] != 0:
        arena[state + S_IN] += 1
    return mask


@inlined
def fill_row(arena, net, slot, edge, group, row, item):  # type: ignore[no-untyped-def]
    """Fill a new row with the tuple `item`, and put it in its group's list; return the mask of the group's slots.

    Static rows are stored before any streamed one, so a group's list never has a streamed row behind a static one.
    """
    return _fill(arena, net, slot, edge, group, row, item, item[T_END] < item[T_WINDOW_START])


@inlined
def list_row(arena, group, word, bit, row):  # type: ignore[no-untyped-def]
    """Put a streamed row in a group's list, by its word and the bit of the slot, which never has a static row."""
    _link_row(arena, group, group + word, row, False, True)
    arena[group + G_MASK] |= bit


@kernel
def _static_store(arena, net, slot, edge, item):  # type: ignore[no-untyped-def]
    row = _static_row(arena, net[slot + SLOT_STATE], net[slot + SLOT_ROW_WORDS])
    group = find_group(arena, net, net[slot + SLOT_NODE], edge, item)
    return row, group, _fill(arena, net, slot, edge, group, row, item, True)


@inlined
def store_row(arena, net, slot, edge, item):  # type: ignore[no-untyped-def]
    """Store the tuple `item` as a row of a slot; return the row, its group, and the mask of the group's slots.

    What the stream brings is told from static tuples once, here, and not at each step.
    """
    if item[T_END] < item[T_WINDOW_START]:
        return _static_store(arena, net, slot, edge, item)
    row = streamed_row(arena, net, slot, net[slot + SLOT_STATE], net[slot + SLOT_ROW_WORDS])
    group = find_group(arena, net, net[slot + SLOT_NODE], edge, item)
    return row, group, _fill(arena, net, slot, edge, group, row, item, False)


@kernel
def drop_group(arena, net, node, group):  # type: ignore[no-untyped-def]
    """Give up a group without rows."""
    forget_group(arena, key_hash(arena, net, node, group + G_KEY), group)
    if arena[net[node + NODE_LAST_GROUP]] == group:
        arena[net[node + NODE_LAST_GROUP]] = 0
    free_group(arena, group, net[node + NODE_GROUP_WORDS])


@inlined
def _unlink_oldest(arena, net, node, row, list_word, bit):  # type: ignore[no-untyped-def]
    """Take a slot's oldest row off its group's list; the group goes when it has no rows."""
    group, following = arena[row + R_LINK] & LOW, arena[row + R_LINK] >> 32
    tail = arena[group + list_word] & LOW
    arena[group + list_word] = (following << 32) | (0 if tail == row else tail)
    if following == 0:
        arena[group + G_MASK] &= ~bit
        if arena[group + G_MASK] == 0:
            drop_group(arena, net, node, group)


@kernel
def drop_oldest(arena, net, slot, due, over, most):  # type: ignore[no-untyped-def]
    """Take out at most `most` of a slot's oldest streamed rows; return how many went.

    That is those whose window start is before `due`, or whose true start is before `over`.
    """
    node, state, words = net[slot + SLOT_NODE], net[slot + SLOT_STATE], net[slot + SLOT_ROW_WORDS]
    start_word, list_word, bit = net[N_START], net[slot + SLOT_LIST], 1 << net[slot + SLOT_INDEX]
    row, page, rows = arena[state + S_HEAD], arena[state + S_HEAD_PAGE], arena[state + S_ROWS]
    dropped, most = 0, most if most < rows else rows
    while dropped < most and (arena[row + R_WINDOW_START] < due or arena[row + start_word] < over):
        ahead = row + AHEAD * words
        if ahead < page + PAGE:
            prefetch(arena, (arena[ahead + R_LINK] & LOW) + list_word)
        _unlink_oldest(arena, net, node, row, list_word, bit)
        dropped += 1
        row += words
        if dropped < rows and row + words > page + PAGE:
            following = arena[page]
            free_page(arena, page)
            page, row = following, following + 1
    if dropped == rows and page != 0:  # it is 0 where there was no row
        free_page(arena, page)
        page = 0
        arena[state + S_TAIL_PAGE] = 0
    arena[state + S_HEAD], arena[state + S_HEAD_PAGE], arena[state + S_ROWS] = row, page, rows - dropped
    arena[state + S_COLLECTED] += dropped
    arena[A_LIVE] -= dropped
    arena[A_COLLECTED] += dropped
    return dropped


@kernel
def collect_slot(arena, net, slot):  # type: ignore[no-untyped-def]
    """Drop every row that is due from a slot; return how many."""
    due, over = arena[A_NOW] - net[net[slot + SLOT_NODE] + NODE_WINDOW], arena[A_NOW] - net[slot + SLOT_LENGTH]
    return drop_oldest(arena, net, slot, due, over, arena[A_LIVE])
