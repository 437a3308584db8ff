"""Whole stars: the triples of an event on one subject, one behind the other, are taken at once.

Data's way: input rows -> **the solution of an event** -> those who read a node that gathers (`rete/gather.py`).
Where each triple of a star goes to its node and nowhere else, and is taken as it came, the next rows tell whether they
are a whole star.  Then none of them is dispatched, and none is put aside: what is noted is where they are.  All else
goes row by row: a star that lacks something, has something between its triples, or comes in the instant of another.

Invariant: rows that are noted are those of the batch that is being poured; when more of their instant comes, or the
batch ends, they are put aside as if they had come one by one.
"""

from __future__ import annotations

from retewave.rete.dispatch import predicate_record, shift_of
from retewave.rete.memory.arena import mix
from retewave.rete.words.bare import prefetch, tail, words_at
from retewave.rete.words.jit import inlined
from retewave.rete.words.layout import (
    A_BUCKET_MASK,
    A_BUCKETS,
    AHEAD_KEYS,
    AHEAD_NODE,
    AHEAD_WIDTH,
    ALPHA_EDGES,
    ASIDE_END,
    ASIDE_FRESH,
    ASIDE_KEY,
    ASIDE_MASK,
    ASIDE_SPILLED,
    ASIDE_WHOLE,
    ASIDE_WINDOW_START,
    EDGE_TARGET,
    LOW,
    N_GATHERING,
    N_GATHERING_COUNT,
    NODE_AHEAD,
    NODE_AHEAD_COUNT,
    NODE_ASIDE,
    NODE_FIRST_SLOT,
    NODE_FULL,
    NODE_KEY_COUNT,
    NODE_LISTS,
    NODE_OUT_COUNT,
    NODE_SEED,
    NODE_SLOTS,
    NODE_STAR,
    NODE_WINDOW,
    PREDICATE_BEGIN,
    PREDICATE_SHAPES,
    REFUSED,
    ROUTE_ALPHA,
    SHAPE_STAR,
    SLOT_ASIDE,
    SLOT_NODE,
    SLOT_WIDTH,
    STAR_EDGE,
    STAR_KEYS,
    STAR_OUT,
    STAR_PREDICATE,
    STAR_ROWS,
    STAR_SLOTS,
    STAR_STREAMS,
    STAR_WIDTH,
    T_COLUMNS,
    T_EDGES,
    T_END,
    T_START,
    T_WINDOW_START,
)
from retewave.rete.words.progress import P_LAST_ROW, P_ROW, P_ROWS
from retewave.rete.words.rows import END, EVENT, OBJECT, PREDICATE, ROW_WIDTH, START, STREAM, SUBJECT

__all__ = ["foresee_stars", "forget_stars", "note_star", "part_star", "put_star", "star_at"]

STARS_AHEAD = 2  # by then what was prefetched has come


@inlined
def star_at(net, arena, rows, row, progress):  # type: ignore[no-untyped-def]
    """Return the node that gathers the star of which a row is the first one, if it may be whole; or 0."""
    record = predicate_record(net, rows[row + PREDICATE])
    if net[record + PREDICATE_SHAPES] & SHAPE_STAR == 0:
        return 0
    slot = net[net[net[net[record + PREDICATE_BEGIN] + ROUTE_ALPHA] + ALPHA_EDGES] + EDGE_TARGET]
    node = net[slot + SLOT_NODE]
    if (
        progress[P_ROW] + net[node + NODE_SLOTS] > progress[P_LAST_ROW]
        or arena[net[node + NODE_ASIDE] + ASIDE_END] == rows[row + END]
    ):
        return 0
    return node


@inlined
def _is_of(net, rows, row, first, keys, first_keys, count):  # type: ignore[no-untyped-def]
    """Tell whether a row comes with another one, and has its key, which stands in some places of both."""
    same = rows[row + END] == rows[first + END] and rows[row + START] == rows[first + START]
    same = same and rows[row + STREAM] == rows[first + STREAM]
    for i in range(count):
        same = same and rows[row + net[keys + i]] == rows[first + net[first_keys + i]]
    return same


@inlined
def _slot_of(net, arena, star, slots, guess, predicate):  # type: ignore[no-untyped-def]
    """Return the index of the slot that takes triples of a predicate, or -1; the last star's order is tried first."""
    index = arena[guess]
    for _ in range(slots):
        if net[star + STAR_SLOTS + index * STAR_WIDTH + STAR_PREDICATE] == predicate:
            arena[guess] = index
            return index
        index = index + 1 if index + 1 < slots else 0
    return -1


@inlined
def note_star(net, arena, node, rows, row):  # type: ignore[no-untyped-def]
    """Note where the triples of a star are, from a row on; say whether it is whole, and its stream is asked for."""
    star, aside, slots, count = (
        net[node + NODE_STAR],
        net[node + NODE_ASIDE],
        net[node + NODE_SLOTS],
        net[node + NODE_KEY_COUNT],
    )
    mask, first_keys, places = 0, 0, net[star + STAR_ROWS]
    for i in range(slots):
        place = row + i * ROW_WIDTH
        index = _slot_of(net, arena, star, slots, places + slots + i, rows[place + PREDICATE])
        if index < 0 or mask >> index & 1 != 0:
            return False
        keys = net[star + STAR_SLOTS + index * STAR_WIDTH + STAR_KEYS]
        if i == 0:
            first_keys = keys
        elif not _is_of(net, rows, place, row, keys, first_keys, count):
            return False
        arena[places + index] = place
        mask |= 1 << index
    shift, end = 0, rows[row + END]
    if net[star + STAR_STREAMS] >= 0:
        shift = shift_of(net, net[star + STAR_STREAMS], rows[row + STREAM])
        if shift == REFUSED or shift > net[node + NODE_WINDOW]:
            return False
    arena[aside + ASIDE_END], arena[aside + ASIDE_MASK], arena[aside + ASIDE_FRESH] = end, net[node + NODE_FULL], 1
    arena[aside + ASIDE_SPILLED], arena[aside + ASIDE_WHOLE] = 0, 1
    arena[aside + ASIDE_WINDOW_START] = end - shift
    for i in range(count):
        arena[aside + ASIDE_KEY + i] = rows[row + net[first_keys + i]]
    return True


@inlined
def put_star(net, arena, node, rows, into):  # type: ignore[no-untyped-def]
    """Write the solution of the star that is noted as a tuple."""
    star, aside = net[node + NODE_STAR], net[node + NODE_ASIDE]
    into[T_END] = into[T_START] = arena[aside + ASIDE_END]
    into[T_WINDOW_START] = arena[aside + ASIDE_WINDOW_START]
    out, places = net[star + STAR_OUT], tail(arena, net[star + STAR_ROWS])
    for i in range(net[node + NODE_OUT_COUNT]):
        into[T_COLUMNS + i] = rows[places[net[out]] + net[out + 1]]
        out += 2


@inlined
def _home(net, arena, ahead, out, places, rows):  # type: ignore[no-untyped-def]
    """Return the place of the first bucket for the group that a star's solution will look for."""
    looked, keys = net[ahead + AHEAD_NODE], net[ahead + AHEAD_KEYS]
    h = net[looked + NODE_SEED]
    for i in range(net[looked + NODE_KEY_COUNT]):
        column = out + 2 * net[keys + i]
        h = mix(h, rows[places[net[column]] + net[column + 1]])
    return arena[A_BUCKETS] + (h & arena[A_BUCKET_MASK])


@inlined
def foresee_stars(net, arena, node, rows, progress):  # type: ignore[no-untyped-def]
    """Prefetch the runs that a star to come will look for.

    It is taken to look like the one that is noted, and the first bucket to be the right one: most often it is so.
    """
    ahead = STARS_AHEAD * net[node + NODE_SLOTS]
    if progress[P_ROW] + ahead + net[node + NODE_SLOTS] > progress[P_LAST_ROW]:
        return
    star, begin, to_come = net[node + NODE_STAR], net[node + NODE_AHEAD], tail(rows, ahead * ROW_WIDTH)
    out, places = net[star + STAR_OUT], tail(arena, net[star + STAR_ROWS])
    for each in range(begin, begin + net[node + NODE_AHEAD_COUNT] * AHEAD_WIDTH, AHEAD_WIDTH):
        bucket, looked = _home(net, arena, each, out, places, to_come), net[each + AHEAD_NODE]
        lists = (arena[bucket] & LOW) + net[looked + NODE_LISTS]
        for ends in range(lists, lists + net[looked + NODE_SLOTS]):
            prefetch(arena, arena[ends] >> 32)
            prefetch(arena, arena[ends] & LOW)


@inlined
def part_star(arena, net, node, progress):  # type: ignore[no-untyped-def]
    """Put the triples of the star that is noted aside, each for itself."""
    star, aside, rows = net[node + NODE_STAR], net[node + NODE_ASIDE], words_at(progress[P_ROWS])
    for i in range(net[node + NODE_SLOTS]):
        kept = tail(arena, net[net[node + NODE_FIRST_SLOT] + i * SLOT_WIDTH + SLOT_ASIDE])
        row = arena[net[star + STAR_ROWS] + i]
        kept[T_EDGES] = net[star + STAR_SLOTS + i * STAR_WIDTH + STAR_EDGE]
        kept[T_END] = kept[T_START] = arena[aside + ASIDE_END]
        kept[T_WINDOW_START] = arena[aside + ASIDE_WINDOW_START]
        kept[T_COLUMNS], kept[T_COLUMNS + 1] = rows[row + SUBJECT], rows[row + PREDICATE]
        kept[T_COLUMNS + 2], kept[T_COLUMNS + 3] = rows[row + OBJECT], rows[row + EVENT]
    arena[aside + ASIDE_WHOLE] = 0


@inlined
def forget_stars(net, arena, rows, progress):  # type: ignore[no-untyped-def]
    """Note which rows are poured; forget stars of others, which were given up."""
    if progress[P_ROWS] == rows:
        return
    progress[P_ROWS] = rows
    for i in range(net[N_GATHERING_COUNT]):
        aside = net[net[net[N_GATHERING] + i] + NODE_ASIDE]
        if arena[aside + ASIDE_WHOLE] != 0:
            arena[aside + ASIDE_WHOLE], arena[aside + ASIDE_MASK] = 0, 0
