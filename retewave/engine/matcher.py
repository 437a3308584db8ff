"""The networks that run: rows are poured into them, and decisions and reports are made when they are due.

Data's way: rows in time order -> **networks** -> batches of matches.
Which networks these are, as queries come and go, says `retewave.engine.following`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING

import numpy as np

from retewave.engine.compiled import CompiledNetwork
from retewave.engine.datasets import Datasets
from retewave.engine.feeding_views import rows_of, stream_of
from retewave.engine.following import Following
from retewave.engine.networks import Networks
from retewave.engine.registry import Registry
from retewave.engine.rules import endless
from retewave.errors import LimitError
from retewave.log import Tally, log
from retewave.match import Matches
from retewave.rete.counters import runs_of, totals
from retewave.rete.memories import Options
from retewave.rete.terms.dictionary import Terms
from retewave.rete.words import layout
from retewave.rete.words.rows import END, EVENT
from retewave.windows.intervals import BEFORE_ALL
from retewave.windows.times import Clock

if TYPE_CHECKING:
    from retewave.io.reading.position import Position

__all__ = ["Matcher"]


SWEPT_A_ROW = 16  # rows and terms that a sweep goes through for each row poured: it ends before the next is due
_PIECE = 1 << 11  # rows poured between two slices of a sweep: short, so that no reader and no match waits for long


class Matcher(Following):
    """The networks of a registry's queries, and what is poured into them.

    A caller of a method holds the lock, except threads of readers, which call `acceptance` only.
    """

    def __init__(self, terms: Terms, registry: Registry, datasets: Datasets, options: Options) -> None:
        super().__init__(terms, registry, datasets, options)
        self._shed_tally = Tally("%s of the oldest rows are dropped, as the bound on live rows is met")
        self.positions: Callable[[], tuple[Position, ...]] = tuple  # how far the readers of the latest run have come

    def pour(self, rows: np.ndarray, clock: Clock, came: int = 0) -> Iterator[list[Matches]]:
        """Pour rows in time order; yield the matches of all queries, batch by batch.

        Rows that are not poured yet wait: a pour may be left, or another come in between; no row is lost or misplaced.
        `came`: the triples that were read to get these rows.  Terms of the dropped ones count for the next sweep, too.
        """
        self.wait(rows)
        behind = self.triples + came
        self.follow()  # a new network may have found something
        if self._found:
            yield from self._first_matches(clock)
        yield from self._poured(clock)
        yield from self._decided(clock)
        if behind > self.triples:
            self.sweeps.go_on(SWEPT_A_ROW * (behind - self.triples))

    def _poured(self, clock: Clock) -> Iterator[list[Matches]]:
        """Pour the rows that wait; yield what is found."""
        while len(self.waiting):
            networks = self.follow()
            if networks.feeding and (yield from self._fed(int(self.waiting[0, END]), clock)):
                continue
            next_rows = self.waiting[:_PIECE] if self.sweeps.under_way else self.waiting
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
            self.sweeps.go_on(SWEPT_A_ROW * min(poured, _PIECE))

    def _fed(self, until: int, clock: Clock) -> Generator[list[Matches], None, bool]:
        """Make the reports before a time of views that feed, in order; stop at a report with triples to pour."""
        while views := self.follow().feeding:
            time, _, view = min((each.next_time(until), place, each) for place, each in enumerate(views))
            if time >= until:
                return False
            for batch in view.reports(time + 1, clock):
                yield self.sweeps.note([batch])
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
            self.meet_interval()
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
            networks = self.follow()
            outs, said = networks.advance(until, self.terms.values)
            if said == layout.AT_LIMIT:
                self.advance(until)  # once there is room
            yield from self._told(networks, outs, clock)
            yield from self._reported(until, clock)
            self._meet(said, networks.main)
        self.now, self.heard = max(self.now, self.heard), BEFORE_ALL
        if flushing:
            networks = self.follow()
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
            yield self.sweeps.note(found)

    def _reported(self, until: int, clock: Clock) -> Iterator[list[Matches]]:
        """Yield the rows of the reports before a time, each report's by themselves."""
        if self.networks is None or not (self.networks.views or self._generation != self.registry.generation):
            return
        made = [batch for view in self.follow().views for batch in view.reports(until, clock)]
        for batch in made:  # all are made by now: callbacks may change the networks
            yield self.sweeps.note([batch])

    @property
    def due(self) -> int:
        """The earliest time of a decision or a report that waits for the clock; AFTER_ALL: nothing waits."""
        return self.follow().due

    @property
    def undecided(self) -> int:
        """How many tuples wait for a decision."""
        return sum(each.runtime.undecided for each in self.follow().all)

    def advance(self, until: int) -> None:
        """Let the next pour make the decisions that are due before a time."""
        self.until = max(self.until, until)

    def hear(self, time: int) -> None:
        """Let the next pour take it that something has come at a time, which no query asks for."""
        self.advance(time)
        self.heard = max(self.heard, time)

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
        """Note how many rows have gone in, and log how many were shed."""
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

    def _first_matches(self, clock: Clock) -> Iterator[list[Matches]]:
        """Yield the first matches of new queries: of static data alone, or of rows that the memories held."""
        while self._found:
            batches = self.follow().first_matches(self._found.pop(0), clock)
            if batches:
                yield self.sweeps.note(batches)

    def sweep(self) -> int:
        """Reclaim the terms that nothing uses: no row, no pattern, no static data, no match that somebody holds."""
        self.sweeps.leave()
        self.current().runtime.collect()
        return self.sweeps.whole()


def _before_reports(rows: np.ndarray, networks: Networks) -> np.ndarray:
    """Return the rows that come before a view may feed something; the first instant in any case."""
    if not networks.feeding:
        return rows
    last = min(each.may_report(int(rows[0, END])) for each in networks.feeding)
    return rows[: int(np.searchsorted(rows[:, END], last, "right"))]
