"""Dispatch: from an input triple to the α-memories it feeds, by predicate, then by each shape of key for it.

ε and α are the same tables: a route says which triple the input entails, as parts of the input and
constants, and which α asked for it.  No entailed triple is built but as the tuple that is stored.
"""

from __future__ import annotations

import numpy as np

from retewave.rete.memory.arena import mix
from retewave.rete.terms.kinds import BLANK, IRI
from retewave.rete.words.jit import inlined, kernel
from retewave.rete.words.layout import (
    ALPHA_COLUMNS,
    ALPHA_EDGE_COUNT,
    ALPHA_EDGES,
    ALPHA_EQUAL,
    ALPHA_STREAMS,
    ALPHA_WIDTH,
    EDGE_WIDTH,
    EQUAL_PO,
    EQUAL_SO,
    EQUAL_SP,
    FLAG_DERIVES,
    FLAG_EQUAL,
    FLAG_GIVEN,
    FLAG_GUARD,
    FLAG_STREAMS,
    FLAG_TWIN,
    FLAG_WHOLE,
    FROM_OBJECT,
    FROM_SUBJECT,
    GIVEN,
    KEY_BEGIN,
    KEY_COUNT,
    KEY_O,
    KEY_P,
    KEY_S,
    KEY_WIDTH,
    N_ALPHAS,
    N_EDGES,
    N_KEY_MASK,
    N_KEYS,
    N_PREDICATE_MASK,
    N_PREDICATES,
    N_SEED,
    N_STREAM_WIDTH,
    N_STREAMS,
    N_STRIDE,
    N_UNKNOWN,
    PREDICATE_BEGIN,
    PREDICATE_COUNT,
    PREDICATE_ID,
    PREDICATE_SHAPES,
    PREDICATE_WIDTH,
    REFUSED,
    ROUTE_ALPHA,
    ROUTE_FLAGS,
    ROUTE_OBJECT,
    ROUTE_PREDICATE,
    ROUTE_SUBJECT,
    ROUTE_WIDTH,
    SHAPE_KEYED,
    SHAPE_PO,
    SHAPE_SP,
    SHAPE_SPO,
    T_COLUMNS,
    T_EDGE_COUNT,
    T_EDGES,
    T_END,
    T_START,
    T_WINDOW_START,
)
from retewave.rete.words.rows import END, EVENT, OBJECT, PREDICATE, START, STREAM, SUBJECT

__all__ = ["alpha_of_edges", "dispatch", "edge_number", "key_home", "predicate_home", "predicate_record", "shift_of"]


@inlined
def predicate_home(seed, predicate, mask):  # type: ignore[no-untyped-def]
    """Return where a predicate's probe sequence starts."""
    return mix(seed, predicate) & mask


@inlined
def key_home(seed, s, p, o, mask):  # type: ignore[no-untyped-def]
    """Return where a key's probe sequence starts."""
    return mix(mix(mix(seed, s), p), o) & mask


@inlined
def predicate_record(net, predicate):  # type: ignore[no-untyped-def]
    """Return the record of a predicate, or that of those which are not known."""
    mask = net[N_PREDICATE_MASK]
    slot = predicate_home(net[N_SEED], predicate, mask)
    while True:
        record = net[N_PREDICATES] + slot * PREDICATE_WIDTH
        if net[record + PREDICATE_ID] == predicate:
            return record
        if net[record + PREDICATE_ID] == 0:
            return net[N_UNKNOWN]
        slot = (slot + 1) & mask


@inlined
def _find_key(net, s, p, o):  # type: ignore[no-untyped-def]
    """Return the record of a key, or -1."""
    mask = net[N_KEY_MASK]
    slot = key_home(net[N_SEED], s, p, o, mask)
    while True:
        record = net[N_KEYS] + slot * KEY_WIDTH
        if net[record + KEY_COUNT] == 0:
            return -1
        if net[record + KEY_S] == s and net[record + KEY_P] == p and net[record + KEY_O] == o:
            return record
        slot = (slot + 1) & mask


@inlined
def _part(source, s, o):  # type: ignore[no-untyped-def]
    return s if source == FROM_SUBJECT else (o if source == FROM_OBJECT else source)


@inlined
def _equalities_hold(equal, x, q, y):  # type: ignore[no-untyped-def]
    return (equal & EQUAL_SO == 0 or x == y) and (equal & EQUAL_SP == 0 or x == q) and (equal & EQUAL_PO == 0 or q == y)


@kernel
def _has_twin(stack, top, stride, edges, x, q, y):  # type: ignore[no-untyped-def]
    """Tell whether this arrival has already given this triple to the α that has these edges."""
    for at in range(0, top, stride):
        if (
            stack[at + T_EDGES] == edges
            and stack[at + T_COLUMNS] == x
            and stack[at + T_COLUMNS + 1] == q
            and stack[at + T_COLUMNS + 2] == y
        ):
            return True
    return False


@inlined
def shift_of(net, streams, stream):  # type: ignore[no-untyped-def]
    """Return the shift of window starts of a stream in a set, or REFUSED."""
    if stream == 0:
        return 0
    width = net[N_STREAM_WIDTH]
    return net[net[N_STREAMS] + streams * width + stream] if stream < width else REFUSED


@inlined
def _tell_given(rows, row, stack, top):  # type: ignore[no-untyped-def]
    """Write into a tuple which triple the input is, and of which stream."""
    given = top + T_COLUMNS + GIVEN
    stack[given], stack[given + 1] = rows[row + SUBJECT], rows[row + PREDICATE]
    stack[given + 2], stack[given + 3] = rows[row + OBJECT], rows[row + STREAM]


@inlined
def _put_triple(net, alpha, rows, row, x, q, y, start, shift, stack, top):  # type: ignore[no-untyped-def]
    """Put a triple on the stack for an α, with the times and the event of the input; return the new top."""
    end = rows[row + END]
    stack[top + T_EDGES], stack[top + T_EDGE_COUNT] = net[alpha + ALPHA_EDGES], net[alpha + ALPHA_EDGE_COUNT]
    stack[top + T_END], stack[top + T_START] = end, start
    stack[top + T_WINDOW_START] = start if end < start else start - shift  # a static triple has no place in time
    stack[top + T_COLUMNS], stack[top + T_COLUMNS + 1], stack[top + T_COLUMNS + 2] = x, q, y
    stack[top + T_COLUMNS + ALPHA_COLUMNS - 1] = rows[row + EVENT]
    return top + net[N_STRIDE]


@kernel
def _take_other(net, route, rows, row, kinds, shift, stack, top):  # type: ignore[no-untyped-def]
    """Do as `_take` does where the route has flags: it looks at the triple, or derives another one from it."""
    x, q, y, start = rows[row + SUBJECT], rows[row + PREDICATE], rows[row + OBJECT], rows[row + START]
    alpha, flags = net[route + ROUTE_ALPHA], net[route + ROUTE_FLAGS]
    if flags & FLAG_GUARD != 0 and kinds[y] != IRI and kinds[y] != BLANK:
        return top
    if flags & FLAG_DERIVES != 0:
        q = net[route + ROUTE_PREDICATE] if net[route + ROUTE_PREDICATE] > 0 else q
        x, y = _part(net[route + ROUTE_SUBJECT], x, y), _part(net[route + ROUTE_OBJECT], x, y)
    if flags & FLAG_EQUAL != 0 and not _equalities_hold(net[alpha + ALPHA_EQUAL], x, q, y):
        return top
    if flags & FLAG_TWIN != 0 and _has_twin(stack, top, net[N_STRIDE], net[alpha + ALPHA_EDGES], x, q, y):
        return top
    if flags & FLAG_GIVEN != 0:
        _tell_given(rows, row, stack, top)
    if flags & FLAG_WHOLE != 0:
        start = max(start, rows[row + END])
    return _put_triple(net, alpha, rows, row, x, q, y, start, shift, stack, top)


@inlined
def _take(net, route, rows, row, kinds, stack, top):  # type: ignore[no-untyped-def]
    """Put the triple that a route derives on the stack, if the route fires; return the new top.

    Most routes give the input as it came; that path is short, and shares no registers with the other one.
    """
    alpha, flags, shift = net[route + ROUTE_ALPHA], net[route + ROUTE_FLAGS], 0
    if flags & FLAG_STREAMS != 0:
        shift = shift_of(net, net[alpha + ALPHA_STREAMS], rows[row + STREAM])
        if shift == REFUSED:
            return top
    if flags & ~FLAG_STREAMS != 0:
        return _take_other(net, route, rows, row, kinds, shift, stack, top)
    x, q, y, start = rows[row + SUBJECT], rows[row + PREDICATE], rows[row + OBJECT], rows[row + START]
    return _put_triple(net, alpha, rows, row, x, q, y, start, shift, stack, top)


@inlined
def _take_all(net, begin, count, rows, row, kinds, stack, top):  # type: ignore[no-untyped-def]
    """Follow `count` routes; return the new top."""
    for route in range(begin, begin + count * ROUTE_WIDTH, ROUTE_WIDTH):
        top = _take(net, route, rows, row, kinds, stack, top)
    return top


@kernel
def _take_key(net, s, p, o, rows, row, kinds, stack, top):  # type: ignore[no-untyped-def]
    """Follow every route of the key (s, p, o); return the new top."""
    record = _find_key(net, s, p, o)
    if record < 0:
        return top
    return _take_all(net, net[record + KEY_BEGIN], net[record + KEY_COUNT], rows, row, kinds, stack, top)


@kernel
def _take_keys(net, record, rows, row, kinds, stack, top):  # type: ignore[no-untyped-def]
    """Follow the routes of the keys that a predicate's record wants looked up; return the new top."""
    shapes = net[record + PREDICATE_SHAPES]
    s, p, o = rows[row + SUBJECT], net[record + PREDICATE_ID], rows[row + OBJECT]
    if shapes & SHAPE_PO != 0:
        top = _take_key(net, 0, p, o, rows, row, kinds, stack, top)
    if shapes & SHAPE_SP != 0:
        top = _take_key(net, s, p, 0, rows, row, kinds, stack, top)
    if shapes & SHAPE_SPO != 0:
        top = _take_key(net, s, p, o, rows, row, kinds, stack, top)
    return top


@inlined
def dispatch(net, rows, row, kinds, stack):  # type: ignore[no-untyped-def]
    """Put on the stack one tuple for each α and each triple it asked for that `row` entails; return the top.

    The stack has room for N_MOST_ROUTES tuples.
    """
    record = predicate_record(net, rows[row + PREDICATE])
    begin, count = net[record + PREDICATE_BEGIN], net[record + PREDICATE_COUNT]
    top = _take_all(net, begin, count, rows, row, kinds, stack, 0)
    if net[record + PREDICATE_SHAPES] & SHAPE_KEYED == 0:
        return top
    return _take_keys(net, record, rows, row, kinds, stack, top)


def alpha_of_edges(net: np.ndarray, alphas: int) -> np.ndarray:
    """Return, by the number of its first edge, the α that has the edges; `edge_number` gives the number of a place."""
    begin = int(net[N_ALPHAS])
    records = net[begin : begin + alphas * ALPHA_WIDTH].reshape(alphas, ALPHA_WIDTH)
    numbers = (records[:, ALPHA_EDGES] - net[N_EDGES]) // EDGE_WIDTH
    found = np.zeros(1 + int(numbers.max(initial=0)), dtype=np.int64)
    found[numbers] = np.arange(alphas)
    return found


@inlined
def edge_number(net, edge):  # type: ignore[no-untyped-def]
    """Return the number of the edge at a place."""
    return (edge - net[N_EDGES]) // EDGE_WIDTH
