"""The shard plan as explain shows it."""

from __future__ import annotations

import json
from pathlib import Path

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


ABSENT = """PREFIX e: <http://e/> SELECT * FROM STREAM <http://e/s> [RANGE 5s]
{ { ?x e:p ?y } SEQ NOT { ?x e:r ?u } SEQ { ?x e:q ?z } }"""


def test_explain_tells_where_absence_is_decided() -> None:
    engine = rw.Engine()
    engine.register(ABSENT, name="absent")
    assert engine.explain(shards=4).removeprefix(engine.explain()).splitlines()[1:] == [
        "4 shards",
        "  PREFIX e: <http://e/>",
        "",
        "query absent",
        "  by ?x in 4 parts: 4 of 4 shards; the busiest gets 25% of what the patterns take, "
        "a triple goes to 1.00 shards",
        "  SEQ NOT … SEQ is decided in the shard of ?x, which has all that it looks at",
        "    ?x e:p ?y  -> 1 shard",
        "    ?x e:q ?z  -> 1 shard",
        "    ?x e:r ?u  -> 1 shard",
    ]


def test_explain_tells_why_a_query_is_in_one_shard(tmp_path: Path) -> None:
    rule = "CONSTRUCT { ?x <urn:p> ?z } FROM STREAM <urn:s> [RANGE 5s] WHERE { ?x <urn:p> ?y . ?y <urn:p> ?z }"
    rule = f"REGISTER STREAM <urn:s> AS {rule}"
    engine = rw.Engine()
    engine.register(rule, name="rule")
    assert "  in shard 0 only: what a rule builds comes in again in its own shard" in engine.explain(shards=2)
    query = tmp_path / "rule.rq"
    query.write_text(rule)
    shown = CliRunner().invoke(app, ["explain", str(query), "--shards", "2"])
    assert shown.exit_code == 0
    assert "in shard 0 only" in shown.output
