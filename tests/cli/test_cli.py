"""The command line as a user meets it: what comes out where, and with which exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner, Result

from retewave.cli import inputs
from retewave.cli.app import app
from retewave.cli.inputs import Stopper, stream_name
from retewave.cli.notes import Notes, progress
from retewave.compiler.languages.known import LANGUAGES
from retewave.errors import UsageError

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMAND = [sys.executable, "-m", "retewave"]
QUERY = "SELECT ?x ?y WHERE { ?x <http://e/p> ?y }"
LINES = "".join(f"<http://e/s{n}> <http://e/p> <http://e/o> .\n" for n in range(4))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("q.rq").write_text(QUERY)
    Path("d.nt").write_text(LINES)
    return tmp_path


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


# ---- run ----
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


# ---- what is wrong ----
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "q.rq", "--stream", "none.nt"), "there is no file none.nt"),
        (("run", "none.rq", "--stream", "d.nt"), "there is no file none.rq"),
        (("run", "q.rq", "--stream", "."), "is a folder"),
        (("run", "q.rq", "--stream", "name=d.nt"), "a stream's name is an absolute IRI"),
        (("run", "q.rq", "--stream", "-", "--stream", "-"), "standard input can be read once only"),
        (("run", "q.rq", "--stream", "d.nt", "--rate", "0"), "a rate is a number"),
        (("run", "q.rq", "--stream", "d.nt", "--rate", "1", "--arrival"), "only one of --rate"),
        (("run", "q.rq", "--stream", "d.nt", "--lateness", "5"), "has no unit"),
        (("run", "q.rq", "--stream", "d.nt", "--dataset", "x"), "no = in it"),
        (("run", "q.rq", "--stream", "d.nt", "--out", "no/such/folder.csv"), "cannot write"),
        (("run", "q.rq", "--stream", "d.nt", "--format", "nt"), "builds no triples"),
        (("run", "q.rq", "--stream", "d.nt", "--schema", "none.ttl"), "none.ttl"),
        (("run", "SELECT ?x { ?x <http://e/p> ?y SERVICE ?y { ?x a ?z } }", "--stream", "d.nt"), "SERVICE"),
        (("run", "SELECT ?x { ?x <http://e/p> ?y . ?a <http://e/q> ?b }", "--stream", "d.nt"), "share no variable"),
        (("run", "q.rq"), "--stream"),
        (("explain", "SELECT"), "there is no file SELECT"),
    ],
)
def test_what_is_wrong_is_said_in_a_few_lines_with_exit_code_2(arguments: tuple[str, ...], said: str) -> None:
    ended = invoke(*arguments)
    assert ended.exit_code == 2
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""


def test_check_tells_of_every_query_and_fails_if_one_is_wrong() -> None:
    ended = invoke("check", "q.rq", "SELECT ?z { ?x a ?y }", "CONSTRUCT WHERE { ?s <http://e/p> ?o }")
    assert ended.exit_code == 2
    assert ended.stdout.splitlines() == ["q.rq: q: SELECT ?x ?y", "<query>: query2: CONSTRUCT ?s ?o"]
    assert "<query>:1:8: ?z does not occur in the pattern" in ended.stderr
    assert invoke("check", "q.rq").exit_code == 0


def test_a_variable_that_can_have_no_value_is_warned_of_with_its_place() -> None:
    query = "SELECT ?x { ?x <http://e/price> ?price\nFILTER(?prize > 3) }"
    said = "retewave: warning: <query>:2:8: ?prize has no value here: nothing binds it that this expression can see; "
    for command in (("check", query), ("explain", query), ("run", query, "--stream", "d.nt", "--rate", "1")):
        ended = invoke(*command)
        assert (ended.exit_code, ended.stderr.count(said + "did you mean ?price?")) == (0, 1)


def test_explain_prints_the_plan_as_text_or_json() -> None:
    schema = EXAMPLES / "sensors" / "ontology.ttl"
    arguments = ("explain", str(EXAMPLES / "sensors" / "overheating.rq"), "--schema", str(schema))
    text = invoke(*arguments)
    assert text.exit_code == 0
    assert "Overheating" in text.stdout
    assert "Overheating" in json.dumps(json.loads(invoke(*arguments, "--format", "json").stdout))


def test_explain_draws_the_plan(tmp_path: Path) -> None:
    queries = (
        "explain",
        str(EXAMPLES / "social" / "distinct.rq"),
        "--schema",
        str(EXAMPLES / "social" / "ontology.ttl"),
    )
    out = tmp_path / "plan.dot"
    assert invoke(*queries, "--format", "dot", "--draw", "reduced", "-o", str(out)).exit_code == 0
    assert out.read_text().startswith("digraph")
    assert "digraph" in invoke(*queries, "--format", "dot").stdout


def test_explain_counts_over_streams_if_it_is_told_to(tmp_path: Path) -> None:
    sensors = EXAMPLES / "sensors"
    known = ("--schema", str(sensors / "ontology.ttl"), "--static", str(sensors / "rooms.ttl"))
    queries = ("explain", str(sensors / "overheating.rq"), *known)
    ended = invoke(*queries, "--stats", "--stream", str(sensors / "readings.nt"), "--rate", "1")
    assert "matches: 1" in ended.stdout
    assert "matches:" not in invoke(*queries).stdout
    assert "give --stats and --stream" in invoke(*queries, "--stats").stderr


# ---- the process ----
def test_help_and_version_load_neither_numpy_nor_numba() -> None:
    for argument in ("--help", "--version", "run --help"):
        code = (
            "import sys\nfrom retewave.cli.app import app\n"
            f"try: app({argument.split()!r}, prog_name='retewave')\nexcept SystemExit as end: assert not end.code\n"
            "heavy = {'numpy', 'numba', 'rdflib', 'lark', 'pyarrow', 'rich'} & set(sys.modules)\n"
            "sys.exit(f'loaded: {heavy}' if heavy else 0)"
        )
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr


def test_version_is_the_packages() -> None:
    from retewave import __version__

    assert invoke("--version").stdout == f"retewave {__version__}\n"


def test_help_tells_the_exit_codes() -> None:
    assert "Exit codes: 0 done" in invoke("--help").stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_a_run_that_waits_and_all_that_was_found_is_written(number: int) -> None:
    process = subprocess.Popen(
        [*COMMAND, "run", "q.rq", "--stream", "-", "--stats", "s.json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    process.stdin.write(LINES.encode())
    process.stdin.flush()
    first = [process.stdout.readline() for _ in range(4)]  # waits until the matches are there
    process.send_signal(number)
    assert process.wait(timeout=60) == 130
    assert all(json.loads(line)["query"] == "q" for line in first)
    assert process.stdout.read() == b""
    assert b"Traceback" not in process.stderr.read()
    assert json.loads(Path("s.json").read_text())["matches"] == {"q": 4}
    for pipe in (process.stdin, process.stdout, process.stderr):
        pipe.close()


def test_a_run_that_does_not_come_to_read_is_interrupted_but_not_while_it_writes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(inputs, "PATIENCE", 0.01)
    stopper, fired = Stopper(), threading.Event()
    with stopper.listening(), pytest.raises(KeyboardInterrupt):
        with stopper.writing():
            signal.raise_signal(signal.SIGTERM)
            assert not fired.wait(0.05)
        fired.wait(60)
    assert stopper.asked


def test_an_alarm_does_not_go_off_once_the_run_has_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "PATIENCE", 0.01)
    stopper = Stopper()
    with stopper.listening():
        signal.raise_signal(signal.SIGINT)
        stopper.noticed()
        assert not threading.Event().wait(0.05)


def test_signal_ends_a_reader_of_another_format() -> None:
    command = [*COMMAND, "run", "q.rq", "--stream", "-", "--stream-format", "ttl"]
    with Path("out").open("wb") as out, Path("err").open("wb") as err:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=err)
    assert process.stdin is not None
    with process.stdin:
        os.write(process.stdin.fileno(), LINES.encode() * 2000)  # more than a pipe holds: returns when it is being read
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
    assert "Traceback" not in Path("err").read_text()


def test_reader_of_the_output_may_go_away() -> None:
    Path("d.nt").write_text(LINES * 20_000)
    process = subprocess.Popen(
        [*COMMAND, "run", "q.rq", "--stream", "d.nt", "--stats", "s.json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    said = process.stderr.read()
    assert process.wait(timeout=60) == 0
    assert b"Error" not in said and b"Broken" not in said
    assert "matches" in json.loads(Path("s.json").read_text())
    process.stderr.close()


def test_demo_shows_the_papers_match() -> None:
    command = "import sys; from retewave.cli.app import main; sys.argv[0] = 'retewave'; main()"
    Path("retewave").write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{command}" "$@"\n')
    Path("retewave").chmod(0o755)
    ended = subprocess.run(["sh", str(EXAMPLES / "demo.sh"), "./retewave"], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "ns#tweet456,http://facebook.example.org/ns#post123,http://xmlns.com/foaf/0.1/JohnDoe" in ended.stdout
    assert "Overheating,2.0,4.0," in ended.stdout
    assert "09:00:02Z,2024-05-01T09:00:07Z,http://example.org/bob,8" in ended.stdout


# ---- the parts ----
def test_streams_name_is_split_at_the_last_equals_sign_unless_the_path_exists() -> None:
    assert stream_name("http://e/?a=b=d.nt") == ("http://e/?a=b", "d.nt")
    Path("a=b.nt").write_text("")
    assert stream_name("a=b.nt") == (None, "a=b.nt")
    with pytest.raises(UsageError):
        stream_name("s=d.nt")


class Terminal:
    """A file that takes itself for a terminal."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass


def test_progress_is_shown_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    with progress(terminal, 100, lambda: "7 triples") as tick:  # type: ignore[arg-type]
        tick(50)
    assert "7 triples" in terminal.text
    assert "50%" in terminal.text
    with Path("pipe").open("w") as pipe, progress(pipe, 100, lambda: "7 triples") as tick:
        tick(50)
    assert Path("pipe").read_text() == ""


def test_first_compilation_is_told_once_and_only_then() -> None:
    from numba import njit

    terminal = Terminal()
    with Notes(terminal).compiling():  # type: ignore[arg-type]
        compiled = njit(lambda x: x + 1)
        assert terminal.text == ""
        compiled(1)
        compiled(1.5)
    assert terminal.text.count("compiling the kernels") == 1


def test_bench_generate_writes_the_data_of_the_benches(tmp_path: Path) -> None:
    out = tmp_path / "bsbm"
    done = subprocess.run(
        [sys.executable, "-m", "retewave", "bench", "generate", "--offers", "10", "--products", "50", "--out", out],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (out / "offers.nt").read_bytes().count(b"\n") == 110


def test_bench_takes_parts_of_two_words() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "retewave", "bench", "spark-scaling", "--help"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and "Simulate 1 to 1,000 shards" in done.stdout, done.stderr


# ---- policies ----
SERVED = "SELECT * WHERE { { ?x <http://e/orders> ?y } SEQ { ?z <http://e/serves> ?y } WITHIN 1h }"


def test_a_policy_is_one_for_all_queries_and_uses_up() -> None:
    took = "".join(f"<http://e/{who}> <http://e/{does}> <http://e/soup> .\n" for who, does in
                   (("ann", "orders"), ("bob", "orders"), ("cook", "serves"), ("cook", "serves")))  # fmt: skip
    Path("k.nt").write_text(took)
    given = ("run", SERVED, "--stream", "k.nt", "--rate", "1", "--policy")
    found = [json.loads(line) for line in invoke(*given, "chronological").stdout.splitlines()]
    assert [(each["start"], each["end"]) for each in found] == [(0, 2), (1, 3)]
    assert len(invoke(*given, "recent keep").stdout.splitlines()) == 2
    assert len(invoke(*given, "unrestricted").stdout.splitlines()) == 4
    refused = invoke(*given, "latest")
    assert refused.exit_code == 2 and "unknown policy 'latest'" in refused.stderr


def test_reports_of_views_are_said_beside_their_texts() -> None:
    Path("k.nt").write_text(
        "".join(f"<http://e/a> <http://e/p> '{number}' .\n".replace("'", '"') for number in range(6))
    )
    count = (
        "REGISTER RSTREAM <urn:o> AS SELECT (COUNT(*) AS ?n) FROM STREAM <http://e/s> [RANGE 2s STEP 1s] { ?x ?p ?y }"
    )
    given = ("run", count, "--stream", "http://e/s=k.nt", "--rate", "1", "--report")
    found = [json.loads(line) for line in invoke(*given, "PERIODIC 2s").stdout.splitlines()]
    assert [each["end"] for each in found] == [0, 2, 4]
    refused = invoke(*given, "sometimes")
    assert refused.exit_code == 2 and "unknown report 'sometimes'" in refused.stderr
    detects = invoke("run", SERVED, *given[2:], "PERIODIC 2s")
    assert detects.exit_code == 2 and "--report is for views" in detects.stderr


# ---- languages ----
PATTERN_FILE = "?x <http://e/p> <http://e/o> .\nTIMEWINDOW (1000)\n"


@pytest.mark.parametrize("command", [("check",), ("explain",), ("run", "--stream", "d.nt", "--rate", "2")])
def test_a_named_language_reads_what_neither_a_files_name_nor_its_words_tell(command: tuple[str, ...]) -> None:
    Path("pattern.txt").write_text(PATTERN_FILE.replace("TIMEWINDOW", "timewindow"))
    name, *options = command
    assert invoke(name, "pattern.txt", "--language", "sparkwave", *options).exit_code == 0
    refused = invoke(name, "pattern.txt", "--language", "sparql", *options)
    assert refused.exit_code == 2 and "cannot stand here" in refused.stderr


def test_an_unknown_language_is_refused_with_the_known_ones() -> None:
    ended = invoke("check", "q.rq", "--language", "cobol")
    assert ended.exit_code == 2 and f"known: {', '.join(each.name for each in LANGUAGES)}" in ended.stderr


def test_check_refuses_rules_that_wait_for_themselves(tmp_path: Path) -> None:
    first = tmp_path / "first.rq"
    first.write_text(
        "REGISTER STREAM <urn:o> AS CONSTRUCT { ?x <urn:q> 1 } WHERE { ?x <urn:p> ?y MINUS { ?x <urn:q> 1 } }"
    )
    said = CliRunner().invoke(app, ["check", str(first)])
    assert said.exit_code == 2
    assert "first -> first" in said.output
    plain = tmp_path / "plain.rq"
    plain.write_text("REGISTER STREAM <urn:o> AS CONSTRUCT { ?x <urn:q> 1 } WHERE { ?x <urn:p> ?y }")
    assert "CONSTRUCT ?x, a rule" in CliRunner().invoke(app, ["check", str(plain)]).output
