"""Sharded == single, for views in two stages: partial results from the shards, put together by a last task."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from cases.global_views import GlobalViews
from cases.keyed_views import keyed_stream
from cases.many import many
from cases.sharded import Event, Queries, in_one_batch, job_of, packed_in_one_batch, sharded, single

from retewave.errors import QueryError

SECOND = 1_000_000
STATIC = [(b"<http://e/a>", b"<http://e/q>", b"<http://e/b>")]


@pytest.fixture(autouse=True, scope="module")
def _restless() -> Iterator[None]:
    """Let dictionaries be swept, what waits be poured, and images be taken, as often as can be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("retewave.rete.terms.dictionary._SWEEP_FROM", 4)
        patch.setattr("retewave.spark.worker.shard._ENOUGH", 1)
        patch.setattr("retewave.spark.worker.shard._LEAST_IMAGE", 100)
        yield


def check(seed: int, queries: Queries, events: Sequence[Event], shards: int, static: Sequence = ()) -> str:
    """Compare shards with one engine; return how the query was spread."""
    chance = random.Random(seed)
    try:
        job = job_of(queries, shards, static=static)
    except QueryError:
        return "refused"
    cuts = [chance.randint(0, 12) for _ in range(chance.randint(0, 4))]
    wanted = single(queries, events, static=static)
    found = sharded(job, events, cuts, chance, delay=SECOND, ahead=chance.random() < 0.5)
    assert found == wanted, job.explain()
    assert in_one_batch(job, events, chance) == wanted, job.explain()
    return "in two stages" if job.last else "spread" if any(each.cells > 1 for each in job.spread) else "one shard"


def test_global_views() -> None:
    ways = Counter[str]()
    for seed in range(many(250)):
        chance = random.Random(seed)
        text, events = GlobalViews(chance).view(), keyed_stream(chance)
        static = [STATIC] if chance.random() < 0.3 else ()
        ways[check(seed, {"query": text}, events, chance.choice([1, 2, 3, 8]), static)] += 1
    assert many(250) < 250 or ways["in two stages"] > 60, ways


AVERAGE = "SELECT (AVG(?v) AS ?n) FROM STREAM <urn:s> [RANGE 3s STEP 1s] { ?x <urn:p> ?v }"


def lines_of(view: str, events: Sequence[Event], shards: int) -> list[str]:
    """Return the lines that shards and the last task write of a stream that is there as a whole."""
    job = job_of({"view": view}, shards)
    job = replace(job, lines=job.format, rate=1.0)
    return b"".join(packed_in_one_batch(job, events, random.Random(1))).decode().splitlines()


def test_lines_are_those_of_one_engine_in_the_order_asked_for() -> None:
    events = keyed_stream(random.Random(5))
    frame = "FROM STREAM <http://e/s0> [RANGE 5s STEP 2s]"
    for view in (
        f"ASK {frame} {{ ?x <http://e/p> ?v }}",
        f"SELECT ?v (COUNT(*) AS ?n) {frame} {{ ?x ?p ?v }} GROUP BY ?v ORDER BY DESC(?n) ?v",
    ):
        assert lines_of(view, events, 3) == lines_of(view, events, 1) != []


def test_plan_tells_the_stages_of_a_view() -> None:
    said = job_of({"mean": AVERAGE}, 4).explain()
    assert (
        "  mean in two stages: at each report a shard sends partial aggregates, and a last task does GROUP BY\n" in said
    )
    top = AVERAGE.replace("(AVG(?v) AS ?n)", "?x ?v") + " ORDER BY ?v ?x LIMIT 3"
    assert (
        "sends the first 3 of its solutions, and a last task does ORDER BY, LIMIT" in job_of({"top": top}, 4).explain()
    )


def test_sum_of_doubles_is_rounded_once_over_all_shards() -> None:
    view = AVERAGE.replace("AVG", "SUM")
    values = ["1e16", "1.0e0", "-1e16", "0.1e0", "0.7e0", "3e-3"]
    double = "http://www.w3.org/2001/XMLSchema#double"
    triples = [(b"<urn:%d>" % n, b"<urn:p>", f'"{each}"^^<{double}>'.encode()) for n, each in enumerate(values)]
    events = [Event(SECOND, [each], "urn:s") for each in triples] + [Event(9 * SECOND, triples[:1], "urn:s")]
    for shards in (2, 3, 8):
        assert check(1, {"sum": view}, events, shards) == "in two stages"


def test_a_first_report_without_content_is_told_of_items_that_no_pattern_can_use() -> None:
    events = [Event(second * SECOND, [(b"<urn:a>", b"<urn:q>", b"<urn:b>")], "urn:other") for second in (1, 2, 20)]
    events.insert(2, Event(9 * SECOND, [(b"<urn:a>", b"<urn:p>", b"<urn:b>")], "urn:s"))
    view = AVERAGE.replace("AVG(?v)", "COUNT(*)")
    assert sum(single({"count": view}, events).values()) == 5
    for seed in range(4):
        assert check(seed, {"count": view}, events, 3) == "in two stages"


def test_views_that_share_patterns_are_each_spread_in_their_own_way() -> None:
    frame = "FROM STREAM <http://e/s0> [RANGE 5s STEP 2s]"
    queries: Queries = {
        "all": f"SELECT (COUNT(*) AS ?n) {frame} {{ ?x <http://e/p> ?v }}",
        "top": f"SELECT ?x (COUNT(*) AS ?n) {frame} {{ ?x <http://e/p> ?v }} GROUP BY ?x ORDER BY DESC(?n) ?x LIMIT 1",
        "new": f"REGISTER ISTREAM <urn:n> AS SELECT ?v {frame} "
        "{ ?x <http://e/p> ?v OPTIONAL { ?x <http://e/q> ?w } }",
        "pairs": f"SELECT ?x ?v ?w {frame} {{ ?x <http://e/p> ?v . ?x <http://e/q> ?w }}",
    }
    for seed in range(12):
        assert check(seed, queries, keyed_stream(random.Random(seed)), 3) == "in two stages"
