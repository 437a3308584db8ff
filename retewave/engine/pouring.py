"""Items go in, matches come out: rows wait in the order of time, are poured step by step, and matches are told.

Data's way: readers and pushes -> rows -> order (lateness) -> **networks** -> matches -> callbacks and iterators.
Any thread may call anything: state is locked while it is read or changed (`Matcher.lock`), and threads that pour and
call back take turns (`retewave.engine.telling`).  The turn is taken before the lock; user code runs without the lock.
"""

from __future__ import annotations

import time as wall
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import UTC
from typing import TYPE_CHECKING

import numpy as np

from retewave.engine.items import Interval, ids_of, interval_of
from retewave.engine.lanes import telling
from retewave.engine.late import LateItem, Why, described
from retewave.engine.matcher import Matcher
from retewave.engine.stats import Seconds
from retewave.engine.telling import Telling
from retewave.log import Tally
from retewave.match import Matches
from retewave.rete.words.rows import END, GIVEN_EVENTS, PREDICATE, ROW_WIDTH, START
from retewave.windows.intervals import BEFORE_ALL
from retewave.windows.order import Order
from retewave.windows.times import Clock

if TYPE_CHECKING:
    from retewave.engine.compiled import CompiledNetwork
    from retewave.engine.pump import Arrived
    from retewave.io.reading.reader import Reader

__all__ = ["Pouring"]

_ARRIVAL = Clock("datetime", zone=UTC)  # how times are shown when nobody gives any
_NO_ROWS = np.empty((0, ROW_WIDTH), dtype=np.int64)

_LATE, _FUTURE = "%s items came later than lateness allows", "%s items are dated further ahead than max_future allows"


class Pouring:
    """The part of an engine that takes items and tells matches."""

    def __init__(
        self,
        matcher: Matcher,
        lateness: int,  # microseconds
        max_future: int | None,  # likewise; None: no bound
        on_late: Callable[[list[LateItem]], object] | None,
    ) -> None:
        self.matcher, self.terms, self.registry = matcher, matcher.terms, matcher.registry
        self._late_tally, self._future_tally = Tally(_LATE), Tally(_FUTURE)
        self.lock, self.registry.network = matcher.lock, self._network  # the lock is held to read or change
        self.telling = telling = Telling(self.registry, on_late)
        self.turn = telling.turn  # held by the thread that pours and calls back; taken before the lock
        self._hands_over = on_late is not None  # late items
        self._runs = 0  # runs under way: the last one to end lets waiting items go
        self.order = order = Order(lateness, max_future, self._late, self._future, now=now_of_machine)
        matcher.holders.append(order.held)
        self.clock: Clock | None = None  # of the first time that came in: times are shown likewise
        self._hears = False  # some rows have no triple: they tell the times of what readers have refused
        self.triples = 0  # triples that came in, unused ones included
        self.readers: list[Reader] = []  # all that were run; they count the lines that they could not read
        self.seconds = Seconds()  # how long the work took

    def pushed(
        self, texts: list[bytes] | np.ndarray, time: Interval | None, stream: str | None, event: int | None
    ) -> list[list[Matches]]:
        """Pour in an item, given as the texts of its triples; call back and return the matches as batches."""
        turn, seconds = self.turn, self.seconds
        if not turn.acquire(False):
            turn.wait()
        seconds.begin()
        try:
            return self._all_poured(self.accept(texts, time, stream, event))
        finally:
            seconds.end()
            turn.release()

    def accept(
        self, texts: list[bytes] | np.ndarray, time: Interval | None, stream: str | None, event: int | None
    ) -> int:
        """Let an item wait for the next push, run or flush; return how many triples it has."""
        with self.lock:
            ids = ids_of(texts, self.terms)
            rows = np.empty((len(ids), ROW_WIDTH), dtype=np.int64)
            rows[:, :START] = ids
            number = self.matcher.new_events(1) if event is None else -GIVEN_EVENTS - event
            rows[:, START:] = (*self._interval(time), self.registry.stream_number(stream), number)
            self.triples += len(rows)
            self._put(rows)
        return len(rows)

    def _put(self, rows: np.ndarray) -> None:
        """Let rows wait in time order; what ends before the watermark is certain."""
        self._wait(self.order.push(self._worth_hearing(rows)))
        if self.order.lateness and self.order.watermark is not None:
            self.matcher.advance(self.order.watermark)

    def _hear(self, time: int) -> None:
        """Let the clock go on to a time at which something came that no query asks for."""
        before, self._hears = self._hears, True
        self._put(telling(time))
        self._hears = before or self.order.waiting > 0 or self.order.doubted > 0

    def _go_on(self, until: int) -> None:
        """Let the next pour decide what is due before a time, which the clock has reached."""
        self._wait(self.order.advance(until))
        self.matcher.advance(until)

    def _worth_hearing(self, rows: np.ndarray) -> np.ndarray:
        """Return rows without those that only tell a time which others have told."""
        if not self._hears or not len(rows) or rows[:, PREDICATE].all():
            return rows
        newest = BEFORE_ALL if self.order.newest is None else self.order.newest
        before = np.maximum.accumulate(np.concatenate([[newest], rows[:-1, END]]))
        worth: np.ndarray = rows[(rows[:, PREDICATE] != 0) | (rows[:, END] > before)]
        return worth

    def _wait(self, rows: np.ndarray) -> None:
        """Let rows in time order wait for the networks; those without a triple move the clock alone."""
        if self._hears and len(rows) and (told := rows[:, PREDICATE] == 0).any():
            self.matcher.hear(int(rows[told, END].max()))
            rows = rows[~told]
        self.matcher.wait(rows)

    def course(self, steps: Iterator[list[Matches]], *, recorded: bool = False) -> Iterator[list[Matches]]:
        """Yield matches that former calls have left, then those of a run's steps; at the end pour items that wait."""
        with self.lock:
            self._runs += 1
            # Nobody waits for the first item of a recording, so it may wait for the second, whatever its time.
            self.order.doubt.of_first = recorded
        try:
            with self.seconds:
                yield from self._left()
                yield from steps
                if self._runs == 1:
                    self._let_go()
                yield from self.poured()
        finally:
            with self.lock:
                self._runs -= 1
                self.order.doubt.of_first = False

    def _read(
        self, readers: list[Reader], between: Callable[[], object] | None, tick: float | None
    ) -> Iterator[list[Matches]]:
        """Pour what readers bring; yield the matches.  `tick`: the clock goes on that often, in seconds."""
        from retewave.engine.pump import pump

        pumped = pump(self.matcher, self.registry, readers, self.seconds, self.keep, self.order.doubt, tick)
        with closing(pumped) as arrivals:
            for arrived in arrivals:
                yield from self.poured(arrived.triples)
                if between is not None:
                    between()

    def take(self, arrived: Arrived) -> Iterator[list[Matches]]:
        """Pour rows of readers; call back and yield the matches as batches."""
        self.keep(arrived)
        yield from self.poured(arrived.triples)

    def keep(self, arrived: Arrived) -> None:
        """Let rows of readers wait for the next push, run or flush."""
        with self.lock:
            self.triples += arrived.triples
            self._show_by(arrived.clock)
            self._hears = self._hears or arrived.tells
            self._put(arrived.rows)
            if arrived.heard is not None:
                self._hear(arrived.heard)
            if arrived.until is not None:
                self._go_on(arrived.until)

    def put_order(self, state: Mapping[str, np.ndarray]) -> None:
        """Let the rows of a snapshot wait for later items."""
        self.order.put(state)
        self._hears = bool((self.order.held()[:, PREDICATE] == 0).any())

    def _let_go(self) -> None:
        """Let what waits for late items wait for the next pour, which tells all that there is."""
        with self.lock:
            self._wait(self.order.flush())
            self.matcher.flush()

    def _all_poured(self, came: int = 0) -> list[list[Matches]]:
        """Pour all that waits; call back, and return the matches.  After an error, the next call returns the rest."""
        telling, pouring = self.telling, self._pouring(came)
        found: list[list[Matches]] = []
        try:
            while (batches := self._step(pouring)) is not None:
                found.append(batches)
                if telling.untold:
                    telling.tell()
            if telling.untold:
                telling.tell()
        except BaseException:
            for batches in found:
                telling.leave(batches)
            raise
        if telling.left and not telling.at_work:
            found = [*self._left(), *found]
        return found

    def poured(self, came: int = 0) -> Iterator[list[Matches]]:
        """Pour waiting rows step by step; call back, and yield the matches.  Between steps, others may have their turn.

        `came`: the triples that were read to get these rows.
        """
        telling, pouring = self.telling, self._pouring(came)
        while True:
            with self.turn:
                found = self._step(pouring)
                try:
                    telling.tell()
                except BaseException:
                    if found is not None:
                        telling.leave(found)
                    raise
            if found is None:
                return
            if found:
                yield found

    def _pouring(self, came: int) -> Iterator[list[Matches]]:
        return self.matcher.pour(_NO_ROWS, self.shown_clock, came)

    def _step(self, pouring: Iterator[list[Matches]]) -> list[Matches] | None:
        """Pour some rows; return the matches, which are to be told, or nothing at the end."""
        with self.lock:
            started = wall.perf_counter()
            try:
                found = next(pouring, None)
            finally:
                self.seconds.match += wall.perf_counter() - started
        if found is not None:
            self.telling.add(found)
            found = [batch for batch in found if len(batch) or batch.denies]  # a report may have no rows
        return found

    def _left(self) -> Iterator[list[Matches]]:
        """Yield the matches that former calls have found and could not return."""
        while self.telling.left:
            with self.turn, self.lock:  # texts are copied: no sweep may come between
                left = self.telling.take_left()
            if left:
                yield left

    def _interval(self, time: Interval | None) -> tuple[int, int]:
        if time is None:
            self._show_by(_ARRIVAL)
            now = now_of_machine()
            return now, now
        first, last, clock = interval_of(time)
        self._show_by(clock)
        return first, last

    @property
    def shown_clock(self) -> Clock:
        """How times are shown: as the first one was given, or as datetimes."""
        return self.clock or _ARRIVAL

    def _show_by(self, clock: Clock) -> None:
        """Show times as a clock does, if none was shown before."""
        self.clock = self.clock or clock

    def _late(self, rows: np.ndarray, why: Why = "late") -> None:
        rows = rows[rows[:, PREDICATE] != 0]
        if why == "late":
            self._late_tally.log(self.order.late + len(rows))
        if self._hands_over:
            self.telling.add_late(described(rows, why, self.terms, self.shown_clock, self.registry.streams))

    def _future(self, rows: np.ndarray) -> None:
        warnings.warn(
            f"{len(rows)} triples are dated further ahead than max_future allows, and what came next was not: they are "
            "set aside and counted",
            RuntimeWarning,
            stacklevel=2,
        )
        self._future_tally.log(self.order.future + len(rows))
        self._late(rows, "future")

    def _network(self) -> CompiledNetwork:
        """Return the one network of the queries as they are now."""
        with self.lock:
            return self.matcher.current()


def now_of_machine() -> int:
    """Return the time by the machine's clock."""
    return wall.time_ns() // 1000
