"""Stage 2: one shard: the whole network on a part of the stream, with a store that is the truth.

Data's way: packets -> **shard** (order -> network) -> packed matches, and parts of reports for a last task (`last`).
The store holds the packets that may still matter, as numbered chunks, and a little that says how far the shard has come
(`Progress`).  The live network is a cache of that: it is made anew by pouring the chunks' rows again, silently.  Rows
wait until nothing earlier can come any more, so every step pours in time order, and the order is the same whenever it
is done again.  What was decided, used up, built or reported does not follow from the rows of the windows: then the
store has an image of the network, too, and the chunks that came behind it.  There is a new image once these are as
large as the last one, so writing images costs no more than writing chunks.

Invariants: a step is a function of the store and its arguments; what it puts out, and what it changes in the store,
happen together or not at all (Spark sees to that); a network is used only if the store says that its last step was the
store's.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

import numpy as np

from retewave.match import Matches
from retewave.rete.pack import unpack
from retewave.rete.words.rows import END, EVENT, OBJECT, ROW_WIDTH, START, STREAM
from retewave.spark.driver.job import Image, Job
from retewave.spark.worker.imaged import read, taken
from retewave.spark.worker.matches import clock_of, finder_of
from retewave.spark.worker.parts import part_of
from retewave.spark.worker.progress import Arrival, KeptChunk, KeptImage, Progress, Store, joined, packets_of
from retewave.spark.worker.remembered import kept, put
from retewave.windows.intervals import AFTER_ALL, BEFORE_ALL
from retewave.windows.waiting import Run, Waiting, late

__all__ = ["COMPLETE", "Shard", "StepResult", "shard_of"]

COMPLETE = 253_370_764_800_000_000  # microseconds, the year 9999: a watermark there says that nothing comes any more
_STEPS = 64  # steps that the store remembers: a network that has missed more is made anew
_MOST_NETWORKS = 8  # that a process keeps
_TORN = "torn"  # no step of any store has this name
_ENOUGH = 1 << 16  # rows that are worth a trip to the network
_LEAST_IMAGE = 1 << 16  # bytes of chunks that are worth an image
_NO_ROWS = np.empty((0, ROW_WIDTH), np.int64)


@dataclass(frozen=True)
class StepResult:
    """The result of a step."""

    found: list[bytes]  # packed matches, and parts of reports
    wake: int | None  # microseconds: when the watermark has come to this, there is more to do; None: nothing waits
    late: int  # rows that came too late in this step
    cached: bool  # the live network could be used as it was
    waits: tuple[int, int]  # rows, and decisions, that wait for later items


@dataclass
class _Intake:
    """The results of some packets."""

    bound: int  # microseconds: rows up to this time come too late
    newest: list[int] = field(default_factory=list)  # microseconds: the latest time in each packet
    late: int = 0  # rows that came too late


class Shard:
    """The live network of one shard."""

    def __init__(self, job: Job, number: int) -> None:
        self.job, self.number = job, number
        self._begin()

    def _begin(self, kept: Image | None = None) -> None:
        """Begin anew, with an empty network or with that of an image."""
        self.engine = self.job.engine(self.number, kept)
        self.finder = finder_of(self.job, self.engine)
        self._parts = {query.name: n for n, query in enumerate(self.job.queries) if query.part and query.part.outer}
        self._clock = clock_of(self.job)
        self._retention = self.job.retention
        self._step = ""  # the name of the last step that the network has taken
        self._poured = BEFORE_ALL
        self._next = 0  # the first chunk that the network has not seen
        self._waiting = Waiting()  # rows of the chunks seen that are not poured yet
        self.engine.matcher.holders.append(self._waiting.rows)

    # ---- streams ----
    def step(self, store: Store, packets: Iterable[Arrival], watermark: int, ahead: int = BEFORE_ALL) -> StepResult:
        """Take in the packets that have arrived, pour the rows that nothing can precede any more, update the store.

        Rows up to the watermark are late.  `ahead` is a lower bound of the next watermark: rows of later steps up to it
        will be late, so rows up to it that have arrived need not wait.  A packet without rows tells a time.  From
        COMPLETE on nothing comes any more.
        """
        until = max(watermark, ahead)
        data = store.meta()
        progress = Progress.of(data, self.job.digest)
        before, self._step = self._step, _TORN  # a step that fails leaves a network that nobody may use
        cached = self._catch_up(store, progress, before)
        name = progress.steps[-1] if progress.steps else ""
        came = list(packets)
        arrived = sorted((packet for packet in came if packet[1]), key=itemgetter(0))
        intake = _Intake(max(watermark, progress.poured))
        found = self._announced() if data is None else []
        found += self._feed(arrived, intake, until)
        due = until >= COMPLETE or self._is_due(progress, sum(len(rows) for _, rows in arrived))
        due = due and not self.job.follows
        self._keep(store, progress, arrived, intake, self._poured if due else until - self._memory)
        heard = progress.newest
        progress.newest = max([progress.newest, *intake.newest, *(time for time, rows in came if not rows)])
        if until >= COMPLETE:
            found += self._ended(progress)
        later = self.job.clocked and progress.newest > heard
        if self._forget(store, progress, until, due) or self._changed(progress) or intake.late or later or data is None:
            name = self._note(store, progress, intake.late)
        self._step = name
        waits = (0, 0) if until >= COMPLETE else (len(self._waiting), self.engine.matcher.undecided)
        return StepResult(found, self._wake(until), intake.late, cached, waits)

    def _wake(self, until: int) -> int | None:
        """Return when there is more to do."""
        if until >= COMPLETE:
            return None
        times = [time for time in (self._waiting.oldest(), self._due) if time is not None and time < AFTER_ALL]
        return min(times, default=None)

    @property
    def _due(self) -> int:
        """The earliest time of a decision or a report that waits for the clock."""
        return AFTER_ALL if self.job.follows else self.engine.matcher.due

    def _catch_up(self, store: Store, progress: Progress, step: str) -> bool:
        """Bring the network to where the store is; tell whether it was on the way there."""
        image = progress.image
        cached = step in progress.steps if progress.steps else step == ""
        cached = cached and (image is None or self._next > image.number)  # rows that an image holds are in no chunk
        if not cached:
            self._begin(None if image is None else read(store.chunk(image.number)))
            self._poured = BEFORE_ALL if image is None else image.poured
        if progress.steps and self._next == 0 and self._poured == BEFORE_ALL and image is None:
            self._announced()  # an earlier step has reported it
        over = progress.poured - self._retention if self.job.follows else BEFORE_ALL if image is None else image.poured
        for chunk in progress.chunks:
            if chunk.number >= self._next:
                again = _Intake(max(chunk.late, over))
                _silently(self._feed(packets_of(store.chunk(chunk.number)), again, BEFORE_ALL))
        self._next = progress.number
        _silently(self._pour(progress.poured))
        self._poured = max(self._poured, progress.poured)  # also where no row of it is left to pour again
        if self.job.follows and progress.steps and step != progress.steps[-1]:
            put(self.engine, progress.remembered)  # rows that have been poured again have been seen before
        return cached

    @property
    def _memory(self) -> int:
        """How long rows that are poured matter to the store."""
        return self.job.retention if self.job.follows else AFTER_ALL

    def _keep(self, store: Store, progress: Progress, arrived: Sequence[Arrival], intake: _Intake, until: int) -> None:
        """Keep, as a chunk, the arrived packets with rows behind a time."""
        over = max(intake.bound, until)
        kept = [packet for packet, newest in zip(arrived, intake.newest, strict=True) if newest > over]
        if kept:
            chunk = joined(kept)
            store.put_chunk(progress.number, chunk)
            progress.chunks.append(KeptChunk(progress.number, max(intake.newest), intake.bound, len(chunk)))
            self._next = progress.number + 1

    def _changed(self, progress: Progress) -> bool:
        return self._next > progress.number or self._poured > progress.poured

    def _forget(self, store: Store, progress: Progress, until: int, due: bool) -> bool:
        """Drop the chunks that cannot matter any more, or that an image replaces; tell whether something changed."""
        if not self.job.follows:
            return self._imaged(store, progress) if due else False
        past = [chunk for chunk in progress.chunks if chunk.newest <= until - self._retention]
        self._drop(store, progress, past)
        return bool(past)

    def _drop(self, store: Store, progress: Progress, past: Sequence[KeptChunk]) -> None:
        for chunk in past:
            store.drop(chunk.number)
        progress.chunks = [chunk for chunk in progress.chunks if chunk not in past]

    def _is_due(self, progress: Progress, came: int) -> bool:
        """Tell whether the chunks behind the last image, with as many bytes that came, are worth a new one."""
        image = progress.image
        number, size = (-1, 0) if image is None else (image.number, image.size)
        return sum(chunk.size for chunk in progress.chunks if chunk.number > number) + came > max(_LEAST_IMAGE, size)

    def _imaged(self, store: Store, progress: Progress) -> bool:
        """Put an image of the network in the place of the last one, and of the rows that are in it."""
        if progress.image is not None:
            store.drop(progress.image.number)
        self._drop(store, progress, [chunk for chunk in progress.chunks if chunk.newest <= self._poured])
        number, data = max(self._next, progress.number), taken(self.engine)
        store.put_chunk(number, data)
        progress.image, self._next = KeptImage(number, self._poured, len(data)), number + 1
        return True

    def _ended(self, progress: Progress) -> Iterator[bytes]:
        """Tell the matches that there are when nothing more comes, as the end of a run does; yield them.

        An image must follow: matches told ahead do not follow from rows.
        """
        if self.job.follows:
            return
        yield from self._flushed(progress.newest)
        progress.steps = []  # no network that has not told them may go on

    def _flushed(self, newest: int) -> Iterator[bytes]:
        """Tell the matches that there are if nothing comes behind the latest time that came in."""
        self.engine.matcher.advance(newest)
        yield from self._found(_NO_ROWS)
        self.engine.matcher.now = max(self.engine.matcher.now, newest)
        self.engine.matcher.flush()
        yield from self._found(_NO_ROWS)

    def _note(self, store: Store, progress: Progress, late: int) -> str:
        """Write down how far the shard has come; return the step's name."""
        name = secrets.token_hex(8)
        progress.poured, progress.number = self._poured, self._next
        progress.steps = [*progress.steps, name][-_STEPS:]
        progress.late += late
        progress.remembered = kept(self.engine) if self.job.follows else {}
        store.put_meta(progress.data())
        return name

    # ---- batches ----
    def whole(self, packets: Iterable[Arrival]) -> Iterator[bytes]:
        """Pour a whole stream: packets in the order of their earliest times."""
        self._begin()
        self._step = _TORN
        yield from self._announced()
        newest = [BEFORE_ALL]
        intake = _Intake(BEFORE_ALL)
        yield from self._feed(_with_rows(packets, newest), intake, AFTER_ALL)
        if not self.job.follows:
            yield from self._flushed(max(newest + intake.newest))

    # ---- the network ----
    def _feed(self, packets: Iterable[Arrival], intake: _Intake, until: int) -> Iterator[bytes]:
        """Take packets in, in the order of their earliest times, and pour up to a time; yield the matches.

        Few rows wait, even if many arrive at once: a sweep of the dictionary goes through all waiting rows.
        """
        for oldest, payload in packets:
            if len(self._waiting) >= _ENOUGH:
                yield from self._pour(min(oldest - 1, until))
            self._take(payload, intake)
        yield from self._pour(until)

    def _take(self, payload: bytes, intake: _Intake) -> None:
        """Let the rows of a packet wait, except those that come too late."""
        rows = self._decoded(payload)
        intake.newest.append(int(rows[:, END].max(initial=BEFORE_ALL)))
        behind = late(rows[:, END], intake.bound, closed=True)
        self._waiting.add(Run.of(rows[~behind] if behind.any() else rows))
        intake.late += int(behind.sum())

    def _decoded(self, payload: bytes) -> np.ndarray:
        ids, numbers = unpack(self.engine.terms, payload)
        rows = np.zeros((ids.shape[1], ROW_WIDTH), np.int64)
        rows[:, : OBJECT + 1] = ids.T
        rows[:, START] = rows[:, END] = numbers[0]
        if len(numbers) > 1:
            rows[:, START], rows[:, STREAM], rows[:, EVENT] = numbers[1:]
        return rows

    def _announced(self) -> list[bytes]:
        """Return the matches of static data alone."""
        return list(self._found(_NO_ROWS))

    def _pour(self, until: int) -> Iterator[bytes]:
        """Pour the rows that wait, up to a time, in time order, and let the clock go there; yield the matches."""
        for run in self._waiting.until(until):
            self._poured = until
            yield from self._found(run.rows)
        if self._due <= until < COMPLETE:  # its end is another matter
            self._poured = until
            self.engine.matcher.advance(until + 1)
            yield from self._found(_NO_ROWS)

    def _found(self, rows: np.ndarray) -> Iterator[bytes]:
        for batches in self.engine.matcher.pour(rows, self._clock):
            found = [self._packed(batch) for batch in batches]
            batches.clear()  # a sweep decodes matches that are still held
            yield from found

    def _packed(self, batch: Matches) -> bytes:
        view = self._parts.get(batch.query.name)
        return self.finder.packed(batch) if view is None else part_of(view, batch)


def _with_rows(packets: Iterable[Arrival], newest: list[int]) -> Iterator[Arrival]:
    """Yield the packets with rows; take note of the times that the others tell."""
    for oldest, payload in packets:
        if payload:
            yield oldest, payload
        else:
            newest.append(oldest)


def _silently(found: Iterable[bytes]) -> None:
    """Go through the matches that an earlier step has reported."""
    deque(found, maxlen=0)


_shards: dict[tuple[str, str | None, int], Shard] = {}  # the one that was used last is the last


def shard_of(job: Job, number: int) -> Shard:
    """Return the live network of a shard in this process; the store says whether it is of any use."""
    name = job.digest, job.lines, number
    shard = _shards.pop(name, None) or Shard(job, number)
    while len(_shards) >= _MOST_NETWORKS:
        del _shards[next(iter(_shards))]
    _shards[name] = shard
    return shard
