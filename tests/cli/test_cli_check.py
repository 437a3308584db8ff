"""What is wrong is said in a few lines; `check` says it of every query, in every language."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.command_line import invoke
from typer.testing import CliRunner

from retewave.cli.app import app
from retewave.compiler.languages.known import LANGUAGES

pytestmark = pytest.mark.usefixtures("folder")


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
