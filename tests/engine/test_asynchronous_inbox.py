"""The inbox of a stream: what it holds, and what becomes of what it does not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from helpers.asynchronous import Silent, item, items, listening, number, within_a_minute

import retewave as rw

pytestmark = pytest.mark.usefixtures("no_thread_stays")


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
