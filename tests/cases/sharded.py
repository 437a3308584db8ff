"""Events over shards beside the same events in one engine, in a form in which both can be compared."""

from __future__ import annotations

import random
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

import retewave as rw
from cases.shards import Cluster, micros
from retewave.compiler.algebra import Query
from retewave.spark.driver.job import Job
from retewave.spark.worker.last import LastTask
from retewave.spark.worker.matches import unpack
from retewave.spark.worker.parts import Part
from retewave.spark.worker.route import Router
from retewave.spark.worker.shard import Shard
from retewave.windows.intervals import AFTER_ALL, BEFORE_ALL

Told = Counter[tuple[str, int | None, int | None, tuple[tuple[str, str], ...]]]
Queries = dict[str, Query | str]
_NEW = re.compile(r"^_:.*|urn:retewave:events:[^>\"\\ ]*")  # blank nodes, and individuals of detections


@dataclass(frozen=True)
class Event:
    """What came at once."""

    time: int  # microseconds
    triples: Sequence[tuple[bytes, bytes, bytes]]
    stream: str | None = None
    whole: bool = False  # its triples are one event; else each is one of its own


def texts_of(triple: tuple[str, str, str]) -> tuple[bytes, bytes, bytes]:
    subject, predicate, object_ = (text.encode() for text in triple)
    return subject, predicate, object_


def job_of(queries: Queries, shards: int, **options: Any) -> Job:
    """Plan queries for some shards, without a word about what that costs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Job.of(queries, shards=shards, allow_cartesian=True, **options)


def sharded(
    job: Job, events: Sequence[Event], cuts: Iterable[int], chance: random.Random, *, delay: int, ahead: bool
) -> Told:
    """Return what shards find in a stream that is complete, in micro-batches, with failures and lost caches."""
    cluster, router, watermark, newest = Cluster(job, chance), Router(job), BEFORE_ALL, BEFORE_ALL
    for begin, end in pairwise([0, *sorted(min(cut, len(events)) for cut in cuts), len(events)]):
        middle = chance.randint(begin, end)
        parts = [(start, stop) for start, stop in ((begin, middle), (middle, end)) if start < stop]
        packets = [packet for part in parts for packet in _routed(router, events, *part)]
        chance.shuffle(packets)
        cluster.batch(packets, watermark, delay if ahead else None)
        newest = max([newest, *(packet.newest for packet in packets)])
        if newest > BEFORE_ALL:
            watermark = newest - delay
            cluster.batch([], watermark)
    for number in range(job.shards):
        cluster.step(number, [(newest, b"")] if newest > BEFORE_ALL else [], AFTER_ALL, BEFORE_ALL)
    cluster.put_together(AFTER_ALL)
    assert cluster.late == 0
    return _read(job, cluster.found)


def in_one_batch(job: Job, events: Sequence[Event], chance: random.Random) -> Told:
    """Return what shards find in a stream that is there as a whole, in parts of no order."""
    return _read(job, packed_in_one_batch(job, events, chance))


def packed_in_one_batch(job: Job, events: Sequence[Event], chance: random.Random) -> list[bytes]:
    """Return that as bytes."""
    router, middle, found = Router(job), chance.randint(0, len(events)), list[bytes]()
    packets = _routed(router, events, middle, len(events)) + _routed(router, events, 0, middle)
    for number in range(job.shards):
        mine = sorted((packet.oldest, packet.payload) for packet in packets if packet.shard == number)
        found += Shard(job, number).whole(mine)
    parts = [each for each in found if isinstance(each, Part)]
    matches = [each for each in found if not isinstance(each, Part)]
    for view in sorted({part.view for part in parts}):
        matches += LastTask(job).whole(view, [(part.time, part) for part in parts if part.view == view])
    return matches


def _routed(router: Router, events: Sequence[Event], begin: int, end: int) -> list[Any]:
    lines, times, streams = [], [], []
    for place in range(begin, end):
        event = events[place]
        graph = f" <urn:graph:{place}>" if event.whole else ""
        for triple in event.triples:
            lines.append(" ".join(text.decode() for text in triple) + f"{graph} .")
            times.append(event.time)
            streams.append(event.stream)
    return router.text(
        pa.array(lines, pa.string()), times=np.array(times, np.int64), streams=pa.array(streams, pa.string())
    )


def _read(job: Job, found: Sequence[bytes]) -> Told:
    told: Told = Counter()
    for blob in found:
        for row in unpack(job, blob).to_pylist():
            times = [None if row[name] is None else micros(row[name]) for name in ("start", "end")]
            bound = ((name, _NEW.sub("new", row[name])) for name in job.columns if row[name] is not None)
            told[row["query"], times[0], times[1], tuple(sorted(bound))] += 1
    return told


def one_engine(queries: Queries, **options: Any) -> rw.Engine:
    """Register queries, without a word about what they cost."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        engine = rw.Engine(**options, seed=1, max_future=None, allow_cartesian=True)
        for name, query in queries.items():
            engine.register(query, name=name, keep=0)
    return engine


def single(queries: Queries, events: Sequence[Event], **options: Any) -> Told:
    """Return what one engine finds in the same stream."""
    told: Told = Counter()
    engine = one_engine(queries, **options)
    told.update(shown(engine.flush()))
    for event in events:
        triples: list[Any] = [tuple(text.decode() for text in triple) for triple in event.triples]
        for item in [triples] if event.whole else [[triple] for triple in triples]:
            told.update(shown(engine.push(item, time=event.time / 1e6, stream=event.stream)))
    told.update(shown(engine.flush()))
    return told


def shown(matches: Iterable[Any]) -> Iterator[tuple[str, int | None, int | None, tuple[tuple[str, str], ...]]]:
    """Yield what rows of DataFrames show of matches."""
    for match in matches:
        times = [_micros(time) for time in (match.start, match.end)]
        for row in _rows(match):
            bound = ((name, _NEW.sub("new", text.decode())) for name, text in row.items())
            yield match.query.name, times[0], times[1], tuple(sorted(bound))


def _micros(time: Any) -> int | None:
    if isinstance(time, datetime):
        return micros(time)
    return None if time is None else round(float(time) * 1e6)


def _rows(match: Any) -> list[dict[str, bytes]]:
    if match.query.is_construct:
        return [{name: term.n3().encode() for name, term in zip("spo", built, strict=True)} for built in match.triples]
    return [{name: match.text(name) for name in match}]
