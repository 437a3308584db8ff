"""Finished runs: rows of a memory without a window that no run can go on from, and that no later run has grown from.

A run that is over has left its group's list, but keeps its place, since later runs lead back to it.  Where a window
bounds them, rows go by age.  Where none does, it is found out now and then which of them some run still leads back to;
a page on which no row is needed any more is given up whole.

Data's way: the links of runs that may go on -> **marks on what they lead back to** -> pages without a mark go.
Invariant: rows stay where they are, as links are places.  Between two calls there are no marks.
"""

from __future__ import annotations

import numpy as np

from retewave.rete.memory.arena import free_page
from retewave.rete.words.bare import words
from retewave.rete.words.jit import inlined, kernel
from retewave.rete.words.layout import (
    A_COLLECTED,
    A_LIVE,
    A_NOWHERE,
    A_SLOT_STATES,
    LINK_STATE,
    LOW,
    N_SLOTS,
    N_STATES,
    NODE_WINDOW,
    PAGE,
    R_LINK,
    S_COLLECTED,
    S_HEAD,
    S_HEAD_PAGE,
    S_ROWS,
    S_TAIL_PAGE,
    S_WIDTH,
    SLOT_LIST,
    SLOT_NODE,
    SLOT_ROW_WORDS,
    SLOT_WIDTH,
    STATE_LINK,
    STATE_SLOT,
    STATE_WIDTH,
)
from retewave.windows.intervals import UNBOUNDED

__all__ = ["drop_finished", "finish_instants", "leading_back", "mark_runs", "run_links"]

MARK = 1 << 32  # beside the group of no node, in a row that has left its list: it is needed


@inlined
def _following(net, page, row, size):  # type: ignore[no-untyped-def]
    """Tell whether the row behind another one is on the same page."""
    return row + 2 * size <= page + PAGE


@kernel
def run_links(net_array, arena_array, slot, word, whole):  # type: ignore[no-untyped-def]
    """Return what stands in a word of the rows of a slot: of all rows, or of those in their groups' lists."""
    net, arena = words(net_array), words(arena_array)
    record, state = net[N_SLOTS] + slot * SLOT_WIDTH, arena[A_SLOT_STATES] + slot * S_WIDTH
    size, nowhere = net[record + SLOT_ROW_WORDS], arena[A_NOWHERE]
    found, count = np.empty(arena[state + S_ROWS], dtype=np.int64), 0
    page, row = arena[state + S_HEAD_PAGE], arena[state + S_HEAD]
    for _ in range(arena[state + S_ROWS]):
        if whole or arena[row + R_LINK] & LOW != nowhere:
            found[count] = arena[row + word]
            count += 1
        if _following(net, page, row, size):
            row += size
        else:
            page = arena[page]
            row = page + 1
    return found[:count]


@kernel
def leading_back(numbers, links):  # type: ignore[no-untyped-def]
    """Return those of some numbers that are among these links, which are ordered."""
    found, count = np.empty(len(numbers), dtype=np.int64), 0
    for number in numbers:
        at = np.searchsorted(links, number)
        if at < len(links) and links[at] == number:
            found[count] = number
            count += 1
    return found[:count]


@kernel
def mark_runs(net_array, arena_array, links):  # type: ignore[no-untyped-def]
    """Mark the finished runs to which some links lead, and those before them, as far as no window bounds them."""
    net, arena = words(net_array), words(arena_array)
    nowhere = arena[A_NOWHERE]
    for first in links:
        link = first
        while link != 0:
            row, state = link & ((1 << LINK_STATE) - 1), net[N_STATES] + (link >> LINK_STATE) * STATE_WIDTH
            slot = net[state + STATE_SLOT]
            if slot == 0 or net[net[slot + SLOT_NODE] + NODE_WINDOW] < UNBOUNDED or arena[row + R_LINK] != nowhere:
                break  # it goes by age; or it may go on, or is marked already
            arena[row + R_LINK] = nowhere | MARK
            link = arena[row + net[state + STATE_LINK]] if net[state + STATE_LINK] != 0 else 0


@kernel
def finish_instants(net_array, arena_array, slot):  # type: ignore[no-untyped-def]
    """Let all instants but the last of each partition leave their lists: nobody looks further back."""
    net, arena = words(net_array), words(arena_array)
    record, state = net[N_SLOTS] + slot * SLOT_WIDTH, arena[A_SLOT_STATES] + slot * S_WIDTH
    size, nowhere = net[record + SLOT_ROW_WORDS], arena[A_NOWHERE]
    page, row = arena[state + S_HEAD_PAGE], arena[state + S_HEAD]
    for _ in range(arena[state + S_ROWS]):
        group = arena[row + R_LINK] & LOW
        if group != nowhere:
            last = arena[group + net[record + SLOT_LIST]] & LOW
            arena[group + net[record + SLOT_LIST]] = (last << 32) | last
            if row != last:
                arena[row + R_LINK] = nowhere
        if _following(net, page, row, size):
            row += size
        else:
            page = arena[page]
            row = page + 1


@inlined
def _needed(arena, row, nowhere):  # type: ignore[no-untyped-def]
    """Tell whether a row is in a list or marked; take the mark off."""
    link = arena[row + R_LINK]
    if link == nowhere | MARK:
        arena[row + R_LINK] = nowhere
    return link != nowhere


@kernel
def drop_finished(net_array, arena_array, slot):  # type: ignore[no-untyped-def]
    """Give up the pages of a slot on which no row is needed, but for the last page; return how many rows go."""
    net, arena = words(net_array), words(arena_array)
    record, state = net[N_SLOTS] + slot * SLOT_WIDTH, arena[A_SLOT_STATES] + slot * S_WIDTH
    size, nowhere, left = net[record + SLOT_ROW_WORDS], arena[A_NOWHERE], arena[state + S_ROWS]
    page, row, before, dropped = arena[state + S_HEAD_PAGE], arena[state + S_HEAD], 0, 0
    while left > 0:
        count, needed = 0, page == arena[state + S_TAIL_PAGE]
        while count < left and row + size <= page + PAGE:
            needed = _needed(arena, row, nowhere) or needed
            row, count = row + size, count + 1
        left -= count
        following = arena[page]
        if needed:
            before = page
        else:
            if before != 0:
                arena[before] = following
            else:
                arena[state + S_HEAD_PAGE], arena[state + S_HEAD] = following, following + 1
            free_page(arena, page)
            dropped += count
        page, row = following, following + 1
    arena[state + S_ROWS] -= dropped
    arena[state + S_COLLECTED] += dropped
    arena[A_LIVE] -= dropped
    arena[A_COLLECTED] += dropped
    return dropped
