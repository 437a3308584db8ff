"""The kernel: pour input rows through the network, and write output rows.

Data's way: rows -> dispatch -> **memories and joins** -> output rows.  One loop, one explicit stack, no recursion:
a tuple (an α's triple or a join's result) is taken off the stack and sent along its producer's edges.  An edge to a
slot stores the tuple as a row, and puts the tuples that this row completes on the stack.  An edge to a terminal writes
output rows, and so does a node whose tuples need no more test.  The kernel is compiled once for all patterns: the
network is data.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from retewave.rete.dispatch import dispatch, edge_number
from retewave.rete.facts import FACT_END, FACT_WIDTH, put_fact
from retewave.rete.feed import has_room, is_over, new_feed, next_built, note_given
from retewave.rete.filters.codes import ASKING, INSTRUCTION_WIDTH, TRUE, UNDECIDED
from retewave.rete.filters.compare import find_extremes, is_beyond, read_row
from retewave.rete.filters.interpreter import Filters, decide
from retewave.rete.filters.strings import VIEW_WIDTH
from retewave.rete.memory.arena import make_room, roomy
from retewave.rete.memory.collect import collect_all, shed
from retewave.rete.memory.due import next_due, take_due, wait
from retewave.rete.memory.ranked import keep_best
from retewave.rete.memory.slots import fill_row, find_group, foresee, new_row, passing_row, seek_group
from retewave.rete.memory.spent import is_tuple_spent, spend
from retewave.rete.operators.join import GROUP, MANY_MET, MET, ROW, collect_met, combine
from retewave.rete.operators.probe import ASK, FITS, foresee_due, is_known, look, put_tuple, take_along
from retewave.rete.operators.runs import NO_ROOM, continue_runs, keep_run, note_instant
from retewave.rete.terminal import emit
from retewave.rete.terms.kinds import Values
from retewave.rete.terms.marks import mark_row, mark_waiting
from retewave.rete.words.bare import bytes_at, reals_at, tail, words, words_at
from retewave.rete.words.bytes import Address, address_of, cell
from retewave.rete.words.jit import inlined, kernel
from retewave.rete.words.layout import (
    A_COUNTING,
    A_DUE,
    A_EDGE_COUNTERS,
    A_LIMIT,
    A_LIVE,
    A_NOW,
    A_SHEDDING,
    A_SINCE,
    A_SPENT,
    AT_ARRIVAL,
    AT_DEADLINE,
    AT_LIMIT,
    DONE,
    EDGE_CODE,
    EDGE_CODE_END,
    EDGE_KEYS,
    EDGE_KIND,
    EDGE_PAYLOAD,
    EDGE_TARGET,
    EDGE_WIDTH,
    ENDLESS,
    F_DUE,
    INTERVAL,
    MOST_GROUP_WORDS,
    N_BUILT,
    N_INSTANTS,
    N_MOST_ROUTES,
    N_OUT_WIDTH,
    N_SLOT_COUNT,
    N_STRIDE,
    NEEDS_ARENA,
    NEEDS_BUILT,
    NEEDS_CLEARING,
    NEEDS_FEED,
    NEEDS_OUT,
    NEEDS_STACK,
    NEEDS_VERDICT,
    NODE_COMPARED_COUNT,
    NODE_FORESEEN,
    NODE_FULL,
    NODE_LAST,
    NODE_SPENT,
    NONE,
    OUTPUT_FULL,
    PAGE,
    PROBE_DEADLINE,
    PROBE_DECIDED,
    PROBE_EDGE_COUNT,
    PROBE_EDGES,
    PROBE_EVENT_COUNT,
    PROBE_EVENTS,
    PROBE_NODE,
    PROBE_STATE,
    PROBE_WANTED,
    REFUSED,
    SLOT_INDEX,
    SLOT_NODE,
    SLOT_READING_COUNT,
    STATE_SLOT,
    T_COLUMNS,
    T_EDGE_COUNT,
    T_EDGES,
    T_END,
    T_START,
    T_WINDOW_START,
    TO_COMPARED,
    TO_INSTANT,
    TO_INSTANTS,
    TO_PASSING,
    TO_PROBE,
    TO_SPENT,
    TO_STEP,
    TO_TERMINAL,
    W_DECIDED,
    W_PASSED,
    W_UNKNOWN,
)
from retewave.rete.words.progress import (
    P_ASKED,
    P_ASKED_ROW,
    P_BUILDING,
    P_COUNT,
    P_DECIDING,
    P_FACTS,
    P_GROUP,
    P_LAST_ROW,
    P_MARKED,
    P_MARKS,
    P_MOST,
    P_ROW,
    P_STEPPING,
    P_TIME,
    P_TOP,
    P_UNTIL,
    P_VERDICT,
    P_WIDTH,
)
from retewave.rete.words.rows import END, ROW_WIDTH, START
from retewave.windows.intervals import BEFORE_ALL

__all__ = ["CELLS", "State", "connect", "new_state", "run", "run_looking"]

STEP = 3 * PAGE + MOST_GROUP_WORDS  # storing a row takes fewer words than this: a page, and a group
LEAST_ROWS_BETWEEN_COLLECTIONS = 4096
LEAST_SPENT = 256  # events that are used up before the rows that hold them are collected
# The cells that tell the kernel where the arrays are: those of State in its order, those of terms; then sizes.
_NET, _ARENA, _STACK, _OUT, _WORK, _PROGRESS, _KINDS, _NUMBERS, _BOUNDS, _TERMS = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
_VIEWS, _FEED, _TERM_KIND, _TERM_NUMBER, _TERM_EXACT, _TERM_HASHES, _TERM_SPANS, _TERM_ARENA = range(10, 18)
_MEMO, _MEMO_WIDTH, _ARENA_WORDS, _STACK_WORDS, _OUT_WORDS = range(18, 23)
CELLS = 23


class State(NamedTuple):
    """The arrays that a running network works with."""

    net: np.ndarray  # the network as data
    arena: np.ndarray  # its memories
    stack: np.ndarray  # tuples on their way
    out: np.ndarray  # output rows, one after the other
    work: np.ndarray  # the combination at hand
    progress: np.ndarray  # where the kernel is: P_* words
    kinds: np.ndarray  # the filter interpreter's stack, as are the next four
    numbers: np.ndarray
    bounds: np.ndarray
    terms: np.ndarray
    views: np.ndarray
    feed: np.ndarray  # what rules build: `rete/feed.py`


def new_state(net: np.ndarray, arena: np.ndarray, depth: int, most_built: int) -> State:
    """Return the arrays of a network; `depth`: the stack that its deepest filter program needs."""
    depth += 1
    stride, width = int(net[N_STRIDE]), int(net[N_OUT_WIDTH])
    progress = np.zeros(P_WIDTH, dtype=np.int64)
    progress[P_UNTIL] = BEFORE_ALL
    return State(
        net,
        arena,
        stack=np.zeros((int(net[N_MOST_ROUTES]) + 64) * stride, dtype=np.int64),
        out=np.zeros(256 * width, dtype=np.int64),
        work=np.zeros(GROUP + 1, dtype=np.int64),
        progress=progress,
        kinds=np.zeros(depth, dtype=np.int64),
        numbers=np.zeros(depth, dtype=np.float64),
        bounds=np.zeros(depth, dtype=np.float64),
        terms=np.zeros(depth, dtype=np.int64),
        views=np.zeros(depth * VIEW_WIDTH, dtype=np.int64),
        feed=new_feed(most_built),
    )


def connect(cells: np.ndarray, state: State, values: Values, memo: np.ndarray) -> None:
    """Write the arrays' addresses to the cells; a caller that replaces an array calls again, and keeps all alive."""
    arrays = (*state, *values, memo)
    cells[:_MEMO_WIDTH] = [address_of(array) for array in arrays]
    cells[_MEMO_WIDTH:] = memo.shape[1], len(state.arena), len(state.stack), len(state.out)


class View(NamedTuple):
    """The arrays that filters read."""

    filters: Filters  # the interpreter's programs (they stand in `net`), memo and stack
    values: Values  # the values of terms


class Sizes(NamedTuple):
    """The sizes of the arrays."""

    arena: int  # words that may be used before a step
    stack: int  # words
    out: int  # rows


@inlined
def _passes(arena, net, edge, item, view, at):  # type: ignore[no-untyped-def]
    """Say whether a tuple passes an edge's filter: DONE, REFUSED, or NEEDS_VERDICT.

    A tuple without a verdict passes, to be decided at the end; or Python is asked, if the last instruction says so.
    """
    code, code_end = net[edge + EDGE_CODE], net[edge + EDGE_CODE_END]
    if code == code_end:
        return DONE
    verdict = decide(view.filters, code, code_end, item, T_COLUMNS, view.values)
    if net[code_end - INSTRUCTION_WIDTH] == ASKING:
        said, at[P_VERDICT] = at[P_VERDICT], UNDECIDED
        verdict = said if verdict == UNDECIDED else verdict  # the memo may have Python's answer, too
        if verdict == UNDECIDED:
            at[P_ASKED], at[P_ASKED_ROW] = edge, 0
            return NEEDS_VERDICT
    if verdict in (TRUE, UNDECIDED):
        return DONE
    if arena[A_COUNTING] != 0:
        arena[arena[A_EDGE_COUNTERS] + edge_number(net, edge)] += 1
    return REFUSED


@inlined
def _store(arena, net, edge, item, work, at):  # type: ignore[no-untyped-def]
    """Store a tuple in the slot that `edge` leads to; return its group if it may complete something, else 0."""
    slot = net[edge + EDGE_TARGET]
    node = net[slot + SLOT_NODE]
    row = new_row(arena, net, slot, item)
    group = find_group(arena, net, node, edge, item)
    missing = net[node + NODE_FULL] & ~fill_row(arena, net, slot, edge, group, row, item)
    if at[P_MARKED] != 0:
        mark_row(net, arena, slot, row, bytes_at(at[P_MARKS]), at[P_MARKED])
    if missing == 0:
        work[ROW] = row
        return group
    if missing & (missing - 1) == 0 and net[node + NODE_FORESEEN] != NONE:
        foresee(arena, net, node, group)
    return 0


@inlined
def _complete(net, arena, sizes, edge, group, item, work, stack, out, at, looks):  # type: ignore[no-untyped-def]
    """Combine a row that has just been stored with the others of its group; say NEEDS_* if there must be room first.

    The results are put on the stack; if a single query is all that listens, they are written as output rows at once.
    """
    slot, width = net[edge + EDGE_TARGET], net[N_OUT_WIDTH]
    node, index = net[slot + SLOT_NODE], net[slot + SLOT_INDEX]
    last = net[node + NODE_LAST] != 0
    into, stride = (out, width) if last else (stack, net[N_STRIDE])
    top, room = (at[P_COUNT] * width, sizes.out * width) if last else (at[P_TOP], sizes.stack)
    top = combine(arena, net, node, group, index, work[ROW], item, work, into, top, room, stride, looks)
    if top < 0:
        at[P_GROUP] = group
        return NEEDS_OUT if last else NEEDS_STACK
    if last:
        at[P_COUNT] = top // width
    else:
        at[P_TOP] = top
    at[P_GROUP] = 0
    if work[MET] >= MANY_MET:
        work[MET] = 0
        collect_met(arena, net, slot, group, item[T_END])
    return DONE


@inlined
def _goes_with(arena, net, slot, node, group, row, values):  # type: ignore[no-untyped-def]
    """Give a new row its readings; return its group, or 0 if they say that it goes with no row of another slot."""
    read_row(arena, net, slot, group, row, values)
    return 0 if is_beyond(arena, net, node, group, net[slot + SLOT_INDEX], row) else group


@inlined
def _pass_by(arena, net, edge, item, work, values):  # type: ignore[no-untyped-def]
    """Put a tuple into the one row of a slot whose rows only pass; return its group if it completes something, or 0."""
    slot = net[edge + EDGE_TARGET]
    node = net[slot + SLOT_NODE]
    group = seek_group(arena, net, node, net[edge + EDGE_KEYS], item)
    if group == 0:
        return 0
    row, mask = passing_row(arena, net, slot, edge, group, item)
    work[ROW] = row
    if mask != net[node + NODE_FULL]:
        return 0
    if net[slot + SLOT_READING_COUNT] != 0:
        return _goes_with(arena, net, slot, node, group, row, values)
    return group


@inlined
def _keep(arena, net, edge, item, work, values, at):  # type: ignore[no-untyped-def]
    """Store a tuple in a memory that is only looked at, or whose rows have readings.

    Return its group if it may complete something there, else 0.
    """
    slot = net[edge + EDGE_TARGET]
    node = net[slot + SLOT_NODE]
    row = new_row(arena, net, slot, item)
    group = find_group(arena, net, node, edge, item)
    mask = fill_row(arena, net, slot, edge, group, row, item)
    if at[P_MARKED] != 0:
        mark_row(net, arena, slot, row, bytes_at(at[P_MARKS]), at[P_MARKED])
    if net[edge + EDGE_KIND] != TO_COMPARED:
        return 0
    work[ROW] = row
    group = _goes_with(arena, net, slot, node, group, row, values)
    return group if mask == net[node + NODE_FULL] else 0


@inlined
def _keep_best(arena, net, edge, item, at):  # type: ignore[no-untyped-def]
    """Store a tuple in a memory that is only looked at in this instant, if it is the best of its key."""
    row = keep_best(arena, net, edge, item)
    if row != 0 and at[P_MARKED] != 0:
        mark_row(net, arena, net[edge + EDGE_TARGET], row, bytes_at(at[P_MARKS]), at[P_MARKED])


@inlined
def _is_gone(net, arena, probe, item, time):  # type: ignore[no-untyped-def]
    """Tell whether a waiting tuple has events that were used up meanwhile."""
    spent, events = net[net[probe + PROBE_NODE] + NODE_SPENT], net[probe + PROBE_EVENTS]
    return spent != 0 and is_tuple_spent(arena, net, spent, events, net[probe + PROBE_EVENT_COUNT], item, time)


@kernel
def _decided(net, arena, probe, view, stack, at):  # type: ignore[no-untyped-def]
    """Decide on the tuple above the stack's top; put it on the stack if it passes.  Say DONE or NEEDS_VERDICT."""
    top, stride, time = at[P_TOP], net[N_STRIDE], at[P_TIME]
    item, pair = tail(stack, top), tail(stack, top + stride)
    state, wanted = net[probe + PROBE_STATE], net[probe + PROBE_WANTED] != 0
    found, row = look(arena, net, probe, item, time, view, pair, at[P_ASKED_ROW], at[P_VERDICT])
    at[P_VERDICT], at[P_ASKED_ROW] = UNDECIDED, 0
    if found == ASK:
        at[P_ASKED], at[P_ASKED_ROW] = probe, row
        return NEEDS_VERDICT
    at[P_DECIDING] = 0
    arena[state + W_DECIDED] += 1
    if (found == FITS) != wanted or _is_gone(net, arena, probe, item, time):
        return DONE
    if not wanted and not is_known(arena, net, probe, item, time):
        arena[state + W_UNKNOWN] += 1
        return DONE
    arena[state + W_PASSED] += 1
    if wanted:
        take_along(arena, net, probe, item, row)
    item[T_EDGES], item[T_EDGE_COUNT], item[T_END] = net[probe + PROBE_EDGES], net[probe + PROBE_EDGE_COUNT], time
    at[P_TOP] = top + stride
    return DONE


@kernel
def _probed(net, arena, sizes, edge, item, view, stack, at):  # type: ignore[no-untyped-def]
    """Give a tuple to a probe, which decides on it now, or lets it wait.  A static tuple has no place in time."""
    probe = net[edge + EDGE_TARGET]
    if at[P_DECIDING] != 0:
        return _decided(net, arena, probe, view, stack, at)
    if item[T_END] < item[T_WINDOW_START]:
        return DONE
    if at[P_TOP] + 2 * net[N_STRIDE] > sizes.stack:
        return NEEDS_STACK
    tuple_ = tail(stack, at[P_TOP])
    put_tuple(net, probe, net[edge + EDGE_PAYLOAD], item, tuple_)
    if net[probe + PROBE_DECIDED] == AT_ARRIVAL:
        at[P_DECIDING], at[P_TIME] = probe, item[T_END]
        return _decided(net, arena, probe, view, stack, at)
    due = item[T_END]
    if net[probe + PROBE_DECIDED] == AT_DEADLINE:
        due = item[T_START] + net[probe + PROBE_DEADLINE]
    block = wait(arena, net, probe, due, tuple_)
    if at[P_MARKED] != 0:
        mark_waiting(net, arena, probe, block, bytes_at(at[P_MARKS]), at[P_MARKED])
    return DONE


@kernel
def _run_on(net, arena, sizes, edge, item, view, stack, at):  # type: ignore[no-untyped-def]
    """Send the current tuple to a memory of instants, to a state, or to a step."""
    kind, top = net[edge + EDGE_KIND], at[P_TOP]
    if kind == TO_INSTANTS:
        note_instant(arena, net, edge, item)
        return DONE
    if kind == TO_STEP:
        top = continue_runs(arena, net, net[edge + EDGE_TARGET], item, view, stack, at, sizes.stack)
        if top < 0:
            return NEEDS_STACK if top == NO_ROOM else NEEDS_VERDICT
    else:
        if top + net[N_STRIDE] > sizes.stack:
            return NEEDS_STACK
        top, row = keep_run(arena, net, edge, item, stack, top)
        if row != 0 and at[P_MARKED] != 0:
            mark_row(net, arena, net[net[edge + EDGE_TARGET] + STATE_SLOT], row, bytes_at(at[P_MARKS]), at[P_MARKED])
    at[P_TOP] = top
    return DONE


@kernel
def _looked_at(net, arena, sizes, edge, item, view, work, stack, at):  # type: ignore[no-untyped-def]
    """Send the current tuple to a probe, or to any slot but a plain one.

    `work` then has the group of the slot if the tuple may complete something there, else 0.
    """
    work[GROUP] = 0
    if at[P_DECIDING] == 0 and at[P_STEPPING] == 0:
        said = _passes(arena, net, edge, item, view, at)
        if said != DONE:
            return DONE if said == REFUSED else said
    if not roomy(arena, sizes.arena) and not make_room(arena, sizes.arena):
        return NEEDS_ARENA
    kind = net[edge + EDGE_KIND]
    if kind == TO_PROBE:
        return _probed(net, arena, sizes, edge, item, view, stack, at)
    if kind == TO_PASSING:
        work[GROUP] = _pass_by(arena, net, edge, item, work, view.values)
    elif kind == TO_SPENT:
        spend(arena, net, edge, item)
    elif kind >= TO_INSTANTS:
        return _run_on(net, arena, sizes, edge, item, view, stack, at)
    elif kind == TO_INSTANT:
        _keep_best(arena, net, edge, item, at)
    else:
        work[GROUP] = _keep(arena, net, edge, item, work, view.values, at)
    return DONE


@inlined
def _compared(net, arena, sizes, edge, item, work, stack, out, at, looks):  # type: ignore[no-untyped-def]
    """Complete tuples in the group in `work`; if there are none, its extremes may be too wide."""
    top, group, slot = at[P_TOP], work[GROUP], net[edge + EDGE_TARGET]
    said = _complete(net, arena, sizes, edge, group, item, work, stack, out, at, looks)
    if at[P_TOP] == top and said == DONE and net[net[slot + SLOT_NODE] + NODE_COMPARED_COUNT] != 0:
        find_extremes(arena, net, net[slot + SLOT_NODE], group, net[slot + SLOT_INDEX], item[T_END])
    return said


@kernel
def _next_decision(net, arena, sizes, view, stack, at):  # type: ignore[no-untyped-def]
    """Decide on the tuple that is due first; say DONE, NEEDS_STACK or NEEDS_VERDICT."""
    if at[P_DECIDING] == 0:
        if 2 * net[N_STRIDE] > sizes.stack:
            return NEEDS_STACK
        probe = next_due(arena, net)
        time = take_due(arena, net, probe, stack)
        foresee_due(arena, net, probe)
        at[P_DECIDING], at[P_TIME] = probe, time
        if time > arena[A_NOW]:
            arena[A_NOW] = time
    return _decided(net, arena, at[P_DECIDING], view, stack, at)


@kernel
def _next_built(net, arena, feed, view, stack, at):  # type: ignore[no-untyped-def]
    """Let the next occurrence that rules have built come in; say DONE, NEEDS_BUILT, ENDLESS or AT_LIMIT."""
    if at[P_BUILDING] != 0:
        return NEEDS_BUILT
    if is_over(feed):
        return ENDLESS
    if arena[A_LIMIT] != 0 and arena[A_LIVE] >= arena[A_LIMIT] and not _free_rows(arena, net, arena[A_NOW]):
        return AT_LIMIT
    row = next_built(feed)
    if row == 0:
        return DONE
    at[P_TOP] = dispatch(net, feed, row, view.values.kind, stack)
    if feed[row + END] > arena[A_NOW]:
        arena[A_NOW] = feed[row + END]
    arena[A_SINCE] += 1
    if arena[A_SINCE] >= max(LEAST_ROWS_BETWEEN_COLLECTIONS, net[N_SLOT_COUNT]):
        collect_all(arena, net)
    return DONE


@kernel
def _next_due(net, arena, feed, sizes, view, stack, at):  # type: ignore[no-untyped-def]
    """Do the step that is due first: at the close of an instant, built occurrences come in before any decision."""
    if at[P_DECIDING] == 0 and feed[F_DUE] <= arena[A_DUE]:
        return _next_built(net, arena, feed, view, stack, at)
    return _next_decision(net, arena, sizes, view, stack, at)


@kernel
def _free_rows(arena, net, now):  # type: ignore[no-untyped-def]
    """Collect, then shed if the user chose so; tell whether the live rows are below their bound.

    `now`: the end of the next row.  Tuples that wait for their decision are never shed.
    """
    arena[A_NOW] = max(arena[A_NOW], now)
    collect_all(arena, net)
    live = arena[A_LIVE] + 1
    while arena[A_SHEDDING] != 0 and arena[A_LIMIT] <= arena[A_LIVE] < live:
        live = arena[A_LIVE]
        shed(arena, net)
    return arena[A_LIVE] < arena[A_LIMIT]


@inlined
def _follow(net, arena, feed, sizes, edge, item, view, work, stack, out, at, looks):  # type: ignore[no-untyped-def]
    """Send the current tuple along one edge; say NEEDS_* if there must be room first, else DONE."""
    group = at[P_GROUP]
    if group == 0:
        kind = net[edge + EDGE_KIND]
        if looks is not None and kind > TO_TERMINAL:
            said = _looked_at(net, arena, sizes, edge, item, view, work, stack, at)
            if work[GROUP] == 0:
                return said
            return _compared(net, arena, sizes, edge, item, work, stack, out, at, looks)
        said = _passes(arena, net, edge, item, view, at)
        if said != DONE:
            return DONE if said == REFUSED else said
        if kind == TO_TERMINAL:
            return emit(net, net[edge + EDGE_TARGET], item, view, feed, out, at, sizes.out, looks)
        if not roomy(arena, sizes.arena) and not make_room(arena, sizes.arena):
            return NEEDS_ARENA
        group = _store(arena, net, edge, item, work, at)
        if group == 0:
            return DONE
    return _complete(net, arena, sizes, edge, group, item, work, stack, out, at, looks)


@kernel
def _pour(net, arena, feed, sizes, rows, view, work, stack, out, at, looks):  # type: ignore[no-untyped-def]
    """Go on where `at` says, and return one of the codes of `retewave.rete.words.layout`.

    DONE: all rows are poured.  OUTPUT_FULL: there is enough output for now.
    AT_LIMIT: the bound on live rows is reached.
    INTERVAL: an interval has come, and the network's rows have no word for an end.
    ENDLESS: rules build more at one instant than they may.
    NEEDS_VERDICT, NEEDS_BUILT, NEEDS_CLEARING: Python decides a filter, builds for a rule, collects used-up events.
    NEEDS_ARENA, NEEDS_STACK, NEEDS_OUT, NEEDS_FEED: there is no room; make some and call again.

    The tuple at the top of the stack goes along its next edge; tuples that it completes are put above it.
    """
    stride = net[N_STRIDE]
    pause = max(LEAST_ROWS_BETWEEN_COLLECTIONS, net[N_SLOT_COUNT])
    bounded, instants, facts = arena[A_LIMIT] != 0, net[N_INSTANTS] == 1, at[P_FACTS] != 0
    while True:
        while at[P_TOP] > 0:
            top = at[P_TOP]
            item = tail(stack, top - stride)
            if item[T_EDGE_COUNT] > 0:
                said = _follow(net, arena, feed, sizes, item[T_EDGES], item, view, work, stack, out, at, looks)
                if said != DONE:
                    return said
                item[T_EDGES] += EDGE_WIDTH
                item[T_EDGE_COUNT] -= 1
            if item[T_EDGE_COUNT] == 0 and at[P_TOP] == top:
                at[P_TOP] = top - stride
        if at[P_COUNT] >= at[P_MOST]:
            return OUTPUT_FULL
        if looks is not None and (min(arena[A_DUE], feed[F_DUE]) < at[P_UNTIL] or at[P_DECIDING] != 0):
            said = _next_due(net, arena, feed, sizes, view, stack, at)
            if said != DONE:
                return said
            continue
        if at[P_ROW] >= at[P_LAST_ROW]:
            return DONE
        row = at[P_ROW] * (FACT_WIDTH if facts else ROW_WIDTH)
        end = rows[row + (FACT_END if facts else END)]
        if instants and not facts and rows[row + START] < end:
            return INTERVAL
        if looks is not None:
            if min(arena[A_DUE], feed[F_DUE]) < end:
                at[P_UNTIL] = end
                continue
            if arena[A_SPENT] > max(LEAST_SPENT, arena[A_LIVE] >> 2):
                return NEEDS_CLEARING
            if net[N_BUILT] != 0 and not facts:
                if not has_room(feed, 1):
                    return NEEDS_FEED
                note_given(net, feed, rows, row, at)
        if bounded and arena[A_LIVE] >= arena[A_LIMIT] and not _free_rows(arena, net, end):
            return AT_LIMIT
        top = put_fact(net, rows, row, stack) if facts else dispatch(net, rows, row, view.values.kind, stack)
        if end > arena[A_NOW]:
            arena[A_NOW] = end
        at[P_TOP] = top
        at[P_ROW] += 1
        arena[A_SINCE] += 1
        if arena[A_SINCE] >= pause:
            collect_all(arena, net)


@inlined
def _run(cells, rows, looks):  # type: ignore[no-untyped-def]
    net = words_at(cell(cells, _NET))
    filters = Filters(
        net,
        bytes_at(cell(cells, _MEMO)),
        cell(cells, _MEMO_WIDTH),
        words_at(cell(cells, _KINDS)),
        reals_at(cell(cells, _NUMBERS)),
        reals_at(cell(cells, _BOUNDS)),
        words_at(cell(cells, _TERMS)),
        words_at(cell(cells, _VIEWS)),
    )
    values = Values(
        bytes_at(cell(cells, _TERM_KIND)),
        reals_at(cell(cells, _TERM_NUMBER)),
        bytes_at(cell(cells, _TERM_EXACT)),
        words_at(cell(cells, _TERM_HASHES)),
        words_at(cell(cells, _TERM_SPANS)),
        bytes_at(cell(cells, _TERM_ARENA)),
    )
    sizes = Sizes(
        cell(cells, _ARENA_WORDS) - STEP, cell(cells, _STACK_WORDS), cell(cells, _OUT_WORDS) // net[N_OUT_WIDTH]
    )
    return _pour(
        net,
        words_at(cell(cells, _ARENA)),
        words_at(cell(cells, _FEED)),
        sizes,
        words(rows),
        View(filters, values),
        words_at(cell(cells, _WORK)),
        words_at(cell(cells, _STACK)),
        words_at(cell(cells, _OUT)),
        words_at(cell(cells, _PROGRESS)),
        looks,
    )


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
