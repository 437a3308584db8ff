"""What a flush has told before its time, and what is therefore not told again.

Data's way: decide -> report -> **what is not told yet** -> a batch of matches.
A flush asks what there would be if nothing more came.  That is told, and the networks go on as if nobody had asked:
what waits is decided again when its time comes, by all that has come until then.  So what was told early is remembered
until its end is over, and the same solution, with the same interval, is not told a second time.
Invariant: of equal solutions as many are told as the decisions, or one of the flushes, have found: the most of these.
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

    follows = False  # from the rows that are alive: these do not tell what was told
    terms = frozenset({"columns"})  # the arrays of its state that hold terms

    def __init__(self, columns: int) -> None:
        self._columns = columns  # of a solution
        self._told: Counter[tuple[int, ...]] = Counter()  # start, end and terms of a solution -> how often

    def __len__(self) -> int:
        return self._told.total()

    def take(self, found: Solutions) -> Solutions:
        """Return what is not told yet."""
        if found.ahead:
            return self._told_now(found)
        return self._not_told(found) if self._told and len(found.rows) else found

    def _told_now(self, found: Solutions) -> Solutions:
        """Remember what a flush finds, and return what no flush before it has told."""
        before, new = self._told.copy(), np.ones(len(found.rows), dtype=np.bool_)
        for place, solution in enumerate(_solutions(found)):
            if before[solution] > 0:
                before[solution] -= 1
                new[place] = False
            else:
                self._told[solution] += 1
        return found.only(new)

    def _not_told(self, found: Solutions) -> Solutions:
        """Return what is decided now without what a flush has told of it."""
        new = np.ones(len(found.rows), dtype=np.bool_)
        for place, solution in enumerate(_solutions(found)):
            if self._told[solution] > 0:
                self._told[solution] -= 1
                new[place] = False
        self.advance(int(found.rows[:, layout.O_END].max()))
        return found.only(new)

    def advance(self, now: int) -> None:
        """Forget what ends before a time: it is decided."""
        self._told = Counter({each: times for each, times in self._told.items() if times > 0 and each[1] >= now})

    def mark(self, marks: np.ndarray) -> None:
        """Mark those of the first terms that are remembered."""
        terms = self.state()["columns"]
        marks[terms[(terms > 0) & (terms < len(marks))]] = 1

    def state(self) -> dict[str, np.ndarray]:
        """Return a row of times and one of terms for each solution that was told."""
        rows = np.array(list(self._told.elements()), dtype=np.int64).reshape(len(self), 2 + self._columns)
        return {"times": rows[:, :2], "columns": rows[:, 2:]}

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Remember what such a stage remembered, and nothing else."""
        rows = np.concatenate([state["times"], state["columns"]], axis=1)
        self._told = Counter(map(tuple, rows.tolist()))


def _solutions(found: Solutions) -> list[tuple[int, ...]]:
    times = found.rows[:, [layout.O_START, layout.O_END]]
    return list(map(tuple, np.concatenate([times, found.columns], axis=1).tolist()))
