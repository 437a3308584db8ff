"""Queries of an engine, one by one: what they tell, keep, refuse and count."""

from __future__ import annotations

from typing import Any

import pytest
from helpers.pairs import pair, triple

import retewave as rw
from retewave.engine.registry import CartesianWarning


def test_each_query_tells_its_matches_of_a_batch_in_their_order_and_holds_no_others() -> None:
    engine = rw.Engine()
    queries = [engine.register(pair(width), keep=None) for width in ("5s", "9s")]
    engine.register("SELECT ?x FROM STREAM <http://e/s> [RANGE 5s] { ?x <http://e/p> ?y . ?x <http://e/r> ?z }")
    engine.push([triple("a", "p", 1)], time=0)
    rows = b"".join(b"<http://e/a> <http://e/q> <http://e/z%d> .\n" % n for n in range(1_000))
    (found,) = engine.run_batches(
        rw.read(rows + b"<http://e/a> <http://e/r> <http://e/z> .\n", format="nt", rate=1_000)
    )
    assert [matches.query for matches in found[:2]] == queries
    for query in queries:
        assert [match.text("z") for match in query.matches] == [b"<http://e/z%d>" % n for n in range(1_000)]
    held = [array.base if array.base is not None else array for array in (found[2].ids, found[2].places)]
    assert len(found[2]) == 1 and all(array.nbytes < 100 for array in held)


def test_callbacks_and_columns() -> None:
    engine = rw.Engine()
    seen: list[rw.Match] = []
    query = engine.register("SELECT ?x ?n { ?x <http://e/p> ?n }", on_match=seen.append)
    engine.push([triple("a", "p", 1), triple("b", "p", 2)], time=3)
    assert [match["n"].toPython() for match in seen] == [1, 2]
    assert query.to_arrow().column("x").to_pylist() == ["<http://e/a>", "<http://e/b>"]
    assert query.to_pandas()["start"].tolist() == [3, 3]


def test_only_the_last_matches_are_kept() -> None:
    engine = rw.Engine()
    query = engine.register("SELECT ?n { ?x <http://e/p> ?n }", keep=3)
    for n in range(10):
        engine.push(triple("a", "p", n), time=n)
    assert query.matched == 10
    assert [match["n"].toPython() for match in query.matches] == [7, 8, 9]


def test_bind_and_filters_beyond_the_kernel() -> None:
    engine = rw.Engine()
    engine.register(
        'SELECT ?x ?twice { ?x <http://e/p> ?n . BIND(?n * 2 AS ?twice) FILTER(REGEX(STR(?x), "a$") && ?twice > 5) }'
    )
    assert engine.push(triple("a", "p", 2), time=0) == []
    assert engine.push(triple("b", "p", 4), time=0) == []
    (match,) = engine.push(triple("a", "p", 4), time=0)
    assert match["twice"].toPython() == 8


def test_a_filter_on_one_variable_is_evaluated_once_a_term(monkeypatch: pytest.MonkeyPatch) -> None:
    from retewave.compiler.expressions.evaluate import Evaluator

    calls: list[object] = []
    plain = Evaluator.truth

    def counted(self: Evaluator, bindings: Any) -> Any:
        calls.append(bindings)
        return plain(self, bindings)

    monkeypatch.setattr(Evaluator, "truth", counted)
    engine = rw.Engine()
    query = engine.register('SELECT ?x { ?x <http://e/p> ?n FILTER(REGEX(STR(?x), "[a]$")) }')
    for n in range(20):
        engine.push(triple("a", "p", n), time=n)
        engine.push(triple("b", "p", n), time=n)
    assert query.matched == 20
    assert len(calls) == 2


def test_construct_builds_triples_with_new_blank_nodes_for_every_match() -> None:
    engine = rw.Engine()
    engine.register(
        "CONSTRUCT { _:alarm <http://e/about> ?x ; <http://e/level> ?n . ?n <http://e/bad> ?x } { ?x <http://e/p> ?n }"
    )
    (one,), (other,) = engine.push(triple("a", "p", 1), time=0), engine.push(triple("a", "p", 1), time=0)
    assert [str(p) for _, p, _ in one.triples] == ["http://e/about", "http://e/level"]
    assert one.triples[0][0] == one.triples[1][0]
    assert one.triples[0][0] != other.triples[0][0]


def test_a_cartesian_product_needs_a_leave() -> None:
    engine = rw.Engine()
    text = "SELECT * { ?x <http://e/p> ?y . ?z <http://e/q> ?w }"
    with pytest.raises(rw.QueryError, match=r"share no variable: { \?x <http://e/p> \?y }; { \?z"):
        engine.register(text)
    with pytest.warns(CartesianWarning):
        engine.register(text, allow_cartesian=True)
    engine.push(triple("a", "p", 1), time=0)
    assert len(engine.push(triple("b", "q", 1), time=0)) == 1


def test_a_match_does_not_consume_its_triples() -> None:
    engine = rw.Engine()
    engine.register(pair())
    engine.push(triple("a", "p", 1), time=0)
    assert len(engine.push(triple("a", "q", 1), time=0)) == 1
    assert len(engine.push(triple("a", "q", 2), time=0)) == 1


def test_a_removed_query_is_silent_and_unknown() -> None:
    engine = rw.Engine()
    query = engine.register(pair())
    engine.remove(query)
    engine.push(triple("a", "p", 1), time=0)
    assert engine.push(triple("a", "q", 1), time=0) == []
    with pytest.raises(rw.UsageError, match="is not registered"):
        engine.remove(query)


def test_distinct_remembers_what_it_reported_when_other_queries_come() -> None:
    engine = rw.Engine()
    engine.register("SELECT DISTINCT ?x { ?x <http://e/p> ?y }")
    assert len(engine.push(triple("a", "p", 1), time=0)) == 1
    engine.register("SELECT ?x { ?x <http://e/r> ?y }")
    assert engine.push(triple("a", "p", 2), time=0) == []


def test_equal_names_get_numbers() -> None:
    engine = rw.Engine()
    names = [engine.register("REGISTER QUERY Q AS SELECT * { ?x <http://e/p> ?y }").name for _ in range(3)]
    assert names == ["Q", "Q#2", "Q#3"]


def test_stats_tell_of_every_memory_and_join_if_the_network_counts() -> None:
    engine = rw.Engine(stats=True)
    engine.register(pair())
    engine.push(triple("a", "p", 1), time=0)
    engine.push(triple("a", "q", 1), time=0)
    counted = engine.stats()["network"]
    assert [memory["rows_in"] for memory in counted["memories"]] == [1, 1]
    assert [join["hits"] for join in counted["joins"]] == [1]
    assert "network" not in rw.Engine().stats()
