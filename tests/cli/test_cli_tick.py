"""`retewave run --tick`: deadlines are told while a pipe is silent."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from retewave.cli.app import app

QUERY = """PREFIX : <http://e/>
SELECT ?x { { ?x :request ?n } SEQ NOT { ?x :response ?n } WITHIN 50ms }"""
COMMAND = [sys.executable, "-c", "import sys; from retewave.cli.app import main; sys.argv[0] = 'retewave'; main()"]


def test_a_deadline_is_told_while_the_pipe_is_open_and_silent() -> None:
    process = subprocess.Popen(
        [*COMMAND, "run", QUERY, "--stream", "-", "--tick", "10ms", "--arrival"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    for subject in ("http://e/a", "http://e/b"):
        process.stdin.write(f'<{subject}> <http://e/request> "1" .\n'.encode())
        process.stdin.flush()
        told = json.loads(process.stdout.readline())  # waits until the deadline has gone by
        assert told["bindings"]["x"]["value"] == subject
    rest, said = process.communicate(timeout=60)
    assert (process.returncode, rest) == (0, b"")
    assert b"late" not in said


def test_a_signal_ends_a_run_that_ticks(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "run", QUERY, "--stream", "-", "--tick", "10ms", "--checkpoint", str(tmp_path / "kept")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(b'<http://e/a> <http://e/request> "1" .\n')
    process.stdin.flush()
    assert process.stdout.readline()
    process.terminate()
    assert process.wait(timeout=60) == 130
    _, said = process.communicate()
    assert b"Traceback" not in said
    assert (tmp_path / "kept").is_dir()


@pytest.mark.parametrize("other", [["--rate", "3"], ["--time-property", "http://e/at"]])
def test_a_tick_is_refused_beside_times_of_the_streams_own(other: list[str]) -> None:
    ended = CliRunner().invoke(app, ["run", QUERY, "--stream", "-", "--tick", "1s", *other])
    assert ended.exit_code == 2
    assert f"--tick tells the time of arrival, and {other[0]} gives the stream times of its own" in ended.output
    assert f"leave out {other[0]}" in ended.output


@pytest.mark.parametrize(("tick", "said"), [("0s", "longer than nothing"), ("5", "has no unit")])
def test_a_tick_is_a_duration(tick: str, said: str) -> None:
    ended = CliRunner().invoke(app, ["run", QUERY, "--stream", "-", "--tick", tick])
    assert ended.exit_code == 2
    assert said in ended.output
