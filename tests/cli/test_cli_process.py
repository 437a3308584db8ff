"""The command line as a process: what it loads, what signals and closed pipes do to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.command_line import COMMAND, EXAMPLES, LINES, invoke

pytestmark = pytest.mark.usefixtures("folder")


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
