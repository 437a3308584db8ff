"""Sharded == single: whatever the shards, micro-batches, lost caches and repeated steps, the matches are the same."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cases.engine import Case, case_of, expected
from cases.many import many
from cases.shards import MemoryStore, instants, job_for, read, routed, streamed
from helpers.shards_by_hand import OFFERS, PREFIX, SECOND, P, Q, lines, one_shard, rows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive.streams import Item

from retewave.spark.driver.job import Job
from retewave.spark.worker.matches import unpack
from retewave.spark.worker.progress import Arrival, Progress
from retewave.spark.worker.route import Router
from retewave.spark.worker.shard import Shard
from retewave.windows.intervals import AFTER_ALL, BEFORE_ALL
from retewave.windows.waiting import Waiting

pytestmark = pytest.mark.usefixtures("restless")

LAW = settings(max_examples=many(400), deadline=None, suppress_health_check=list(HealthCheck))
SHARDS = st.sampled_from([1, 2, 3, 8])


def wanted(case: Case) -> Counter:
    """Return what the naive meaning finds, wherever it finds it."""
    found: Counter = Counter()
    for (start, end, bindings, _), count in expected(case).items():
        found[None if case.query.distinct else start, end, bindings] += count
    return found


@LAW
@given(
    case=case_of(),
    shards=SHARDS,
    cuts=st.lists(st.integers(0, 12), max_size=4),
    seed=st.integers(0, 1 << 30),
    ahead=st.booleans(),
)
def test_a_stream_over_shards_matches_what_the_naive_meaning_does(
    case: Case, shards: int, cuts: list[int], seed: int, ahead: bool
) -> None:
    case = instants(case)
    job = job_for(case, shards)
    cluster = streamed(job, case.stream, cuts, 20_000, random.Random(seed), ahead=ahead)
    assert cluster.late == 0
    assert read(job, cluster.found, case.query.distinct) == wanted(case)


@pytest.mark.filterwarnings("ignore::retewave.engine.registry.CartesianWarning")
def test_branches_of_a_distinct_query_are_spread_alike_though_one_of_them_would_be_better_off_in_one_shard() -> None:
    text = "PREFIX e: <http://e/> SELECT DISTINCT ?w WHERE { { ?w e:p ?w } UNION { ?w e:q ?w . ?x e:p ?y } }"
    job = Job.of([text], static=[b"<http://e/a> <http://e/q> <http://e/a> ."], shards=2, allow_cartesian=True)
    one, other = job.spread
    assert one.cells == other.cells
    line, found = pa.array(["<http://e/a> <http://e/p> <http://e/a> ."]), []
    packets = Router(job).text(line, times=np.zeros(1, np.int64))
    for number in range(2):
        mine = [(packet.oldest, packet.payload) for packet in packets if packet.shard == number]
        found += rows(job, list(Shard(job, number).whole(mine)))
    assert [row["w"] for row in found] == ["<http://e/a>"]


@LAW
@given(case=case_of(), shards=SHARDS, parts=st.integers(1, 4), seed=st.integers(0, 1 << 30))
def test_a_batch_over_shards_matches_what_the_naive_meaning_does(
    case: Case, shards: int, parts: int, seed: int
) -> None:
    case, chance = instants(case), random.Random(seed)
    job = job_for(case, shards)
    router = Router(job)
    dealt: list[list[Item]] = [[] for _ in range(parts)]
    for item in case.stream:
        chance.choice(dealt).append(item)
    packets = [packet for part in dealt for packet in routed(router, part)]
    found: list[bytes] = []
    for number in range(shards):
        mine = sorted((packet.oldest, packet.payload) for packet in packets if packet.shard == number)
        found += Shard(job, number).whole(mine)
    assert read(job, found, case.query.distinct) == wanted(case)


def test_what_is_not_later_than_the_watermark_is_late_and_counted() -> None:
    job, router, shard, store = one_shard(OFFERS)
    said = lines(router, P, Q, at=[1, 2])
    step = shard.step(store, said, 1 * SECOND)
    assert step.late == 1
    assert Progress.of(store.meta(), job.digest).late == 1
    assert not rows(job, shard.step(store, [], AFTER_ALL).found)


def test_rows_wait_for_the_watermark_and_the_shard_says_when_it_wants_to_be_woken() -> None:
    job, router, shard, store = one_shard(OFFERS)
    said = lines(router, P, Q, at=[3, 4])
    step = shard.step(store, said, 1 * SECOND)
    assert (step.found, step.wake) == ([], 3 * SECOND)
    step = shard.step(store, [], 3 * SECOND)
    assert (step.found, step.wake) == ([], 4 * SECOND)
    step = shard.step(store, [], 4 * SECOND)
    assert [(row["o"], row["x"]) for row in rows(job, step.found)] == [("<http://e/a>", "<http://e/x>")]
    assert step.wake is None


def test_a_shard_that_knows_the_next_watermark_does_not_wait_for_it() -> None:
    job, router, shard, store = one_shard(OFFERS)
    step = shard.step(store, lines(router, P, Q, at=[3, 4]), BEFORE_ALL, ahead=4 * SECOND)
    assert [(row["o"], row["x"]) for row in rows(job, step.found)] == [("<http://e/a>", "<http://e/x>")]
    assert (step.wake, step.late) == (None, 0)
    again = "<http://e/a> <http://e/q> <http://e/z> ."
    other = Shard(job, 0)  # in another worker
    step = other.step(store, lines(router, again, Q, at=[5, 4]), 4 * SECOND, ahead=5 * SECOND)
    assert [row["end"].second for row in rows(job, step.found)] == [5]
    assert step.late == 1


def test_what_is_over_when_it_has_been_poured_is_never_stored() -> None:
    _, router, shard, store = one_shard(OFFERS)
    said = [blob for n in range(60) for blob in lines(router, P.replace("/a>", f"/o{n}>"), at=[n])]
    shard.step(store, said, BEFORE_ALL, ahead=59 * SECOND)
    (chunk,) = store.chunks.values()
    assert len(chunk) < 7 / 60 * sum(len(payload) for _, payload in said)


def test_the_store_holds_the_window_and_no_more() -> None:
    _, router, shard, store = one_shard(OFFERS)
    sizes = []
    for second in range(1, 60):
        said = lines(router, f"<http://e/o{second}> <http://e/p> <http://e/x> .", at=[second])
        shard.step(store, said, (second - 1) * SECOND)
        sizes.append((len(store.chunks), len(store.meta() or b"")))
    assert max(chunks for chunks, _ in sizes) <= 7  # 5 s of window, what waits, what is about to go
    assert sizes[-1][0] == sizes[20][0]
    assert max(size for _, size in sizes) < 4_000


def test_a_step_that_changes_nothing_writes_nothing() -> None:
    _, router, shard, store = one_shard(OFFERS)
    shard.step(store, lines(router, P, at=[1]), BEFORE_ALL)
    before = store.meta()
    shard.step(store, [], 0)
    assert store.meta() is before


def test_a_network_that_went_further_than_the_store_is_not_used() -> None:
    job, router, shard, store = one_shard(OFFERS)
    first = lines(router, P, at=[1])
    second = lines(router, Q, at=[2])
    shard.step(store, first, BEFORE_ALL)
    shard.step(store.copy(), second, BEFORE_ALL)  # an attempt whose task died
    again = shard.step(store, second, BEFORE_ALL)
    assert not again.cached
    assert len(rows(job, shard.step(store, [], AFTER_ALL).found)) == 1


def test_a_step_that_fails_half_way_leaves_no_network_behind() -> None:
    class Failing(MemoryStore):
        def put_chunk(self, number: int, data: bytes) -> None:
            raise OSError("disk full")

    job, router, shard, store = one_shard(OFFERS)
    said = lines(router, P, Q, at=[1, 2])
    with pytest.raises(OSError, match="disk full"):
        shard.step(Failing(), said, BEFORE_ALL)
    assert not shard.step(store, said, BEFORE_ALL).cached
    assert len(rows(job, shard.step(store, [], AFTER_ALL).found)) == 1


def test_a_network_that_catches_up_does_not_go_through_what_waits_for_every_packet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, router, shard, store = one_shard(OFFERS.replace("5s", "1000s"))
    for second in range(1, 41):
        said = lines(router, P.replace("/a>", f"/o{second}>"), at=[second])
        shard.step(store, said, BEFORE_ALL, ahead=second * SECOND)
    gone_through, has_until = [], Waiting.has_until

    def counted(self: Waiting, time: int) -> bool:
        gone_through.append(has_until(self, time))
        return gone_through[-1]

    monkeypatch.setattr(Waiting, "has_until", counted)
    assert not Shard(shard.job, 0).step(store, [], 40 * SECOND).cached
    assert len(store.chunks) == 40 <= len(gone_through)
    assert sum(gone_through) == 1


def test_a_batch_that_was_given_up_leaves_no_network_behind() -> None:
    _, router, shard, store = one_shard(OFFERS)
    batch: Any = shard.whole(lines(router, P, at=[1]) + lines(router, Q, at=[2]))
    assert next(batch)
    batch.close()
    assert not shard.step(store, [], BEFORE_ALL).cached


def test_what_static_data_alone_matches_is_reported_once_by_one_shard() -> None:
    query = PREFIX + "SELECT * WHERE { ?s e:p ?o }"
    job = Job.of([query], static=[b"<http://e/a> <http://e/p> <http://e/b> ."], shards=3)
    assert job.announces
    beat = Router(job).text(pa.array(["# nothing"]), times=np.array([SECOND]))
    assert sorted(packet.shard for packet in beat) == [0, 1, 2]
    found = []
    for number in range(3):
        store, shard = MemoryStore(), Shard(job, number)
        found += rows(job, shard.step(store, [(0, b"")], BEFORE_ALL).found)
        assert not shard.step(store, [(0, b"")], SECOND).found
        assert not Shard(job, number).step(store, [(0, b"")], 2 * SECOND).found
    assert [(row["s"], row["start"], row["end"]) for row in found] == [("<http://e/a>", None, None)]


def test_construct_queries_build_triples_and_leave_out_what_is_no_rdf() -> None:
    query = (
        PREFIX + "CONSTRUCT { ?o e:has ?x . ?x e:of ?o . ?o e:seen [ e:in e:shop ] } WHERE { ?o e:p ?x . ?o e:q ?y }"
    )
    job, router, shard, store = one_shard(query)
    assert job.columns == ("s", "p", "o")
    said = lines(router, '<http://e/a> <http://e/p> "x" .', Q, at=[1, 2])
    shard.step(store, said, BEFORE_ALL)
    built = [(row["s"], row["p"], row["o"]) for row in rows(job, shard.step(store, [], AFTER_ALL).found)]
    assert ("<http://e/a>", "<http://e/has>", '"x"') in built
    assert not any(p == "<http://e/of>" for _, p, _ in built)  # a literal is no subject
    (blank,) = [o for _, p, o in built if p == "<http://e/seen>"]
    assert (blank, "<http://e/in>", "<http://e/shop>") in built
    assert blank.startswith("_:")


ONCE = """PREFIX e: <http://e/>
REGISTER QUERY once AS SELECT DISTINCT ON (?x) FOR 10s ?o ?x FROM STREAM <http://e/s> [RANGE 1s] WHERE { ?o e:p ?x }"""


@pytest.mark.parametrize("lost", [False, True])
def test_a_cool_down_goes_on_in_a_process_that_has_seen_nothing_of_what_was_reported(lost: bool) -> None:
    job, router, shard, store = one_shard(ONCE)
    told = []
    for second in range(0, 40, 3):  # the window keeps none of the rows before
        shard = Shard(job, 0) if lost else shard
        packets = router.text(pa.array([P]), times=np.array([second * SECOND]), streams=pa.array(["http://e/s"]))
        step = shard.step(
            store, [(each.oldest, each.payload) for each in packets], second * SECOND - 1, second * SECOND
        )
        told += [second] * len(rows(job, step.found))
    assert told == [0, 12, 24, 36]


def test_one_report_for_all_is_made_in_one_shard_also_when_its_process_is_lost() -> None:
    job, router, _, store = one_shard(ONCE.replace("(?x)", "()"))
    told = 0
    for second in (0, 3, 6):  # the window keeps none of the rows before
        packets = router.text(pa.array([P]), times=np.array([second * SECOND]), streams=pa.array(["http://e/s"]))
        step = Shard(job, 0).step(
            store, [(each.oldest, each.payload) for each in packets], second * SECOND - 1, second * SECOND
        )
        told += len(rows(job, step.found))
    assert told == 1


def test_a_network_that_is_made_anew_from_nothing_says_how_far_the_store_is_all_the_same() -> None:
    item = Item((b"<http://e/a>", b"<http://e/p>", b"<http://e/a>"), 0, 0)
    later = Item(item.triple, 2_000, 2_000)
    text = "SELECT ?x FROM STREAM <http://e/s> [RANGE 0ms] { ?x <http://e/p> ?x }"
    job = Job.of([text], shards=1)
    router, store = Router(job), MemoryStore()

    def sent(one: Item) -> list[Arrival]:
        return [(packet.oldest, packet.payload) for packet in routed(router, [one])]

    ahead, behind = Shard(job, 0), Shard(job, 0)
    found = behind.step(store, sent(item), BEFORE_ALL).found  # it waits there, and never learns that it was told
    found += ahead.step(store, [], 0).found
    found += Shard(job, 0).step(store, sent(later), 0).found
    assert Progress.of(store.meta(), job.digest).poured == 0
    found += behind.step(store, [], AFTER_ALL).found
    assert sorted(row["end"].microsecond for blob in found for row in unpack(job, blob).to_pylist()) == [0, 2_000]
