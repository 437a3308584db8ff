"""Counts of the rows that have passed through a running network, memory by memory and join by join.

Data's way: the kernel's counters (`rete/counters.py`) -> **counts** -> explanation, drawings, statistics.
The kernel counts only when `stats` is on; live rows and matches are known without.  When queries come or go, the
counts of a node go on in the next network, if that has an equal node (`retewave/engine/node_states.py`).

Every row that comes into a memory looks for its partners at once: it finds no row of its key in some other memory, or
is tried with the rows that are there, and each trial ends in a hit, outside the window, or against a relation.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from retewave.rete import counters
from retewave.viz.explain.compiled import Compiled

__all__ = ["Counts", "JoinCounts", "MemoryCounts", "count", "counts"]


@dataclass(frozen=True)
class MemoryCounts:
    """One memory: one input of one join."""

    memory: int  # number of the slot
    join: int  # number of the node whose input it is
    live: int  # streamed rows that it holds; rows that are due may wait to be collected
    rows_in: int  # rows stored, static rows included
    probes: int  # stored rows that found a row of their key in every other memory of the join
    hits: int  # combinations that such rows made
    refused_by_filter: int  # tuples that a filter before the memory kept out
    refused_by_key: int  # rows that found some other memory without a row of their key
    refused_by_window: int  # combinations given up because they outgrew the window
    refused_by_relation: int  # combinations given up because a temporal relation does not hold
    collected: int  # rows that have left, by age or at the bound on live rows


@dataclass(frozen=True)
class JoinCounts:
    """One join: the sum over its memories."""

    join: int  # number of the node
    probes: int  # rows that found a row of their key in every other memory
    hits: int  # combinations made
    refused_by_key: int  # see MemoryCounts
    refused_by_window: int  # see MemoryCounts
    refused_by_relation: int  # see MemoryCounts


@dataclass(frozen=True)
class Counts:
    """Everything that is counted."""

    counting: bool  # the kernel counts; else only `live` and `matches` mean something
    memories: tuple[MemoryCounts, ...]  # by number
    joins: tuple[JoinCounts, ...]  # by number
    matches: dict[str, int]  # the name of a query -> its matches so far


def counts(compiled: Compiled) -> dict[str, Any]:
    """Return the counts as plain data."""
    return asdict(count(compiled))


def count(compiled: Compiled) -> Counts:
    """Return the counts."""
    network, arena = compiled.lowered.network, compiled.runtime.arena
    refused = counters.refused_on_edges(arena, network)
    memories = tuple(_memory(compiled, slot, refused.get(slot, 0)) for slot in range(len(network.slots)))
    joins = tuple(_join(number, [memories[slot] for slot in node.slots]) for number, node in enumerate(network.nodes))
    matches = {query.name: query.matched for query in compiled.outcome.queries.values()}
    return Counts(counters.is_counting(arena), memories, joins, matches)


def _memory(compiled: Compiled, slot: int, refused_by_filter: int) -> MemoryCounts:
    counted = counters.slot_counters(compiled.runtime.arena, slot)
    return MemoryCounts(
        memory=slot,
        join=compiled.lowered.network.slots[slot].node,
        live=counted.rows,
        rows_in=counted.came,
        probes=counted.probes,
        hits=counted.hits,
        refused_by_filter=refused_by_filter,
        refused_by_key=counted.came - counted.probes,
        refused_by_window=counted.refused_by_window,
        refused_by_relation=counted.refused_by_relation,
        collected=counted.collected,
    )


def _join(number: int, memories: list[MemoryCounts]) -> JoinCounts:
    return JoinCounts(
        number,
        sum(each.probes for each in memories),
        sum(each.hits for each in memories),
        sum(each.refused_by_key for each in memories),
        sum(each.refused_by_window for each in memories),
        sum(each.refused_by_relation for each in memories),
    )
