"""The states of nodes, beside their rows: kinds of state, each of which finds its nodes in a network.

Data's way: a network that is made -> **the states of its nodes, by the nodes' identities** ->
`retewave/engine/states.py`.
A kind is a function: from a network's records and arrays and the identities of its plan, it returns the states of its
nodes, such as counters, or tuples that wait at a probe.
If a state depends on the window or on constants, they are part of its identity, and the patterns keep their constants:
only equal queries share such a node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from retewave.compiler.lower import Lowered
from retewave.compiler.plan.identity import Identity, column_name, digest
from retewave.compiler.plan.walk import lasting, linking
from retewave.engine.run_states import Links, run_states
from retewave.engine.states import InMemories, State
from retewave.rete.counters import counted, is_counting, probe_counters, put_counted, put_decided
from retewave.rete.memory.carry import ROW_TIMES
from retewave.rete.memory.due import WAITING_TIMES
from retewave.rete.runtime import Runtime
from retewave.rete.words.layout import OCCURRENCE_WIDTH
from retewave.rete.words.rows import OBJECT

__all__ = ["KINDS", "Counted", "CountedDecisions", "Kind", "SpentEvents", "node_states", "nodes_of"]

Kind = Callable[[Lowered, Runtime, Callable[[], Sequence[Identity]], Links], Mapping[str, State]]


def nodes_of(lowered: Lowered, identities: Sequence[Identity]) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """Yield the identity of each node, its number, and its slots in its identity's order."""
    for producer, node in lowered.nodes.items():
        identity, slots = identities[producer], lowered.network.nodes[node].slots
        yield identity.digest, node, tuple(slots[identity.places.index(place)] for place in range(len(slots)))


@dataclass(frozen=True)
class Counted(InMemories):
    """The counters of one node."""

    runtime: Runtime  # where the counters are
    slots: tuple[int, ...]  # the node's, in its identity's order

    def state(self) -> Mapping[str, np.ndarray]:
        """Return a row of counters for each slot."""
        return {"slots": counted(self.runtime.arena, self.runtime.network, self.slots)}

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on counting from there."""
        put_counted(self.runtime.arena, self.runtime.network, self.slots, state["slots"])


@dataclass(frozen=True)
class CountedDecisions(InMemories):
    """The counters of one probe's decisions."""

    runtime: Runtime  # where the counters are
    probe: int  # number of the probe

    def state(self) -> Mapping[str, np.ndarray]:
        """Return how many tuples were decided, how many of them passed, and how many were unknown."""
        found = probe_counters(self.runtime.net, self.runtime.arena, self.probe)
        return {"probes": np.array([found.decided, found.passed, found.unknown])}

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on counting from there."""
        put_decided(self.runtime.net, self.runtime.arena, self.probe, state["probes"].tolist())


def _counted(
    lowered: Lowered, runtime: Runtime, identities: Callable[[], Sequence[Identity]], _links: Links
) -> Mapping[str, State]:
    if not is_counting(runtime.arena):
        return {}
    known = identities()
    nodes = nodes_of(lowered, known)
    found: dict[str, State] = {digest(("counted", name)): Counted(runtime, slots) for name, _, slots in nodes}
    for producer, probe in lowered.probes.items():
        name = known[producer].digest
        found[digest(("looked at", name))] = Counted(runtime, (lowered.network.probes[probe].slot,))
        found[digest(("decided", name))] = CountedDecisions(runtime, probe)
    return found


@dataclass(frozen=True)
class Waiting(InMemories):
    """The tuples that wait at a probe for their decision, and the time from which on it knows all that it looks at."""

    runtime: Runtime  # where they are
    probe: int  # number of the probe
    order: tuple[int, ...]  # the probe's columns, in an order that no other query changes
    links: Links  # where runs have gone
    linking: tuple[int, ...]  # the columns that have links to runs
    terms: ClassVar[frozenset[str]] = frozenset(("columns",))

    def state(self) -> Mapping[str, np.ndarray]:
        """Return a row of times and a row of columns for each tuple."""
        since, rows = self.runtime.waiting_of(self.probe)
        columns = rows[:, [WAITING_TIMES + column for column in self.order]]
        return {"since": np.array(since), "times": rows[:, :WAITING_TIMES], "columns": columns}

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Let these tuples wait, and no others."""
        rows = _rows_of(state, WAITING_TIMES, self.order)
        start, end = state["since"].tolist()
        places = [WAITING_TIMES + column for column in self.linking]
        self.links.moved(rows, places, lambda moved: self.runtime.put_waiting(self.probe, (start, end), moved))


def _rows_of(state: Mapping[str, np.ndarray], times: int, order: tuple[int, ...]) -> np.ndarray:
    """Return the rows of a state: as many times, then the columns, which the state has in an order of its own."""
    count = len(state["times"])
    rows = np.zeros((count, times + len(order)), dtype=np.int64)
    rows[:, :times] = state["times"].reshape(count, times)
    rows[:, [times + column for column in order]] = state["columns"].reshape(count, len(order))
    return rows


def _waiting(
    lowered: Lowered, runtime: Runtime, identities: Callable[[], Sequence[Identity]], links: Links
) -> Mapping[str, State]:
    if not lowered.probes:
        return {}
    known, found, linked = identities(), [], linking(lowered.plan)
    for producer, probe in lowered.probes.items():
        names = known[producer].columns[: lowered.network.probes[probe].columns]  # columns taken along come later
        order = tuple(sorted(range(len(names)), key=names.__getitem__))
        own = tuple(sorted(linked[producer]))
        found.append((digest(("waiting", known[producer].digest)), Waiting(runtime, probe, order, links, own)))
    return _together(found)


@dataclass(frozen=True)
class Made(InMemories):
    """The rows of a memory that cannot be made again from rows of other memories."""

    runtime: Runtime  # where they are
    slot: int  # number of the memory
    order: tuple[int, ...]  # its columns, the key's first, in an order that no other query changes
    links: Links  # where runs have gone
    linking: tuple[int, ...]  # the columns that have links to runs
    terms: ClassVar[frozenset[str]] = frozenset(("columns",))

    def state(self) -> Mapping[str, np.ndarray]:
        """Return a row of times and a row of columns for each row."""
        rows = self.runtime.rows_of(self.slot)
        return {"times": rows[:, :ROW_TIMES], "columns": rows[:, [ROW_TIMES + column for column in self.order]]}

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Hold these rows, and no others."""
        rows = _rows_of(state, ROW_TIMES, self.order)
        places = [ROW_TIMES + column for column in self.linking]
        self.links.moved(rows, places, lambda moved: self.runtime.put_rows(self.slot, moved))


def _made(
    lowered: Lowered, runtime: Runtime, identities: Callable[[], Sequence[Identity]], links: Links
) -> Mapping[str, State]:
    able = lasting(lowered.plan)
    if all(able) and not lowered.spent:
        return {}
    known, found, linked = identities(), [], linking(lowered.plan)
    users = [(producer, node) for producer, node in lowered.nodes.items()]
    users += [
        (producer, lowered.network.slots[lowered.network.probes[probe].slot].node)
        for producer, probe in lowered.probes.items()
    ]
    for producer, node in users:
        for place, slot in enumerate(lowered.network.nodes[node].slots):
            plan = lowered.slots[slot]
            record = lowered.network.nodes[node]
            if (able[plan.producer] and record.spent < 0) or record.passing == place:
                continue
            names = [column_name(known[plan.producer], column) for column in (*plan.keys, *plan.payload)]
            order = tuple(sorted(range(len(names)), key=names.__getitem__))
            kept = (*plan.keys, *plan.payload)
            own = tuple(place for place, column in enumerate(kept) if column in linked[plan.producer])
            canonical = known[producer].places[place] if producer in lowered.nodes else 1
            found.append((digest(("made", known[producer].digest, canonical)), Made(runtime, slot, order, links, own)))
    return _together(found)


@dataclass(frozen=True)
class SpentEvents(InMemories):
    """The events that a query has used up and that rows may still hold."""

    runtime: Runtime  # where they are
    slot: int  # number of their memory

    def state(self) -> Mapping[str, np.ndarray]:
        """Return a row for each event: its number, and when it was used up."""
        rows = self.runtime.rows_of(self.slot)
        return {"events": rows[:, [ROW_TIMES, 1]]}

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Hold these events, and no others."""
        events = state["events"].reshape(-1, 2)
        self.runtime.put_rows(self.slot, events[:, [1, 1, 1, 0]])


def _spent(
    lowered: Lowered, runtime: Runtime, _identities: Callable[[], Sequence[Identity]], _links: Links
) -> Mapping[str, State]:
    return {digest(("spent", spender)): SpentEvents(runtime, slot) for spender, slot in lowered.spent.items()}


@dataclass(frozen=True)
class Instant(InMemories):
    """The occurrences given and built at the instant: rules do not build one of them twice."""

    runtime: Runtime  # where it is
    terms: ClassVar[frozenset[str]] = frozenset(("triples",))

    def state(self) -> Mapping[str, np.ndarray]:
        """Return a row of terms for each occurrence, and a row of its other words."""
        rows, counts = self.runtime.instant
        return {"triples": rows[:, : OBJECT + 1], "times": rows[:, OBJECT + 1 :], "counts": counts}

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Hold these occurrences, and no others."""
        rows = np.zeros((len(state["triples"]), OCCURRENCE_WIDTH), dtype=np.int64)
        if len(rows):
            rows[:, : OBJECT + 1], rows[:, OBJECT + 1 :] = state["triples"], state["times"]
        self.runtime.put_instant(rows, state["counts"])


def _instant(
    lowered: Lowered, runtime: Runtime, _: Callable[[], Sequence[Identity]], _links: Links
) -> Mapping[str, State]:
    return {digest(("instant",)): Instant(runtime)} if lowered.network.built != frozenset() else {}


@dataclass(frozen=True)
class Alike:
    """The states of nodes with one identity that a network has several times: each holds the same."""

    members: tuple[State, ...]  # at least one

    @property
    def follows(self) -> bool:
        """Tell whether it follows from the live rows."""
        return self.members[0].follows

    @property
    def terms(self) -> frozenset[str]:
        """Return which of the arrays hold ids of terms."""
        return self.members[0].terms

    def advance(self, now: int) -> None:
        """Forget whatever cannot matter any more."""
        for each in self.members:
            each.advance(now)

    def mark(self, marks: np.ndarray) -> None:
        """Mark the terms that are remembered."""
        for each in self.members:
            each.mark(marks)

    def state(self) -> Mapping[str, np.ndarray]:
        """Return the arrays of a member: all members hold the same."""
        return self.members[0].state()

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Let each member remember these arrays."""
        for each in self.members:
            each.put(state)


def _together(found: Iterable[tuple[str, State]]) -> dict[str, State]:
    """Return states by identity; states of the same identity are one `Alike`."""
    grouped: dict[str, list[State]] = {}
    for name, state in found:
        grouped.setdefault(name, []).append(state)
    return {name: states[0] if len(states) == 1 else Alike(tuple(states)) for name, states in grouped.items()}


def _runs(
    lowered: Lowered, runtime: Runtime, identities: Callable[[], Sequence[Identity]], links: Links
) -> Mapping[str, State]:
    return _together(run_states(lowered, runtime, identities, links))


KINDS: tuple[Kind, ...] = (_counted, _waiting, _made, _spent, _instant, _runs)


def node_states(lowered: Lowered, runtime: Runtime, identities: Callable[[], Sequence[Identity]]) -> dict[str, State]:
    """Return the states of a network's nodes, by identity."""
    links = Links()
    return {name: state for kind in KINDS for name, state in kind(lowered, runtime, identities, links).items()}
