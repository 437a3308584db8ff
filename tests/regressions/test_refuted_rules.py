"""What was once found wrong with rules and flushes: each test failed on the code as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.inside import network_of

import retewave as rw

pytestmark = pytest.mark.filterwarnings("ignore::retewave.engine.accepting.UnboundedWarning")

REACH = "REGISTER STREAM <urn:out> AS CONSTRUCT { ?a <urn:reach> ?c } WHERE { ?a <urn:edge> ?c }"
FOUND = "SELECT ?a ?c FROM STREAM <urn:out> WHERE { ?a <urn:reach> ?c }"


def edge(subject: str, object_: str) -> tuple[str, str, str]:
    """Return an edge."""
    return f"urn:{subject}", "urn:edge", f"urn:{object_}"


def told(query: rw.Query) -> list[tuple[str, object]]:
    """Return what a query has told: a subject and an end each."""
    return [(str(row["a"]), row.end) for row in query.matches]


# ---- flushes ----
def test_what_is_made_of_what_rules_build_is_told_once_by_flushes_and_the_close_of_the_instant() -> None:
    engine = rw.Engine()
    engine.register(REACH, keep=0)
    query = engine.register(FOUND, keep=None)
    engine.push(edge("a", "b"), time=1)
    for _ in range(2):
        engine.flush()
    engine.push(edge("b", "c"), time=2)
    engine.flush()
    assert told(query) == [("urn:a", 1), ("urn:b", 2)]


@pytest.mark.parametrize("decided", ["", "MINUS { ?x <urn:not> 1 }"])
def test_a_flush_makes_the_blank_nodes_that_the_close_of_the_instant_makes(decided: str) -> None:
    engine = rw.Engine()
    rule = "REGISTER STREAM <urn:out> AS CONSTRUCT { _:n <urn:of> ?x } WHERE { ?x <urn:p> ?y %s }"
    engine.register(rule % decided, keep=0)
    query = engine.register("SELECT ?a ?x WHERE { ?a <urn:of> ?x }", keep=None)
    engine.push([("urn:a", "urn:p", 1), ("urn:a", "urn:p", 2)], time=1)
    for _ in range(2):
        engine.flush()
    engine.push([], time=2)
    engine.advance(2)
    assert len(query.matches) == len({row["a"] for row in query.matches}) == 2


@pytest.mark.parametrize("between", ["nothing", "a snapshot", "another query"])
def test_of_equal_solutions_of_a_set_one_makes_blank_nodes_whatever_comes_between(tmp_path: Path, between: str) -> None:
    engine = rw.Engine()
    rule = "CONSTRUCT { _:n <urn:of> ?x } WHERE { ?x <urn:p> ?y }"
    engine.register(rule, language="epsparql", keep=0)
    engine.register("SELECT ?a ?x WHERE { ?a <urn:of> ?x }", name="found", keep=None)
    engine.push(("urn:a", "urn:p", 1), time=1)
    if between == "a snapshot":
        engine.snapshot(tmp_path / "it")
        engine = rw.Engine.restore(tmp_path / "it", keep=None)
    elif between == "another query":
        engine.register("SELECT * WHERE { ?a <urn:other> ?x }")
    engine.push(("urn:a", "urn:p", 1), time=1)
    engine.flush()
    [query] = [each for each in engine.queries if each.name == "found"]
    assert len(query.matches) == 1


# ---- bounds ----
def test_a_flush_that_rules_do_not_let_end_loses_nothing_of_what_other_rules_have_built() -> None:
    engine = rw.Engine(max_derivations=30)
    engine.register(REACH, keep=0)
    endless = engine.register(
        "REGISTER STREAM <urn:out> AS CONSTRUCT { ?a <urn:n> ?more } WHERE { ?a <urn:n> ?n BIND (?n + 1 AS ?more) }",
        keep=0,
    )
    engine.push([edge("a", "b"), ("urn:a", "urn:n", 1)], time=1)
    with pytest.raises(rw.LimitError, match="more than 30 triples"):
        engine.flush()
    engine.remove(endless)
    later = engine.register("SELECT ?a ?c WHERE { { ?a <urn:reach> ?b } SEQ { ?b <urn:reach> ?c } }", keep=None)
    engine.push(edge("b", "c"), time=2)
    engine.flush()
    assert [(row.start, row.end) for row in later.matches] == [(1, 2)]


def test_what_python_builds_is_counted_by_the_instant() -> None:
    engine = rw.Engine(max_derivations=5)
    engine.register(
        "REGISTER STREAM <urn:out> AS CONSTRUCT { ?a <urn:r> ?more } WHERE { ?a <urn:p> ?n BIND (?n + 1 AS ?more) }",
        keep=0,
    )
    query = engine.register("SELECT ?a ?n WHERE { ?a <urn:r> ?n }", keep=None)
    for second in range(20):
        engine.push(("urn:a", "urn:p", second), time=second)
    assert len(query.matches) == 19
    assert len(network_of(engine).runtime.instant[0]) == 1


@pytest.mark.parametrize("closes", ["advance", "flush"])
def test_at_the_bound_on_live_rows_what_rules_build_waits_until_there_is_room(closes: str) -> None:
    engine = rw.Engine(max_live_rows=3)
    engine.register(REACH, keep=0)
    query = engine.register(FOUND, keep=None)
    pairs = engine.register("SELECT * WHERE { ?a <urn:reach> ?b . ?b <urn:on> ?c }", keep=0)
    engine.push([edge(f"a{place}", f"b{place}") for place in range(8)], time=1)
    with pytest.raises(rw.LimitError, match="3 live rows"):
        engine.advance(2) if closes == "advance" else engine.flush()
    engine.remove(pairs)
    engine.push([], time=1) if closes == "advance" else engine.flush()
    assert sorted(told(query)) == [(f"urn:a{place}", 1) for place in range(8)]


# ---- queries that come and go ----
def test_a_rule_that_is_removed_while_most_queries_stay_builds_no_more() -> None:
    engine = rw.Engine()
    rule = engine.register(REACH, keep=0)
    query = engine.register(FOUND, keep=None)
    for place in range(6):
        engine.register(f"SELECT ?x WHERE {{ ?x <urn:other{place}> ?y }}", keep=0)
    engine.push(edge("a", "b"), time=1)
    engine.advance(2)
    engine.remove(rule)
    engine.push(edge("b", "c"), time=2)
    engine.flush()
    assert told(query) == [("urn:a", 1)]


@pytest.mark.parametrize("others", [0, 1])
def test_what_a_rule_has_built_comes_in_though_it_is_removed_before_its_instant_is_over(others: int) -> None:
    engine = rw.Engine()
    rule = engine.register(REACH, keep=0)
    for _ in range(others):
        engine.register(REACH.replace("edge", "road"), keep=0)
    query = engine.register(FOUND, keep=None)
    engine.push(edge("a", "b"), time=1)
    engine.remove(rule)
    engine.push(edge("b", "c"), time=2)
    engine.flush()
    assert told(query) == [("urn:a", 1)]


def test_a_rule_that_comes_later_builds_nothing_of_instants_that_are_over() -> None:
    engine = rw.Engine()
    engine.register("SELECT * WHERE { ?a <urn:q> ?b . ?a <urn:p> ?d . ?b <urn:r> ?c }", keep=0)
    query = engine.register("SELECT ?a WHERE { ?a <urn:built> ?b }", keep=None)
    engine.push([("urn:a", "urn:p", "urn:b"), ("urn:a", "urn:q", "urn:b")], time=1)
    engine.advance(5)
    rule = engine.register(
        "REGISTER STREAM <urn:out> AS CONSTRUCT { ?a <urn:built> ?b } "
        "WHERE { ?a <urn:p> ?b FILTER EXISTS { ?a <urn:q> ?b } }",
        keep=None,
    )
    engine.push([], time=6)
    engine.flush()
    assert [row.end for row in rule.matches] == [1]
    assert told(query) == []
