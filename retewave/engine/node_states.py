"""What nodes remember beside their rows: kinds of state, each of which finds its nodes in a network.

Data's way: a network that is made -> **the states of its nodes, by the nodes' identities** ->
`retewave/engine/states.py`.
A kind is a function: given a network's records and arrays and the identities of its plan, it returns the states of the
nodes that it is for.  Today there is one: what a network that counts has counted.
A kind whose state is another for another window, or for other constants, has these in its identity, and its patterns
keep their constants: nodes of such a kind are shared by equal queries only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from retewave.compiler.lower import Lowered
from retewave.compiler.plan.identity import Identity, digest
from retewave.engine.states import State
from retewave.rete.counters import counted, is_counting, put_counted
from retewave.rete.runtime import Runtime

__all__ = ["KINDS", "Counted", "Kind", "node_states", "nodes_of"]

Kind = Callable[[Lowered, Runtime, Callable[[], Sequence[Identity]]], Mapping[str, State]]


def nodes_of(lowered: Lowered, identities: Sequence[Identity]) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """Yield the identity of each node, its number, and its slots in its identity's order."""
    for producer, node in lowered.nodes.items():
        identity, slots = identities[producer], lowered.network.nodes[node].slots
        yield identity.digest, node, tuple(slots[identity.places.index(place)] for place in range(len(slots)))


@dataclass(frozen=True)
class Counted:
    """What a network that counts has counted of one node."""

    runtime: Runtime  # where the counters are
    slots: tuple[int, ...]  # the node's, in its identity's order
    follows = False  # from the rows that are alive
    terms: frozenset[str] = frozenset()

    def advance(self, now: int) -> None:
        """Forget nothing: it does not grow."""

    def mark(self, marks: np.ndarray) -> None:
        """Mark nothing: there are no terms."""

    def state(self) -> Mapping[str, np.ndarray]:
        """Return a row of counters for each slot."""
        return {"slots": counted(self.runtime.arena, self.runtime.network, self.slots)}

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on counting from there."""
        put_counted(self.runtime.arena, self.runtime.network, self.slots, state["slots"])


def _counted(lowered: Lowered, runtime: Runtime, identities: Callable[[], Sequence[Identity]]) -> Mapping[str, State]:
    if not is_counting(runtime.arena):
        return {}
    nodes = nodes_of(lowered, identities())
    return {digest(("counted", name)): Counted(runtime, slots) for name, _, slots in nodes}


KINDS: tuple[Kind, ...] = (_counted,)


def node_states(lowered: Lowered, runtime: Runtime, identities: Callable[[], Sequence[Identity]]) -> dict[str, State]:
    """Return the states of a network's nodes, by identity."""
    return {name: state for kind in KINDS for name, state in kind(lowered, runtime, identities).items()}
