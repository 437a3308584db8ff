"""Readers into one stream: each scans in a thread of its own, the rows are merged by time.

Data's way: readers -> **merged rows** -> order -> network.
Reading and matching overlap: scanning and matching both run without the GIL.  A gate keeps the dictionary from being
swept while a scan is under way; a reader stands outside of it only while it reads bytes or waits for room.  What has
been scanned and not been taken yet is named by `held`.

Invariants: a reader's own rows keep their order; readers are merged by the greatest end that each has shown so far.
Readers whose times are their arrival are not merged: what comes first goes first, and none is late for having been
scanned beside another.  However it ends, the threads end with
it, and what was scanned ahead is handed over: no row is lost between a reader and the engine.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from retewave.live import Live
from retewave.registry import Registry
from retewave.rete.rows import END, ROW_WIDTH, START
from retewave.stats import Seconds
from retewave.windows.times import Clock

if TYPE_CHECKING:
    from retewave.io.reader import Chunk, Reader

__all__ = ["Arrived", "pump"]

SWITCH = 1e-4  # seconds
AHEAD = 3  # chunks that a reader may be ahead of the engine
EVENTS = 1 << 40  # event numbers that a reader may take
PATIENCE = 0.2  # seconds that a thread is given to come back from its source, which may be a silent pipe
_ALL = 1 << 62  # later than any time


@dataclass(frozen=True)
class Arrived:
    """Rows of all readers up to some time."""

    rows: np.ndarray  # input rows
    triples: int  # triples read for them, refused ones included
    clock: Clock  # how their times are told


class _Stopped(Exception):
    """The engine wants no more."""


class _Open:
    """A context in which the gate is open, for a lane that waits; one that was given up meanwhile goes no further."""

    def __init__(self, gate: threading.Lock, lane: _Lane) -> None:
        self._gate, self._lane = gate, lane

    def __enter__(self) -> None:
        self._gate.release()
        self._lane.tell(away=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lane.tell(away=False)
        self._gate.acquire()
        if self._lane.given_up:
            raise _Stopped from error


@dataclass
class _Lane:
    """One reader, its thread, and what it has scanned ahead."""

    reader: Reader  # what is read
    stream: int  # the engine's number of its stream
    last_event: int  # event numbers start behind it
    news: threading.Condition  # shared by all lanes: something has changed
    chunks: deque[Chunk] = field(default_factory=deque)  # scanned, not taken
    ended: bool = False  # no more chunks will come
    error: BaseException | None = None  # what ended it, if not the source's end
    stopped: bool = False  # the engine wants no more
    away: bool = False  # it reads from its source, or waits for room: it touches nothing else
    given_up: bool = False  # it was stopped, and did not come back from its source
    rows: np.ndarray = field(default_factory=lambda: np.empty((0, ROW_WIDTH), dtype=np.int64))  # taken, not merged
    newest: int = -(1 << 62)  # the greatest end so far

    @property
    def clock(self) -> Clock:
        """How its times are told."""
        return Clock("float") if self.reader.rate is not None else Clock("datetime", zone=UTC)

    def scan(self, live: Live, gate: threading.Lock, seconds: Seconds) -> None:
        """Read to the end; this is the thread."""
        try:
            with gate:
                chunks = self.reader.chunks(
                    live.terms, live.acceptance, self.stream, last_event=self.last_event, pause=_Open(gate, self)
                )
                for chunk in seconds.timed("read", chunks):
                    self._hand_on(chunk, gate)
        except _Stopped:
            return
        except BaseException as error:  # handed to the engine's thread, which raises it
            self.error = error
        finally:
            with self.news:
                self.ended = True
                self.news.notify_all()

    def _hand_on(self, chunk: Chunk, gate: threading.Lock) -> None:
        self.chunks.append(chunk)
        with _Open(gate, self), self.news:
            self.news.wait_for(lambda: len(self.chunks) < AHEAD or self.stopped)
        if self.stopped:
            raise _Stopped

    def tell(self, *, away: bool) -> None:
        """Say whether the thread is at its source, or waits."""
        with self.news:
            self.away = away
            self.news.notify_all()

    def take(self) -> int:
        """Take over one scanned chunk; return the triples read for it."""
        chunk = self.chunks.popleft()
        self.rows = np.concatenate([self.rows, chunk.rows]) if len(self.rows) else chunk.rows
        return chunk.triples

    def keys(self) -> np.ndarray:
        """Return what its rows are merged by: the greatest end up to each."""
        return (
            np.maximum(np.maximum.accumulate(self.rows[:, END]), self.newest) if len(self.rows) else self.rows[:, END]
        )


class _Pump:
    """All lanes, and the merge of what they bring."""

    def __init__(self, live: Live, lanes: list[_Lane], gate: threading.Lock, news: threading.Condition) -> None:
        self.live, self.lanes, self.gate, self.news = live, lanes, gate, news
        timed = [lane.reader.rate is not None or lane.reader.time_property is not None for lane in lanes]
        self.merging = len(lanes) > 1 and all(timed)
        self.arriving = len(lanes) > 1 and not any(timed)
        self.newest = -_ALL  # the latest arrival so far
        self.threads: list[threading.Thread] = []

    def arrivals(self) -> Iterator[Arrived]:
        """Yield rows until all readers have ended, or one has failed: then what all have brought, and the error."""
        while True:
            triples = self._wait()
            if error := next((lane.error for lane in self.lanes if lane.error is not None), None):
                yield from self.rest(triples)
                raise error
            rows = self._merged() if self.merging else self._all()
            if len(rows) or triples:
                yield Arrived(rows, triples, self.lanes[0].clock)
            if all(lane.ended and not lane.chunks and not len(lane.rows) for lane in self.lanes):
                return

    def rest(self, triples: int = 0) -> Iterator[Arrived]:
        """Stop the readers, and yield all that they have brought."""
        self.stop()
        triples += sum(lane.take() for lane in self.lanes for _ in range(len(lane.chunks)))
        rows = self._merged(_ALL) if self.merging else self._all()
        if len(rows) or triples:
            yield Arrived(rows, triples, self.lanes[0].clock)

    def _wait(self) -> int:
        """Wait until there is something to do; take over what is there; return the triples read for it."""
        with self.news:
            self.news.wait_for(self._can_go_on)
            triples = sum(lane.take() for lane in self.lanes if lane.chunks)
            self.news.notify_all()
        return triples

    def _can_go_on(self) -> bool:
        if any(lane.error is not None for lane in self.lanes):
            return True
        if self.merging:
            return all(lane.chunks or lane.ended or len(lane.rows) for lane in self.lanes)
        return any(lane.chunks for lane in self.lanes) or all(lane.ended for lane in self.lanes)

    def _all(self) -> np.ndarray:
        rows = [lane.rows for lane in self.lanes if len(lane.rows)]
        for lane in self.lanes:
            lane.rows = lane.rows[:0]
        if len(rows) == 1 and not self.arriving:
            return rows[0]
        found = np.concatenate([np.empty((0, ROW_WIDTH), dtype=np.int64), *rows])
        return self._as_they_arrive(found) if self.arriving else found

    def _as_they_arrive(self, rows: np.ndarray) -> np.ndarray:
        """Return rows of several readers in the order of their arrival; one that was overtaken arrives no earlier."""
        rows = rows[np.argsort(rows[:, END], kind="stable")]
        rows[:, START] = rows[:, END] = np.maximum(rows[:, END], self.newest)
        self.newest = int(rows[-1, END]) if len(rows) else self.newest
        return rows

    def _merged(self, bound: int | None = None) -> np.ndarray:
        """Take the rows that no reader can still go before, or those up to a bound, ordered by the greatest ends."""
        keys = [lane.keys() for lane in self.lanes]
        if bound is None:
            bound = self._bound(keys)
        taken, order = [], []
        for lane, of in zip(self.lanes, keys, strict=True):
            count = int(np.searchsorted(of, bound, side="right"))
            taken.append(lane.rows[:count])
            order.append(of[:count])
            lane.newest = max(lane.newest, int(of[count - 1])) if count else lane.newest
            lane.rows = lane.rows[count:]
        return np.concatenate(taken)[np.argsort(np.concatenate(order), kind="stable")]

    def _bound(self, keys: list[np.ndarray]) -> int:
        """Return the time that every reader has reached."""
        open_ends = [
            int(of[-1]) if len(of) else lane.newest
            for lane, of in zip(self.lanes, keys, strict=True)
            if not lane.ended or lane.chunks  # one that ended may have brought a last chunk that is not taken yet
        ]
        return min(open_ends, default=_ALL)

    def held(self) -> list[np.ndarray]:
        """Return the rows that have been scanned and not been poured."""
        return [rows for lane in self.lanes for rows in (lane.rows, *(chunk.rows for chunk in lane.chunks))]

    def start(self, seconds: Seconds) -> None:
        """Let the threads read."""
        for lane in self.lanes:
            self.threads.append(threading.Thread(target=lane.scan, args=(self.live, self.gate, seconds), daemon=True))
            self.threads[-1].start()

    def stop(self) -> None:
        """Let the threads end, each with the chunk at hand; one that stays at its source ends when that brings more."""
        with self.news:
            for lane in self.lanes:
                lane.stopped = True
            self.news.notify_all()
            if threading.current_thread() in self.threads:  # an abandoned pump that is collected there
                return
            while not all(lane.ended or lane.given_up for lane in self.lanes):
                self.news.wait_for(lambda: all(lane.ended for lane in self.lanes), PATIENCE)
                for lane in self.lanes:
                    lane.given_up = lane.away and not lane.ended
        for lane, thread in zip(self.lanes, self.threads, strict=False):
            if lane.ended:
                thread.join()


@contextmanager
def _quick_switches() -> Iterator[None]:
    """Let threads hand the GIL over soon: a scanning thread needs it for microseconds, and would wait milliseconds."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, SWITCH))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def pump(
    live: Live,
    registry: Registry,
    readers: Sequence[Reader],
    seconds: Seconds,
    left: Callable[[Arrived], object] | None = None,
) -> Generator[Arrived, None, None]:
    """Yield the rows of all readers, scanned ahead in threads; `left` is given what was, when this is left early."""
    gate, news = threading.Lock(), threading.Condition()
    lanes = []
    for reader in readers:
        lanes.append(_Lane(reader, registry.stream_number(reader.stream), live.events, news))
        live.events += EVENTS
    of_all = _Pump(live, lanes, gate, news)
    live.current()  # the network is made here, not in the threads, which ask it what they may drop
    with live.reading(gate, of_all.held), _quick_switches():
        of_all.start(seconds)
        try:
            yield from of_all.arrivals()
        finally:
            for arrived in of_all.rest():
                if left is not None:
                    left(arrived)
