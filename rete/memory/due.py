"""Tuples that wait for their decision, and the agenda that tells which is next.

A probe's tuples mostly come in the order of their times: they stand in a list.  One that is due before the last of the
list goes into a pairing heap.  Both are linked through the tuples themselves.  The agenda is a binary heap with an
entry for each probe that has waiting tuples: the earliest of their times, the probe's level, the probe.

Invariant: A_DUE is the time of the agenda's first entry, or later than every time.
"""

from __future__ import annotations

import numpy as np

from retewave.rete.memory.arena import free_block, new_block
from retewave.rete.words.bare import words
from retewave.rete.words.jit import inlined, kernel
from retewave.rete.words.layout import (
    A_AGENDA,
    A_AGENDA_COUNT,
    A_DUE,
    A_LIVE,
    B_CHILD,
    B_COLUMNS,
    B_DUE,
    B_END,
    B_NEXT,
    B_START,
    B_WINDOW_START,
    PROBE_COLUMNS,
    PROBE_LEVEL,
    PROBE_STATE,
    T_COLUMNS,
    T_END,
    T_START,
    T_WINDOW_START,
    W_COUNT,
    W_FIRST,
    W_HEAP,
    W_LAST,
)
from retewave.windows.intervals import AFTER_ALL

__all__ = ["WAITING_TIMES", "next_due", "put_waiting", "take_due", "wait", "waiting_rows"]

WAITING_TIMES = 4  # columns of a waiting tuple as a row: when it is decided, its end, window start and start; its own

_ENTRY = 3  # words of an entry of the agenda: time, level, probe


@inlined
def _is_before(arena, one, other):  # type: ignore[no-untyped-def]
    """Tell whether an entry of the agenda comes before another."""
    if arena[one] != arena[other]:
        return arena[one] < arena[other]
    return arena[one + 1] < arena[other + 1]


@inlined
def _swap(arena, one, other):  # type: ignore[no-untyped-def]
    for word in range(_ENTRY):
        arena[one + word], arena[other + word] = arena[other + word], arena[one + word]


@kernel
def _rise(arena, entry):  # type: ignore[no-untyped-def]
    """Move an entry of the agenda up to its place."""
    first = arena[A_AGENDA]
    while entry > 0:
        above = (entry - 1) // 2
        if not _is_before(arena, first + entry * _ENTRY, first + above * _ENTRY):
            break
        _swap(arena, first + entry * _ENTRY, first + above * _ENTRY)
        entry = above


@kernel
def _sink(arena, entry):  # type: ignore[no-untyped-def]
    """Move an entry of the agenda down to its place."""
    first, count = arena[A_AGENDA], arena[A_AGENDA_COUNT]
    while True:
        least = entry
        for below in (2 * entry + 1, 2 * entry + 2):
            if below < count and _is_before(arena, first + below * _ENTRY, first + least * _ENTRY):
                least = below
        if least == entry:
            return
        _swap(arena, first + entry * _ENTRY, first + least * _ENTRY)
        entry = least


@kernel
def _enter(arena, net, probe, due, there):  # type: ignore[no-untyped-def]
    """Note on the agenda that a probe, which may be there already, has a tuple that is due at a time.

    A probe that is there is looked for: this is asked only where the time is earlier than all that it waits for.
    """
    first, count = arena[A_AGENDA], arena[A_AGENDA_COUNT]
    entry = 0 if there else count
    while entry < count and arena[first + entry * _ENTRY + 2] != probe:
        entry += 1
    if entry == count:
        arena[A_AGENDA_COUNT] = count + 1
        arena[first + entry * _ENTRY + 1], arena[first + entry * _ENTRY + 2] = net[probe + PROBE_LEVEL], probe
    elif arena[first + entry * _ENTRY] <= due:
        return
    arena[first + entry * _ENTRY] = due
    _rise(arena, entry)
    arena[A_DUE] = arena[first]


@kernel
def next_due(arena, net):  # type: ignore[no-untyped-def]
    """Return the probe that is first on the agenda."""
    return arena[arena[A_AGENDA] + 2]


@inlined
def _melded(arena, one, other):  # type: ignore[no-untyped-def]
    """Return the root of two pairing heaps made one."""
    if one == 0 or other == 0:
        return one + other
    if arena[other + B_DUE] < arena[one + B_DUE]:
        one, other = other, one
    arena[other + B_NEXT] = arena[one + B_CHILD]
    arena[one + B_CHILD] = other
    return one


@kernel
def _without_root(arena, root):  # type: ignore[no-untyped-def]
    """Return the root of a pairing heap without its root: its children, melded in pairs, then one by one."""
    pairs, child = 0, arena[root + B_CHILD]
    while child != 0:
        other = arena[child + B_NEXT]
        following = arena[other + B_NEXT] if other != 0 else 0
        arena[child + B_NEXT] = 0
        if other != 0:
            arena[other + B_NEXT] = 0
        pair = _melded(arena, child, other)
        arena[pair + B_NEXT] = pairs
        pairs, child = pair, following
    root = 0
    while pairs != 0:
        following = arena[pairs + B_NEXT]
        arena[pairs + B_NEXT] = 0
        root = _melded(arena, root, pairs)
        pairs = following
    return root


@kernel
def wait(arena, net, probe, due, item):  # type: ignore[no-untyped-def]
    """Let the tuple `item` of a probe wait until a time; return where it stands."""
    columns, state = net[probe + PROBE_COLUMNS], net[probe + PROBE_STATE]
    block = new_block(arena, B_COLUMNS + columns)
    arena[block + B_NEXT], arena[block + B_CHILD], arena[block + B_DUE] = 0, 0, due
    arena[block + B_END], arena[block + B_START] = item[T_END], item[T_START]
    arena[block + B_WINDOW_START] = item[T_WINDOW_START]
    for i in range(columns):
        arena[block + B_COLUMNS + i] = item[T_COLUMNS + i]
    arena[A_LIVE] += 1
    arena[state + W_COUNT] += 1
    first, last, root = arena[state + W_FIRST], arena[state + W_LAST], arena[state + W_HEAP]
    if last == 0:
        arena[state + W_FIRST], arena[state + W_LAST] = block, block
    elif arena[last + B_DUE] <= due:
        arena[last + B_NEXT] = block
        arena[state + W_LAST] = block
        return block
    else:
        arena[state + W_HEAP] = _melded(arena, root, block)
    if (first == 0 or due < arena[first + B_DUE]) and (root == 0 or due < arena[root + B_DUE]):
        _enter(arena, net, probe, due, first != 0 or root != 0)
    return block


@kernel
def take_due(arena, net, probe, item):  # type: ignore[no-untyped-def]
    """Take the probe's tuple that is due first, fill `item` with it, and bring the agenda up to date; return its time.

    The probe is the first on the agenda.
    """
    columns, state = net[probe + PROBE_COLUMNS], net[probe + PROBE_STATE]
    block, root = arena[state + W_FIRST], arena[state + W_HEAP]
    if block == 0 or (root != 0 and arena[root + B_DUE] < arena[block + B_DUE]):
        block = root
        arena[state + W_HEAP] = _without_root(arena, root)
    else:
        arena[state + W_FIRST] = arena[block + B_NEXT]
        if arena[block + B_NEXT] == 0:
            arena[state + W_LAST] = 0
    due = arena[block + B_DUE]
    item[T_END], item[T_START] = arena[block + B_END], arena[block + B_START]
    item[T_WINDOW_START] = arena[block + B_WINDOW_START]
    for i in range(columns):
        item[T_COLUMNS + i] = arena[block + B_COLUMNS + i]
    free_block(arena, block, B_COLUMNS + columns)
    arena[A_LIVE] -= 1
    arena[state + W_COUNT] -= 1
    _reschedule(arena, arena[state + W_FIRST], arena[state + W_HEAP])
    return due


@inlined
def _reschedule(arena, block, root):  # type: ignore[no-untyped-def]
    """Set the first entry of the agenda to its probe's next tuple, or take it off."""
    first = arena[A_AGENDA]
    due = AFTER_ALL if block == 0 else arena[block + B_DUE]
    if root != 0 and arena[root + B_DUE] < due:
        due = arena[root + B_DUE]
    if due == arena[first]:
        return
    if due == AFTER_ALL:
        count = arena[A_AGENDA_COUNT] - 1
        arena[A_AGENDA_COUNT] = count
        _swap(arena, first, first + count * _ENTRY)
    else:
        arena[first] = due
    _sink(arena, 0)
    arena[A_DUE] = arena[first] if arena[A_AGENDA_COUNT] > 0 else AFTER_ALL


@kernel
def _free_all(arena, net, probe, block):  # type: ignore[no-untyped-def]
    """Give back the blocks of a tuple and of all that are linked with it."""
    size = B_COLUMNS + net[probe + PROBE_COLUMNS]
    waiting = [block]
    while len(waiting) > 0:
        block = waiting.pop()
        if block == 0:
            continue
        waiting.append(arena[block + B_NEXT])
        waiting.append(arena[block + B_CHILD])
        free_block(arena, block, size)
        arena[A_LIVE] -= 1


@kernel
def _forget(arena, net, probe):  # type: ignore[no-untyped-def]
    """Let nothing of a probe wait any more."""
    state = net[probe + PROBE_STATE]
    _free_all(arena, net, probe, arena[state + W_FIRST])
    _free_all(arena, net, probe, arena[state + W_HEAP])
    arena[state + W_FIRST], arena[state + W_LAST], arena[state + W_HEAP], arena[state + W_COUNT] = 0, 0, 0, 0
    first, count = arena[A_AGENDA], arena[A_AGENDA_COUNT]
    for entry in range(count):
        if arena[first + entry * _ENTRY + 2] == probe:
            _swap(arena, first + entry * _ENTRY, first + (count - 1) * _ENTRY)
            arena[A_AGENDA_COUNT] = count - 1
            break
    for entry in range(arena[A_AGENDA_COUNT] // 2 - 1, -1, -1):
        _sink(arena, entry)
    arena[A_DUE] = arena[first] if arena[A_AGENDA_COUNT] > 0 else AFTER_ALL


@kernel
def put_waiting(net_array, arena_array, probe, rows):  # type: ignore[no-untyped-def]
    """Let these tuples, and no others, wait at a probe: a row is the decision's time, the tuple's times and columns."""
    net, arena = words(net_array), words(arena_array)
    _forget(arena, net, probe)
    item = np.zeros(T_COLUMNS + rows.shape[1], np.int64)
    for row in range(rows.shape[0]):
        item[T_END], item[T_WINDOW_START], item[T_START] = rows[row, 1], rows[row, 2], rows[row, 3]
        for i in range(net[probe + PROBE_COLUMNS]):
            item[T_COLUMNS + i] = rows[row, WAITING_TIMES + i]
        wait(arena, net, probe, rows[row, 0], words(item))


@kernel
def waiting_rows(net_array, arena_array, probe):  # type: ignore[no-untyped-def]
    """Return the tuples that wait at a probe: a row each, as `put_waiting` takes them."""
    net, arena = words(net_array), words(arena_array)
    columns, state = net[probe + PROBE_COLUMNS], net[probe + PROBE_STATE]
    found = np.zeros((arena[state + W_COUNT], WAITING_TIMES + columns), np.int64)
    waiting, row = [arena[state + W_FIRST], arena[state + W_HEAP]], 0
    while len(waiting) > 0:
        block = waiting.pop()
        if block == 0:
            continue
        waiting.append(arena[block + B_CHILD])
        waiting.append(arena[block + B_NEXT])
        found[row, 0], found[row, 1] = arena[block + B_DUE], arena[block + B_END]
        found[row, 2], found[row, 3] = arena[block + B_WINDOW_START], arena[block + B_START]
        for i in range(columns):
            found[row, WAITING_TIMES + i] = arena[block + B_COLUMNS + i]
        row += 1
    return found
