"""States: the memories that have the runs of a sequence, and the instants at which events of a partition came.

Data's way: what a step makes -> **a row of its state**, a tuple for those who want to know it.
The *instants* are a memory, too: of the times at which events of a partition came, each with the time before it.

A run that cannot go on any more is *over*: it is taken off its group's list when it is met, so each is met once; only
the last of a list stays, as groups without rows would have to be made again and again.
Its row keeps its place until it is out of the window: later runs may have grown from it, and refer to it.
"""

from __future__ import annotations

from retewave.rete.filters.compare import number_word
from retewave.rete.memory.slots import fill_row, find_group, last_group, new_row
from retewave.rete.terms.marks import mark_row
from retewave.rete.words.bare import bytes_at
from retewave.rete.words.jit import inlined
from retewave.rete.words.layout import (
    A_NOWHERE,
    EDGE_KEYS,
    EDGE_TARGET,
    LOW,
    N_END,
    N_TIMES,
    R_LINK,
    S_SINCE,
    SLOT_LIST,
    SLOT_NODE,
    SLOT_STATE,
    STATE_COLUMNS,
    STATE_CUT,
    STATE_MARK_COUNT,
    STATE_NUMBER_COUNT,
    STATE_NUMBERS,
    STATE_OWN,
    STATE_SLOT,
    STATE_STRICT,
    STATE_TELL_COUNT,
    STATE_TELLS,
    STATE_UNDYING,
    STEP_INSTANT_KEYS,
    STEP_INSTANTS,
    T_COLUMNS,
    T_END,
)
from retewave.rete.words.progress import P_MARKED, P_MARKS, P_STEPPING
from retewave.windows.intervals import AFTER_ALL, BEFORE_ALL

__all__ = [
    "cut_off",
    "instant_before",
    "is_over",
    "mark_run",
    "may_go_on",
    "note_instant",
    "store_run",
    "take_off",
    "tell_numbers",
]


@inlined
def mark_run(net, arena, slot, row, progress):  # type: ignore[no-untyped-def]
    """Mark the terms of a new run, if a sweep is under way."""
    if progress[P_MARKED] != 0:
        mark_row(net, arena, slot, row, bytes_at(progress[P_MARKS]), progress[P_MARKED])


@inlined
def note_instant(arena, net, edge, item, progress):  # type: ignore[no-untyped-def]
    """Note that an event of a partition came, once an instant."""
    slot = net[edge + EDGE_TARGET]
    node, column = net[slot + SLOT_NODE], 1 + net[N_TIMES]
    group = last_group(arena, net, node, net[edge + EDGE_KEYS], item)
    last = arena[group + net[slot + SLOT_LIST]] & LOW if group != 0 else 0
    if last != 0 and arena[last + net[N_END]] == item[T_END]:
        return
    row = new_row(arena, net, slot, item)
    group = find_group(arena, net, node, edge, item)
    former = arena[group + net[slot + SLOT_LIST]] & LOW
    fill_row(arena, net, slot, edge, group, row, item)
    arena[row + column] = arena[former + net[N_END]] if former != 0 else BEFORE_ALL
    mark_run(net, arena, slot, row, progress)


@inlined
def instant_before(arena, net, step, item):  # type: ignore[no-untyped-def]
    """Return the last time before a tuple's end at which an event of its partition came, or may have come unseen."""
    slot = net[step + STEP_INSTANTS]
    since = arena[net[slot + SLOT_STATE] + S_SINCE]
    group = last_group(arena, net, net[slot + SLOT_NODE], net[step + STEP_INSTANT_KEYS], item)
    last = arena[group + net[slot + SLOT_LIST]] & LOW if group != 0 else 0
    if last == 0:
        return since
    end = arena[last + net[N_END]]
    return max(since, end if end < item[T_END] else arena[last + 1 + net[N_TIMES]])


@inlined
def store_run(arena, net, state, edge, item, values, progress):  # type: ignore[no-untyped-def]
    """Make a tuple a row of a state's memory; return the row."""
    slot = net[state + STATE_SLOT]
    row = new_row(arena, net, slot, item)
    group = find_group(arena, net, net[slot + SLOT_NODE], edge, item)
    fill_row(arena, net, slot, edge, group, row, item)
    marks = row + 1 + net[N_TIMES] + net[state + STATE_COLUMNS]
    for mark in range(marks, marks + net[state + STATE_MARK_COUNT]):
        arena[mark] = AFTER_ALL
    numbers = net[state + STATE_NUMBERS]
    for number in range(numbers, numbers + 2 * net[state + STATE_NUMBER_COUNT], 2):
        arena[row + net[number + 1]] = number_word(values, arena[row + net[number]])
    mark_run(net, arena, slot, row, progress)
    return row


@inlined
def tell_numbers(net, state, item, values):  # type: ignore[no-untyped-def]
    """Write the numbers of its terms behind all else in a tuple of a state, as far as steps compare them."""
    own = 1 if net[state + STATE_OWN] != 0 else 0
    told, tells = T_COLUMNS + net[state + STATE_COLUMNS] + own, net[state + STATE_TELLS]
    for i in range(net[state + STATE_TELL_COUNT]):
        item[told + i] = number_word(values, item[net[tells + i]])


@inlined
def is_over(arena, net, state, row, end, before):  # type: ignore[no-untyped-def]
    """Tell whether a run cannot go on at a time, nor later; `before` is the instant of its partition before that."""
    if net[state + STATE_UNDYING] != 0 or (net[state + STATE_STRICT] != 0 and arena[row + net[N_END]] >= before):
        return False
    marks = row + 1 + net[N_TIMES] + net[state + STATE_COLUMNS]
    going = False
    for mark in range(marks, marks + net[state + STATE_MARK_COUNT]):
        going = going or arena[mark] >= end
    return not going


@inlined
def take_off(arena, net, slot, group, row, former):  # type: ignore[no-untyped-def]
    """Take a row, which stands behind another one or first (0), off its group's list; its place stays."""
    word, following = group + net[slot + SLOT_LIST], arena[row + R_LINK] >> 32
    head, last = arena[word] >> 32, arena[word] & LOW
    if former == 0:
        head = following
    else:
        arena[former + R_LINK] = (following << 32) | (arena[former + R_LINK] & LOW)
    arena[word] = (head << 32) | (former if last == row else last)
    arena[row + R_LINK] = arena[A_NOWHERE]


@inlined
def may_go_on(arena, net, state, group, before, progress):  # type: ignore[no-untyped-def]
    """Tell whether some run of a group may go on: its last one is the youngest."""
    last = arena[group + net[net[state + STATE_SLOT] + SLOT_LIST]] & LOW
    if last == 0:
        return False
    return progress[P_STEPPING] != 0 or net[state + STATE_CUT] == 0 or arena[last + net[N_END]] >= before


@inlined
def cut_off(arena, word, end_word, before):  # type: ignore[no-untyped-def]
    """Take the runs off a list that are older than an instant, all but the last; return the first that is left."""
    first, last, nowhere = arena[word] >> 32, arena[word] & LOW, arena[A_NOWHERE]
    row = first
    while row != last and arena[row + end_word] < before:
        row, former = arena[row + R_LINK] >> 32, row
        arena[former + R_LINK] = nowhere
    if row != first:
        arena[word] = (row << 32) | last
    return row
