"""Awaited pushes: each has its own matches; a full inbox waits, drops or refuses, as the user says."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from helpers.asynchronous import ONE, listening, numbers, triple, within_a_minute

import retewave as rw

pytestmark = pytest.mark.usefixtures("no_thread_stays")


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
