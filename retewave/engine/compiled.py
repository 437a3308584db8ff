"""From registered queries to a running network: plan, lower; `retewave.engine.loading` fills it.

A change of queries builds a new network, into which the rows of the old α-memories are poured; the old one is never
changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from retewave.compiler.expressions.programs import Programs
from retewave.compiler.lower import Lowered, Output, lower
from retewave.compiler.plan.identity import Identity, identities
from retewave.compiler.plan.plan import atoms_of, make_plan
from retewave.compiler.plan.producers import AlphaTest, Plan, Probe
from retewave.compiler.plan.producers import State as RunState
from retewave.compiler.plan.shape import Listener, shapes_of
from retewave.compiler.plan.walk import inputs_of, lookbacks
from retewave.engine.asking import Asking
from retewave.engine.deciding import Deciding
from retewave.engine.feeding import Feeding, feeder
from retewave.engine.foretold import Foretold
from retewave.engine.node_states import node_states
from retewave.engine.outcome import Outcome, Reports
from retewave.engine.past_last import PastLast, Skipping
from retewave.engine.stages import Once, Reporting
from retewave.engine.states import State, States, take_over
from retewave.epsilon.atoms import Atom
from retewave.epsilon.dispatch import Dispatch, routes
from retewave.epsilon.network import Network as EpsilonNetwork
from retewave.provenance.made_of import Sources
from retewave.query import Query, skipping
from retewave.rete.counters import totals
from retewave.rete.memories import Options
from retewave.rete.reports.cool_down import CoolDown
from retewave.rete.reports.distinct import Support
from retewave.rete.runtime import Runtime
from retewave.rete.terms.acceptance import ACCEPT, ACCEPT_OBJECT, Acceptance, accept_all
from retewave.rete.terms.dictionary import Terms
from retewave.rete.terms.kinds import Values
from retewave.rete.words.rows import OBJECT, PREDICATE
from retewave.views.running import RunningView
from retewave.windows.intervals import AFTER_ALL

__all__ = ["CompiledNetwork", "build", "fed_atoms"]


_EVERYTHING = accept_all()


@dataclass
class CompiledNetwork:
    """Queries compiled into a network: its plan, its arrays, and the means to read its output."""

    lowered: Lowered  # the plan and its records
    dispatch: Dispatch  # how ε led to the tables
    runtime: Runtime  # the arrays
    programs: Programs  # its filters, and the constants that it keeps in the dictionary
    outcome: Outcome  # makes matches of output rows
    feeding: Feeding  # builds triples of rules from output rows
    needed: Acceptance  # which triples a reader may drop once views have begun
    streams: Mapping[str, int]  # the numbers of the streams, by their IRIs

    @property
    def plan(self) -> Plan:
        """The plan."""
        return self.lowered.plan

    @property
    def acceptance(self) -> Acceptance:
        """Which triples a reader may drop: none while a view looks at all items, whatever they say."""
        return _EVERYTHING if any(each.sees_all for each in self.outcome.views.values()) else self.needed

    @property
    def nothing(self) -> np.ndarray:
        """No output rows."""
        return self.runtime.nothing

    @cached_property
    def identities(self) -> list[Identity]:
        """The identities of the plan's producers."""
        return identities(self.plan, self.streams)

    @cached_property
    def states(self) -> States:
        """The states, by identity: everything remembered that does not follow from rows."""
        return self._nodes | self.feeding.states | self.outcome.states(self.outcome.queries)

    @cached_property
    def _nodes(self) -> dict[str, State]:
        return node_states(self.lowered, self.runtime, lambda: self.identities)

    def take_over(self, former: CompiledNetwork) -> None:
        """Remember what nodes and queries remembered in another network.

        A query that was registered again is a new query, even with the same name and text: it has told nothing yet.
        """
        mine = self._nodes | self.feeding.states | self.outcome.states(former.outcome.queries)
        take_over(mine, former.states)
        self.runtime.go_on_from(totals(former.runtime.arena).now)

    def look_from(self, time: int) -> None:
        """Let probes decide no absence that reaches back before a time: rows from before it may be missing.

        A probe may look at tuples of another probe, which has looked back in turn: that time is added.
        """
        back = lookbacks(self.plan)
        for producer, probe in self.lowered.probes.items():
            record = self.plan.producers[producer]
            if isinstance(record, Probe) and record.chooses:
                continue
            looked = inputs_of(record)[1].producer
            single = isinstance(self.plan.producers[looked], AlphaTest | RunState)  # it came whole when it ended
            self.runtime.look_from(probe, min(time + back[looked], AFTER_ALL), time if single else AFTER_ALL)

    def advance(self) -> None:
        """Let all states forget what they need no more."""
        now = totals(self.runtime.arena).now
        for state in self.states.values():
            state.advance(now)

    def foretell(self, values: Values) -> Iterator[np.ndarray]:
        """Yield the output that there would be if nothing more came; the network stays as it is."""
        with self.feeding.as_before():
            yield from self.runtime.foretell(values)

    def leave(self) -> None:
        """Give it up, and let go of the constants of its queries."""
        self.programs.leave()


def build(
    listeners: Iterable[Listener],
    queries: Mapping[int, Query],
    network: EpsilonNetwork,
    terms: Terms,
    static: np.ndarray,
    options: Options,
    intervals: bool,
    streams: Mapping[str, int],
) -> CompiledNetwork:
    """Plan the queries over a schema's network, perhaps for items that are intervals; nothing is loaded yet."""
    listeners = tuple(listeners)
    intervals = intervals or any(each.all_rules for each in listeners)  # triples that rules build have intervals
    shapes = shapes_of(listeners)
    atoms = atoms_of(shapes)
    dispatch = routes(atoms, network)
    fed = fed_atoms(static, dispatch, terms)
    plan = make_plan(shapes, fed.__contains__)
    programs = Programs(terms)
    lowered = lower(plan, dispatch, programs, intervals)
    runtime = Runtime(lowered.network, options, programs.depth, np.zeros((max(1, len(programs.memos)), 1), np.uint8))
    deciding = Deciding(terms, runtime, programs, lowered.outputs)
    asking = Asking(terms, runtime, programs)
    runtime.ask = lambda kind, number, words: asking.is_true(lowered.asked[kind, number], words)
    rules = tuple(queries[each.number] for each in listeners if each.all_rules)
    written = {each.number: each.branches for each in listeners}
    sources = Sources(lowered.outputs, written, dispatch, streams, rules)
    views = {
        each.number: RunningView(queries[each.number], leaves, terms, sources)
        for each in listeners
        if (leaves := queries[each.number].leaves) is not None
    }
    reports, foretold = _reports(listeners, queries, lowered.outputs), _foretold(listeners, queries)
    outcome = Outcome(deciding, dict(queries), reports, foretold, sources, views)
    feeding = feeder(deciding, dict(queries), listeners, network, streams)
    runtime.build = feeding.rows
    return CompiledNetwork(lowered, dispatch, runtime, programs, outcome, feeding, _needed(lowered), streams)


def _reports(
    listeners: Iterable[Listener], queries: Mapping[int, Query], outputs: Mapping[tuple[int, int], Output]
) -> Reports:
    """Return the report stages, by query; queries without any are left out."""
    stages = {each.number: tuple(_stages(queries[each.number], each.width, outputs)) for each in listeners}
    return {number: found for number, found in stages.items() if found}


def _foretold(listeners: Collection[Listener], queries: Mapping[int, Query]) -> dict[int, Foretold]:
    """Return the stage of each query whose solutions may wait: for a decision, or for what rules build."""
    built = any(each.all_rules for each in listeners)
    return {
        each.number: Foretold(len(queries[each.number].columns))
        for each in listeners
        if built or any(branch.waits for branch in each.branches)
    }


def _stages(query: Query, width: int, outputs: Mapping[tuple[int, int], Output]) -> Iterator[Reporting]:
    """Yield the report stages of a query with a window of some width."""
    sequence = skipping(query.parsed)
    if sequence is not None:
        keys = [query.columns.index(each.name) for each in sequence.partition]
        yield PastLast(Skipping(len(keys), sequence.width), keys, query.number, outputs)
    if query.parsed.solutions == "set":
        keys = [query.columns.index(name) for name in query.solved]
        yield Once(CoolDown.empty(len(keys) + 2, 0, 1), keys)
    if query.parsed.distinct:
        yield _reporting(query, width)


def _reporting(query: Query, width: int) -> Reporting:
    """Return the stage of a DISTINCT query with a window of some width."""
    on, keys = query.parsed.on, [query.columns.index(name) for name in query.compared]
    if on is None or on.within is None:
        return Reporting(Support.empty(len(keys), width), keys)
    return Reporting(CoolDown.empty(len(keys), on.within, on.most), keys)


def fed_atoms(static: np.ndarray, dispatch: Dispatch, terms: Terms) -> frozenset[Atom]:
    """Return the atoms for which static data or the schema itself has triples."""
    atoms = dispatch.reduction.atoms
    fed = {atoms[fact.atom] for fact in dispatch.facts}
    if len(static) == 0:
        return frozenset(fed)
    objects: dict[int, set[int]] = {
        int(p): set(np.unique(static[static[:, PREDICATE] == p, OBJECT]).tolist())
        for p in np.unique(static[:, PREDICATE])
    }
    for (_, predicate, object_), found in dispatch.table.items():
        there = objects.get(terms.find(predicate), set()) if predicate is not None else {0}
        if there and (object_ is None or predicate is None or terms.find(object_) in there):
            fed.update(atoms[route.atom] for route in found)
    return frozenset(fed)


def _needed(lowered: Lowered) -> Acceptance:
    """Return which triples can reach some α test."""
    keys = lowered.network.keys
    everything = any(p == 0 for _, p, _ in keys)
    size = 1 + max((max(p, o) for _, p, o in keys), default=0)
    predicates, objects = np.zeros(size, dtype=np.uint8), np.zeros(size, dtype=np.uint8)
    for _, p, o in keys:
        if o:
            objects[o] = 1
            predicates[p] = predicates[p] or ACCEPT_OBJECT
        else:
            predicates[p] = ACCEPT
    return Acceptance(int(everything), predicates, objects)
