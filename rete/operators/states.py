"""States: the memories that have the runs of a sequence, and the instants at which events of a partition came.

Data's way: what a step makes -> **a row of its state**, a tuple for those who want to know it.
A state that has each tuple once asks whether it is there already.
The *instants* are a memory, too: of the times at which events of a partition came, each with the time before it.

A run that cannot go on any more is *over*: it is taken off its group's list when it is met, so each is met once; only
the last of a list stays, as groups without rows would have to be made again and again.
Its row keeps its place until it is out of the window: later runs may have grown from it, and refer to it.
"""

from __future__ import annotations

from retewave.rete.filters.compare import number_word
from retewave.rete.memory.slots import fill_row, find_group, last_group, new_row, seek_group
from retewave.rete.terms.marks import mark_row
from retewave.rete.words.bare import bytes_at, tail
from retewave.rete.words.jit import inlined
from retewave.rete.words.layout import (
    A_NOWHERE,
    ASIDE_FRESH,
    EDGE_KEYS,
    EDGE_PAYLOAD,
    EDGE_PAYLOAD_COUNT,
    EDGE_TARGET,
    LINK_STATE,
    LOW,
    N_END,
    N_STRIDE,
    N_TIMES,
    R_LINK,
    S_SINCE,
    SLOT_LIST,
    SLOT_NODE,
    SLOT_STATE,
    STATE_ASIDE,
    STATE_COLUMNS,
    STATE_CUT,
    STATE_EDGE_COUNT,
    STATE_EDGES,
    STATE_MARK_COUNT,
    STATE_NUMBER_COUNT,
    STATE_NUMBERS,
    STATE_ONCE,
    STATE_OWN,
    STATE_SLOT,
    STATE_STRICT,
    STATE_TELL_COUNT,
    STATE_TELLS,
    STATE_UNDYING,
    STEP_INSTANT_KEYS,
    STEP_INSTANTS,
    T_COLUMNS,
    T_EDGE_COUNT,
    T_EDGES,
    T_END,
    T_START,
    T_WINDOW_START,
)
from retewave.rete.words.progress import P_MARKED, P_MARKS, P_STEPPING, P_TOP
from retewave.windows.intervals import AFTER_ALL, BEFORE_ALL

__all__ = [
    "cut_off",
    "instant_before",
    "is_over",
    "keep_run",
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
def _is_there(arena, net, edge, item):  # type: ignore[no-untyped-def]
    """Tell whether a tuple with the same columns and end is in its state already."""
    slot = net[net[edge + EDGE_TARGET] + STATE_SLOT]
    group = seek_group(arena, net, net[slot + SLOT_NODE], net[edge + EDGE_KEYS], item)
    last = arena[group + net[slot + SLOT_LIST]] & LOW if group != 0 else 0
    return last != 0 and arena[last + net[N_END]] == item[T_END]


@inlined
def _is_alone(arena, net, state):  # type: ignore[no-untyped-def]
    """Tell whether an event's solution is the first of its instant: a node that gathers knows that."""
    aside = net[state + STATE_ASIDE]
    return aside != 0 and arena[aside + ASIDE_FRESH] != 0


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
def keep_run(arena, net, edge, item, values, stack, progress):  # type: ignore[no-untyped-def]
    """Put a tuple into a state, and on the stack for those who want to know it; return the new top."""
    state, top, row = net[edge + EDGE_TARGET], progress[P_TOP], 0
    alone = net[state + STATE_ONCE] != 0 and _is_alone(arena, net, state)
    if net[state + STATE_ONCE] != 0 and not alone and _is_there(arena, net, edge, item):
        return top
    if net[state + STATE_SLOT] != 0 and not alone:
        row = store_run(arena, net, state, edge, item, values, progress)
    if net[state + STATE_EDGE_COUNT] != 0:
        payload = net[edge + EDGE_PAYLOAD]
        stack[top + T_EDGES], stack[top + T_EDGE_COUNT] = net[state + STATE_EDGES], net[state + STATE_EDGE_COUNT]
        stack[top + T_END], stack[top + T_START] = item[T_END], item[T_START]
        stack[top + T_WINDOW_START] = item[T_WINDOW_START]
        for i in range(net[edge + EDGE_PAYLOAD_COUNT]):
            stack[top + T_COLUMNS + i] = item[T_COLUMNS + net[payload + i]]
        own = net[state + STATE_OWN]
        if own != 0:
            stack[top + T_COLUMNS + net[state + STATE_COLUMNS]] = row | (own - 1) << LINK_STATE
        tell_numbers(net, state, tail(stack, top), values)
        top += net[N_STRIDE]
    return top


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
    """Say whether some run of a group may go on: its last one is the youngest."""
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
