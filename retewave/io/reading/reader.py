"""Read RDF from anywhere: the description of a source, and its rows.

Data's way: **source -> rows with times** -> order -> network.
Invariant: a reader is only a description until it is iterated; each iteration opens the source anew and counts
from zero; every malformed line is counted and the first ones are reported.
Left out: the network's side of it (lateness, sweeping the dictionary).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from retewave.epsilon.prefixes import absolute
from retewave.errors import MalformedInput, UsageError
from retewave.io.reading.formats import LINES, QUADS, format_of, open_document
from retewave.io.reading.grouping import EventBy, Grouping, grouping_of
from retewave.io.reading.position import Position, Scanned, TimesState
from retewave.io.reading.sources import Pausing, Source, name_of
from retewave.io.times.rates import check_rate
from retewave.log import Tally, log
from retewave.numbering import documents
from retewave.rete.words.rows import ROW_WIDTH

if TYPE_CHECKING:
    from retewave.io.lines.lines import LineReading, Wanted
    from retewave.io.times.times import Times
    from retewave.rete.terms.acceptance import Acceptance
    from retewave.rete.terms.dictionary import Terms

__all__ = ["GENERATED_AT", "Chunk", "Counters", "Reader", "read", "read_static"]

GENERATED_AT = "http://www.w3.org/ns/prov#generatedAtTime"
CHUNK_ROWS = 1 << 15
REPORTS = 20

OnError = Literal["count", "raise"]


@dataclass(frozen=True)
class Chunk:
    """Some rows of a stream, in the order of the source."""

    rows: np.ndarray  # int64 [n, 7], the columns of retewave.rete.words.rows
    newest: int | None  # the latest time in it that no later row is before, if that is not a row's
    tells: bool  # some row is without a triple: it tells the time of refused items
    triples: int  # statements read for them, refused ones included
    bytes: int  # bytes read for them (of the lines, not of a compressed file)
    scanned: Scanned  # where the source is read on
    times: TimesState  # the rows that wait for their time


@dataclass
class Counters:
    """The counts of an iteration over a reader so far."""

    triples: int = 0  # well-formed statements, refused ones included
    malformed: int = 0  # malformed lines; the rest of a document that cannot be read counts as a line
    untimed: int = 0  # accepted triples without a time
    bytes: int = 0  # bytes read
    last_event: int = 0  # the number of the last event
    first_malformed: list[MalformedInput] = field(default_factory=list)  # the first malformed lines
    first_untimed: list[str] = field(default_factory=list)  # graphs or subjects of the first untimed triples
    malformed_tally: Tally = field(default_factory=lambda: Tally("%s malformed lines are left out"), repr=False)
    untimed_tally: Tally = field(default_factory=lambda: Tally("%s triples without a time are left out"), repr=False)


@dataclass(frozen=True)
class Reader:
    """A source of triples and how to read it; `read` makes one."""

    source: Source  # path, "-", bytes, binary file, iterable of bytes
    name: str  # its name in reports
    format: str  # one of retewave.io.reading.formats.FORMATS
    rate: float | None  # triples per second
    start: int  # microseconds: the time of the first triple at a rate
    time_property: str | None  # the IRI that tells an event's time
    on_error: OnError  # "raise": stop at the first malformed line
    stream: str | None = None  # the IRI of the stream that its triples belong to; None: every stream hears them
    counters: Counters = field(default_factory=Counters, compare=False)  # of the latest iteration
    position: Position | None = None  # where it begins; None: at the source's beginning
    event: Grouping = field(default_factory=Grouping)  # which statements are one event

    def at(self, position: Position) -> Reader:
        """Return a reader of the same source that goes on where an engine had come to (`Engine.positions`).

        A path, bytes or a file that can be sought are read on from there; standard input, a pipe or an iterable are
        taken to bring the rows behind.
        """
        if position.name != self.name:
            raise UsageError(f"the position is one of {position.name}, not of {self.name}")
        if self.format not in LINES:
            raise UsageError(
                f"{self.name}: {self.format} cannot be read on in the middle",
                hint=f"make lines of it: {' or '.join(LINES)}",
            )
        return replace(self, position=position, counters=Counters())

    def chunks(
        self,
        terms: Terms,
        acceptance: Callable[[], Acceptance] | None = None,
        stream: int = 0,
        *,
        last_event: int = 0,
        scope: int | None = None,
        chunk_rows: int = CHUNK_ROWS,
        clock: Callable[[], int] = time.time_ns,
        pause: AbstractContextManager[object] | None = None,
        telling: bool = False,
    ) -> Iterator[Chunk]:
        """Open the source and iterate over its rows.

        `acceptance` is asked before every block; `last_event` is the last event number taken; `scope` sets
        the document's blank nodes apart (a fresh number by default). A chunk holds at most about
        `chunk_rows` rows, and fewer when the source would make the reader wait. `pause` is entered while it
        reads from the source: then, and only then, the dictionary may be swept.  `telling`: a row without a triple
        tells the time of refused items where a row of an earlier time comes next.
        """
        from retewave.io.lines.job import KEEP_GRAPHS

        predicate = self._time_predicate(terms)
        wanted = self._wanted(KEEP_GRAPHS, scope, chunk_rows, stream, last_event, predicate)
        times = self._times(terms, predicate, clock, last_event, telling)
        if self.position is not None:
            wanted = replace(wanted, scope=self.position.scope, behind=self.position.scanned)
            times.go_on(self.position.times, self.position.untimed)
        yield from self._read(terms, acceptance, times, wanted, pause)

    def static_rows(self, terms: Terms, *, scope: int | None = None) -> np.ndarray:
        """Read the whole source at once, with times 0 and graphs forgotten."""
        from retewave.io.lines.job import IGNORE_GRAPHS
        from retewave.io.times.times import NoTimes

        wanted = self._wanted(IGNORE_GRAPHS, scope, CHUNK_ROWS, stream=0, last_event=0, time_predicate=0)
        chunks = [chunk.rows for chunk in self._read(terms, None, NoTimes(), wanted)]
        return np.concatenate(chunks) if chunks else np.zeros((0, ROW_WIDTH), np.int64)

    def _time_predicate(self, terms: Terms) -> int:
        if self.time_property is None:
            return 0
        predicate = terms.intern(b"<" + self.time_property.encode() + b">")
        terms.pin([predicate])
        return predicate

    def _times(self, terms: Terms, predicate: int, clock: Callable[[], int], last_event: int, telling: bool) -> Times:
        from retewave.io.times.instants import OneEventAnInstant
        from retewave.io.times.times import ArrivalTimes, EventTimes, RateTimes

        if predicate:
            times: Times = EventTimes(terms, predicate, telling=telling)
        else:
            times = ArrivalTimes(clock) if self.rate is None else RateTimes(self.rate, self.start)
        return OneEventAnInstant(times, last_event) if self.event.by == "time" else times

    def _wanted(
        self, graphs: int, scope: int | None, chunk_rows: int, stream: int, last_event: int, time_predicate: int
    ) -> Wanted:
        from retewave.io.lines.job import BY_COUNT, BY_SUBJECT, IGNORE_GRAPHS, NO_EVENTS, NO_GRAPHS
        from retewave.io.lines.lines import Wanted

        quads = self.format in QUADS
        by = NO_EVENTS
        if self.event.takes_subjects(graphs=quads, told=time_predicate > 0):
            by = BY_SUBJECT
        elif self.event.by == "count":
            by = BY_COUNT
        return Wanted(
            source=self.name,
            graphs=NO_GRAPHS if not quads else graphs if by == NO_EVENTS else IGNORE_GRAPHS,
            scope=documents.next() if scope is None else scope,
            stream=stream,
            last_event=last_event,
            time_predicate=time_predicate,
            raising=self.on_error == "raise",
            reports=REPORTS,
            chunk_rows=chunk_rows,
            events_by=by,
            event_size=self.event.size,
        )

    def _read(
        self,
        terms: Terms,
        acceptance: Callable[[], Acceptance] | None,
        times: Times,
        wanted: Wanted,
        pause: AbstractContextManager[object] | None = None,
    ) -> Iterator[Chunk]:
        """Open the source, read it to its end, and hand on the rows that have a time."""
        from retewave.io.lines.lines import LineReading
        from retewave.rete.terms.acceptance import accept_all

        with ExitStack() as stack:
            opened = open_document(self.source, self.format, self.name, behind=wanted.behind.bytes)
            stack.callback(opened.close)
            if pause is not None:
                opened = Pausing(opened, pause)
            reading = LineReading(opened, terms, wanted)
            for held in (reading.held, times.held):
                terms.hold(held)
                stack.callback(terms.release, held)
            if self.position is not None:
                reading.faults.extend(self.position.faults)
            first, bytes_before = reading.statements, reading.bytes
            for raw in reading.chunks(acceptance or accept_all):
                rows, read = times.place(raw, first), reading.bytes - bytes_before
                statements = reading.statements
                newest = times.newest(rows, reading.settled) if statements > first else None
                chunk = Chunk(rows, newest, times.tells, statements - first, read, reading.scanned(), times.state())
                first, bytes_before = reading.statements, reading.bytes
                self._count(reading, times)
                if chunk.triples or len(rows):
                    yield chunk
            times.finish()
            self._count(reading, times)
            reading.check()

    def _count(self, reading: LineReading, times: Times) -> None:
        """Bring the counters up to date, and log the lines and triples that are left out."""
        counters = self.counters
        if reading.malformed and counters.malformed_tally.log(reading.malformed) and reading.faults:
            log.warning("%s: %s: %s", self.name, reading.faults[-1].place, reading.faults[-1].what)
        if times.untimed:
            counters.untimed_tally.log(times.untimed)
        counters.triples, counters.malformed = reading.statements, reading.malformed
        counters.bytes, counters.last_event = reading.bytes, reading.last_event
        counters.first_malformed = reading.faults
        counters.untimed, counters.first_untimed = times.untimed, times.first_untimed


def read(
    source: Source,
    *,
    format: str | None = None,
    name: str | None = None,
    rate: float | None = None,
    start: int = 0,
    time_property: str | None = None,
    arrival: bool = False,
    on_error: OnError = "count",
    stream: str | None = None,
    event: EventBy = "graph",
) -> Reader:
    r"""Describe a source of triples: a path, "-" for standard input, bytes, a binary file, or pieces of bytes.

    The time of its triples follows from a nominal `rate` (triples per second, from `start` in microseconds on),
    by a `time_property` of its events (an IRI, such as GENERATED_AT), or else by their arrival.
    `stream` is the IRI of the stream that they belong to; without it every query hears them.
    `event` says which statements that follow each other are one event: those of a named graph ("graph"), of a
    "subject", or a number of statements; with "time", all that have one time.

    >>> from retewave.rete.terms.dictionary import Terms
    >>> terms = Terms(seed=1)
    >>> reader = read(b"<a:s> <a:p> <a:o> .\n<a:s> <a:p> .", rate=10)
    >>> [chunk.rows.tolist() for chunk in reader.chunks(terms)]
    [[[2, 1, 3, 0, 0, 0, 0]]]
    >>> str(reader.counters.first_malformed[0].place)
    '<bytes>:2:13'
    """
    if sum((rate is not None, time_property is not None, arrival)) > 1:
        raise UsageError("only one of rate, time_property and arrival can tell the time")
    if on_error not in ("count", "raise"):
        raise UsageError(f'on_error is "count" or "raise", not {on_error!r}')
    called = name_of(source) if name is None else name
    chosen = format_of(called, format)
    grouping = grouping_of(event)
    if time_property is not None and grouping.by == "graph" and chosen not in QUADS:
        raise UsageError(
            f"{called}: a time property belongs to a named graph, and {chosen} has none",
            hint=f'use {", ".join(QUADS)}, or say what else is an event: event="subject" (--event-by subject)',
        )
    if grouping.by == "time" and time_property is None and rate is None:
        raise UsageError(
            f"{called}: statements of one time are to be one event, and nothing tells their time but their arrival",
            hint="name a time_property (--time-property) or a rate; or say event=3 (--event-by 3) for three statements",
        )
    if rate is not None:
        check_rate(rate)
    property_ = None if time_property is None else absolute(time_property, "a time property")
    named = None if stream is None else absolute(stream, "a stream's name")
    return Reader(source, called, chosen, rate, start, property_, on_error, named, event=grouping)


def read_static(
    source: Source,
    terms: Terms,
    *,
    format: str | None = None,
    name: str | None = None,
    on_error: OnError = "raise",
    scope: int | None = None,
) -> np.ndarray:
    """Read static data or a schema: all its rows at once, times 0, graphs merged.

    >>> from retewave.rete.terms.dictionary import Terms
    >>> read_static(b"<a:s> <a:p> 'o'@EN .", Terms(seed=1), format="ttl").tolist()
    [[2, 1, 3, 0, 0, 0, 0]]
    """
    return read(source, format=format, name=name, on_error=on_error).static_rows(terms, scope=scope)
