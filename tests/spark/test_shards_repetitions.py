"""What sequences repeat leaves shards as columns of lists: what `match.groups` has in one engine."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from cases.sharded import Event, Queries, job_of, packed_in_one_batch

import retewave as rw
from retewave.spark.worker.matches import unpack

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECOND = 1_000_000
FALLING = """SELECT ?x ?first WITHIN 60 SECONDS PARTITION BY (?x) FROM STREAM S <http://e/s>
WHERE { SEQ (A, B+, C)
  DEFINE GPM A ON S { ?x <http://e/a> ?first } DEFINE GPM B ON S { ?x <http://e/b> ?each }
  DEFINE GPM C ON S { ?x <http://e/c> ?last } }"""
PLAIN = "SELECT ?x FROM STREAM <http://e/s> [RANGE 1s] { ?x <http://e/c> ?last }"
QUERIES: Queries = {"falling": FALLING, "plain": PLAIN}


def readings(count: int) -> list[Event]:
    draw = random.Random(3)
    triples = [
        (f"<http://e/{draw.choice('xyz')}>", f"<http://e/{draw.choice('abbc')}>", f'"{n}"') for n in range(count)
    ]
    return [
        Event(n * SECOND, [(s.encode(), p.encode(), o.encode())], "http://e/s") for n, (s, p, o) in enumerate(triples)
    ]


def embedded(events: list[Event]) -> Counter[Any]:
    """What one engine finds, with its repetitions as (seconds, terms)."""
    engine, found = rw.Engine(), Counter[Any]()
    for name, text in QUERIES.items():
        engine.register(text, name=name)
    for event in events:
        triple: Any = tuple(part.decode() for part in event.triples[0])
        for match in engine.push(triple, time=event.time / SECOND, stream=event.stream):
            taken = None
            if match.query.name == "falling":
                taken = tuple((each.time, match["x"].n3(), each["each"].n3()) for each in match.groups["B"])
            found[match.query.name, match.end, match["x"].n3(), taken] += 1
    return found


def of_rows(rows: list[dict[str, Any]]) -> Counter[Any]:
    """The same, of rows of matches."""
    found = Counter[Any]()
    for row in rows:
        lists = row["groups.B"]
        taken = None if lists is None else tuple((each["time"].timestamp(), each["x"], each["each"]) for each in lists)
        found[row["query"], row["end"].timestamp(), row["x"], taken] += 1
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shards", [1, 3])
def test_repetitions_are_columns_of_lists(shards: int) -> None:
    events = readings(120)
    job, wanted = job_of(QUERIES, shards), embedded(events)
    found = packed_in_one_batch(job, events, random.Random(1))
    rows = [row for packed in found for row in unpack(job, packed).to_pylist()]
    assert of_rows(rows) == wanted
    assert {name for name, *_ in wanted} == QUERIES.keys()
    assert max(len(taken) for _, _, _, taken in wanted if taken is not None) > 1


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_repetitions_are_arrays_of_structs_in_a_data_frame(spark: SparkSession) -> None:
    from retewave.spark import match

    events = readings(120)
    lines = [(" ".join(part.decode() for part in each.triples[0]) + " .", each.time) for each in events]
    frame = spark.createDataFrame(lines, "value string, t bigint")
    found = match(frame.selectExpr("value", "timestamp_micros(t) AS timestamp"), QUERIES, shards=2)
    assert dict(found.dtypes)["groups.B"] == "array<struct<time:timestamp,x:string,each:string>>"
    assert of_rows([row.asDict() for row in found.collect()]) == embedded(events)
