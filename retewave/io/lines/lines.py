"""Read lines of N-Triples or N-Quads: blocks of bytes -> raw rows.

Data's way: source of bytes -> **blocks of whole lines -> raw rows** -> times -> network.
Invariant: where the source's pieces end makes no difference: a block ends behind a line's end, and what is
behind it is carried over to the next one.
Left out: the lines themselves (retewave/io/lines/scan.py) and times (retewave/io/times/times.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from operator import itemgetter

import numpy as np

from retewave.errors import MalformedInput, Place
from retewave.io.lines import job
from retewave.io.lines.reasons import LINE_TOO_LONG, REASONS
from retewave.io.lines.scan import scan
from retewave.io.lines.terms import SCOPE, SCOPE_SIZE
from retewave.io.reading.position import BEGINNING, Scanned
from retewave.io.reading.sources import DAMAGED, Bytes
from retewave.rete.terms.acceptance import Acceptance, sieve_of
from retewave.rete.terms.dictionary import Terms
from retewave.rete.words.bytes import BLOCK, address_of
from retewave.rete.words.pages import Pool
from retewave.rete.words.rows import END, OBJECT, ROW_WIDTH, SUBJECT

__all__ = ["BLOCK_BYTES", "MAX_LINE", "LineReading", "Room", "Wanted"]

BLOCK_BYTES = 1 << 20  # stays in the caches from reading to scanning
MAX_LINE = 1 << 26  # a longer line is malformed: no line can take all memory
_CHUNK_BYTES = 1 << 24  # bytes that are handed on together at most, however few rows they have
_PADDING = 2 * BLOCK + 16  # bytes past a line's end: the scan looks no further
FEW = 1 << 12  # rows; fewer are copied
_EXCERPT = 200  # bytes of a malformed line that its report shows
_STANDING = [  # the cells that another pass goes on with, in the order of `Scanned`
    job.LINE, job.STATEMENTS, job.MALFORMED, job.SKIP_LF, job.GRAPH_NOW, job.EVENTS, job.RUN_START
]  # fmt: skip
_standing = itemgetter(*_STANDING)


@dataclass(frozen=True)
class Wanted:
    """The settings of a reading."""

    source: str  # the name, for reports
    graphs: int  # NO_GRAPHS, IGNORE_GRAPHS or KEEP_GRAPHS of retewave.io.lines.job; the last makes events of graphs
    scope: int  # the number of the document, for its blank nodes
    stream: int  # for the rows' STREAM
    last_event: int  # the last event number that is taken
    time_predicate: int  # TermId; 0: there is none
    raising: bool  # stop at the first malformed line
    reports: int  # how many malformed lines are reported
    chunk_rows: int  # how many rows are handed on at once, at most
    max_line: int = MAX_LINE  # bytes
    places: bool = False  # a raw row's START is the place of its line in the document, not an ordinal
    behind: Scanned = BEGINNING  # where an earlier pass ended; the source stands there
    events_by: int = job.NO_EVENTS  # BY_SUBJECT or BY_COUNT of retewave.io.lines.job, where graphs make no events
    event_size: int = 0  # statements, with BY_COUNT


@dataclass
class Room:
    """The memory of a reading; many short readings, one after the other, may share it."""

    buffer: bytearray = field(default_factory=bytearray)  # the block at hand
    scratch: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint8))  # for characters that were escaped
    rows: Pool = field(default_factory=lambda: Pool((0, ROW_WIDTH)))  # arrays for rows


class LineReading:
    """A pass over a source of lines."""

    def __init__(self, opened: Bytes, terms: Terms, wanted: Wanted, room: Room | None = None) -> None:
        self.faults: list[MalformedInput] = []  # the first malformed lines
        self.bytes = wanted.behind.bytes  # read so far
        self._opened, self._terms, self._wanted = opened, terms, wanted
        self._cells = np.zeros(job.JOB_CELLS, np.int64)
        self._room = Room() if room is None else room
        if self._room.rows.shape[0] != wanted.chunk_rows:
            self._room.rows = Pool((wanted.chunk_rows, ROW_WIDTH))
        self._rows = self._room.rows.take()
        self._notes = np.zeros((max(wanted.reports, 1), job.FAULT_WIDTH), np.int64)
        self._gathered = np.zeros(job.BATCH * job.G_CELLS, np.int64)
        self._known = np.zeros((1 + job.KNOWN_COUNT) * job.K_CELLS, np.int64)
        self._scope = np.frombuffer(b"_:d%d." % wanted.scope, np.uint8)
        self._carried = 0  # bytes at the buffer's start that no line's end followed yet
        self._ending: MalformedInput | None = None  # the error that ended the document before its end
        self._dropping = bool(wanted.behind.dropping)  # inside a line that is too long
        self._sieved: Acceptance | None = None  # the acceptance that the sieve was made of
        self._buffer = bytearray()
        self._prepare()
        self._allocate(BLOCK_BYTES)

    def _prepare(self) -> None:
        cells, wanted = self._cells, self._wanted
        cells[SCOPE], cells[SCOPE_SIZE] = address_of(self._scope), len(self._scope)
        cells[_STANDING] = wanted.behind[1:-1]
        cells[job.RAISING] = wanted.raising
        cells[job.FAULTS], cells[job.FAULT_ROOM] = address_of(self._notes), len(self._notes)
        cells[job.ROWS], cells[job.ROW_ROOM] = address_of(self._rows), len(self._rows)
        cells[job.GATHERED], cells[job.KNOWN] = address_of(self._gathered), address_of(self._known)
        cells[job.STREAM], cells[job.TERMS] = wanted.stream, self._terms.address
        cells[job.GRAPHS], cells[job.EVENTS] = wanted.graphs, wanted.behind.event or wanted.last_event
        cells[job.TIME_PREDICATE], cells[job.PLACES] = wanted.time_predicate, wanted.places
        cells[job.BEHIND] = self.bytes
        cells[job.EVENTS_BY] = job.BY_GRAPH if wanted.graphs == job.KEEP_GRAPHS else wanted.events_by
        cells[job.EVENT_SIZE], cells[job.NEAR] = wanted.event_size, wanted.time_predicate > 0

    def _allocate(self, size: int) -> None:
        """Take a bigger buffer, with the bytes carried over at its start."""
        room = self._room
        if len(room.buffer) < size + _PADDING:
            room.buffer, room.scratch = bytearray(size + _PADDING), np.zeros(size + 256 * job.BATCH, np.uint8)
            room.buffer[: self._carried] = self._buffer[: self._carried]
        self._buffer, self._scratch = room.buffer, room.scratch
        self._size = len(room.buffer) - _PADDING
        self._view, self._array = memoryview(room.buffer), np.frombuffer(room.buffer, np.uint8)
        self._cells[job.BASE] = address_of(self._array)
        self._cells[job.SCRATCH] = address_of(self._scratch)

    @property
    def statements(self) -> int:
        """The number of well-formed statements so far."""
        return int(self._cells[job.STATEMENTS])

    @property
    def settled(self) -> int:
        """The ordinal that the time of no later row is before: the last statement's, or that of its event's first."""
        return int(self._cells[job.RUN_START]) if self._cells[job.GRAPH_NOW] else self.statements - 1

    @property
    def malformed(self) -> int:
        """The number of malformed lines so far."""
        return int(self._cells[job.MALFORMED])

    @property
    def last_event(self) -> int:
        """The number of the last event."""
        return int(self._cells[job.EVENTS])

    def scanned(self) -> Scanned:
        """Tell where the scan stands, between two arrays of rows that it hands on."""
        cells = self._cells[: job.BEHIND + 1].tolist()  # at once: this is asked for each chunk, however small
        read = self.bytes if self._dropping else cells[job.BEHIND] + cells[job.AT] - cells[job.BASE]
        return Scanned._make((min(read, self.bytes), *_standing(cells), int(self._dropping)))

    def held(self) -> np.ndarray:
        """Return the ids that the reading keeps for itself, ids of rows that are not handed on yet included."""
        rows = self._rows[: int(self._cells[job.ROW_COUNT])]
        graphs = rows[:, END]  # until it has its time, a row's END is the id of its graph
        ids = [rows[:, SUBJECT : OBJECT + 1].ravel(), graphs, self._cells[job.GRAPH_NOW : job.GRAPH_NOW + 1]]
        held: np.ndarray = np.maximum(np.concatenate(ids), 0)
        return held

    def chunks(self, acceptance: Callable[[], Acceptance]) -> Iterator[np.ndarray]:
        """Iterate over raw rows: whenever there are chunk_rows, or the source would make us wait."""
        handed_on = self.bytes
        while True:
            try:
                filled = self._fill()
            except Exception:  # the source fails, or is asked to stop: rows read before count
                yield self._handed_on()
                raise
            limit, end = self._whole_lines(filled)
            yield from self._scanned(limit, acceptance)
            if limit:  # a line longer than a block is not moved each time
                self._buffer[: end - limit] = self._buffer[limit:end]
            self._carried = end - limit
            if filled == 0:
                yield self._handed_on()
                return
            if self.bytes - handed_on >= _CHUNK_BYTES or not self._opened.ready():
                handed_on = self.bytes
                yield self._handed_on()

    def check(self) -> None:
        """Raise the error that ended the document before its end, if that was asked for."""
        if self._ending is not None and self._wanted.raising:
            raise self._ending

    def _fill(self) -> int:
        """Read on behind the bytes carried over; an error of the source is noted, and is its end."""
        if self._ending is not None:
            return 0
        try:
            filled = self._opened.fill(self._view[self._carried : self._size])
        except MalformedInput as error:
            return self._end_early(error)
        except DAMAGED as error:
            what = f"the compressed data is damaged ({error}); the rest of it is not read"
            damaged = MalformedInput(what, place=Place(self._wanted.source, int(self._cells[job.LINE]), 1))
            damaged.__cause__ = error
            return self._end_early(damaged)
        self.bytes += filled
        return filled

    def _end_early(self, error: MalformedInput) -> int:
        self._ending = error
        self._carried = 0  # half a line is no line
        self._cells[job.MALFORMED] += 1
        if len(self.faults) < len(self._notes):
            self.faults.append(error)
        return 0

    def _whole_lines(self, filled: int) -> tuple[int, int]:
        """Return (index behind the last whole line, index behind all bytes), after the bytes just read."""
        start, end = self._carried, self._carried + filled
        self._cells[job.BEHIND] = self.bytes - end
        if filled == 0:
            if end and not self._dropping:
                self._buffer[end] = 10  # the last line needs no line's end
                return end + 1, end + 1
            return end, end
        if self._dropping:
            end = self._resume(end)
            self._cells[job.BEHIND] = self.bytes - end
            start = 0
        newline = self._buffer.rfind(b"\n", start, end)
        limit = max(newline, self._buffer.rfind(b"\r", max(newline, start), end)) + 1
        if limit == 0 and end >= self._size:
            end = self._make_room(end)
        return limit, end

    def _make_room(self, end: int) -> int:
        """Grow the buffer for a long line, or give the line up; return the index behind all bytes."""
        self._carried = end
        if self._size < self._wanted.max_line:
            self._allocate(2 * self._size)
            return end
        self._cells[job.MALFORMED] += 1
        self._report(int(self._cells[job.LINE]), LINE_TOO_LONG, 0, 0)
        self._dropping = True
        return 0

    def _resume(self, end: int) -> int:
        """Drop bytes up to the end of the line that is too long; return the index behind the bytes left."""
        ends = [at for at in (self._buffer.find(b"\n", 0, end), self._buffer.find(b"\r", 0, end)) if at >= 0]
        if not ends:
            return 0
        self._dropping = False
        self._buffer[: end - min(ends)] = self._buffer[min(ends) : end]
        return end - min(ends)

    def _scanned(self, limit: int, acceptance: Callable[[], Acceptance]) -> Iterator[np.ndarray]:
        """Scan the whole lines of the buffer; yield raw rows each time that there are enough."""
        cells = self._cells
        cells[job.AT], cells[job.LIMIT] = cells[job.BASE], cells[job.BASE] + limit
        ended = job.FULL
        while ended == job.FULL:
            ended = self._scan(acceptance())
            self._report_noted()
            if ended == job.FULL:
                yield self._handed_on()
        if ended == job.RAISED:
            yield self._handed_on()
            raise self.faults[0]

    def _scan(self, acceptance: Acceptance) -> int:
        """Run the kernel until the block is used up, the rows are full, or a fault is raised."""
        cells = self._cells
        predicates, objects = (np.ascontiguousarray(array, np.uint8) for array in acceptance[1:])
        cells[job.EVERYTHING] = acceptance.everything
        cells[job.PREDICATES], cells[job.PREDICATE_COUNT] = address_of(predicates), len(predicates)
        cells[job.OBJECTS], cells[job.OBJECT_COUNT] = address_of(objects), len(objects)
        with self._terms.lock:
            if acceptance is not self._sieved:
                self._sieved, self._sieve = acceptance, sieve_of(acceptance, self._terms.table.hashes)
                cells[job.SIEVE], cells[job.SIEVE_MASK] = address_of(self._sieve), 8 * len(self._sieve) - 1
            while True:
                ended = int(scan(address_of(cells)))
                if ended != job.NO_ROOM:
                    return ended
                self._terms.reserve(int(cells[job.NEED]), 4 * job.BATCH)

    def _handed_on(self) -> np.ndarray:
        """Hand the rows on as they are, and go on in another array."""
        cells, rows = self._cells, self._rows
        count = int(cells[job.ROW_COUNT])
        if count < FEW:
            cells[job.ROW_COUNT] = 0
            return rows[:count].copy()
        self._rows = self._room.rows.take()
        cells[job.ROWS], cells[job.ROW_COUNT] = address_of(self._rows), 0
        return rows[:count]

    def _report_noted(self) -> None:
        """Make reports of the faults that the kernel noted."""
        for line, reason, start, place in self._notes[: self._cells[job.NOTED]].tolist():
            self._report(line, reason, start, place)
        self._cells[job.NOTED] = 0

    def _report(self, line: int, reason: int, start: int, place: int) -> None:
        if len(self.faults) >= len(self._notes):
            return
        text = bytes(self._buffer[start : start + _EXCERPT]).splitlines()
        excerpt = text[0].decode("utf-8", "replace") if text else ""
        column = place - start + 1
        where = Place(self._wanted.source, line, column, excerpt if column <= len(excerpt) + 1 else "")
        self.faults.append(MalformedInput(REASONS[reason], place=where))
