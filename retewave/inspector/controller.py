"""The controller: runs an engine over its readers in one thread; pauses, steps and reports how far it is.

Data's way: readers -> pump -> **controller** (how many rows, and when) -> engine.
Invariant: the engine is touched under one lock only; a command is done, or has taken effect, when its call returns.
Left out: pictures and pages.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import networkx
import numpy as np

from retewave.engine.compiled import CompiledNetwork
from retewave.engine.engine import Engine
from retewave.engine.pump import Arrived
from retewave.errors import RetewaveError, UsageError
from retewave.inspector.paths import leading_to
from retewave.inspector.portions import Portions
from retewave.inspector.reading import StaticRows, counts_by_node, matches_of_query, rows_of_memory
from retewave.io.reading.reader import Reader
from retewave.rete.facts import FACT_ALPHA
from retewave.rete.words.rows import END, OBJECT, STREAM, SUBJECT

__all__ = ["Controller", "Effect"]

TICK = 0.05  # seconds between two portions of a run
MOST_ROWS = 2_000  # rows of a portion, so that a pause is never far

_REFUSALS = {"refused_by_filter", "refused_by_window", "refused_by_relation"}  # a key without a partner just waits


@dataclass(frozen=True)
class Effect:
    """What one triple did."""

    triple: tuple[str, str, str]  # as canonical N-Triples
    time: str  # when it ends, as the user tells times
    stream: str | None  # the IRI of its stream; None: no stream
    touched: tuple[str, ...]  # the nodes that it went through, by name
    refused: tuple[str, ...]  # those nodes where a filter, a window or a relation refused a row
    changes: dict[str, dict[str, int]]  # node -> the counters that changed, and by how much
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
        """Let one triple in and return what it did; nothing at the end of the streams."""
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
                "matches": sum(query.matched for query in engine.queries),
                "nodes": counts_by_node(engine.matcher.current()),
                "last": None if self.last is None else self.last.__dict__,
            }

    def memory(self, slot: int, offset: int = 0) -> dict[str, Any]:
        """Return a page of a memory's rows, decoded."""
        with self._lock:
            return rows_of_memory(self.engine, slot, offset, self._static)

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
                return
            most -= len(arrived.rows)
            self._take(arrived)

    def _stepped(self) -> Effect | None:
        arrived = self._next(1)
        if arrived is None:
            return None
        compiled = self.engine.matcher.current()
        before = counts_by_node(compiled)
        (row,) = arrived.rows
        facts = compiled.runtime.static_facts(arrived.rows, self.engine.terms.values)
        subject, predicate, object_ = (self.engine.terms.text(int(term)) for term in row[SUBJECT : OBJECT + 1])
        found = self._take(arrived)
        after = counts_by_node(compiled)
        changes = {name: _difference(before[name], counts) for name, counts in after.items()}
        changes = {name: changed for name, changed in changes.items() if changed}
        entered = [
            name for name, changed in changes.items() if not changed.keys() <= {"live", "collected", "remembered"}
        ]
        alphas = [f"alpha:{alpha}" for alpha in np.unique(facts[:, FACT_ALPHA]).tolist()]
        way = leading_to(self._graph(), (subject, predicate, object_), alphas)
        refused = [name for name in entered if _REFUSALS & changes[name].keys()]
        return Effect(
            (subject.decode(), predicate.decode(), object_.decode()),
            str(arrived.clock.decode(int(row[END]))),
            next((iri for iri, number in self.engine.registry.streams.items() if number == row[STREAM]), None),
            (*way, *alphas, *entered),
            tuple(refused),
            changes,
            found,
        )

    def _graph(self) -> networkx.MultiDiGraph:
        """Return the engine's graph; it is the same as long as the network is."""
        compiled = self.engine.matcher.current()
        if self._drawn is None or self._drawn[0] is not compiled:
            self._drawn = compiled, self.engine.graph()
        return self._drawn[1]

    def _take(self, arrived: Arrived) -> int:
        """Pour rows in; return how many matches they complete."""
        try:
            found = sum(len(batch) for batches in self.engine.take(arrived) for batch in batches)
        except RetewaveError as error:
            self.state, self.error = "failed", str(error)
            return 0
        self.poured += len(arrived.rows)
        return found

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
        if arrived is None:
            for _ in self.engine.run_batches():  # no reader: the engine lets go of the rows that wait for late items
                pass
            self.state = "ended"
        return arrived


def _difference(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {name: value - before[name] for name, value in after.items() if value != before[name]}
