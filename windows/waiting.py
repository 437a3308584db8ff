"""Rows that wait for what may come before them: the one reorder buffer, of an engine and of a shard.

Data's way: rows as they arrive -> **wait** -> rows in time order.
A row's place is its end, the column END of the layout in `retewave.rete.words.rows`.

Invariant: the rows handed out never decrease in END; rows of equal END keep the order of their arrival.
Left out: which rows come too late (`late` says where the bound belongs to; the callers know the bound).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["END", "NOTHING", "Rows", "Run", "Waiting", "in_time_order", "late"]

Rows = NDArray[np.int64]  # [n, 7]: see retewave.rete.words.rows
Ends = NDArray[np.int64]
Places = NDArray[np.intp]  # places of rows in a block

END = 4  # the column by which rows are ordered, as in retewave.rete.words.rows (a test compares the two)
NEVER = 2**62  # later than every time
LARGE = 1 << 14  # rows; a run of this size is not moved again to be merged


@dataclass(frozen=True)
class Run:
    """Rows and their times; where rows wait, in time order."""

    rows: Rows  # [n, 7]
    ends: Ends  # [n]: their END, contiguous for the search

    @classmethod
    def of(cls, rows: Rows) -> Run:
        """Return rows with their times."""
        return cls(rows, np.ascontiguousarray(rows[:, END]))

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, part: slice | Places | NDArray[np.bool_]) -> Run:
        return Run(self.rows[part], self.ends[part])


NOTHING = Run.of(np.zeros((0, 7), np.int64))


class Waiting:
    """Rows that wait, in runs.

    >>> waiting, rows = Waiting(), np.zeros((3, 7), np.int64)
    >>> rows[:, END] = [30, 10, 20]
    >>> waiting.add(Run.of(rows))
    >>> [run.ends.tolist() for run in waiting.until(20)], len(waiting), waiting.oldest()
    ([[10, 20]], 1, 30)
    """

    def __init__(self) -> None:
        self._runs: list[Run] = []  # in the order of arrival
        self._count = 0  # rows
        self._oldest = NEVER  # nothing that waits is earlier

    def __len__(self) -> int:
        return self._count

    def rows(self) -> Rows:
        """Return all rows."""
        return np.concatenate([NOTHING.rows, *(run.rows for run in self._runs)])

    def oldest(self) -> int | None:
        """Return the earliest time, if anything waits."""
        return min((int(run.ends[0]) for run in self._runs), default=None)

    def has_until(self, time: int) -> bool:
        """Tell whether there may be rows up to a time; this costs nothing, however much waits."""
        return self._oldest <= time

    def add(self, run: Run) -> None:
        """Let rows wait, behind those that wait already; they are the buffer's own from now on.

        Small runs are merged as the digits of a counter carry: each row is moved a logarithmic number of times.
        """
        if not len(run):
            return
        run = in_time_order([run])
        self._count += len(run)
        self._oldest = min(self._oldest, int(run.ends[0]))
        self._runs.append(run)
        while len(self._runs) > 1 and len(self._runs[-2]) <= 2 * len(self._runs[-1]) < LARGE:
            last = self._runs.pop()
            self._runs[-1] = in_time_order([self._runs[-1], last])

    def until(self, time: int) -> Iterator[Run]:
        """Hand out the rows up to a time, the time itself included, in runs, one behind the other.

        Rows not yet handed out still wait here, where a caller that looks at all waiting rows meanwhile finds them.
        """
        if not self.has_until(time):
            return
        due, later = [], []
        for run in self._runs:
            cut = int(np.searchsorted(run.ends, time, side="right"))
            due += [run[:cut]] if cut else []
            later += [_without_first(run, cut)] if cut < len(run) else []
        in_order = sorted(due, key=lambda run: int(run.ends[0]))
        if any(one.ends[-1] >= other.ends[0] for one, other in pairwise(in_order)):
            in_order = [in_time_order(due)]
        self._runs = in_order + later
        for _ in in_order:
            self._count -= len(self._runs[0])
            yield self._runs.pop(0)
        self._oldest = min((int(run.ends[0]) for run in self._runs), default=NEVER)


def late(ends: Ends, bound: Ends | int, *, closed: bool) -> NDArray[np.bool_]:
    """Return which arrivals are late: those before a bound; where the bound is closed, those at it, too.

    An engine accepts rows that end at its watermark; a shard has poured those already, so there such a row is late.

    >>> late(np.array([1, 2, 3]), 2, closed=False).tolist(), late(np.array([1, 2, 3]), 2, closed=True).tolist()
    ([True, False, False], [True, True, False])
    """
    behind: NDArray[np.bool_] = ends <= bound if closed else ends < bound
    return behind


def in_time_order(runs: list[Run]) -> Run:
    """Return one run of several, or of rows in no order; of equal END, those of the earlier run go first.

    A single run in order is returned as it is.
    """
    runs = [run for run in runs if len(run)]
    if not runs:
        return NOTHING
    run = runs[0]
    if len(runs) > 1:
        run = Run(np.concatenate([each.rows for each in runs]), np.concatenate([each.ends for each in runs]))
    if (run.ends[1:] >= run.ends[:-1]).all():
        return run
    places = _time_order(run.ends)
    return Run(run.rows.take(places, axis=0), run.ends.take(places))


def _time_order(ends: Ends) -> Places:
    """Return the stable order of times.

    NumPy sorts 16 bits by radix, and 64 by comparison; within 71 minutes, twice 16 is three times as fast.
    """
    since = ends - ends.min()
    if since.max() >= 2**32:
        return np.argsort(ends, kind="stable")
    low = np.argsort(since.astype(np.uint16), kind="stable")
    high = (since >> 16).astype(np.uint16)
    return low[np.argsort(high[low], kind="stable")]


def _without_first(run: Run, count: int) -> Run:
    """Return a run without its first rows, copied once it would hold on to more than twice its size."""
    if count == 0:
        return run
    rest = run[count:]
    whole = rest.rows.base
    if whole is not None and len(whole) > 2 * len(rest):
        return Run(rest.rows.copy(), rest.ends.copy())
    return rest
