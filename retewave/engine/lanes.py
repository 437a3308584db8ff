"""A reader beside the engine: its thread, and the chunks that it has scanned ahead.

Data's way: reader -> **lane** -> pump -> network.
Reading and matching overlap: scanning and matching both run without the GIL.  A gate keeps the dictionary from being
swept while a scan is under way; a reader stands outside of it only while it reads bytes or waits for room.
A reader that is alone and brings little at a time has no thread, because handing a few rows over takes longer than
scanning them: the thread that takes its rows reads it.  It gets a thread when more comes at once, until little comes.

Invariant: rows that were read are in `chunks` until they are taken, also when an error has ended the lane.
Left out: which lane's rows come first (`retewave.engine.pump`).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass, field
from datetime import UTC
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from retewave.engine.matcher import Matcher
from retewave.engine.stats import Seconds
from retewave.errors import UsageError
from retewave.io.reading.position import BEGINNING, Position, Scanned, TimesState, ids_of
from retewave.numbering import documents
from retewave.rete.words.rows import END, PREDICATE, ROW_WIDTH, START
from retewave.windows.doubt import ACCEPTED, DOUBTED, Doubt
from retewave.windows.intervals import BEFORE_ALL
from retewave.windows.order import LONGEST
from retewave.windows.times import Clock

if TYPE_CHECKING:
    from retewave.io.reading.reader import Chunk, Reader

__all__ = ["Lane", "telling"]

AHEAD = 3  # chunks that a thread may be ahead of the engine
MUCH = 512  # triples a chunk that are worth a thread


class _Stopped(Exception):
    """The engine wants no more."""


class _Open:
    """Release the gate while the reader's thread waits; if the engine gave the lane up meanwhile, raise on return."""

    def __init__(self, lane: Lane) -> None:
        self._gate, self._lane = lane.gate, lane

    def __enter__(self) -> None:
        self._gate.release()
        if self._lane.ahead:
            self._lane.tell(away=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lane.ahead:
            self._lane.tell(away=False)
        self._gate.acquire()
        if self._lane.ahead and self._lane.given_up:
            raise _Stopped from error


def telling(time: int) -> np.ndarray:
    """Return a row without a triple, which tells a time."""
    row = np.zeros((1, ROW_WIDTH), dtype=np.int64)
    row[0, START] = row[0, END] = time
    return row


@dataclass
class Lane:
    """A reader, perhaps its thread, and its chunks."""

    reader: Reader  # the reader that is read
    stream: int  # the engine's number of its stream
    last_event: int  # event numbers start behind it
    changed: threading.Condition  # shared by all lanes: notified when a lane changes
    gate: threading.Lock  # shared by all lanes: held while one scans
    alone: bool = False  # no other lane is there, so it may do without a thread
    incoming: Generator[Chunk, None, None] | None = None  # yields the chunks; None before the start
    thread: threading.Thread | None = None  # the last one that read
    ahead: bool = False  # the thread reads; False: the thread that takes chunks reads them, too
    chunks: deque[Chunk] = field(default_factory=deque)  # scanned, not taken
    ended: bool = False  # no more chunks will come
    error: BaseException | None = None  # the error that ended it, if it was not the source's end
    stopped: bool = False  # the engine wants no more
    away: bool = False  # it reads from its source, or waits for room: it touches nothing else
    given_up: bool = False  # it was stopped, and its thread is still at the source
    rows: np.ndarray = field(default_factory=lambda: np.empty((0, ROW_WIDTH), dtype=np.int64))  # taken, not merged
    tells: bool = False  # some rows were without a triple: they tell the times of what was refused
    told: int | None = None  # behind `rows`, the latest time of what came and was refused; None: a row tells it
    newest: int = BEFORE_ALL  # the greatest end so far
    doubted: int = 0  # number of last rows in `rows` whose end may be a wrong clock's
    scope: int = 0  # number of its document
    scanned: Scanned = BEGINNING  # where the chunks taken end
    times: TimesState = field(default_factory=dict)  # the items that waited for their times there

    @property
    def clock(self) -> Clock:
        """How its times are told."""
        return Clock("float") if self.reader.rate is not None else Clock("datetime", zone=UTC)

    def open(self, matcher: Matcher, seconds: Seconds) -> None:
        """Get ready to read; a lane that is not alone reads ahead at once."""
        self._go_on(matcher)
        chunks = self.reader.chunks(
            matcher.terms,
            matcher.acceptance,
            self.stream,
            last_event=self.last_event,
            scope=self.scope,
            pause=_Open(self),
            telling=True,
        )
        self.incoming = seconds.timed("read", chunks)
        if not self.alone:
            self._go_ahead()

    def _go_on(self, matcher: Matcher) -> None:
        """Take over the reader's position, if it has one."""
        position = self.reader.position
        if position is None:
            self.scope = documents.next()
            return
        if position.terms is not matcher.terms:
            raise UsageError(
                f"{position.name}: the position is of another engine", hint="take `positions` of the engine that runs"
            )
        self.scope, self.scanned, self.times = position.scope, position.scanned, position.times
        self.rows, self.newest = position.rows, position.newest
        self.tells = bool((self.rows[:, PREDICATE] == 0).any())

    def position(self, matcher: Matcher) -> Position:
        """Return the position behind the chunks that were taken."""
        counters, reports = self.reader.counters, self.scanned.malformed
        return Position(
            self.reader.name,
            self.scanned,
            self.scope,
            matcher.terms,
            self.times,
            self.rows.copy(),
            self.newest,
            tuple(counters.first_malformed[:reports]),
            tuple(counters.first_untimed),
        )

    def ids(self) -> list[np.ndarray]:
        """Return the ids that positions hold: behind the chunks that were taken, and behind each other chunk."""
        of_chunks = [ids_of(chunk.scanned, chunk.times) for chunk in tuple(self.chunks)]
        return [ids_of(self.scanned, self.times), *of_chunks]

    @property
    def waits_for_reading(self) -> bool:
        """Tell whether nothing will come until somebody calls `read`."""
        return not (self.ahead or self.ended or self.chunks)

    def read(self) -> None:
        """Read a chunk, in the thread of the caller."""
        assert self.incoming is not None
        chunk = None
        try:
            with self.gate:
                chunk = next(self.incoming, None)
                self.chunks += [] if chunk is None else [chunk]
        except Exception as error:  # raised when the chunks before it have been taken
            self.error = error
        if chunk is None:
            self.ended = True
            return
        if chunk.triples >= MUCH:
            self._go_ahead()

    def _go_ahead(self) -> None:
        if self.thread is not None:
            self.thread.join()  # its work is done
        self.ahead, self.thread = True, threading.Thread(target=self._read_ahead, daemon=True)
        try:
            self.thread.start()
        except BaseException:
            if self.thread.ident is None:  # there can be no more threads
                self.ahead, self.thread = False, None
            raise

    def _read_ahead(self) -> None:
        """Read to the end, or until little comes and nobody else reads; this is the thread."""
        over = True
        try:
            with self.gate:
                over = self._read_much()
        except _Stopped:
            return
        except BaseException as error:  # handed to the engine's thread, which raises it
            self.error = error
        finally:
            if over:
                self._close()
            with self.changed:
                self.ended, self.ahead = over, False
                self.changed.notify_all()

    def _read_much(self) -> bool:
        """Read and hand on chunks; tell whether that was to the end."""
        assert self.incoming is not None
        for chunk in self.incoming:
            self._hand_on(chunk)
            if self.alone and chunk.triples < MUCH:
                return False
        return True

    def _hand_on(self, chunk: Chunk) -> None:
        self.chunks.append(chunk)
        with _Open(self), self.changed:
            self.changed.notify_all()
            self.changed.wait_for(lambda: len(self.chunks) < AHEAD or self.stopped)
        if self.stopped:
            raise _Stopped

    def _close(self) -> None:
        """Let go of the source: nobody reads any more."""
        if self.incoming is not None:
            with self.gate:
                self.incoming.close()

    def end(self) -> None:
        """Close the source of a stopped lane, unless its thread is still there."""
        if self.ahead:
            return
        if self.thread is not None:
            self.thread.join()
        if not self.ended:
            self._close()
            self.ended = True

    def tell(self, *, away: bool) -> None:
        """Note whether the thread is at its source, or waits.

        This wakes no thread: an engine that waits for chunks would wake twice for each block that is read, and take
        the GIL from the reader.  Threads that need to know look again after a while.
        """
        with self.changed:
            self.away = away

    def take(self) -> int:
        """Take over a scanned chunk; return the number of triples read for it."""
        chunk = self.chunks[0]
        self.scanned, self.times = chunk.scanned, chunk.times
        self.tells = self.tells or chunk.tells
        self.tell_by_rows()
        self.rows = np.concatenate([self.rows, chunk.rows]) if len(self.rows) else chunk.rows
        self.told = chunk.newest
        self.chunks.popleft()
        return chunk.triples

    def tell_by_rows(self) -> None:
        """Let a row without a triple tell the time of what was refused: rows may come behind it."""
        if self.told is not None:
            self.rows, self.told, self.tells = np.concatenate([self.rows, telling(self.told)]), None, True

    def keys(self, doubt: Doubt, *, last: bool) -> np.ndarray:
        """Return the keys that its rows are merged by: for each row the greatest end so far.

        An end of a wrong clock does not count.  Rows whose end is in doubt have no key yet, unless they are last.
        """
        ends, newest = self.rows[:, END], None if self.newest == BEFORE_ALL else self.newest
        last = last or (self.ended and not self.chunks)
        verdicts = doubt.verdicts(ends, newest, lateness=LONGEST, last=last) if len(ends) else None
        self.doubted = 0
        if verdicts is not None:
            self.doubted = int(np.count_nonzero(verdicts == DOUBTED))
            ends = np.where(verdicts == ACCEPTED, ends, self.newest)[: len(ends) - self.doubted]
        return np.maximum(np.maximum.accumulate(ends), self.newest) if len(ends) else ends
