"""Rules over shards: who reads what a rule builds is in its shard."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from helpers.shards_by_hand import PREFIX

from retewave.spark.driver.job import Job, OneShardWarning

RULE = PREFIX + "REGISTER STREAM e:t AS CONSTRUCT { ?x e:hot ?y } FROM STREAM e:s [RANGE 5s] { ?x e:p ?y . ?x e:q ?z }"
INVERSE = [b"<http://e/hot> <http://www.w3.org/2002/07/owl#inverseOf> <http://e/heats> ."]
READERS = [
    ("the rule's key in the same place", "?a e:hot ?b . ?a e:r ?c", (), {"rule": {"?x"}, "reader": {"?a"}}),
    ("what lacks the key goes everywhere", "?a e:hot ?b . ?b e:r ?c", (), {"rule": {"?x"}, "reader": {"?a"}}),
    ("another key of the rule", "?a e:r ?b . ?c e:hot ?b", (), {"rule": {"?x"}, "reader": {"?c"}}),
    ("where an axiom puts it", "?a e:heats ?b . ?b e:r ?c", INVERSE, {"rule": {"?x"}, "reader": {"?b"}}),
    ("a decision", "?a e:r ?c MINUS { ?a e:hot ?b }", (), {"rule": {"?x"}, "reader": {"?a"}}),
    (
        "a key that a pattern of the rule lacks",
        "?a e:r ?c MINUS { ?b e:hot ?a }",
        (),
        {"rule": {"?y"}, "reader": {"?a"}},
    ),
    ("two places of what is built", "?a e:hot ?b . ?b e:hot ?c", (), {"rule": set(), "reader": set()}),
    ("any predicate", "?a ?p ?b . ?a e:r ?c", (), {"rule": {"?x"}, "reader": {"?a"}}),
]


@pytest.mark.parametrize(("what", "where", "schema", "keys"), READERS, ids=[each[0] for each in READERS])
def test_what_a_rule_builds_stays_in_its_shard(what: str, where: str, schema: Any, keys: dict[str, set[str]]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reader = f"{PREFIX}SELECT * FROM STREAM e:s [RANGE 5s] FROM STREAM e:t [RANGE 5s] {{ {where} }}"
        job = Job.of({"rule": RULE, "reader": reader}, shards=8, schema=schema)
    assert {each.queries[0]: {*each.shares} for each in job.plan.queries} == keys, what


def test_who_reads_what_a_rule_builds_is_where_the_rule_is() -> None:
    rule = RULE.replace("?x e:q ?z", "?z e:q ?y")
    reader, other = "SELECT * { ?x e:hot e:b . ?y e:q ?x }", "SELECT * { ?x e:p ?y . ?x e:q ?z }"
    counting = "POLICY recent { { ?x e:hot ?y } SEQ { ?x e:q ?z } }"
    asked = {"rule": rule, "reader": PREFIX + reader, "other": PREFIX + other, "spends": f"{PREFIX}SELECT * {counting}"}
    with pytest.warns(OneShardWarning):
        job = Job.of(asked, shards=8)
    said = {each.queries[0]: each for each in job.plan.queries}
    assert said["rule"].shard == said["reader"].shard == said["spends"].shard
    assert said["reader"].reason == "it may read what a rule builds, which is in the rule's shard"
    assert said["other"].cells == 8
