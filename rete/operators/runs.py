"""Runs: what a sequence of events has matched so far, as rows of a memory, and the steps by which runs go on.

A *state* has the runs that wait for one and the same step.  A *step* takes a solution of an event and looks at the runs
of one state: each that is compatible, and may still go on, becomes a run of another state, or is complete.  The rows
stay: a run may go on in several ways.

Strategies are marks.  A run that takes the next compatible event alone has a mark: when that event came.  A run that
takes the next event of its streams alone goes on if no instant of these streams is between.
"""

from __future__ import annotations

from retewave.rete.filters.codes import TRUE, UNDECIDED
from retewave.rete.filters.compare import compare_terms, number_word
from retewave.rete.filters.interpreter import decide
from retewave.rete.memory.arena import make_room, roomy
from retewave.rete.memory.slots import group_of, list_row, streamed_row
from retewave.rete.operators.states import cut_off, is_over, mark_run, store_run, take_off
from retewave.rete.words.bare import tail
from retewave.rete.words.jit import inlined
from retewave.rete.words.layout import (
    ANY,
    COPIES_BIT,
    COPIES_CONSTANTS,
    COPIES_LINK,
    COPIES_LIST,
    COPIES_NUMBERS,
    COPIES_ROW_WORDS,
    COPIES_RUN,
    COPIES_SLOT,
    COPIES_STATE,
    COPIES_TUPLE,
    COPIES_WORDS,
    EDGE_TARGET,
    EITHER,
    LINK_STATE,
    N_END,
    N_START,
    N_STRIDE,
    NO_WORD,
    OF_ROW,
    R_LINK,
    R_WINDOW_START,
    SLOT_LIST,
    SLOT_NODE,
    STATE_CUT,
    STATE_SLOT,
    STEP_CODE,
    STEP_CODE_END,
    STEP_COLUMNS,
    STEP_COMPARED,
    STEP_COMPARED_COUNT,
    STEP_COPIES,
    STEP_DIRECT,
    STEP_EDGE_COUNT,
    STEP_EDGES,
    STEP_EQUAL,
    STEP_EQUAL_COUNT,
    STEP_EVERY,
    STEP_FOLLOWS,
    STEP_KEYS,
    STEP_MARK,
    STEP_NUMBER,
    STEP_ORIGIN,
    STEP_OUT,
    STEP_OUT_COUNT,
    STEP_SEEN,
    STEP_SEEN_COUNT,
    STEP_STATE,
    STEP_WINDOW,
    STRICT,
    T_COLUMNS,
    T_EDGE_COUNT,
    T_EDGES,
    T_END,
    T_START,
    T_WINDOW_START,
)
from retewave.rete.words.progress import (
    P_ASKED,
    P_ASKED_ROW,
    P_STEP_BEFORE,
    P_STEP_TOP,
    P_STEPPING,
    P_TOP,
    P_VERDICT,
)

__all__ = ["NO_ARENA", "NO_ROOM", "OPEN_QUESTION", "begin_run", "continue_runs"]

# causes that stop a step: the stack is full; Python must say whether a run is compatible; the arena is full
NO_ROOM, OPEN_QUESTION, NO_ARENA = -1, -2, -3


@inlined
def _agrees(arena, net, step, row, item):  # type: ignore[no-untyped-def]
    """Tell whether a run and a tuple have equal terms where both must, beside the key."""
    pairs = net[step + STEP_EQUAL]
    for pair in range(pairs, pairs + 2 * net[step + STEP_EQUAL_COUNT], 2):
        own, column = arena[row + net[pair]], net[pair + 1]
        if own != item[T_COLUMNS + (column if column >= 0 else ~column)] and (column >= 0 or own != 0):
            return False
    return True


@inlined
def _condition(arena, net, step, row, item, view, pair):  # type: ignore[no-untyped-def]
    """Return the verdict of a step's condition on a tuple and a run, which come to stand in `pair`."""
    columns, seen = net[step + STEP_COLUMNS], net[step + STEP_SEEN]
    pair[T_END], pair[T_START], pair[T_WINDOW_START] = item[T_END], arena[row + net[N_START]], item[T_END]
    for i in range(columns):
        pair[T_COLUMNS + i] = item[T_COLUMNS + i]
    for i in range(net[step + STEP_SEEN_COUNT]):
        word = net[seen + i]
        pair[T_COLUMNS + columns + i] = row if word == OF_ROW else arena[row + word]
    return decide(view.filters, net[step + STEP_CODE], net[step + STEP_CODE_END], pair, T_COLUMNS, view.values)


@inlined
def _window_of(net, step, item):  # type: ignore[no-untyped-def]
    """Return the start of the window of a run that begins."""
    every, origin = net[step + STEP_EVERY], net[step + STEP_ORIGIN]
    if every == 0:
        return item[T_WINDOW_START]
    if every < 0:
        return item[T_END] + every
    return origin + (item[T_END] - origin) // every * every


@inlined
def _grow(arena, net, step, row, item, into):  # type: ignore[no-untyped-def]
    """Write a run and a tuple as the run that they become; a run that begins has no row (0)."""
    into[T_EDGES], into[T_EDGE_COUNT] = net[step + STEP_EDGES], net[step + STEP_EDGE_COUNT]
    into[T_END] = item[T_END]
    into[T_START] = arena[row + net[N_START]] if row != 0 else item[T_START]
    into[T_WINDOW_START] = arena[row + R_WINDOW_START] if row != 0 else _window_of(net, step, item)
    out = net[step + STEP_OUT]
    for i in range(net[step + STEP_OUT_COUNT]):
        place, word = net[out + 2 * i], net[out + 2 * i + 1]
        if place == 0:
            into[T_COLUMNS + i] = arena[row + word]
        elif place == 1:
            into[T_COLUMNS + i] = item[T_COLUMNS + word]
        elif place >= EITHER:
            own = arena[row + word]
            into[T_COLUMNS + i] = own if own != 0 else item[T_COLUMNS + place - EITHER]
        elif place == OF_ROW:
            into[T_COLUMNS + i] = row | net[step + STEP_NUMBER] << LINK_STATE
        else:
            into[T_COLUMNS + i] = word


@inlined
def _may_go_on(arena, net, step, row, item, before):  # type: ignore[no-untyped-def]
    """Tell whether a run may take an event now, as far as its strategy and its window say."""
    follows, end = net[step + STEP_FOLLOWS], item[T_END]
    if follows == STRICT:
        if arena[row + net[N_END]] < before:
            return False
    elif follows != ANY and arena[row + net[step + STEP_MARK]] < end:
        return False
    return _agrees(arena, net, step, row, item)


@inlined
def _copy_run(arena, net, step, row, group, item, values, progress):  # type: ignore[no-untyped-def]
    """Make what becomes of a run, in some group, a row of the next state, or what begins (row 0) in its own group."""
    copies = net[step + STEP_COPIES]
    slot = net[copies + COPIES_SLOT]
    made = streamed_row(arena, net, slot, net[copies + COPIES_STATE], net[copies + COPIES_ROW_WORDS])
    if row == 0:
        group = group_of(arena, net, net[slot + SLOT_NODE], net[step + STEP_KEYS], item)
    pair, of_run, into = copies + COPIES_WORDS, tail(arena, row), tail(arena, made)
    behind = pair + 2 * net[copies + COPIES_RUN]
    while pair < behind:
        into[net[pair]] = of_run[net[pair + 1]]
        pair += 2
    behind = pair + 2 * net[copies + COPIES_TUPLE]
    while pair < behind:
        into[net[pair]] = item[net[pair + 1]]
        pair += 2
    for _ in range(net[copies + COPIES_CONSTANTS]):
        into[net[pair]] = net[pair + 1]
        pair += 2
    for _ in range(net[copies + COPIES_NUMBERS]):
        into[net[pair]] = number_word(values, into[net[pair + 1]])
        pair += 2
    if net[copies + COPIES_LINK] != NO_WORD:
        into[net[copies + COPIES_LINK]] = row | net[step + STEP_NUMBER] << LINK_STATE
    list_row(arena, group, net[copies + COPIES_LIST], net[copies + COPIES_BIT], made)
    mark_run(net, arena, slot, made, progress)


@inlined
def _goes_on(arena, net, step, row, group, item, values, stack, top, progress):  # type: ignore[no-untyped-def]
    """Let a run take a tuple, or begin with it (row 0); return the new top."""
    if net[step + STEP_COPIES] != 0:
        _copy_run(arena, net, step, row, group, item, values, progress)
        return top
    into, edge = tail(stack, top), net[step + STEP_DIRECT]
    _grow(arena, net, step, row, item, into)
    if edge == 0:
        return top + net[N_STRIDE]
    store_run(arena, net, net[edge + EDGE_TARGET], edge, into, values, progress)
    return top


@inlined
def _taken(arena, net, step, row, group, item, values, stack, top, progress):  # type: ignore[no-untyped-def]
    """Let a run take a tuple; return the new top."""
    if net[step + STEP_MARK] != NO_WORD:
        arena[row + net[step + STEP_MARK]] = item[T_END]
    return _goes_on(arena, net, step, row, group, item, values, stack, top, progress)


@inlined
def _lacks(arena, net, step, top, room, most):  # type: ignore[no-untyped-def]
    """Return which array must grow before a run takes a tuple: NO_ROOM (the stack), NO_ARENA, or 0 for none."""
    if top + 2 * net[N_STRIDE] > room:
        return NO_ROOM
    if net[step + STEP_DIRECT] != 0 and not roomy(arena, most) and not make_room(arena, most):
        return NO_ARENA
    return 0


@inlined
def _compatible(arena, net, step, row, item, view, pair, verdict):  # type: ignore[no-untyped-def]
    """Return the verdict on a run that may take a tuple: `verdict`, if it is known, or that of the step's condition."""
    if verdict != UNDECIDED:
        return verdict
    if net[step + STEP_CODE] == net[step + STEP_CODE_END]:
        return TRUE
    if net[step + STEP_COMPARED_COUNT] != 0:
        verdict = compare_terms(
            arena, net, net[step + STEP_COMPARED], net[step + STEP_COMPARED_COUNT], row, item, view.values
        )
        if verdict != UNDECIDED:
            return verdict
    return _condition(arena, net, step, row, item, view, pair)


@inlined
def _stop(progress, step, row, former, top):  # type: ignore[no-untyped-def]
    """Note where a step stops, to go on there."""
    progress[P_STEPPING], progress[P_ASKED], progress[P_ASKED_ROW], progress[P_STEP_BEFORE], progress[P_STEP_TOP] = (
        step,
        step,
        row,
        former,
        top,
    )


@inlined
def _first_run(arena, net, state, word, before, progress):  # type: ignore[no-untyped-def]
    """Return the first run to look at, the run before it, the top, and the verdict on the first run."""
    if progress[P_STEPPING] == 0:
        first = cut_off(arena, word, net[N_END], before) if net[state + STATE_CUT] != 0 else arena[word] >> 32
        return first, 0, progress[P_TOP], UNDECIDED
    row, former, top, verdict = (
        progress[P_ASKED_ROW],
        progress[P_STEP_BEFORE],
        progress[P_STEP_TOP],
        progress[P_VERDICT],
    )
    progress[P_STEPPING], progress[P_ASKED_ROW], progress[P_VERDICT] = 0, 0, UNDECIDED
    return row, former, top, verdict


@inlined
def begin_run(arena, net, step, item, values, stack, progress, room):  # type: ignore[no-untyped-def]
    """Let a run begin with a tuple; return the new top, or NO_ROOM."""
    top, every, since = progress[P_TOP], net[step + STEP_EVERY], item[T_END] - net[step + STEP_ORIGIN]
    if every != 0 and (since < 0 or (every < 0 and (since == 0 or since % every != 0))):
        return top
    if top + net[N_STRIDE] > room:
        return NO_ROOM
    return _goes_on(arena, net, step, 0, 0, item, values, stack, top, progress)


@inlined
def continue_runs(arena, net, step, group, before, item, view, stack, progress, room, most):  # type: ignore[no-untyped-def]
    """Let all runs of a step's state take a tuple that may do so, and put what they become on the stack.

    `group` has them; `before` is the instant of their partition before the tuple's.
    Return the new top; NO_ROOM, NO_ARENA or OPEN_QUESTION: the caller makes room, or asks, and calls again:
    `progress` says where.  `room` is that of the stack, `most` how far the arena may be used before a row is stored.
    """
    state, end, window, end_word = net[step + STEP_STATE], item[T_END], net[step + STEP_WINDOW], net[N_END]
    slot, cut = net[state + STATE_SLOT], net[state + STATE_CUT] != 0
    word = group + net[slot + SLOT_LIST]
    row, former, top, verdict = _first_run(arena, net, state, word, before, progress)
    while row != 0 and arena[row + end_word] < end:
        following = arena[row + R_LINK] >> 32
        last = cut or (former == 0 and following == 0)  # it keeps the group, which the next run of its key will need
        if not last and verdict == UNDECIDED and is_over(arena, net, state, row, end, before):
            take_off(arena, net, slot, group, row, former)
            row = following
            continue
        if end - arena[row + R_WINDOW_START] <= window and _may_go_on(arena, net, step, row, item, before):
            lacks = _lacks(arena, net, step, top, room, most)
            if lacks != 0:
                _stop(progress, step, row, former, top)
                return lacks
            verdict = _compatible(arena, net, step, row, item, view, tail(stack, top + net[N_STRIDE]), verdict)
            if verdict == UNDECIDED:
                _stop(progress, step, row, former, top)
                return OPEN_QUESTION
            if verdict == TRUE:
                top = _taken(arena, net, step, row, group, item, view.values, stack, top, progress)
                former = former if arena[word] >> 32 != row else 0  # it may be collected
        row, former, verdict = following, row, UNDECIDED
    return top
