"""Garbage collection, on the compute thread.

A row of a memory can never again be part of a match once its window start is more than the node's window before now,
or its true start more than what WITHIN allows.
Rows leave from the head of their memory, all that are due: when a page of new rows has come to it, when joins have met
some of them, at each new row when the live rows are more than half their bound, and from all memories after some
thousand input rows.
Rows that a join made arrive in the order of their ends, not of their starts: one that is due may wait behind one that
is not, for at most one window.
"""

from __future__ import annotations

from retewave.rete.memory.slots import collect_slot, drop_oldest
from retewave.rete.words.bare import words
from retewave.rete.words.jit import kernel
from retewave.rete.words.layout import (
    A_LIMIT,
    A_LIVE,
    A_MOST_RUNS,
    A_NOW,
    A_SHED,
    A_SHEDDING,
    A_SINCE,
    N_SLOT_COUNT,
    N_SLOTS,
    N_STATE_COUNT,
    N_STATES,
    S_ROWS,
    SLOT_STATE,
    SLOT_WIDTH,
    STATE_ONCE,
    STATE_SLOT,
    STATE_WIDTH,
)
from retewave.windows.intervals import AFTER_ALL

__all__ = ["LEAST_ROWS_BETWEEN_COLLECTIONS", "collect_all", "collect_now", "free_rows", "runs_fit"]

LEAST_ROWS_BETWEEN_COLLECTIONS = 4096  # input rows


@kernel
def collect_all(arena, net):  # type: ignore[no-untyped-def]
    """Drop every row that is due from every slot."""
    arena[A_SINCE] = 0
    dropped = 0
    for number in range(net[N_SLOT_COUNT]):
        dropped += collect_slot(arena, net, net[N_SLOTS] + number * SLOT_WIDTH)
    return dropped


@kernel
def collect_now(arena_array, net_array):  # type: ignore[no-untyped-def]
    """Do as `collect_all` does, for a caller that holds the arrays."""
    return collect_all(words(arena_array), words(net_array))


@kernel
def _shed(arena, net):  # type: ignore[no-untyped-def]
    """Drop the oldest sixteenth of the fullest memory, counted: what the user chose at the bound on live rows."""
    fullest, most = net[N_SLOTS], 0
    for number in range(net[N_SLOT_COUNT]):
        slot = net[N_SLOTS] + number * SLOT_WIDTH
        rows = arena[net[slot + SLOT_STATE] + S_ROWS]
        if rows > most:
            fullest, most = slot, rows
    arena[A_SHED] += drop_oldest(arena, net, fullest, AFTER_ALL, AFTER_ALL, (most + 15) // 16)


@kernel
def runs_fit(arena, net, now):  # type: ignore[no-untyped-def]
    """Tell whether the runs of sequences are below their bound; else collect those that are over, and count again."""
    if _runs(arena, net) >= arena[A_MOST_RUNS]:
        arena[A_NOW] = max(arena[A_NOW], now)
        collect_all(arena, net)
    return _runs(arena, net) < arena[A_MOST_RUNS]


@kernel
def _runs(arena, net):  # type: ignore[no-untyped-def]
    """Return how many runs there are."""
    found = 0
    for number in range(net[N_STATE_COUNT]):
        state = net[N_STATES] + number * STATE_WIDTH
        if net[state + STATE_SLOT] != 0 and net[state + STATE_ONCE] == 0:
            found += arena[net[net[state + STATE_SLOT] + SLOT_STATE] + S_ROWS]
    return found


@kernel
def free_rows(arena, net, now):  # type: ignore[no-untyped-def]
    """Collect, then shed if the user chose so; tell whether the live rows are below their bound.

    `now`: the end of the next row.  Tuples that wait for their decision are never shed.
    """
    arena[A_NOW] = max(arena[A_NOW], now)
    collect_all(arena, net)
    live = arena[A_LIVE] + 1
    while arena[A_SHEDDING] != 0 and arena[A_LIMIT] <= arena[A_LIVE] < live:
        live = arena[A_LIVE]
        _shed(arena, net)
    return arena[A_LIVE] < arena[A_LIMIT]
