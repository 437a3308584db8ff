"""Give rows their time: by a nominal rate, by their arrival, or by a statement about their graph or subject.

Data's way: raw rows (START is an ordinal, END a graph's id) -> **rows with times** -> network.
Invariant: all rows of one event have the same time; no row is handed on with an ordinal for a time.
Left out: order and lateness, which are the network's concern.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np

from retewave.errors import UsageError
from retewave.io.reading.position import NAMED, TimesState
from retewave.io.times.events import (
    CELLS,
    GAP,
    HELD,
    NAME,
    NAMES,
    NEWEST,
    OUT,
    TELLING,
    TELLS,
    UNTIMED,
    finish_events,
    place_events,
)
from retewave.io.times.rates import check_rate
from retewave.rete.terms.dictionary import Terms
from retewave.rete.words.pages import Pool
from retewave.rete.words.rows import END, PREDICATE, ROW_WIDTH, START, SUBJECT
from retewave.windows.intervals import BEFORE_ALL

__all__ = ["ArrivalTimes", "EventTimes", "NoTimes", "RateTimes", "Times"]

MAX_EVENT = 1 << 20  # rows that wait for their event's time, at most
_SECOND = 1_000_000
_FEW = 1 << 12  # rows; for fewer, an array is made anew


class Times(Protocol):
    """How rows get their time."""

    untimed: int  # triples that have no time
    first_untimed: list[str]  # the names of their graphs, or their subjects

    @property
    def tells(self) -> bool:
        """Whether some rows have been without a triple, and told the time of refused ones."""

    def held(self) -> np.ndarray:
        """Return the ids in rows that wait for their time."""

    def place(self, raw: np.ndarray, first: int) -> np.ndarray:
        """Return the rows whose time is known; `first` is the ordinal of the chunk's first statement."""

    def newest(self, rows: np.ndarray, settled: int) -> int | None:
        """Return the latest time that no later row is before; None if a row of the chunk tells it.

        `settled` is the ordinal that the statements of no later row are before.
        """

    def finish(self) -> None:
        """Give up the rows that still wait, at the source's end."""

    def state(self) -> TimesState:
        """Return the state that another pass over the source needs to go on behind the rows placed so far."""

    def go_on(self, state: TimesState, first_untimed: Sequence[str]) -> None:
        """Take over the state of another pass."""


def _none() -> np.ndarray:
    return np.zeros((0, ROW_WIDTH), np.int64)


class _AtOnce:
    """The common part of times that let no row wait."""

    untimed = 0
    tells = False

    def __init__(self) -> None:
        self.first_untimed: list[str] = []

    def held(self) -> np.ndarray:
        """Return nothing: no row waits."""
        return np.zeros(0, np.int64)

    def finish(self) -> None:
        """Do nothing: no row waits."""

    def state(self) -> TimesState:
        """Return nothing: a row's time depends on its place alone."""
        return {}

    def go_on(self, state: TimesState, first_untimed: Sequence[str]) -> None:
        """Do nothing."""


class NoTimes(_AtOnce):
    """Static data: every time is 0."""

    def place(self, raw: np.ndarray, first: int) -> np.ndarray:
        """Clear the ordinals."""
        raw[:, START] = raw[:, END] = 0
        return raw

    def newest(self, rows: np.ndarray, settled: int) -> int | None:
        """Return nothing: there is no time."""
        return None


class RateTimes(_AtOnce):
    """The i-th statement, refused ones included, is at start + floor(i / rate seconds)."""

    def __init__(self, rate: float, start: int) -> None:
        super().__init__()
        check_rate(rate)
        step = _SECOND / Fraction(rate).limit_denominator(1_000_000)  # in lowest terms
        self._micros, self._triples = step.numerator, step.denominator
        self._start = start

    def place(self, raw: np.ndarray, first: int) -> np.ndarray:
        """Make times of the ordinals."""
        raw[:, START] = raw[:, END] = self._at(raw[:, START].copy())
        return raw

    def newest(self, rows: np.ndarray, settled: int) -> int | None:
        """Return the time of a statement."""
        return _unless_told(int(self._at(np.array([settled]))[0]), rows)

    def _at(self, times: np.ndarray) -> np.ndarray:
        """Make times of ordinals, in their place."""
        if self._triples == 1:
            times *= self._micros
        else:
            whole, part = np.divmod(times, self._triples)  # apart, so that the product stays small
            times = whole * self._micros + part * self._micros // self._triples
        times += self._start
        return times


class ArrivalTimes(_AtOnce):
    """A row's time is when its chunk arrived; an event's, when its first row did."""

    def __init__(self, clock: Callable[[], int]) -> None:
        super().__init__()
        self._clock = clock  # nanoseconds
        self._now = 0  # of the last chunk; never decreases
        self._first = 0  # the ordinal of its first statement
        self._open = 0  # the time of the event that may go on in the next chunk

    def place(self, raw: np.ndarray, first: int) -> np.ndarray:
        """Read the clock and give its time to all rows, except rows of an event that began earlier."""
        self._now, self._first = max(self._now, self._clock() // 1000), first
        earlier = raw[:, START] < first
        goes_on = bool(len(raw)) and bool(earlier[-1])
        raw[:, START] = np.where(earlier, self._open, self._now)
        raw[:, END] = raw[:, START]
        if len(raw) and not goes_on:
            self._open = self._now
        return raw

    def newest(self, rows: np.ndarray, settled: int) -> int | None:
        """Return the time of the chunk, or of the event that goes on from an earlier one."""
        if settled >= self._first:
            self._open = self._now
        return _unless_told(self._open, rows)

    def state(self) -> TimesState:
        """Return the last time, and that of the event that may go on."""
        return {"clock": np.array([self._now, self._open])}

    def go_on(self, state: TimesState, first_untimed: Sequence[str]) -> None:
        """Go on at or after the last time."""
        self._now, self._open = _of(state, "clock").tolist()


class EventTimes:
    """An event's time is that of a statement about its graph: `<graph> <property> "…"^^xsd:dateTime`, or a number.

    Where the statements of a subject are an event, the subject stands for the graph; where an event is a number of
    statements, whatever they say, any of them may tell the time.

    The statement stands in the graph itself, or in the default graph next to it: behind the graph's
    statements and before the next named graph's, or before them and behind the last named graph's.
    The first such statement counts.  Other statements of the default graph that stand there and have the
    graph's name as subject get its time, too, as triples on their own; all others have no time.
    Rows without a time are not handed on, but counted, and the first names are kept; so are waiting rows if more than
    max_event rows wait at the end of a chunk.  `telling`: where a later time than a row's was told before it, and by no
    row, a row without a triple tells it: so what is late does not go by what is refused.
    """

    def __init__(self, terms: Terms, predicate: int, max_event: int = MAX_EVENT, *, telling: bool = False) -> None:
        self.untimed = 0  # triples without a time
        self.first_untimed: list[str] = []  # the names of their graphs, or their subjects
        self._terms, self._predicate, self._max_event = terms, predicate, max_event
        self._state = np.zeros(CELLS, np.int64)
        self._state[NEWEST], self._state[TELLING] = BEFORE_ALL, telling
        self._held, self._gap = _none(), _none()
        self._names = np.zeros(NAMES, np.int64)
        self._outs = Pool((0, ROW_WIDTH))

    def place(self, raw: np.ndarray, first: int) -> np.ndarray:
        """Return the rows of events whose time is known by now."""
        state, values = self._state, self._terms.values
        self._held = _with_room(self._held, int(state[HELD] + state[GAP]) + len(raw))
        self._gap = _with_room(self._gap, int(state[GAP]) + len(raw))
        out = self._room(len(raw) + int(state[HELD] + state[GAP]))
        state[OUT] = 0
        place_events(raw, state, self._held, self._gap, out, self._names, values.kind, values.number, self._predicate)
        self._account()
        if state[HELD] + state[GAP] > self._max_event:
            self.finish()
        return out[: state[OUT]]

    @property
    def tells(self) -> bool:
        """Whether some rows have been without a triple."""
        return bool(self._state[TELLING] > 1)

    def newest(self, rows: np.ndarray, settled: int) -> int | None:
        """Return the latest time that was told."""
        if not self._state[TELLS]:
            return None
        self._state[TELLS] = 0
        return int(self._state[NEWEST])

    def _room(self, count: int) -> np.ndarray:
        """Return an array for `count` rows; a large array is used again once nobody has it any more."""
        if count < _FEW:
            return np.empty((count, ROW_WIDTH), np.int64)
        if self._outs.shape[0] < count:
            self._outs = Pool((count + count // 4, ROW_WIDTH))
        return self._outs.take()

    def finish(self) -> None:
        """Give up the rows that still wait, at the source's end."""
        finish_events(self._state, self._held, self._gap, self._names)
        self._account()

    def held(self) -> np.ndarray:
        """Return the ids in the rows that wait, for the dictionary to spare."""
        waiting = [self._held[: self._state[HELD]], self._gap[: self._state[GAP]]]
        ids = [rows[:, SUBJECT : PREDICATE + 2].ravel() for rows in waiting]
        held: np.ndarray = np.maximum(
            np.concatenate([*ids, self._state[NAME : NAME + 1]]), 0
        )  # an object may be a time
        return held

    def state(self) -> TimesState:
        """Return the rows that wait for their event's time, and the state of the event."""
        held, gap, cells = self._held[: self._state[HELD]], self._gap[: self._state[GAP]], self._state.copy()
        return {"held": held.copy(), "gap": gap.copy(), "cells": cells, NAMED: cells[NAME : NAME + 1]}

    def go_on(self, state: TimesState, first_untimed: Sequence[str]) -> None:
        """Let the same rows wait."""
        self._held, self._gap, self._state = (_of(state, name).copy() for name in ("held", "gap", "cells"))
        self.untimed = int(self._state[UNTIMED])
        self.first_untimed = list(first_untimed[: self.untimed])

    def _account(self) -> None:
        """Take over the kernel's count of rows without a time, and decode the first names."""
        known = min(int(self._state[UNTIMED]), len(self._names))
        for term in self._names[len(self.first_untimed) : known].tolist():
            self.first_untimed.append(self._terms.text(term).decode())
        self.untimed = int(self._state[UNTIMED])


def _unless_told(time: int, rows: np.ndarray) -> int | None:
    """Return a time, unless the last row has it."""
    return None if len(rows) and rows[-1, END] >= time else time


def _of(state: TimesState, name: str) -> np.ndarray:
    if name not in state:
        raise UsageError("the position is of a reader whose times were told in another way")
    return state[name]


def _with_room(rows: np.ndarray, count: int) -> np.ndarray:
    if len(rows) >= count:
        return rows
    wider = np.zeros((max(count, 2 * len(rows)), ROW_WIDTH), np.int64)
    wider[: len(rows)] = rows
    return wider
