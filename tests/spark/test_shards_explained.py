"""Explained matches of shards are those of one engine."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from helpers.shards_by_hand import PREFIX, SECOND

import retewave as rw
from retewave.io.sinks.explained import ExplainedSink
from retewave.spark.driver.job import Job
from retewave.spark.worker.route import Router
from retewave.spark.worker.shard import Shard

pytestmark = pytest.mark.usefixtures("restless")


def lines_of_shards(job: Job, lines: Sequence[str]) -> list[str]:
    """Return the lines that the shards of a job write of lines of N-Triples, a second apart."""
    job = replace(job, lines=job.format)
    times = np.arange(len(lines)) * SECOND
    packets = Router(job).text(pa.array(lines), times=times)
    found = []
    for number in range(job.shards):
        mine = sorted((packet.oldest, packet.payload) for packet in packets if packet.shard == number)
        found += b"".join(Shard(job, number).whole(mine)).decode().splitlines()
    return sorted(map(_without_events, found))


def _without_events(line: str) -> str:
    """Return an explained match without the numbers of its events, which each engine counts for itself."""
    return re.sub(r'"event": "#\d+"', '"event": "#"', line)


def lines_of_one(query: str, lines: Sequence[str], **options: Any) -> list[str]:
    """Return the lines that one engine writes of the same, explained."""
    engine, file = rw.Engine(seed=0), io.BytesIO()
    engine.register(query, name="asked", **options)
    sink = ExplainedSink("ndjson", file)
    for batch in engine.run_batches(rw.read("\n".join(lines).encode(), format="nt", rate=1)):
        sink.write(batch)
    return sorted(map(_without_events, file.getvalue().decode().splitlines()))


@pytest.mark.parametrize("policy", [None, "recent KEEP"])
def test_matches_of_shards_are_explained_as_those_of_one_engine(policy: str | None) -> None:
    query = PREFIX + "SELECT * FROM STREAM <http://e/s> [RANGE 9s] WHERE { { ?x e:p ?y } SEQ { ?x e:q ?z } }"
    lines = [f"<http://e/n{n % 3}> <http://e/{'pq'[n % 2]}> <http://e/m{n}> ." for n in range(20)]
    job = Job.of({"asked": query}, shards=3, rate=1, explain=True, policy=policy)
    found = lines_of_shards(job, lines)
    assert found == lines_of_one(query, lines, explain=True, policy=policy)
    assert found
    assert '"explanation":' in found[0]
