"""Solutions that a flush has told before their time, which are therefore not told again.

Data's way: decide -> report -> **leave out solutions that were told** -> a batch of matches.
A flush tells the solutions that there would be if nothing more came; the networks do not change.  A tuple that waits is
decided again when its time comes, by all rows that have come until then.  So a solution that was told early is
remembered until its end has passed, and is not told a second time with the same interval.
Invariant: if the decisions and each flush find a number of equal solutions, the greatest of these numbers is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from retewave.engine.stages import Solutions
from retewave.rete.words import layout

__all__ = ["Foretold"]


class Foretold:
    """The last stage of a query whose solutions may wait: it remembers what flushes have told of one query."""

    follows = False  # not from the live rows
    terms = frozenset({"columns"})  # the arrays of its state that hold terms

    def __init__(self, columns: int) -> None:
        self._columns = columns  # of a solution
        self._told: Counter[tuple[int, ...]] = Counter()  # start, end and terms of a solution -> how often

    def __len__(self) -> int:
        return self._told.total()

    def take(self, found: Solutions) -> Solutions:
        """Return the solutions that are not told yet."""
        if found.ahead:
            return self._told_now(found)
        return self._not_told(found) if self._told and len(found.rows) else found

    def _told_now(self, found: Solutions) -> Solutions:
        """Remember the solutions of a flush, and return those that no flush before it has told."""
        before, new = self._told.copy(), np.ones(len(found.rows), dtype=np.bool_)
        for place, solution in enumerate(_solutions(found)):
            if before[solution] > 0:
                before[solution] -= 1
                new[place] = False
            else:
                self._told[solution] += 1
        return found.only(new)

    def _not_told(self, found: Solutions) -> Solutions:
        """Return the solutions decided now, without those that a flush has told."""
        new = np.ones(len(found.rows), dtype=np.bool_)
        for place, solution in enumerate(_solutions(found)):
            if self._told[solution] > 0:
                self._told[solution] -= 1
                new[place] = False
        self.advance(int(found.rows[:, layout.O_END].max()))
        return found.only(new)

    def advance(self, now: int) -> None:
        """Forget solutions that end before a time: they are decided."""
        self._told = Counter({each: times for each, times in self._told.items() if times > 0 and each[1] >= now})

    def mark(self, marks: np.ndarray) -> None:
        """Mark the remembered terms that `marks` has room for."""
        terms = self.state()["columns"]
        marks[terms[(terms > 0) & (terms < len(marks))]] = 1

    def state(self) -> dict[str, np.ndarray]:
        """Return a row of times and a row of terms for each solution that was told."""
        rows = np.array(list(self._told.elements()), dtype=np.int64).reshape(len(self), 2 + self._columns)
        return {"times": rows[:, :2], "columns": rows[:, 2:]}

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Replace the stage's own state by another."""
        rows = np.concatenate([state["times"], state["columns"]], axis=1)
        self._told = Counter(map(tuple, rows.tolist()))


def _solutions(found: Solutions) -> list[tuple[int, ...]]:
    times = found.rows[:, [layout.O_START, layout.O_END]]
    return list(map(tuple, np.concatenate([times, found.columns], axis=1).tolist()))
