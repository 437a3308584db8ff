"""Times of items: late and future ones, intervals, several streams, and times that come out as they went in."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from helpers.pairs import E, pair, triple

import retewave as rw


def test_late_items_wait_in_the_buffer_and_later_ones_are_counted_and_handed_over() -> None:
    late: list[rw.LateItem] = []
    engine = rw.Engine(lateness="2s", on_late=late.extend)
    engine.register(pair("1s"))
    assert engine.push(triple("a", "p", 1), time=10) == []
    assert engine.push(triple("a", "q", 2), time=9) == []
    (match,) = engine.push(triple("b", "p", 1), time=13)
    assert (match.start, match.end) == (9, 10)
    engine.push(triple("c", "p", 1), time=5)
    assert [(str(item.subject), item.end) for item in late] == [(E + "c", 5)]
    assert engine.stats()["late"] == 1


@pytest.mark.filterwarnings("ignore:.*future:RuntimeWarning")
def test_on_late_is_told_the_interval_the_stream_and_why() -> None:
    late: list[rw.LateItem] = []
    engine = rw.Engine(max_future="1h", on_late=late.extend)
    engine.register(pair("1s"))
    engine.push(triple("a", "p", 1), time=100)
    engine.push(triple("b", "p", 1), time=(3, 5.5), stream=E + "s")
    engine.push(triple("c", "p", 1), time=9000)
    engine.push(triple("d", "p", 1), time=101)
    b, c = late
    assert (b.start, b.end, b.stream, b.why) == (3, 5.5, E + "s", "late")
    assert (c.start, c.end, c.stream, c.why) == (9000, 9000, None, "future")
    assert list(map(str, b.triple)) == [E + "b", E + "p", "1"]


def test_an_item_that_was_late_can_be_pushed_again_as_it_was_handed_over() -> None:
    late: list[rw.LateItem] = []
    engine = rw.Engine(on_late=late.extend)
    query = engine.register(f"SELECT * FROM STREAM <{E}s> {{ ?x <{E}p> ?y }}")
    engine.push(triple("a", "p", 1), time=100, stream=E + "s")
    engine.push(triple("b", "p", 1), time=5, stream=E + "s")
    [item] = late
    assert len(engine.push(item.triple, time=101, stream=item.stream)) == 1
    assert query.matched == 2


def test_an_item_dated_far_in_the_future_does_not_expire_the_state() -> None:
    engine = rw.Engine(max_future="1h")
    engine.register(pair("5s"))
    engine.push(triple("a", "p", 1), time=0)
    engine.push(triple("b", "p", 1), time=1e9)
    with pytest.warns(RuntimeWarning, match="further ahead"):
        assert len(engine.push(triple("a", "q", 2), time=1)) == 1
    assert engine.stats()["future"] == 1


@pytest.mark.parametrize(
    "time",
    [7, 7.5, datetime(2012, 7, 16, 10, tzinfo=UTC), datetime(2012, 7, 16, 10), np.datetime64("2012-07-16T10:00:00")],
)
def test_times_come_out_as_what_went_in(time: Any) -> None:
    engine = rw.Engine()
    engine.register("SELECT * { ?x <http://e/p> ?y }")
    (match,) = engine.push(triple("a", "p", 1), time=time)
    assert match.start == time
    assert type(match.start) is type(time)


def test_an_item_may_have_an_interval() -> None:
    engine = rw.Engine()
    engine.register(pair("5s"))
    engine.push(triple("a", "p", 1), time=(1, 4))
    (match,) = engine.push(triple("a", "q", 2), time=(3, 6))
    assert (match.start, match.end) == (1, 6)
    with pytest.raises(rw.UsageError, match="cannot end"):
        engine.push(triple("a", "p", 1), time=(9, 8))


def test_two_streams_with_rates_are_merged_by_time() -> None:
    engine = rw.Engine()
    engine.register(
        "SELECT ?x FROM STREAM <http://e/1> [RANGE 10ms] FROM STREAM <http://e/2> [RANGE 10ms] "
        "{ ?x <http://e/p> ?y . ?x <http://e/q> ?y }"
    )
    count = 100_000  # several chunks, so that neither reader may run ahead of the other
    first, second = (
        b"".join(b"<http://e/s%d> <http://e/%s> <http://e/o> .\n" % (n, p) for n in range(count)) for p in (b"p", b"q")
    )
    readers = (
        rw.read(first, format="nt", rate=10_000, stream="http://e/1"),
        rw.read(second, format="nt", rate=10_000, stream="http://e/2"),
    )
    assert sum(len(batch) for batches in engine.run_batches(*readers) for batch in batches) == count
    assert engine.stats()["late"] == 0


def test_a_query_hears_only_the_streams_that_it_names() -> None:
    engine = rw.Engine()
    engine.register("SELECT * FROM STREAM <http://e/1> { ?x <http://e/p> ?y }")
    assert len(engine.push(triple("a", "p", 1), time=0, stream="http://e/1")) == 1
    assert engine.push(triple("a", "p", 1), time=0, stream="http://e/2") == []
    assert len(engine.push(triple("a", "p", 1), time=0)) == 1
