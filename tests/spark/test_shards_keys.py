"""Which key a detection is spread by, and why what has no key runs in one shard."""

from __future__ import annotations

import re

import pytest
from helpers.shards_by_hand import PREFIX, planned

from retewave.spark.driver.job import Job, OneShardWarning

PLAIN = "?x e:p ?y . ?x e:q ?z"
SPREAD = [
    ("SEQ", "{ ?x e:p ?y } SEQ { ?x e:q ?z }", {"?x"}),
    ("EQUALS", "{ ?x e:p ?y } EQUALS { ?x e:q ?z }", {"?x"}),
    ("NOT", "{ ?x e:p ?y } SEQ NOT { ?x e:r ?v } SEQ { ?x e:q ?z }", {"?x"}),
    ("NOT for all", "{ ?x e:p ?y } SEQ NOT { ?u e:r ?v } SEQ { ?x e:q ?z }", {"?x"}),
    ("trailing NOT", "{ ?x e:p ?y } SEQ NOT { ?x e:r ?v } WITHIN 1s", {"?x"}),
    ("OPTIONALSEQ", "{ ?x e:p ?y } OPTIONALSEQ { ?x e:q ?z }", {"?x"}),
    ("OPTIONAL", "?x e:p ?y OPTIONAL { ?x e:q ?z }", {"?x"}),
    ("MINUS", "?x e:p ?y MINUS { ?x e:q ?z }", {"?x"}),
    ("a key in a NOT of a NOT", "?x e:p ?y FILTER NOT EXISTS { ?y e:q ?z FILTER NOT EXISTS { ?x e:r ?z } }", {"?y"}),
    ("LAST of what goes with it", "{ LAST { ?x e:p ?y } } SEQ { ?x e:q ?z }", {"?x"}),
    ("WITHIN", f"{{ {PLAIN} }} WITHIN 1s", {"?x"}),
    ("getSTARTTIME()", f"{PLAIN} FILTER(getSTARTTIME() = getENDTIME())", {"?x"}),
]


@pytest.mark.parametrize(("what", "where", "keys"), SPREAD)
def test_what_time_asks_something_of_is_spread_by_what_all_of_it_has(what: str, where: str, keys: set[str]) -> None:
    job = planned(f"{PREFIX}SELECT * FROM STREAM <http://e/s> [RANGE 5s]\nWHERE {{ {where} }}")
    for each in job.plan.queries:
        assert each.reason is None, what
        assert each.shares.keys() == keys, what


SCHEMA = [b"<http://e/hotter> <http://www.w3.org/2000/01/rdf-schema#domain> <http://e/Room> ."]
SEQUENCE = (
    "PREFIX : <http://e/> SELECT ?x WITHIN 5 SECONDS FROM STREAM S :s "
    "WHERE { SEQ (A%s) DEFINE GPM A ON S { ?x :p ?y } DEFINE GPM B ON S { ?x :q ?z } }"
)
VIEW = PREFIX + "SELECT (COUNT(*) AS ?n) FROM STREAM <http://e/s> %s { ?x e:p ?y } GROUP BY %s"
TIMED = PREFIX + "SELECT * FROM STREAM <http://e/s> [RANGE 5s] "
ALONE = [
    (
        PREFIX + "SELECT (COUNT(?x) AS ?n) FROM STREAM <http://e/s> [RANGE 5s STEP 1s] "
        "{ ?x e:p ?y OPTIONAL { ?a e:p ?b } }",
        "no variable is in all that the view puts together and tells: GROUP BY such a variable, and select it",
    ),
    (
        PREFIX + "SELECT * FROM STREAM <http://e/s> [RANGE 5s STEP 1s] { ?x e:p+ ?y } ORDER BY ?x LIMIT 3",
        "no variable is in all that the view puts together and tells: GROUP BY such a variable, and select it",
    ),
    (VIEW % ("[TRIPLES 9 STEP 1]", "?x"), "what is in the window TRIPLES 9 STEP 1 hangs on all items that come"),
    (
        VIEW % ("[RANGE 5s] REPORT CONTENT CHANGE", "?x"),
        "REPORT CONTENT CHANGE: any change makes a report of everything; REPORT PERIODIC would not",
    ),
    (
        PREFIX + "REGISTER DSTREAM e:o AS SELECT * FROM STREAM <http://e/s> [RANGE 5s STEP 1s] "
        "REPORT WINDOW CLOSE NON EMPTY { ?x e:p ?y }",
        "NON EMPTY with DSTREAM: whether there is a report hangs on all items that come",
    ),
    (
        PREFIX + "ASK FROM STREAM <http://e/s> [RANGE 5s STEP 1s] { ?x e:p ?y FILTER NOT EXISTS { ?a e:q ?b } }",
        "ASK looks at the whole content of the windows",
    ),
    (
        "PREFIX : <http://e/> EVENT Hot AS (Room and hotter some Thing)\n"
        "EVENT Twice MATCH Hot AS one SEQ Hot AS other WITHIN (5 min)",
        "detections are related to each other whatever their individuals are",
    ),
    (SEQUENCE % ", B", "the next event of a stream may be in any shard: PARTITION BY a variable would spread it"),
    (
        TIMED + "POLICY recent WHERE { { ?x e:p ?y } SEQ { ?x e:q ?z } }",
        "POLICY recent uses up events, of which other shards may have triples, too: KEEP would not",
    ),
    (
        PREFIX + "REGISTER STREAM <http://e/s> AS CONSTRUCT { ?x e:r ?z } FROM STREAM <http://e/s> [RANGE 5s] "
        "WHERE { ?x e:r ?y . ?y e:r ?z }",
        "what a rule builds comes in again in its own shard, and who may read it has another key, or none",
    ),
    (
        PREFIX + "REGISTER STREAM e:t AS CONSTRUCT { ?x e:r [ e:of ?y ] } FROM STREAM <http://e/s> [RANGE 5s] "
        "WHERE { ?x e:p ?y . ?x e:q ?z }",
        "a rule that makes new terms has them all in one shard",
    ),
    (
        TIMED + "WHERE { e:a e:p ?y FILTER NOT EXISTS { ?x e:q e:b FILTER NOT EXISTS { ?y e:r ?x } } }",
        "no variable is the same in all that NOT EXISTS looks at",
    ),
]


@pytest.mark.parametrize(("text", "reason"), ALONE, ids=range(len(ALONE)))
def test_what_has_no_key_runs_in_one_shard_and_says_why(text: str, reason: str) -> None:
    job = planned(text, schema=SCHEMA)
    assert {each.reason for each in job.plan.queries} == {reason}
    with pytest.warns(OneShardWarning, match=re.escape(f"asked runs in one shard: {reason}")):
        Job.of({"asked": text}, schema=SCHEMA, shards=2)


@pytest.mark.parametrize("then", ["; B", ": B", "; B:+"])
def test_sequences_are_spread_by_what_all_their_events_have(then: str) -> None:
    assert [each.shares for each in planned(SEQUENCE % then).plan.queries] == [{"?x": 2}]


def test_a_sequence_of_each_partition_is_spread_by_it() -> None:
    text = (SEQUENCE % ", B").replace("WHERE {", "PARTITION BY (?x) WHERE {")
    assert [each.shares for each in planned(text).plan.queries] == [{"?x": 2}]


def test_minus_that_takes_nothing_away_is_spread() -> None:
    text = f"{PREFIX}SELECT * FROM STREAM <http://e/s> [RANGE 5s] WHERE {{ {PLAIN} MINUS {{ ?v e:r ?w }} }}"
    assert Job.of([text], shards=2).spread[0].cells == 2
