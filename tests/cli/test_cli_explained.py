"""`retewave run --explain`: with each match, why it is one."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from retewave.cli.app import WRONG, app

QUERY = "PREFIX e: <http://e/> SELECT ?x { { ?x e:asks ?n } SEQ { ?x e:gets ?n } WITHIN 5s }"


@pytest.fixture
def stream(tmp_path: Path) -> str:
    path = tmp_path / "stream.nq"
    path.write_text(
        "<http://e/ann> <http://e/asks> <http://e/tea> .\n"
        "<http://e/ann> <http://e/gets> <http://e/tea> <http://e/g> .\n"
    )
    return str(path)


def ran(stream: str, *options: str) -> Result:
    return CliRunner().invoke(app, ["run", QUERY, "--stream", stream, "--rate", "1", *options])


def test_matches_are_lines_for_a_person_with_their_reasons_beneath(stream: str) -> None:
    result = ran(stream, "--explain")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "query1: ?x = e:ann  [0.0, 1.0]",
        "  (1) ?x e:asks ?n  ←  e:ann e:asks e:tea  [0.0]  event #1",
        "  (2) ?x e:gets ?n  ←  e:ann e:gets e:tea  [1.0]  event #1.1",
        "  SEQ     (1) before (2): 0.0 < 1.0",
        "  WITHIN  (1–2) 1.0 − 0.0 = 1s ≤ 5s",
        "",
    ]


def test_in_ndjson_the_reasons_are_a_field_of_the_match(stream: str) -> None:
    found = json.loads(ran(stream, "--explain", "--format", "ndjson").stdout)
    plain = json.loads(ran(stream).stdout)
    explanation = found.pop("explanation")
    assert found == plain
    assert [each["event"] for each in explanation["arrivals"]] == ["#1", "#1.1"]


@pytest.mark.parametrize("options", [("--explain", "--format", "csv"), ("--format", "text")])
def test_a_format_without_a_place_for_reasons_is_refused_and_so_is_text_without_them(
    stream: str, options: tuple[str, ...]
) -> None:
    result = ran(stream, *options)
    assert result.exit_code == WRONG
    assert "expla" in result.stderr


VIEW = "PREFIX e: <http://e/> {} FROM STREAM <http://e/s> [RANGE 2s STEP 1s] {{ ?x e:asks ?n }}"


def view(stream: str, text: str, *options: str) -> list[str]:
    arguments = ["run", VIEW.format(text), "--stream", f"http://e/s={stream}", "--rate", "1", "--explain", *options]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()


def test_rows_of_a_view_have_the_triples_and_the_windows_that_made_them(stream: str) -> None:
    lines = view(stream, "SELECT (COUNT(*) AS ?many)")
    assert lines[:5] == [
        "query1: ?many = 1  [-2.0, 0.0]",
        "  (1) ?x e:asks ?n  ←  e:ann e:asks e:tea  [0.0]  stream <http://e/s>  event #1",
        "  GROUP BY  COUNT(*) = 1, of 1 solution: (1)",
        "  WINDOW    [RANGE 2s STEP 1s] on e:s: behind -2.0, up to 0.0: (1)",
        "  REPORT    WINDOW CLOSE at 0.0",
    ]


def test_an_answer_of_ask_has_its_reasons_if_it_is_true(stream: str) -> None:
    asked = [json.loads(line) for line in view(stream, "ASK", "--format", "ndjson")]
    assert [(each["boolean"], "explanation" in each) for each in asked] == [(True, True), (True, True)]
    denied = [json.loads(line) for line in view(stream, "ASK", "--format", "ndjson") if "false" in line]
    assert denied == []
