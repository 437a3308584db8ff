"""The data source "retewave" on a Spark session: triples, blocks and places of files, batch and streaming."""

from __future__ import annotations

import gzip
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import retewave as rw

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

QUERY = """REGISTER QUERY Chain AS SELECT ?x ?y ?z FROM STREAM <http://e/s> [RANGE 3s]
WHERE { ?x <http://e/p> ?y . ?y <http://e/q> ?z }"""
AT = "http://www.w3.org/ns/prov#generatedAtTime"
EVENT = """<http://e/n%d> <http://e/p> <http://e/n%d> <http://e/g%d> .
<http://e/g%d> <http://www.w3.org/ns/prov#generatedAtTime> "2026-01-01T00:%02d:%02dZ"^^<http://www.w3.org/2001/XMLSchema#dateTime> .
<http://e/n%d> <http://e/q> <http://e/n%d> <http://e/h%d> .
<http://e/h%d> <http://www.w3.org/ns/prov#generatedAtTime> "2026-01-01T00:%02d:%02dZ"^^<http://www.w3.org/2001/XMLSchema#dateTime> .
"""  # noqa: E501


@pytest.fixture
def source(spark: SparkSession) -> SparkSession:
    from retewave.spark import register

    register(spark)
    return spark


def test_the_statements_of_the_next_micro_batch_are_counted_while_this_one_is_matched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyspark")
    from pyspark.sql.streaming.datasource import ReadMaxBytes
    from pyspark.sql.types import StructType

    from retewave.spark.source import offsets as plans
    from retewave.spark.source import source as sources

    counted, statements = [], vars(plans)["statements"]

    def noted(part: Any) -> Any:
        counted.append(part)
        return statements(part)

    monkeypatch.setattr(plans, "statements", noted)
    (tmp_path / "a.nt").write_text(lines(0, 100))
    options = {"path": str(tmp_path), "blocks": "ranges", "rate": "1", "partitionBytes": "300"}
    reader = sources.TripleSource(options).streamReader(StructType())
    at, taken = reader.initialOffset(), 0
    while (then := reader.latestOffset(at, ReadMaxBytes(1000))) != at:
        for thread in threading.enumerate():
            if thread.name == sources.LOOKING:
                thread.join()
        taken += len(reader.partitions(at, then))
        assert len(counted) > taken or then["statements"] == 100
        at = then
    assert at["statements"] == 100
    assert len(counted) == len(set(counted)) == taken > 3


def lines(first: int, count: int) -> str:
    return "".join(
        f"<http://e/n{i % 5}> <http://e/{'pq'[i % 3 == 0]}> <http://e/n{i * 7 % 5}> .\n"
        for i in range(first, first + count)
    )


def events(count: int) -> str:
    return "".join(
        EVENT % (i % 4, i * 3 % 4, i, i, i // 60, i % 60, i * 3 % 4, i % 3, i, i, i // 60, i % 60) for i in range(count)
    )


def run(frame: DataFrame, folder: Path, name: str = "out") -> DataFrame:
    """Run a stream over what is there; return all that this and earlier runs have written."""
    out = str(folder / name)
    writer = frame.writeStream.format("parquet").option("checkpointLocation", str(folder / f"checkpoint-{name}"))
    writer.trigger(availableNow=True).start(out).awaitTermination()
    return frame.sparkSession.read.schema(frame.schema).parquet(out)


def embedded(*sources: Path, **how: Any) -> Counter[tuple[str, ...]]:
    """What the embedded engine finds in files."""
    engine = rw.Engine()
    engine.register(QUERY)
    found: Counter[tuple[str, ...]] = Counter()
    for each in engine.run(*(rw.read(str(path), **how) for path in sources)):
        found[tuple(f"<{each[name]}>" for name in "xyz")] += 1
    return found


def terms(frame: DataFrame) -> Counter[tuple[str, ...]]:
    return Counter(tuple(row) for row in frame.select("x", "y", "z").collect())


def test_files_of_several_formats_are_one_table(source: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_text(lines(0, 10))
    (tmp_path / "b.nq.gz").write_bytes(gzip.compress(b"<a:s> <a:p> 'o' <a:g> .\n".replace(b"'", b'"')))
    (tmp_path / "c.ttl").write_text("<a:s> <a:p> <a:o>, 5 .")
    frame = source.read.format("retewave").load(str(tmp_path))
    assert frame.columns == ["s", "p", "o", "graph", "time"]
    rows = frame.where("s = '<a:s>'").collect()
    assert {(row.o, row.graph) for row in rows} == {
        ('"o"', "<a:g>"),
        ("<a:o>", None),
        ('"5"^^<http://www.w3.org/2001/XMLSchema#integer>', None),
    }
    assert frame.count() == 13


def test_stream_reads_every_triple_once_and_goes_on_after_a_restart(source: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.nt").write_text(lines(0, 100))
    options = {"rate": "1", "maxBytesPerTrigger": "1000", "partitionBytes": "300"}
    frame = source.readStream.format("retewave").options(**options).load(str(tmp_path / "in"))
    run(frame, tmp_path)
    with (tmp_path / "in" / "a.nt").open("a") as file:
        file.write(lines(100, 30))
    (tmp_path / "in" / "b.nt").write_text(lines(130, 20))
    found = run(frame, tmp_path).selectExpr("s", "p", "o", "unix_seconds(time) AS t").orderBy("t").collect()
    assert [row.t for row in found] == list(range(150))
    assert "".join(f"{row.s} {row.p} {row.o} .\n" for row in found) == lines(0, 150)


@pytest.mark.parametrize("blocks", ["true", "ranges"])
def test_blocks_at_a_rate_match_as_embedded(source: SparkSession, tmp_path: Path, blocks: str) -> None:
    from retewave.spark import match

    path = tmp_path / "a.nt"
    path.write_text(lines(0, 200))
    reader = source.read.format("retewave").option("blocks", blocks).option("rate", 10).option("partitionBytes", 2000)
    found = match(reader.load(str(path)), QUERY, rate=10, shards=2)
    assert terms(found) == embedded(path, rate=10) != Counter()


def test_stream_of_events_matches_as_embedded(source: SparkSession, tmp_path: Path) -> None:
    from retewave.spark import match

    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "a.nq"
    path.write_text(events(60))
    reader = source.readStream.format("retewave").option("blocks", "ranges")
    frame = reader.option("maxBytesPerTrigger", 8000).option("partitionBytes", 3000).load(str(tmp_path / "in"))
    found = match(frame, QUERY, time_property=AT, shards=2, watermark="0 seconds")
    run(found, tmp_path)
    wanted = embedded(path, time_property=AT)
    later = events(70).removeprefix(events(69)).splitlines(keepends=True)[:2]  # joins nothing: it tells the time
    (tmp_path / "in" / "b.nq").write_text("".join(later))
    assert terms(run(found, tmp_path)) == wanted != Counter()


def test_malformed_document_ends_the_query_or_is_counted(source: SparkSession, tmp_path: Path) -> None:
    from retewave.spark import Stats, match

    path = tmp_path / "a.ttl"
    path.write_text("<http://e/a> <http://e/p> <http://e/b> . <http://e/b> <http://e/q> <http://e/c> . nonsense")
    frame = source.read.format("retewave").option("blocks", "ranges").option("rate", 1).load(str(path))
    stats = Stats(source)
    assert match(frame, QUERY, rate=1, shards=2, stats=stats).count() == 1
    assert stats.malformed == 1
    with pytest.raises(Exception, match="the rest of the document is not read"):
        match(frame, QUERY.replace("Chain", "Strict"), rate=1, shards=2, on_error="raise").count()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"blocks": "some"}, "the option blocks is false or true or ranges"),
        ({"maxFilesPerTrigger": "1", "maxBytesPerTrigger": "1"}, "only one of"),
        ({"path": "/no/such/folder"}, "there is no file or folder"),
    ],
)
def test_wrong_options_are_told(source: SparkSession, tmp_path: Path, options: dict[str, str], told: str) -> None:
    reader = source.read.format("retewave").options(**({"path": str(tmp_path)} | options))
    with pytest.raises(Exception, match=told):
        reader.load().count()
