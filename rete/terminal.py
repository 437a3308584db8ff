"""Terminals: where complete tuples of one shape end, as output rows of queries and as what rules build.

A terminal's instances are the queries of that shape; where they differ in constants, the tuple's columns select them.
"""

from __future__ import annotations

from retewave.rete.feed import build, expect, has_room
from retewave.rete.filters.codes import TRUE, UNDECIDED
from retewave.rete.filters.interpreter import decide
from retewave.rete.memory.arena import mix
from retewave.rete.terms.marks import mark_occurrences
from retewave.rete.words.bare import bytes_at
from retewave.rete.words.jit import inlined, kernel
from retewave.rete.words.layout import (
    BUILDS,
    BUILDS_NOTHING,
    DONE,
    F_COUNT,
    INSTANCE_BRANCH,
    INSTANCE_BUILDS,
    INSTANCE_CELL,
    INSTANCE_CODE,
    INSTANCE_CODE_END,
    INSTANCE_KEY_BEGIN,
    INSTANCE_KEY_COUNT,
    INSTANCE_KEY_HASH,
    INSTANCE_KEY_WIDTH,
    INSTANCE_LINK,
    INSTANCE_ORIGIN,
    INSTANCE_OUT,
    INSTANCE_OUT_COUNT,
    INSTANCE_PARAMETERS,
    INSTANCE_QUERY,
    INSTANCE_TOLD,
    INSTANCE_WIDTH,
    INSTANCE_WINDOW,
    LINK_STATE,
    N_END,
    N_INSTANCE_KEY_MASK,
    N_INSTANCE_KEYS,
    N_MOST_BUILT,
    N_OUT_WIDTH,
    N_SEED,
    N_STATES,
    N_STRIDE,
    N_TIMES,
    NEEDS_FEED,
    NEEDS_OUT,
    O_BRANCH,
    O_COLUMNS,
    O_END,
    O_QUERY,
    O_START,
    O_WINDOW_START,
    STATE_COLUMNS,
    STATE_LINK,
    STATE_WIDTH,
    T_COLUMNS,
    T_END,
    T_START,
    T_WINDOW_START,
    TERMINAL_INSTANCE_COUNT,
    TERMINAL_INSTANCES,
    TERMINAL_PARAMETER_COUNT,
    TERMINAL_PARAMETERS,
    TOLD_RUN,
    TOLD_STATE,
    UNDECIDED_ROW,
)
from retewave.rete.words.progress import P_BUILDING, P_COUNT, P_FACTS, P_MARKED, P_MARKS

__all__ = ["emit"]


@kernel
def _instances(net, terminal, item):  # type: ignore[no-untyped-def]
    """Return the first instance and the number of instances of a terminal that the tuple's parameters select."""
    count, columns = net[terminal + TERMINAL_PARAMETER_COUNT], net[terminal + TERMINAL_PARAMETERS]
    if count == 0:
        return net[terminal + TERMINAL_INSTANCES], net[terminal + TERMINAL_INSTANCE_COUNT]
    h = mix(net[N_SEED], terminal)
    for i in range(count):
        h = mix(h, item[T_COLUMNS + net[columns + i]])
    mask = net[N_INSTANCE_KEY_MASK]
    slot = h & mask
    while True:
        key = net[N_INSTANCE_KEYS] + slot * INSTANCE_KEY_WIDTH
        if net[key + INSTANCE_KEY_COUNT] == 0:
            return 0, 0
        if net[key + INSTANCE_KEY_HASH] == h:
            begin = net[key + INSTANCE_KEY_BEGIN]
            given = net[begin + INSTANCE_PARAMETERS]
            same = net[given] == terminal
            for i in range(count):
                same = same and net[given + 1 + i] == item[T_COLUMNS + net[columns + i]]
            if same:
                return begin, net[key + INSTANCE_KEY_COUNT]
        slot = (slot + 1) & mask


@kernel
def _feed(net, feed, instance, item, undecided, view, progress):  # type: ignore[no-untyped-def]
    """Let a rule build from a tuple; what the kernel cannot build, Python builds at the close of the instant."""
    if progress[P_FACTS] != 0 or item[T_END] < item[T_WINDOW_START]:  # the past, or static data
        return
    if undecided or net[instance + INSTANCE_BUILDS] != BUILDS:
        progress[P_BUILDING] += 1
        expect(feed, item[T_END])
        return
    first = feed[F_COUNT]
    build(net, feed, instance, item, view.values.kind)
    if progress[P_MARKED] != 0:
        mark_occurrences(feed, first, bytes_at(progress[P_MARKS]), progress[P_MARKED])


@inlined
def _row_before(arena, net, link):  # type: ignore[no-untyped-def]
    """Return the row to which a link leads, the number of its state, and the link in it."""
    row, number = link & ((1 << LINK_STATE) - 1), link >> LINK_STATE
    word = net[net[N_STATES] + number * STATE_WIDTH + STATE_LINK]
    return row, number, arena[row + word] if word != 0 else 0


@inlined
def _rows_wanted(arena, net, begin, many, item):  # type: ignore[no-untyped-def]
    """Return how many output rows some instances write of a tuple: more than one each, if they tell of its run."""
    if many == 0 or net[begin + INSTANCE_LINK] < 0:
        return many
    count, link = 2, item[T_COLUMNS + net[begin + INSTANCE_LINK]]
    while link != 0:
        _, _, link = _row_before(arena, net, link)
        count += 1
    return many * count


@kernel
def _tell_run(arena, net, instance, item, branch, out, count):  # type: ignore[no-untyped-def]
    """Write a row for each part of a run, the last one first; return the number of rows then."""
    width, link, place = net[N_OUT_WIDTH], item[T_COLUMNS + net[instance + INSTANCE_LINK]], 0
    time, number, columns = item[T_END], -1, net[N_STRIDE] - T_COLUMNS
    while True:
        row = count * width
        out[row + O_QUERY], out[row + O_BRANCH] = net[instance + INSTANCE_QUERY], branch | TOLD_RUN
        out[row + O_END], out[row + O_START], out[row + TOLD_STATE] = item[T_END], time, number
        for c in range(min(width - O_COLUMNS, columns)):
            out[row + O_COLUMNS + c] = item[T_COLUMNS + c] if place == 0 else arena[place + 1 + net[N_TIMES] + c]
        count += 1
        if link == 0:
            return count
        place, number, link = _row_before(arena, net, link)
        time, columns = arena[place + net[N_END]], net[net[N_STATES] + number * STATE_WIDTH + STATE_COLUMNS]


@inlined
def _is_known(net, arena, instance, item):  # type: ignore[no-untyped-def]
    """Tell whether it was told already that something came in a tuple's stretch of time; else note that it is."""
    told, end = net[instance + INSTANCE_TOLD], item[T_END]
    if end <= arena[told]:
        return True
    behind = (end - net[instance + INSTANCE_ORIGIN]) % net[instance + INSTANCE_CELL]
    arena[told] = end if behind == 0 else end - behind + net[instance + INSTANCE_CELL]
    return False


@inlined
def _write(net, instance, item, branch, out, row):  # type: ignore[no-untyped-def]
    """Write the output row of a tuple."""
    out[row + O_QUERY] = net[instance + INSTANCE_QUERY]
    out[row + O_BRANCH] = branch
    out[row + O_START] = item[T_START]
    out[row + O_END] = item[T_END]
    out[row + O_WINDOW_START] = item[T_WINDOW_START]
    columns = net[instance + INSTANCE_OUT]
    for c in range(net[instance + INSTANCE_OUT_COUNT]):
        out[row + O_COLUMNS + c] = item[T_COLUMNS + net[columns + c]]


@inlined
def _also(net, arena, instance, item, branch, view, feed, out, progress, count):  # type: ignore[no-untyped-def]
    """Let a rule build of a tuple, and tell of its run; return the number of output rows then."""
    if net[instance + INSTANCE_BUILDS] != BUILDS_NOTHING:
        _feed(net, feed, instance, item, branch >= UNDECIDED_ROW, view, progress)
    if net[instance + INSTANCE_LINK] >= 0:
        return _tell_run(arena, net, instance, item, branch, out, count)
    return count


@inlined
def emit(net, arena, terminal, item, view, feed, out, progress, room, looks):  # type: ignore[no-untyped-def]
    """Write an output row for each query that a complete tuple matches, and let rules build: DONE.

    NEEDS_OUT, NEEDS_FEED: there may be no room for all; the caller makes room and asks again.
    """
    begin, many = _instances(net, terminal, item)
    count = progress[P_COUNT]
    if count + (many if looks is None else _rows_wanted(arena, net, begin, many, item)) > room:
        return NEEDS_OUT
    if looks is not None and not has_room(feed, many * net[N_MOST_BUILT]):
        return NEEDS_FEED
    width = net[N_OUT_WIDTH]
    for instance in range(begin, begin + many * INSTANCE_WIDTH, INSTANCE_WIDTH):
        if item[T_END] - item[T_WINDOW_START] > net[instance + INSTANCE_WINDOW]:
            continue
        if net[instance + INSTANCE_TOLD] != 0 and progress[P_FACTS] == 0 and _is_known(net, arena, instance, item):
            continue
        branch = net[instance + INSTANCE_BRANCH]
        code, code_end = net[instance + INSTANCE_CODE], net[instance + INSTANCE_CODE_END]
        if code < code_end:
            verdict = decide(view.filters, code, code_end, item, T_COLUMNS, view.values)
            if verdict == UNDECIDED:
                branch |= UNDECIDED_ROW
            elif verdict != TRUE:
                continue
        _write(net, instance, item, branch, out, count * width)
        count += 1
        if looks is not None:
            count = _also(net, arena, instance, item, branch, view, feed, out, progress, count)
    progress[P_COUNT] = count
    return DONE
