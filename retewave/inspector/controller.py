"""The controller: runs an engine over its readers in one thread; pauses, steps and reports how far it is.

Data's way: readers -> pump -> **controller** (how many rows, and when) -> engine.
A step lets one triple in; where something is to be decided before that triple's time, that is a step of its own.
Invariant: the engine is touched under one lock only; a command is done, or has taken effect, when its call returns.
Left out: pictures and pages.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import networkx
import numpy as np

from retewave.engine.compiled import CompiledNetwork
from retewave.engine.engine import Engine
from retewave.engine.pump import Arrived
from retewave.errors import RetewaveError, UsageError
from retewave.inspector.paths import leading_to
from retewave.inspector.portions import Portions
from retewave.inspector.reading import StaticRows, counts_by_node, matches_of_query, rows_of_memory, waiting_at_probe
from retewave.io.reading.reader import Reader
from retewave.match import Matches
from retewave.rete.counters import next_due, probe_counters
from retewave.rete.facts import FACT_ALPHA
from retewave.rete.words.layout import AT_DEADLINE
from retewave.rete.words.rows import END, OBJECT, STREAM, SUBJECT
from retewave.windows.times import spell_instant

__all__ = ["Controller", "Effect"]

TICK = 0.05  # seconds between two portions of a run
MOST_ROWS = 2_000  # rows of a portion, so that a pause is never far

_Counts = dict[str, dict[str, int]]  # node -> what is counted of it

_AGING = {"live", "collected", "remembered"}  # what changes though nothing has come to a node
_REFUSALS = {  # a key without a partner just waits
    "refused_by_filter",
    "refused_by_window",
    "refused_by_relation",
    "refused_as_used_up",
}


@dataclass(frozen=True)
class Effect:
    """What one triple did, or the decision of what was due before it."""

    what: Literal["triple", "instant", "deadline", "report"]  # a triple came, an instant was closed, the time of a
    # deadline or of a view's report has come
    triple: tuple[str, ...]  # as canonical N-Triples; empty where none came
    time: str  # when it ends, or what is closed or has come, as the user tells times
    stream: str | None  # the IRI of its stream; None: it has none
    touched: tuple[str, ...]  # the nodes that it went through, by name
    refused: tuple[str, ...]  # those of them where a filter, a window, a relation or a probe refused something
    changes: dict[str, dict[str, int]]  # node -> what was counted more, or less
    matches: int  # matches that it completed


class Controller:
    """Lets an engine run, pause and step over some readers."""

    def __init__(self, engine: Engine, readers: Sequence[Reader], pace: float | None = None) -> None:
        self.engine, self.readers = engine, list(readers)
        self.state = "paused"  # paused, running, ended, failed
        self.pace = pace  # triples a second of the wall clock; None: as fast as it goes
        self.last: Effect | None = None  # the last single step
        self.error = ""  # what ended it, where it failed
        self.poured = 0  # triples that a pattern could use, so far
        self._static = StaticRows(engine)
        self._drawn: tuple[CompiledNetwork, networkx.MultiDiGraph] | None = None  # the graph of a network
        self._lock = threading.RLock()  # held by the thread that touches the engine
        self._wake = threading.Condition(self._lock)
        self._portions = Portions(engine, self.readers)
        engine.readers += self.readers
        self._closed = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    # ---- commands ----
    def run(self) -> None:
        """Let triples in, at the pace."""
        with self._wake:
            if self.state == "paused":
                self.state, self.last = "running", None
                self._wake.notify_all()

    def pause(self) -> None:
        """Let nothing more in."""
        with self._wake:
            if self.state == "running":
                self.state = "paused"

    def step(self) -> Effect | None:
        """Let one triple in, or decide what is due before it; return what that did, or nothing at the end."""
        with self._wake:
            if self.state == "running":
                self.state = "paused"
            if self.state == "paused":
                self.last = self._stepped()
            return self.last

    def set_pace(self, pace: float | None) -> None:
        """Set how many triples a second of the wall clock come in; None: as fast as it goes."""
        if pace is not None and not 0 < pace <= 1e9:
            raise UsageError(f"a pace is a positive number of triples a second, not {pace}")
        with self._wake:
            self.pace = pace

    def close(self) -> None:
        """End the thread."""
        with self._wake:
            self._closed = True
            self._wake.notify_all()
        self._thread.join(timeout=5)
        self._portions.close()

    # ---- what is there ----
    def snapshot(self) -> dict[str, Any]:
        """Return how far it is and all counts, as plain data."""
        with self._lock:
            engine = self.engine
            stats = engine.stats()
            return {
                "state": self.state,
                "error": self.error,
                "pace": self.pace,
                "poured": self.poured,
                "now": "" if engine.order.newest is None else str(engine.shown_clock.decode(engine.order.newest)),
                **{name: stats[name] for name in ("triples", "live_rows", "static_rows", "collected", "late", "terms")},
                "waiting": stats["waiting"],
                "next_due": stats["next_due"],
                "matches": sum(query.matched for query in engine.queries),
                "nodes": counts_by_node(engine.matcher.current()),
                "last": None if self.last is None else self.last.__dict__,
            }

    def memory(self, slot: int, offset: int = 0) -> dict[str, Any]:
        """Return a page of a memory's rows, decoded."""
        with self._lock:
            return rows_of_memory(self.engine, slot, offset, self._static)

    def waiting(self, probe: int, offset: int = 0) -> dict[str, Any]:
        """Return a page of the tuples that wait at a probe, decoded."""
        with self._lock:
            return waiting_at_probe(self.engine, probe, offset)

    def matches(self, name: str, offset: int = 0) -> dict[str, Any]:
        """Return a page of a query's last matches, decoded."""
        with self._lock:
            return matches_of_query(self.engine, name, offset)

    # ---- the thread ----
    def _work(self) -> None:
        debt = 0.0  # triples that are due by the pace, and have not come in
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self.state == "running" or self._closed)
                if self._closed:
                    return
                began = time.monotonic()
                debt = 1.0 if self.pace is None else min(debt + self.pace * TICK, MOST_ROWS)
                most = MOST_ROWS if self.pace is None else int(debt)
                debt -= most if self.pace is not None else 0
                self._let_in(most)
            rest = TICK - (time.monotonic() - began)
            time.sleep(max(0.0 if self.pace is None else rest, 0.001))

    def _let_in(self, most: int) -> None:
        while most > 0 and self.state == "running":
            arrived = self._next(most)
            if arrived is None:
                self._end()
                return
            most -= len(arrived.rows)
            self._take(arrived)

    def _stepped(self) -> Effect | None:
        arrived = self._next(1)
        if self.state == "failed":
            return None
        due = self._due(at_end=arrived is None)
        if due is not None and (arrived is None or due < int(arrived.rows[0, END])):
            if arrived is not None:
                self._portions.give_back(arrived)
            return self._decided(due)
        if arrived is None:
            self._end()
            return None
        return self._let_one_in(arrived)

    def _let_one_in(self, arrived: Arrived) -> Effect:
        compiled = self.engine.matcher.current()
        before = counts_by_node(compiled)
        (row,) = arrived.rows
        facts = compiled.runtime.static_facts(arrived.rows, self.engine.terms.values)
        subject, predicate, object_ = (self.engine.terms.text(int(term)) for term in row[SUBJECT : OBJECT + 1])
        found = self._take(arrived)
        changes, entered, refused = _changed(before, counts_by_node(compiled))
        alphas = [f"alpha:{alpha}" for alpha in np.unique(facts[:, FACT_ALPHA]).tolist()]
        way = leading_to(self._graph(), (subject, predicate, object_), alphas)
        return Effect(
            "triple",
            (subject.decode(), predicate.decode(), object_.decode()),
            str(arrived.clock.decode(int(row[END]))),
            next((iri for iri, number in self.engine.registry.streams.items() if number == row[STREAM]), None),
            (*way, *alphas, *entered),
            refused,
            changes,
            found,
        )

    # ---- what is due ----
    def _due(self, *, at_end: bool) -> int | None:
        """Return when something is decided or reported next; nothing while rows wait in front of the network.

        At the end nothing moves the clock to the reports of views: they might go on for ever.
        """
        engine = self.engine
        if engine.order.waiting or len(engine.matcher.waiting):
            return None
        due = next_due(engine.matcher.current().runtime.arena)
        reports = () if at_end else (view.due for view in engine.matcher.follow().views)
        return min((each for each in (due, *reports) if each is not None), default=None)

    def _decided(self, due: int) -> Effect:
        """Decide what is due at a time."""
        engine, compiled = self.engine, self.engine.matcher.current()
        runtime, probes = compiled.runtime, compiled.lowered.network.probes
        before = counts_by_node(compiled)
        deadline = any(
            probe.decided == AT_DEADLINE and probe_counters(runtime.net, runtime.arena, number).due == due
            for number, probe in enumerate(probes)
        )
        report = any(view.due == due for view in engine.matcher.follow().views)
        with engine.lock:
            engine.matcher.advance(due + 1)
        found = self._told(engine.poured())
        changes, entered, refused = _changed(before, counts_by_node(compiled))
        time = spell_instant(engine.shown_clock.decode(due))
        what: Literal["instant", "deadline", "report"] = "deadline" if deadline else "report" if report else "instant"
        return Effect(what, (), time, None, entered, refused, changes, found)

    def _graph(self) -> networkx.MultiDiGraph:
        """Return the engine's graph; it is the same as long as the network is."""
        compiled = self.engine.matcher.current()
        if self._drawn is None or self._drawn[0] is not compiled:
            self._drawn = compiled, self.engine.graph()
        return self._drawn[1]

    def _take(self, arrived: Arrived) -> int:
        """Pour rows in; return how many matches they complete."""
        found = self._told(self.engine.take(arrived))
        if self.state != "failed":
            self.poured += len(arrived.rows)
        return found

    def _told(self, steps: Iterator[list[Matches]]) -> int:
        """Take the steps of a pour; return how many matches there are."""
        try:
            return sum(len(batch) for batches in steps for batch in batches)
        except RetewaveError as error:
            self.state, self.error = "failed", str(error)
            return 0

    def _next(self, most: int) -> Arrived | None:
        """Return up to `most` rows of the readers; nothing at their end."""
        try:
            arrived = self._portions.take(most)
            while arrived is not None and not len(arrived.rows):
                self._take(arrived)
                arrived = self._portions.take(most)
        except (RetewaveError, OSError) as error:
            self.state, self.error = "failed", str(error)
            return None
        return arrived

    def _end(self) -> None:
        """Let go of what waits, at the end of the streams."""
        if self.state == "failed":
            return
        for _ in self.engine.run_batches():  # no reader: it lets go of what waits for late items
            pass
        self.state = "ended"


def _changed(before: _Counts, after: _Counts) -> tuple[dict[str, dict[str, int]], tuple[str, ...], tuple[str, ...]]:
    """Return what was counted more or less, the nodes that something has entered, and where something was refused."""
    changes = {name: _difference(before[name], counts) for name, counts in after.items()}
    changes = {name: changed for name, changed in changes.items() if changed}
    entered = [name for name, changed in changes.items() if not changed.keys() <= _AGING]
    refused = [
        name
        for name in entered
        if _REFUSALS & changes[name].keys() or changes[name].get("decided", 0) > changes[name].get("passed", 0)
    ]
    return changes, tuple(entered), tuple(refused)


def _difference(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {name: value - before[name] for name, value in after.items() if value != before[name]}
