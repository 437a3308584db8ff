"""What a router makes of the texts that Spark hands it: triples, times, streams, blank nodes, what is malformed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cases.shards import MemoryStore
from helpers.shards_by_hand import OFFERS, PREFIX, SECOND, P, Q, lines, one_shard, rows

import retewave as rw
from retewave.errors import MalformedInput, UsageError
from retewave.spark.driver.job import Job
from retewave.spark.worker.route import Router
from retewave.spark.worker.shard import Shard
from retewave.windows.intervals import AFTER_ALL, BEFORE_ALL

pytestmark = pytest.mark.usefixtures("restless")


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


def test_a_router_without_a_time_says_what_it_needs() -> None:
    _, router, _, _ = one_shard(OFFERS)
    with pytest.raises(UsageError, match="nothing tells the time"):
        router.text(pa.array([P]))


def test_statements_that_no_pattern_takes_tell_the_time_too() -> None:
    _, nominal, _, _ = one_shard(OFFERS, rate=10.0)
    noise = "".join(f"<http://e/n{i}> <http://e/noise> <http://e/x> .\n" for i in range(20))
    (told,) = nominal.text(pa.array([noise, noise]), first=np.array([0, 20]))
    assert (told.payload, told.newest) == (b"", 3_900_000)
    _, router, _, _ = one_shard(OFFERS)
    (told,) = router.text(pa.array([noise]), times=np.array([7 * SECOND]), scopes=np.array([1]))
    assert (told.payload, told.newest) == (b"", 7 * SECOND)
    _, graphs, _, _ = one_shard(OFFERS, time_property="http://e/at")
    number = '"9"^^<http://www.w3.org/2001/XMLSchema#integer>'
    quads = f"<http://e/n> <http://e/noise> <http://e/x> <http://e/g> .\n<http://e/g> <http://e/at> {number} .\n"
    for scopes in (None, np.array([1])):
        (told,) = graphs.text(pa.array([quads]), scopes=scopes)
        assert (told.payload, told.newest) == (b"", 9 * SECOND)
