"""Gathering: the join of an event's triples without a look-up, for as long as the triples of events come one by one.

The patterns of an event on one subject are a star under that subject and the event, and all its rows are of one
instant.  Nearly always the next triple is of the same star as the last one, and a pattern takes one triple of it.  So a
node that *gathers* keeps one star aside, one tuple a slot, and sends its solution on as soon as it is whole.

If a pattern takes two triples of a star, or another star comes in the same instant, the star that is kept aside
*spills*: its tuples become rows of the slots, its solution is stored in the states that it has entered, and the rest
of the instant goes the way of all joins.  It also spills before the kernel returns: only the kernel knows of it.

Invariant: what is aside is of the last instant that came to the node, and nothing of that instant is elsewhere.
"""

from __future__ import annotations

from retewave.rete.memory.arena import STORING
from retewave.rete.memory.slots import fill_row, find_group, new_row, seek_group, store_row
from retewave.rete.operators.join import GROUP, ROW
from retewave.rete.operators.states import note_instant, tell_numbers
from retewave.rete.stars import foresee_stars, note_star, part_star, put_star, star_at
from retewave.rete.terms.marks import mark_row
from retewave.rete.words.bare import bytes_at, prefetch, tail
from retewave.rete.words.jit import inlined, kernel
from retewave.rete.words.layout import (
    A_TOP,
    AHEAD_KEYS,
    AHEAD_NODE,
    AHEAD_WIDTH,
    ALPHA_COLUMNS,
    ASIDE_END,
    ASIDE_FRESH,
    ASIDE_KEY,
    ASIDE_MASK,
    ASIDE_SPILLED,
    ASIDE_WHOLE,
    DONE,
    EDGE_KEYS,
    EDGE_KIND,
    EDGE_TARGET,
    EDGE_WIDTH,
    LOW,
    N_GATHERING,
    N_GATHERING_COUNT,
    N_STRIDE,
    NEEDS_ARENA,
    NEEDS_STACK,
    NODE_AHEAD,
    NODE_AHEAD_COUNT,
    NODE_ASIDE,
    NODE_ASIDE_COLUMNS,
    NODE_ASIDE_EDGE_COUNT,
    NODE_ASIDE_INSTANTS,
    NODE_ASIDE_OUT,
    NODE_DIRECT,
    NODE_DIRECT_COUNT,
    NODE_EDGE_COUNT,
    NODE_EDGES,
    NODE_FIRST_SLOT,
    NODE_FULL,
    NODE_KEY_COUNT,
    NODE_LISTS,
    NODE_OUT_COUNT,
    NODE_SLOTS,
    NODE_WINDOW,
    SLOT_ASIDE,
    SLOT_INDEX,
    SLOT_NODE,
    SLOT_WIDTH,
    STATE_EDGE_COUNT,
    STATE_EDGES,
    STATE_SLOT,
    T_COLUMNS,
    T_EDGE_COUNT,
    T_EDGES,
    T_END,
    T_START,
    T_WINDOW_START,
    TO_STATE,
)
from retewave.rete.words.progress import P_FACTS, P_MARKED, P_MARKS, P_TOP

__all__ = ["gather", "settle", "take_star"]


@inlined
def _mark(net, arena, slot, row, progress):  # type: ignore[no-untyped-def]
    if progress[P_MARKED] != 0:
        mark_row(net, arena, slot, row, bytes_at(progress[P_MARKS]), progress[P_MARKED])


@inlined
def _within(arena, net, node):  # type: ignore[no-untyped-def]
    """Return the start and the window start of what is aside, and whether that is within the node's window."""
    end, slot = arena[net[node + NODE_ASIDE] + ASIDE_END], net[node + NODE_FIRST_SLOT]
    start, window_start = end, end
    for i in range(net[node + NODE_SLOTS]):
        kept = net[slot + i * SLOT_WIDTH + SLOT_ASIDE]
        start, window_start = min(start, arena[kept + T_START]), min(window_start, arena[kept + T_WINDOW_START])
    return start, window_start, end - window_start <= net[node + NODE_WINDOW]


@inlined
def _put(arena, net, edges, edge_count, times, places, count, into):  # type: ignore[no-untyped-def]
    """Write what is aside as a tuple, by the places of its columns."""
    into[T_EDGES], into[T_EDGE_COUNT] = edges, edge_count
    into[T_END], into[T_START], into[T_WINDOW_START] = times
    for i in range(count):
        into[T_COLUMNS + i] = arena[net[places + i]]


@inlined
def _seek_ahead(arena, net, node, item):  # type: ignore[no-untyped-def]
    """Look for all groups that a solution will go to before it goes there, so that their loads overlap."""
    begin = net[node + NODE_AHEAD]
    for ahead in range(begin, begin + net[node + NODE_AHEAD_COUNT] * AHEAD_WIDTH, AHEAD_WIDTH):
        looked = net[ahead + AHEAD_NODE]
        group = seek_group(arena, net, looked, net[ahead + AHEAD_KEYS], item)
        if group != 0:
            lists = group + net[looked + NODE_LISTS]
            for ends in range(lists, lists + net[looked + NODE_SLOTS]):
                prefetch(arena, arena[ends] >> 32)
                prefetch(arena, arena[ends] & LOW)


@inlined
def send_on(arena, net, node, item, values, stack, top, progress):  # type: ignore[no-untyped-def]
    """Put a solution on the stack, for all who read it; return the new top.  It stands above all of that."""
    stride = net[N_STRIDE]
    edge = net[node + NODE_EDGES] + net[node + NODE_ASIDE_EDGE_COUNT] * EDGE_WIDTH
    for _ in range(net[node + NODE_ASIDE_INSTANTS]):
        note_instant(arena, net, edge, item, progress)
        edge += EDGE_WIDTH
    direct = net[node + NODE_DIRECT]
    for _ in range(net[node + NODE_DIRECT_COUNT]):
        state, columns, into = net[direct], net[direct + 1], tail(stack, top)
        _put_times(net[state + STATE_EDGES], net[state + STATE_EDGE_COUNT], item, into)
        direct += 2
        for i in range(columns):
            into[T_COLUMNS + i] = item[T_COLUMNS + net[direct + i]]
        tell_numbers(net, state, into, values)
        top += stride
        direct += columns
    if net[node + NODE_ASIDE_EDGE_COUNT] != 0:
        into = tail(stack, top)
        _put_times(net[node + NODE_EDGES], net[node + NODE_ASIDE_EDGE_COUNT], item, into)
        for i in range(net[node + NODE_OUT_COUNT]):
            into[T_COLUMNS + i] = item[T_COLUMNS + i]
        top += stride
    return top


@inlined
def _put_times(edges, edge_count, item, into):  # type: ignore[no-untyped-def]
    into[T_EDGES], into[T_EDGE_COUNT] = edges, edge_count
    into[T_END], into[T_START], into[T_WINDOW_START] = item[T_END], item[T_START], item[T_WINDOW_START]


@inlined
def above(net, node, top):  # type: ignore[no-untyped-def]
    """Return where on the stack a solution is written that is about to be put there for all who read it."""
    return top + (1 + net[node + NODE_DIRECT_COUNT]) * net[N_STRIDE]


@inlined
def _send(arena, net, node, values, stack, progress):  # type: ignore[no-untyped-def]
    """Put the solution that is aside on the stack, for all who read it; return the new top."""
    top, (start, window_start, within) = progress[P_TOP], _within(arena, net, node)
    if not within:
        return top
    times, item = (arena[net[node + NODE_ASIDE] + ASIDE_END], start, window_start), tail(stack, above(net, node, top))
    _put(arena, net, 0, 0, times, net[node + NODE_ASIDE_OUT], net[node + NODE_OUT_COUNT], item)
    _seek_ahead(arena, net, node, item)
    return send_on(arena, net, node, item, values, stack, top, progress)


@kernel
def take_star(net, arena, rows, row, most, room, values, stack, progress):  # type: ignore[no-untyped-def]
    """Take the star that begins with a row, if it is whole, and send it on; return its number of rows, or 0."""
    node = star_at(net, arena, rows, row, progress)
    if node == 0 or above(net, node, progress[P_TOP]) + net[N_STRIDE] > room:
        return 0
    if arena[A_TOP] + net[node + NODE_ASIDE_INSTANTS] * STORING > most or not note_star(net, arena, node, rows, row):
        return 0
    item = tail(stack, above(net, node, progress[P_TOP]))
    put_star(net, arena, node, rows, item)
    foresee_stars(net, arena, node, rows, progress)
    progress[P_TOP] = send_on(arena, net, node, item, values, stack, progress[P_TOP], progress)
    return net[node + NODE_SLOTS]


@kernel
def _spill(arena, net, node, most, stack, top, progress):  # type: ignore[no-untyped-def]
    """Make rows of what is aside, and of its solution in each state that has it once; say DONE or NEEDS_ARENA."""
    aside, slots, count = net[node + NODE_ASIDE], net[node + NODE_SLOTS], net[node + NODE_EDGE_COUNT]
    if arena[A_TOP] + (slots + count) * STORING > most:
        return NEEDS_ARENA
    mask = arena[aside + ASIDE_MASK]
    for i in range(slots):
        if mask >> i & 1 != 0:
            slot = net[node + NODE_FIRST_SLOT] + i * SLOT_WIDTH
            kept = tail(arena, net[slot + SLOT_ASIDE])
            row, _, _ = store_row(arena, net, slot, kept[T_EDGES], kept)
            _mark(net, arena, slot, row, progress)
    item, (start, window_start, within) = tail(stack, top), _within(arena, net, node)
    if mask == net[node + NODE_FULL] and within:
        times = arena[aside + ASIDE_END], start, window_start
        _put(arena, net, 0, 0, times, net[node + NODE_ASIDE_OUT], net[node + NODE_OUT_COUNT], item)
        for edge in range(net[node + NODE_EDGES], net[node + NODE_EDGES] + count * EDGE_WIDTH, EDGE_WIDTH):
            if net[edge + EDGE_KIND] == TO_STATE:
                slot = net[net[edge + EDGE_TARGET] + STATE_SLOT]
                row = new_row(arena, net, slot, item)
                fill_row(arena, net, slot, edge, find_group(arena, net, net[slot + SLOT_NODE], edge, item), row, item)
                _mark(net, arena, slot, row, progress)
    arena[aside + ASIDE_SPILLED], arena[aside + ASIDE_FRESH] = 1, 0
    return DONE


@inlined
def _store(arena, net, slot, edge, item, work, progress):  # type: ignore[no-untyped-def]
    """Store a tuple in its slot; return its group if it may complete something, else 0."""
    row, group, mask = store_row(arena, net, slot, edge, item)
    _mark(net, arena, slot, row, progress)
    work[ROW] = row
    return group if mask == net[net[slot + SLOT_NODE] + NODE_FULL] else 0


@inlined
def _of_key(arena, net, node, aside, keys, item):  # type: ignore[no-untyped-def]
    """Tell whether a tuple has the key of what is aside."""
    for i in range(net[node + NODE_KEY_COUNT]):
        if arena[aside + ASIDE_KEY + i] != item[T_COLUMNS + net[keys + i]]:
            return False
    return True


@inlined
def _same_triple(arena, kept, item):  # type: ignore[no-untyped-def]
    """Tell whether a tuple is of the triple that is aside: given or entailed once more."""
    for i in range(T_COLUMNS, T_COLUMNS + ALPHA_COLUMNS):  # noqa: SIM110
        if arena[kept + i] != item[i]:
            return False
    return True


@inlined
def _put_aside(arena, net, node, slot, edge, item):  # type: ignore[no-untyped-def]
    """Put a tuple aside; tell whether the star is whole now."""
    aside, kept = net[node + NODE_ASIDE], net[slot + SLOT_ASIDE]
    if arena[aside + ASIDE_MASK] == 0:
        for i in range(net[node + NODE_KEY_COUNT]):
            arena[aside + ASIDE_KEY + i] = item[T_COLUMNS + net[net[edge + EDGE_KEYS] + i]]
    arena[kept + T_EDGES] = edge
    for i in range(T_END, T_COLUMNS + net[node + NODE_ASIDE_COLUMNS]):
        arena[kept + i] = item[i]
    arena[aside + ASIDE_MASK] |= 1 << net[slot + SLOT_INDEX]
    return arena[aside + ASIDE_MASK] == net[node + NODE_FULL]


@inlined
def _fits_aside(arena, net, node, slot, edge, item):  # type: ignore[no-untyped-def]
    """Tell whether a tuple can be kept beside what is aside, or is there."""
    aside, mask = net[node + NODE_ASIDE], arena[net[node + NODE_ASIDE] + ASIDE_MASK]
    if mask == 0:
        return True
    if not _of_key(arena, net, node, aside, net[edge + EDGE_KEYS], item):
        return False
    return mask >> net[slot + SLOT_INDEX] & 1 == 0 or _same_triple(arena, net[slot + SLOT_ASIDE], item)


@kernel
def gather(arena, net, most, room, edge, item, values, work, stack, progress):  # type: ignore[no-untyped-def]
    """Send a tuple to a slot of a node that gathers; say DONE or NEEDS_*.

    `work` then has the group of the slot if the tuple may complete something there, else 0.
    """
    top, slot, end = progress[P_TOP], net[edge + EDGE_TARGET], item[T_END]
    node = net[slot + SLOT_NODE]
    if above(net, node, top) + net[N_STRIDE] > room:
        return NEEDS_STACK
    if arena[A_TOP] + net[node + NODE_ASIDE_INSTANTS] * STORING > most:
        return NEEDS_ARENA
    aside = net[node + NODE_ASIDE]
    if arena[aside + ASIDE_END] != end or progress[P_FACTS] != 0:
        arena[aside + ASIDE_END], arena[aside + ASIDE_MASK], arena[aside + ASIDE_FRESH] = end, 0, 0
        arena[aside + ASIDE_SPILLED], arena[aside + ASIDE_WHOLE] = progress[P_FACTS], 0
    elif arena[aside + ASIDE_WHOLE] != 0:
        part_star(arena, net, node, progress)
    if arena[aside + ASIDE_SPILLED] == 0 and not _fits_aside(arena, net, node, slot, edge, item):
        said = _spill(arena, net, node, most, stack, top, progress)
        if said != DONE:
            return said
    if arena[aside + ASIDE_SPILLED] != 0:
        work[GROUP] = _store(arena, net, slot, edge, item, work, progress)
    elif arena[aside + ASIDE_MASK] >> net[slot + SLOT_INDEX] & 1 == 0 and _put_aside(
        arena, net, node, slot, edge, item
    ):
        arena[aside + ASIDE_FRESH] = 1
        progress[P_TOP] = _send(arena, net, node, values, stack, progress)
    return DONE


@kernel
def settle(arena, net, most, room, stack, progress):  # type: ignore[no-untyped-def]
    """Let all that is aside spill; say DONE, NEEDS_ARENA or NEEDS_STACK."""
    if progress[P_TOP] + net[N_STRIDE] > room:
        return NEEDS_STACK
    for i in range(net[N_GATHERING_COUNT]):
        node = net[net[N_GATHERING] + i]
        aside = net[node + NODE_ASIDE]
        if arena[aside + ASIDE_MASK] != 0 and arena[aside + ASIDE_SPILLED] == 0:
            if arena[aside + ASIDE_WHOLE] != 0:
                part_star(arena, net, node, progress)
            said = _spill(arena, net, node, most, stack, progress[P_TOP], progress)
            if said != DONE:
                return said
    return DONE
