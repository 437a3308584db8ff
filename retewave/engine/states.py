"""State that is not a function of the live rows: what it looks like, and how it is carried, all by identity.

Data's way: a network -> **its states, by identity** -> the network that comes after it, a snapshot, Spark's store.
Rows alone can be poured again.  What has been told, used up, decided or counted cannot: whoever remembers such a thing
(a report stage, a kind of node) is a `State` with an identity, and everything that outlives a network asks for these.
Invariant: an identity is made of what is remembered for whom, never of a place or a number in one network
(`retewave/compiler/plan/identity.py`); states with one identity have arrays with the same names and meanings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

__all__ = ["State", "States", "arrays_of", "put_arrays", "take_over"]


class State(Protocol):
    """What somebody remembers."""

    @property
    def follows(self) -> bool:
        """Tell whether it follows from the rows that are alive: who sees these again remembers the same."""

    @property
    def terms(self) -> frozenset[str]:
        """Return which of the arrays hold ids of terms; the others hold numbers."""

    def advance(self, now: int) -> None:
        """Forget what cannot matter any more once the time is `now`."""

    def mark(self, marks: np.ndarray) -> None:
        """Mark those of the first terms that are remembered."""

    def state(self) -> Mapping[str, np.ndarray]:
        """Return all that is remembered: arrays of int64, of one or two dimensions."""

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Remember what such arrays hold, and nothing else."""


States = Mapping[str, State]  # by identity


def take_over(mine: States, former: States) -> None:
    """Remember what states of the same identity remembered in another network."""
    for name in mine.keys() & former.keys():
        mine[name].put(former[name].state())


def arrays_of(states: States) -> dict[str, np.ndarray]:
    """Return what is remembered as arrays, each named by its state's identity and its own name."""
    return {f"{name}.{part}": array for name, each in states.items() for part, array in each.state().items()}


def put_arrays(states: States, arrays: Mapping[str, np.ndarray]) -> None:
    """Remember what such arrays hold; a state that has none there stays as it is."""
    found: dict[str, dict[str, np.ndarray]] = {}
    for full, array in arrays.items():
        name, part = full.rsplit(".", 1)
        found.setdefault(name, {})[part] = array
    for name in states.keys() & found.keys():
        states[name].put(found[name])
