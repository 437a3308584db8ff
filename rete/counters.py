"""What others may know of a running network's state: the one reader of arena words outside the kernel's own modules.

Data's way: arena (`layout`, A_* and S_*) -> **numbers with names** -> statistics, explanations, why-not, drawings.
Where the words are is nobody else's business, so that the layout can change.
The counters of slots and edges are kept only where the network counts (`Options.stats`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from retewave.rete.network.records import Network
from retewave.rete.words import layout
from retewave.windows.intervals import AFTER_ALL

__all__ = [
    "ProbeCounters",
    "RuleCounts",
    "SlotCounters",
    "Totals",
    "built",
    "counted",
    "holds_static",
    "is_counting",
    "known_since",
    "next_due",
    "probe_counters",
    "put_counted",
    "put_decided",
    "put_known_since",
    "refused_on_edges",
    "runs_of",
    "slot_counters",
    "totals",
    "used",
]


@dataclass(frozen=True)
class Totals:
    """What a network holds and has done, all memories together."""

    now: int  # the latest end that has come, microseconds
    live: int  # streamed rows that are stored; rows that are due may wait to be collected
    static: int  # static rows that are stored
    collected: int  # rows that have left by age
    shed: int  # rows that have left because of the bound on live rows
    used_bytes: int  # of the arena; words behind them have never been used
    held_bytes: int  # in pages and groups that hold something


@dataclass(frozen=True)
class SlotCounters:
    """What one memory holds and has seen."""

    rows: int  # streamed rows that it holds
    came: int  # rows stored, static ones included
    probes: int  # of these rows, how many found a row of their key in every other memory of the node
    hits: int  # combinations that these rows made
    refused_by_window: int  # combinations given up because they outgrew the window
    refused_by_relation: int  # combinations given up because a temporal relation does not hold
    refused_as_used_up: int  # combinations given up because a row of theirs is used up
    collected: int  # rows that have left


@dataclass(frozen=True)
class ProbeCounters:
    """What waits at one probe, and what it has decided."""

    waiting: int  # tuples that wait for their decision
    due: int | None  # when the first of them is decided, microseconds; None: nothing waits
    decided: int  # tuples that have been decided
    passed: int  # of the decided tuples, how many went on
    unknown: int  # likewise, how many are unknown: a row may have been there before the probe began to look


@dataclass(frozen=True)
class RuleCounts:
    """What the rules of a network have done."""

    rounds: int  # in which something new came in
    derivations: int  # occurrences that they have built


def built(feed: np.ndarray) -> RuleCounts:
    """Return what the rules of a network have done since the start."""
    return RuleCounts(int(feed[layout.F_ROUNDS]), int(feed[layout.F_DERIVATIONS]))


def totals(arena: np.ndarray) -> Totals:
    """Return what a network holds and has done."""
    return Totals(
        now=int(arena[layout.A_NOW]),
        live=int(arena[layout.A_LIVE]),
        static=int(arena[layout.A_STATIC]),
        collected=int(arena[layout.A_COLLECTED]),
        shed=int(arena[layout.A_SHED]),
        used_bytes=used(arena).nbytes,
        held_bytes=int(arena[layout.A_USED_WORDS]) * arena.itemsize,
    )


def used(arena: np.ndarray) -> np.ndarray:
    """Return the part of the arena that has ever been used: the whole state."""
    return arena[: arena[layout.A_TOP]]


def is_counting(arena: np.ndarray) -> bool:
    """Tell whether the network counts what passes its slots and edges."""
    return bool(arena[layout.A_COUNTING])


def slot_counters(arena: np.ndarray, slot: int) -> SlotCounters:
    """Return what a memory holds and has seen."""
    begin = int(arena[layout.A_SLOT_STATES]) + slot * layout.S_WIDTH
    state = arena[begin : begin + layout.S_WIDTH].tolist()
    return SlotCounters(
        rows=state[layout.S_ROWS],
        came=state[layout.S_IN],
        probes=state[layout.S_PROBES],
        hits=state[layout.S_HITS],
        refused_by_window=state[layout.S_NO_WINDOW],
        refused_by_relation=state[layout.S_NO_RELATION],
        refused_as_used_up=state[layout.S_USED_UP],
        collected=state[layout.S_COLLECTED],
    )


def probe_counters(net: np.ndarray, arena: np.ndarray, probe: int) -> ProbeCounters:
    """Return what waits at a probe, and what it has decided."""
    begin = _probe_state(net, probe)
    state = arena[begin : begin + layout.W_WIDTH].tolist()
    first = [int(arena[block + layout.B_DUE]) for block in (state[layout.W_FIRST], state[layout.W_HEAP]) if block]
    return ProbeCounters(
        waiting=state[layout.W_COUNT],
        due=min(first, default=None),
        decided=state[layout.W_DECIDED],
        passed=state[layout.W_PASSED],
        unknown=state[layout.W_UNKNOWN],
    )


def put_decided(net: np.ndarray, arena: np.ndarray, probe: int, numbers: Sequence[int]) -> None:
    """Let a probe go on counting: what it has decided, what of that passed, what was unknown."""
    begin = _probe_state(net, probe)
    arena[begin + layout.W_DECIDED : begin + layout.W_UNKNOWN + 1] = numbers


def _probe_state(net: np.ndarray, probe: int) -> int:
    return int(net[int(net[layout.N_PROBES]) + probe * layout.PROBE_WIDTH + layout.PROBE_STATE])


def next_due(arena: np.ndarray) -> int | None:
    """Return the earliest time at which something that waits is decided, microseconds; None: nothing waits."""
    due = int(arena[layout.A_DUE])
    return None if due >= AFTER_ALL else due


def refused_on_edges(arena: np.ndarray, network: Network) -> dict[int, int]:
    """Return, by memory, how many tuples the filter before it kept out."""
    first = int(arena[layout.A_EDGE_COUNTERS])
    edges = enumerate(network.edges())
    return {edge.target: int(arena[first + place]) for place, edge in edges if edge.kind in layout.TO_SLOTS}


def holds_static(arena: np.ndarray, slot: int) -> bool:
    """Tell whether a memory holds rows that were there before the stream."""
    return bool(arena[arena[layout.A_SLOT_STATES] + slot * layout.S_WIDTH + layout.S_STATIC_PAGE] != 0)


def runs_of(arena: np.ndarray, network: Network) -> int:
    """Return how many runs of sequences there are."""
    slots = (state.slot for state in network.states if state.slot >= 0 and not state.once)
    return sum(int(arena[int(arena[layout.A_SLOT_STATES]) + slot * layout.S_WIDTH + layout.S_ROWS]) for slot in slots)


def known_since(arena: np.ndarray, slot: int) -> int:
    """Return the time from which on a memory of instants is complete."""
    return int(arena[arena[layout.A_SLOT_STATES] + slot * layout.S_WIDTH + layout.S_SINCE])


def put_known_since(arena: np.ndarray, slot: int, since: int) -> None:
    """Let a memory of instants be complete from some time on."""
    arena[arena[layout.A_SLOT_STATES] + slot * layout.S_WIDTH + layout.S_SINCE] = since


def counted(arena: np.ndarray, network: Network, slots: Sequence[int]) -> np.ndarray:
    """Return what has been counted of some memories: a row each, the tuples refused before it first."""
    refused = refused_on_edges(arena, network)
    states = arena[arena[layout.A_SLOT_STATES] :]
    rows = [
        [refused[slot], *states[slot * layout.S_WIDTH + layout.S_IN : (slot + 1) * layout.S_WIDTH]] for slot in slots
    ]
    return np.array(rows, dtype=np.int64)


def put_counted(arena: np.ndarray, network: Network, slots: Sequence[int], rows: np.ndarray) -> None:
    """Let memories go on counting from such rows."""
    states, edges = arena[arena[layout.A_SLOT_STATES] :], arena[arena[layout.A_EDGE_COUNTERS] :]
    before = {edge.target: place for place, edge in enumerate(network.edges()) if edge.kind in layout.TO_SLOTS}
    for slot, row in zip(slots, rows, strict=True):
        edges[before[slot]] = row[0]
        states[slot * layout.S_WIDTH + layout.S_IN : (slot + 1) * layout.S_WIDTH] = row[1:]
