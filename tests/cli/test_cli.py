"""`retewave run` as a user meets it: what comes out where, and with which exit code."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest
from helpers.command_line import COMMAND, EXAMPLES, LINES, QUERY, invoke

pytestmark = pytest.mark.usefixtures("folder")


def test_run_writes_an_object_a_match_with_times_in_seconds() -> None:
    ended = invoke("run", "q.rq", "--stream", "d.nt", "--rate", "2")
    assert ended.exit_code == 0, ended.output
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [(each["query"], each["start"], each["end"]) for each in found] == [("q", n / 2, n / 2) for n in range(4)]
    assert found[0]["bindings"]["x"] == {"type": "uri", "value": "http://e/s0"}


def test_run_takes_a_querys_text_and_tells_arrival_as_iso_8601() -> None:
    ended = invoke("run", QUERY, "--stream", "d.nt", "--arrival")
    start = json.loads(ended.stdout.splitlines()[0])["start"]
    assert start[:2] == "20" and start.endswith("Z") and start[10] == "T"


def test_construct_is_written_as_n_triples() -> None:
    ended = invoke("run", "CONSTRUCT { ?y <http://e/q> ?x } WHERE { ?x <http://e/p> ?y }", "--stream", "d.nt")
    assert ended.stdout.splitlines()[0] == "<http://e/o> <http://e/q> <http://e/s0> ."


def test_formats_and_files_are_as_asked_for() -> None:
    assert invoke("run", "q.rq", "--stream", "d.nt", "--format", "csv", "--out", "m.csv").stdout == ""
    assert Path("m.csv").read_text().splitlines()[1].endswith(",http://e/s0,http://e/o")
    invoke("run", "q.rq", "--stream", "d.nt", "--format", "arrow", "--rate", "1", "--out", "m.arrow")
    assert pa.ipc.open_stream(Path("m.arrow").read_bytes()).read_all()["end"].to_pylist() == [0, 1, 2, 3]


@pytest.mark.parametrize("format", ["ndjson", "csv", "tsv", "arrow"])
def test_run_whose_candidates_are_all_refused_ends_well(format: str) -> None:
    query = 'SELECT ?x { ?x <http://e/p> ?y FILTER(CONTAINS(STR(?y), "zzz")) }'
    ended = invoke("run", query, "--stream", "d.nt", "--format", format, "--out", "m")
    assert ended.exit_code == 0, ended.output
    if format == "arrow":
        assert pa.ipc.open_stream(Path("m").read_bytes()).read_all().num_rows == 0
    else:
        assert Path("m").read_bytes().count(b"http://e/") == 0


def test_distinct_over_a_long_file_of_equal_lines_is_written_once() -> None:
    Path("long.nt").write_bytes(b"<http://e/s> <http://e/p> <http://e/o> .\n" * 200_000)
    ended = invoke("run", "SELECT DISTINCT ?x { ?x <http://e/p> ?y }", "--stream", "long.nt", "--rate", "1000000")
    assert (ended.exit_code, ended.stdout.count("\n")) == (0, 1), ended.output


def test_stats_are_written_with_stable_keys() -> None:
    Path("d.nt").write_text(LINES + "nonsense\n")
    ended = invoke("run", "q.rq", "--stream", "d.nt", "--rate", "1", "--stats", "s.json")
    stats = json.loads(Path("s.json").read_text())
    assert (stats["triples"], stats["malformed"], stats["late"], stats["matches"]) == (4, 1, 0, {"q": 4})
    assert set(stats["seconds"]) == {"total", "read", "match"}
    assert 0 < stats["seconds"]["match"] < stats["seconds"]["total"]
    assert stats["triples_per_second"] == pytest.approx(4 / stats["seconds"]["total"])
    assert stats["peak_rss_bytes"] > 10_000_000
    assert all(
        isinstance(stats[key], int)
        for key in ("live_rows", "terms", "collected", "shed", "future", "arena_bytes", "untimed")
    )
    assert "d.nt:5:1: expected a subject" in ended.stderr
    assert "1 malformed line is left out" in ended.stderr


def test_malformed_line_stops_the_run_when_asked_to_and_what_came_before_is_written() -> None:
    Path("d.nt").write_text(LINES + "nonsense\n" + LINES)
    ended = invoke("run", "q.rq", "--stream", "d.nt", "--on-error", "raise", "--stats", "s.json")
    assert ended.exit_code == 1
    assert len(ended.stdout.splitlines()) == 4
    assert ended.stderr.count("d.nt:5:1") == 1
    assert "\n  ^" in ended.stderr
    assert json.loads(Path("s.json").read_text())["triples"] == 4


def test_bound_on_live_rows_stops_with_exit_code_1_or_sheds() -> None:
    join = "SELECT ?x FROM STREAM <http://e/s> [RANGE 1h] WHERE { ?x <http://e/p> ?y . ?x <http://e/q> ?y }"
    bounded = ("run", join, "--stream", "d.nt", "--rate", "1", "--max-live-rows", "2", "--stats", "s.json")
    ended = invoke(*bounded)
    assert ended.exit_code == 1
    assert "2 live rows" in ended.stderr
    assert invoke(*bounded, "--at-limit", "shed").exit_code == 0
    assert json.loads(Path("s.json").read_text())["shed"] > 0


def test_standard_input_is_a_stream() -> None:
    ended = subprocess.run(
        [*COMMAND, "run", "q.rq", "--stream", "-", "--stream-format", "ttl", "--rate", "1"],
        input="@prefix : <http://e/> . :a :p :b, :c .",
        capture_output=True,
        text=True,
    )
    assert len(ended.stdout.splitlines()) == 2, ended.stderr


def test_named_streams_are_merged_by_time_and_heard_by_name() -> None:
    query = "SELECT ?x FROM STREAM <http://e/one> WHERE { ?x <http://e/p> ?y }"
    Path("other.nt").write_text(LINES.replace("/s", "/t"))
    named = ("run", query, "--rate", "1", "--stream", "http://e/one=d.nt", "--stream")
    assert len(invoke(*named, "http://e/two=other.nt").stdout.splitlines()) == 4
    ended = invoke(*named, "other.nt")
    ends = [json.loads(line)["end"] for line in ended.stdout.splitlines()]
    assert ends == [0, 0, 1, 1, 2, 2, 3, 3], "a stream without a name belongs to every stream"
    assert "no query listens to the stream http://e/two" in invoke(*named, "http://e/two=other.nt").stderr


def _at_ends(*arguments: str) -> list[float]:
    ended = invoke("run", "SELECT ?y { ?x <http://e/p> ?y }", *arguments)
    assert ended.exit_code == 0, ended.output
    return [json.loads(line)["end"] for line in ended.stdout.splitlines()]


def test_triples_that_follow_each_other_are_one_event_by_count_or_subject() -> None:
    assert _at_ends("--stream", "d.nt", "--rate", "1", "--event-by", "3") == [0, 0, 0, 3]
    Path("s.nt").write_text("".join(f'<http://e/s{n // 2}> <http://e/p> "{n}" .\n' for n in range(5)))
    assert _at_ends("--stream", "s.nt", "--rate", "1", "--event-by", "subject") == [0, 0, 2, 2, 4]


def test_each_stream_may_say_what_its_events_are() -> None:
    Path("other.nt").write_text(LINES)
    named = ("--stream", "http://e/one=d.nt", "--stream", "http://e/two=other.nt", "--rate", "1")
    assert sorted(_at_ends(*named, "--event-by", "2", "--event-by", "http://e/two=4")) == [0, 0, 0, 0, 0, 0, 2, 2]
    ended = invoke("run", "q.rq", *named, "--event-by", "http://e/three=4")
    assert ended.exit_code == 2 and "no --stream has this name" in ended.stderr and "http://e/two" in ended.stderr


@pytest.mark.parametrize(("by", "told"), [("verb", "cannot be 'verb'"), ("time", "nothing tells their time")])
def test_what_makes_no_event_is_told(by: str, told: str) -> None:
    ended = invoke("run", "q.rq", "--stream", "d.nt", "--event-by", by)
    assert ended.exit_code == 2 and told in ended.stderr and "Traceback" not in ended.stderr


def test_late_items_are_put_in_order_or_counted() -> None:
    date = "http://www.w3.org/2001/XMLSchema#dateTime"
    graphs = "".join(
        f'<http://e/g{n}> <http://e/at> "2020-01-01T00:00:0{n}Z"^^<{date}> <http://e/g{n}> .\n'
        f"<http://e/s{n}> <http://e/p> <http://e/o> <http://e/g{n}> .\n"
        for n in (3, 1, 2)
    )
    Path("d.nq").write_text(graphs)
    timed = ("run", "q.rq", "--stream", "d.nq", "--time-property", "http://e/at")
    late = invoke(*timed)
    assert [json.loads(line)["end"] for line in late.stdout.splitlines()] == ["2020-01-01T00:00:03Z"]
    assert "came later than --lateness allows" in late.stderr
    ordered = [json.loads(line)["end"] for line in invoke(*timed, "--lateness", "2s").stdout.splitlines()]
    assert ordered == [f"2020-01-01T00:00:0{n}Z" for n in (1, 2, 3)]


def test_dataset_maps_the_iri_that_a_query_names() -> None:
    social = EXAMPLES / "social"
    ended = invoke(
        *("run", str(social / "distinct.rq"), "--format", "csv", "--schema", str(social / "ontology.ttl")),
        *("--dataset", f"http://foaf.example.org/friends.rdf={social / 'friends.ttl'}"),
        *("--stream", f"http://facebook.example.org/update/stream={social / 'facebook.trig'}"),
        *("--stream", f"http://twitter.example.org/update/stream={social / 'twitter.trig'}"),
        *("--time-property", "http://www.w3.org/ns/prov#generatedAtTime"),
    )
    assert ended.stdout.splitlines()[1].startswith("SamePlace,2012-07-16T10:00:00Z,2012-07-16T10:02:30Z,")
    assert len(ended.stdout.splitlines()) == 2
