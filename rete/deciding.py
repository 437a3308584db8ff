"""Probes: a tuple is decided on now, or waits; and what is due comes first.

Data's way: tuple -> probe -> decided at once, or **waiting** -> what is due at a time -> decided, and on the stack.
What rules have built at an instant comes in before anything is decided at its close.
Left out: how a probe looks (`rete/operators/probe.py`), and how tuples wait (`rete/memory/due.py`).
"""

from __future__ import annotations

from retewave.rete.dispatch import dispatch
from retewave.rete.feed import is_over, next_built
from retewave.rete.filters.codes import UNDECIDED
from retewave.rete.memory.collect import LEAST_ROWS_BETWEEN_COLLECTIONS, collect_all, free_rows
from retewave.rete.memory.due import next_due, take_due, wait
from retewave.rete.memory.spent import is_tuple_spent
from retewave.rete.operators.probe import ASK, FITS, foresee_due, is_known, look, put_tuple, take_along
from retewave.rete.terms.marks import mark_waiting
from retewave.rete.words.bare import bytes_at, tail
from retewave.rete.words.jit import inlined, kernel
from retewave.rete.words.layout import (
    A_DUE,
    A_LIMIT,
    A_LIVE,
    A_NOW,
    A_SINCE,
    AT_ARRIVAL,
    AT_DEADLINE,
    AT_LIMIT,
    DONE,
    EDGE_PAYLOAD,
    EDGE_TARGET,
    ENDLESS,
    F_DUE,
    N_SLOT_COUNT,
    N_STRIDE,
    NEEDS_BUILT,
    NEEDS_STACK,
    NEEDS_VERDICT,
    NODE_SPENT,
    PROBE_DEADLINE,
    PROBE_DECIDED,
    PROBE_EDGE_COUNT,
    PROBE_EDGES,
    PROBE_EVENT_COUNT,
    PROBE_EVENTS,
    PROBE_NODE,
    PROBE_STATE,
    PROBE_WANTED,
    PROBE_WINDOWED,
    T_EDGE_COUNT,
    T_EDGES,
    T_END,
    T_START,
    T_WINDOW_START,
    W_DECIDED,
    W_PASSED,
    W_UNKNOWN,
)
from retewave.rete.words.progress import (
    P_ASKED,
    P_ASKED_ROW,
    P_BUILDING,
    P_DECIDING,
    P_MARKED,
    P_MARKS,
    P_TIME,
    P_TOP,
    P_VERDICT,
)
from retewave.rete.words.rows import END

__all__ = ["do_what_is_due", "probed"]


@inlined
def _is_gone(net, arena, probe, item, time):  # type: ignore[no-untyped-def]
    """Tell whether a waiting tuple has events that were used up meanwhile."""
    spent, events = net[net[probe + PROBE_NODE] + NODE_SPENT], net[probe + PROBE_EVENTS]
    return spent != 0 and is_tuple_spent(arena, net, spent, events, net[probe + PROBE_EVENT_COUNT], item, time)


@kernel
def _decided(net, arena, probe, view, stack, progress):  # type: ignore[no-untyped-def]
    """Decide on the tuple above the stack's top; put it on the stack if it passes.  Say DONE or NEEDS_VERDICT."""
    top, stride, time = progress[P_TOP], net[N_STRIDE], progress[P_TIME]
    item, pair = tail(stack, top), tail(stack, top + stride)
    state, wanted = net[probe + PROBE_STATE], net[probe + PROBE_WANTED] != 0
    found, row = look(arena, net, probe, item, time, view, pair, progress[P_ASKED_ROW], progress[P_VERDICT])
    progress[P_VERDICT], progress[P_ASKED_ROW] = UNDECIDED, 0
    if found == ASK:
        progress[P_ASKED], progress[P_ASKED_ROW] = probe, row
        return NEEDS_VERDICT
    progress[P_DECIDING] = 0
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
    progress[P_TOP] = top + stride
    return DONE


@kernel
def probed(net, arena, sizes, edge, item, view, stack, progress):  # type: ignore[no-untyped-def]
    """Give a tuple to a probe, which decides on it now, or lets it wait.  A static tuple has no place in time."""
    probe = net[edge + EDGE_TARGET]
    if progress[P_DECIDING] != 0:
        return _decided(net, arena, probe, view, stack, progress)
    if item[T_END] < item[T_WINDOW_START]:
        return DONE
    if progress[P_TOP] + 2 * net[N_STRIDE] > sizes.stack:
        return NEEDS_STACK
    tuple_ = tail(stack, progress[P_TOP])
    put_tuple(net, probe, net[edge + EDGE_PAYLOAD], item, tuple_)
    if net[probe + PROBE_DECIDED] == AT_ARRIVAL:
        progress[P_DECIDING], progress[P_TIME] = probe, item[T_END]
        return _decided(net, arena, probe, view, stack, progress)
    due = item[T_END]
    if net[probe + PROBE_DECIDED] == AT_DEADLINE:
        begin = item[T_WINDOW_START] if net[probe + PROBE_WINDOWED] != 0 else item[T_START]
        due = begin + net[probe + PROBE_DEADLINE]
    block = wait(arena, net, probe, due, tuple_)
    if progress[P_MARKED] != 0:
        mark_waiting(net, arena, probe, block, bytes_at(progress[P_MARKS]), progress[P_MARKED])
    return DONE


@kernel
def _next_decision(net, arena, sizes, view, stack, progress):  # type: ignore[no-untyped-def]
    """Decide on the tuple that is due first; say DONE, NEEDS_STACK or NEEDS_VERDICT."""
    if progress[P_DECIDING] == 0:
        if 2 * net[N_STRIDE] > sizes.stack:
            return NEEDS_STACK
        probe = next_due(arena, net)
        time = take_due(arena, net, probe, stack)
        foresee_due(arena, net, probe)
        progress[P_DECIDING], progress[P_TIME] = probe, time
        if time > arena[A_NOW]:
            arena[A_NOW] = time
    return _decided(net, arena, progress[P_DECIDING], view, stack, progress)


@kernel
def _next_built(net, arena, feed, view, stack, progress):  # type: ignore[no-untyped-def]
    """Let the next occurrence that rules have built come in; say DONE, NEEDS_BUILT, ENDLESS or AT_LIMIT."""
    if progress[P_BUILDING] != 0:
        return NEEDS_BUILT
    if is_over(feed):
        return ENDLESS
    if arena[A_LIMIT] != 0 and arena[A_LIVE] >= arena[A_LIMIT] and not free_rows(arena, net, arena[A_NOW]):
        return AT_LIMIT
    row = next_built(feed)
    if row == 0:
        return DONE
    progress[P_TOP] = dispatch(net, feed, row, view.values.kind, stack)
    if feed[row + END] > arena[A_NOW]:
        arena[A_NOW] = feed[row + END]
    arena[A_SINCE] += 1
    if arena[A_SINCE] >= max(LEAST_ROWS_BETWEEN_COLLECTIONS, net[N_SLOT_COUNT]):
        collect_all(arena, net)
    return DONE


@kernel
def do_what_is_due(net, arena, feed, sizes, view, stack, progress):  # type: ignore[no-untyped-def]
    """Do the step that is due first: at the close of an instant, built occurrences come in before any decision."""
    if progress[P_DECIDING] == 0 and feed[F_DUE] <= arena[A_DUE]:
        return _next_built(net, arena, feed, view, stack, progress)
    return _next_decision(net, arena, sizes, view, stack, progress)
