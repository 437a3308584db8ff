"""Along an edge: its filter; and where it leads, if that is no terminal and no plain slot.

Those are memories that are only looked at, rows that only pass or are compared, what is used up, probes, and runs of
sequences.  A network of joins alone has none of these.
"""

from __future__ import annotations

from retewave.rete.deciding import probed
from retewave.rete.dispatch import edge_number
from retewave.rete.filters.codes import ASKING, INSTRUCTION_WIDTH, TRUE, UNDECIDED
from retewave.rete.filters.compare import is_beyond, read_row
from retewave.rete.filters.interpreter import decide
from retewave.rete.gather import gather
from retewave.rete.memory.arena import make_room, roomy
from retewave.rete.memory.ranked import keep_best
from retewave.rete.memory.slots import fill_row, find_group, last_group, new_row, passing_row, seek_group
from retewave.rete.memory.spent import spend
from retewave.rete.operators.join import GROUP, ROW
from retewave.rete.operators.runs import NO_ARENA, NO_ROOM, begin_run, continue_runs
from retewave.rete.operators.states import instant_before, may_go_on, note_instant
from retewave.rete.solutions import enter_state, may_enter
from retewave.rete.terms.marks import mark_row
from retewave.rete.words.bare import bytes_at
from retewave.rete.words.jit import inlined, kernel
from retewave.rete.words.layout import (
    A_COUNTING,
    A_EDGE_COUNTERS,
    DONE,
    EDGE_CODE,
    EDGE_CODE_END,
    EDGE_KEYS,
    EDGE_KIND,
    EDGE_TARGET,
    EDGE_WIDTH,
    N_STRIDE,
    NEEDS_ARENA,
    NEEDS_STACK,
    NEEDS_VERDICT,
    NODE_FULL,
    NODE_LAST_GROUP,
    REFUSED,
    SLOT_INDEX,
    SLOT_NODE,
    SLOT_READING_COUNT,
    STATE_SLOT,
    STEP_INSTANT_KEYS,
    STEP_INSTANTS,
    STEP_KEYS,
    STEP_STATE,
    T_COLUMNS,
    T_EDGE_COUNT,
    T_EDGES,
    TO_COMPARED,
    TO_GATHERED,
    TO_INSTANT,
    TO_INSTANTS,
    TO_PASSING,
    TO_PROBE,
    TO_SPENT,
    TO_STEP,
)
from retewave.rete.words.progress import (
    P_ASKED,
    P_ASKED_ROW,
    P_DECIDING,
    P_MARKED,
    P_MARKS,
    P_STEPPING,
    P_TOP,
    P_VERDICT,
)
from retewave.windows.intervals import BEFORE_ALL

__all__ = ["looked_at", "passes"]


@kernel
def _judged(arena, net, edge, item, view, progress):  # type: ignore[no-untyped-def]
    """Decide an edge's filter on a tuple: DONE, REFUSED, or NEEDS_VERDICT."""
    code, code_end = net[edge + EDGE_CODE], net[edge + EDGE_CODE_END]
    verdict = decide(view.filters, code, code_end, item, T_COLUMNS, view.values)
    if net[code_end - INSTRUCTION_WIDTH] == ASKING:
        said, progress[P_VERDICT] = progress[P_VERDICT], UNDECIDED
        verdict = said if verdict == UNDECIDED else verdict  # the memo may have Python's answer, too
        if verdict == UNDECIDED:
            progress[P_ASKED], progress[P_ASKED_ROW] = edge, 0
            return NEEDS_VERDICT
    if verdict in (TRUE, UNDECIDED):
        return DONE
    if arena[A_COUNTING] != 0:
        arena[arena[A_EDGE_COUNTERS] + edge_number(net, edge)] += 1
    return REFUSED


@inlined
def passes(arena, net, edge, item, view, progress):  # type: ignore[no-untyped-def]
    """Tell whether a tuple passes an edge's filter: DONE, REFUSED, or NEEDS_VERDICT.

    A tuple without a verdict passes, to be decided at the end; or Python is asked, if the last instruction says so.
    """
    if net[edge + EDGE_CODE] == net[edge + EDGE_CODE_END]:
        return DONE
    return _judged(arena, net, edge, item, view, progress)


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
def _keep(arena, net, edge, item, work, values, progress):  # type: ignore[no-untyped-def]
    """Store a tuple in a memory that is only looked at, or whose rows have readings.

    Return its group if it may complete something there, else 0.
    """
    slot = net[edge + EDGE_TARGET]
    node = net[slot + SLOT_NODE]
    row = new_row(arena, net, slot, item)
    group = find_group(arena, net, node, edge, item)
    mask = fill_row(arena, net, slot, edge, group, row, item)
    if progress[P_MARKED] != 0:
        mark_row(net, arena, slot, row, bytes_at(progress[P_MARKS]), progress[P_MARKED])
    if net[edge + EDGE_KIND] != TO_COMPARED:
        return 0
    work[ROW] = row
    group = _goes_with(arena, net, slot, node, group, row, values)
    return group if mask == net[node + NODE_FULL] else 0


@inlined
def _keep_best(arena, net, edge, item, progress):  # type: ignore[no-untyped-def]
    """Store a tuple in a memory that is only looked at in this instant, if it is the best of its key."""
    row = keep_best(arena, net, edge, item)
    if row != 0 and progress[P_MARKED] != 0:
        mark_row(net, arena, net[edge + EDGE_TARGET], row, bytes_at(progress[P_MARKS]), progress[P_MARKED])


@inlined
def _step_on(net, arena, sizes, first, item, view, stack, progress):  # type: ignore[no-untyped-def]
    """Send the current tuple to a step, and to those behind it as long as nothing comes of them for others."""
    edge, node, keys, group, clock, times, before = first, 0, 0, 0, 0, 0, BEFORE_ALL
    while True:
        step = net[edge + EDGE_TARGET]
        state = net[step + STEP_STATE]
        if state == 0:
            top = begin_run(arena, net, step, item, view.values, stack, progress, sizes.stack)
        else:
            of = net[net[state + STATE_SLOT] + SLOT_NODE]
            if of != node or net[step + STEP_KEYS] != keys or arena[net[node + NODE_LAST_GROUP]] != group:
                node, keys = of, net[step + STEP_KEYS]
                group = last_group(arena, net, node, keys, item)
            if net[step + STEP_INSTANTS] != clock or net[step + STEP_INSTANT_KEYS] != times:
                clock, times = net[step + STEP_INSTANTS], net[step + STEP_INSTANT_KEYS]
                before = instant_before(arena, net, step, item) if clock != 0 else BEFORE_ALL
            top = progress[P_TOP]
            if group != 0 and may_go_on(arena, net, state, group, before, progress):
                top = continue_runs(
                    arena, net, step, group, before, item, view, stack, progress, sizes.stack, sizes.arena
                )
        if top < 0:
            return NEEDS_STACK if top == NO_ROOM else (NEEDS_ARENA if top == NO_ARENA else NEEDS_VERDICT)
        following = edge + EDGE_WIDTH
        if top != progress[P_TOP] or item[T_EDGE_COUNT] == 1 or net[following + EDGE_KIND] != TO_STEP:
            progress[P_TOP] = top
            return DONE
        if net[following + EDGE_CODE] != net[following + EDGE_CODE_END] or not roomy(arena, sizes.arena):
            return DONE
        edge = following
        item[T_EDGES], item[T_EDGE_COUNT] = edge, item[T_EDGE_COUNT] - 1


@kernel
def _run_on(net, arena, sizes, edge, item, view, stack, progress):  # type: ignore[no-untyped-def]
    """Send the current tuple to a memory of instants, to a state, or to a step."""
    kind = net[edge + EDGE_KIND]
    if kind == TO_STEP:
        return _step_on(net, arena, sizes, edge, item, view, stack, progress)
    if kind == TO_INSTANTS:
        note_instant(arena, net, edge, item, progress)
        return DONE
    if progress[P_TOP] + net[N_STRIDE] > sizes.stack:
        return NEEDS_STACK
    if not may_enter(arena, net, net[edge + EDGE_TARGET], sizes.arena):
        return NEEDS_ARENA
    progress[P_TOP] = enter_state(arena, net, edge, item, view.values, stack, progress)
    return DONE


@kernel
def _enters(net, arena, edge, item, values, work, progress):  # type: ignore[no-untyped-def]
    """Store a tuple in any slot but a plain one, or let it pass; return its group if it completes something, or 0."""
    kind = net[edge + EDGE_KIND]
    if kind == TO_PASSING:
        return _pass_by(arena, net, edge, item, work, values)
    if kind == TO_SPENT:
        spend(arena, net, edge, item)
    elif kind == TO_INSTANT:
        _keep_best(arena, net, edge, item, progress)
    else:
        return _keep(arena, net, edge, item, work, values, progress)
    return 0


@inlined
def looked_at(net, arena, sizes, edge, item, view, work, stack, progress):  # type: ignore[no-untyped-def]
    """Send the current tuple to a probe, or to any slot but a plain one.

    `work` then has the group of the slot if the tuple may complete something there, else 0.
    """
    work[GROUP] = 0
    if progress[P_DECIDING] == 0 and progress[P_STEPPING] == 0:
        said = passes(arena, net, edge, item, view, progress)
        if said != DONE:
            return DONE if said == REFUSED else said
    if not roomy(arena, sizes.arena) and not make_room(arena, sizes.arena):
        return NEEDS_ARENA
    kind = net[edge + EDGE_KIND]
    if kind == TO_PROBE:
        return probed(net, arena, sizes, edge, item, view, stack, progress)
    if kind == TO_GATHERED:
        return gather(arena, net, sizes.arena, sizes.stack, edge, item, view.values, work, stack, progress)
    if kind >= TO_INSTANTS:
        return _run_on(net, arena, sizes, edge, item, view, stack, progress)
    work[GROUP] = _enters(net, arena, edge, item, view.values, work, progress)
    return DONE
