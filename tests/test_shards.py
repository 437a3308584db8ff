"""Sharded == single: whatever the shards, micro-batches, lost caches and repeated steps, the matches are the same."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest
from engine_cases import MANY, Case, case_of, expected
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shard_cases import instants, job_for, read, routed, streamed

from retewave.spark.route import Router
from retewave.spark.shard import Shard

LAW = settings(max_examples=400 * MANY, deadline=None, suppress_health_check=list(HealthCheck))
SHARDS = st.sampled_from([1, 2, 3, 8])


@pytest.fixture(autouse=True, scope="module")
def _sweeps() -> Iterator[None]:
    """Let the dictionaries be swept as often as can be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("retewave.rete.terms._SWEEP_FROM", 4)
        yield


def wanted(case: Case) -> Counter:
    """Return what the naive matcher finds, wherever it finds it."""
    found: Counter = Counter()
    for (start, end, bindings, _), count in expected(case).items():
        found[None if case.query.distinct else start, end, bindings] += count
    return found


@LAW
@given(case=case_of(), shards=SHARDS, cuts=st.lists(st.integers(0, 12), max_size=4), seed=st.integers(0, 1 << 30))
def test_a_stream_over_shards_matches_what_the_naive_matcher_does(
    case: Case, shards: int, cuts: list[int], seed: int
) -> None:
    case = instants(case)
    job = job_for(case, shards)
    cluster = streamed(job, case.stream, cuts, 20_000, random.Random(seed))
    assert cluster.late == 0
    assert read(job, cluster.found, case.query.distinct) == wanted(case)


@LAW
@given(case=case_of(), shards=SHARDS, parts=st.integers(1, 4), seed=st.integers(0, 1 << 30))
def test_a_batch_over_shards_matches_what_the_naive_matcher_does(
    case: Case, shards: int, parts: int, seed: int
) -> None:
    case, chance = instants(case), random.Random(seed)
    job = job_for(case, shards)
    router, dealt = Router(job), [[] for _ in range(parts)]
    for item in case.stream:
        chance.choice(dealt).append(item)
    packets = [packet for part in dealt for packet in routed(router, part)]
    found: list[bytes] = []
    for number in range(shards):
        mine = sorted((packet.oldest, packet.payload) for packet in packets if packet.shard == number)
        found += Shard(job, number).whole(mine)
    assert read(job, found, case.query.distinct) == wanted(case)
