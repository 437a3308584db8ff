"""What a command writes: never over what it reads, and with words when it cannot."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from retewave.cli.app import app
from retewave.cli.output import check_folders
from retewave.errors import UsageError

COMMAND = [sys.executable, "-m", "retewave"]
QUERY = "CONSTRUCT { ?y <http://e/q> ?x } WHERE { ?x <http://e/p> ?y }"
LINES = "<http://e/s> <http://e/p> <http://e/o> .\n"
SCHEMA = "<http://e/p> <http://www.w3.org/2000/01/rdf-schema#subPropertyOf> <http://e/r> .\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "q.rq": QUERY,
        "f.nt": LINES,
        "static.nt": LINES,
        "schema.nt": SCHEMA,
        "named.nt": LINES,
    }.items():
        Path(name).write_text(text)
    Path("from.rq").write_text(QUERY.replace("WHERE", "FROM <named.nt> WHERE"))
    Path("link.nt").symlink_to("f.nt")
    Path("hard.nt").hardlink_to("f.nt")
    Path("sub").mkdir()
    return tmp_path


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


def shell(command: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", command.replace("retewave", " ".join(COMMAND))], capture_output=True, text=True, **options
    )


RUN = ("run", "q.rq", "--stream", "f.nt", "--rate", "1")


@pytest.mark.parametrize(
    "arguments",
    [
        (*RUN, "--out", "f.nt"),
        (*RUN, "--out", "./sub/../f.nt"),
        (*RUN, "--out", "link.nt"),
        (*RUN, "--out", "hard.nt"),
        (*RUN, "--out", "q.rq"),
        (*RUN, "--static", "static.nt", "--out", "static.nt"),
        (*RUN, "--schema", "schema.nt", "--out", "schema.nt"),
        (*RUN, "--dataset", "http://e/d=named.nt", "--out", "named.nt"),
        ("run", "from.rq", "--stream", "f.nt", "--out", "named.nt"),
        (*RUN, "--stats", "f.nt"),
        ("explain", "q.rq", "--out", "q.rq"),
        ("explain", "q.rq", "--schema", "schema.nt", "--out", "schema.nt"),
    ],
)
def test_an_output_that_is_an_input_is_refused_and_left_as_it_is(arguments: tuple[str, ...]) -> None:
    before = {path.name: path.read_text() for path in Path().iterdir() if path.is_file()}
    ended = invoke(*arguments)
    assert ended.exit_code == 2
    assert "is also read" in ended.stderr
    assert {path.name: path.read_text() for path in Path().iterdir() if path.is_file()} == before


@pytest.mark.parametrize("stats", ["new.nt", "./sub/../new.nt", "dangling"])
def test_two_outputs_that_are_one_file_are_refused(stats: str) -> None:
    Path("dangling").symlink_to("new.nt")
    ended = invoke(*RUN, "--out", "new.nt", "--stats", stats)
    assert ended.exit_code == 2
    assert "are one file" in ended.stderr


@pytest.mark.parametrize(
    "command", ["retewave run q.rq --stream f.nt >> f.nt", "retewave run q.rq --stream - <f.nt >>f.nt"]
)
def test_standard_output_that_is_an_input_is_refused(command: str) -> None:
    ended = shell(command)
    assert ended.returncode == 2
    assert "standard output is also read" in ended.stderr
    assert Path("f.nt").read_text() == LINES


def test_dev_null_may_be_named_twice() -> None:
    assert invoke(*RUN, "--static", "/dev/null", "--out", "/dev/null", "--stats", "/dev/null").exit_code in (0, 2)
    assert invoke(*RUN, "--out", "/dev/null", "--stats", "/dev/null").exit_code == 0


def test_stats_that_cannot_be_written_are_noticed_before_the_run() -> None:
    ended = invoke(*RUN, "--out", "m.nt", "--stats", "no/such/folder.json")
    assert ended.exit_code == 2
    assert "cannot write no/such/folder.json" in ended.stderr
    assert not Path("m.nt").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("option", ["--out", "--stats"])
@pytest.mark.parametrize("format", ["ndjson", "arrow"])
def test_a_full_disk_is_told_with_the_files_name(option: str, format: str) -> None:
    ended = invoke(*RUN, "--format", format, *(["--out", "m"] if option == "--stats" else []), option, "/dev/full")
    assert ended.exit_code == 1
    assert "cannot write /dev/full: No space left on device" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("retewave run q.rq --stream f.nt >&-", 2, "standard output is closed"),
        ("retewave run q.rq --stream - <&-", 2, "standard input is closed"),
        ("retewave run q.rq --stream f.nt --out m.nt >&-", 0, ""),
        ("retewave explain q.rq >&-", 2, "standard output is closed"),
    ],
)
def test_a_closed_descriptor_is_an_error_in_words(command: str, code: int, said: str) -> None:
    ended = shell(command)
    assert (ended.returncode, "Traceback" in ended.stderr) == (code, False), ended.stderr
    assert said in ended.stderr


def test_what_is_told_does_not_get_among_the_matches_where_standard_error_is_closed() -> None:
    Path("f.nt").write_text(LINES + "malformed\n")
    ended = shell("retewave run q.rq --stream f.nt 2>&-")
    assert ended.stdout == "<http://e/o> <http://e/q> <http://e/s> .\n"


@pytest.mark.parametrize(
    ("out", "checkpoint"),
    [("sub", "c"), ("sub/out", "c"), ("linked/out", "c"), ("out", "sub/c"), ("out", "sub"), ("out", "sub/../out")],
)
def test_folders_that_are_read_are_not_written(out: str, checkpoint: str) -> None:
    Path("linked").symlink_to("sub")
    check_folders(["sub", "f.nt"], {"--out": "out", "--checkpoint": "c"})
    check_folders(["s3://bucket/in"], {"--out": "s3://bucket/out", "--checkpoint": "c"})
    with pytest.raises(UsageError, match=r"is in the input sub|are one folder"):
        check_folders(["sub", "f.nt"], {"--out": out, "--checkpoint": checkpoint})
