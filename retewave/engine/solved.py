"""Which solutions rules have built from at the open instant, and how often: as far as building asks for that.

Where it stands: beside what builds in Python (`retewave/engine/feeding.py`).  Of equal solutions of a set one builds;
each of those of a bag has new blank nodes.  A solution is known by a name, a digest of what it is.
Invariant: all names are of solutions that end at one time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from retewave.windows.intervals import BEFORE_ALL

__all__ = ["Solved"]


class Solved:
    """The names of the solutions of one instant."""

    follows = False  # from the rows that are alive
    terms: frozenset[str] = frozenset()  # the arrays of its state that hold terms

    def __init__(self) -> None:
        self._instant = BEFORE_ALL  # at which the solutions end
        self._times: Counter[str] = Counter()  # name of a solution -> how often it has been found

    def again(self, name: str, end: int) -> int:
        """Note a solution that ends at a time; return how often it was found before."""
        if end != self._instant:
            self._instant = end
            self._times.clear()
        self._times[name] += 1
        return self._times[name] - 1

    def advance(self, now: int) -> None:
        """Forget nothing: the next instant forgets it."""

    def mark(self, marks: np.ndarray) -> None:
        """Mark nothing: there are no terms."""

    def state(self) -> dict[str, np.ndarray]:
        """Return the instant, and for each solution a row of its name in two words, and its times."""
        names = np.frombuffer(bytes.fromhex("".join(self._times)), dtype="<i8").reshape(-1, 2)
        times = np.array(list(self._times.values()), dtype=np.int64)
        return {"instant": np.array([self._instant]), "solutions": np.column_stack([names, times])}

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Remember what such arrays hold, and nothing else."""
        rows = state["solutions"].reshape(-1, 3)
        names = [name.astype("<i8").tobytes().hex() for name in rows[:, :2]]
        self._instant = int(state["instant"][0])
        self._times = Counter(dict(zip(names, rows[:, 2].tolist(), strict=True)))
