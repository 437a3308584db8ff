"""The way in from an event loop: a source's matches for `async for`, and pushes that are awaited.

Data's way: items of an event loop -> **inbox** -> the engine, in a thread -> **matches** -> the event loop.
Pouring, and waiting for callbacks of other threads, would hold up a loop, so threads do both.  A stream has one thread,
which works when the next match is asked for and ends with the stream.  All awaited pushes share one thread, which ends
when no push waits.

Invariants: an item that an inbox has taken is poured, or waits in the engine for the next call.  Matches that no task
has taken are left to the next call (`Finding`).  Dropped items are counted.  No thread outlives its stream or pushes,
except where a source is silent (a pipe, a blocking iterator): then it ends when the source brings more.
Left out: sources themselves; asyncio is loaded with this module, which is loaded when it is first needed.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from retewave.engine.arguments import WhenFull, check_inbox
from retewave.engine.items import texts_of
from retewave.engine.telling import Finding
from retewave.errors import LimitError, UsageError
from retewave.io.reading.reader import Reader
from retewave.log import Tally, log
from retewave.match import Match, Matches

if TYPE_CHECKING:
    from retewave.engine.engine import Engine

__all__ = ["Pushes", "stream"]

Waiting = TypeVar("Waiting")
Loop = asyncio.AbstractEventLoop

Answer = tuple[asyncio.Future[Any], Any, BaseException | None]  # the future that waits; its result, or an error

PATIENCE = 0.2  # seconds that the end of a stream waits for its thread, whose source may be silent
AT_ONCE = 64  # pushes that are answered together: to wake a loop takes longer than a push


# ---- what waits ----
class Inbox(Generic[Waiting]):
    """A bounded queue: event loops put things in, a thread takes them out."""

    def __init__(self, size: int, when_full: WhenFull, drop: Callable[[int], None]) -> None:
        self._size = size  # the most that may wait
        self._when_full = when_full  # the fate of a thing that finds it full
        self._drop = drop  # is told how many have been dropped
        self._items: deque[Waiting] = deque()
        self._changed = threading.Condition()  # held while the rest changes
        self._ended = False  # nothing more comes
        self._closed = False  # nobody takes out anything any more
        self._asking: deque[tuple[Waiting, Loop, asyncio.Future[None]]] = deque()  # waiting for room

    async def put(self, item: Waiting) -> bool:
        """Put a thing in, and say whether it is in; if it waits for room, it goes in even if its task is cancelled."""
        with self._changed:
            if len(self._items) < self._size and not self._asking and not self._closed:
                self._items.append(item)
                self._changed.notify()
                return True
            if self._when_full == "error":
                raise LimitError(
                    f"the inbox is full: {self._size:,} items wait",
                    hint='push less at once, raise inbox, or choose when_full="wait" or "drop"',
                )
            if self._when_full == "wait" and not self._closed:
                loop = asyncio.get_running_loop()
                room = loop.create_future()
                self._asking.append((item, loop, room))
        if self._when_full == "drop" or self._closed:
            self._drop(1)
            await asyncio.sleep(0)  # else a source that always has more would stop the loop
            return False
        await room
        return True

    def add(self, item: Waiting) -> None:
        """Put something in, even if it is full."""
        with self._changed:
            self._items.append(item)
            self._changed.notify()

    def take(self, most: int) -> list[Waiting]:
        """Take out at most `most` things; an empty inbox gives none."""
        with self._changed:
            taken = [self._items.popleft() for _ in range(min(most, len(self._items)))]
            self._make_room()
        return taken

    def _make_room(self) -> None:
        """Let in waiting things once half is free: to wake a loop for each takes longer than to pour it."""
        if 2 * len(self._items) > self._size:
            return
        while self._asking and len(self._items) < self._size:
            item, loop, room = self._asking.popleft()
            self._items.append(item)
            last: Answer = (room, None, None)
            _tell(loop, [last])

    def __iter__(self) -> Iterator[Waiting]:
        """Take out things one by one until the end; wait where there is none."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._items or self._ended)
                if not self._items:
                    return
                item = self._items.popleft()
                self._make_room()
            yield item

    def end(self) -> None:
        """Say that nothing more will come."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def close(self) -> list[Waiting]:
        """Take out all that is left; things that come later are dropped."""
        with self._changed:
            self._closed = True
            return [*self._items, *(item for item, _, _ in self._asking)]


# ---- items ----
Pushed = tuple[Any, Any, str | None, int | None]  # texts, time, stream, event: as `Engine.accept` takes them


def _item(given: Any) -> Pushed:
    """Return an element of a source as an item.

    >>> _item((("urn:s", "urn:p", 5), 1.5))[1:]
    (1.5, None, None)
    """
    if isinstance(given, Mapping):
        if "triples" not in given or given.keys() - {"triples", "time", "stream", "event"}:
            raise UsageError(
                f"an item that is a mapping has triples, and may have time, stream and event: {given!r}"[:300],
                hint="they are the arguments of push",
            )
        return texts_of(given["triples"]), given.get("time"), given.get("stream"), given.get("event")
    if isinstance(given, tuple) and len(given) == 2:
        return texts_of(given[0]), given[1], None, None
    return texts_of(given), None, None, None


class _Stopped(Exception):
    """Nobody wants more of a stream."""


class _Steps:
    """The work of a stream's thread: it pours the items of the source, and yields the matches that they complete."""

    def __init__(self, engine: Engine, source: Reader | str | Path | Iterable[Any]) -> None:
        self.engine = engine
        self.stopped = False  # nobody takes matches of the stream any more
        self._inbox = source if isinstance(source, Inbox) else None
        self.steps: Iterator[list[Matches]]
        if isinstance(source, Reader | str | Path):
            self.steps = engine.run_batches(source, between=self._go_on)
        else:
            self.steps = engine.course(self._poured(source))

    def _go_on(self) -> None:
        if self.stopped:
            raise _Stopped

    def _poured(self, items: Iterable[Any]) -> Iterator[list[Matches]]:
        for given in items:
            yield from self.engine.poured(self.engine.accept(*_item(given)))
            self._go_on()
        self._go_on()  # there may be items behind the last

    def stop(self) -> None:
        """Make the current step the last."""
        self.stopped = True
        if self._inbox is not None:
            self._inbox.end()

    def close(self) -> None:
        """End it, and let the items of the inbox wait in the engine."""
        try:
            self.steps.close()  # type: ignore[attr-defined]  # a generator
        finally:
            self._keep([] if self._inbox is None else self._inbox.close())

    def _keep(self, items: Iterable[Any]) -> None:
        for given in items:
            try:
                self.engine.accept(*_item(given))
            except Exception:
                self.engine.pushes.drop(1)
                log.exception("an item that nobody waits for is dropped")


# ---- streams ----
class _Worker:
    """A thread that takes a stream's steps on request; it ends when this object goes, whatever the loop does."""

    def __init__(self, steps: _Steps) -> None:
        self._loop = loop = asyncio.get_running_loop()
        self._steps = steps
        self._asked: SimpleQueue[asyncio.Future[Finding | None] | None] = SimpleQueue()
        self._ended = loop.create_future()
        work = (steps, loop, self._asked, self._ended)
        threading.Thread(target=_work, args=work, name="retewave stream", daemon=True).start()

    async def step(self) -> Finding | None:
        """Return the matches of the next step; None at the end."""
        answer: asyncio.Future[Finding | None] = self._loop.create_future()
        self._asked.put(answer)
        return await answer

    async def end(self) -> None:
        """Let the thread end, and give it some time to do so."""
        self.__del__()
        await _wait_for(self._ended)

    def __del__(self) -> None:
        self._steps.stop()
        self._asked.put(None)


async def _wait_for(last: asyncio.Future[None]) -> None:
    """Wait for a future, for `PATIENCE` at most, also in a task that is cancelled meanwhile (its loop ends)."""
    try:
        await asyncio.wait({last}, timeout=PATIENCE)
    except asyncio.CancelledError:
        await asyncio.wait({last}, timeout=PATIENCE)
        raise


def _work(
    steps: _Steps, loop: Loop, asked: SimpleQueue[asyncio.Future[Finding | None] | None], ended: asyncio.Future[None]
) -> None:
    """Take steps until nobody asks for more; this is the thread."""
    try:
        while (answer := asked.get()) is not None:
            found, error = None, None
            try:
                batches = next(steps.steps, None)
                found = None if batches is None else Finding(steps.engine.telling, [batches])
            except _Stopped:
                pass
            except BaseException as raised:
                error = raised
            _tell(loop, [(answer, found, error)])
            answer = found = error = None  # else this thread would hold the matches, too
    finally:
        try:
            steps.close()
        except Exception:
            log.exception("a stream has ended with an error that nobody waits for")
        with suppress(RuntimeError):
            last: Answer = (ended, None, None)
            loop.call_soon_threadsafe(_settle, [last])


def _tell(loop: Loop, answers: list[Answer]) -> None:
    """Have a loop settle its futures, if it still runs."""
    try:
        loop.call_soon_threadsafe(_settle, answers)
    except RuntimeError:
        _settle(answers, gone=True)


def _settle(answers: list[Answer], *, gone: bool = False) -> None:
    while answers:
        waiting, found, error = answers.pop()
        if error is not None and (gone or waiting.done()):
            log.error("nobody waits any more for what has failed", exc_info=error)
        elif gone or waiting.done():
            continue
        elif error is not None:
            waiting.set_exception(error)
        else:
            waiting.set_result(found)


async def stream(
    engine: Engine, source: Any, size: int | None, when_full: WhenFull | None
) -> AsyncGenerator[Match, None]:
    """Yield the matches that a source completes."""
    inbox: Inbox[Any] | None = None
    if isinstance(source, AsyncIterable):
        inbox = engine.pushes.inbox_like(size, when_full)
    elif size is not None or when_full is not None:
        raise UsageError("only an async source has an inbox: others are asked for more when there is room")
    steps = _Steps(engine, source if inbox is None else inbox)
    worker = _Worker(steps)
    feeding = None if inbox is None else asyncio.create_task(_feed(inbox, source))
    found: Finding | None = None
    try:
        while (found := await worker.step()) is not None:
            for match in found:
                yield match
        if feeding is not None:
            await feeding  # its error is the stream's
    finally:
        del found  # matches that were not taken are left
        steps.stop()
        if asyncio._get_running_loop() is not None:  # else it has ended, and nobody has closed this
            await _end(worker, feeding)


async def _end(worker: _Worker, feeding: asyncio.Task[None] | None) -> None:
    """Let a stream's thread end when nothing more can come into its inbox."""
    try:
        if feeding is not None:
            feeding.cancel()
            await _wait_for(feeding)
    finally:
        await worker.end()


async def _feed(inbox: Inbox[Any], source: AsyncIterable[Any]) -> None:
    """Put the items of a source into an inbox."""
    try:
        async for item in source:
            try:
                await inbox.put(item)
            except LimitError:
                inbox.add(item)  # the source has let go of it
                raise
    finally:
        inbox.end()
        if isinstance(source, AsyncGenerator):
            await source.aclose()


# ---- pushes that are awaited ----
class Pushes:
    """An engine's inbox of awaited pushes, and the thread that pushes them while there are any."""

    def __init__(self, engine: Engine, size: int, when_full: WhenFull) -> None:
        self._engine = engine
        self._size, self._when_full = size, when_full
        self._inbox: Inbox[tuple[Loop, asyncio.Future[Any], Pushed]] = Inbox(size, when_full, self.drop)
        self._lock = threading.Lock()  # held while the rest changes
        self._at_work = False  # its thread is there
        self.dropped = 0  # items that found an inbox full
        self._tally = Tally("%s items are dropped, as an inbox is full")

    def inbox_like(self, size: int | None, when_full: WhenFull | None) -> Inbox[Any]:
        """Return an inbox for a stream; an argument of None is as for pushes."""
        check_inbox(1 if size is None else size, when_full or "wait")
        return Inbox(self._size if size is None else size, when_full or self._when_full, self.drop)

    def drop(self, count: int) -> None:
        """Count dropped items."""
        with self._lock:
            self.dropped += count
            self._tally.log(self.dropped)

    async def push(self, item: Pushed) -> list[Match]:
        """Put an item in, and return the matches that it completes when it has been poured in."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Finding] = loop.create_future()
        try:
            if not await self._inbox.put((loop, answer, item)):
                return []
        except asyncio.CancelledError:
            answer.cancel()  # it will be passed over
            raise
        with self._lock:
            if not self._at_work:
                threading.Thread(target=self._work, name="retewave pushes", daemon=True).start()
                self._at_work = True
        return list(await answer)

    def _work(self) -> None:
        """Push until nothing waits; this is the thread."""
        while True:
            with self._lock:
                waiting = self._inbox.take(AT_ONCE)
                if not waiting:
                    self._at_work = False
                    return
            answers: dict[Loop, list[Answer]] = {}
            for loop, answer, item in waiting:
                if not answer.done():  # else it was cancelled before it came to this
                    answers.setdefault(loop, []).append((answer, *self._pushed(item)))
            for loop in list(answers):
                _tell(loop, answers.pop(loop))

    def _pushed(self, item: Pushed) -> tuple[Finding | None, BaseException | None]:
        try:
            return Finding(self._engine.telling, self._engine.pushed(*item)), None
        except BaseException as error:
            return None, error
