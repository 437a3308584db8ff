"""State that does not follow from the live rows: its shape, and how it is carried, by identity.

Data's way: a network -> **its states, by identity** -> the network that comes after it, a snapshot, Spark's store.
Rows can be poured again.  Solutions told, events used up, decisions and counts cannot: a report stage or a kind of node
that remembers them is a `State` with an identity.  A new network, a snapshot and Spark's store ask for these states.
Invariant: an identity says what is remembered, and for which query or node; never a place or a number in one network
(`retewave/compiler/plan/identity.py`).  States with one identity have arrays with the same names and meanings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Protocol

import numpy as np

__all__ = ["InMemories", "State", "States", "arrays_of", "put_arrays", "take_over"]


class State(Protocol):
    """The memory of a stage or a node."""

    @property
    def follows(self) -> bool:
        """Tell whether it follows from the live rows: if they are poured again, it is the same."""

    @property
    def terms(self) -> frozenset[str]:
        """Return which of the arrays hold ids of terms; the others hold numbers."""

    def advance(self, now: int) -> None:
        """Forget what cannot matter any more once the time is `now`."""

    def mark(self, marks: np.ndarray) -> None:
        """Mark the remembered terms that `marks` has room for."""

    def state(self) -> Mapping[str, np.ndarray]:
        """Return all that is remembered: arrays of int64, of one or two dimensions."""

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Take over the content of such arrays, and drop the own one."""


class InMemories:
    """A state of a node that is in its memories: what is old or decided leaves them, and they mark its terms."""

    follows: ClassVar[bool] = False  # from the rows that are alive
    terms: ClassVar[frozenset[str]] = frozenset()

    def advance(self, now: int) -> None:
        """Forget nothing: the memories do."""

    def mark(self, marks: np.ndarray) -> None:
        """Mark nothing: the memories' marks include all of it."""


States = Mapping[str, State]  # by identity


def take_over(mine: States, former: States) -> None:
    """Take over the content of states with the same identity in another network."""
    for name in mine.keys() & former.keys():
        mine[name].put(former[name].state())


def arrays_of(states: States) -> dict[str, np.ndarray]:
    """Return the arrays of all states, each named by its state's identity and its own name."""
    return {f"{name}.{part}": array for name, each in states.items() for part, array in each.state().items()}


def put_arrays(states: States, arrays: Mapping[str, np.ndarray]) -> None:
    """Give states the content of such arrays; a state without arrays there stays as it is."""
    found: dict[str, dict[str, np.ndarray]] = {}
    for full, array in arrays.items():
        name, part = full.rsplit(".", 1)
        found.setdefault(name, {})[part] = array
    for name in states.keys() & found.keys():
        states[name].put(found[name])
