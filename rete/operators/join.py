"""Joins: combine a row that has just been stored with the rows of every other slot of its group.

There is no left and no right: whichever row comes last finds the others.  Each combination is made exactly once, at
the arrival of its last row.  The interval of a combination is updated row by row (min of starts; the end is the new
row's, which no stored row exceeds), and a combination that has outgrown the node's window, or breaks a temporal
relation, is given up at once.
"""

from __future__ import annotations

from retewave.rete.memory.slots import collect_slot
from retewave.rete.memory.spent import is_row_spent
from retewave.rete.words.jit import inlined, kernel
from retewave.rete.words.layout import (
    A_COUNTING,
    N_START,
    NODE_EDGE_COUNT,
    NODE_EDGES,
    NODE_FIRST_SLOT,
    NODE_LISTS,
    NODE_OUT,
    NODE_OUT_COUNT,
    NODE_RELATION_COUNT,
    NODE_RELATIONS,
    NODE_SLOTS,
    NODE_SPENT,
    NODE_STATES,
    NODE_WINDOW,
    NONE,
    R_LINK,
    R_WINDOW_START,
    RELATION_GAP,
    RELATION_LEFT,
    RELATION_LEFT_WORD,
    RELATION_RIGHT,
    RELATION_RIGHT_WORD,
    RELATION_WIDTH,
    S_HITS,
    S_NO_RELATION,
    S_NO_WINDOW,
    S_PROBES,
    S_USED_UP,
    S_WIDTH,
    SLOT_INDEX,
    SLOT_NODE,
    SLOT_WIDTH,
    T_COLUMNS,
    T_EDGE_COUNT,
    T_EDGES,
    T_END,
    T_START,
    T_WINDOW_START,
)

__all__ = ["GROUP", "MANY_MET", "MET", "MOST_SLOTS", "ROW", "WORK", "collect_met", "combine"]

MOST_SLOTS = 60  # a node's mask of filled slots is one word
WORK = MOST_SLOTS + 4  # words of each of the four lists that a combination works with
ROW = 4 * WORK  # the word behind them: the row that has just been stored
MET = ROW + 1  # and the next: how many rows were met that are out of the window
GROUP = MET + 1  # and the next: the group of a row that only passes, if it completes something there
MANY_MET = 8  # are met before the slots of the last one are collected: one by one costs more than to meet them


@inlined
def _put(arena, net, node, rows, end, window_start, start, into, top):  # type: ignore[no-untyped-def]
    """Write the combination of `rows` (one a slot, the group behind them) as a tuple, or an output row if it is one."""
    into[top + T_EDGES] = net[node + NODE_EDGES]
    into[top + T_EDGE_COUNT] = net[node + NODE_EDGE_COUNT]
    into[top + T_END] = end
    into[top + T_WINDOW_START] = window_start
    into[top + T_START] = start
    out = net[node + NODE_OUT]
    for i in range(net[node + NODE_OUT_COUNT]):
        into[top + T_COLUMNS + i] = arena[rows[net[out + 2 * i]] + net[out + 2 * i + 1]]


@kernel
def _relations_hold(arena, net, node, rows, depth, slot):  # type: ignore[no-untyped-def]
    """Check the temporal relations of the node between rows that are chosen: in `slot`, and in all up to `depth`.

    Those between rows that were chosen before hold already.
    """
    at = net[node + NODE_RELATIONS]
    for relation in range(at, at + net[node + NODE_RELATION_COUNT] * RELATION_WIDTH, RELATION_WIDTH):
        left, right = net[relation + RELATION_LEFT], net[relation + RELATION_RIGHT]
        other = right if left == depth else (left if right == depth else -1)
        if other < 0 or (other > depth and other != slot):
            continue
        earlier = arena[rows[left] + net[relation + RELATION_LEFT_WORD]]
        if earlier + net[relation + RELATION_GAP] > arena[rows[right] + net[relation + RELATION_RIGHT_WORD]]:
            return False
    return True


@kernel
def collect_met(arena, net, place, group, end):  # type: ignore[no-untyped-def]
    """Collect the slots whose oldest row in a group is due; `place` is that of the slot whose row has met them."""
    node, slot = net[place + SLOT_NODE], net[place + SLOT_INDEX]
    for other in range(net[node + NODE_SLOTS]):
        oldest = arena[group + net[node + NODE_LISTS] + other] >> 32
        if other != slot and oldest != 0 and end - arena[oldest + R_WINDOW_START] > net[node + NODE_WINDOW]:
            collect_slot(arena, net, place + (other - slot) * SLOT_WIDTH)


@inlined
def combine(arena, net, node, group, slot, row, item, work, into, top, room, stride, looks):  # type: ignore[no-untyped-def]
    """Put every combination of `row`, stored of `item`, with one row of each other slot into the stack or the output.

    Return the new top, or -1 when there is no room for them all: the caller makes room and asks again.
    `work` is four lists: the row chosen in each slot, and with each choice the starts of the combination so far and the
    slot to go back to when this one is through: the last one before it whose chosen row has another one behind it.
    Rows that are out of the window are counted in `work`, so that those which are due are not met again and again.
    Rows that are used up are passed over; what follows `looks` is for networks that look or use up.
    """
    slots, lists = net[node + NODE_SLOTS], group + net[node + NODE_LISTS]
    window, related = net[node + NODE_WINDOW], net[node + NODE_RELATION_COUNT] > 0
    start_word, end = net[N_START], item[T_END]
    spent, first = (net[node + NODE_SPENT], net[node + NODE_FIRST_SLOT]) if looks is not None else (0, 0)
    hits, no_window, no_relation, used_up = 0, 0, 0, 0
    work[slot] = row
    work[slots] = group
    depth = 1 if slot == 0 else 0
    last = slots - 2 if slot == slots - 1 else slots - 1
    work[WORK + depth], work[2 * WORK + depth], work[3 * WORK + depth] = item[T_WINDOW_START], item[T_START], NONE
    other = arena[lists + depth] >> 32
    while True:
        work[depth] = other
        window_start, start, following = (
            arena[other + R_WINDOW_START],
            arena[other + start_word],
            arena[other + R_LINK] >> 32,
        )
        window_start = window_start if window_start < work[WORK + depth] else work[WORK + depth]
        if end - window_start > window:
            no_window += 1
            work[MET] += 1
        elif related and not _relations_hold(arena, net, node, work, depth, slot):
            no_relation += 1
        elif spent != 0 and is_row_spent(arena, net, spent, first + depth * SLOT_WIDTH, other, end):
            used_up += 1
        else:
            start = start if start < work[2 * WORK + depth] else work[2 * WORK + depth]
            if depth != last:
                back = depth if following != 0 else work[3 * WORK + depth]
                depth += 2 if depth + 1 == slot else 1
                work[WORK + depth], work[2 * WORK + depth], work[3 * WORK + depth] = window_start, start, back
                other = arena[lists + depth] >> 32
                continue
            if top + stride > room:
                return -1
            _put(arena, net, node, work, end, window_start, start, into, top)
            top += stride
            hits += 1
        if following == 0:
            depth = work[3 * WORK + depth]
            if depth == NONE:
                break
            following = arena[work[depth] + R_LINK] >> 32
        other = following
    if arena[A_COUNTING] != 0:
        _count(arena, net[node + NODE_STATES] + slot * S_WIDTH, hits, no_window, no_relation, used_up)
    return top


@kernel
def _count(arena, state, hits, no_window, no_relation, used_up):  # type: ignore[no-untyped-def]
    arena[state + S_HITS] += hits
    arena[state + S_NO_WINDOW] += no_window
    arena[state + S_NO_RELATION] += no_relation
    arena[state + S_USED_UP] += used_up
    arena[state + S_PROBES] += 1
