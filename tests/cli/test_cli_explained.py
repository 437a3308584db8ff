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
