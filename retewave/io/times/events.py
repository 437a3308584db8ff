"""Find each event's time among its statements, or next to them.

Data's way: raw rows -> **events with a time** -> network.
Invariant: a row leaves with the time of its event, or is counted as untimed; none leaves twice.
Left out: which statements give a time (retewave/io/times/times.py, EventTimes).
"""

from __future__ import annotations

import numpy as np

from retewave.io.lines.scan import ONLY_FOR_TIME, TOLD
from retewave.rete.terms import kinds as kinds
from retewave.rete.words.jit import kernel
from retewave.rete.words.rows import END, EVENT, OBJECT, PREDICATE, ROW_WIDTH, START, STREAM, SUBJECT

__all__ = ["CELLS", "GAP", "HELD", "NAME", "OUT", "UNTIMED", "finish_events", "place_events"]

# Cells of the state.
EVENT_NOW = 0  # the number of the event that goes on; 0: there is none
NAME = 1  # the id of its graph's name
TIMED = 2  # 1: its time is known
TIME = 3  # that time
HELD = 4  # how many of its rows wait for the time
GAP = 5  # how many rows of the default graph behind it may be the next event's
OUT = 6  # how many rows are ready
UNTIMED = 7  # how many rows never got a time
CELLS = 8


@kernel
def _copy_row(source: np.ndarray, target: np.ndarray) -> None:
    for column in range(ROW_WIDTH):
        target[column] = source[column]


@kernel
def _tells_time(row: np.ndarray, kind: np.ndarray, predicate: int) -> bool:
    if row[PREDICATE] != predicate:
        return False
    return row[OBJECT] < 0 or kinds.DATETIME <= kind[row[OBJECT]] <= kinds.DATE_LOCAL  # type: ignore[no-any-return]


@kernel
def _drop(row: np.ndarray, state: np.ndarray, names: np.ndarray) -> None:
    """Count a row as untimed, unless it is only there to tell a time."""
    if row[STREAM] == ONLY_FOR_TIME:
        return
    if state[UNTIMED] < len(names):
        names[state[UNTIMED]] = row[END] if row[END] else row[SUBJECT]
    state[UNTIMED] += 1


@kernel
def _put(row: np.ndarray, state: np.ndarray, held: np.ndarray, out: np.ndarray) -> None:
    """Hand a row of the event on, or hold it until the time is known."""
    if row[STREAM] == ONLY_FOR_TIME:
        return
    if not state[TIMED]:
        _copy_row(row, held[state[HELD]])
        state[HELD] += 1
        return
    ready = out[state[OUT]]
    _copy_row(row, ready)
    ready[START], ready[END] = state[TIME], state[TIME]
    state[OUT] += 1


@kernel
def _set_time(row: np.ndarray, number: np.ndarray, state: np.ndarray, held: np.ndarray, out: np.ndarray) -> None:
    """Note the event's time, which a row tells, if it is the first, and hand on the rows that have waited for it."""
    if state[TIMED]:
        return
    told = row[OBJECT]
    state[TIMED], state[TIME] = 1, told + TOLD if told < 0 else np.int64(number[told])
    waiting = state[HELD]
    state[HELD] = 0
    for i in range(waiting):
        _put(held[i], state, held, out)


@kernel
def _end_event(state: np.ndarray, held: np.ndarray, names: np.ndarray) -> None:
    """Give up the rows that still wait for the event's time."""
    for i in range(state[HELD]):
        _drop(held[i], state, names)
    state[HELD], state[TIMED] = 0, 0


@kernel
def _begin_event(
    row: np.ndarray,
    state: np.ndarray,
    held: np.ndarray,
    gap: np.ndarray,
    out: np.ndarray,
    names: np.ndarray,
    kind: np.ndarray,
    number: np.ndarray,
    predicate: int,
) -> None:
    """Begin the event that the row is the first of, and settle the default graph's rows before it."""
    _end_event(state, held, names)
    state[EVENT_NOW], state[NAME] = -row[EVENT], row[END]
    for i in range(state[GAP]):
        if gap[i, SUBJECT] == state[NAME] and _tells_time(gap[i], kind, predicate):
            _set_time(gap[i], number, state, held, out)
    for i in range(state[GAP]):
        if gap[i, SUBJECT] == state[NAME]:
            _put(gap[i], state, held, out)
        else:
            _drop(gap[i], state, names)
    state[GAP] = 0


@kernel
def place_events(
    raw: np.ndarray,
    state: np.ndarray,
    held: np.ndarray,
    gap: np.ndarray,
    out: np.ndarray,
    names: np.ndarray,
    kind: np.ndarray,
    number: np.ndarray,
    predicate: int,
) -> None:
    """Sort raw rows into those whose time is known (out), those that wait, and the untimed."""
    for i in range(len(raw)):
        row = raw[i]
        if row[END] != 0 and -row[EVENT] != state[EVENT_NOW]:
            _begin_event(row, state, held, gap, out, names, kind, number, predicate)
        if state[EVENT_NOW] == 0 or (row[END] == 0 and row[SUBJECT] != state[NAME]):
            _copy_row(row, gap[state[GAP]])
            state[GAP] += 1
            continue
        if row[SUBJECT] == state[NAME] and _tells_time(row, kind, predicate):
            _set_time(row, number, state, held, out)
        _put(row, state, held, out)


@kernel
def finish_events(state: np.ndarray, held: np.ndarray, gap: np.ndarray, names: np.ndarray) -> None:
    """Give up everything that waits."""
    _end_event(state, held, names)
    for i in range(state[GAP]):
        _drop(gap[i], state, names)
    state[GAP], state[EVENT_NOW], state[NAME] = 0, 0, 0
