"""Readers into one stream: their rows are merged by time.

Data's way: readers -> **merged rows** -> order -> network.
Each reader has its lane (`retewave.engine.lanes`); `held` returns rows that were scanned and are not poured yet.

Invariants: a reader's own rows keep their order.  Readers are merged by the greatest end that each has shown so far; an
end of a wrong clock does not count.  Readers whose times are their arrival are not merged: rows go in the order in
which they come, and none is late because two readers scan at once.
However the pump ends, its threads end with it, and rows that were scanned ahead are handed over.
A tick tells the time while no reader scans and all scanned rows have been taken, so it makes no row late.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from retewave.engine.lanes import Lane
from retewave.engine.matcher import Matcher
from retewave.engine.registry import Registry
from retewave.engine.stats import Seconds
from retewave.log import log
from retewave.rete.words.rows import END, EVENT_BLOCK, ROW_WIDTH, START
from retewave.windows.doubt import FAR, Doubt
from retewave.windows.intervals import AFTER_ALL, BEFORE_ALL
from retewave.windows.times import Clock

if TYPE_CHECKING:
    from retewave.io.reading.reader import Reader

__all__ = ["Arrived", "pump"]

SWITCH = 1e-4  # seconds
_NO_ROWS = np.empty((0, ROW_WIDTH), dtype=np.int64)
PATIENCE = 0.2  # seconds that a thread is given to come back from its source, which may be a silent pipe


@dataclass(frozen=True)
class Arrived:
    """Rows of all readers up to some time."""

    rows: np.ndarray  # input rows
    triples: int  # triples read for them, refused ones included
    clock: Clock  # how their times are told
    tells: bool = False  # some rows have no triple: they tell the times of refused ones
    heard: int | None = None  # behind the rows, the latest time of what came and was refused; None: a row tells it
    until: int | None = None  # nothing that ends before this time comes any more; None: the rows' times say it


Keep = Callable[[Arrived], object]


@dataclass
class Ticking:
    """The clock on the wall, which goes on while no row comes."""

    every: float  # seconds
    quiet: AbstractContextManager[object]  # held while the time is told: no reader scans, so none tells an earlier time
    last: float = field(default_factory=time.monotonic)  # the latest tick

    def left(self) -> float:
        """Return how many seconds are left until the next tick; 0 when it is due."""
        return max(0.0, self.last + self.every - time.monotonic())

    def now(self) -> int:
        """Tick: return the time."""
        self.last = time.monotonic()
        return time.time_ns() // 1000


class _Pump:
    """All lanes, and the merge of their rows."""

    def __init__(
        self,
        lanes: list[Lane],
        changed: threading.Condition,
        doubt: Doubt,
        lock: threading.RLock | None = None,
        keep: Keep | None = None,
        ticking: Ticking | None = None,
    ) -> None:
        self.lanes, self.changed, self.doubt, self.ticking = lanes, changed, doubt, ticking
        self.lock = lock or threading.RLock()  # the engine's: held while rows go from a lane to the engine
        self.keep = keep
        timed = [lane.reader.rate is not None or lane.reader.time_property is not None for lane in lanes]
        self.merging = len(lanes) > 1 and all(timed)
        self.arriving = (len(lanes) > 1 or ticking is not None) and not any(timed)
        self.newest = BEFORE_ALL  # the latest arrival or tick so far
        self.handed = _NO_ROWS  # the rows handed on last: the network may not have them yet

    def arrivals(self) -> Iterator[Arrived]:
        """Yield rows until all readers have ended; if a reader fails, yield the rows of all, and raise its error."""
        while True:
            self._wait()
            if error := next((lane.error for lane in self.lanes if lane.error is not None), None):
                yield from self.rest()
                raise error
            yield from self._taken([lane for lane in self.lanes if lane.chunks])
            if self.ticking is not None and self.ticking.left() == 0:
                yield from self._taken(self._all_chunks(), tick=True)
            if all(lane.ended and not lane.chunks and not len(lane.rows) for lane in self.lanes):
                return

    def rest(self) -> Iterator[Arrived]:
        """Stop the readers, and yield all rows that they have scanned."""
        self.stop()
        yield from self._taken(self._all_chunks(), AFTER_ALL)

    def _all_chunks(self) -> Iterator[Lane]:
        """Yield each lane as often as it has chunks."""
        return (lane for lane in self.lanes for _ in range(len(lane.chunks)))

    def _taken(self, lanes: Iterable[Lane], bound: int | None = None, *, tick: bool = False) -> Iterator[Arrived]:
        """Take a chunk from each lane, and yield the rows that can go on, if there are any, and the time of a tick."""
        with self.lock, self.ticking.quiet if tick and self.ticking else nullcontext():
            with self.changed:
                triples = sum(lane.take() for lane in lanes)
                self.changed.notify_all()
            rows = self._merged(bound) if self.merging else self._all()
            heard = None if self.merging else self._heard()
            until = self._ticked(self.ticking) if tick and self.ticking else None
            if not len(rows) and not triples and until is None:
                return
            tells = any(lane.tells for lane in self.lanes)
            arrived = Arrived(rows, triples, self.lanes[0].clock, tells, heard, until)
            if self.keep is not None:
                self.keep(arrived)
        yield arrived
        self.handed = _NO_ROWS

    def _ticked(self, ticking: Ticking) -> int:
        """Return the time of a tick; rows that come later arrive no earlier."""
        self.newest = max(self.newest, ticking.now())
        return self.newest

    def _wait(self) -> None:
        """Wait until there is something to do, or a tick is due."""
        with self.changed:
            self.changed.wait_for(self._can_go_on, None if self.ticking is None else self.ticking.left())
        for lane in self.lanes:
            if lane.waits_for_reading:
                lane.read()

    def _can_go_on(self) -> bool:
        if any(lane.error is not None for lane in self.lanes):
            return True
        if self.merging:
            return all(lane.chunks or lane.ended or len(lane.rows) > lane.doubted for lane in self.lanes)
        return any(lane.chunks or lane.waits_for_reading for lane in self.lanes) or all(
            lane.ended for lane in self.lanes
        )

    def _all(self) -> np.ndarray:
        rows = [lane.rows for lane in self.lanes if len(lane.rows)]
        self.handed = rows[0] if len(rows) == 1 else np.concatenate([_NO_ROWS, *rows])
        for lane in self.lanes:
            lane.rows = lane.rows[:0]
        return self._as_they_arrive(self.handed) if self.arriving else self.handed

    def _heard(self) -> int | None:
        """Return the latest time of what was refused behind all rows; rows that come later arrive no earlier."""
        times = [lane.told for lane in self.lanes if lane.told is not None]
        for lane in self.lanes:
            lane.told = None
        if self.arriving:
            self.newest = max([self.newest, *times])
        return max(times, default=None)

    def _as_they_arrive(self, rows: np.ndarray) -> np.ndarray:
        """Return rows in the order of arrival; a row that another row or a tick has overtaken gets the later time."""
        rows = rows[np.argsort(rows[:, END], kind="stable")]
        rows[:, START] = rows[:, END] = np.maximum(rows[:, END], self.newest)
        self.newest = int(rows[-1, END]) if len(rows) else self.newest
        return rows

    def _merged(self, bound: int | None = None) -> np.ndarray:
        """Take the rows up to a bound, by their keys; without a bound, those that no reader can go before any more."""
        for lane in self.lanes:
            lane.tell_by_rows()
        keys = [lane.keys(self.doubt, last=bound is not None) for lane in self.lanes]
        if bound is None:
            bound = self._bound(keys)
        counts = [int(np.searchsorted(of, bound, side="right")) for of in keys]
        taken = np.concatenate([lane.rows[:count] for lane, count in zip(self.lanes, counts, strict=True)])
        order = np.concatenate([of[:count] for of, count in zip(keys, counts, strict=True)])
        self.handed = taken[np.argsort(order, kind="stable")]
        for lane, of, count in zip(self.lanes, keys, counts, strict=True):
            lane.newest = max(lane.newest, int(of[count - 1])) if count else lane.newest
            lane.rows = lane.rows[count:]
        return self.handed

    def _bound(self, keys: list[np.ndarray]) -> int:
        """Return the time that every reader has reached."""
        open_ends = [
            int(of[-1]) if len(of) else lane.newest
            for lane, of in zip(self.lanes, keys, strict=True)
            if not lane.ended or lane.chunks  # a lane that has ended may have a last chunk that is not taken yet
        ]
        return min(open_ends, default=AFTER_ALL)

    def held(self) -> list[np.ndarray]:
        """Return the rows that were scanned and not poured yet, and the ids that the readers' positions hold."""
        scanned = [rows for lane in self.lanes for rows in (*(chunk.rows for chunk in tuple(lane.chunks)), *lane.ids())]
        return [*scanned, *(lane.rows for lane in self.lanes), self.handed]

    def stop(self) -> None:
        """Let the threads end after the current chunk; a thread at a silent source ends when that brings more."""
        with self.changed:
            for lane in self.lanes:
                lane.stopped = True
            self.changed.notify_all()
            if any(lane.thread is threading.current_thread() for lane in self.lanes):  # an abandoned pump
                return  # that is collected there
            while any(lane.ahead and not lane.given_up for lane in self.lanes):
                self.changed.wait_for(lambda: not any(lane.ahead for lane in self.lanes), PATIENCE)
                for lane in self.lanes:
                    lane.given_up = lane.away and lane.ahead
        for lane in self.lanes:
            lane.end()


class _QuickSwitches:
    """Let threads hand the GIL over soon: a scanning thread needs it for microseconds, and would wait milliseconds.

    Runs of several threads may overlap: the first one changes the setting of the process, the last one restores it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs = 0  # under way
        self._before = 0.0  # seconds

    def __enter__(self) -> None:
        with self._lock:
            if self._runs == 0:
                self._before = sys.getswitchinterval()
                sys.setswitchinterval(min(self._before, SWITCH))
            self._runs += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._runs -= 1
            if self._runs == 0:
                sys.setswitchinterval(self._before)


_quick_switches = _QuickSwitches()


def pump(
    matcher: Matcher,
    registry: Registry,
    readers: Sequence[Reader],
    seconds: Seconds,
    keep: Keep | None = None,
    doubt: Doubt | None = None,
    tick: float | None = None,
) -> Generator[Arrived, None, None]:
    """Yield the rows of all readers; `keep` gets them first, and all scanned rows, if this is left early.

    `tick`: yield the time, too, whenever that many seconds have passed; then each reader has a thread.

    A time in doubt holds up the reader that tells it, but does not put it behind the others.
    """
    gate, changed = threading.Lock(), threading.Condition()
    lanes: list[Lane] = []
    with matcher.lock:
        for reader in readers:
            stream, alone = registry.stream_number(reader.stream), len(readers) == 1 and tick is None
            lanes.append(Lane(reader, stream, EVENT_BLOCK * matcher.event_blocks, changed, gate, alone))
            matcher.event_blocks += 1
        matcher.positions = lambda: tuple(lane.position(matcher) for lane in lanes)
        matcher.current()  # make the network here: threads only ask it which triples they may drop
    ticking = None if tick is None else Ticking(tick, gate)
    of_all = _Pump(lanes, changed, doubt or Doubt(FAR), matcher.lock, keep, ticking)
    names = ", ".join(reader.name for reader in readers)
    log.info("reading %s", names)
    with matcher.sweeps.reading(gate, of_all.held), _quick_switches:
        try:
            for lane in lanes:
                lane.open(matcher, seconds)
            yield from of_all.arrivals()
        finally:
            deque(of_all.rest(), maxlen=0)
            log.info("no more is read of %s, at %d triples", names, sum(lane.scanned.triples for lane in lanes))
