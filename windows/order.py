"""Put rows that arrive late back in time order, in front of the engine.

Data's way: bytes -> reader -> rows -> **order** -> dispatch -> memories and joins -> match rows -> sink.
A row's place is its end, the column END of the layout in `retewave.rete.words.rows`.

Invariants:
* The rows that come out never decrease in END; rows of equal END keep the order of their arrival.
* Every row that goes in comes out, or is handed over as late, or as of the future: exactly one of the three.
* Where one block ends and the next starts makes no difference to any of that.

An arrival is judged by the greatest END accepted before it, `newest`:
* its END > newest + the bound (open: the bound itself is accepted): doubted (`windows/doubt.py`).  The bound is
  max_future, or lateness if that is longer.  A doubted arrival waits for the next one of another END.  If that END is
  nearer to the doubted one than to newest, the doubted one is accepted first, else quarantined.  A flush accepts it;
* its END < the watermark (closed: the watermark itself is accepted): late.  The watermark is
  newest - lateness, or the time that a flush has raised it to;
* else accepted, and given out once END <= watermark.
The first arrival is doubted if its END > the clock + the bound, or if the order has to doubt it anyhow; it is
quarantined if the next arrival is earlier by more than the bound.

Not here: what a late row means (the handlers decide), and the clock on the wall: time is an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from retewave.windows.doubt import ACCEPTED, BEGINNING, DOUBTED, FAR, FUTURE, LATE, Doubt
from retewave.windows.waiting import END, NOTHING, Rows, Run, Waiting, in_time_order

__all__ = ["Handler", "Order", "Rows"]

Places = NDArray[np.intp]  # places of rows in a block
Handler = Callable[[Rows], None]

LONGEST = 2**60  # no lateness or bound may be longer: sums of times stay in int64


class Order:
    """A reorder buffer: rows go in as they arrive, and come out in time order.

    >>> rows = np.zeros((3, 7), np.int64)
    >>> rows[:, 4] = [10, 30, 20]
    >>> order = Order(lateness=10)
    >>> order.push(rows)[:, 4].tolist(), order.flush()[:, 4].tolist(), order.late
    ([10, 20], [30], 0)

    A handler that raises refuses the whole block: nothing of it is accepted or counted.
    """

    def __init__(
        self,
        lateness: int = 0,
        max_future: int | None = None,
        on_late: Handler | None = None,
        on_future: Handler | None = None,
        now: Callable[[], int] | None = None,
    ) -> None:
        self.lateness = _checked("lateness", lateness)  # how far an arrival may lag behind the newest
        self.max_future = None if max_future is None else _checked("max_future", max_future)  # None: no bound
        self.on_late = on_late  # is given the late rows of a block, in order of arrival
        self.on_future = on_future  # is given the quarantined rows of a block, in order of arrival
        # A stream that may lag behind may jump ahead as far: that is no reason for doubt.
        self.doubt = Doubt(FAR if self.max_future is None else max(self.max_future, self.lateness), now)
        self.late = 0  # rows counted as late so far
        self.future = 0  # rows quarantined so far
        self.newest: int | None = None  # the greatest END accepted; None before any arrival
        self._doubted = NOTHING  # rows of one END that wait for the next arrival
        self._floor = BEGINNING  # the time that a flush has raised the watermark to
        self._waiting = Waiting()  # accepted rows that are not given out yet

    @property
    def watermark(self) -> int | None:
        """The time below which nothing more comes out; None before any arrival."""
        if self.newest is None:
            return None
        return max(self._floor, self.newest - self.lateness)

    @property
    def waiting(self) -> int:
        """How many rows are accepted and not given out yet."""
        return len(self._waiting)

    @property
    def doubted(self) -> int:
        """How many rows are doubted: the next arrival decides what becomes of them."""
        return len(self._doubted)

    def held(self) -> Rows:
        """Return all rows that came in and went nowhere yet."""
        return np.concatenate([self._waiting.rows(), self._doubted.rows])

    def push(self, rows: Rows) -> Rows:
        """Take a block of arrivals; return the rows that are ready, in time order.

        The rows returned may be the block itself or a part of it: a block in order, with nothing to wait for, is
        not copied.
        """
        if len(rows) == 0:
            return rows
        if self.lateness == 0 and not len(self._waiting) and self._passes(rows[:, END]):
            self.newest = int(rows[-1, END])
            return rows
        if len(self._doubted):
            rows = np.concatenate([self._doubted.rows, rows])
        return self._taken(Run.of(rows))

    def _taken(self, block: Run, *, last: bool = False) -> Rows:
        """Judge arrivals, those that were doubted before among them; return the rows that are ready."""
        accepted = self._accepted(block, last)
        if len(accepted) == 0:
            return accepted.rows
        newest = int(accepted.ends.max())
        self.newest = newest if self.newest is None else max(self.newest, newest)
        return self._released(accepted)

    def flush(self) -> Rows:
        """Return all waiting rows, in time order; rows that are earlier are late from now on."""
        ready = self._taken(self._doubted, last=True) if len(self._doubted) else NOTHING.rows
        if self.newest is not None:
            self._floor = max(self._floor, self.newest)
        rest = self._released(NOTHING)
        return np.concatenate([ready, rest]) if len(ready) else rest

    def advance(self, time: int) -> Rows:
        """Return what is ready when nothing that ends before a time comes any more: what does is late from now on.

        A time that is behind the watermark changes nothing.  What is doubted is accepted once the time has come to it.
        """
        if self.watermark is not None and time <= self.watermark:
            return NOTHING.rows
        ready = NOTHING.rows
        if len(self._doubted) and self._doubted.ends[0] <= time:
            ready = self._taken(self._doubted, last=True)
        self.newest = time if self.newest is None else max(self.newest, time)
        self._floor = max(self._floor, time)
        rest = self._released(NOTHING)
        return np.concatenate([ready, rest]) if len(ready) else rest

    def state(self) -> dict[str, Rows]:
        """Return what a snapshot needs, as plain arrays.

        >>> order = Order(lateness=5)
        >>> order.put(Order(lateness=5).state())
        >>> order.waiting, order.newest
        (0, None)
        """
        begun, floor = self.newest is not None, self.watermark
        clock = [begun, self.newest or 0, BEGINNING if floor is None else floor, self.late, self.future]
        clock.append(self.doubt.of_first)
        waiting = in_time_order([Run.of(self._waiting.rows())])
        return {"waiting": waiting.rows, "doubted": self._doubted.rows, "clock": np.array(clock, np.int64)}

    def put(self, state: Mapping[str, Rows]) -> None:
        """Go on where `state()` was taken; a greater lateness does not bring back rows that were late."""
        begun, newest, self._floor, self.late, self.future, doubts_first = (int(number) for number in state["clock"])
        self.newest, self.doubt.of_first = newest if begun else None, bool(doubts_first)
        self._waiting = Waiting()
        self._waiting.add(Run.of(np.array(state["waiting"], np.int64)))
        self._doubted = Run.of(np.array(state["doubted"], np.int64))

    def _passes(self, ends: Rows) -> bool:
        """Tell whether a block is in order and in bounds as it is."""
        first, bound = int(ends[0]), self.doubt.bound
        if len(self._doubted) or (self.newest is None and self.doubt.doubts_first(first)):
            return False
        newest = first if self.newest is None else self.newest
        if len(ends) == 1:
            return newest <= first <= newest + bound
        if first < newest or (ends[1:] < ends[:-1]).any():
            return False
        return bool(ends[-1] - newest <= bound or (first - newest <= bound and np.diff(ends).max() <= bound))

    def _accepted(self, block: Run, last: bool) -> Run:
        """Return the arrivals that are neither late nor of the future; hand over and count the others.

        Doubted arrivals wait, unless this block is the last.
        """
        verdicts = self.doubt.verdicts(block.ends, self.newest, lateness=self.lateness, floor=self._floor, last=last)
        if verdicts is None:
            self._doubted = NOTHING
            return block
        late, future, doubted = (np.flatnonzero(verdicts == each) for each in (LATE, FUTURE, DOUBTED))
        self._hand_over(block.rows, late, future)
        self._doubted = block[doubted]
        return block[np.flatnonzero(verdicts == ACCEPTED)]

    def _hand_over(self, rows: Rows, late: Places, future: Places) -> None:
        """Give the late and the quarantined rows to their handlers, then count them."""
        if len(late) and self.on_late is not None:
            self.on_late(rows[late])
        if len(future) and self.on_future is not None:
            self.on_future(rows[future])
        self.late += len(late)
        self.future += len(future)

    def _released(self, arrived: Run) -> Rows:
        """Return what is ready of the waiting and the arrived rows; keep the rest waiting."""
        watermark = self.watermark
        if watermark is None:
            return NOTHING.rows
        ready = in_time_order([*self._waiting.until(watermark), arrived])
        count = int(np.searchsorted(ready.ends, watermark, side="right"))
        self._waiting.add(Run(ready.rows[count:].copy(), ready.ends[count:].copy()))
        return ready.rows[:count]


def _checked(name: str, duration: int) -> int:
    """Return a duration in microseconds, or raise when it is out of range."""
    if not 0 <= duration <= LONGEST:
        raise ValueError(f"{name} must be from 0 to {LONGEST} microseconds, not {duration}")
    return int(duration)
