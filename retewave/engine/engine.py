"""The engine: what a user does with retewave in one process.

Data's way: readers and pushes -> rows -> order (lateness) -> **networks** -> matches -> callbacks and iterators.
Any thread may call anything; how items go in and matches come out, in turns, says `retewave.engine.pouring`.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Iterator, Mapping
from dataclasses import replace
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
    duration_of,
    policy_of,
    readers_of,
    seconds_of_tick,
    triples_of,
)
from retewave.engine.datasets import Closure, Datasets
from retewave.engine.feeding_views import check_fed
from retewave.engine.framing import framed
from retewave.engine.items import Interval, Triples, ids_of, interval_of, texts_of
from retewave.engine.late import LateItem
from retewave.engine.matcher import Matcher
from retewave.engine.planning import planned
from retewave.engine.pouring import Pouring
from retewave.engine.registry import Registry, read_query
from retewave.engine.shown import Shown
from retewave.engine.stats import stats
from retewave.engine.telling import Finding
from retewave.engine.timeless import check_timed
from retewave.epsilon.schema import Budget, Progress
from retewave.errors import QueryError, UsageError
from retewave.match import Match, Matches, in_order
from retewave.query import Query
from retewave.report import Report
from retewave.rete.memories import Options
from retewave.rete.terms.dictionary import Terms
from retewave.windows.times import Instant

if TYPE_CHECKING:
    from retewave.engine.asynchronous import Pushes
    from retewave.io.reading.position import Position
    from retewave.io.reading.reader import Reader

__all__ = ["Engine"]


class Engine(Pouring, Shown):
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
        terms = Terms(seed)
        closed = Closure(closure, closure_budget, on_closure)
        self.datasets = Datasets(terms, schema, static, datasets or {}, imports or {}, closed)
        registry = Registry(sheds=at_limit == "shed", plan=partial(planned, datasets=self.datasets))
        bounds = max_live_rows or 0, at_limit == "shed", stats, max_derivations, max_runs or 0
        options = Options(secrets.randbits(63) if seed is None else seed, *bounds)
        self.options = {  # the arguments that a snapshot keeps
            "lateness": duration_of(lateness) / 1e6,
            "max_future": None if max_future is None else duration_of(max_future) / 1e6,
            "max_live_rows": max_live_rows,
            "max_derivations": max_derivations,
            "max_runs": max_runs,
            "at_limit": at_limit,
            "allow_cartesian": allow_cartesian,
            "stats": stats,
            "seed": options.seed,
        }
        matcher = Matcher(terms, registry, self.datasets, options)
        super().__init__(
            matcher, duration_of(lateness), None if max_future is None else duration_of(max_future), on_late
        )
        self.allow_cartesian = allow_cartesian
        self._inbox = (inbox, when_full)  # how many items of event loops may wait, and the fate of more
        self._pushes: Pushes | None = None  # none before the first; the lock is held while they are made
        self._opening = threading.Lock()
        self.note: Any = None  # the caller's note in the snapshot that the engine was restored from

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
                self._show_by(clock)
                self._go_on(until)
            found = self._all_poured()
        return [match for batches in found for match in in_order(batches)]

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
        seconds = None if tick is None else seconds_of_tick(duration_of(tick), readers)
        with self.lock:
            self.readers += [reader for reader in readers if not any(reader is known for known in self.readers)]
        recorded = bool(readers) and all(reader.time_property is not None for reader in readers)
        yield from self.course(self._read(readers, between, seconds), recorded=recorded)

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

    # ---- what is going on ----
    def stats(self) -> dict[str, Any]:
        """Return counts of what went in, what is kept and what came out."""
        with self.lock:
            return stats(self)

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
