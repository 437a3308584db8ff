"""The examples of examples/time and examples/epsparql give what their comments say."""

from __future__ import annotations

import csv
import re
from io import BytesIO
from pathlib import Path

import pytest

import retewave as rw
from retewave.io.reading.reader import GENERATED_AT
from retewave.io.sinks.sinks import open_sink

EXAMPLES = Path(__file__).parents[2] / "examples"
TIME = sorted((EXAMPLES / "time").glob("*.rq"))
STOCKS = "http://example.org/stocks#"
BASE = "http://example.org/"


def found(query: Path, *streams: str) -> list[str]:
    """Return the matches of a query's file in streams beside it, as lines of CSV without the query's name."""
    engine = rw.Engine(allow_cartesian="--allow-cartesian" in query.read_text())
    engine.register(query)
    names = [BASE + Path(each).stem if len(streams) > 1 else None for each in streams]
    paths = [query.parent / each for each in streams]
    readers = [rw.read(path, time_property=GENERATED_AT, stream=name) for path, name in zip(paths, names, strict=True)]
    out = BytesIO()
    sink = open_sink("csv", engine.queries, out, seconds=False)
    for batches in engine.run_batches(*readers):
        sink.write(batches)
    sink.close()
    return [line.partition(",")[2] for line in out.getvalue().decode().split("\r\n")[:-1]]


@pytest.mark.filterwarnings("error", "ignore::retewave.engine.accepting.CartesianWarning")
@pytest.mark.parametrize("query", TIME, ids=lambda path: path.stem)
def test_example_of_an_operator_finds_what_its_comment_says(query: Path) -> None:
    text = query.read_text()
    streams, said = re.search(r"^# In (.*) it finds\n((?:#   .*\n)+)", text, re.MULTILINE).groups()  # type: ignore[union-attr]
    assert found(query, *streams.split(" and ")) == re.findall(r"#   (.*)", said)


def test_rules_of_the_examples_find_what_the_comment_says() -> None:
    folder = EXAMPLES / "rules"
    engine = rw.Engine(static=folder / "roads.ttl")
    rules = [engine.register(folder / name, keep=None) for name in ("begin.rq", "go_on.rq")]
    query = engine.register(folder / "church.rq", keep=None)
    list(engine.run(rw.read(folder / "town.trig", time_property=GENERATED_AT)))
    said = re.findall(r"#   (\d.*)", (folder / "church.rq").read_text())
    found = [f"{row.start:%FT%TZ},{row.end:%FT%TZ},{row['who']}" for row in query.matches]
    assert found == said
    assert [len(rule.matches) for rule in rules] == [3, 8]


def test_each_stream_of_the_examples_is_asked() -> None:
    asked = " ".join(path.read_text() for path in TIME)
    assert [path.name for path in (EXAMPLES / "time").glob("*.trig") if path.name not in asked] == []


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("recovery", [("2011-03-01", "2011-03-28", "ACME")]),
        (
            "drop",
            [
                ("2011-03-01", "2011-03-04", "ACME", "Moodys"),
                ("2011-03-02", "2011-03-04", "Umbrella", ""),
                ("2011-03-03", "2011-03-06", "Initech", ""),
            ],
        ),
        ("growth", [("2011-03-01", "2011-03-10", "ACME")]),
    ],
)
def test_query_of_the_epsparql_paper_finds_what_the_comment_of_its_stream_says(
    name: str, rows: list[tuple[str, ...]]
) -> None:
    lines = found(EXAMPLES / "epsparql" / f"{name}.epsparql", f"{name}.trig")
    read = [[cell.removeprefix(STOCKS).removesuffix("T09:00:00Z") for cell in row] for row in csv.reader(lines[1:])]
    assert read == [list(row) for row in rows]


def told(stream: str, *queries: str) -> list[tuple[str, ...]]:
    """Return what the queries of the paper tell of a stream: name, start, end, and what is shown without its prefix."""
    engine = rw.Engine(allow_cartesian=True)
    for query in queries:
        engine.register(EXAMPLES / "epsparql" / f"{query}.epsparql", name=query)
    found = engine.run(rw.read(EXAMPLES / "epsparql" / stream, time_property=GENERATED_AT))
    return [
        (m.query.name, f"{m.start:%d}", f"{m.end:%d}", *(str(m[name]).removeprefix(STOCKS) for name in m))
        for m in found
    ]


@pytest.mark.filterwarnings("ignore::retewave.engine.accepting.CartesianWarning")
def test_rule_of_the_epsparql_paper_sums_up_and_its_query_tells_the_average() -> None:
    assert told("prices.trig", "sums", "average") == [
        ("sums", "02", "04", "1", "20"),
        ("sums", "02", "08", "2", "50"),
        ("sums", "02", "12", "3", "90"),
        ("average", "01", "12", "30"),
    ]


def test_what_the_rule_of_the_epsparql_paper_builds_is_an_event_again(tmp_path: Path) -> None:
    assert told("downrating.trig", "downrating") == [("downrating", "01", "04", "ACME", "Moodys")]
    engine = rw.Engine()
    engine.register(EXAMPLES / "epsparql" / "downrating.epsparql")
    query = engine.register(f"SELECT ?who WHERE {{ ?who <{STOCKS}downratedby> ?agency }}", language="epsparql")
    list(engine.run(rw.read(EXAMPLES / "epsparql" / "downrating.trig", time_property=GENERATED_AT)))
    assert [str(row["who"]).removeprefix(STOCKS) for row in query.matches] == ["ACME"]
