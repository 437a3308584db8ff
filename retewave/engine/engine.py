"""The engine: what a user does with retewave in one process.

Data's way: readers and pushes -> rows -> order (lateness) -> **live network** -> matches -> callbacks and iterators.
Any thread may call anything: state is locked while it is read or changed (`Matcher.lock`), and threads that pour and
call back take turns (`retewave.engine.telling`).  The turn is taken before the lock; user code runs without the lock.
"""

from __future__ import annotations

import secrets
import threading
import time as wall
import warnings
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import UTC
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from retewave.compiler.algebra import Policy, ReportPolicy
from retewave.compiler.algebra import Query as Parsed
from retewave.compiler.languages.language import Language
from retewave.engine.arguments import (
    Triple,
    WhenFull,
    check_bounds,
    check_inbox,
    check_options,
    check_reported,
    policy_of,
    readers_of,
    seconds_of_tick,
    triples_of,
)
from retewave.engine.datasets import Closure, Datasets
from retewave.engine.feeding_views import check_fed
from retewave.engine.framing import framed
from retewave.engine.items import Interval, Triples, ids_of, interval_of, texts_of
from retewave.engine.late import LateItem, Why, described
from retewave.engine.matcher import Matcher
from retewave.engine.planning import planned
from retewave.engine.registry import Registry, read_query
from retewave.engine.shown import Shown
from retewave.engine.stats import Seconds, stats
from retewave.engine.telling import Finding, Telling
from retewave.engine.timeless import check_timed
from retewave.epsilon.schema import Budget, Progress
from retewave.errors import QueryError, UsageError
from retewave.log import Tally
from retewave.match import Match, Matches, in_order
from retewave.query import Query
from retewave.report import Report
from retewave.rete.memories import Options
from retewave.rete.terms.dictionary import Terms
from retewave.rete.words.rows import GIVEN_EVENTS, ROW_WIDTH, START
from retewave.windows import durations
from retewave.windows.order import Order
from retewave.windows.times import Clock, Instant

if TYPE_CHECKING:
    from retewave.engine.asynchronous import Pushes
    from retewave.engine.compiled import CompiledNetwork
    from retewave.engine.pump import Arrived
    from retewave.io.reading.position import Position
    from retewave.io.reading.reader import Reader

__all__ = ["Engine"]


_ARRIVAL = Clock("datetime", zone=UTC)  # how times are shown when nobody gives any
_NO_ROWS = np.empty((0, ROW_WIDTH), dtype=np.int64)

_LATE, _FUTURE = "%s items came later than lateness allows", "%s items are dated further ahead than max_future allows"


class Engine(Shown):
    """Finds the patterns of registered queries in streams of RDF.  Any thread may call anything, also from callbacks.

    >>> engine = Engine()
    >>> query = engine.register("SELECT ?who WHERE { ?who <http://e/likes> <http://e/tea> }")
    >>> [match] = engine.push(("http://e/ann", "http://e/likes", "http://e/tea"), time=1)
    >>> match["who"], match.start
    (rdflib.term.URIRef('http://e/ann'), 1)
    """

    def __init__(
        self,
        schema: Any = (),
        static: Any = (),
        *,
        datasets: Mapping[str, str | Path] | None = None,
        imports: Mapping[str, str | Path] | None = None,
        closure: Literal["retewave", "owlrl"] = "retewave",
        closure_budget: Budget | None = None,
        on_closure: Progress | None = None,
        lateness: Any = 0,
        max_future: Any = "1d",
        on_late: Callable[[list[LateItem]], object] | None = None,
        max_live_rows: int | None = None,
        at_limit: Literal["error", "shed"] = "error",
        allow_cartesian: bool = False,
        max_derivations: int = 1_000_000,
        max_runs: int | None = None,
        stats: bool = False,
        seed: int | None = None,
        inbox: int = 1024,
        when_full: WhenFull = "wait",
    ) -> None:
        check_options(datasets, imports, on_late, seed)
        check_bounds(max_live_rows, at_limit, max_derivations, max_runs)
        check_inbox(inbox, when_full)
        self.terms = Terms(seed)
        closed = Closure(closure, closure_budget, on_closure)
        self.datasets = Datasets(self.terms, schema, static, datasets or {}, imports or {}, closed)
        self.registry = Registry(sheds=at_limit == "shed", plan=partial(planned, datasets=self.datasets))
        bounds = max_live_rows or 0, at_limit == "shed", stats, max_derivations, max_runs or 0
        options = Options(secrets.randbits(63) if seed is None else seed, *bounds)
        self.matcher = Matcher(self.terms, self.registry, self.datasets, options)
        self.options = {  # the arguments that a snapshot keeps
            "lateness": _duration(lateness) / 1e6,
            "max_future": None if max_future is None else _duration(max_future) / 1e6,
            "max_live_rows": max_live_rows,
            "max_derivations": max_derivations,
            "max_runs": max_runs,
            "at_limit": at_limit,
            "allow_cartesian": allow_cartesian,
            "stats": stats,
            "seed": options.seed,
        }
        self._late_tally, self._future_tally = Tally(_LATE), Tally(_FUTURE)
        self.lock, self.registry.network = self.matcher.lock, self._network  # the lock is held to read or change
        self.telling = telling = Telling(self.registry, on_late)
        self.turn = telling.turn  # held by whoever pours and calls back; taken before the lock
        self._hands_over = on_late is not None  # late items
        self._runs = 0  # runs under way: the last one to end lets waiting items go
        self.order = order = Order(_duration(lateness), _optional(max_future), self._late, self._future, now=_now)
        self.matcher.holders.append(order.held)
        self.clock: Clock | None = None  # of the first time that came in: times are shown likewise
        self.allow_cartesian, self.triples = allow_cartesian, 0  # triples that came in, unused ones included
        self.readers: list[Reader] = []  # all that were run; they count the lines that they could not read
        self.seconds = Seconds()  # how long the work took
        self._inbox = (inbox, when_full)  # how many items of event loops may wait, and the fate of more
        self._pushes: Pushes | None = None  # none before the first; the lock is held while they are made
        self._opening = threading.Lock()
        self.note: Any = None  # what the caller noted in the snapshot that the engine was restored from

    # ---- queries ----
    def register(
        self,
        query: str | Path | Parsed,
        *,
        on_match: Callable[[Match], object] | None = None,
        on_report: Callable[[Report], object] | None = None,
        name: str | None = None,
        language: str | Language | None = None,
        allow_cartesian: bool | None = None,
        keep: int | None = 10_000,
        explain: bool = False,
        policy: str | Policy | None = None,
        report: str | ReportPolicy | None = None,
        t0: Instant | None = None,
    ) -> Query:
        """Register a query, given as text or as the path of a file; its matches are reported from now on.

        `on_match` is called with every match, one at a time, and may call anything.  The last `keep` matches (None:
        all) can be had as columns.  A query that is registered while the stream runs starts from what the memories
        hold.  `on_report` is called with every report of a view.  `policy` says which partners its SEQs take
        (`"recent KEEP"`), whatever its text says.  `report` says likewise when a view is reported (`"PERIODIC 10s NON
        EMPTY"`), and `t0` from when the steps of its windows are counted.
        """
        parsed = query if isinstance(query, Parsed) else read_query(query, language)
        if policy is not None:
            parsed = replace(parsed, policy=policy_of(policy))
        parsed = framed(parsed, report, t0)
        allowed = self.allow_cartesian if allow_cartesian is None else allow_cartesian
        with self.lock:
            self.datasets.add_of(parsed, started=self.matcher.started)
            if parsed.dataset and not self.matcher.started:
                self.registry.plan_again()
            check_timed(parsed, self.datasets)
            check_reported(parsed, on_report)
            added = self.registry.add(
                parsed, name=name, on_match=on_match, keep=keep, allow_cartesian=allowed, explained=explain
            )
            added.on_report = on_report
            if parsed.is_rule or parsed.events is not None:
                try:
                    check_fed(self.registry.queries.values())
                    self.matcher.check_rules()
                except QueryError:
                    self.registry.remove(added)
                    raise
            return added

    def reports(self, query: Query) -> Iterator[Report]:
        """Yield the reports of a view that were made and not yielded yet, the oldest first.

        As many are kept as rows of it are (`keep` of `register`), at least the latest.
        """
        if not query.is_view:
            raise UsageError(f"{query.name} is no view: it has matches, and no reports")
        while (report := query.next_report()) is not None:
            yield report

    def remove(self, query: Query) -> None:
        """Stop listening for a query."""
        with self.lock:
            self.registry.remove(query)

    # ---- schema and static data ----
    def load(self, *, schema: Any = (), static: Any = ()) -> None:
        """Take further schema and static data; refused once the stream runs."""
        with self.turn, self.lock:  # a user's iterable, which is read here, may push
            self.datasets.add(schema=schema, static=static, started=self.matcher.started)
            self.registry.plan_again()
            self.registry.generation += 1
            for query in self.registry.queries.values():
                check_timed(query.parsed, self.datasets)

    # ---- the stream ----
    def push(
        self,
        triples: Triples,
        *,
        time: Interval | None = None,
        stream: str | None = None,
        event: int | None = None,
    ) -> list[Match]:
        """Pour in a triple, or several of one time; call back and return the matches that they complete.

        Terms are rdflib terms, N-Triples texts (`<…>`, `"…"`, `_:…`), absolute IRIs or plain Python values; an
        array of ids [n, 3] comes from `encode`.  `time` is a number of seconds, a datetime or a datetime64, or a pair
        of them for an interval; without it, the time is now.
        """
        found = self.pushed(texts_of(triples), time, stream, event)
        return [match for batches in found for match in in_order(batches)]

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
        self.matcher.wait(self.order.push(rows))
        if self.order.lateness and self.order.watermark is not None:
            self.matcher.advance(self.order.watermark)

    def flush(self) -> list[Match]:
        """Pour items that wait for late ones, and tell the matches that there are if nothing more comes; return them.

        Call it at the end of a stream that was pushed.  If you push on afterwards, nothing is lost.
        """
        with self.turn:
            self._let_go()
            found = self._all_poured()
        return [match for batches in found for match in in_order(batches)]

    def advance(self, time: Interval) -> list[Match]:
        """Tell the engine that no item that ends before a time comes any more; call back and return the matches.

        Decisions that wait for a deadline or for the end of an instant before that time are made, in the order of
        time.  An item from before it that still comes is late.  A time before the clock's changes nothing.
        """
        _, until, clock = interval_of(time)
        with self.turn:
            with self.lock:
                self._tell(clock)
                self._go_on(until)
            found = self._all_poured()
        return [match for batches in found for match in in_order(batches)]

    def _go_on(self, until: int) -> None:
        """Let the next pour decide what is due before a time, which the clock has reached."""
        self.matcher.wait(self.order.advance(until))
        self.matcher.advance(until)

    def encode(self, triples: Iterable[Triple]) -> np.ndarray:
        """Return the ids of triples as an array [n, 3], for `push`; the ids are kept for ever."""
        texts = texts_of(triples_of(triples))
        with self.lock:
            ids = ids_of(texts, self.terms)
            self.terms.pin(np.unique(ids).tolist())
        return ids

    def run(self, *readers: Reader | str | Path, tick: Any = None) -> Iterator[Match]:
        """Read streams to their end, merged by time; call back and yield every match.

        A path stands for `read(path)`: the time of its triples is when they arrive.  With a `tick`, a duration such as
        "1s", the clock also goes on that often while nothing arrives, as by `advance`, so that deadlines are told.

        To pause, keep the iterator, and go on with it later.  If you leave it for good (`break`), the items that it has
        read are poured, and the matches that it has found are returned, by the next `push`, `flush` or `run`.
        """
        for batches in self.run_batches(*readers, tick=tick):
            yield from Finding(self.telling, [batches])

    def run_batches(
        self, *streams: Reader | str | Path, between: Callable[[], object] | None = None, tick: Any = None
    ) -> Iterator[list[Matches]]:
        """Read streams like `run`, and yield the matches as batches of columns, one a query.

        `between` is called whenever the matches of all items read so far are told: on a busy stream a few times a
        second or more.  That is the moment for a `snapshot`.
        """
        readers = readers_of(streams)
        seconds = None if tick is None else seconds_of_tick(_duration(tick), readers)
        with self.lock:
            self.readers += [reader for reader in readers if not any(reader is known for known in self.readers)]
        recorded = bool(readers) and all(reader.time_property is not None for reader in readers)
        yield from self.course(self._read(readers, between, seconds), recorded=recorded)

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
            self._tell(arrived.clock)
            self._put(arrived.rows)
            if arrived.until is not None:
                self._go_on(arrived.until)

    # ---- from an event loop ----
    def stream(
        self,
        source: Reader | str | Path | AsyncIterable[Any] | Iterable[Any],
        *,
        inbox: int | None = None,
        when_full: WhenFull | None = None,
    ) -> AsyncGenerator[Match, None]:
        """Pour the items of a source in a thread; call back there, and give every match to `async for`.

        A source is a reader, a path, or an iterable of items.  An item is a pair of triples and their time, a triple
        alone, whose time is now, or a mapping of arguments of `push`.  Of an async source, at most `inbox` items wait.
        """
        from retewave.engine.asynchronous import stream

        return stream(self, source, inbox, when_full)

    async def apush(
        self, triples: Triples, *, time: Interval | None = None, stream: str | None = None, event: int | None = None
    ) -> list[Match]:
        """Push from an event loop, which goes on meanwhile; the callbacks are called in a thread."""
        return await self.pushes.push((texts_of(triples), time, stream, event))

    @property
    def pushes(self) -> Pushes:
        """The pushes of event loops that are yet to be poured."""
        from retewave.engine.asynchronous import Pushes

        with self._opening:  # not the engine's lock: a loop must not wait for it
            if self._pushes is None:
                self._pushes = Pushes(self, *self._inbox)
            return self._pushes

    @property
    def dropped(self) -> int:
        """How many items of event loops were dropped, as an inbox was full."""
        return 0 if self._pushes is None else self._pushes.dropped

    def _let_go(self) -> None:
        with self.lock:
            self.matcher.wait(self.order.flush())
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
            self._tell(_ARRIVAL)
            now = _now()
            return now, now
        first, last, clock = interval_of(time)
        self._tell(clock)
        return first, last

    @property
    def shown_clock(self) -> Clock:
        """How times are shown: as the first one was given, or as datetimes."""
        return self.clock or _ARRIVAL

    def _tell(self, clock: Clock) -> None:
        self.clock = self.clock or clock

    # ---- what does not get in ----
    def _late(self, rows: np.ndarray, why: Why = "late") -> None:
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

    # ---- what is going on ----
    def stats(self) -> dict[str, Any]:
        """Return counts of what went in, what is kept and what came out."""
        with self.lock:
            return stats(self)

    def _network(self) -> CompiledNetwork:
        with self.lock:
            return self.matcher.current()

    # ---- snapshots ----
    @property
    def positions(self) -> tuple[Position, ...]:
        """How far the readers of the latest run have come, in order; `reader.at(position)` goes on from there."""
        return self.matcher.positions()

    def snapshot(self, path: str | Path, *, note: Any = None) -> None:
        """Write all state to a file, from which `Engine.restore` goes on as if it had never stopped.

        It holds the `positions` of the readers, too, and a `note` of the caller's: anything that JSON can hold.
        """
        from retewave.engine.snapshot import write

        write(self, Path(path), note)

    @classmethod
    def restore(cls, path: str | Path, *, keep: int | None = 10_000, **options: Any) -> Engine:
        """Return the engine that a snapshot was taken of; `on_late` is given anew, as are callbacks (by `queries`).

        `keep` says how many matches each query keeps from now on, as for `register`.
        """
        from retewave.engine.snapshot import read

        return read(cls, Path(path), keep, options)


def _now() -> int:
    return wall.time_ns() // 1000


def _optional(value: Any) -> int | None:
    return None if value is None else _duration(value)


def _duration(value: Any) -> int:
    try:
        return durations.parse(value)
    except ValueError as e:
        raise UsageError(str(e)) from e
