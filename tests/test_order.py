"""The reorder buffer: ordered output, nothing lost, the same whatever the blocks."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retewave.rete import rows as layout
from retewave.windows import order as order_module
from retewave.windows.intervals import EARLIEST, LATEST
from retewave.windows.order import Order, Rows

CASES = int(os.environ.get("RETEWAVE_CASES", "1"))

arrivals = st.lists(st.integers(-5, 30) | st.integers(1_000, 1_010), max_size=40)
latenesses = st.integers(0, 12)
bounds = st.none() | st.integers(0, 25)
cuts = st.lists(st.integers(0, 40), max_size=6)
laws = settings(max_examples=300 * CASES, deadline=None)


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


def through_order(ends: list[int], lateness: int, max_future: int | None, blocks: list[int], flush_at: int) -> Run:
    """Run the buffer over the stream, cut in blocks, flushed once in the middle and once at the end."""
    run = Run()
    order = Order(lateness, max_future, lambda r: run.late.extend(keys(r)), lambda r: run.future.extend(keys(r)))
    rows = rows_of(ends)
    places = sorted({0, len(ends), *(min(b, len(ends)) for b in [*blocks, flush_at])})
    for start, stop in pairwise(places):
        if start == flush_at:
            run.out += keys(order.flush())
        run.out += keys(order.push(rows[start:stop]))
    run.out += keys(order.flush())
    assert (order.late, order.future, order.waiting) == (len(run.late), len(run.future), 0)
    return run


def one_by_one(ends: list[int], lateness: int, max_future: int | None, flush_at: int) -> Run:
    """The module's docstring, read aloud."""
    run, waiting, newest, floor = Run(), [], None, None
    for arrival, end in enumerate(ends):
        if arrival == flush_at and newest is not None:
            run.out += sorted(waiting, key=lambda row: row[1])
            waiting, floor = [], newest
        if newest is None:
            newest = end
        watermark = newest - lateness if floor is None else max(floor, newest - lateness)
        if max_future is not None and end > newest + max_future:
            run.future.append((arrival, end))
        elif end < watermark:
            run.late.append((arrival, end))
        else:
            waiting.append((arrival, end))
            newest = max(newest, end)
            watermark = max(watermark, newest - lateness)
            run.out += sorted((row for row in waiting if row[1] <= watermark), key=lambda row: row[1])
            waiting = [row for row in waiting if row[1] > watermark]
    run.out += sorted(waiting, key=lambda row: row[1])
    return run


# Laws


@laws
@given(arrivals, latenesses, bounds, cuts, st.integers(0, 60))
def test_buffer_equals_the_one_by_one_reference_whatever_the_blocks(
    ends: list[int], lateness: int, max_future: int | None, blocks: list[int], flush_at: int
) -> None:
    assert through_order(ends, lateness, max_future, blocks, flush_at) == one_by_one(
        ends, lateness, max_future, flush_at
    )


@laws
@given(arrivals, latenesses, bounds, cuts)
def test_output_is_in_time_order_and_stable(
    ends: list[int], lateness: int, max_future: int | None, blocks: list[int]
) -> None:
    out = through_order(ends, lateness, max_future, blocks, flush_at=-1).out
    assert out == sorted(out, key=lambda row: (row[1], row[0]))


@laws
@given(arrivals, latenesses, bounds, cuts)
def test_nothing_is_lost_and_nothing_is_made(
    ends: list[int], lateness: int, max_future: int | None, blocks: list[int]
) -> None:
    run = through_order(ends, lateness, max_future, blocks, flush_at=-1)
    assert Counter(run.out + run.late + run.future) == Counter(enumerate(ends))


@laws
@given(arrivals, arrivals, latenesses, bounds)
def test_restored_state_goes_on_as_if_never_stopped(
    first: list[int], second: list[int], lateness: int, max_future: int | None
) -> None:
    going, stopped = Order(lateness, max_future), Order(lateness, max_future)
    going.push(rows_of(first))
    stopped.push(rows_of(first))
    restored = Order.from_state(stopped.state(), lateness, max_future)
    for block in [rows_of(second), rows_of(first)]:
        assert keys(going.push(block)) == keys(restored.push(block))
    assert keys(going.flush()) == keys(restored.flush())
    assert (going.late, going.future, going.watermark) == (restored.late, restored.future, restored.watermark)


def test_restored_order_does_not_go_back_in_time_with_a_greater_lateness() -> None:
    order = Order(lateness=5)
    order.push(rows_of([10, 20]))
    restored = Order.from_state(order.state(), lateness=100)
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


def test_row_at_the_future_bound_is_accepted_and_one_beyond_is_quarantined() -> None:
    order = Order(max_future=50)
    assert ends_of(order.push(rows_of([100, 150]))) == [100, 150]
    assert ends_of(order.push(rows_of([201]))) == []
    assert order.future == 1
    assert order.newest == 150


def test_row_at_the_future_bound_is_the_base_of_the_next_also_beside_a_quarantined_one() -> None:
    order = Order(max_future=50)
    assert ends_of(order.push(rows_of([100, 900, 150, 200, 251]))) == [100, 150, 200]
    assert order.future == 2


def test_first_arrival_sets_the_base_whatever_its_time() -> None:
    order = Order(max_future=0)
    assert ends_of(order.push(rows_of([10**15]))) == [10**15]


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
    assert order_module._time_order(ends).tolist() == np.argsort(ends, kind="stable").tolist()


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
def test_bound_out_of_range_is_refused_by_its_name(argument: dict[str, int]) -> None:
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
    assert len(order._runs) <= 12


def test_rows_given_out_are_not_held_in_memory() -> None:
    order = Order(lateness=10)
    order.push(rows_of([*range(1_000), 1_005]))
    order.push(rows_of([1_012]))
    assert order.waiting < 20
    assert all(run.rows.base is None or len(run.rows.base) <= 40 for run in order._runs)


def test_column_is_that_of_the_row_layout() -> None:
    assert order_module.END == layout.END
    assert order_module._NOTHING.rows.shape[1] == layout.ROW_WIDTH
