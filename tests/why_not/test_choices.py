"""FIRST and LAST compare patterns with copies of them: readers see what they have written, once."""

from __future__ import annotations

import pytest

import retewave as rw

Q, LATEST = "?x <urn:q> ?q", "LAST { ?x <urn:p> ?p }"

pytestmark = pytest.mark.filterwarnings("ignore::retewave.engine.registry.UnboundedWarning")


def asked(where: str) -> tuple[rw.Engine, rw.Query]:
    engine = rw.Engine()
    query = engine.register(f"SELECT * {{ {where} }}")
    for predicate, time in (("p", 1), ("q", 2), ("q", 3), ("s", 4)):
        engine.push(("urn:a", f"urn:{predicate}", time), time=time)
    return engine, query


@pytest.mark.parametrize(
    "where",
    [
        f"{{ {Q} }} MINUS {{ {LATEST} }}",
        f"{{ {Q} }} OPTIONAL {{ {LATEST} }}",
        f"{LATEST} SEQ {{ {Q} }}",
        f"NOT {{ {LATEST} }} SEQ {{ {Q} }} WITHIN 5s",
        f"{{ {Q} }} SEQ NOT {{ {LATEST} }} WITHIN 5s",
        f"LAST {{ {{ {LATEST} }} {{ {Q} }} }}",
    ],
)
def test_explain_lists_each_pattern_once(where: str) -> None:
    engine, _ = asked(where)
    for section in engine.explain().split("\n  patterns\n")[1:]:
        patterns = [line.split("  ")[-1] for line in section.split("\n  steps\n")[0].splitlines()]
        assert sorted(patterns) == ["?x <urn:p> ?p", "?x <urn:q> ?q"]


@pytest.mark.parametrize(
    ("where", "operator"),
    [
        (f"{{ ?x <urn:q> 2 . {Q} }} MINUS {{ {LATEST} }}", "MINUS"),
        (f"NOT {{ {LATEST} }} SEQ {{ ?x <urn:q> 2 . {Q} }} WITHIN 5s", "NOT … SEQ"),
    ],
)
def test_why_not_names_the_choice_that_bars_and_no_copy(where: str, operator: str) -> None:
    engine, query = asked(where)
    said = str(engine.why_not(query, {"x": "urn:a"}))
    assert f"✗ {operator} {{ LAST {{ ?x <urn:p> ?p }} }}  (barred)" in said
    assert "a match was barred by LAST { <urn:a> <urn:p> 1 }" in said


def test_why_not_names_what_is_later_as_it_is_written() -> None:
    engine = rw.Engine()
    query = engine.register(f"SELECT * {{ {LATEST} SEQ {{ {Q} . ?x <urn:r> ?r }} }}")
    for time, predicate in enumerate(("p", "p", "q", "r"), 1):
        engine.push(("urn:a", f"urn:{predicate}", time), time=time)
    said = str(engine.why_not(query, {"p": 1}))
    assert "✗ LAST { ?x <urn:p> ?p }  (barred)\n      a match was barred by <urn:a> <urn:p> 2 at 2" in said
