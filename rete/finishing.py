"""When finished runs are collected that no window bounds, and what leads back to them.

Where it stands: between the memories and the runtime, which asks before it pours whether a collection is due.
Not collected: what a step with `!`, or `+!`, has noted for the runs to come; a run of skip till any never ends.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from retewave.rete.facts import slot_places
from retewave.rete.memories import NetworkMemories
from retewave.rete.memory.carry import ROW_TIMES
from retewave.rete.memory.due import WAITING_TIMES
from retewave.rete.memory.finished import drop_finished, finish_instants, leading_back, mark_runs, run_links
from retewave.rete.network.records import Network
from retewave.rete.words import layout
from retewave.rete.words.progress import P_MARKED, P_TOP
from retewave.windows.intervals import UNBOUNDED

__all__ = ["FinishedRuns"]

FEWEST = 4096  # rows that come before a collection is worth its while


class FinishedRuns:
    """The runs and instants of a network that no window bounds."""

    def __init__(self, network: Network) -> None:
        def endless(slot: int) -> bool:
            return slot >= 0 and network.nodes[network.slots[slot].node].window >= UNBOUNDED

        self.states = [number for number, state in enumerate(network.states) if endless(state.slot)]
        clocks = {edge.target for edge in network.edges() if edge.kind == layout.TO_INSTANTS}
        self.instants = sorted(slot for slot in clocks if endless(slot))
        self.slots = sorted({*self.instants, *(network.states[number].slot for number in self.states)})
        known = {*clocks, *(state.slot for state in network.states)}
        self.others = [slot for slot in range(len(network.slots)) if slot not in known and not network.passes(slot)]
        self._left = 0  # rows that the last collection has left

    def is_due(self, memories: NetworkMemories) -> bool:
        """Tell whether twice as many rows are there as after the last collection."""
        return self._rows(memories) > max(FEWEST, 2 * self._left)

    def _rows(self, memories: NetworkMemories) -> int:
        arena = memories.arena
        first = int(arena[layout.A_SLOT_STATES])
        return sum(int(arena[first + slot * layout.S_WIDTH + layout.S_ROWS]) for slot in self.slots)

    def collect(self, memories: NetworkMemories) -> int:
        """Collect what nothing leads back to; return how many rows go.

        Not while tuples are under way or terms are being marked; nor when rows were shed, to which links may lead.
        """
        arena, net, progress = memories.arena, memories.net, memories.state.progress
        if not self.slots or progress[P_TOP] or progress[P_MARKED] or arena[layout.A_SHED]:
            return 0
        for links in self._leading_back(memories):
            mark_runs(net, arena, links)
        for slot in self.instants:
            finish_instants(net, arena, slot)
        dropped = sum(int(drop_finished(net, arena, slot)) for slot in self.slots)
        self._left = self._rows(memories)
        return dropped

    def _leading_back(self, memories: NetworkMemories) -> Iterator[np.ndarray]:
        """Yield the links of runs that may go on, and of what waits or is noted for runs."""
        network, arena, net = memories.network, memories.arena, memories.net
        places = [slot_places(net, arena, network.states[number].slot) for number in self.states]
        of_runs = [each | number << layout.LINK_STATE for number, each in zip(self.states, places, strict=True)]
        known = np.sort(np.concatenate(of_runs)) if of_runs else np.empty(0, dtype=np.int64)
        for number, state in enumerate(network.states):
            if state.link >= 0 and state.slot >= 0:
                word = 1 + int(net[layout.N_TIMES]) + state.link
                yield run_links(net, arena, state.slot, word, number not in self.states)
        for slot in self.others:
            yield leading_back(np.ravel(memories.rows_of(slot)[:, ROW_TIMES:]), known)
        for probe in range(len(network.probes)):
            yield leading_back(np.ravel(memories.waiting_of(probe)[1][:, WAITING_TIMES:]), known)
