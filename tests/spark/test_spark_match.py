"""`match` on a Spark session: what goes in, what comes out, and that it is what the embedded engine finds."""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

import retewave as rw
from retewave.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

CHAIN = """REGISTER QUERY Chain AS SELECT ?x ?y ?z FROM STREAM <http://e/s> [RANGE 3s]
WHERE { ?x <http://e/p> ?y . ?y <http://e/q> ?z }"""
BUILD = """REGISTER QUERY Build AS CONSTRUCT { ?x <http://e/r> ?z } FROM STREAM <http://e/s> [RANGE 3s]
WHERE { ?x <http://e/p> ?y . ?y <http://e/q> ?z }"""
KNOWN = """REGISTER QUERY Known AS SELECT ?x ?y FROM STREAM <http://e/s> [RANGE 3s]
WHERE { ?x <http://e/p> ?y . ?y a <http://e/Place> }"""
PLACES = """REGISTER QUERY Places AS SELECT ?x FROM STREAM <http://e/s> [RANGE 3s] WHERE { ?x a <http://e/Place> }"""
PAIRS = """REGISTER QUERY Pairs AS SELECT ?x ?y ?z FROM STREAM <http://e/s> [RANGE 1s]
WHERE { ?x <http://e/p> ?y . ?x <http://e/q> ?z }"""
STATIC = "<http://e/n1> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/Place> ."

LATER = ("<http://e/n1> <http://e/unheard> <http://e/n1> .", 1000.0)  # no pattern takes it: it only tells the time

Line = tuple[str, float]
Match = tuple[Any, ...]


def stream(count: int, seed: int = 1) -> list[Line]:
    """Lines that come a tenth of a second apart."""
    draw = random.Random(seed)
    return [
        (f"<http://e/n{draw.randrange(6)}> <http://e/{draw.choice('pq')}> <http://e/n{draw.randrange(6)}> .", i / 10)
        for i in range(1, count + 1)
    ]


def embedded(query: str, lines: list[Line], **knowledge: Any) -> Counter[Match]:
    """What the embedded engine finds."""
    engine = rw.Engine(**knowledge)
    registered = engine.register(query)
    found: Counter[Match] = Counter()
    for line, time in lines:
        terms = [term[1:-1] for term in line.split()[:3]]
        for match in engine.push(tuple(terms), time=time):
            values = tuple(f"<{match[name]}>" for name in registered.variables)
            start, end = cast(float, match.start), cast(float, match.end)
            found[(match.query.name, round(start, 3), round(end, 3), *values)] += 1
    return found


def of_frame(frame: DataFrame) -> Counter[Match]:
    """What a DataFrame of matches holds."""
    seconds = [f"round(unix_micros({name}) / 1000000, 3)" for name in ("`start`", "`end`")]
    rows = frame.selectExpr("query", *seconds, *frame.columns[3:]).collect()
    return Counter(tuple(row) for row in rows)


def frame_of(spark: SparkSession, lines: list[Line]) -> DataFrame:
    timed = spark.createDataFrame([(line, int(time * 1_000_000)) for line, time in lines], "value string, t bigint")
    return timed.selectExpr("value", "timestamp_micros(t) AS timestamp")


class Growing:
    """A streaming DataFrame of lines, given micro-batch by micro-batch."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder, self.count = spark, folder, 0
        (folder / "in").mkdir()
        told = spark.readStream.schema("t bigint, value string").option("sep", "\t").option("maxFilesPerTrigger", 1)
        lines = told.option("quote", "\x01").csv(str(folder / "in"))
        self.frame = lines.selectExpr("value", "timestamp_micros(t) AS timestamp")

    def give(self, lines: list[Line]) -> None:
        """Put a micro-batch in place; files are taken in the order of their modification."""
        text = "".join(f"{int(time * 1_000_000)}\t{line}\n" for line, time in lines)
        part = self.folder / "part"
        part.write_text(text)
        self.count += 1
        os.utime(part, (self.count, self.count))
        part.rename(self.folder / "in" / f"{self.count:04}.csv")

    def run(self, found: DataFrame) -> Counter[Match]:
        """Run a query over what was given, going on where the last run ended; return all that was found so far."""
        out = str(self.folder / "out")
        query = (
            found.writeStream.format("parquet")
            .option("checkpointLocation", str(self.folder / "checkpoint"))
            .trigger(availableNow=True)
            .start(out)
        )
        query.awaitTermination()
        return of_frame(self.spark.read.schema(found.schema).parquet(out))


@pytest.fixture
def places(tmp_path: Path) -> Path:
    path = tmp_path / "places.nt"
    path.write_text(STATIC)
    return path


@pytest.fixture
def growing(spark: SparkSession, tmp_path: Path) -> Growing:
    return Growing(spark, tmp_path)


def match(frames: Any, query: Any, **how: Any) -> DataFrame:
    from retewave.spark import match as on_spark

    return on_spark(frames, query, **({"shards": 2} | how))


def until(found: Counter[Match], end: float) -> Counter[Match]:
    return Counter({each: count for each, count in found.items() if each[2] <= end})


# ---- batches ----
@pytest.mark.parametrize("shards", [1, 3])
def test_batch_finds_what_the_embedded_engine_finds(spark: SparkSession, shards: int) -> None:
    lines = stream(200)
    frame = frame_of(spark, random.Random(2).sample(lines, len(lines))).repartition(3)
    assert of_frame(match(frame, CHAIN, shards=shards)) == embedded(CHAIN, lines) != Counter()


def test_columns_of_terms_are_lines(spark: SparkSession) -> None:
    lines = stream(100)
    frame = frame_of(spark, lines).selectExpr(
        *[f"split(value, ' ')[{i}] AS {name}" for i, name in enumerate("spo")], "timestamp AS at"
    )
    assert of_frame(match(frame, CHAIN, triple=("s", "p", "o"), time="at")) == embedded(CHAIN, lines)


def test_construct_leaves_as_triples(spark: SparkSession) -> None:
    lines = stream(100)
    built = of_frame(match(frame_of(spark, lines), BUILD))
    assert (
        Counter(
            ("Build", start, end, x, "<http://e/r>", z) for _, start, end, x, _, z in embedded(CHAIN, lines).elements()
        )
        == built
    )


def test_queries_share_the_columns_of_all(spark: SparkSession, places: Path) -> None:
    found = match(frame_of(spark, stream(60)), [CHAIN, KNOWN, BUILD], static=places)
    assert found.columns == ["query", "start", "end", "x", "y", "z", "s", "p", "o"]
    assert {row["query"] for row in found.collect()} == {"Chain", "Known", "Build"}


def test_static_data_alone_matches_once_and_at_no_time(spark: SparkSession, places: Path) -> None:
    found = match(frame_of(spark, stream(3)), PLACES, static=places, shards=3).collect()
    assert [tuple(row) for row in found] == [("Places", None, None, "<http://e/n1>")]


def test_schema_reaches_the_workers(spark: SparkSession, tmp_path: Path) -> None:
    schema = tmp_path / "schema.ttl"
    schema.write_text(
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . <http://e/q> rdfs:subPropertyOf <http://e/p> ."
    )
    lines = stream(80)
    assert of_frame(match(frame_of(spark, lines), PAIRS, schema=schema)) == embedded(PAIRS, lines, schema=schema)


def test_stream_of_a_row_is_heard(spark: SparkSession) -> None:
    lines = stream(60)
    frame = frame_of(spark, lines)
    heard, other = (frame.selectExpr("*", f"'http://e/{name}' AS stream") for name in ("s", "other"))
    assert of_frame(match([heard, other], CHAIN, stream="stream")) == embedded(CHAIN, lines)


def test_counts_tell_what_was_read_found_and_left_out(spark: SparkSession) -> None:
    from retewave.spark import Stats

    stats, lines = Stats(spark), stream(60)
    odd = [("nonsense", 1.0), ("<http://e/a> <http://e/p> <http://e/b> .", None)]
    rows = [(line, None if time is None else int(time * 1_000_000)) for line, time in [*lines, *odd]]
    frame = spark.createDataFrame(rows, "value string, t bigint").selectExpr(
        "value", "timestamp_micros(t) AS timestamp"
    )
    found = of_frame(match(frame, CHAIN, stats=stats))
    assert found == embedded(CHAIN, lines)
    assert (stats.triples, stats.matches, stats.malformed, stats.untimed) == (60, found.total(), 1, 1)
    assert "nonsense" in stats.first_malformed[0]


# ---- streams ----
def test_stream_finds_the_same_across_micro_batches_and_restarts(growing: Growing) -> None:
    lines = stream(200)
    wanted = embedded(CHAIN, lines)
    found = match(growing.frame, CHAIN, watermark="1 second")
    for part in (lines[:90], lines[90:91], lines[91:120]):
        growing.give(part)
    early = growing.run(found)
    assert early == until(wanted, 12.0 - 1)
    growing.give(lines[120:])
    growing.give([LATER])
    again = match(growing.frame, CHAIN, watermark="1 second")
    assert growing.run(again) == wanted


def test_match_comes_in_the_micro_batch_that_moves_the_watermark_past_it(growing: Growing) -> None:
    no_data = "spark.sql.streaming.noDataMicroBatches.enabled"
    lines = stream(120)
    growing.give(lines)
    growing.spark.conf.set(no_data, "false")
    try:
        found = growing.run(match(growing.frame, CHAIN, watermark="1 second"))
    finally:
        growing.spark.conf.unset(no_data)
    assert found == until(embedded(CHAIN, lines), 12.0 - 1)


def test_a_frame_with_a_watermark_of_its_own_is_refused(growing: Growing) -> None:
    patient = growing.frame.withWatermark("timestamp", "1 hour").selectExpr(
        "value", "timestamp + INTERVAL 1 second AS timestamp"
    )
    with pytest.raises(UsageError, match="has a watermark already"):
        match(patient, CHAIN, watermark="1 second")


def test_late_rows_are_counted_and_left_out(growing: Growing) -> None:
    from retewave.spark import Stats

    stats, lines = Stats(growing.spark), stream(60)
    late = ("<http://e/n1> <http://e/p> <http://e/n2> .", 2.05)
    for part in (lines[:40], [late, *lines[40:]], [LATER]):
        growing.give(part)
    found = growing.run(match(growing.frame, CHAIN, watermark="1 second", stats=stats))
    assert found == embedded(CHAIN, lines)
    assert stats.late == 1


def test_rows_out_of_order_within_the_watermark_are_put_in_order(growing: Growing) -> None:
    lines = stream(60)
    shuffled = [*lines[:30], *lines[35:45], *lines[30:35], *lines[45:]]
    for part in (shuffled[:40], shuffled[40:], [LATER]):
        growing.give(part)
    assert growing.run(match(growing.frame, CHAIN, watermark="2 seconds")) == embedded(CHAIN, lines)


def test_stream_that_begins_at_time_zero_is_not_forgotten(growing: Growing) -> None:
    lines = [(line, time - 0.1) for line, time in stream(40)]
    growing.give(lines)
    growing.give([LATER])
    assert growing.run(match(growing.frame, CHAIN, watermark="1 second")) == embedded(CHAIN, lines)


def test_static_matches_of_a_stream_are_told_once(growing: Growing, places: Path) -> None:
    for part in (stream(5), stream(5), [LATER]):
        growing.give(part)
    found = growing.run(match(growing.frame, PLACES, static=places, watermark="1 second"))
    assert found == Counter({("Places", None, None, "<http://e/n1>"): 1})


def test_checkpoint_of_another_query_is_refused(growing: Growing) -> None:
    growing.give(stream(10))
    growing.run(match(growing.frame, CHAIN))
    growing.give([LATER])
    with pytest.raises(Exception, match="the checkpoint belongs to other queries"):
        growing.run(match(growing.frame, CHAIN.replace("3s", "4s")))


def test_checkpoint_of_another_number_of_shards_is_refused(growing: Growing) -> None:
    growing.give(stream(30))
    growing.run(match(growing.frame, CHAIN))
    growing.give([LATER])
    with pytest.raises(Exception, match=r"the checkpoint belongs to other|the checkpoint has more shards"):
        growing.run(match(growing.frame, CHAIN, shards=1))


def test_query_without_a_window_is_warned_of(growing: Growing) -> None:
    with pytest.warns(UserWarning, match="the state grows"):
        match(growing.frame, CHAIN.replace(" [RANGE 3s]", ""))


# ---- what is refused ----
@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"text": "line"}, "there is no column line"),
        ({"time": "at"}, "there is no column at"),
        ({"time": "value"}, "not a timestamp"),
        ({"text": "timestamp"}, "not text"),
        ({"rate": 10}, "there is no column first"),
        ({"triple": ("value", "value")}, "a triple has three columns"),
        ({"stream": "name"}, "there is no column name"),
    ],
)
def test_wrong_columns_are_told(spark: SparkSession, how: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        match(frame_of(spark, stream(1)), CHAIN, **how)


def test_variable_with_the_name_of_a_column_is_refused(spark: SparkSession) -> None:
    with pytest.raises(UsageError, match="has the name of a column"):
        match(frame_of(spark, stream(1)), CHAIN.replace("?x", "?start"))


def test_streams_and_batches_do_not_mix(growing: Growing) -> None:
    with pytest.raises(UsageError, match="cannot be matched together"):
        match([growing.frame, frame_of(growing.spark, stream(1))], CHAIN)
