"""The networks that run: made when the queries change, poured into, swept.

Data's way: rows in time order -> **networks** -> batches of matches.
A change of queries marks the networks stale.  Before the next row, a few changes make the young network anew
(`retewave/engine/networks.py`); many changes make the main network anew, of all queries.  The new network takes over
the rows of the former α-memories.  `current` returns one network of all queries.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from retewave.compiler.lower.levels import Unstratified
from retewave.compiler.plan.shape import Listener
from retewave.engine.compiled import CompiledNetwork, build, load
from retewave.engine.datasets import Datasets
from retewave.engine.feeding_views import rows_of, stream_of
from retewave.engine.fresh import joined, news, plain
from retewave.engine.networks import Networks, are_few
from retewave.engine.registry import Registry
from retewave.engine.rules import endless, unstratified
from retewave.engine.sweep import Sweep, rehearse
from retewave.errors import LimitError
from retewave.log import Tally, log
from retewave.match import Matches
from retewave.rete.counters import runs_of, totals
from retewave.rete.memories import Options
from retewave.rete.terms.acceptance import Acceptance
from retewave.rete.terms.dictionary import Terms
from retewave.rete.words import layout
from retewave.rete.words.rows import END, EVENT, OBJECT, ROW_WIDTH, SUBJECT
from retewave.windows.intervals import BEFORE_ALL
from retewave.windows.times import Clock

if TYPE_CHECKING:
    from retewave.io.reading.position import Position

__all__ = ["Matcher"]

Held = Callable[[], list[np.ndarray]]

SWEPT_A_ROW = 16  # rows and terms that a sweep goes through for each row poured: it ends before the next is due
_FEW = 16  # a sweep pays if one term in this many belongs to no row
_MANY_TIMES = 16  # a sweep that seems useless waits until the terms are this many times those that the last one left
_SETTLING = 1 << 8  # rows a query after which the young network's queries join the main one: until then it is cheaper
_PIECE = 1 << 11  # rows poured between two slices of a sweep: short, so that no reader and no match waits for long


class Matcher:
    """The networks of a registry's queries, one after another: the engine's state.

    A caller of a method holds the lock, except threads of readers, which call `acceptance` only.
    """

    def __init__(self, terms: Terms, registry: Registry, datasets: Datasets, options: Options) -> None:
        self.lock = threading.RLock()  # held while anything of an engine is read or changed
        self.terms = terms  # the dictionary
        self.registry = registry  # the queries
        registry.network = self.current
        self.datasets = datasets  # schema and static data
        self.options = options  # what the user chose
        self.networks: Networks | None = None  # None before they are first needed
        self.started = False  # a triple of the stream has come
        self.triples = 0  # rows poured
        self.collected, self.shed = 0, 0  # rows, by networks before this one
        self._shed_tally = Tally("%s of the oldest rows are dropped, as the bound on live rows is met")
        self._rows_before = 0  # live rows when the last sweep began
        self._rows_ahead = 0  # rows that were waiting then
        self._generation = -1  # generation of the registry when the networks were made
        self._settles = 0  # the number of rows poured at which the young network's queries join the main one
        self._found: list[np.ndarray] = []  # output rows of a new network that are yet to be reported
        self._known: set[int] = set()  # queries whose matches so far have been found
        self.stated = joined([])  # their matches before the stream, as plain output rows
        self.waiting = np.empty((0, ROW_WIDTH), dtype=np.int64)  # rows that the bound on live rows holds up
        self.until = BEFORE_ALL  # decisions due before this time are made when all waiting rows are poured
        self.flushing = False  # then tell the matches that there are if nothing more comes
        self.holders: list[Callable[[], np.ndarray]] = []  # rows that wait elsewhere (for late items)
        self.now = BEFORE_ALL  # the end of the last row poured
        self.events = 0  # event numbers taken so far, by pushes and by triples that readers brought alone
        self.event_blocks = 1  # blocks of event numbers taken so far, by readers
        self.intervals = False  # an item was not an instant, or may not have been
        self._readings: list[tuple[threading.Lock, Held]] = []  # of readers: gates, and rows held
        self.positions: Callable[[], tuple[Position, ...]] = tuple  # how far the readers of the latest run have come
        self._batches: weakref.WeakSet[Matches] = weakref.WeakSet()  # matches that somebody still holds
        self._sweep: Sweep | None = None  # the sweep of the dictionary that is under way

    def acceptance(self) -> Acceptance:
        """Return which triples a reader may drop; threads of readers call this, and must never make a network."""
        return (self.networks or Networks(self.current())).acceptance

    @property
    def main(self) -> CompiledNetwork | None:
        """The main network, if there is one yet."""
        return None if self.networks is None else self.networks.main

    def current(self) -> CompiledNetwork:
        """Return the one network of the queries as they are now; a new one is not loaded yet."""
        if self.networks is None or self._generation != self.registry.generation or not self.networks.one:
            self._renew()
        assert self.networks is not None
        return self.networks.main

    def _follow(self) -> Networks:
        """Return networks of the queries as they are now."""
        networks, stale = self.networks, self._generation != self.registry.generation
        if networks is None or (stale and not self._may_be_young(networks)):
            self._renew()
        elif stale:
            self._renew_young(networks)
        elif not networks.one and self.triples >= self._settles:
            self._renew()
        assert self.networks is not None
        return self.networks

    def _may_be_young(self, networks: Networks) -> bool:
        """Tell whether the changes may be kept apart.

        Before the stream all queries are planned at once; a bound and counters belong to one network.
        """
        planned, registered = networks.main.outcome.queries.keys(), self.registry.queries.keys()
        bounded = self.options.max_live_rows or self.options.max_runs
        apart = self.triples > 0 and not bounded and not self.options.stats
        # what one network's rules build would have to come to the other; and a rule that is gone builds no more
        apart = apart and not self.registry.rules and not networks.main.feeding.rules
        return apart and are_few(len(planned ^ registered), len(planned))

    def _renew_young(self, networks: Networks) -> None:
        """Make the young network anew, of the queries that the main one lacks, if any."""
        main, former = networks.main, networks.young
        lacking = self.registry.queries.keys() - main.outcome.queries.keys()
        gone = frozenset(main.outcome.queries.keys() - self.registry.queries.keys())
        young = former
        if lacking != (former.outcome.queries.keys() if former else set()):
            young = self._loaded_young(networks, lacking) if lacking else None
            if former is not None:
                self._give_up(former)
        self.networks, self._generation = Networks(main, young, gone), self.registry.generation
        self._known = set(self.registry.queries)
        self._settles = self.triples + self.networks.live_rows + _SETTLING * len(self.registry.queries)

    def _loaded_young(self, networks: Networks, lacking: set[int]) -> CompiledNetwork:
        """Return a network of some queries that begins with the rows of the others' memories."""
        for each in networks.all:
            each.runtime.collect()
        listeners = self.registry.listeners(sorted(lacking))
        young = self._built(listeners, self.options, self.intervals or networks.main.runtime.has_ends)
        self._begin_to_look(young, networks.all)
        if self._sweep is not None:
            self._sweep.follow(networks.young, young)
        self._found += self._new(list(load(young, self.terms, self.datasets.static, networks.all)), young)
        for each in reversed(networks.all):
            young.take_over(each)
        return young

    def _renew(self) -> None:
        """Make one network of all queries, and keep the matches that new queries have in it for the next `pour`."""
        self.leave_sweep()
        began = time.perf_counter()
        former, registry = () if self.networks is None else self.networks.all, self.registry
        if any(each.runtime.has_ends for each in former):
            self.intervals = True  # the new network must keep the ends of rows that may be intervals
        for each in former:
            each.runtime.collect()  # else a new query would find rows that are only not collected yet
        without_bound = replace(self.options, max_live_rows=0, max_runs=0)
        compiled = self._built(registry.listeners(), without_bound, self.intervals)
        self._begin_to_look(compiled, former)
        found = list(load(compiled, self.terms, self.datasets.static, former))
        compiled.runtime.bound(self.options.max_live_rows, self.options.max_runs)
        if not former:
            rehearse(compiled)
        for each in reversed(former):  # the main one last: its memory goes further back
            compiled.take_over(each)
            self._give_up(each)
        self._found += self._new(found, compiled)
        self._known = set(registry.queries)
        self.networks, self._generation = Networks(compiled), registry.generation
        nodes, taken = len(compiled.lowered.network.nodes), 1000 * (time.perf_counter() - began)
        log.debug("the network is made: queries: %d, joins: %d, in %.0f ms", len(registry.queries), nodes, taken)

    def _begin_to_look(self, compiled: CompiledNetwork, former: Sequence[CompiledNetwork]) -> None:
        """Let a network decide no absence that reaches back before its rows; take over what others know."""
        if self.triples > 0:
            compiled.look_from(max(totals(each.runtime.arena).now for each in former) + 1)

    def _give_up(self, former: CompiledNetwork) -> None:
        """Go on without a network."""
        if former.feeding.rules and not self.registry.rules:  # what the last rule has built comes in all the same
            self.waiting = np.concatenate([former.runtime.yet_to_come, self.waiting])
        held = totals(former.runtime.arena)
        self.collected, self.shed = self.collected + held.collected, self.shed + held.shed
        if self._sweep is not None:
            self._sweep.follow(former, None)
        former.leave()
        self.terms.worthwhile = True  # terms that only the former one has used can go

    def _built(self, listeners: Sequence[Listener], options: Options, intervals: bool) -> CompiledNetwork:
        """Return a network for some queries, empty."""
        queries = {each.number: self.registry.queries[each.number] for each in listeners}
        schema, static = self.datasets.schema.network, self.datasets.static
        try:
            return build(listeners, queries, schema, self.terms, static, options, intervals, self.registry.streams)
        except Unstratified as e:
            raise unstratified(e, queries) from None

    def _meet_interval(self) -> None:
        """Make the network anew, with room for the ends of items: the first interval has come."""
        self.current()
        self.intervals = True
        self._renew()

    def _new(self, found: list[np.ndarray], compiled: CompiledNetwork) -> list[np.ndarray]:
        """Return the rows of a new network's first output that were not told: before the stream, of any query."""
        if self.triples == 0:
            rows, outputs = joined(found), compiled.lowered.outputs
            fresh = news(rows, self.stated, outputs)
            self.stated = plain(rows, outputs)
            return [fresh]
        new = list(self.registry.queries.keys() - self._known)
        return [rows[np.isin(rows[:, layout.O_QUERY], new)] for rows in found]

    def take_over(
        self, waiting: np.ndarray, found: np.ndarray, stated: np.ndarray, counts: Mapping[str, Any]
    ) -> CompiledNetwork:
        """Make the network of a snapshot, empty: nothing is loaded; only matches found there are reported."""
        self.leave_sweep()
        registry = self.registry
        self.intervals = counts["intervals"]
        compiled = self._built(registry.listeners(), self.options, self.intervals)
        self.networks, self._generation, self._found = Networks(compiled), registry.generation, [found]
        self._known, self.waiting, self.stated = set(registry.queries), waiting, stated
        self.started, self.triples = counts["started"], counts["poured"]
        self.now = counts["now"]
        self.events, self.event_blocks = counts["events"], counts["event_blocks"]
        self.collected, self.shed = counts["collected"], counts["shed"]
        self.until, self.flushing = counts["until"], counts["flushing"]
        return compiled

    def pour(self, rows: np.ndarray, clock: Clock, came: int = 0) -> Iterator[list[Matches]]:
        """Pour rows in time order; yield the matches of all queries, batch by batch.

        Rows that are not poured yet wait: a pour may be left, or another come in between; no row is lost or misplaced.
        `came`: the triples that were read to get these rows.  Terms of the dropped ones count for the next sweep, too.
        """
        self.wait(rows)
        behind = self.triples + came
        self._follow()  # a new network may have found something
        if self._found:
            yield from self._first_matches(clock)
        yield from self._poured(clock)
        yield from self._decided(clock)
        if behind > self.triples:
            self._sweep_on(SWEPT_A_ROW * (behind - self.triples))

    def _poured(self, clock: Clock) -> Iterator[list[Matches]]:
        """Pour the rows that wait; yield what is found."""
        while len(self.waiting):
            networks = self._follow()
            if networks.feeding and (yield from self._fed(int(self.waiting[0, END]), clock)):
                continue
            next_rows = self.waiting[:_PIECE] if self._sweep is not None else self.waiting
            next_rows = _before_reports(next_rows, networks)
            if networks.asks_for_events:
                self._number_events(next_rows)
            outs, poured, said = networks.pour_some(next_rows, self.terms.values)
            if networks.views and poured:
                networks.see(next_rows[:poured])
            self._count(poured, networks.main)
            if any(map(len, outs)):
                yield from self._told(networks, outs, clock)
                yield from self._first_matches(clock)
            elif said != layout.DONE:
                self._meet(said, networks.main)
            if poured:
                self.now = max(self.now, int(next_rows[poured - 1, END]))
                yield from self._reported(self.now, clock)
            self._sweep_on(SWEPT_A_ROW * min(poured, _PIECE))

    def _fed(self, until: int, clock: Clock) -> Generator[list[Matches], None, bool]:
        """Make the reports before a time of views that feed, in order; stop where one has built what is to pour."""
        while views := self._follow().feeding:
            time, _, view = min((each.next_time(until), place, each) for place, each in enumerate(views))
            if time >= until:
                return False
            for batch in view.reports(time + 1, clock):
                yield self._noted([batch])
                stream = stream_of(view.query)
                number = self.registry.stream_number(None if stream is None else stream[1:-1].decode())
                rows = rows_of(batch, time, number, self.new_events(len(batch)))
                if len(rows):
                    self.waiting = np.concatenate([rows, self.waiting])
                    return True
        return False

    def _meet(self, said: int, compiled: CompiledNetwork) -> None:
        """Mend the cause that stopped the kernel, or raise an error that tells the user how to."""
        if said == layout.INTERVAL:
            self._meet_interval()
        elif said == layout.AT_LIMIT:
            raise self._at_bound()
        elif said == layout.NEEDS_ARENA:
            raise compiled.runtime.full()
        elif said == layout.ENDLESS:
            raise self._endless(compiled)

    def _decided(self, clock: Clock) -> Iterator[list[Matches]]:
        """Yield the matches of decisions that are due by the clock."""
        until, flushing, self.until, self.flushing = self.until, self.flushing, BEFORE_ALL, False
        while (until > BEFORE_ALL or flushing) and (yield from self._fed(max(until, self.now + flushing), clock)):
            yield from self._poured(clock)
        if until > BEFORE_ALL:
            networks = self._follow()
            outs, said = networks.advance(until, self.terms.values)
            if said == layout.AT_LIMIT:
                self.advance(until)  # once there is room
            yield from self._told(networks, outs, clock)
            yield from self._reported(until, clock)
            self._meet(said, networks.main)
        if flushing:
            networks = self._follow()
            outs, said = networks.foretell(self.terms.values)
            yield from self._told(networks, outs, clock, ahead=True)
            yield from self._reported(self.now + 1, clock)
            if said == layout.ENDLESS:  # nothing is given up: nobody has asked
                raise endless(networks.main, self.options.max_derivations)
            self._meet(said, networks.main)

    def _told(
        self, networks: Networks, outs: list[np.ndarray], clock: Clock, *, ahead: bool = False
    ) -> Iterator[list[Matches]]:
        """Yield the matches of output rows, if there are any."""
        found = networks.matches(outs, clock, ahead=ahead) if any(map(len, outs)) else []
        if found:  # Python, or DISTINCT, may refuse all
            yield self._noted(found)

    def _reported(self, until: int, clock: Clock) -> Iterator[list[Matches]]:
        """Yield the rows of the reports before a time, each report's by themselves."""
        if self.networks is None or not (self.networks.views or self._generation != self.registry.generation):
            return
        made = [batch for view in self._follow().views for batch in view.reports(until, clock)]
        for batch in made:  # all are made by now: what is told may change the networks
            yield self._noted([batch])

    @property
    def due(self) -> int:
        """The earliest time of a decision or a report that waits for the clock; AFTER_ALL: none does."""
        return self._follow().due

    @property
    def undecided(self) -> int:
        """How many tuples wait for a decision."""
        return sum(each.runtime.undecided for each in self._follow().all)

    def advance(self, until: int) -> None:
        """Let the next pour make the decisions that are due before a time."""
        self.until = max(self.until, until)

    def flush(self) -> None:
        """Let the next pour tell the matches that there are if nothing more comes; the networks do not change by it."""
        self.flushing = True

    def new_events(self, count: int) -> int:
        """Take `count` event numbers; return the first, as a row has it: the others are below it."""
        first = -1 - self.events
        self.events += count
        return first

    def _number_events(self, rows: np.ndarray) -> None:
        """Give each triple that came alone the number of an event of its own."""
        alone = np.flatnonzero(rows[:, EVENT] == 0)
        rows[alone, EVENT] = self.new_events(len(alone)) - np.arange(len(alone))

    def _count(self, poured: int, compiled: CompiledNetwork) -> None:
        """Note how many rows have gone in, and log what has left early."""
        self.waiting = self.waiting[poured:]
        self.triples += poured
        if poured:
            self.stated = self.stated[:0]
        if self.options.shed:
            self._shed_tally.log(self.shed + totals(compiled.runtime.arena).shed)

    def wait(self, rows: np.ndarray) -> None:
        """Let rows wait for the next pour, behind those that wait already."""
        if len(rows):
            self.waiting = np.concatenate([self.waiting, rows]) if len(self.waiting) else rows
            self.started = True

    def _at_bound(self) -> LimitError:
        self.waiting = self.waiting.copy()
        compiled, most = self.main, self.options.max_runs
        if most and compiled is not None and runs_of(compiled.runtime.arena, compiled.runtime.network) >= most:
            log.warning("the bound of %d runs is met; %d triples wait", most, len(self.waiting))
            return LimitError(
                f"there are {most:,} runs of sequences or more, which is the bound; {len(self.waiting):,} triples "
                "wait until it is made room",
                hint="narrow WITHIN, write ; in place of : (also between repetitions), or raise max_runs",
            )
        log.warning("the bound of %d live rows is met; %d triples wait", self.options.max_live_rows, len(self.waiting))
        return LimitError(
            f"there are {self.options.max_live_rows:,} live rows, which is the bound; {len(self.waiting):,} "
            "triples wait until it is made room",
            hint='narrow a window, remove a query, raise max_live_rows, or choose at_limit="shed"',
        )

    def _endless(self, compiled: CompiledNetwork) -> LimitError:
        """Drop the triples that rules have yet to build at the instant; return the error that says so."""
        compiled.runtime.give_up_instant()
        return endless(compiled, self.options.max_derivations)

    def check_rules(self) -> None:
        """Refuse rules that decide about an instant by triples that depend on that decision."""
        listeners = self.registry.rules
        compiled = self._built(listeners, self.options, True)
        compiled.leave()

    def _first_matches(self, clock: Clock) -> Iterator[list[Matches]]:
        """Yield the first matches of new queries: of static data alone, or of rows that the memories held."""
        while self._found:
            batches = self._follow().first_matches(self._found.pop(0), clock)
            if batches:
                yield self._noted(batches)

    @property
    def found(self) -> np.ndarray:
        """Return the output rows that are yet to be reported, as one array."""
        return joined(self._found)

    def _noted(self, found: list[Matches]) -> list[Matches]:
        for batch in found:
            self._batches.add(batch)
        if self._sweep is not None:
            self._sweep.spare(found)
        return found

    @contextmanager
    def reading(self, gate: threading.Lock, held: Held) -> Iterator[None]:
        """Let the dictionary be swept only while the gate is shut, and spare what is held."""
        with self.lock:
            self._readings.append((gate, held))
        try:
            yield
        finally:
            with self.lock:
                self._readings.remove((gate, held))

    def sweep(self) -> int:
        """Reclaim the terms that nothing uses: no row, no pattern, no static data, no match that somebody holds."""
        self.leave_sweep()
        self.current().runtime.collect()
        sweep = self._begun()
        while not sweep.go_on(1 << 62):
            continue
        return sweep.freed

    def leave_sweep(self) -> None:
        """Give up a sweep that is under way."""
        if self._sweep is not None:
            self._sweep.leave()
            self._sweep = None

    def _sweep_on(self, work: int) -> None:
        """Go on with the sweep that is under way, or begin one when it is due."""
        if self._sweep is None and self.terms.due() and self._pays():
            self._sweep = self._begun()
            log.debug("a sweep of the dictionary begins, at %d terms", len(self.terms))
        if self._sweep is not None and self._sweep.go_on(work):
            log.debug("the sweep has ended: %d terms are reclaimed", self._sweep.freed)
            self._sweep = None

    def _pays(self) -> bool:
        """Tell whether a sweep may find anything.

        After a sweep that has freed almost nothing, it is known how many terms the rows use.  While a window fills,
        rows and terms grow at that ratio, and a sweep would find nothing; so none begins until there are more terms.
        """
        before = self._rows_before + self._rows_ahead
        growth = (self._live_rows() + self._rows_ahead) / before if before else 1.0
        unaccounted = len(self.terms) - self.terms.in_use(growth)
        return self.terms.worthwhile or _FEW * unaccounted >= self.terms.passing or self.terms.due(_MANY_TIMES)

    def _live_rows(self) -> int:
        return 0 if self.networks is None else self.networks.live_rows

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Let no reader scan meanwhile: then all its rows can be found, and the dictionary does not grow."""
        with ExitStack() as gates:
            for gate, _ in self._readings:
                gates.enter_context(gate)
            yield

    def _begun(self) -> Sweep:
        """Begin a sweep."""
        with self.standing_still():
            waiting = [rows for _, held in self._readings for rows in held()]
            waiting += [self.waiting, *(of() for of in self.holders)]
            marks = self.terms.begin_sweep()
        self._rows_before, self._rows_ahead = self._live_rows(), sum(map(len, waiting))
        held = [self.found[:, layout.O_COLUMNS :], *(rows[:, SUBJECT : OBJECT + 1] for rows in waiting)]
        return Sweep(self.terms, marks, self._follow().all, held, self._batches)


def _before_reports(rows: np.ndarray, networks: Networks) -> np.ndarray:
    """Return the rows that come before a view may feed something; the first instant in any case."""
    if not networks.feeding:
        return rows
    last = min(each.may_report(int(rows[0, END])) for each in networks.feeding)
    return rows[: int(np.searchsorted(rows[:, END], last, "right"))]
