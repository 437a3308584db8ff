"""The networks of a registry's queries: made when these change, and taken over from one another.

Where it stands: beside data's way; `retewave.engine.matcher` pours into them.
A change of queries marks the networks stale.  Before the next row, a few changes make the young network anew
(`retewave/engine/networks.py`); many changes make the main network anew, of all queries.  The new network takes over
the rows of the former α-memories.  `current` returns one network of all queries.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from retewave.compiler.lower.levels import Unstratified
from retewave.compiler.plan.shape import Listener
from retewave.engine.compiled import CompiledNetwork, build
from retewave.engine.datasets import Datasets
from retewave.engine.fresh import fresh_rows, joined, plain
from retewave.engine.loading import load
from retewave.engine.networks import Networks, are_few
from retewave.engine.registry import Registry
from retewave.engine.rules import unstratified
from retewave.engine.sweep import rehearse
from retewave.engine.sweeps import Sweeps
from retewave.log import log
from retewave.rete.counters import totals
from retewave.rete.memories import Options
from retewave.rete.terms.acceptance import Acceptance
from retewave.rete.terms.dictionary import Terms
from retewave.rete.words import layout
from retewave.rete.words.rows import ROW_WIDTH
from retewave.windows.intervals import BEFORE_ALL

__all__ = ["Following"]

_SETTLING = 1 << 8  # rows a query after which the young network's queries join the main one: until then it is cheaper


class Following:
    """The networks of a registry's queries, one after another: the engine's state."""

    def __init__(self, terms: Terms, registry: Registry, datasets: Datasets, options: Options) -> None:
        self.lock = threading.RLock()  # held while anything of an engine is read or changed
        self.terms = terms  # the dictionary
        self.registry = registry  # the queries
        registry.network = self.current
        self.datasets = datasets  # schema and static data
        self.options = options  # the user's choices
        self.networks: Networks | None = None  # None before they are first needed
        self.started = False  # a triple of the stream has come
        self.triples = 0  # rows poured
        self.collected, self.shed = 0, 0  # rows, by networks before this one
        self._generation = -1  # generation of the registry when the networks were made
        self._settles = 0  # the number of rows poured at which the young network's queries join the main one
        self._found: list[np.ndarray] = []  # output rows of a new network that are yet to be reported
        self._known: set[int] = set()  # queries whose matches so far have been found
        self.stated = joined([])  # their matches before the stream, as plain output rows
        self.waiting = np.empty((0, ROW_WIDTH), dtype=np.int64)  # rows that the bound on live rows holds up
        self.until = BEFORE_ALL  # decisions due before this time are made when all waiting rows are poured
        self.heard = BEFORE_ALL  # then the clock is here, at least
        self.flushing = False  # then tell the matches that there are if nothing more comes
        self.holders: list[Callable[[], np.ndarray]] = []  # rows that wait elsewhere (for late items)
        self.now = BEFORE_ALL  # the end of the last row poured
        self.events = 0  # event numbers taken so far, by pushes and by triples that readers brought alone
        self.event_blocks = 1  # blocks of event numbers taken so far, by readers
        self.intervals = False  # an item was not an instant, or may not have been
        self.sweeps = Sweeps(self)

    def acceptance(self) -> Acceptance:
        """Return which triples a reader may drop; threads of readers call this, and must never make a network."""
        return (self.networks or Networks(self.current())).acceptance

    @property
    def main(self) -> CompiledNetwork | None:
        """The main network; None before the first is made."""
        return None if self.networks is None else self.networks.main

    def current(self) -> CompiledNetwork:
        """Return the one network of the queries as they are now; a new one is not loaded yet."""
        if self.networks is None or self._generation != self.registry.generation or not self.networks.one:
            self.renew()
        assert self.networks is not None
        return self.networks.main

    def follow(self) -> Networks:
        """Return networks of the queries as they are now."""
        networks, stale = self.networks, self._generation != self.registry.generation
        if networks is None or (stale and not self._may_be_young(networks)):
            self.renew()
        elif stale:
            self._renew_young(networks)
        elif not networks.one and self.triples >= self._settles:
            self.renew()
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
        """Make the young network anew, of the queries that the main network lacks, if there are any."""
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
        young = self.built(listeners, self.options, self.intervals or networks.main.runtime.has_ends)
        self._begin_to_look(young, networks.all)
        self.sweeps.follow(networks.young, young)
        self._found += self._new(list(load(young, self.terms, self.datasets.static, networks.all)), young)
        for each in reversed(networks.all):
            young.take_over(each)
        return young

    def renew(self) -> None:
        """Make one network of all queries, and keep the matches that new queries have in it for the next `pour`."""
        self.sweeps.leave()
        began = time.perf_counter()
        former, registry = () if self.networks is None else self.networks.all, self.registry
        if any(each.runtime.has_ends for each in former):
            self.intervals = True  # the new network must keep the ends of rows that may be intervals
        for each in former:
            each.runtime.collect()  # else a new query would find rows that are only not collected yet
        without_bound = replace(self.options, max_live_rows=0, max_runs=0)
        compiled = self.built(registry.listeners(), without_bound, self.intervals)
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
        """Let a network decide no absence that reaches back before its rows; take over the clock of the others."""
        if self.triples > 0:
            compiled.look_from(max(totals(each.runtime.arena).now for each in former) + 1)

    def _give_up(self, former: CompiledNetwork) -> None:
        """Go on without a network."""
        if former.feeding.rules and not self.registry.rules:  # the triples of the last rule come in all the same
            self.waiting = np.concatenate([former.runtime.yet_to_come, self.waiting])
        held = totals(former.runtime.arena)
        self.collected, self.shed = self.collected + held.collected, self.shed + held.shed
        self.sweeps.follow(former, None)
        former.leave()
        self.terms.worthwhile = True  # terms that only the former one has used can go

    def built(self, listeners: Sequence[Listener], options: Options, intervals: bool) -> CompiledNetwork:
        """Return a network for some queries, empty."""
        queries = {each.number: self.registry.queries[each.number] for each in listeners}
        schema, static = self.datasets.schema.network, self.datasets.static
        try:
            return build(listeners, queries, schema, self.terms, static, options, intervals, self.registry.streams)
        except Unstratified as e:
            raise unstratified(e, queries) from None

    def meet_interval(self) -> None:
        """Make the network anew, with room for the ends of items: the first interval has come."""
        self.current()
        self.intervals = True
        self.renew()

    def _new(self, found: list[np.ndarray], compiled: CompiledNetwork) -> list[np.ndarray]:
        """Return the rows of a new network's first output that were not told: before the stream, of any query."""
        if self.triples == 0:
            rows, outputs = joined(found), compiled.lowered.outputs
            fresh = fresh_rows(rows, self.stated, outputs)
            self.stated = plain(rows, outputs)
            return [fresh]
        new = list(self.registry.queries.keys() - self._known)
        return [rows[np.isin(rows[:, layout.O_QUERY], new)] for rows in found]

    def take_over(
        self, waiting: np.ndarray, found: np.ndarray, stated: np.ndarray, counts: Mapping[str, Any]
    ) -> CompiledNetwork:
        """Make the network of a snapshot, empty: nothing is loaded; only matches found there are reported."""
        self.sweeps.leave()
        registry = self.registry
        self.intervals = counts["intervals"]
        compiled = self.built(registry.listeners(), self.options, self.intervals)
        self.networks, self._generation, self._found = Networks(compiled), registry.generation, [found]
        self._known, self.waiting, self.stated = set(registry.queries), waiting, stated
        self.started, self.triples = counts["started"], counts["poured"]
        self.now = counts["now"]
        self.events, self.event_blocks = counts["events"], counts["event_blocks"]
        self.collected, self.shed = counts["collected"], counts["shed"]
        self.until, self.heard, self.flushing = counts["until"], counts["heard"], counts["flushing"]
        return compiled

    @property
    def found(self) -> np.ndarray:
        """Return the output rows that are yet to be reported, as an array."""
        return joined(self._found)

    def check_rules(self) -> None:
        """Refuse rules that decide about an instant by triples that depend on that decision."""
        listeners = self.registry.rules
        compiled = self.built(listeners, self.options, True)
        compiled.leave()

    @property
    def live_rows(self) -> int:
        """Rows that memories hold."""
        return 0 if self.networks is None else self.networks.live_rows
