"""A job travels to the workers and means the same there; a worker keeps what it has made of it."""

from __future__ import annotations

import gc
import pickle
from base64 import b64decode

import pytest
from helpers.shards_by_hand import OFFERS, SECOND, P, lines, one_shard

from retewave.errors import UsageError
from retewave.spark.driver.job import Job
from retewave.spark.worker.collector import settle
from retewave.spark.worker.remembered import kept, put
from retewave.spark.worker.route import router_of
from retewave.spark.worker.shard import Shard, shard_of
from retewave.windows.intervals import AFTER_ALL, BEFORE_ALL

pytestmark = pytest.mark.usefixtures("restless")


def test_the_checkpoint_of_another_format_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _, router, shard, store = one_shard(OFFERS)
    shard.step(store, lines(router, P, at=[1]), BEFORE_ALL)
    monkeypatch.setattr("retewave.spark.driver.job._FORMAT", 0)
    with pytest.raises(UsageError, match="the checkpoint belongs to"):
        one_shard(OFFERS)[2].step(store, [], AFTER_ALL)


def test_the_checkpoint_of_another_job_is_refused() -> None:
    _, router, shard, store = one_shard(OFFERS)
    shard.step(store, lines(router, P, at=[1]), BEFORE_ALL)
    other = Shard(Job.of([OFFERS.replace("5s", "6s")], shards=1), 0)
    with pytest.raises(UsageError, match="belongs to other queries"):
        other.step(store, [], AFTER_ALL)


def test_what_solutions_of_a_set_remember_tells_terms_from_times() -> None:
    """Times were packed as if they were ids of terms: a look-up far beyond the dictionary."""
    query = "SELECT ?x ?y FROM STREAM <http://e/s> [RANGE 9s] WHERE { { ?x <http://e/p> ?y } WITHIN 5s }"
    job = Job.of({"asked": query}, shards=1, language="epsparql")
    assert job.follows
    engines = [job.engine(0) for _ in range(2)]
    engines[1].terms.intern(b"<http://e/another>")  # so that equal terms have other ids there
    for number in range(3):
        told = engines[0].push((f"http://e/n{number}", "http://e/p", "http://e/m"), time=1_000_000 + number)
        assert len(told) == 1
    remembered = kept(engines[0])
    put(engines[1], remembered)
    assert kept(engines[1]) == remembered
    ((_, state),) = remembered.items()
    assert b"http://e/n2" in b64decode(state["keys"][1])


def test_a_job_travels_and_means_the_same_there() -> None:
    job = Job.of([OFFERS], static=[b"<http://e/a> <http://e/p> <http://e/b> ."], shards=3)
    there = pickle.loads(pickle.dumps(job))
    assert there.digest == job.digest
    assert there.engine(1).explain() == job.engine(1).explain()
    assert job.retention == 5 * SECOND
    assert not job.unbounded


def test_a_process_keeps_the_networks_that_it_used_last() -> None:
    job = Job.of([OFFERS], shards=10)
    first = shard_of(job, 0)
    for number in range(1, 8):
        shard_of(job, number)
    assert shard_of(job, 0) is first
    shard_of(job, 8)
    assert shard_of(job, 0) is first  # it was number 1 that had to go
    assert router_of(job) is router_of(Job.of([OFFERS], shards=10))


def test_what_malformed_lines_do_belongs_to_the_router_not_to_the_checkpoint() -> None:
    counting, raising = (Job.of([OFFERS], shards=1, on_error=how) for how in ("count", "raise"))
    assert counting.digest == raising.digest
    assert router_of(counting) is not router_of(raising)


def test_what_a_worker_has_loaded_is_out_of_the_collectors_sight() -> None:
    settle()
    try:
        assert gc.get_freeze_count() > 10_000
        before = gc.get_freeze_count()
        settle()
        assert gc.get_freeze_count() == before  # nothing more was loaded
    finally:
        gc.unfreeze()
