"""Facts: tuples of α tests, as rows of their own, for what does not come from the stream.

Static data passes the dispatch once, before the stream; a triple that it gives or entails many times is one fact.
And when the network is rebuilt, what its α-memories held goes into the new one as facts, in the order of their ends.
"""

from __future__ import annotations

import numpy as np

from retewave.rete.dispatch import dispatch, edge_number
from retewave.rete.memory.arena import mix
from retewave.rete.words.bare import words
from retewave.rete.words.jit import kernel
from retewave.rete.words.layout import (
    A_SLOT_STATES,
    ALPHA_COLUMNS,
    ALPHA_EDGE_COUNT,
    ALPHA_EDGES,
    ALPHA_WIDTH,
    G_KEY,
    GIVEN,
    GIVEN_COLUMNS,
    LOW,
    N_ALPHAS,
    N_END,
    N_SLOTS,
    N_START,
    N_STRIDE,
    N_TIMES,
    PAGE,
    R_LINK,
    R_WINDOW_START,
    S_HEAD,
    S_HEAD_PAGE,
    S_ROWS,
    S_WIDTH,
    SLOT_ROW_WORDS,
    SLOT_WIDTH,
    T_COLUMNS,
    T_EDGE_COUNT,
    T_EDGES,
    T_END,
    T_START,
    T_WINDOW_START,
)
from retewave.rete.words.rows import OBJECT, PREDICATE, ROW_WIDTH, STREAM, SUBJECT

__all__ = [
    "FACT_ALPHA",
    "FACT_COLUMNS",
    "FACT_END",
    "FACT_START",
    "FACT_WIDTH",
    "FACT_WINDOW_START",
    "put_fact",
]

FACT_ALPHA, FACT_END, FACT_WINDOW_START, FACT_START, FACT_COLUMNS = 0, 1, 2, 3, 4
FACT_GIVEN = FACT_COLUMNS + GIVEN  # up to there is what a fact is; from there on, what it tells of the triple given
FACT_WIDTH = FACT_COLUMNS + GIVEN_COLUMNS


@kernel
def put_fact(net, facts, fact, stack):  # type: ignore[no-untyped-def]
    """Put a fact on the stack, as its α would; return the top."""
    alpha = net[N_ALPHAS] + facts[fact + FACT_ALPHA] * ALPHA_WIDTH
    stack[T_EDGES], stack[T_EDGE_COUNT] = net[alpha + ALPHA_EDGES], net[alpha + ALPHA_EDGE_COUNT]
    stack[T_END], stack[T_START] = facts[fact + FACT_END], facts[fact + FACT_START]
    stack[T_WINDOW_START] = facts[fact + FACT_WINDOW_START]
    for c in range(min(GIVEN_COLUMNS, net[N_STRIDE] - T_COLUMNS)):
        stack[T_COLUMNS + c] = facts[fact + FACT_COLUMNS + c]
    return net[N_STRIDE]


@kernel
def _note(facts, fact, tables, mask):  # type: ignore[no-untyped-def]
    """Enter a fact in a hash set of facts; tell whether it is new."""
    h = mix(0, facts[fact, FACT_ALPHA])
    for c in range(FACT_COLUMNS, FACT_GIVEN):
        h = mix(h, facts[fact, c])
    slot = h & mask
    while tables[slot] >= 0:
        other, same = tables[slot], facts[tables[slot], FACT_ALPHA] == facts[fact, FACT_ALPHA]
        for c in range(FACT_COLUMNS, FACT_GIVEN):
            same = same and facts[other, c] == facts[fact, c]
        if same:
            return False
        slot = (slot + 1) & mask
    tables[slot] = fact
    return True


@kernel
def distinct_facts(facts):  # type: ignore[no-untyped-def]
    """Move the first of equal facts to the front, in order; return how many there are.

    Static data is a graph: what several of its triples give or entail is one fact, which tells of the first of them.
    """
    size, count = 16, facts.shape[0]
    while size < 2 * count:
        size *= 2
    tables = np.full(size, -1, dtype=np.int64)
    kept = 0
    for fact in range(count):
        for c in range(FACT_WIDTH):
            facts[kept, c] = facts[fact, c]
        if _note(facts, kept, tables, size - 1):
            kept += 1
    return kept


@kernel
def static_facts(net_array, rows_array, kinds, stack_array, of_edges):  # type: ignore[no-untyped-def]
    """Dispatch static rows (flat); return the facts they give, equal ones more than once.

    `of_edges` tells an α by the number of its first edge (`alpha_of_edges`).
    """
    net, rows, stack = words(net_array), words(rows_array), words(stack_array)
    facts = np.empty((max(16, rows_array.size // ROW_WIDTH), FACT_WIDTH), dtype=np.int64)
    count, stride = 0, net[N_STRIDE]
    for row in range(0, rows_array.size, ROW_WIDTH):
        top = dispatch(net, rows, row, words(kinds), stack)
        for item in range(0, top, stride):
            if count == facts.shape[0]:
                larger = np.empty((2 * count, FACT_WIDTH), dtype=np.int64)
                larger[:count] = facts
                facts = larger
            facts[count, FACT_ALPHA] = of_edges[edge_number(net, stack[item + T_EDGES])]
            facts[count, FACT_END], facts[count, FACT_START] = stack[item + T_END], stack[item + T_START]
            facts[count, FACT_WINDOW_START] = stack[item + T_WINDOW_START]
            for c in range(ALPHA_COLUMNS):
                facts[count, FACT_COLUMNS + c] = stack[item + T_COLUMNS + c]
            facts[count, FACT_GIVEN], facts[count, FACT_GIVEN + 1] = rows[row + SUBJECT], rows[row + PREDICATE]
            facts[count, FACT_GIVEN + 2], facts[count, FACT_GIVEN + 3] = rows[row + OBJECT], rows[row + STREAM]
            count += 1
    return facts[:count]


@kernel
def slot_places(net_array, arena_array, slot):  # type: ignore[no-untyped-def]
    """Return where the streamed rows of a slot are, oldest first."""
    net, arena = words(net_array), words(arena_array)
    state, record = arena[A_SLOT_STATES] + slot * S_WIDTH, net[N_SLOTS] + slot * SLOT_WIDTH
    size, count = net[record + SLOT_ROW_WORDS], arena[state + S_ROWS]
    found = np.empty(count, dtype=np.int64)
    row, page = arena[state + S_HEAD], arena[state + S_HEAD_PAGE]
    for i in range(count):
        found[i] = row
        if row + 2 * size > page + PAGE:
            page = arena[page]
            row = page + 1
        else:
            row += size
    return found


@kernel
def slot_rows(net_array, arena_array, slot, keys, payload):  # type: ignore[no-untyped-def]
    """Return the streamed rows of a slot, oldest first: end, window start, start, the key's columns, the row's.

    Rows with one time have that for all three: of an instant it is, of what a join has put together it is the start.
    """
    net, arena = words(net_array), words(arena_array)
    state, record = arena[A_SLOT_STATES] + slot * S_WIDTH, net[N_SLOTS] + slot * SLOT_WIDTH
    size, times = net[record + SLOT_ROW_WORDS], net[N_TIMES]
    count = arena[state + S_ROWS]
    found = np.empty((count, 3 + keys + payload), dtype=np.int64)
    row, page = arena[state + S_HEAD], arena[state + S_HEAD_PAGE]
    for i in range(count):
        found[i, 0], found[i, 1], found[i, 2] = (
            arena[row + net[N_END]],
            arena[row + R_WINDOW_START],
            arena[row + net[N_START]],
        )
        group = arena[row + R_LINK] & LOW
        for c in range(keys):
            found[i, 3 + c] = arena[group + G_KEY + c]
        for c in range(payload):
            found[i, 3 + keys + c] = arena[row + 1 + times + c]
        if row + 2 * size > page + PAGE:
            page = arena[page]
            row = page + 1
        else:
            row += size
    return found
