"""The words of probes.

Data's way: probes of a network -> **words** -> the network's array; `rete/operators/probe.py` reads them.
"""

from __future__ import annotations

from functools import partial

from retewave.rete.network.laying import Laying
from retewave.rete.network.records import TUPLE_TIMES, Probe
from retewave.rete.words import layout

__all__ = ["probe_words"]


def probe_words(laid: Laying, probe: Probe, edges: list[int]) -> list[int]:
    """Return the words of a probe."""
    slot = laid.network.slots[probe.slot]
    first, count = laid.edges(probe.edges, edges)
    relations = [word for each in probe.relations for word in laid.relation(each, partial(_of_probe, laid))]
    seen = [laid.row_word(column) for column in probe.seen]
    taken = [laid.row_word(column) for column in probe.taken]
    laid.widen(probe.columns + max(len(probe.seen), len(probe.taken)))
    if layout.B_COLUMNS + probe.columns >= layout.MOST_GROUP_WORDS:
        raise ValueError(f"a probe's tuple of {probe.columns} columns is too wide")
    state = laid.take(layout.W_WIDTH)
    return [
        laid.place_of(layout.N_NODES, slot.node, layout.NODE_WIDTH),
        laid.place_of(layout.N_SLOTS, probe.slot, layout.SLOT_WIDTH),
        probe.decided, probe.wanted, probe.streamed, probe.joint, probe.deadline, probe.reach,
        laid.listed(relations), len(probe.relations), *laid.program(probe.program),
        probe.columns, laid.listed(seen), len(seen), laid.listed(probe.keys),
        first, count, state, probe.level, laid.listed(taken), len(taken),
        laid.listed([layout.T_COLUMNS + column for column in probe.events]), len(probe.events),
        laid.listed([_of_probe(laid, (0, column)) for column in probe.rank]), probe.windowed,
    ]  # fmt: skip


def _of_probe(laid: Laying, time: tuple[int, int]) -> int:
    return laid.row_word(time[1]) if time[0] else layout.T_COLUMNS + TUPLE_TIMES.get(time[1], time[1])
