"""`retewave why-not`: the answer on the command line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from retewave.cli.app import WRONG, app

QUERY = "PREFIX e: <http://e/> SELECT * { ?x e:likes ?y . ?y e:costs 5 }"


@pytest.fixture
def stream(tmp_path: Path) -> str:
    path = tmp_path / "stream.nt"
    path.write_text("<http://e/ann> <http://e/likes> <http://e/tea> .\n")
    return str(path)


def asked(stream: str, *options: str) -> Result:
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


LATE = """PREFIX e: <http://e/> SELECT ?x FROM STREAM <http://e/s> [RANGE 2s] FROM STREAM <http://e/t> [RANGE 5s]
{ ?x e:likes ?y . ?y e:costs ?n FILTER(?n < 5) }"""


def answered(tmp_path: Path, query: str, lines: str, *options: str) -> dict:
    path = tmp_path / "lines.nt"
    path.write_text("".join(f"<http://e/{s}> <http://e/{p}> {o} .\n" for s, p, o in map(str.split, lines.split("|"))))
    streams = [f"http://e/s={path}"]
    run = ["why-not", query, "--rate", "1", "--format", "json", *options, *(f"--stream={each}" for each in streams)]
    result = CliRunner().invoke(app, run)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def the_refusal(answer: dict) -> dict:
    ((refusal,),) = [partial["refused"] for partial in answer["alternatives"][0]["partials"]]
    return refusal


NOISE = "|".join(
    ["noise costs <http://e/x>|noise likes <http://e/x>|noise is <http://e/Drink>|noise is <http://e/Person>"] * 3000
)
SEVEN, THREE = (f'"{n}"^^<http://www.w3.org/2001/XMLSchema#integer>' for n in (7, 3))


def test_what_a_filter_keeps_out_of_a_memory_is_known(tmp_path: Path) -> None:
    refusal = the_refusal(answered(tmp_path, LATE, f"ann likes <http://e/tea>|tea costs {SEVEN}", "--binding=x=e:ann"))
    assert (refusal["reason"], refusal["candidates"][0]["wrong"]) == ("filter", "FILTER(?n < 5) is not true")


def test_what_has_left_the_window_long_ago_is_known(tmp_path: Path) -> None:
    lines = f"ann likes <http://e/tea>|bob likes <http://e/x>|bob likes <http://e/x>|tea costs {THREE}|{NOISE}"
    refusal = the_refusal(answered(tmp_path, LATE, lines, "--binding=x=e:ann"))
    assert (refusal["reason"], refusal["candidates"][0]["wrong"]) == ("window", "outside the window by 1s")


def test_patterns_that_differ_in_constants_only_are_kept_apart(tmp_path: Path) -> None:
    query = """PREFIX e: <http://e/> SELECT ?x FROM STREAM <http://e/s> [RANGE 2s]
    { ?x e:is e:Person . ?x e:likes ?y . ?y e:is e:Drink }"""
    lines = f"tea is <http://e/Drink>|ann is <http://e/Person>|noise is <http://e/x>|ann likes <http://e/tea>|{NOISE}"
    refusal = the_refusal(answered(tmp_path, query, lines, "--binding=x=e:ann"))
    assert (refusal["reason"], refusal["pattern"]) == ("window", "e:tea e:is e:Drink")
    assert refusal["candidates"][0]["wrong"] == "outside the window by 1s"


def test_a_triple_that_never_came_is_known_not_to_have_come(tmp_path: Path) -> None:
    refusal = the_refusal(answered(tmp_path, LATE, f"ann likes <http://e/tea>|{NOISE}", "--binding=x=e:ann"))
    assert refusal["said"] == "it has not come while the query listens: no row has been collected"


def test_a_pattern_that_is_alone_has_a_memory_in_a_run_for_why_not(tmp_path: Path) -> None:
    query = "PREFIX e: <http://e/> SELECT * { ?x e:costs ?n FILTER(?n < 5) }"
    answer = answered(tmp_path, query, f"tea costs {SEVEN}|milk costs {THREE}", "--binding=x=e:tea")
    assert the_refusal(answer)["reason"] == "filter"
    assert answered(tmp_path, query, f"milk costs {THREE}", "--binding=x=e:milk")["matched"] == 1


def test_what_barred_a_match_is_known_though_the_last_pattern_keeps_nothing(tmp_path: Path) -> None:
    query = "PREFIX e: <http://e/> SELECT * { { ?x e:a ?y } SEQ NOT { ?x e:n ?y } SEQ { ?x e:b ?y } }"
    lines = "|".join(f"x {predicate} <http://e/y>" for predicate in "anb")
    refusal = the_refusal(answered(tmp_path, query, lines))
    assert (refusal["reason"], refusal["said"]) == ("barred", "a match was barred by e:x e:n e:y at 1.0")


@pytest.mark.parametrize("binding", ["x", "nothing=e:ann", "x=ann"])
def test_binding_that_cannot_be_understood_is_refused(stream: str, binding: str) -> None:
    result = asked(stream, "--binding", binding)
    assert result.exit_code == WRONG
    assert result.stderr.startswith("retewave: ")


@pytest.fixture
def disorder(tmp_path: Path) -> str:
    """A stream whose second item is two seconds earlier than its first."""
    path = tmp_path / "disorder.nq"
    date = "http://www.w3.org/2001/XMLSchema#dateTime"
    path.write_text(
        "".join(
            f'<http://e/g{n}> <http://e/at> "2020-01-01T00:00:0{n}Z"^^<{date}> <http://e/g{n}> .\n'
            f"<http://e/ann> <http://e/p{n}> <http://e/o> <http://e/g{n}> .\n"
            for n in (3, 1)
        )
    )
    return str(path)


def test_why_not_puts_late_items_in_order_or_says_that_they_were_left_out(disorder: str) -> None:
    asked = ["why-not", "SELECT * { ?x <http://e/p1> ?y . ?x <http://e/p3> ?y }", "--stream", disorder]
    asked += ["--time-property", "http://e/at"]
    left_out = CliRunner().invoke(app, asked)
    assert "1 triples came later than the lateness allows" in left_out.stdout
    assert "it did match: 1" in CliRunner().invoke(app, [*asked, "--lateness", "2s"]).stdout


def test_explain_counts_late_items_as_its_lateness_says(disorder: str) -> None:
    asked = ["explain", "SELECT * { ?x <http://e/p1> ?y . ?x <http://e/p3> ?y }", "--stats", "--stream", disorder]
    asked += ["--time-property", "http://e/at"]
    without, with_lateness = (CliRunner().invoke(app, [*asked, "--lateness", each]).stdout for each in ("0s", "2s"))
    assert without != with_lateness


def test_every_command_that_reads_a_stream_takes_a_lateness_and_checks_it(disorder: str) -> None:
    for command in (["run"], ["explain", "--stats"], ["why-not"], ["inspect"]):
        ended = CliRunner().invoke(app, [*command, QUERY, "--stream", disorder, "--rate", "1", "--lateness", "soon"])
        assert ended.exit_code == WRONG
        assert "'soon' is not a duration" in ended.stderr


def test_rules_behind_the_query_build_what_it_reads(stream: str) -> None:
    rule = "PREFIX e: <http://e/> REGISTER STREAM e:cheap AS CONSTRUCT { ?y e:costs 5 } WHERE { ?x e:likes ?y }"
    alone, with_rule = (
        asked(stream),
        CliRunner().invoke(app, ["why-not", QUERY, rule, "--stream", stream, "--rate", "1"]),
    )
    assert "✗" in alone.stdout
    assert "it did match: 1 of the matches that are kept" in with_rule.stdout


TIMED = """@prefix prov: <http://www.w3.org/ns/prov#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
<http://e/g> { <http://e/g> prov:generatedAtTime "2024-05-01T09:00:01Z"^^xsd:dateTime .
<http://e/a> <http://e/p> 1 . }"""


@pytest.mark.parametrize("command", ["run", "why-not"])
def test_who_forgets_the_times_that_a_file_has_is_told_what_to_write(tmp_path: Path, command: str) -> None:
    path = tmp_path / "timed.trig"
    path.write_text(TIMED)
    ask = [command, "SELECT * { ?x <http://e/p> ?y }", "--stream", str(path)]
    hint = "write --time-property http://www.w3.org/ns/prov#generatedAtTime"
    assert hint in CliRunner().invoke(app, ask).stderr
    asked_for = [["--rate", "1"], ["--time-property", "http://www.w3.org/ns/prov#generatedAtTime"]]
    for given in [*asked_for, *([["--arrival"]] if command == "run" else [])]:
        assert hint not in CliRunner().invoke(app, [*ask, *given]).stderr
