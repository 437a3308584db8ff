"""`retewave why-not`: the answer on the command line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from retewave.cli import WRONG, app

QUERY = "PREFIX e: <http://e/> SELECT * { ?x e:likes ?y . ?y e:costs 5 }"


@pytest.fixture
def stream(tmp_path: Path) -> str:
    path = tmp_path / "stream.nt"
    path.write_text("<http://e/ann> <http://e/likes> <http://e/tea> .\n")
    return str(path)


def asked(stream: str, *options: str) -> object:
    return CliRunner().invoke(app, ["why-not", QUERY, "--stream", stream, "--rate", "1", *options])


@pytest.mark.parametrize("term", ["<http://e/ann>", "http://e/ann", "e:ann"])
def test_binding_is_a_term_an_iri_or_a_prefixed_name(stream: str, term: str) -> None:
    result = asked(stream, "--binding", f"x={term}")
    assert result.exit_code == 0
    assert "✓ ?x e:likes ?y  ←  e:ann e:likes e:tea  [0.0]" in result.stdout
    assert "✗ e:tea e:costs 5  (no triple)" in result.stdout


def test_answer_is_json_when_asked_for(stream: str) -> None:
    found = json.loads(asked(stream, "--binding", "x=e:ann", "--format", "json").stdout)
    assert found["alternatives"][0]["partials"][0]["found"][0]["triple"] == "e:ann e:likes e:tea"


@pytest.mark.parametrize("binding", ["x", "nothing=e:ann", "x=ann"])
def test_binding_that_cannot_be_understood_is_refused(stream: str, binding: str) -> None:
    result = asked(stream, "--binding", binding)
    assert result.exit_code == WRONG
    assert result.stderr.startswith("retewave: ")
