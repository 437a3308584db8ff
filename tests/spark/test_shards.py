"""Sharded == single: whatever the shards, micro-batches, lost caches and repeated steps, the matches are the same."""

from __future__ import annotations

import gc
import io
import pickle
import random
import re
import warnings
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cases.engine import Case, case_of, expected
from cases.many import many
from cases.shards import MemoryStore, instants, job_for, read, routed, streamed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive.streams import Item

import retewave as rw
from retewave.errors import MalformedInput, UsageError
from retewave.io.sinks.explained import ExplainedSink
from retewave.spark.driver.job import Job, OneShardWarning
from retewave.spark.worker.collector import settle
from retewave.spark.worker.matches import unpack
from retewave.spark.worker.progress import Arrival, Progress
from retewave.spark.worker.remembered import kept, put
from retewave.spark.worker.route import Router, router_of
from retewave.spark.worker.shard import Shard, shard_of
from retewave.windows.intervals import AFTER_ALL, BEFORE_ALL
from retewave.windows.waiting import Waiting

LAW = settings(max_examples=many(400), deadline=None, suppress_health_check=list(HealthCheck))
SHARDS = st.sampled_from([1, 2, 3, 8])


@pytest.fixture(autouse=True, scope="module")
def _restless() -> Iterator[None]:
    """Let the dictionaries be swept, and what waits be poured, as often as can be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("retewave.rete.terms.dictionary._SWEEP_FROM", 4)
        patch.setattr("retewave.spark.worker.shard._ENOUGH", 1)
        yield


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


def test_malformed_lines_are_counted_shown_and_disturb_no_other() -> None:
    _, router, _, _ = one_shard(OFFERS)
    lines(
        router,
        "<http://e/a> <http://e/p> .",
        P,
        "nonsense",
        "",
        at=[1, 2, 3, 4],
    )
    counts = router.take_counts()
    assert (counts.triples, counts.malformed) == (1, 2)
    assert counts.first_malformed[0].startswith("<stream>:1:27: ")
    assert router.take_counts().malformed == 0
    _, strict, _, _ = one_shard(OFFERS, on_error="raise")
    with pytest.raises(MalformedInput):
        lines(strict, "nonsense", at=[1])


def test_texts_of_many_lines_have_their_own_times_and_documents_their_own_blank_nodes() -> None:
    job, router, shard, store = one_shard(PREFIX + "SELECT * WHERE { ?o e:p ?x . ?o e:q ?y }")
    two = [
        "_:b <http://e/p> <http://e/x> .\r\n# and\n\n_:b <http://e/q> <http://e/y> .\n",
        "_:b <http://e/q> <http://e/z> .",
    ]
    shard.step(store, lines(router, *two, at=[1, 7]), BEFORE_ALL)
    found = rows(job, shard.step(store, [], AFTER_ALL).found)
    assert sorted((row["y"], row["end"].second) for row in found) == [("<http://e/y>", 1), ("<http://e/z>", 7)]
    store = MemoryStore()
    shard.step(store, lines(router, *two, at=[1, 7], scopes=np.array([1, 2])), BEFORE_ALL)
    assert [row["y"] for row in rows(job, shard.step(store, [], AFTER_ALL).found)] == ["<http://e/y>"]


def test_a_rate_gives_every_part_of_a_document_the_times_that_the_whole_has() -> None:
    text = "".join(f"<http://e/o{i // 2}> <http://e/{'pq'[i % 2]}> <http://e/x> .\n" for i in range(40))
    engine = rw.Engine()
    engine.register(OFFERS)
    whole = sorted((m.text("o"), m.start, m.end) for m in engine.run(rw.read(text.encode(), format="nt", rate=3)))
    job, router, shard, store = one_shard(OFFERS, rate=3.0)
    half = sum(map(len, text.splitlines(keepends=True)[:15]))
    parts = router.text(pa.array([text[:half], text[half:]]), first=np.array([0, 15]))
    shard.step(store, [(packet.oldest, packet.payload) for packet in parts], BEFORE_ALL)
    found = rows(job, shard.step(store, [], AFTER_ALL).found)
    assert sorted((row["o"].encode(), row["start"].timestamp(), row["end"].timestamp()) for row in found) == whole


def test_graphs_tell_their_times_in_texts_as_they_do_in_files() -> None:
    at = "http://www.w3.org/ns/prov#generatedAtTime"
    text = "".join(
        f"<http://e/a> <http://e/{'pq'[i % 2]}> <http://e/x{i}> <http://e/g{i}> .\n"
        f'<http://e/g{i}> <{at}> "2026-01-01T00:00:0{i}Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .\n'
        for i in range(4)
    )
    job, router, shard, store = one_shard(OFFERS, time_property=at)
    shard.step(store, lines(router, text), BEFORE_ALL)
    found = rows(job, shard.step(store, [], AFTER_ALL).found)
    engine = rw.Engine()
    engine.register(OFFERS)
    whole: list[Any] = [m.end for m in engine.run(rw.read(text.encode(), format="nq", time_property=at))]
    assert sorted(row["end"] for row in found) == sorted(whole)
    assert len(whole) == 4


def test_streams_that_no_query_names_are_heard_by_queries_that_name_none() -> None:
    everything = PREFIX + "REGISTER QUERY all AS SELECT ?o ?x WHERE { ?o e:p ?x . ?o e:q ?y }"
    job = Job.of([OFFERS, everything], shards=1)
    router, shard, store = Router(job), Shard(job, 0), MemoryStore()
    streams = pa.array(["http://e/s", "http://e/other"])
    said = lines(
        router,
        P,
        Q,
        at=[1, 2],
        streams=streams,
    )
    shard.step(store, said, BEFORE_ALL)
    assert [row["query"] for row in rows(job, shard.step(store, [], AFTER_ALL).found)] == ["all"]


PLAIN = "?x e:p ?y . ?x e:q ?z"
SPREAD = [
    ("SEQ", "{ ?x e:p ?y } SEQ { ?x e:q ?z }", {"?x"}),
    ("EQUALS", "{ ?x e:p ?y } EQUALS { ?x e:q ?z }", {"?x"}),
    ("NOT", "{ ?x e:p ?y } SEQ NOT { ?x e:r ?v } SEQ { ?x e:q ?z }", {"?x"}),
    ("NOT for all", "{ ?x e:p ?y } SEQ NOT { ?u e:r ?v } SEQ { ?x e:q ?z }", {"?x"}),
    ("trailing NOT", "{ ?x e:p ?y } SEQ NOT { ?x e:r ?v } WITHIN 1s", {"?x"}),
    ("OPTIONALSEQ", "{ ?x e:p ?y } OPTIONALSEQ { ?x e:q ?z }", {"?x"}),
    ("OPTIONAL", "?x e:p ?y OPTIONAL { ?x e:q ?z }", {"?x"}),
    ("MINUS", "?x e:p ?y MINUS { ?x e:q ?z }", {"?x"}),
    ("a key in a NOT of a NOT", "?x e:p ?y FILTER NOT EXISTS { ?y e:q ?z FILTER NOT EXISTS { ?x e:r ?z } }", {"?y"}),
    ("LAST of what goes with it", "{ LAST { ?x e:p ?y } } SEQ { ?x e:q ?z }", {"?x"}),
    ("WITHIN", f"{{ {PLAIN} }} WITHIN 1s", {"?x"}),
    ("getSTARTTIME()", f"{PLAIN} FILTER(getSTARTTIME() = getENDTIME())", {"?x"}),
]


def planned(text: str, **options: Any) -> Job:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Job.of({"asked": text}, shards=2, **options)


@pytest.mark.parametrize(("what", "where", "keys"), SPREAD)
def test_what_time_asks_something_of_is_spread_by_what_all_of_it_has(what: str, where: str, keys: set[str]) -> None:
    job = planned(f"{PREFIX}SELECT * FROM STREAM <http://e/s> [RANGE 5s]\nWHERE {{ {where} }}")
    for each in job.plan.queries:
        assert each.reason is None, what
        assert each.shares.keys() == keys, what


SCHEMA = [b"<http://e/hotter> <http://www.w3.org/2000/01/rdf-schema#domain> <http://e/Room> ."]
SEQUENCE = (
    "PREFIX : <http://e/> SELECT ?x WITHIN 5 SECONDS FROM STREAM S :s "
    "WHERE { SEQ (A%s) DEFINE GPM A ON S { ?x :p ?y } DEFINE GPM B ON S { ?x :q ?z } }"
)
VIEW = PREFIX + "SELECT (COUNT(*) AS ?n) FROM STREAM <http://e/s> %s { ?x e:p ?y } GROUP BY %s"
TIMED = PREFIX + "SELECT * FROM STREAM <http://e/s> [RANGE 5s] "
ALONE = [
    (
        "SELECT (COUNT(?x) AS ?n) FROM STREAM <http://e/s> [RANGE 5s STEP 1s] WHERE { ?x <http://e/p> ?y }",
        "no variable is in all that the view puts together and tells: GROUP BY such a variable, and select it",
    ),
    (
        PREFIX + "SELECT * FROM STREAM <http://e/s> [RANGE 5s STEP 1s] { ?x e:p ?y } ORDER BY ?x LIMIT 3",
        "no variable is in all that the view puts together and tells: GROUP BY such a variable, and select it",
    ),
    (VIEW % ("[TRIPLES 9 STEP 1]", "?x"), "what is in the window TRIPLES 9 STEP 1 hangs on all items that come"),
    (
        VIEW % ("[RANGE 5s] REPORT CONTENT CHANGE", "?x"),
        "REPORT CONTENT CHANGE: any change makes a report of everything; REPORT PERIODIC would not",
    ),
    (
        PREFIX + "REGISTER DSTREAM e:o AS SELECT * FROM STREAM <http://e/s> [RANGE 5s STEP 1s] "
        "REPORT WINDOW CLOSE NON EMPTY { ?x e:p ?y }",
        "NON EMPTY with DSTREAM: whether there is a report hangs on all items that come",
    ),
    (
        PREFIX + "ASK FROM STREAM <http://e/s> [RANGE 5s STEP 1s] { ?x e:p ?y }",
        "ASK looks at the whole content of the windows",
    ),
    (
        "PREFIX : <http://e/> EVENT Hot AS (Room and hotter some Thing)",
        "detections are related to each other whatever their individuals are",
    ),
    (SEQUENCE % ", B", "the next event of a stream may be in any shard: PARTITION BY a variable would spread it"),
    (
        TIMED + "POLICY recent WHERE { { ?x e:p ?y } SEQ { ?x e:q ?z } }",
        "POLICY recent uses up events, of which other shards may have triples, too: KEEP would not",
    ),
    (
        PREFIX + "REGISTER STREAM <http://e/s> AS CONSTRUCT { ?x e:r ?z } FROM STREAM <http://e/s> [RANGE 5s] "
        "WHERE { ?x e:r ?y . ?y e:r ?z }",
        "what a rule builds comes in again in its own shard, and who may read it has another key, or none",
    ),
    (
        PREFIX + "REGISTER STREAM e:t AS CONSTRUCT { ?x e:r [ e:of ?y ] } FROM STREAM <http://e/s> [RANGE 5s] "
        "WHERE { ?x e:p ?y . ?x e:q ?z }",
        "a rule that makes new terms has them all in one shard",
    ),
    (
        TIMED + "WHERE { e:a e:p ?y FILTER NOT EXISTS { ?x e:q e:b FILTER NOT EXISTS { ?y e:r ?x } } }",
        "no variable is the same in all that NOT EXISTS looks at",
    ),
]


@pytest.mark.parametrize(("text", "reason"), ALONE, ids=range(len(ALONE)))
def test_what_has_no_key_runs_in_one_shard_and_says_why(text: str, reason: str) -> None:
    job = planned(text, schema=SCHEMA)
    assert {each.reason for each in job.plan.queries} == {reason}
    with pytest.warns(OneShardWarning, match=re.escape(f"asked runs in one shard: {reason}")):
        Job.of({"asked": text}, schema=SCHEMA, shards=2)


SPREAD_VIEWS = {
    "an average by group": "SELECT ?x (AVG(?y) AS ?mean) %s { ?x e:p ?y } GROUP BY ?x",
    "a group by more": "SELECT ?x ?z (COUNT(*) AS ?n) %s { ?x e:p ?y . ?x e:q ?z } GROUP BY ?x ?z",
    "a pattern without the key": "SELECT ?x (MAX(?z) AS ?most) %s { ?x e:p ?y . ?y e:q ?z } GROUP BY ?x",
    "what is missing": "SELECT ?x %s { ?x e:p ?y MINUS { ?x e:q ?z } OPTIONAL { ?x e:r ?v } }",
    "a subquery": "SELECT * %s { ?x e:p ?y { SELECT ?x (COUNT(*) AS ?n) { ?x e:q ?z } GROUP BY ?x } }",
    "rows without their key": "SELECT (COUNT(*) AS ?n) %s { ?x e:p ?y } GROUP BY ?x",
}


@pytest.mark.parametrize("what", SPREAD_VIEWS)
def test_views_are_spread_by_what_all_that_they_put_together_has(what: str) -> None:
    job = planned(PREFIX + SPREAD_VIEWS[what] % "FROM STREAM <http://e/s> [RANGE 5s STEP 1s]")
    with_the_key = [each for each in job.plan.queries if "?x" in each.patterns[0].pattern]
    assert with_the_key
    assert all(each.shares == {"?x": 2} and each.reason is None for each in with_the_key)


def test_new_rows_of_a_view_are_known_by_their_key() -> None:
    shown, hidden = (
        f"{PREFIX}REGISTER ISTREAM e:o AS SELECT {what} FROM STREAM <http://e/s> [RANGE 5s STEP 1s] {{ ?x e:p e:a }}"
        for what in ("?x", "(STRLEN(STR(?x)) AS ?length)")
    )
    assert [planned(text).spread[0].cells for text in (shown, hidden)] == [2, 1]


def test_what_static_data_alone_match_is_not_spread() -> None:
    text = PREFIX + "SELECT ?x (COUNT(*) AS ?n) FROM STREAM <http://e/s> [RANGE 5s STEP 1s] { ?x e:p ?y } GROUP BY ?x"
    static = [b"<http://e/a> <http://e/p> <http://e/b> ."]
    assert [planned(text, static=data).spread[0].cells for data in ((), static)] == [2, 1]


@pytest.mark.parametrize("then", ["; B", ": B", "; B:+"])
def test_sequences_are_spread_by_what_all_their_events_have(then: str) -> None:
    assert [each.shares for each in planned(SEQUENCE % then).plan.queries] == [{"?x": 2}]


def test_a_sequence_of_each_partition_is_spread_by_it() -> None:
    text = (SEQUENCE % ", B").replace("WHERE {", "PARTITION BY (?x) WHERE {")
    assert [each.shares for each in planned(text).plan.queries] == [{"?x": 2}]


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


def test_a_report_policy_is_for_views() -> None:
    text = PREFIX + "SELECT ?x (COUNT(*) AS ?n) FROM STREAM <http://e/s> [RANGE 5s STEP 1s] { ?x e:p ?y } GROUP BY ?x"
    job = Job.of({"asked": text}, shards=2, report="PERIODIC 3s")
    assert job.digest != Job.of({"asked": text}, shards=2).digest
    assert job.engine(0).queries[0].parsed.view == job.queries[0].parsed.view
    with pytest.raises(UsageError, match="for views, and all queries detect"):
        Job.of([OFFERS], shards=2, report="PERIODIC 3s")


RULE = PREFIX + "REGISTER STREAM e:t AS CONSTRUCT { ?x e:hot ?y } FROM STREAM e:s [RANGE 5s] { ?x e:p ?y . ?x e:q ?z }"
INVERSE = [b"<http://e/hot> <http://www.w3.org/2002/07/owl#inverseOf> <http://e/heats> ."]
READERS = [
    ("the rule's key in the same place", "?a e:hot ?b . ?a e:r ?c", (), {"rule": {"?x"}, "reader": {"?a"}}),
    ("what lacks the key goes everywhere", "?a e:hot ?b . ?b e:r ?c", (), {"rule": {"?x"}, "reader": {"?a"}}),
    ("another key of the rule", "?a e:r ?b . ?c e:hot ?b", (), {"rule": {"?x"}, "reader": {"?c"}}),
    ("where an axiom puts it", "?a e:heats ?b . ?b e:r ?c", INVERSE, {"rule": {"?x"}, "reader": {"?b"}}),
    ("a decision", "?a e:r ?c MINUS { ?a e:hot ?b }", (), {"rule": {"?x"}, "reader": {"?a"}}),
    (
        "a key that a pattern of the rule lacks",
        "?a e:r ?c MINUS { ?b e:hot ?a }",
        (),
        {"rule": {"?y"}, "reader": {"?a"}},
    ),
    ("two places of what is built", "?a e:hot ?b . ?b e:hot ?c", (), {"rule": set(), "reader": set()}),
    ("any predicate", "?a ?p ?b . ?a e:r ?c", (), {"rule": {"?x"}, "reader": {"?a"}}),
]


@pytest.mark.parametrize(("what", "where", "schema", "keys"), READERS, ids=[each[0] for each in READERS])
def test_what_a_rule_builds_stays_in_its_shard(what: str, where: str, schema: Any, keys: dict[str, set[str]]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reader = f"{PREFIX}SELECT * FROM STREAM e:s [RANGE 5s] FROM STREAM e:t [RANGE 5s] {{ {where} }}"
        job = Job.of({"rule": RULE, "reader": reader}, shards=8, schema=schema)
    assert {each.queries[0]: {*each.shares} for each in job.plan.queries} == keys, what


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


def test_who_reads_what_a_rule_builds_is_where_the_rule_is() -> None:
    rule = RULE.replace("?x e:q ?z", "?z e:q ?y")
    reader, other = "SELECT * { ?x e:hot e:b . ?y e:q ?x }", "SELECT * { ?x e:p ?y . ?x e:q ?z }"
    counting = "POLICY recent { { ?x e:hot ?y } SEQ { ?x e:q ?z } }"
    asked = {"rule": rule, "reader": PREFIX + reader, "other": PREFIX + other, "spends": f"{PREFIX}SELECT * {counting}"}
    with pytest.warns(OneShardWarning):
        job = Job.of(asked, shards=8)
    said = {each.queries[0]: each for each in job.plan.queries}
    assert said["rule"].shard == said["reader"].shard == said["spends"].shard
    assert said["reader"].reason == "it may read what a rule builds, which is in the rule's shard"
    assert said["other"].cells == 8


def test_minus_that_takes_nothing_away_is_spread() -> None:
    text = f"{PREFIX}SELECT * FROM STREAM <http://e/s> [RANGE 5s] WHERE {{ {PLAIN} MINUS {{ ?v e:r ?w }} }}"
    assert Job.of([text], shards=2).spread[0].cells == 2


def test_a_router_without_a_time_says_what_it_needs() -> None:
    _, router, _, _ = one_shard(OFFERS)
    with pytest.raises(UsageError, match="nothing tells the time"):
        router.text(pa.array([P]))


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


def test_statements_that_no_pattern_takes_tell_the_time_too() -> None:
    _, nominal, _, _ = one_shard(OFFERS, rate=10.0)
    noise = "".join(f"<http://e/n{i}> <http://e/noise> <http://e/x> .\n" for i in range(20))
    (told,) = nominal.text(pa.array([noise, noise]), first=np.array([0, 20]))
    assert (told.payload, told.newest) == (b"", 3_900_000)
    _, router, _, _ = one_shard(OFFERS)
    (told,) = router.text(pa.array([noise]), times=np.array([7 * SECOND]), scopes=np.array([1]))
    assert (told.payload, told.newest) == (b"", 7 * SECOND)


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
