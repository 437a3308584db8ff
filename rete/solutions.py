"""Solutions: what the patterns of an event give enters a state, each once.

Data's way: what a join or a step makes -> **a state**, which keeps it -> those who want to know it.
Nearly always an instant has one solution for a pattern.  So a state of solutions keeps the first one of an instant
aside, without a look-up.  When another one comes in the same instant, both become rows, among which the rest of the
instant is looked up.  What is aside becomes a row before the kernel returns, too: only the kernel knows of it.

Invariant: what is aside is of the last instant that came to the state, and nothing of that instant is in its rows.
"""

from __future__ import annotations

from retewave.rete.memory.arena import STORING
from retewave.rete.memory.slots import seek_group
from retewave.rete.operators.states import store_run, tell_numbers
from retewave.rete.words.bare import tail
from retewave.rete.words.jit import inlined, kernel
from retewave.rete.words.layout import (
    A_TOP,
    ASIDE_FRESH,
    EDGE_KEYS,
    EDGE_PAYLOAD,
    EDGE_PAYLOAD_COUNT,
    EDGE_TARGET,
    LINK_STATE,
    LOW,
    N_END,
    N_KEPT,
    N_KEPT_COUNT,
    N_STRIDE,
    SLOT_LIST,
    SLOT_NODE,
    STATE_ASIDE,
    STATE_COLUMNS,
    STATE_EDGE_COUNT,
    STATE_EDGES,
    STATE_KEPT,
    STATE_KEPT_COLUMNS,
    STATE_ONCE,
    STATE_OWN,
    STATE_SLOT,
    T_COLUMNS,
    T_EDGE_COUNT,
    T_EDGES,
    T_END,
    T_START,
    T_WINDOW_START,
)
from retewave.rete.words.progress import P_FACTS, P_TOP

__all__ = ["enter_state", "may_enter", "store_kept"]

IS_THERE, IS_ASIDE = -1, 0  # in place of a row: a solution is there already; it is kept aside


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
def _put_aside(arena, net, state, edge, item):  # type: ignore[no-untyped-def]
    kept = net[state + STATE_KEPT]
    arena[kept + T_EDGES] = edge
    for i in range(T_END, T_COLUMNS + net[state + STATE_KEPT_COLUMNS]):
        arena[kept + i] = item[i]


@inlined
def _is_kept(arena, net, kept, edge, item):  # type: ignore[no-untyped-def]
    """Tell whether a tuple is the same solution as the one that is aside."""
    own, other = net[arena[kept + T_EDGES] + EDGE_PAYLOAD], net[edge + EDGE_PAYLOAD]
    for i in range(net[edge + EDGE_PAYLOAD_COUNT]):
        if arena[kept + T_COLUMNS + net[own + i]] != item[T_COLUMNS + net[other + i]]:
            return False
    return True


@inlined
def _store(arena, net, state, values, progress):  # type: ignore[no-untyped-def]
    """Make a row of the solution that is aside."""
    kept = net[state + STATE_KEPT]
    store_run(arena, net, state, arena[kept + T_EDGES], tail(arena, kept), values, progress)
    arena[kept + T_EDGES] = 0


@kernel
def _enter_once(arena, net, edge, item, values, progress):  # type: ignore[no-untyped-def]
    """Take a solution into its state; return its row, IS_ASIDE, or IS_THERE."""
    state = net[edge + EDGE_TARGET]
    kept = net[state + STATE_KEPT]
    if kept != 0 and item[T_END] > arena[kept + T_END]:
        if progress[P_FACTS] == 0:
            _put_aside(arena, net, state, edge, item)
            return IS_ASIDE
        arena[kept + T_END], arena[kept + T_EDGES] = item[T_END], 0
    elif kept != 0 and arena[kept + T_EDGES] != 0 and arena[kept + T_END] == item[T_END]:
        if _is_kept(arena, net, kept, edge, item):
            return IS_THERE
        _store(arena, net, state, values, progress)
    if _is_there(arena, net, edge, item):
        return IS_THERE
    return store_run(arena, net, state, edge, item, values, progress)


@inlined
def may_enter(arena, net, state, most):  # type: ignore[no-untyped-def]
    """Tell whether there is room for a row more than the one that a tuple makes: what is aside may become one."""
    return net[state + STATE_KEPT] == 0 or arena[A_TOP] + STORING <= most


@inlined
def enter_state(arena, net, edge, item, values, stack, progress):  # type: ignore[no-untyped-def]
    """Put a tuple into a state, and on the stack for those who want to know it; return the new top."""
    state, top, row = net[edge + EDGE_TARGET], progress[P_TOP], 0
    if net[state + STATE_ONCE] != 0:
        row = 0 if _is_alone(arena, net, state) else _enter_once(arena, net, edge, item, values, progress)
        if row == IS_THERE:
            return top
    elif net[state + STATE_SLOT] != 0:
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


@kernel
def store_kept(arena, net, most, values, progress):  # type: ignore[no-untyped-def]
    """Make rows of all solutions that are aside; tell whether there was room for them."""
    for i in range(net[N_KEPT_COUNT]):
        state = net[net[N_KEPT] + i]
        if arena[net[state + STATE_KEPT] + T_EDGES] != 0:
            if arena[A_TOP] + STORING > most:
                return False
            _store(arena, net, state, values, progress)
    return True
