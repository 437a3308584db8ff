"""Sharded == single for logical events alone: each event is whole in the shard of its instant."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cases.many import many
from cases.ontologies import manchester, random_case, random_expression
from cases.sharded import Event, in_one_batch, job_of, sharded, single

from retewave.errors import QueryError
from retewave.spark.worker.route import Router

SECOND = 1_000_000
HOT = "PREFIX : <http://e/> EVENT Hot AS (Room and hotter some Thing)"


@pytest.fixture(autouse=True, scope="module")
def _restless() -> Iterator[None]:
    """Let dictionaries be swept, what waits be poured, and images be taken, as often as can be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("retewave.rete.terms.dictionary._SWEEP_FROM", 4)
        patch.setattr("retewave.spark.worker.shard._ENOUGH", 1)
        patch.setattr("retewave.spark.worker.shard._LEAST_IMAGE", 100)
        yield


@pytest.mark.filterwarnings("ignore")
def test_logical_events_are_spread_by_their_instants() -> None:
    spread, told = Counter[bool](), 0
    for seed in range(many(100)):
        chance = random.Random(seed)
        case = random_case(chance)
        text = "\n".join(f"EVENT <http://e/{name}> AS {manchester(random_expression(chance))}" for name in "XY")
        noise = (b"<http://e/noise>", b"<http://e/p>", b"<http://e/noise>")
        again: list[list[Any]] = [[], [noise]]  # what two events find at one time is told once
        graphs = [(graph.end, [*more, *sorted(graph.triples)]) for graph in case.graphs for more in again]
        last = graphs[-1][0]
        events = [Event(shift * last + end, triples, whole=True) for shift in (0, 1, 2) for end, triples in graphs]
        options: dict[str, Any] = {"schema": [list(case.schema)] if case.schema else (), "static": [list(case.static)]}
        try:
            job = job_of({"query": text}, chance.choice([2, 3, 8]), **options)
        except QueryError:
            continue  # that definition would take a recursion over data
        cuts = [chance.randint(0, 12) for _ in range(chance.randint(0, 4))]
        wanted = single({"query": text}, events, **options)
        assert sharded(job, events, cuts, chance, delay=SECOND, ahead=chance.random() < 0.5) == wanted, job.explain()
        assert in_one_batch(job, events, chance) == wanted, job.explain()
        spread[job.by_event] += 1
        told += sum(wanted.values())
    assert many(100) < 100 or (spread[True] > 80 and told > 30), (spread, told)


def test_an_event_goes_to_the_same_shard_whenever_it_is_scanned() -> None:
    job = job_of({"hot": HOT}, 4)
    assert "by the instant: all events of one are whole in one of 4 shards" in job.explain()
    lines = [
        f"<http://e/{n}> <{what}> <http://e/{thing}> <urn:g{n}> ."
        for n in range(40)
        for what, thing in (
            ("http://e/hotter", f"t{n}"),
            ("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "Room"),
        )
    ]
    sent = [
        [(packet.shard, packet.oldest) for packet in Router(job).text(pa.array(lines), times=np.arange(80) // 2)]
        for _ in range(2)
    ]
    assert sent[0] == sent[1]
    assert {shard for shard, _ in sent[0]} == {0, 1, 2, 3}


def test_composite_events_stay_in_one_shard() -> None:
    both = HOT + "\nEVENT Twice MATCH Hot AS one SEQ Hot AS other WITHIN (5 min)"
    assert not job_of({"hot": both}, 4).by_event
    assert not job_of({"hot": HOT, "plain": "SELECT * FROM STREAM <urn:s> [RANGE 1s] { ?s ?p ?o }"}, 4).by_event
