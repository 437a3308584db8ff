"""The way in from an event loop: nothing is lost without being counted, and no thread stays behind."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing
from typing import Any, TypeVar

import pytest

import retewave as rw

ONE = "SELECT ?x { ?x <http://e/p> ?y }"
LINES = b"".join(b"<http://e/s%d> <http://e/p> <http://e/o> .\n" % n for n in range(10))
Answer = TypeVar("Answer")


@pytest.fixture(autouse=True)
def no_thread_stays() -> Iterator[None]:
    """Wait for the threads that a test has left: they end by themselves."""
    yield
    ended()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("retewave")]


def triple(n: int | str) -> tuple[str, str, int]:
    return f"http://e/s{n}", "http://e/p", 1


def item(n: int) -> tuple[tuple[str, str, int], int]:
    return triple(n), n


def number(match: rw.Match) -> int:
    return int((match.text("x") or b"").removeprefix(b"<http://e/s").removesuffix(b">"))


def numbers(matches: list[rw.Match]) -> list[int]:
    return [number(match) for match in matches]


def listening(**options: Any) -> rw.Engine:
    engine = rw.Engine(**options)
    engine.register(ONE)
    return engine


def within_a_minute(work: Callable[[], Awaitable[Answer]]) -> Answer:
    async def limited() -> Answer:
        return await asyncio.wait_for(work(), 60)

    return asyncio.run(limited())


async def items(count: int) -> AsyncIterator[Any]:
    for n in range(count):
        yield item(n)


class Silent:
    """An async source that brings some items and then waits until it is told to end."""

    def __init__(self, count: int) -> None:
        self.count, self.reached, self.closed = count, asyncio.Event(), False
        self.go_on = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[Any]:
        try:
            for n in range(self.count):
                yield item(n)
            self.reached.set()
            await self.go_on.wait()
        finally:
            self.closed = True


# ---- sources ----
SOURCES: dict[str, Callable[[], Any]] = {
    "reader": lambda: rw.read(LINES, format="nt", rate=1, start=0),
    "async": lambda: items(10),
    "list": lambda: [item(n) for n in range(10)],
    "generator": lambda: (item(n) for n in range(10)),
}


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


# ---- streams that are left ----
async def first(matches: Any, count: int) -> list[int]:
    found: list[int] = []
    async for match in matches:
        found.append(number(match))
        if len(found) == count:
            break
    return found


@pytest.mark.parametrize("closing", [False, True])
@pytest.mark.parametrize("source", SOURCES)
def test_what_a_stream_that_is_left_has_taken_is_found_by_the_next_call(source: str, closing: bool) -> None:
    engine = listening()
    engine.register(ONE)  # two matches an item, of which one is taken

    async def work() -> list[int]:
        if not closing:
            return await first(engine.stream(SOURCES[source]()), 3)
        async with aclosing(engine.stream(SOURCES[source]())) as matches:
            return await first(matches, 3)

    found = within_a_minute(work)
    rest = numbers(engine.flush())
    taken = engine.stats()["triples"]
    assert [*found, *rest] == [n for n in range(taken) for _ in range(2)]
    assert taken >= 2
    assert engine._runs == 0


def test_a_stream_that_is_cancelled_closes_its_source_and_loses_nothing() -> None:
    engine, found = listening(), []

    async def work() -> None:
        source = Silent(5)

        async def take() -> None:
            async for match in engine.stream(source):
                found.append(number(match))

        task = asyncio.create_task(take())
        await source.reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert source.closed

    within_a_minute(work)
    assert [*found, *numbers(engine.flush())] == list(range(5))
    assert engine.stats()["triples"] == 5


@pytest.mark.parametrize("source", SOURCES)
def test_a_stream_that_nobody_has_closed_when_its_loop_ends_loses_nothing(source: str) -> None:
    engine, loop = listening(), asyncio.new_event_loop()
    engine.register(ONE)
    matches = engine.stream(SOURCES[source]())

    found = [number(loop.run_until_complete(next_of(matches)))]
    loop.close()
    del matches
    ended()
    found += numbers(engine.flush())
    assert found == [n for n in range(engine.triples) for _ in range(2)]
    assert engine._runs == 0


async def next_of(matches: AsyncIterator[rw.Match]) -> rw.Match:
    return await anext(matches)


def ended() -> None:
    """Wait for the threads of streams, which end by themselves."""
    gc.collect()
    for thread in threading.enumerate():
        if thread.name.startswith("retewave"):
            thread.join(60)


def test_a_stream_that_was_never_begun_takes_nothing() -> None:
    engine, taken = listening(), []
    engine.stream(taken.append(n) or item(n) for n in range(3))  # type: ignore[func-returns-value]
    assert taken == []


# ---- awaited pushes ----
def test_each_awaited_push_returns_its_own_matches_in_order() -> None:
    engine = listening()

    async def work() -> list[list[int]]:
        found = await asyncio.gather(*(engine.apush(triple(n), time=n) for n in range(300)))
        return [numbers(each) for each in found]

    assert within_a_minute(work) == [[n] for n in range(300)]


def test_pushes_of_several_loops_find_what_one_finds() -> None:
    engine = listening(inbox=4)
    found: list[int] = []

    async def work() -> None:
        for each in await asyncio.gather(*(engine.apush(triple(n), time=1) for n in range(50))):
            found.extend(numbers(each))

    threads = [threading.Thread(target=within_a_minute, args=(work,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(found) == sorted(4 * [*range(50)])


def test_an_error_of_an_awaited_push_is_its_own() -> None:
    engine = listening()

    async def work() -> list[Any]:
        wrong = engine.apush(np_ids(), time=1)
        return [*await asyncio.gather(engine.apush(triple(0), time=1), wrong, return_exceptions=True)]

    found, error = within_a_minute(work)
    assert numbers(found) == [0]
    assert isinstance(error, rw.UsageError)


def np_ids() -> Any:
    import numpy as np

    return np.array([[10**6, 1, 1]])


class Gate:
    """A callback that holds up the engine until it is opened."""

    def __init__(self) -> None:
        self.entered, self.open = threading.Event(), threading.Event()

    def __call__(self, match: rw.Match) -> None:
        self.entered.set()
        assert self.open.wait(60)

    async def met(self) -> None:
        assert await asyncio.to_thread(self.entered.wait, 60)


def held_up(**options: Any) -> tuple[rw.Engine, Gate]:
    engine, gate = rw.Engine(**options), Gate()
    engine.register(ONE, on_match=gate)
    return engine, gate


def test_a_push_that_is_cancelled_before_its_turn_does_not_go_in_and_one_under_way_is_left_to_the_next_call() -> None:
    engine, gate = held_up()

    async def work() -> None:
        under_way = asyncio.create_task(engine.apush(triple(0), time=0))
        await gate.met()
        waiting = [asyncio.create_task(engine.apush(triple(n), time=n)) for n in (1, 2)]
        await asyncio.sleep(0)
        for task in (under_way, waiting[0]):
            task.cancel()
        gate.open.set()
        assert numbers(await waiting[1]) in ([2], [0, 2])  # what was left may be there by then
        assert all(task.cancelled() for task in (under_way, waiting[0]))

    within_a_minute(work)
    assert engine.triples == 2
    assert engine.queries[0].matched == 2


def test_a_full_inbox_lets_pushes_wait() -> None:
    engine, gate = held_up(inbox=2)

    async def work() -> None:
        begun = asyncio.create_task(engine.apush(triple(0), time=0))
        await gate.met()
        tasks = [asyncio.create_task(engine.apush(triple(n), time=n)) for n in range(1, 20)]
        await asyncio.sleep(0)
        tasks[5].cancel()  # one that waits for room
        await asyncio.wait({tasks[5]})
        gate.open.set()
        found: list[Any] = await asyncio.gather(begun, *tasks, return_exceptions=True)
        assert isinstance(found.pop(6), asyncio.CancelledError)
        assert [numbers(each) for each in found] == [[n] for n in range(20) if n != 6]

    within_a_minute(work)
    assert (engine.triples, engine.stats()["dropped"]) == (19, 0)


def test_a_full_inbox_drops_and_counts_if_the_user_says_so() -> None:
    engine, gate = held_up(inbox=2, when_full="drop")

    async def work() -> None:
        begun = asyncio.create_task(engine.apush(triple(0), time=0))
        await gate.met()
        tasks = [asyncio.create_task(engine.apush(triple(n), time=n)) for n in range(1, 6)]
        await asyncio.wait(tasks[2:])
        gate.open.set()
        found = [numbers(each) for each in await asyncio.gather(begun, *tasks)]
        assert found == [[0], [1], [2], [], [], []]

    within_a_minute(work)
    assert (engine.triples, engine.stats()["dropped"]) == (3, 3)


def test_a_full_inbox_is_an_error_if_the_user_says_so() -> None:
    engine, gate = held_up(inbox=1, when_full="error")

    async def work() -> None:
        begun = asyncio.create_task(engine.apush(triple(0), time=0))
        await gate.met()
        waiting = asyncio.create_task(engine.apush(triple(1), time=1))
        await asyncio.sleep(0)
        with pytest.raises(rw.LimitError, match="the inbox is full: 1 items wait"):
            await engine.apush(triple(2), time=2)
        gate.open.set()
        assert [numbers(each) for each in await asyncio.gather(begun, waiting)] == [[0], [1]]

    within_a_minute(work)
    assert engine.triples == 2


# ---- back-pressure of streams ----
def test_a_source_is_asked_for_no_more_than_the_inbox_holds_while_nobody_takes_matches() -> None:
    engine, asked = listening(), []

    async def source() -> AsyncIterator[Any]:
        for n in range(100):
            asked.append(n)
            yield item(n)

    async def work() -> None:
        matches = engine.stream(source(), inbox=4)
        found = [number(await anext(matches))]
        for _ in range(50):
            await asyncio.sleep(0)
        assert len(asked) <= 1 + 4 + 4 + 1  # taken, in the inbox, once more when half of it was free, and waiting
        found += [number(match) async for match in matches]
        assert found == list(range(100))

    within_a_minute(work)


def test_a_stream_drops_and_counts_what_its_inbox_does_not_hold() -> None:
    engine = listening()

    async def work() -> list[int]:
        source = Silent(100)
        matches = engine.stream(source, inbox=4, when_full="drop")
        found = [number(await anext(matches))]
        await source.reached.wait()
        source.go_on.set()
        return found + [number(match) async for match in matches]

    found = within_a_minute(work)
    assert found == sorted(set(found))
    assert len(found) + engine.stats()["dropped"] == 100
    assert engine.stats()["dropped"] > 0


def test_a_stream_whose_inbox_is_full_ends_with_an_error_behind_what_it_took() -> None:
    engine, found = listening(), []

    async def work() -> None:
        with pytest.raises(rw.LimitError):
            async for match in engine.stream(items(10_000), inbox=4, when_full="error"):
                found.append(number(match))

    within_a_minute(work)
    assert found == list(range(engine.triples))
    assert len(found) < 10_000


def test_options_of_an_inbox_are_checked() -> None:
    for options in ({"inbox": 0}, {"inbox": "many"}, {"when_full": "burst"}):
        with pytest.raises(rw.UsageError):
            rw.Engine(**options)

    async def work() -> None:
        for source, options in ((items(1), {"inbox": 0}), (items(1), {"when_full": "x"}), ([item(1)], {"inbox": 4})):
            with pytest.raises(rw.UsageError):
                await anext(rw.Engine().stream(source, **options))

    within_a_minute(work)
