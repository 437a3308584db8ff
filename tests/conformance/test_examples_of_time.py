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


def test_rule_of_the_epsparql_paper_is_refused_by_name_as_rules_do_not_run_yet() -> None:
    with pytest.raises(rw.QueryError, match="come in again is not supported yet"):
        rw.Engine().register(EXAMPLES / "epsparql" / "downrating.epsparql")
