"""A run with a checkpoint: whatever is killed, and whenever, the output is that of a run that nobody disturbed."""

from __future__ import annotations

import json
import random
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pytest
from cases.many import many
from helpers.command_line import LINES, QUERY
from helpers.run_faults import PATIENCE, Run, orders
from typer.testing import CliRunner, Result

from retewave.cli.app import app

pytestmark = pytest.mark.usefixtures("folder")

_E = "PREFIX e: <http://e/>\n"
_WINDOW = "FROM STREAM <http://e/s> [RANGE 2s] WHERE { ?o e:placed ?c . ?o e:paid ?k }"
_PAID = f"{_E}REGISTER QUERY paid AS SELECT ?o ?c ?k {_WINDOW}"
_BUYERS = f"{_E}REGISTER QUERY buyers AS SELECT DISTINCT ?c {_WINDOW}"
_USES = f"{_E}REGISTER QUERY uses AS CONSTRUCT {{ ?c e:uses [ e:card ?k ] }} {_WINDOW}"
_BY_TIME = ("--time-property", "http://e/at", "--lateness", "2s")


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["run", *arguments], catch_exceptions=False)


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("streams")
    orders(folder, 60_000, seed=6)
    return folder


# ---- what an output holds, where two runs may write it differently ----
def _whole(path: Path) -> object:
    return path.read_bytes()


def _lines_of_two_streams(path: Path) -> object:
    """Items of one time may come from either stream first."""
    lines = path.read_bytes().splitlines()
    return lines[0], sorted(lines[1:])


def _blank_nodes_renamed(path: Path) -> object:
    """Labels are numbered as they come."""
    known: dict[str, str] = {}
    return re.sub(r"_:\S+", lambda found: known.setdefault(found[0], f"_:{len(known)}"), path.read_text())


def _table(path: Path) -> object:
    return pa.ipc.open_stream(path.read_bytes()).read_all().to_pylist()


@pytest.mark.parametrize(
    ("queries", "inputs", "format", "seen"),
    [
        ((_PAID, _BUYERS), ("http://e/s=all.nt", "--rate", "1000"), "ndjson", _whole),
        ((_USES,), ("http://e/s=all.nt", "--rate", "1000"), "nt", _blank_nodes_renamed),
        ((_PAID,), ("placed.nt", "--stream", "paid.nt.gz", "--rate", "500"), "csv", _lines_of_two_streams),
        ((_BUYERS, _PAID), ("http://e/s=late.nq", *_BY_TIME), "arrow", _table),
    ],
    ids=["ndjson", "nt", "csv of two streams, one packed", "arrow of late items"],
)
def test_run_that_is_killed_and_started_again_writes_each_match_once(
    streams: Path,
    folder: Path,
    queries: tuple[str, ...],
    inputs: tuple[str, ...],
    format: str,
    seen: Callable[[Path], object],
) -> None:
    chance = random.Random()
    for name in ("all.nt", "placed.nt", "paid.nt.gz", "late.nq", "schema.ttl"):
        (folder / name).symlink_to(streams / name)
    told = [*queries, "--schema", "schema.ttl", "--stream", *inputs, "--format", format]
    assert invoke(*told, "--out", "wanted", "--stats", "wanted.json").exit_code == 0
    kept = ("--out", "found", "--checkpoint", "kept", "--checkpoint-every", "0s")
    run, struck = Run(folder, *told, *kept), 0
    for _ in range(many(2)):
        struck += run.killed_when(folder / "kept" / "state", chance.randrange(3), chance)  # some write only three
    run.finish("--stats", "found.json")
    assert struck, run.told()
    assert seen(Path("found")) == seen(Path("wanted"))
    found, wanted = (json.loads(Path(name).read_text()) for name in ("found.json", "wanted.json"))
    for key in ("triples", "malformed", "untimed", "late", "future", "matches"):
        assert found[key] == wanted[key]
    assert not list(Path("kept").glob("*.part"))


def test_a_run_that_has_ended_writes_nothing_again_and_cuts_what_came_behind() -> None:
    kept = ("q.rq", "--stream", "d.nt", "--rate", "1", "--out", "m.csv", "--format", "csv", "--checkpoint", "kept")
    assert invoke(*kept).exit_code == 0
    wanted = Path("m.csv").read_bytes()
    Path("m.csv").write_bytes(wanted + b"half a li")
    ended = invoke(*kept, "--stats", "s.json")
    assert ended.exit_code == 0 and "has ended; remove the folder" in ended.stderr
    assert Path("m.csv").read_bytes() == wanted
    assert json.loads(Path("s.json").read_text())["matches"] == {"q": 4}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("--rate", "2"), "--rate is 2.0, and was 1.0"),
        (("--lateness", "5s"), "--lateness is 5s, and was 0s"),
        (("--schema", "new.ttl"), "--schema new.ttl is new"),
        (("--stream", "e.nt"), "--stream is d.nt e.nt, and was d.nt"),
        (("--format", "csv"), "--format is csv, and was not given"),
        (("query", "SELECT ?z { ?z a ?y }"), "query q.rq has other contents"),
        (("stream", LINES.replace("http://e/s0", "http://f/s0")), "d.nt begins with other bytes"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused_with_what_differs(change: tuple[str, str], told: str) -> None:
    Path("new.ttl").write_text("")
    Path("e.nt").write_text(LINES)
    kept = ["q.rq", "--stream", "d.nt", "--rate", "1", "--out", "m", "--checkpoint", "kept"]
    assert invoke(*kept).exit_code == 0
    option, value = change
    if option in ("query", "stream"):
        Path("q.rq" if option == "query" else "d.nt").write_text(value)
    elif option == "--rate":
        kept[4] = value
    else:
        kept += change
    before = Path("m").read_bytes()
    ended = invoke(*kept)
    assert ended.exit_code == 2 and told in ended.stderr and "remove this one" in ended.stderr
    assert Path("m").read_bytes() == before


def test_what_cannot_be_gone_on_with_is_refused(folder: Path) -> None:
    Path("d.ttl").write_text("@prefix : <http://e/> . :a :p :b .")
    kept = ("--out", "m", "--checkpoint", "kept")
    assert "reads nt and nq, not ttl" in invoke("q.rq", "--stream", "d.ttl", *kept).stderr
    Path("file").write_text("")
    assert "cannot write to the folder file" in invoke("q.rq", "--stream", "d.nt", "--checkpoint", "file").stderr
    assert "--checkpoint-every" in invoke("q.rq", "--stream", "d.nt", *kept, "--checkpoint-every", "soon").stderr
    half = Path("kept/stateabc.part")
    half.write_bytes(b"half")
    assert invoke("q.rq", "--stream", "d.nt", *kept).exit_code == 0
    assert not half.exists()
    Path("m").write_bytes(b"")
    shorter = invoke("q.rq", "--stream", "d.nt", *kept)
    assert shorter.exit_code == 2 and "m has 0 bytes, the checkpoint counts on" in shorter.stderr


def test_two_runs_do_not_share_a_checkpoint(folder: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    Path("kept").mkdir()
    with Path("kept/lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ended = invoke("q.rq", "--stream", "d.nt", "--checkpoint", "kept")
    assert ended.exit_code == 2 and "another run is at work in kept" in ended.stderr


JOIN = "SELECT ?x FROM STREAM <http://e/s> [RANGE 1h] WHERE { ?x <http://e/p> ?y . ?x <http://e/q> ?y }"


def test_standard_input_goes_on_with_what_windows_held_when_a_run_is_ended_by_a_signal() -> None:
    command = [sys.executable, "-m", "retewave", "run", JOIN, "--stream", "-", "--rate", "1", "--checkpoint", "kept"]

    def started(*more: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen([*command, *more], stdin=pipe, stdout=pipe, stderr=pipe, text=True, bufsize=1)

    with started("--checkpoint-every", "0s") as first:
        assert first.stdin and first.stdout
        first.stdin.write("<http://e/a> <http://e/p> 1 .\n<http://e/a> <http://e/p> <http://e/o> .\n")
        first.stdin.write("<http://e/b> <http://e/p> <http://e/o> .\n<http://e/b> <http://e/q> <http://e/o> .\n")
        assert json.loads(first.stdout.readline())["bindings"]["x"]["value"] == "http://e/b"
        first.send_signal(signal.SIGTERM)
        _, said = first.communicate(timeout=PATIENCE)
    assert first.returncode == 130 and "cannot be read again" in said
    with started() as second:
        found, said = second.communicate("<http://e/a> <http://e/q> <http://e/o> .\n", timeout=PATIENCE)
    [match] = map(json.loads, found.splitlines())
    assert (match["bindings"]["x"]["value"], match["end"]) == ("http://e/a", 3.0)
    assert "matches that were written since come again" in said


# ---- what is told on the way ----
def test_counts_are_told_while_a_pipe_is_silent() -> None:
    command = [sys.executable, "-m", "retewave", "run", QUERY, "--stream", "-", "--rate", "1", "--every", "20ms"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, bufsize=1) as run:
        assert run.stdin and run.stdout and run.stderr
        run.stdin.write(LINES)
        run.stdout.readline()
        counts = (json.loads(line) for line in islice(run.stderr, 3000) if line.startswith("{"))
        assert any(each["matches"] == {"query1": 4} for each in counts)
        again = json.loads(run.stderr.readline())
        assert again["triples"] == 4 and {"seconds", "live_rows", "late"} <= again.keys()
        run.communicate()


def test_the_file_of_stats_is_whole_whenever_it_is_read() -> None:
    ended = invoke("q.rq", "--stream", "d.nt", "--rate", "1", "--every", "1h", "--stats", "s.json")
    assert ended.exit_code == 0 and not ended.stderr.count("{")
    assert json.loads(Path("s.json").read_text())["triples"] == 4
    assert [path.name for path in Path().glob("*.part")] == []
    assert "--every" in invoke("q.rq", "--stream", "d.nt", "--every", "often").stderr


def test_log_level_brings_the_packages_log_to_stderr() -> None:
    said = invoke("q.rq", "--stream", "d.nt", "--checkpoint", "kept", "--log-level", "debug").stderr
    assert "retewave: debug: the network is made: queries: 1" in said
    assert "retewave: info: snapshot written: kept/state" in said
    assert "network" not in invoke("q.rq", "--stream", "d.nt").stderr
