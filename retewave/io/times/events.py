"""Find each event's time among its statements, or next to them.

Data's way: raw rows -> **events with a time** -> network.
Invariant: a row leaves with the time of its event, or is counted as untimed; none leaves twice.
Left out: which statements give a time (retewave/io/times/times.py, EventTimes).
"""

from __future__ import annotations

import numpy as np

from retewave.io.lines.job import ONLY_FOR_TIME, TOLD
from retewave.io.times.told import FARTHEST, micros_told
from retewave.rete.words.bare import address_in, tail, words
from retewave.rete.words.bytes import fence, stream_cell
from retewave.rete.words.jit import inlined, kernel
from retewave.rete.words.rows import END, EVENT, OBJECT, PREDICATE, ROW_WIDTH, START, STREAM, SUBJECT

__all__ = [
    "CELLS",
    "GAP",
    "HELD",
    "NAME",
    "NAMES",
    "NEWEST",
    "OUT",
    "TELLING",
    "TELLS",
    "UNTIMED",
    "finish_events",
    "place_events",
]

# Cells of the state.
EVENT_NOW = 0  # the number of the event that goes on; 0: there is none
NAME = 1  # the id of its graph's name, or of its subject; -1: it has none, and any of its statements may tell its time
TIMED = 2  # 1: its time is known
TIME = 3  # that time
HELD = 4  # how many of its rows wait for the time
GAP = 5  # how many rows of the default graph behind it may be the next event's
OUT = 6  # how many rows are ready
UNTIMED = 7  # how many rows never got a time
NEWEST = 8  # the latest time that was told
TELLS = 9  # 1: no row that is ready says so, nor a later time
TELLING = 10  # > 0: then a row without a triple goes before a row of an earlier time; 2: one did
CELLS = 11

NAMES = 20  # of rows without a time that are kept


@inlined
def _copy_row(source, target):  # type: ignore[no-untyped-def]
    for column in range(ROW_WIDTH):
        target[column] = source[column]


@inlined
def _row(rows, place):  # type: ignore[no-untyped-def]
    return tail(rows, place * ROW_WIDTH)


@inlined
def _tells_time(row, kind, number, predicate):  # type: ignore[no-untyped-def]
    if row[PREDICATE] != predicate:
        return False
    told = row[OBJECT]
    return told < 0 or abs(micros_told(kind[told], number[told])) < FARTHEST


@inlined
def _is_about_event(row, state):  # type: ignore[no-untyped-def]
    return row[SUBJECT] == state[NAME] or state[NAME] < 0


@inlined
def _drop(row, state, names):  # type: ignore[no-untyped-def]
    """Count a row as untimed, unless it is only there to tell a time."""
    if row[STREAM] == ONLY_FOR_TIME:
        return
    if state[UNTIMED] < NAMES:
        names[state[UNTIMED]] = row[END] if row[END] > 0 else row[SUBJECT]
    state[UNTIMED] += 1


@inlined
def _tell_newest(state, out):  # type: ignore[no-untyped-def]
    """Hand on a row without a triple, for events of which no row is handed on."""
    ready = _row(out, state[OUT])
    for column in range(ROW_WIDTH):
        ready[column] = 0
    ready[START] = ready[END] = state[NEWEST]
    state[OUT] += 1
    state[TELLING] = 2


@inlined
def _put(row, state, held, out):  # type: ignore[no-untyped-def]
    """Hand a row of the event on, or hold it until the time is known."""
    if row[STREAM] == ONLY_FOR_TIME:
        return
    if not state[TIMED]:
        _copy_row(row, _row(held, state[HELD]))
        state[HELD] += 1
        return
    if state[TELLS]:
        if state[TELLING] and state[TIME] < state[NEWEST]:
            _tell_newest(state, out)
        state[TELLS] = 0
    ready = address_in(out) + 8 * ROW_WIDTH * state[OUT]  # read on another core next: past this one's caches
    for column in range(START):
        stream_cell(ready, column, row[column])
    stream_cell(ready, START, state[TIME])
    stream_cell(ready, END, state[TIME])
    for column in range(END + 1, ROW_WIDTH):
        stream_cell(ready, column, row[column])
    state[OUT] += 1


@inlined
def _time_told(row, kind, number):  # type: ignore[no-untyped-def]
    told = row[OBJECT]
    return told + TOLD if told < 0 else np.int64(micros_told(kind[told], number[told]))


@inlined
def _hear(time, state):  # type: ignore[no-untyped-def]
    if time > state[NEWEST]:
        state[NEWEST], state[TELLS] = time, 1


@kernel
def _set_time(time, state, held, out):  # type: ignore[no-untyped-def]
    """Note the event's time if it is the first that is told, and hand on the rows that have waited for it."""
    if state[TIMED]:
        return
    state[TIMED], state[TIME] = 1, time
    _hear(time, state)
    waiting = state[HELD]
    state[HELD] = 0
    for i in range(waiting):
        _put(_row(held, i), state, held, out)


@kernel
def _end_event(state, held, names):  # type: ignore[no-untyped-def]
    """Give up the rows that still wait for the event's time."""
    for i in range(state[HELD]):
        _drop(_row(held, i), state, names)
    state[HELD], state[TIMED] = 0, 0


@kernel
def _begin_event(row, state, held, gap, out, names, kind, number, predicate):  # type: ignore[no-untyped-def]
    """Begin the event that the row is the first of, and settle the default graph's rows before it."""
    _end_event(state, held, names)
    state[EVENT_NOW], state[NAME] = -row[EVENT], row[END]
    for i in range(state[GAP]):
        before = _row(gap, i)
        if before[SUBJECT] == state[NAME] and _tells_time(before, kind, number, predicate):
            _set_time(_time_told(before, kind, number), state, held, out)
    for i in range(state[GAP]):
        before = _row(gap, i)
        if before[SUBJECT] == state[NAME]:
            _put(before, state, held, out)
        else:
            _drop(before, state, names)
    state[GAP] = 0


@kernel
def place_events(
    raw_array: np.ndarray,
    state_array: np.ndarray,
    held_array: np.ndarray,
    gap_array: np.ndarray,
    out_array: np.ndarray,
    names_array: np.ndarray,
    kind_array: np.ndarray,
    number_array: np.ndarray,
    predicate: int,
) -> None:
    """Sort raw rows into those whose time is known (out), those that wait, and the untimed; there is room for all."""
    state, held, gap, out = words(state_array), words(held_array), words(gap_array), words(out_array)
    raw, names, kind, number = words(raw_array), words(names_array), words(kind_array), words(number_array)
    for i in range(len(raw_array)):
        row = _row(raw, i)
        before = row[START] if row[START] < 0 else 0  # what a row of the default graph, about this graph, has told
        if before < 0 and state[EVENT_NOW] != 0 and row[END] == state[NAME]:
            _set_time(before + TOLD, state, held, out)
            before = 0
        if row[END] != 0 and -row[EVENT] != state[EVENT_NOW]:
            _begin_event(row, state, held, gap, out, names, kind, number, predicate)
        if before < 0:
            _set_time(before + TOLD, state, held, out)
        if state[EVENT_NOW] == 0 or (row[END] == 0 and row[SUBJECT] != state[NAME]):
            if row[STREAM] == ONLY_FOR_TIME and _tells_time(row, kind, number, predicate):
                _hear(_time_told(row, kind, number), state)  # its graph may be refused, or come next
            _copy_row(row, _row(gap, state[GAP]))
            state[GAP] += 1
            continue
        if _is_about_event(row, state) and _tells_time(row, kind, number, predicate):
            _set_time(_time_told(row, kind, number), state, held, out)
        _put(row, state, held, out)
    fence()


@kernel
def finish_events(
    state_array: np.ndarray, held_array: np.ndarray, gap_array: np.ndarray, names_array: np.ndarray
) -> None:
    """Give up everything that waits."""
    state, held, gap, names = words(state_array), words(held_array), words(gap_array), words(names_array)
    _end_event(state, held, names)
    for i in range(state[GAP]):
        _drop(_row(gap, i), state, names)
    state[GAP], state[EVENT_NOW], state[NAME] = 0, 0, 0
