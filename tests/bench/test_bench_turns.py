"""Two versions by turns, and instructions counted: each version runs its own packages, and pairs are of one round."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import typer

from retewave.bench import instructions as counting
from retewave.bench.harness import Measured, Point, measure_all
from retewave.bench.peers.limit import compiler_missing
from retewave.bench.question import Question
from retewave.bench.task import Result
from retewave.bench.turns import ROOT, both, pairs, unpack
from retewave.bench.workload import Workload, prepare

SMALL = Workload(Question(1, 2, window=50_000, rate=100_000), offers=600)
OURS = Point("window", "retewave", 5, "retewave", SMALL)
LIMIT = Point("window", "C, by hand", 5, "c", SMALL)


def git(*words: str) -> bytes:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True)
    if done.returncode:
        pytest.skip(f"these files are no clone: {done.stderr.decode().strip()}")
    return done.stdout


def test_a_commit_is_unpacked_as_an_installation_would_have_it(tmp_path: Path) -> None:
    layout, front = git("show", "HEAD:rete/words/layout.py"), git("show", "HEAD:retewave/__init__.py")
    place = unpack("HEAD", tmp_path)
    assert (place / "retewave/rete/words/layout.py").read_bytes() == layout
    assert (place / "retewave/__init__.py").read_bytes() == front
    assert unpack("HEAD", tmp_path) == place
    assert [path.name for path in tmp_path.iterdir()] == [place.name]


def test_what_git_does_not_know_is_told(tmp_path: Path) -> None:
    git("show", "HEAD")
    with pytest.raises(typer.BadParameter, match="git knows no commit no-such-name"):
        unpack("no-such-name", tmp_path)


def test_another_version_runs_its_own_packages(tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "retewave/bench").mkdir(parents=True)
    told = json.dumps({"matches": prepare(SMALL, tmp_path)[1], "seconds": 0.5, "stages": {"other": 1.0}})
    for name, text in {"__init__": "", "bench/__init__": "", "bench/run": f"print({told!r})"}.items():
        (other / "retewave" / f"{name}.py").write_text(text)
    (done,) = measure_all([both([OURS], other)[0]], 2, tmp_path, lambda _: None)
    assert not done.failure
    assert [result.stages for result in done.results] == [{"other": 1.0}] * 2


def test_each_of_our_points_is_measured_twice_and_the_others_once(tmp_path: Path) -> None:
    found = both([LIMIT, OURS], tmp_path)
    assert [(point.measured, point.version) for point in found] == [
        ("c", None),
        ("retewave", tmp_path),
        ("retewave", None),
    ]


def test_pairs_are_of_one_round_and_targets_are_compared_with_them(tmp_path: Path) -> None:
    def measured(point: Point, *seconds: float) -> Measured:
        return Measured(point, 12, 1, tuple(Result(1, each) for each in seconds))

    limit, before, after = both([LIMIT, OURS], tmp_path)
    found = {
        pair.what: pair for pair in pairs([measured(limit, 1, 2), measured(before, 2, 4, 6), measured(after, 1, 1)])
    }
    figure = found.pop("window: retewave, 5")
    assert (figure.before, figure.after) == ((6.0, 3.0, 2.0), (12.0, 12.0))
    assert figure.ratios() == [200.0, 400.0]
    part = found["bytes to matches, of the C program's"]
    assert (part.before, part.after) == ((50.0, 50.0), (100.0, 200.0))
    assert found.keys() == {"bytes to matches, window 5 s", "bytes to matches, of the C program's"}


def test_the_poured_stream_has_the_expected_matches_between_the_marks(tmp_path: Path) -> None:
    if compiler_missing() or not Path("/usr/include/valgrind/callgrind.h").exists():
        pytest.skip(compiler_missing() or "valgrind's headers are not installed")
    task, expected = prepare(SMALL, tmp_path)
    assert counting.pour(task) == expected


def test_instructions_are_those_of_a_triple_and_only_of_right_matches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, expected = prepare(SMALL, tmp_path)
    done = subprocess.CompletedProcess([], 0, f"{expected}\n", f"==7== Collected : {task.triples * 400}\n")
    monkeypatch.setattr(counting, "_pouring", lambda *_: done)
    assert counting.instructions(task, expected) == 400
    with pytest.raises(ValueError, match="matches instead of"):
        counting.instructions(task, expected + 1)
