"""Jobs, routers and shards that a test drives by hand: lines go in at times, rows come out."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pyarrow as pa
from cases.shards import MemoryStore

from retewave.spark.driver.job import Job
from retewave.spark.worker.matches import unpack
from retewave.spark.worker.progress import Arrival
from retewave.spark.worker.route import Router
from retewave.spark.worker.shard import Shard

PREFIX = "PREFIX e: <http://e/>\n"
OFFERS = """PREFIX e: <http://e/>
REGISTER QUERY offers AS SELECT ?o ?x FROM STREAM <http://e/s> [RANGE 5s] WHERE { ?o e:p ?x . ?o e:q ?y }"""
P, Q = "<http://e/a> <http://e/p> <http://e/x> .", "<http://e/a> <http://e/q> <http://e/y> ."
SECOND = 1_000_000


def one_shard(query: str, **options: Any) -> tuple[Job, Router, Shard, MemoryStore]:
    job = Job.of([query], shards=1, **options)
    return job, Router(job), Shard(job, 0), MemoryStore()


def lines(router: Router, *texts: str, at: list[int] | None = None, **options: Any) -> list[Arrival]:
    """Route lines that are given in seconds; return the packets with rows."""
    times = np.array([second * SECOND for second in at], np.int64) if at is not None else None
    return [
        (packet.oldest, packet.payload)
        for packet in router.text(pa.array(texts), times=times, **options)
        if packet.payload
    ]


def rows(job: Job, found: list[bytes]) -> list[dict[str, Any]]:
    return [row for blob in found for row in unpack(job, blob).to_pylist()]


def planned(text: str, **options: Any) -> Job:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Job.of({"asked": text}, shards=2, **options)
