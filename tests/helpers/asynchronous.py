"""Streams and pushes from an event loop, and what tells their matches: for the tests of the asynchronous ways in."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

import retewave as rw

ONE = "SELECT ?x { ?x <http://e/p> ?y }"
LINES = b"".join(b"<http://e/s%d> <http://e/p> <http://e/o> .\n" % n for n in range(10))
Answer = TypeVar("Answer")


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


SOURCES: dict[str, Callable[[], Any]] = {
    "reader": lambda: rw.read(LINES, format="nt", rate=1, start=0),
    "async": lambda: items(10),
    "list": lambda: [item(n) for n in range(10)],
    "generator": lambda: (item(n) for n in range(10)),
}


def ended() -> None:
    """Wait for the threads of streams, which end by themselves."""
    gc.collect()
    for thread in threading.enumerate():
        if thread.name.startswith("retewave"):
            thread.join(60)
