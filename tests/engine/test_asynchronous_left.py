"""A stream that is left, cancelled or forgotten: what it has taken is found by the next call, and no thread stays."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest
from helpers.asynchronous import ONE, SOURCES, Silent, ended, item, listening, number, numbers, within_a_minute

import retewave as rw

pytestmark = pytest.mark.usefixtures("no_thread_stays")


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


def test_a_stream_that_was_never_begun_takes_nothing() -> None:
    engine, taken = listening(), []
    engine.stream(taken.append(n) or item(n) for n in range(3))  # type: ignore[func-returns-value]
    assert taken == []
