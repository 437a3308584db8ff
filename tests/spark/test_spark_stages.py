"""Views in two stages on a Spark session, batch and streaming: partial results, and a last task behind a shuffle."""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import retewave as rw

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("error::retewave.spark.driver.job.OneShardWarning"),
]

FRAME = "FROM STREAM <http://e/s> [RANGE 3s STEP 1s]"
VIEWS = {
    "count": f"SELECT (COUNT(*) AS ?n) (AVG(?v) AS ?mean) {FRAME} {{ ?x <http://e/p> ?v }}",
    "groups": f"REGISTER DSTREAM <http://e/groups> AS SELECT ?v (COUNT(?x) AS ?n) {FRAME} "
    "{ ?x <http://e/q> ?v } GROUP BY ?v ORDER BY DESC(?n) ?v LIMIT 2",
    "top": f"SELECT ?x (SUM(?v) AS ?n) {FRAME} {{ ?x <http://e/p> ?v }} GROUP BY ?x ORDER BY DESC(?n) ?x LIMIT 2",
    "new": f"REGISTER ISTREAM <http://e/new> AS SELECT ?v {FRAME} "
    "{ ?x <http://e/r> ?v OPTIONAL { ?x <http://e/s> ?w } }",
    "pairs": f"SELECT ?x ?v ?w {FRAME.replace(' STEP 1s', '')} {{ ?x <http://e/t> ?v . ?x <http://e/u> ?w }}",
}
LATER = ("<http://e/n1> <http://e/unheard> <http://e/n1> .", 1000.0)

Line = tuple[str, float]
Told = Counter[tuple[Any, ...]]


def stream(count: int) -> list[Line]:
    """Lines that come a tenth of a second apart."""
    draw = random.Random(1)
    integer = "<http://www.w3.org/2001/XMLSchema#integer>"

    def line() -> str:
        return f'<http://e/n{draw.randrange(6)}> <http://e/{draw.choice("pqrstu")}> "{draw.randrange(4)}"^^{integer} .'

    return [(line(), i / 10) for i in range(1, count + 1)]


def embedded(lines: list[Line]) -> Told:
    """What the embedded engine tells."""
    engine = rw.Engine()
    queries = [engine.register(text, name=name) for name, text in VIEWS.items()]
    for line, time in lines:
        engine.push(tuple(line.split()[:3]), time=time)
    return Counter(
        (query.name, match.end, *((match.text(name) or b"").decode() for name in match))
        for query in queries
        for match in query.matches
    )


def of_frame(frame: DataFrame) -> Told:
    """What a DataFrame of matches holds."""
    rows = frame.selectExpr("query", "round(unix_micros(`end`) / 1000000, 3) AS at", *frame.columns[3:]).collect()
    shown = {"count": "n mean", "groups": "v n", "top": "x n", "new": "v", "pairs": "x v w"}
    return Counter((row["query"], row["at"], *(row[name] for name in shown[row["query"]].split())) for row in rows)


def timed(frame: DataFrame) -> DataFrame:
    return frame.selectExpr("value", "timestamp_micros(t) AS timestamp")


def match(frame: DataFrame, **how: Any) -> DataFrame:
    from retewave.spark import match as on_spark

    return on_spark(frame, VIEWS, shards=2, **how)


def test_batch_tells_what_the_embedded_engine_tells(spark: SparkSession) -> None:
    lines = [*stream(240), LATER]
    rows = [(line, int(time * 1_000_000)) for line, time in random.Random(2).sample(lines, len(lines))]
    frame = timed(spark.createDataFrame(rows, "value string, t bigint")).repartition(3)
    wanted = embedded(lines)
    assert {each[0] for each in wanted} == VIEWS.keys()
    assert of_frame(match(frame)) == wanted


def test_stream_tells_the_same_across_micro_batches_and_restarts(spark: SparkSession, tmp_path: Path) -> None:
    lines = stream(240)
    (tmp_path / "in").mkdir()
    told = spark.readStream.schema("t bigint, value string").option("sep", "\t").option("maxFilesPerTrigger", 1)
    frame = timed(told.option("quote", "\x01").csv(str(tmp_path / "in")))
    for count, part in enumerate((lines[:90], lines[90:150], lines[150:], [LATER])):
        given = tmp_path / "part"
        given.write_text("".join(f"{int(time * 1_000_000)}\t{line}\n" for line, time in part))
        os.utime(given, (count + 1, count + 1))
        given.rename(tmp_path / "in" / f"{count:04}.csv")
        if count == 1:
            continue  # the next run does two at once
        writer = match(frame, watermark="2 seconds").writeStream.format("parquet")
        writer = writer.option("checkpointLocation", str(tmp_path / "kept")).trigger(availableNow=True)
        query = writer.start(str(tmp_path / "out"))
        try:
            assert query.awaitTermination(300)
        finally:
            query.stop()
    assert of_frame(spark.read.parquet(str(tmp_path / "out"))) == embedded([*lines, LATER])
