"""What a triple, a byte and a match cost a core on their way through the shards, measured without Spark.

Where it stands: under `spark_scaling`, which multiplies these with the loads of simulated shards.
Invariant: seconds of a core (all threads of this process), after a short stream through the same code; what the kernel
takes for a row and for a match is told apart by two windows, a narrow one and a wide one, over the same rows.
Left out: what Spark itself adds to a micro-batch, which the sweep `spark` measures.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from retewave.bench.dataset import Dataset
from retewave.bench.generate import OFFER_TRIPLES, hierarchy_nt, offers_nt
from retewave.bench.patterns import pattern_text
from retewave.bench.question import Question
from retewave.rete.pack import unpack as unpack_rows
from retewave.spark.driver.job import Job
from retewave.spark.worker.matches import unpack
from retewave.spark.worker.route import Packet, Router
from retewave.spark.worker.shard import Shard

__all__ = ["Costs", "measured", "rows_of_shards"]

_SHARDS = 2
_NARROW, _WIDE = 10_000, 25_000_000  # microseconds
_RATE = 100_000


@dataclass(frozen=True)
class Costs:
    """Seconds of a core."""

    scan: float  # a triple of the stream: read, routed, packed
    row_bytes: float  # bytes (not seconds) of a row in a packet
    shuffle: float  # a byte: compressed, written, read, decompressed
    row: float  # a row in a shard: unpacked, put in order, joined
    match: float  # a match: found, packed, unpacked as columns


def measured(dataset: Dataset, target: int) -> Costs:
    """Measure with a stream."""
    narrow, rows, found = _ran(dataset, target, _NARROW)
    wide, _, more = _ran(dataset, target, _WIDE)
    match = max(0.0, (wide["shards"] - narrow["shards"]) / max(1, more - found))
    return Costs(
        scan=wide["scan"] / (dataset.offers * (OFFER_TRIPLES + 1)),
        row_bytes=wide["bytes"] / rows,
        shuffle=wide["shuffle"] / wide["bytes"],
        row=max(0.0, narrow["shards"] - match * found) / rows,
        match=match + wide["columns"] / max(1, more),
    )


def rows_of_shards(job: Job, text: bytes) -> np.ndarray:
    """Return how many rows a router sends to each shard."""
    shards, terms = np.zeros(job.shards, np.int64), job.engine().terms
    for packet in _routed(Router(job), text):
        if packet.payload:
            ids, _ = unpack_rows(terms, packet.payload)
            shards[packet.shard] += ids.shape[1]
    return shards


def _routed(router: Router, text: bytes) -> list[Packet]:
    return router.text(pa.array([text], pa.large_binary()), first=np.zeros(1, np.int64))


def _ran(dataset: Dataset, target: int, window: int) -> tuple[dict[str, float], int, int]:
    """Send a stream through all stages twice; return the seconds and bytes of the second time, rows and matches."""
    question = Question(1, target, window, _RATE)
    job = Job.of(pattern_text(question), schema=[hierarchy_nt(dataset)], rate=_RATE, shards=_SHARDS)
    text = b"".join(offers_nt(dataset))
    router = Router(job)
    _once(job, router, text)
    spent, matches = _once(job, router, text)
    return spent, int(rows_of_shards(job, text).sum()), matches


def _once(job: Job, router: Router, text: bytes) -> tuple[dict[str, float], int]:
    """Send a text through all stages; return the seconds and bytes, and the matches."""
    packets, scan = _timed(lambda: _routed(router, text))
    payloads = [packet.payload for packet in packets]
    size, shuffle = _timed(lambda: _shuffled(payloads))
    shards = [Shard(job, number) for number in range(_SHARDS)]
    blobs, stepped = _timed(lambda: _stepped(shards, packets))
    batches, columns = _timed(lambda: [unpack(job, blob) for blob in blobs])
    spent = {"scan": scan, "shuffle": shuffle, "shards": stepped, "columns": columns, "bytes": float(size)}
    return spent, sum(batch.num_rows for batch in batches)


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = time.process_time()
    result = work()
    return result, time.process_time() - started


def _shuffled(payloads: Sequence[bytes]) -> int:
    """Send payloads through a compressed file, as a shuffle on one machine does; return the payloads that come out."""
    codec = pa.Codec("lz4")
    with tempfile.TemporaryFile() as file:
        sizes = [file.write(codec.compress(payload, asbytes=True)) for payload in payloads]
        file.seek(0)
        read = [codec.decompress(file.read(size), len(payload)) for size, payload in zip(sizes, payloads, strict=True)]
    return sum(map(len, read))


def _stepped(shards: Sequence[Shard], packets: Sequence[Packet]) -> list[bytes]:
    return [
        blob
        for shard in shards
        for blob in shard.whole((each.oldest, each.payload) for each in packets if each.shard == shard.number)
    ]
