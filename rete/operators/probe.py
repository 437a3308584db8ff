"""Probes: look, for one tuple, at the rows of a memory under its key; the tuple goes on if one fits, or if none does.

A row fits if it is in reach, if the relations between the tuple's times and the row's hold, and if the condition is
true.  When a tuple is decided is the kernel's: at its arrival, at the close of its instant, or at its deadline.
"""

from __future__ import annotations

from retewave.rete.filters.codes import TRUE, UNDECIDED
from retewave.rete.filters.interpreter import decide
from retewave.rete.memory.arena import mix
from retewave.rete.memory.ranked import is_better
from retewave.rete.memory.slots import seek_group
from retewave.rete.memory.spent import is_row_spent
from retewave.rete.words.bare import prefetch
from retewave.rete.words.jit import inlined, kernel
from retewave.rete.words.layout import (
    A_BUCKET_MASK,
    A_BUCKETS,
    B_COLUMNS,
    B_NEXT,
    G_KEY,
    LOW,
    N_END,
    N_START,
    NODE_KEY_COUNT,
    NODE_LISTS,
    NODE_SEED,
    NODE_SPENT,
    PROBE_CODE,
    PROBE_CODE_END,
    PROBE_COLUMNS,
    PROBE_GAP_COUNT,
    PROBE_GAPS,
    PROBE_JOINT,
    PROBE_KEYS,
    PROBE_NODE,
    PROBE_REACH,
    PROBE_SEEN,
    PROBE_SEEN_COUNT,
    PROBE_SLOT,
    PROBE_STATE,
    PROBE_STREAMED,
    PROBE_TAKEN,
    PROBE_TAKEN_COUNT,
    R_LINK,
    R_WINDOW_START,
    RELATION_GAP,
    RELATION_LEFT,
    RELATION_LEFT_WORD,
    RELATION_RIGHT,
    RELATION_RIGHT_WORD,
    RELATION_WIDTH,
    T_COLUMNS,
    T_END,
    T_START,
    T_WINDOW_START,
    W_FIRST,
    W_SINCE,
    W_SINCE_END,
)
from retewave.windows.intervals import BEFORE_ALL, STATIC_START

__all__ = ["ASK", "FITS", "NOTHING", "foresee_due", "is_known", "look", "put_tuple", "take_along"]

NOTHING, FITS, ASK = 0, 1, 2  # the result of a look; ASK: Python must tell whether the row fits


@inlined
def _related(arena, net, probe, item, row):  # type: ignore[no-untyped-def]
    """Tell whether the times of a tuple and of a row are related as the probe wants them."""
    at = net[probe + PROBE_GAPS]
    for gap in range(at, at + net[probe + PROBE_GAP_COUNT] * RELATION_WIDTH, RELATION_WIDTH):
        left, right = net[gap + RELATION_LEFT_WORD], net[gap + RELATION_RIGHT_WORD]
        earlier = item[left] if net[gap + RELATION_LEFT] == 0 else arena[row + left]
        later = item[right] if net[gap + RELATION_RIGHT] == 0 else arena[row + right]
        if earlier + net[gap + RELATION_GAP] > later:
            return False
    return True


@kernel
def _condition(arena, net, probe, item, row, view, pair):  # type: ignore[no-untyped-def]
    """Return the verdict of the probe's condition on a tuple and a row, which come to stand in `pair`."""
    columns, seen = net[probe + PROBE_COLUMNS], net[probe + PROBE_SEEN]
    start, end = arena[row + net[N_START]], arena[row + net[N_END]]
    if net[probe + PROBE_JOINT] != 0:
        start, end = min(start, item[T_START]), max(end, item[T_END])
    pair[T_END], pair[T_START], pair[T_WINDOW_START] = end, start, start
    for i in range(columns):
        pair[T_COLUMNS + i] = item[T_COLUMNS + i]
    for i in range(net[probe + PROBE_SEEN_COUNT]):
        pair[T_COLUMNS + columns + i] = arena[row + net[seen + i]]
    return decide(view.filters, net[probe + PROBE_CODE], net[probe + PROBE_CODE_END], pair, T_COLUMNS, view.values)


@inlined
def _may_fit(arena, net, probe, item, row, time):  # type: ignore[no-untyped-def]
    """Tell whether a row is in reach of a decision at a time, and in the relations that the probe wants."""
    if arena[row + R_WINDOW_START] == STATIC_START:
        return net[probe + PROBE_STREAMED] == 0
    reach = net[probe + PROBE_REACH]
    if reach >= 0 and arena[row + R_WINDOW_START] + reach < time:
        return False
    if not _related(arena, net, probe, item, row) or not is_better(arena, net, probe, row, item):
        return False
    spent = net[net[probe + PROBE_NODE] + NODE_SPENT]
    return spent == 0 or not is_row_spent(arena, net, spent, net[probe + PROBE_SLOT], row, time)


@kernel
def look(arena, net, probe, item, time, view, pair, row, verdict):  # type: ignore[no-untyped-def]
    """Look for a row that fits a tuple whose decision is at a time; return what is found, and the row.

    `row` is 0, or where a look goes on with the verdict of a condition that was asked for.
    """
    if row == 0:
        group = seek_group(arena, net, net[probe + PROBE_NODE], net[probe + PROBE_KEYS], item)
        if group == 0:
            return NOTHING, 0
        row = arena[group + net[net[probe + PROBE_NODE] + NODE_LISTS]] >> 32
    conditional = net[probe + PROBE_CODE] != net[probe + PROBE_CODE_END]
    while row != 0:
        if verdict != UNDECIDED:
            if verdict == TRUE:
                return FITS, row
            verdict = UNDECIDED
        elif _may_fit(arena, net, probe, item, row, time):
            if not conditional:
                return FITS, row
            said = _condition(arena, net, probe, item, row, view, pair)
            if said == TRUE:
                return FITS, row
            if said == UNDECIDED:
                return ASK, row
        row = arena[row + R_LINK] >> 32
    return NOTHING, 0


@kernel
def is_known(arena, net, probe, item, time):  # type: ignore[no-untyped-def]
    """Tell whether all rows that may fit a tuple have been seen since the probe began to look."""
    since, since_end = arena[net[probe + PROBE_STATE] + W_SINCE], arena[net[probe + PROBE_STATE] + W_SINCE_END]
    if since == BEFORE_ALL:
        return True
    reach, at = net[probe + PROBE_REACH], net[probe + PROBE_GAPS]
    start, end = BEFORE_ALL if reach < 0 else time - reach, BEFORE_ALL  # no row that fits starts, or ends, before
    for gap in range(at, at + net[probe + PROBE_GAP_COUNT] * RELATION_WIDTH, RELATION_WIDTH):
        if net[gap + RELATION_RIGHT] == 1:
            least = item[net[gap + RELATION_LEFT_WORD]] + net[gap + RELATION_GAP]
            if net[gap + RELATION_RIGHT_WORD] == net[N_START]:
                start = max(start, least)
            if net[gap + RELATION_RIGHT_WORD] == net[N_END]:
                end = max(end, least)
    return start >= since or end >= since_end


@inlined
def take_along(arena, net, probe, item, row):  # type: ignore[no-untyped-def]
    """Copy the words that a tuple takes along from the row that fits it, behind the tuple's own columns."""
    at, taken = T_COLUMNS + net[probe + PROBE_COLUMNS], net[probe + PROBE_TAKEN]
    for i in range(net[probe + PROBE_TAKEN_COUNT]):
        item[at + i] = arena[row + net[taken + i]]


@inlined
def _likely_bucket(arena, net, probe, block):  # type: ignore[no-untyped-def]
    """Return where the bucket table probably has the group that a waiting tuple will look at."""
    node, keys = net[probe + PROBE_NODE], net[probe + PROBE_KEYS]
    h = net[node + NODE_SEED]
    for i in range(net[node + NODE_KEY_COUNT]):
        h = mix(h, arena[block + B_COLUMNS + net[keys + i]])
    return arena[A_BUCKETS] + (h & arena[A_BUCKET_MASK])


@kernel
def foresee_due(arena, net, probe):  # type: ignore[no-untyped-def]
    """Prefetch what the next decisions of a probe's list will look at, which has left the caches since it was written.

    Four loads, each known by the one before: so of the tuple that is next but three, itself, of the one before it,
    its bucket, of that one's predecessor, the group, and of the next tuple the row.
    """
    first = arena[net[probe + PROBE_STATE] + W_FIRST]
    second = arena[first + B_NEXT] if first != 0 else 0
    third = arena[second + B_NEXT] if second != 0 else 0
    if third == 0:
        return
    fourth = arena[third + B_NEXT]
    prefetch(arena, fourth)
    prefetch(arena, fourth + B_COLUMNS)
    prefetch(arena, _likely_bucket(arena, net, probe, third))
    prefetch(arena, (arena[_likely_bucket(arena, net, probe, second)] & LOW) + G_KEY)
    group = arena[_likely_bucket(arena, net, probe, first)] & LOW
    prefetch(arena, arena[group + net[net[probe + PROBE_NODE] + NODE_LISTS]] >> 32)


@inlined
def put_tuple(net, probe, columns, source, into):  # type: ignore[no-untyped-def]
    """Turn a tuple that has come into the probe's tuple, which has the columns that the probe keeps."""
    into[T_END], into[T_START], into[T_WINDOW_START] = source[T_END], source[T_START], source[T_WINDOW_START]
    for i in range(net[probe + PROBE_COLUMNS]):
        into[T_COLUMNS + i] = source[T_COLUMNS + net[columns + i]]
