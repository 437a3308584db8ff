"""The kernel: pour input rows through the network, and write output rows.

Data's way: rows -> dispatch -> **memories and joins** -> output rows.  One loop, one explicit stack, no recursion:
a tuple (an α's triple or a join's result) is taken off the stack and sent along its producer's edges.  An edge to a
slot stores the tuple as a row, and puts the tuples that this row completes on the stack.  An edge to a terminal writes
output rows, and so does a node whose tuples need no more test.  The kernel is compiled once for all patterns: the
network is data.
"""

from __future__ import annotations

import numpy as np

from retewave.rete.deciding import do_what_is_due
from retewave.rete.dispatch import dispatch
from retewave.rete.edges import looked_at, passes
from retewave.rete.facts import FACT_END, FACT_WIDTH, put_fact
from retewave.rete.feed import has_room, note_given
from retewave.rete.filters.compare import find_extremes
from retewave.rete.filters.interpreter import Filters
from retewave.rete.gather import settle, take_star
from retewave.rete.memory.arena import STORING, make_room, roomy
from retewave.rete.memory.collect import LEAST_ROWS_BETWEEN_COLLECTIONS, collect_all, free_rows, runs_fit
from retewave.rete.memory.slots import foresee, store_row
from retewave.rete.operators.join import GROUP, MANY_MET, MET, ROW, collect_met, combine
from retewave.rete.solutions import store_kept
from retewave.rete.stars import forget_stars
from retewave.rete.state import (
    C_ARENA,
    C_ARENA_WORDS,
    C_BOUNDS,
    C_FEED,
    C_KINDS,
    C_MEMO,
    C_MEMO_WIDTH,
    C_NET,
    C_NUMBERS,
    C_OUT,
    C_OUT_WORDS,
    C_PROGRESS,
    C_STACK,
    C_STACK_WORDS,
    C_TERM_ARENA,
    C_TERM_EXACT,
    C_TERM_HASHES,
    C_TERM_KIND,
    C_TERM_NUMBER,
    C_TERM_SPANS,
    C_TERMS,
    C_VIEWS,
    C_WORK,
    Sizes,
    View,
)
from retewave.rete.terminal import emit
from retewave.rete.terms.kinds import Values
from retewave.rete.terms.marks import mark_row
from retewave.rete.words.bare import address_in, bytes_at, prefetch, reals_at, tail, words, words_at
from retewave.rete.words.bytes import Address, cell
from retewave.rete.words.jit import inlined, kernel
from retewave.rete.words.layout import (
    A_DUE,
    A_LIMIT,
    A_LIVE,
    A_MOST_RUNS,
    A_NOW,
    A_SINCE,
    A_SPENT,
    AT_LIMIT,
    DONE,
    EDGE_KIND,
    EDGE_TARGET,
    EDGE_WIDTH,
    ENDLESS,
    F_DUE,
    INTERVAL,
    N_BUILT,
    N_GATHERING_COUNT,
    N_INSTANTS,
    N_KEPT_COUNT,
    N_NUMBERS,
    N_OUT_WIDTH,
    N_SLOT_COUNT,
    N_STARS,
    N_STRIDE,
    NEEDS_ARENA,
    NEEDS_CLEARING,
    NEEDS_FEED,
    NEEDS_OUT,
    NEEDS_STACK,
    NODE_COMPARED_COUNT,
    NODE_FORESEEN,
    NODE_FULL,
    NODE_LAST,
    NONE,
    OUTPUT_FULL,
    REFUSED,
    SLOT_INDEX,
    SLOT_NODE,
    T_EDGE_COUNT,
    T_EDGES,
    T_END,
    TO_TERMINAL,
)
from retewave.rete.words.progress import (
    P_COUNT,
    P_DECIDING,
    P_FACTS,
    P_GROUP,
    P_LAST_ROW,
    P_MARKED,
    P_MARKS,
    P_MOST,
    P_ROW,
    P_TOP,
    P_UNTIL,
)
from retewave.rete.words.rows import END, OBJECT, ROW_WIDTH, START

__all__ = ["run", "run_looking"]

NUMBERS_AHEAD = 8  # rows: by then the numbers of their terms have come from the memory
LEAST_SPENT = 256  # events that are used up before the rows that hold them are collected


@inlined
def _store(arena, net, edge, item, work, progress):  # type: ignore[no-untyped-def]
    """Store a tuple in the slot that `edge` leads to; return its group if it may complete something, else 0."""
    slot = net[edge + EDGE_TARGET]
    node = net[slot + SLOT_NODE]
    row, group, mask = store_row(arena, net, slot, edge, item)
    missing = net[node + NODE_FULL] & ~mask
    if progress[P_MARKED] != 0:
        mark_row(net, arena, slot, row, bytes_at(progress[P_MARKS]), progress[P_MARKED])
    if missing == 0:
        work[ROW] = row
        return group
    if missing & (missing - 1) == 0 and net[node + NODE_FORESEEN] != NONE:
        foresee(arena, net, node, group)
    return 0


@inlined
def _complete(net, arena, sizes, edge, group, item, work, stack, out, progress, looks):  # type: ignore[no-untyped-def]
    """Combine a row that has just been stored with the others of its group; say NEEDS_* if there must be room first.

    The results are put on the stack; if a single query is all that listens, they are written as output rows at once.
    """
    slot, width = net[edge + EDGE_TARGET], net[N_OUT_WIDTH]
    node, index = net[slot + SLOT_NODE], net[slot + SLOT_INDEX]
    last = net[node + NODE_LAST] != 0
    into, stride = (out, width) if last else (stack, net[N_STRIDE])
    top, room = (progress[P_COUNT] * width, sizes.out * width) if last else (progress[P_TOP], sizes.stack)
    top = combine(arena, net, node, group, index, work[ROW], item, work, into, top, room, stride, looks)
    if top < 0:
        progress[P_GROUP] = group
        return NEEDS_OUT if last else NEEDS_STACK
    if last:
        progress[P_COUNT] = top // width
    else:
        progress[P_TOP] = top
    progress[P_GROUP] = 0
    if work[MET] >= MANY_MET:
        work[MET] = 0
        collect_met(arena, net, slot, group, item[T_END])
    return DONE


@inlined
def _compared(net, arena, sizes, edge, item, work, stack, out, progress, looks):  # type: ignore[no-untyped-def]
    """Complete tuples in the group in `work`; if there are none, note that the group's extremes may be too wide."""
    top, group, slot = progress[P_TOP], work[GROUP], net[edge + EDGE_TARGET]
    said = _complete(net, arena, sizes, edge, group, item, work, stack, out, progress, looks)
    if progress[P_TOP] == top and said == DONE and net[net[slot + SLOT_NODE] + NODE_COMPARED_COUNT] != 0:
        find_extremes(arena, net, net[slot + SLOT_NODE], group, net[slot + SLOT_INDEX], item[T_END])
    return said


@inlined
def _follow(net, arena, feed, sizes, edge, item, view, work, stack, out, progress, looks):  # type: ignore[no-untyped-def]
    """Send the current tuple along one edge; say NEEDS_* if there must be room first, else DONE."""
    group = progress[P_GROUP]
    if group == 0:
        kind = net[edge + EDGE_KIND]
        if looks is not None and kind > TO_TERMINAL:
            said = looked_at(net, arena, sizes, edge, item, view, work, stack, progress)
            if work[GROUP] == 0:
                return said
            return _compared(net, arena, sizes, edge, item, work, stack, out, progress, looks)
        said = passes(arena, net, edge, item, view, progress)
        if said != DONE:
            return DONE if said == REFUSED else said
        if kind == TO_TERMINAL:
            return emit(net, arena, net[edge + EDGE_TARGET], item, view, feed, out, progress, sizes.out, looks)
        if not roomy(arena, sizes.arena) and not make_room(arena, sizes.arena):
            return NEEDS_ARENA
        group = _store(arena, net, edge, item, work, progress)
        if group == 0:
            return DONE
    return _complete(net, arena, sizes, edge, group, item, work, stack, out, progress, looks)


@inlined
def _prepared(net, arena, feed, rows, row, end, view, progress):  # type: ignore[no-untyped-def]
    """Prepare to dispatch the next row: note it for rules; say DONE, or what must be done before."""
    if arena[A_MOST_RUNS] != 0 and not runs_fit(arena, net, end):
        return AT_LIMIT
    if arena[A_SPENT] > max(LEAST_SPENT, arena[A_LIVE] >> 2):
        return NEEDS_CLEARING
    if net[N_BUILT] != 0 and progress[P_FACTS] == 0:
        if not has_room(feed, 1):
            return NEEDS_FEED
        note_given(net, feed, rows, row, progress)
    if net[N_NUMBERS] != 0 and progress[P_FACTS] == 0:
        _foresee_number(rows, row, view.values, progress)
    return DONE


@inlined
def _foresee_number(rows, row, values, progress):  # type: ignore[no-untyped-def]
    """Prefetch what filters will want to know of the object of a row that comes soon."""
    if progress[P_ROW] + NUMBERS_AHEAD < progress[P_LAST_ROW]:
        term = rows[row + NUMBERS_AHEAD * ROW_WIDTH + OBJECT]
        prefetch(values.number, term)
        prefetch(values.kind, term)
        prefetch(values.exact, term)


@inlined
def _dispatched(arena, progress, end, top):  # type: ignore[no-untyped-def]
    """Note that a row has been dispatched: its tuples are on the stack, below a new top."""
    if end > arena[A_NOW]:
        arena[A_NOW] = end
    progress[P_TOP] = top
    progress[P_ROW] += 1
    arena[A_SINCE] += 1


@inlined
def _taken_whole(net, arena, sizes, rows, row, end, values, stack, progress):  # type: ignore[no-untyped-def]
    """Take the star that begins with a row at once; say whether that was possible."""
    if net[N_STARS] == 0 or progress[P_FACTS] != 0 or not roomy(arena, sizes.arena):
        return False
    taken = take_star(net, arena, rows, row, sizes.arena, sizes.stack, values, stack, progress)
    for each in range(1, taken):
        progress[P_ROW] += 1
        if net[N_NUMBERS] != 0:
            _foresee_number(rows, row + each * ROW_WIDTH, values, progress)
    if taken == 0:
        return False
    _dispatched(arena, progress, end, progress[P_TOP])
    arena[A_SINCE] += taken - 1
    return True


@kernel
def _pour(net, arena, feed, sizes, rows, view, work, stack, out, progress, looks):  # type: ignore[no-untyped-def]
    """Go on where `progress` says, and return one of the codes of `retewave.rete.words.layout`.

    DONE: all rows are poured.  OUTPUT_FULL: there is enough output for now.
    AT_LIMIT: the bound on live rows, or on runs, is reached.  ENDLESS: rules build more at one instant than they may.
    INTERVAL: an interval has come, and the network's rows have no word for an end.
    NEEDS_VERDICT, NEEDS_BUILT, NEEDS_CLEARING: Python decides a filter, builds for a rule, collects used-up events.
    NEEDS_ARENA, NEEDS_STACK, NEEDS_OUT, NEEDS_FEED: there is no room; make some and call again.

    The tuple at the top of the stack goes along its next edge; tuples that it completes are put above it.
    """
    stride = net[N_STRIDE]
    pause = max(LEAST_ROWS_BETWEEN_COLLECTIONS, net[N_SLOT_COUNT])
    bounded, instants, facts = arena[A_LIMIT] != 0, net[N_INSTANTS] == 1, progress[P_FACTS] != 0
    while True:
        while progress[P_TOP] > 0:
            top = progress[P_TOP]
            item = tail(stack, top - stride)
            if item[T_EDGE_COUNT] > 0:
                said = _follow(net, arena, feed, sizes, item[T_EDGES], item, view, work, stack, out, progress, looks)
                if said != DONE:
                    return said
                if item[T_EDGE_COUNT] == 1 and progress[P_TOP] == top:
                    progress[P_TOP] = top - stride
                    continue
                item[T_EDGES] += EDGE_WIDTH
                item[T_EDGE_COUNT] -= 1
            if item[T_EDGE_COUNT] == 0 and progress[P_TOP] == top:
                progress[P_TOP] = top - stride
        if progress[P_COUNT] >= progress[P_MOST]:
            return OUTPUT_FULL
        if looks is not None and (min(arena[A_DUE], feed[F_DUE]) < progress[P_UNTIL] or progress[P_DECIDING] != 0):
            said = do_what_is_due(net, arena, feed, sizes, view, stack, progress)
            if said != DONE:
                return said
            continue
        if progress[P_ROW] >= progress[P_LAST_ROW]:
            return DONE
        if facts:
            row = progress[P_ROW] * FACT_WIDTH
            end = rows[row + FACT_END]
        else:
            row = progress[P_ROW] * ROW_WIDTH
            end = rows[row + END]
            if instants and rows[row + START] < end:
                return INTERVAL
        if looks is not None:
            if min(arena[A_DUE], feed[F_DUE]) < end:
                progress[P_UNTIL] = end
                continue
            said = _prepared(net, arena, feed, rows, row, end, view, progress)
            if said != DONE:
                return said
        if bounded and arena[A_LIVE] >= arena[A_LIMIT] and not free_rows(arena, net, end):
            return AT_LIMIT
        if looks is None or not _taken_whole(net, arena, sizes, rows, row, end, view.values, stack, progress):
            top = put_fact(net, rows, row, stack) if facts else dispatch(net, rows, row, view.values.kind, stack)
            _dispatched(arena, progress, end, top)
        if arena[A_SINCE] >= pause:
            collect_all(arena, net)


@inlined
def _run(cells, rows, looks):  # type: ignore[no-untyped-def]
    net = words_at(cell(cells, C_NET))
    filters = Filters(
        net,
        bytes_at(cell(cells, C_MEMO)),
        cell(cells, C_MEMO_WIDTH),
        words_at(cell(cells, C_KINDS)),
        reals_at(cell(cells, C_NUMBERS)),
        reals_at(cell(cells, C_BOUNDS)),
        words_at(cell(cells, C_TERMS)),
        words_at(cell(cells, C_VIEWS)),
    )
    values = Values(
        bytes_at(cell(cells, C_TERM_KIND)),
        reals_at(cell(cells, C_TERM_NUMBER)),
        bytes_at(cell(cells, C_TERM_EXACT)),
        words_at(cell(cells, C_TERM_HASHES)),
        words_at(cell(cells, C_TERM_SPANS)),
        bytes_at(cell(cells, C_TERM_ARENA)),
    )
    sizes = Sizes(
        cell(cells, C_ARENA_WORDS) - STORING, cell(cells, C_STACK_WORDS), cell(cells, C_OUT_WORDS) // net[N_OUT_WIDTH]
    )
    arena, stack, progress = (
        words_at(cell(cells, C_ARENA)),
        words_at(cell(cells, C_STACK)),
        words_at(cell(cells, C_PROGRESS)),
    )
    if looks is not None:
        forget_stars(net, arena, address_in(rows), progress)
    said = _pour(
        net,
        arena,
        words_at(cell(cells, C_FEED)),
        sizes,
        words(rows),
        View(filters, values),
        words_at(cell(cells, C_WORK)),
        stack,
        words_at(cell(cells, C_OUT)),
        progress,
        looks,
    )
    if looks is not None and not NEEDS_ARENA <= said < ENDLESS:
        if net[N_GATHERING_COUNT] != 0:
            settled = settle(arena, net, sizes.arena, sizes.stack, stack, progress)
            said = said if settled == DONE else settled
        if net[N_KEPT_COUNT] != 0 and not store_kept(arena, net, sizes.arena, values, progress):
            return NEEDS_ARENA
    return said


@kernel
def run(cells: Address, rows: np.ndarray) -> int:
    """Pour rows through the network until it must return; say why, by one of the codes that `_pour` lists.

    `cells` were written by `connect`.  The P_* words of the progress say which of `rows` to pour, and whether they are
    facts or input rows; afterwards, which row is next, and how many output rows there are.  Tuples that are on the
    stack already go first.

    For networks of joins alone: code that depends on `looks` is not compiled into it, and costs nothing.
    """
    return _run(cells, rows, None)  # type: ignore[no-any-return]


@kernel
def run_looking(cells: Address, rows: np.ndarray) -> int:
    """Do as `run` does, for networks with more than joins: probes, passing rows, comparisons of rows, or rules."""
    return _run(cells, rows, 1)  # type: ignore[no-any-return]
