"""Sharded runs without Spark: routers and shards by hand, with stores that can be set back."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from naive.reports import Distinct, key
from naive.streams import Item

from cases.engine import Case, written
from retewave.engine.registry import CartesianWarning
from retewave.spark.driver.job import Job, OneShardWarning
from retewave.spark.worker.last import LastTask, last_of
from retewave.spark.worker.matches import unpack
from retewave.spark.worker.parts import Part
from retewave.spark.worker.route import Router
from retewave.spark.worker.shard import Shard
from retewave.windows.intervals import AFTER_ALL, BEFORE_ALL


@dataclass
class MemoryStore:
    """A store in memory."""

    state: bytes | None = None
    chunks: dict[int, bytes] = field(default_factory=dict)

    def meta(self) -> bytes | None:
        return self.state

    def put_meta(self, data: bytes) -> None:
        self.state = data

    def chunk(self, number: int) -> bytes:
        return self.chunks[number]

    def put_chunk(self, number: int, data: bytes) -> None:
        assert number not in self.chunks
        self.chunks[number] = data

    def drop(self, number: int) -> None:
        del self.chunks[number]

    def copy(self) -> MemoryStore:
        return MemoryStore(self.state, dict(self.chunks))


def instants(case: Case) -> Case:
    """Return a case whose items are instants, as texts have them."""
    return replace(case, stream=[replace(item, start=item.end) for item in case.stream])


def job_for(case: Case, shards: int, **options: Any) -> Job:
    static = [[written(triple) for triple in sorted(case.static)]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CartesianWarning)
        warnings.simplefilter("ignore", OneShardWarning)
        return Job.of([case.text], static=static, shards=shards, allow_cartesian=True, **options)


def routed(router: Router, items: Sequence[Item]) -> list:
    lines = [" ".join(text.decode() for text in item.triple) + " ." for item in items]
    times = np.array([item.end for item in items], np.int64)
    streams = pa.array([item.stream for item in items], pa.string())
    return router.text(pa.array(lines, pa.string()), times=times, streams=streams)


def read(job: Job, found: Sequence[bytes], distinct: Distinct) -> Counter:
    """Return packed matches as (start, end, bindings); DISTINCT reports any of several alike: no more of these."""
    seen: Counter = Counter()
    for blob in found:
        for row in unpack(job, blob).to_pylist():
            start, end = (None if row[name] is None else micros(row[name]) for name in ("start", "end"))
            bound = {name: text for name, text in row.items() if name in job.columns and text is not None}
            bindings = key(tuple(sorted((f"?{name}", text.encode()) for name, text in bound.items())), distinct)
            seen[None if distinct else start, end, bindings] += 1
    return seen


def micros(moment: datetime) -> int:
    return int(np.datetime64(moment.replace(tzinfo=None), "us").astype(np.int64))


@dataclass
class Cluster:
    """Shards in two processes' worth of caches, which any step may find or not, and stores that fail now and then."""

    job: Job
    chance: random.Random
    stores: list[MemoryStore] = field(default_factory=list)
    workers: list[dict[int, Shard]] = field(default_factory=lambda: [{}, {}])
    found: list[bytes] = field(default_factory=list)
    late: int = 0
    wakes: dict[int, int | None] = field(default_factory=dict)
    parts: dict[int, list[tuple[int, bytes]]] = field(default_factory=dict)  # by view: what this micro-batch has sent
    lasts: dict[int, MemoryStore] = field(default_factory=dict)  # of the last tasks, by view

    def __post_init__(self) -> None:
        self.stores = [MemoryStore() for _ in range(self.job.shards)]

    def step(self, number: int, packets: list[tuple[int, bytes]], watermark: int, ahead: int) -> None:
        """Run a step in one of the workers; sometimes it fails after its work, and is done again."""
        while True:
            worker = self.chance.choice(self.workers)
            if self.chance.random() < 0.1:
                worker.clear()  # the process was new
            shard = worker.setdefault(number, Shard(self.job, number))
            store = self.stores[number].copy()
            done = shard.step(store, packets, watermark, ahead)
            if self.chance.random() < 0.15:
                continue  # what it did is lost
            self.stores[number] = store
            self.found += [each for each in done.found if not isinstance(each, Part)]
            for part in done.found:
                if isinstance(part, Part):
                    self.parts.setdefault(part.view, []).append((part.time, bytes(part)))
            self.late += done.late
            self.wakes[number] = done.wake
            return

    def batch(self, packets: Sequence, watermark: int, delay: int | None = None) -> None:
        """Run a micro-batch: the shards that something came for, and those whose rows the watermark has passed.

        With a delay each of them looks ahead to where the next watermark will be, by what it has been sent.
        """
        sent: dict[int, list[tuple[int, bytes]]] = {}
        ahead: dict[int, int] = {}
        for packet in packets:
            sent.setdefault(packet.shard, []).append((packet.oldest, packet.payload))
            if delay is not None:
                ahead[packet.shard] = max(ahead.get(packet.shard, BEFORE_ALL), packet.newest - delay)
        due = {number for number, wake in self.wakes.items() if wake is not None and wake <= watermark}
        for number in sorted(sent.keys() | due):
            self.step(number, sent.get(number, []), watermark, ahead.get(number, BEFORE_ALL))
        self.put_together(watermark)

    def put_together(self, watermark: int) -> None:
        """Let the last tasks of views tell what all shards have reached; a step fails now and then."""
        sent, self.parts = self.parts, {}
        last = LastTask(self.job) if self.chance.random() < 0.5 else last_of(self.job)
        for view in sorted(sent.keys() | self.lasts.keys()):
            self.chance.shuffle(sent.setdefault(view, []))
            for _ in range(self.chance.choice([1, 1, 1, 2])):  # what all but the last attempt did is lost
                store = self.lasts.get(view, MemoryStore()).copy()
                done = last.step(store, view, sent[view], watermark)
            self.lasts[view] = store
            self.found += done.found


def streamed(
    job: Job, items: Sequence[Item], cuts: Sequence[int], delay: int, chance: random.Random, *, ahead: bool
) -> Cluster:
    """Stream items in micro-batches, each scanned by one or two tasks, with Spark's watermark; then let time pass.

    `ahead` is whether shards look ahead to the next watermark.
    """
    cluster, router, watermark, newest = Cluster(job, chance), Router(job), BEFORE_ALL, BEFORE_ALL
    bounds = [0, *sorted(min(cut, len(items)) for cut in cuts), len(items)]
    for begin, end in pairwise(bounds):
        middle = chance.randint(begin, end)
        packets = [packet for part in (items[begin:middle], items[middle:end]) for packet in routed(router, part)]
        chance.shuffle(packets)
        cluster.batch(packets, watermark, delay if ahead else None)
        newest = max([newest, *(packet.newest for packet in packets)])
        if newest > BEFORE_ALL:
            watermark = newest - delay
            cluster.batch([], watermark)
    if job.announces:  # every batch wakes every shard
        cluster.batch(router.text(pa.array(["# nothing"]), times=np.array([max(newest, 0)])), watermark)
    cluster.batch([], AFTER_ALL)
    return cluster
