"""Mark the terms that the memories hold, a few rows at a time: a sweep of the dictionary spares these terms.

Where it stands: beside data's way.  While a sweep is under way rows come and go.  A row that was there at its
beginning and stays is passed by a cursor; a row that comes is marked by the kernel that stores it.  So no row is
missed, and the stream never waits for all of them.
"""

from __future__ import annotations

import numpy as np

from retewave.rete.words.bare import prefetch, words
from retewave.rete.words.jit import inlined, kernel
from retewave.rete.words.layout import (
    B_CHILD,
    B_COLUMNS,
    B_NEXT,
    F_COUNT,
    F_ENTRIES,
    G_KEY,
    LOW,
    N_PROBE_COUNT,
    N_PROBES,
    N_SLOTS,
    N_TIMES,
    NODE_KEY_COUNT,
    OCCURRENCE_WIDTH,
    PAGE,
    PROBE_COLUMNS,
    PROBE_STATE,
    PROBE_WIDTH,
    R_LINK,
    S_COLLECTED,
    S_HEAD,
    S_HEAD_PAGE,
    S_ROWS,
    SLOT_NODE,
    SLOT_ROW_WORDS,
    SLOT_STATE,
    SLOT_WIDTH,
    W_FIRST,
    W_HEAP,
)
from retewave.rete.words.rows import OBJECT, SUBJECT

__all__ = [
    "mark_all_waiting",
    "mark_instant",
    "mark_occurrence",
    "mark_occurrences",
    "mark_row",
    "mark_terms",
    "mark_waiting",
    "new_cursor",
]

# the cursor: its slot, the number of the next row since the slot's first (-1: none is looked at), that row, its page
C_SLOT, C_PASSED, C_ROW, C_PAGE = 0, 1, 2, 3
AHEAD = 6  # rows: groups lie anywhere, and are fetched before their turn


def new_cursor() -> np.ndarray:
    """Return a cursor before the first row of the first slot."""
    return np.array([0, -1, 0, 0], dtype=np.int64)


@inlined
def mark_row(net, arena, slot, row, marks, count):  # type: ignore[no-untyped-def]
    """Mark those of the first `count` terms that a row or its group's key holds; the other numbers are no terms.

    `slot` is where its record is.
    """
    keys = net[net[slot + SLOT_NODE] + NODE_KEY_COUNT]
    key = (arena[row + R_LINK] & LOW) + G_KEY
    for place in range(key, key + keys):
        if 0 < arena[place] < count:
            marks[arena[place]] = 1
    for place in range(row + 1 + net[N_TIMES], row + net[slot + SLOT_ROW_WORDS]):
        if 0 < arena[place] < count:
            marks[arena[place]] = 1


@kernel
def _next_row(arena, slot_state, cursor):  # type: ignore[no-untyped-def]
    """Set the cursor to the oldest row that it has not passed and that is still there; tell whether there is one."""
    gone = arena[slot_state + S_COLLECTED]
    if cursor[C_PASSED] < gone:
        cursor[C_PASSED], cursor[C_ROW] = gone, arena[slot_state + S_HEAD]
        cursor[C_PAGE] = arena[slot_state + S_HEAD_PAGE]
    return cursor[C_PASSED] < gone + arena[slot_state + S_ROWS]


@inlined
def _foresee(arena, row, page):  # type: ignore[no-untyped-def]
    """Prefetch the group of a row that comes soon, if it is on the page; behind the last row this does no harm."""
    if row + R_LINK < page + PAGE:
        prefetch(arena, (arena[row + R_LINK] & LOW) + G_KEY)


@kernel
def mark_terms(net_array, arena_array, slots, marks_array, cursor, most):  # type: ignore[no-untyped-def]
    """Mark the terms of at most `most` further streamed rows; return how much of `most` is left over.

    Between two calls rows may come and go.  The cursor passes every row that was there at the first call and is still
    there; it tells a row by its number in its slot, and stands on one that is there whenever it stands inside a slot.
    """
    net, arena, marks = words(net_array), words(arena_array), words(marks_array)
    while cursor[C_SLOT] < slots and most > 0:
        slot = net[N_SLOTS] + cursor[C_SLOT] * SLOT_WIDTH
        state, size = net[slot + SLOT_STATE], net[slot + SLOT_ROW_WORDS]
        more = _next_row(arena, state, cursor)
        while more and most > 0:
            row = cursor[C_ROW]
            _foresee(arena, row + AHEAD * size, cursor[C_PAGE])
            mark_row(net, arena, slot, row, marks, marks_array.size)
            most -= 1
            cursor[C_PASSED] += 1
            more = cursor[C_PASSED] < arena[state + S_COLLECTED] + arena[state + S_ROWS]
            if more and cursor[C_ROW] + 2 * size > cursor[C_PAGE] + PAGE:
                cursor[C_PAGE] = arena[cursor[C_PAGE]]
                cursor[C_ROW] = cursor[C_PAGE] + 1
            elif more:
                cursor[C_ROW] += size
        if not more:
            cursor[C_SLOT], cursor[C_PASSED] = cursor[C_SLOT] + 1, -1
    return most


@kernel
def mark_waiting(net, arena, probe, block, marks, count):  # type: ignore[no-untyped-def]
    """Mark those of the first `count` terms that a waiting tuple of a probe holds; other numbers do no harm."""
    for place in range(block + B_COLUMNS, block + B_COLUMNS + net[probe + PROBE_COLUMNS]):
        if 0 < arena[place] < count:
            marks[arena[place]] = 1


@kernel
def _mark_heap(net, arena, probe, root, marks, count):  # type: ignore[no-untyped-def]
    """Mark what a pairing heap holds: its roots are linked, each has its children below."""
    waiting = [root]
    while len(waiting) > 0:
        block = waiting.pop()
        if block != 0:
            mark_waiting(net, arena, probe, block, marks, count)
            waiting.append(arena[block + B_NEXT])
            waiting.append(arena[block + B_CHILD])


@kernel
def mark_all_waiting(net_array, arena_array, marks_array):  # type: ignore[no-untyped-def]
    """Mark the terms of all tuples that wait for a decision."""
    net, arena, marks = words(net_array), words(arena_array), words(marks_array)
    for number in range(net[N_PROBE_COUNT]):
        probe = net[N_PROBES] + number * PROBE_WIDTH
        state = net[probe + PROBE_STATE]
        _mark_heap(net, arena, probe, arena[state + W_HEAP], marks, marks_array.size)
        block = arena[state + W_FIRST]
        while block != 0:
            mark_waiting(net, arena, probe, block, marks, marks_array.size)
            block = arena[block + B_NEXT]


@inlined
def mark_occurrence(feed, one, marks, count):  # type: ignore[no-untyped-def]
    """Mark those of the first `count` terms that an occurrence holds."""
    for place in range(one + SUBJECT, one + OBJECT + 1):
        if 0 < feed[place] < count:
            marks[feed[place]] = 1


@kernel
def mark_occurrences(feed, first, marks, count):  # type: ignore[no-untyped-def]
    """Mark those of the first `count` terms that the occurrences of an instant hold, from one of them on."""
    for number in range(first, feed[F_COUNT]):
        mark_occurrence(feed, feed[F_ENTRIES] + number * OCCURRENCE_WIDTH, marks, count)


@kernel
def mark_instant(feed_array, marks_array):  # type: ignore[no-untyped-def]
    """Mark the terms of all occurrences of an instant."""
    mark_occurrences(words(feed_array), 0, words(marks_array), marks_array.size)
