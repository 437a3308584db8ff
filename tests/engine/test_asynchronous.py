"""The way in from an event loop: nothing is lost without being counted, and no thread stays behind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from helpers.asynchronous import LINES, ONE, SOURCES, item, items, listening, number, numbers, triple, within_a_minute

import retewave as rw

pytestmark = pytest.mark.usefixtures("no_thread_stays")


# ---- sources ----
@pytest.mark.parametrize("source", SOURCES)
def test_a_stream_gives_what_a_run_gives_in_its_order(source: str) -> None:
    engine = listening()

    async def work() -> list[tuple[int, Any]]:
        return [(number(match), match.end) async for match in engine.stream(SOURCES[source]())]

    assert within_a_minute(work) == [(n, n) for n in range(10)]
    assert engine.stats()["triples"] == 10
    assert engine.flush() == []


def test_a_file_is_a_source(tmp_path: Any) -> None:
    path, engine = tmp_path / "s.nt", listening()
    path.write_bytes(LINES)

    async def work() -> list[int]:
        return [number(match) async for match in engine.stream(path)]

    assert within_a_minute(work) == list(range(10))


def test_an_item_is_a_triple_a_pair_or_what_push_takes_by_name() -> None:
    engine = rw.Engine()
    engine.register("SELECT ?x FROM STREAM <http://e/t> { ?x <http://e/p> ?y }")
    given = [
        triple(0),
        [triple(1), triple(2)],
        (triple(3), (4e9, 5e9)),
        {"triples": [triple(4)], "time": 5e9, "stream": "http://e/t", "event": 7},
        {"triples": triple(5), "time": 5e9, "stream": "http://e/u"},
    ]

    async def work() -> list[tuple[int, bool]]:
        return [(number(match), match.start == match.end) async for match in engine.stream(given)]

    assert within_a_minute(work) == [(0, True), (1, True), (2, True), (3, False), (4, True)]


@pytest.mark.parametrize("wrong", [{"time": 5}, {"triples": triple(1), "when": 5}, 5, ("http://e/s", "http://e/p")])
def test_an_item_that_is_none_is_an_error_and_what_came_before_and_behind_it_is_not_lost(wrong: Any) -> None:
    engine = listening()

    async def source() -> AsyncIterator[Any]:
        for given in (item(0), wrong, item(1), item(2)):
            yield given

    async def work() -> list[int]:
        found = []
        with pytest.raises(rw.UsageError):
            async for match in engine.stream(source()):
                found.append(number(match))
        return found

    assert within_a_minute(work) == [0]
    assert numbers(engine.flush()) == [1, 2]


def test_the_last_stream_lets_go_of_what_waits_for_late_items() -> None:
    engine = listening(lateness="1h")

    async def work() -> list[int]:
        return [number(match) async for match in engine.stream(items(3))]

    assert within_a_minute(work) == [0, 1, 2]


def test_several_streams_at_once_find_what_one_finds() -> None:
    engine = rw.Engine()
    query = engine.register(ONE, keep=None)

    async def source() -> AsyncIterator[Any]:
        for n in range(10):
            yield triple(n), 0

    async def take(source: Any) -> list[int]:
        return [number(match) async for match in engine.stream(source)]

    async def work() -> list[list[int]]:
        listed = [(triple(n), 0) for n in range(10)]
        return await asyncio.gather(*(take(each) for each in (source(), listed, iter(listed), source())))

    found = within_a_minute(work)
    assert sorted(n for each in found for n in each) == sorted(4 * [*range(10)])
    assert query.matched == 40


def test_callbacks_are_called_in_a_thread_and_the_loop_goes_on_meanwhile() -> None:
    engine, threads = rw.Engine(), set()
    ticked = threading.Event()

    def call(match: rw.Match) -> None:
        threads.add(threading.current_thread().name)
        assert ticked.wait(60)

    engine.register(ONE, on_match=call)

    async def work() -> None:
        pushed = asyncio.create_task(engine.apush(triple(0), time=0))
        while not threads:
            await asyncio.to_thread(threading.Event().wait, 0.001)
        ticked.set()
        assert numbers(await pushed) == [0]

    within_a_minute(work)
    assert threads == {"retewave pushes"}


# ---- errors ----
class Broken(Exception):
    pass


async def failing() -> AsyncIterator[Any]:
    yield item(0)
    yield item(1)
    raise Broken


def failing_at_once() -> Iterator[Any]:
    yield item(0)
    yield item(1)
    raise Broken


@pytest.mark.parametrize("source", [failing, failing_at_once])
def test_an_error_of_the_source_comes_behind_the_matches_of_what_it_brought(source: Callable[[], Any]) -> None:
    engine, found = listening(), []

    async def work() -> None:
        async for match in engine.stream(source()):
            found.append(number(match))

    with pytest.raises(Broken):
        within_a_minute(work)
    assert found == [0, 1]
    assert engine._runs == 0


def test_an_error_of_a_callback_ends_the_stream_and_loses_nothing() -> None:
    engine, told = rw.Engine(), []

    def broken(match: rw.Match) -> None:
        told.append(number(match))
        if told == [0]:
            raise Broken

    engine.register(ONE, on_match=broken)

    async def work() -> None:
        async for _ in engine.stream(items(5)):
            pytest.fail("the first is not returned")

    with pytest.raises(Broken):
        within_a_minute(work)
    assert len(numbers(engine.flush())) == engine.triples == len(told)
