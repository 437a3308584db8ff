"""Counts of the rows that have passed through a running network, memory by memory and join by join.

Data's way: the kernel's counters (`rete/counters.py`) -> **counts** -> explanation, drawings, statistics.
The kernel counts only when `stats` is on; live rows and matches are known without.  When queries come or go, the
counts of a node go on in the next network, if that has an equal node (`retewave/engine/node_states.py`).

Every row that comes into a memory of a join looks for its partners at once: it finds no row of its key in some other
memory, or is tried with those that are there, and each trial ends in a hit, outside the window, or against a relation.
A probe decides tuples, one by one, by a look at the rows of its memory; until then they wait.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from retewave.rete import counters
from retewave.viz.explain.compiled import Compiled

__all__ = ["Counts", "JoinCounts", "MemoryCounts", "ProbeCounts", "count", "counts"]


@dataclass(frozen=True)
class MemoryCounts:
    """The counts of a memory: an input of a join, or the rows that a probe looks at."""

    memory: int  # number of the slot
    join: int | None  # number of the node whose input it is; None: a probe looks at it
    live: int  # streamed rows that it holds; rows that are due may wait to be collected
    rows_in: int  # rows stored, static ones included
    probes: int  # of these rows, how many found a row of their key in every other memory of the join
    hits: int  # combinations that these rows made
    refused_by_filter: int  # tuples that a filter before the memory kept out
    refused_by_key: int  # rows that found some other memory without a row of their key
    refused_by_window: int  # combinations given up because they outgrew the window
    refused_by_relation: int  # combinations given up because a temporal relation does not hold
    refused_as_used_up: int  # combinations given up because a row of theirs is used up
    collected: int  # rows that have left, by age or at the bound on live rows


@dataclass(frozen=True)
class JoinCounts:
    """The counts of a join: the sum over its memories."""

    join: int  # number of the node
    probes: int  # rows that found a row of their key in every other memory
    hits: int  # combinations made
    refused_by_key: int  # see MemoryCounts
    refused_by_window: int  # see MemoryCounts
    refused_by_relation: int  # see MemoryCounts
    refused_as_used_up: int  # see MemoryCounts


@dataclass(frozen=True)
class ProbeCounts:
    """The counts of a probe."""

    probe: int  # its number
    waiting: int  # tuples that wait for their decision
    due: int | None  # when the first of them is decided, microseconds; None: nothing waits
    decided: int  # tuples that have been decided
    passed: int  # of the decided tuples, how many went on
    unknown: int  # likewise, how many were given up: the row may have come before the probe began to look


@dataclass(frozen=True)
class Counts:
    """Everything that is counted."""

    counting: bool  # the kernel counts; else only `live` and `matches` mean something
    memories: tuple[MemoryCounts, ...]  # by number
    joins: tuple[JoinCounts, ...]  # in the order of their numbers
    probes: tuple[ProbeCounts, ...]  # by number
    matches: dict[str, int]  # the name of a query -> its matches so far

    def join(self, number: int) -> JoinCounts:
        """Return the counts of a join."""
        return next(each for each in self.joins if each.join == number)


def counts(compiled: Compiled) -> dict[str, Any]:
    """Return the counts as plain data."""
    return asdict(count(compiled))


def count(compiled: Compiled) -> Counts:
    """Return the counts."""
    network, arena = compiled.lowered.network, compiled.runtime.arena
    refused = counters.refused_on_edges(arena, network)
    memories = tuple(_memory(compiled, slot, refused.get(slot, 0)) for slot in range(len(network.slots)))
    joins = tuple(
        _join(number, [memories[slot] for slot in network.nodes[number].slots])
        for number in sorted(compiled.lowered.nodes.values())
    )
    probes = tuple(_probe(compiled, probe) for probe in range(len(network.probes)))
    matches = {query.name: query.matched for query in compiled.outcome.queries.values()}
    return Counts(counters.is_counting(arena), memories, joins, probes, matches)


def _memory(compiled: Compiled, slot: int, refused_by_filter: int) -> MemoryCounts:
    counted = counters.slot_counters(compiled.runtime.arena, slot)
    looked_at = any(probe.slot == slot for probe in compiled.lowered.network.probes)
    return MemoryCounts(
        memory=slot,
        join=None if looked_at else compiled.lowered.network.slots[slot].node,
        live=counted.rows,
        rows_in=counted.came,
        probes=counted.probes,
        hits=counted.hits,
        refused_by_filter=refused_by_filter,
        refused_by_key=0 if looked_at else counted.came - counted.probes,
        refused_by_window=counted.refused_by_window,
        refused_by_relation=counted.refused_by_relation,
        refused_as_used_up=counted.refused_as_used_up,
        collected=counted.collected,
    )


def _probe(compiled: Compiled, number: int) -> ProbeCounts:
    counted = counters.probe_counters(compiled.runtime.net, compiled.runtime.arena, number)
    return ProbeCounts(number, **asdict(counted))


def _join(number: int, memories: list[MemoryCounts]) -> JoinCounts:
    return JoinCounts(
        number,
        sum(each.probes for each in memories),
        sum(each.hits for each in memories),
        sum(each.refused_by_key for each in memories),
        sum(each.refused_by_window for each in memories),
        sum(each.refused_by_relation for each in memories),
        sum(each.refused_as_used_up for each in memories),
    )
