"""The event workloads: the referee agrees with the generator's own table, and every peer with the referee."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

from retewave.bench.events import __main__ as command
from retewave.bench.events import measure, streams
from retewave.bench.events.engine import counted, poured, refused
from retewave.bench.events.expected import Expected, expected
from retewave.bench.events.measure import Contest, contests, play, wrong
from retewave.bench.events.run import PEERS, peer, why_missing
from retewave.bench.events.streams import KINDS, EventColumns, columns, generator, make
from retewave.bench.events.task import WITHIN, WORKLOADS, EventFound, EventTask
from retewave.bench.peers.events import etalis, jvm

BY_HAND = ("python", "numba")
ON_JVM = tuple(jvm.PEERS)
STARTED = [("esper", "W1"), ("esper pattern", "W4"), ("siddhi", "W3"), ("flink", "W1")]  # the bench checks all of them
SIZES = (1000, 10_000)

made_here = pytest.mark.skipif(bool(streams.absent()), reason=streams.absent())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("events")


def in_table() -> dict[str, Expected]:
    """Return the answers that stand beside the generator, by the file's name."""
    found = {}
    for line in (generator().parent / "README.md").read_text().splitlines():
        if row := re.fullmatch(r"\| (\S+) \| all \| (\d+) \| (\d+) \|(?: dues (\d+))? .*", line):
            name, matches, total, dues = row.groups()
            found[name] = Expected(int(matches), int(total), int(dues) if dues else None)
    return found


@made_here
@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("size", [*SIZES, 100_000])
def test_the_referee_finds_what_the_generators_table_says(workload: str, size: int, folder: Path) -> None:
    answer = expected(workload, columns(make(workload, size, folder).csv))
    assert replace(answer, as_set=None) == in_table()[f"{workload}-{size}"]


@made_here
@pytest.mark.parametrize("name", BY_HAND)
@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("size", SIZES)
def test_a_loop_by_hand_finds_exactly_what_is_there(name: str, workload: str, size: int, folder: Path) -> None:
    task = make(workload, size, folder)
    right = expected(workload, columns(task.csv))
    found = peer(name).run(task)
    assert (found.matches, found.sum, found.dues) == (right.matches, right.sum, right.dues)
    assert found.seconds > 0


# Rows at the very bounds, which the generated streams hardly have.

T, Q, R, A, B, C = (KINDS[kind] for kind in "TQRABC")
WITHIN_1, WITHIN_2, WITHIN_3, WITHIN_4 = (WITHIN[name] for name in ("W1", "W2", "W3", "W4"))
AT_THE_BOUNDS = {
    "a fall and a recovery that end at the bound": ("W1", [(0, 1, 101), (5, 1, 51), (WITHIN_1, 1, 201)], 1),
    "a microsecond later": ("W1", [(0, 1, 101), (5, 1, 51), (WITHIN_1 + 1, 1, 201)], 0),
    "another company's prices": ("W1", [(0, 1, 101), (5, 2, 51), (6, 1, 201), (7, 2, 201)], 0),
    "one high, two lows, two recoveries": (
        "W1",
        [(0, 1, 101), (1, 1, 51), (2, 1, 53), (3, 1, 201), (4, 1, 203)],
        4,
    ),
    "a first price that is gone, a second that is not": (
        "W1",
        [(0, 1, 101), (9, 1, 103), (10, 1, 51), (WITHIN_1 + 1, 1, 201)],
        1,
    ),
    "a rise at the bound": ("W2", [(0, 1, 50), (5, 1, 40), (WITHIN_2, 1, 51)], 1),
    "a rise a microsecond later": ("W2", [(0, 1, 50), (5, 1, 40), (WITHIN_2 + 1, 1, 51)], 0),
    "a price that stays where it was": ("W2", [(0, 1, 50), (1, 1, 40), (2, 1, 40), (3, 1, 51)], 0),
    "no higher than it was": ("W2", [(0, 1, 50), (1, 1, 40), (2, 1, 50)], 0),
    "a fall of two, and another company between": (
        "W2",
        [(0, 1, 50), (1, 1, 40), (2, 2, 99), (3, 1, 30), (4, 1, 51)],
        2,
    ),
    "a response at the bound": ("W3", [(0, 1, 0, Q), (WITHIN_3, 1, 0, R)], 0),
    "a response a microsecond later": ("W3", [(0, 1, 0, Q), (WITHIN_3 + 1, 1, 0, R)], 1),
    "a request at the end": ("W3", [(0, 1, 0, Q), (3, 2, 0, Q), (4, 1, 0, R)], 1),
    "C at the bound": ("W4", [(0, 1, 0, A), (WITHIN_4, 1, 1, C)], 1),
    "C a microsecond later": ("W4", [(0, 1, 0, A), (WITHIN_4 + 1, 1, 1, C)], 0),
    "two A's and two C's": ("W4", [(0, 1, 0, A), (1, 1, 1, A), (2, 1, 2, C), (3, 1, 3, C)], 4),
    "B between": ("W4", [(0, 1, 0, A), (1, 1, 1, B), (2, 1, 2, C), (3, 1, 3, A), (4, 1, 4, C)], 1),
    "another key's B": ("W4", [(0, 1, 0, A), (1, 2, 1, B), (2, 1, 2, C)], 1),
}


def written(workload: str, rows: list[tuple[int, ...]], path: Path) -> EventTask:
    letters = {number: kind for kind, number in KINDS.items()}
    lines = [f"{time},{key},{value},{letters[kind[0] if kind else T]}" for time, key, value, *kind in rows]
    path.write_text("\n".join(["time_us,key,value,kind", *lines, ""]))
    return EventTask(workload, path, len(rows), 1)


@pytest.mark.parametrize("name", BY_HAND)
@pytest.mark.parametrize("case", AT_THE_BOUNDS)
def test_bounds_are_inclusive(name: str, case: Any, tmp_path: Path) -> None:
    bounds: Any = AT_THE_BOUNDS[case]
    workload, rows, matches = bounds
    task = written(workload, rows, tmp_path / "bounds.csv")
    right, found = expected(workload, columns(task.csv)), peer(name).run(task)
    assert right.matches == matches
    assert (found.matches, found.sum, found.dues) == (right.matches, right.sum, right.dues)


def test_matches_that_show_the_same_at_the_same_times_are_one_in_a_set() -> None:
    rows = np.array([(0, 1, 101, T), (1, 1, 51, T), (2, 1, 51, T), (3, 1, 201, T)]).T
    answer = expected("W1", EventColumns(*rows))
    assert (answer.matches, answer.as_set) == (2, 1)


# Engines on the JVM


@pytest.mark.parametrize("name", ON_JVM)
def test_a_peer_on_the_jvm_is_skipped_without_java(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda tool: None)
    assert all("there is no java" in why_missing(peer(name), workload) for workload in peer(name).workloads)


def test_a_peer_on_the_jvm_is_skipped_without_jars_and_maven(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shutil, "which", lambda tool: None if tool == "mvn" else f"/bin/{tool}")
    assert why_missing(peer("esper"), "W1") == "there is no mvn: Maven fetches esper's jars"


def test_what_maven_says_is_the_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shutil, "which", lambda tool: f"/bin/{tool}")
    told = subprocess.CompletedProcess([], 1, stdout="\n[ERROR] Unknown host\nmore", stderr="")
    monkeypatch.setattr(subprocess, "run", lambda *words, **options: told)
    assert why_missing(peer("siddhi"), "W3") == "mvn failed: [ERROR] Unknown host"
    assert not jvm.built("siddhi")


@made_here
@pytest.mark.parametrize(("name", "workload"), STARTED)
def test_an_engine_on_the_jvm_finds_exactly_what_is_there(
    name: str, workload: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = name.split()[0]
    if not shutil.which("java") or not jvm.built(engine):
        pytest.skip(f"{engine} is not built: `python -m retewave.bench events --peers {engine}` builds it")
    monkeypatch.setattr(jvm, "WARM_UP", 0)
    task = make(workload, 1000, folder)
    right, found = expected(workload, columns(task.csv)), peer(name).run(task)
    assert (found.matches, found.sum, found.dues) == (right.matches, right.sum, right.dues)


# ETALIS


def test_etalis_is_skipped_where_no_folder_is_named_and_without_prolog(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(etalis.VARIABLE, raising=False)
    assert why_missing(peer("etalis"), "W1") == "there is no etalis.P: RETEWAVE_ETALIS names its folder"
    assert why_missing(peer("etalis"), "W3") == "has no formulation of W3"
    (tmp_path / "etalis.P").touch()
    monkeypatch.setenv(etalis.VARIABLE, str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda tool: None)
    assert why_missing(peer("etalis"), "W4") == "there is no swipl: SWI-Prolog is needed"


STAND_IN = """
:- op(1060, yfx, where), op(1031, yfx, cnot), op(1025, yfx, seq), op(1200, xfx, <-).
set_etalis_flag(event_consumption_policy, unrestricted).
compile_event_file(File) :- read_file_to_terms(File, [_ <- _, _ <- _], []).
event(c(Key, Value, Time, Row, Before), [At, At]) :- !,
    Key == 7, Value == 1, Time == 20, Row == 1, Before == 0, tally(0, Row).
event(a(_, _, _, _, -1), [_, _]).
"""


@pytest.mark.skipif(not shutil.which("swipl"), reason="there is no swipl")
def test_the_prolog_program_sends_events_and_tells_what_was_tallied(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "etalis.P").write_text(STAND_IN)
    monkeypatch.setenv(etalis.VARIABLE, str(tmp_path))
    found = peer("etalis").run(written("W4", [(0, 7, 0, A), (20, 7, 1, C), (30, 8, 2, C)], tmp_path / "w4.csv"))
    assert (found.matches, found.sum) == (1, 3)


@made_here
@pytest.mark.skipif(bool(etalis.missing()), reason=etalis.missing() or "it is there")
@pytest.mark.parametrize("workload", ["W1", "W2", "W4"])
def test_etalis_finds_exactly_what_is_there(workload: str, folder: Path) -> None:
    task = make(workload, 1000, folder)
    right, found = expected(workload, columns(task.csv)), peer("etalis").run(task)
    assert (found.matches, found.sum) == (right.matches, right.sum)


# retewave itself


@pytest.mark.parametrize("workload", WORKLOADS)
def test_retewave_is_skipped_with_the_compilers_words_or_not_at_all(workload: str) -> None:
    why = refused(workload)
    assert not why or why.startswith(f"retewave does not support this query yet: {workload.lower()}.rq:")
    assert [why_missing(peer(name), workload) for name in ("retewave", "retewave network")] == [why, why]


@made_here
def test_retewave_counts_what_a_plain_query_finds_in_the_streams(folder: Path) -> None:
    asked = {"W1": "hasStockPrice", "W3": "response", "W4": "C"}
    for workload, predicate in asked.items():
        task = make(workload, 1000, folder, rdf=True)
        kind = columns(task.csv).kind
        wanted = {"W1": len(kind), "W3": (kind == R).sum(), "W4": (kind == C).sum()}[workload]
        query = f"SELECT * WHERE {{ ?x <http://example.org/cep#{predicate}> ?y }}"
        assert counted(task, query).matches == poured(task, query).matches == wanted


# The harness


def test_a_wrong_answer_is_told() -> None:
    right = Expected(2, 10, 7, as_set=1)
    assert not wrong(EventFound(2, 1.0, 0.9, 10, 7), right, 2) and not wrong(EventFound(1, 1.0, 0.9), right, 1)
    assert wrong(EventFound(3, 1.0, 0.9, 10, 7), right, 2) == "WRONG: matches 3 instead of 2"
    assert wrong(EventFound(2, 1.0, 0.9, 11, 7), right, 2) == "WRONG: sum 11 instead of 10"
    assert wrong(EventFound(2, 1.0, 0.9, 10, 8), right, 2) == "WRONG: dues 8 instead of 7"


def test_runs_are_interleaved_and_one_that_is_wrong_leaves_no_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = []

    def answered(module: Any, name: str, task: Any) -> Any:
        ran.append(name)
        return {"matches": 2 if name == "python" else 3, "seconds": 0.5, "busy": 0.25}, ""

    monkeypatch.setattr(measure, "answer", answered)
    task, right = EventTask("W1", tmp_path, 1000, 1), Expected(2, 10)
    names = ("python", "numba", "esper")
    found = [Contest("W1", 1000, name, task, right, failure="skipped: why" * (name == "esper")) for name in names]
    play(found, 2, lambda text: None)
    assert ran == ["python", "numba", "python"]
    assert [each.rates() for each in found] == [[2000.0, 2000.0], [], []]
    assert [each.rates_busy() for each in found] == [[4000.0, 4000.0], [], []]
    assert [each.failure for each in found] == ["", "WRONG: matches 3 instead of 2", "skipped: why"]


@made_here
def test_the_command_prints_a_table_and_writes_json(tmp_path: Path) -> None:
    words = ["--sizes", "1000", "--workloads", "W4", "--peers", "python,retewave", "--repetitions", "2"]
    places = ["--data", str(tmp_path), "--out", str(tmp_path / "events.json")]
    done = subprocess.run(
        [sys.executable, "-m", "retewave.bench", "events", *words, *places], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "Python dicts, by hand" in done.stdout and "245" in done.stdout
    told = json.loads((tmp_path / "events.json").read_text())
    assert told["machine"]["cores"] >= 1
    first = told["rows"][0]
    assert (first["workload"], first["events"], first["matches"], first["runs"]) == ("W4", 1000, 245, 2)


def test_without_the_generator_nothing_is_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(streams.VARIABLE, str(tmp_path))
    command.main(data=tmp_path, out=tmp_path / "events.json")
    assert "skipped: no generator at" in capsys.readouterr().err
    assert not (tmp_path / "events.json").exists()


@pytest.mark.parametrize("words", [{"sizes": "many"}, {"sizes": "10"}, {"peers": "nobody"}, {"workloads": "W9"}])
def test_an_unknown_word_is_refused(words: Any) -> None:
    with pytest.raises(typer.BadParameter):
        command.main(**words)


@made_here
def test_a_workload_without_a_formulation_is_skipped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "peer", lambda name: replace(peer(name), workloads=("W1",)))
    (found,) = contests(["W4"], [1000], ["python"], folder)
    assert found.failure == "skipped: has no formulation of W4"


def test_every_peer_says_what_it_cannot_do() -> None:
    assert all(peer(name).cannot or name.startswith("retewave") for name in PEERS)
