"""The shard plan as explain shows it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import retewave as rw
from retewave.cli.app import app

QUERY = """PREFIX e: <http://e/>
REGISTER QUERY offers AS SELECT ?o ?x WHERE { ?o e:product ?p . ?o e:price ?x . ?p e:kind e:T }"""


def test_explain_tells_how_shards_would_spread_the_plan() -> None:
    engine = rw.Engine()
    engine.register(QUERY)
    assert engine.explain(shards=2).startswith(engine.explain())
    assert engine.explain(shards=2).removeprefix(engine.explain()).splitlines()[1:] == [
        "2 shards",
        "  PREFIX e: <http://e/>",
        "",
        "query offers",
        "  by ?o in 2 parts: 2 of 2 shards; the busiest gets 67% of what the patterns take, "
        "a triple goes to 1.33 shards",
        "    ?o e:product ?p  -> 1 shard",
        "    ?o e:price ?x  -> 1 shard",
        "    ?p e:kind e:T  -> 2 shards, it has no ?o",
    ]


def test_explain_gives_the_shard_plan_as_data() -> None:
    engine = rw.Engine()
    engine.register(QUERY)
    data = json.loads(engine.explain("json", shards=8))["shards"]
    assert data["shards"] == 8
    assert data["queries"][0]["shares"] == {"?o": 4, "?p": 2}
    assert data["queries"][0]["patterns"][2] == {"pattern": "?p e:kind e:T", "shards": 4, "lacks": ["?o"]}
    assert "shards" not in json.loads(engine.explain("json"))


def test_the_command_line_shows_it_and_refuses_to_draw_it(tmp_path: Path) -> None:
    query = tmp_path / "offers.rq"
    query.write_text(QUERY)
    shown = CliRunner().invoke(app, ["explain", str(query), "--shards", "2"])
    assert shown.exit_code == 0
    assert "by ?o in 2 parts" in shown.output
    refused = CliRunner().invoke(app, ["explain", str(query), "--shards", "2", "--format", "dot"])
    assert refused.exit_code == 2
    assert "give --shards with text or json" in refused.output


def test_query_that_asks_something_of_time_is_not_spread_over_shards(tmp_path: Path) -> None:
    text = "SELECT * FROM STREAM <http://e/s> [RANGE 5s] { ?x <http://e/p> ?y\n  OPTIONAL { ?x <http://e/q> ?z } }"
    engine = rw.Engine()
    engine.register(QUERY)
    engine.register(text, name="perhaps")
    with pytest.raises(rw.QueryError) as refused:
        engine.explain(shards=2)
    said = "perhaps: OPTIONAL is not spread over shards yet: the query runs in one process"
    assert (refused.value.what, refused.value.hint) == (said, "`retewave run`, or engine.run")
    assert refused.value.place is not None
    assert (refused.value.place.line, refused.value.place.column) == (2, 3)
    query = tmp_path / "perhaps.rq"
    query.write_text(text)
    shown = CliRunner().invoke(app, ["explain", str(query), "--shards", "2"])
    assert shown.exit_code == 2
    assert "OPTIONAL is not spread over shards yet" in shown.output


def test_rules_are_refused_as_what_they_build_would_have_to_be_sent_on() -> None:
    engine = rw.Engine()
    engine.register("REGISTER STREAM <urn:out> AS CONSTRUCT { ?x <urn:q> ?y } WHERE { ?x <urn:p> ?y }", name="rule")
    with pytest.raises(rw.QueryError, match="rule: what a rule builds is not sent to other shards yet"):
        engine.explain(shards=2)
