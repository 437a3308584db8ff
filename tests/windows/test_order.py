"""The reorder buffer: ordered output, nothing lost, the same whatever the blocks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from cases.many import many
from hypothesis import given, settings
from hypothesis import strategies as st

from retewave.rete.words import rows as layout
from retewave.windows import waiting as waiting_module
from retewave.windows.intervals import EARLIEST, LATEST
from retewave.windows.order import Order, Rows

arrivals = st.lists(st.integers(-5, 30) | st.integers(1_000, 1_010), max_size=40)
latenesses = st.integers(0, 12) | st.integers(0, 60)
clocks = st.none() | st.integers(-10, 1_005)
bounds = st.none() | st.integers(0, 25)
cuts = st.lists(st.integers(0, 40), max_size=6)
laws = settings(max_examples=many(300), deadline=None)


def rows_of(ends: list[int]) -> Rows:
    """Rows with these ENDs; the subject tells each arrival apart."""
    rows = np.zeros((len(ends), layout.ROW_WIDTH), np.int64)
    rows[:, layout.SUBJECT] = np.arange(len(ends))
    rows[:, layout.START] = rows[:, layout.END] = ends
    return rows


def ends_of(rows: Rows) -> list[int]:
    return rows[:, layout.END].tolist()


@dataclass
class Run:
    """What came of a stream: lists of (arrival, END)."""

    out: list[tuple[int, int]] = field(default_factory=list)
    late: list[tuple[int, int]] = field(default_factory=list)
    future: list[tuple[int, int]] = field(default_factory=list)


def keys(rows: Rows) -> list[tuple[int, int]]:
    return [(int(row[layout.SUBJECT]), int(row[layout.END])) for row in rows]


@dataclass(frozen=True)
class Bounds:
    """What an order is told."""

    lateness: int
    max_future: int | None
    now: int | None = None  # the clock, which stands still
    doubts_first: bool = False

    def order(self, run: Run | None = None) -> Order:
        order = Order(self.lateness, self.max_future, now=None if self.now is None else lambda: self.now or 0)
        order.doubt.of_first = self.doubts_first
        if run is not None:
            order.on_late, order.on_future = lambda r: run.late.extend(keys(r)), lambda r: run.future.extend(keys(r))
        return order


bounded = st.builds(Bounds, latenesses, bounds, clocks, st.booleans())


def through_order(ends: list[int], told: Bounds, blocks: list[int], flush_at: int) -> Run:
    """Run the buffer over the stream, cut in blocks, flushed once in the middle and once at the end."""
    run = Run()
    order = told.order(run)
    rows = rows_of(ends)
    places = sorted({0, len(ends), *(min(b, len(ends)) for b in [*blocks, flush_at])})
    for start, stop in pairwise(places):
        if start == flush_at:
            run.out += keys(order.flush())
        run.out += keys(order.push(rows[start:stop]))
    run.out += keys(order.flush())
    assert (order.late, order.future, order.waiting, order.doubted) == (len(run.late), len(run.future), 0, 0)
    return run


class OneByOne:
    """The module's docstring, read aloud."""

    def __init__(self, told: Bounds) -> None:
        self.told, self.run = told, Run()
        self.bound = None if told.max_future is None else max(told.max_future, told.lateness)
        self.newest: int | None = None
        self.floor: int | None = None
        self.waiting: list[tuple[int, int]] = []
        self.doubted: list[tuple[int, int]] = []

    def take(self, arrival: int, end: int) -> None:
        if self.doubted and self.doubted[0][1] != end:
            self.resolve(end)
        if self.doubted or self.doubts(end):
            self.doubted.append((arrival, end))
            return
        if self.newest is not None and end < self.watermark():
            self.run.late.append((arrival, end))
            return
        self.accept([(arrival, end)])
        self.release(self.watermark())

    def resolve(self, end: int) -> None:
        rows, self.doubted = self.doubted, []
        time = rows[0][1]
        if self.newest is None:
            assert self.bound is not None
            believed = end >= time - self.bound
        else:
            believed = abs(end - self.newest) > abs(time - end) or end > time
        if believed:
            self.accept(rows)
            return
        self.run.future += rows

    def doubts(self, end: int) -> bool:
        if self.bound is None:
            return False
        if self.newest is not None:
            return end > self.newest + self.bound
        return self.told.doubts_first or (self.told.now is not None and end > self.told.now + self.bound)

    def watermark(self) -> int:
        assert self.newest is not None
        reached = self.newest - self.told.lateness
        return reached if self.floor is None else max(self.floor, reached)

    def accept(self, rows: list[tuple[int, int]]) -> None:
        self.waiting += rows
        self.newest = rows[0][1] if self.newest is None else max(self.newest, rows[0][1])

    def release(self, until: int) -> None:
        self.run.out += sorted((row for row in self.waiting if row[1] <= until), key=lambda row: row[1])
        self.waiting = [row for row in self.waiting if row[1] > until]

    def flush(self) -> None:
        if self.doubted:
            self.accept(self.doubted)
            self.doubted = []
        if self.newest is not None:
            self.floor = self.newest
            self.release(self.newest)


def one_by_one(ends: list[int], told: Bounds, flush_at: int) -> Run:
    reference = OneByOne(told)
    for arrival, end in enumerate(ends):
        if arrival == flush_at:
            reference.flush()
        reference.take(arrival, end)
    reference.flush()
    return reference.run


# Laws


@laws
@given(arrivals, bounded, cuts, st.integers(0, 60))
def test_buffer_equals_the_one_by_one_reference_whatever_the_blocks(
    ends: list[int], told: Bounds, blocks: list[int], flush_at: int
) -> None:
    assert through_order(ends, told, blocks, flush_at) == one_by_one(ends, told, flush_at)


@laws
@given(arrivals, bounded, cuts)
def test_output_is_in_time_order_and_stable(ends: list[int], told: Bounds, blocks: list[int]) -> None:
    out = through_order(ends, told, blocks, flush_at=-1).out
    assert out == sorted(out, key=lambda row: (row[1], row[0]))


@laws
@given(arrivals, bounded, cuts)
def test_nothing_is_lost_and_nothing_is_made(ends: list[int], told: Bounds, blocks: list[int]) -> None:
    run = through_order(ends, told, blocks, flush_at=-1)
    assert Counter(run.out + run.late + run.future) == Counter(enumerate(ends))


@laws
@given(arrivals, arrivals, bounded)
def test_restored_state_goes_on_as_if_never_stopped(first: list[int], second: list[int], told: Bounds) -> None:
    going, stopped = told.order(), told.order()
    going.push(rows_of(first))
    stopped.push(rows_of(first))
    restored = replace(told, doubts_first=False).order()
    restored.put(stopped.state())
    for block in [rows_of(second), rows_of(first)]:
        assert keys(going.push(block)) == keys(restored.push(block))
        assert (going.late, going.future, going.doubted) == (restored.late, restored.future, restored.doubted)
    assert keys(going.flush()) == keys(restored.flush())
    assert (going.late, going.future, going.watermark) == (restored.late, restored.future, restored.watermark)


def test_restored_order_does_not_go_back_in_time_with_a_greater_lateness() -> None:
    order = Order(lateness=5)
    order.push(rows_of([10, 20]))
    restored = Order(lateness=100)
    restored.put(order.state())
    assert ends_of(restored.push(rows_of([14, 15, 16]))) == [15]
    assert (restored.late, ends_of(restored.flush())) == (1, [16, 20])


# Boundaries


def test_row_at_the_watermark_is_accepted_and_one_below_is_late() -> None:
    order = Order(lateness=10)
    order.push(rows_of([100]))
    assert order.watermark == 90
    assert ends_of(order.push(rows_of([90]))) == [90]
    assert ends_of(order.push(rows_of([89]))) == []
    assert order.late == 1


def test_row_at_the_future_bound_is_accepted_and_one_beyond_is_doubted() -> None:
    order = Order(max_future=50)
    assert ends_of(order.push(rows_of([100, 150]))) == [100, 150]
    assert ends_of(order.push(rows_of([201]))) == []
    assert (order.doubted, order.future, order.newest) == (1, 0, 150)


def test_row_at_the_future_bound_is_the_base_of_the_next_also_beside_a_quarantined_one() -> None:
    order = Order(max_future=50)
    assert ends_of(order.push(rows_of([100, 900, 150, 200, 251]))) == [100, 150, 200]
    assert (order.future, order.doubted) == (1, 1)


def test_a_gap_is_believed_when_the_next_row_is_near() -> None:
    order = Order(max_future=50)
    assert ends_of(order.push(rows_of([10, 1_000]))) == [10]
    assert ends_of(order.push(rows_of([1_001]))) == [1_000, 1_001]
    assert (order.late, order.future) == (0, 0)


def test_rows_of_one_time_do_not_confirm_each_other() -> None:
    order = Order(max_future=50)
    assert ends_of(order.push(rows_of([10, 1_000, 1_000, 1_000, 11]))) == [10, 11]
    assert order.future == 3


def test_gaps_one_after_the_other_are_believed_each_by_the_next() -> None:
    order = Order(max_future=50)
    assert [ends_of(order.push(rows_of([day * 100]))) for day in range(4)] == [[0], [], [100], [200]]
    assert ends_of(order.flush()) == [300]


def test_a_row_half_way_between_refutes_and_one_behind_it_confirms() -> None:
    for end, out in ((500, []), (501, [1_000])):
        order = Order(max_future=50, lateness=0)
        order.push(rows_of([0, 1_000]))
        assert ends_of(order.push(rows_of([end]))) == out
    assert (order.late, order.future) == (1, 0)


def test_a_wrong_clock_behind_a_gap_is_refuted_by_the_right_one() -> None:
    order = Order(max_future=50)
    assert ends_of(order.push(rows_of([0, 10**9, 1_000, 1_001]))) == [0, 1_000, 1_001]
    assert order.future == 1


def test_a_lateness_beyond_the_bound_is_the_bound() -> None:
    order = Order(max_future=50, lateness=100)
    assert ends_of(order.push(rows_of([0, 100, 1]))) == [0]
    assert (ends_of(order.flush()), order.future) == ([1, 100], 0)


def test_what_nobody_has_refuted_is_believed_at_the_end() -> None:
    order = Order(max_future=50)
    order.push(rows_of([0, 1_000]))
    assert ends_of(order.flush()) == [1_000]
    assert (order.future, order.newest) == (0, 1_000)


def test_first_arrival_sets_the_base_whatever_its_time_where_there_is_no_clock() -> None:
    order = Order(max_future=0)
    assert ends_of(order.push(rows_of([10**15]))) == [10**15]


def test_first_arrival_beyond_the_clock_waits_for_the_next() -> None:
    for second, out in ((100, [100]), (10**6 - 50, [10**6]), (10**6 + 1, [10**6, 10**6 + 1])):
        order = Order(max_future=50, now=lambda: 100)
        assert ends_of(order.push(rows_of([10**6]))) == []
        assert ends_of(order.push(rows_of([second]))) == out
        assert order.future == (out == [100])


def test_first_arrival_at_the_clocks_bound_is_believed_at_once() -> None:
    order = Order(max_future=50, now=lambda: 100)
    assert ends_of(order.push(rows_of([150]))) == [150]


def test_one_row_dated_far_in_the_future_makes_no_later_row_late() -> None:
    order = Order(max_future=1_000)
    assert ends_of(order.push(rows_of([10, 10**17, 20, 30]))) == [10, 20, 30]
    assert (order.late, order.future) == (0, 1)


def test_without_a_bound_a_row_from_the_future_makes_the_rest_late() -> None:
    order = Order()
    assert ends_of(order.push(rows_of([10, 10**17, 20, 30]))) == [10, 10**17]
    assert order.late == 2


def test_row_that_a_flush_overtook_is_late() -> None:
    order = Order(lateness=100)
    order.push(rows_of([50, 80]))
    assert ends_of(order.flush()) == [50, 80]
    assert ends_of(order.push(rows_of([79, 80]))) == [80]
    assert order.late == 1


def test_flush_before_any_arrival_gives_nothing_and_sets_no_clock() -> None:
    order = Order(lateness=5)
    assert ends_of(order.flush()) == []
    assert order.watermark is None


def test_without_a_bound_the_whole_range_of_times_is_accepted() -> None:
    order = Order(lateness=1)
    assert ends_of(order.push(rows_of([EARLIEST, LATEST]))) == [EARLIEST]
    assert ends_of(order.flush()) == [LATEST]
    assert (order.late, order.future) == (0, 0)


@given(st.lists(st.integers(0, 2**17)), st.sampled_from([1, 2**14, 2**20]))
def test_times_of_any_range_are_sorted_stably(times: list[int], scale: int) -> None:
    ends = np.array([0, *times]) * scale
    assert waiting_module._time_order(ends).tolist() == np.argsort(ends, kind="stable").tolist()


def test_interval_is_placed_by_its_end() -> None:
    rows = rows_of([10, 20])
    rows[1, layout.START] = 1
    assert ends_of(Order().push(rows)) == [10, 20]


# Handlers and arguments


def test_handler_that_raises_refuses_the_whole_block() -> None:
    def refuse(rows: Rows) -> None:
        raise RuntimeError(f"{len(rows)} late")

    order = Order(on_late=refuse)
    order.push(rows_of([10]))
    with pytest.raises(RuntimeError, match="1 late"):
        order.push(rows_of([5, 20]))
    assert (order.newest, order.late, order.waiting) == (10, 0, 0)


@pytest.mark.parametrize("argument", [{"lateness": -1}, {"max_future": -1}, {"lateness": 2**61}])
def test_bound_out_of_range_is_refused_by_its_name(argument: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(argument))):
        Order(**argument)


# Cost, by what is copied rather than by time


def test_block_in_order_comes_back_itself() -> None:
    order = Order(max_future=1_000)
    block = rows_of(list(range(100)))
    assert order.push(block) is block


def test_waiting_rows_are_copies_of_the_callers_block() -> None:
    order = Order(lateness=10)
    block = rows_of([1, 2, 3])
    order.push(block)
    block[:] = 0
    assert ends_of(order.flush()) == [1, 2, 3]


def test_rows_pushed_singly_wait_in_few_runs() -> None:
    order = Order(lateness=10**6)
    for end in range(2_000):
        order.push(rows_of([end]))
    assert order.waiting == 2_000
    assert len(order._waiting._runs) <= 12


def test_rows_given_out_are_not_held_in_memory() -> None:
    order = Order(lateness=10)
    order.push(rows_of([*range(1_000), 1_005]))
    order.push(rows_of([1_012]))
    assert order.waiting < 20
    assert all(run.rows.base is None or len(run.rows.base) <= 40 for run in order._waiting._runs)


def test_column_is_that_of_the_row_layout() -> None:
    assert waiting_module.END == layout.END
    assert waiting_module.NOTHING.rows.shape[1] == layout.ROW_WIDTH
