"""Rules: CONSTRUCT that feeds back, as a user meets it."""

from __future__ import annotations

from pathlib import Path

import networkx
import pytest
from cases.many import many
from helpers.inside import sweep
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rdflib import RDFS, URIRef

import retewave as rw
from retewave.errors import LimitError, QueryError, UsageError

pytestmark = pytest.mark.filterwarnings("ignore::retewave.engine.accepting.UnboundedWarning")


def feeds(template: str, where: str) -> str:
    """Return a rule that feeds <urn:out>."""
    return f"REGISTER STREAM <urn:out> AS CONSTRUCT {{ {template} }} WHERE {where}"


BASE = feeds("?a <urn:reach> ?c", "{ ?a <urn:edge> ?c }")
STEP = feeds("?a <urn:reach> ?c", "{ ?a <urn:reach> ?b . ?b <urn:edge> ?c }")
FROM_OUT = "SELECT ?a ?c FROM STREAM <urn:out> WHERE { ?a <urn:reach> ?c }"
COUNTING = feeds("?a <urn:n> ?more", "{ ?a <urn:n> ?n BIND (?n + 1 AS ?more) }")


def closing() -> tuple[rw.Engine, rw.Query]:
    """Return an engine that closes <urn:edge> transitively."""
    engine = rw.Engine()
    engine.register(BASE, name="base", keep=0)
    engine.register(STEP, name="step", keep=0)
    return engine, engine.register(FROM_OUT, name="found")


def pairs(query: rw.Query, found: list[rw.Match]) -> list[tuple[str, str]]:
    return [(str(match["a"]), str(match["c"])) for match in found if match.query is query]


@settings(max_examples=many(150), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), unique=True, max_size=24))
def test_closure_is_that_of_networkx(edges: list[tuple[int, int]]) -> None:
    engine, query = closing()
    found = engine.push([(f"urn:{a}", "urn:edge", f"urn:{b}") for a, b in edges], time=1) if edges else []
    found += engine.flush()
    closed = networkx.transitive_closure(networkx.DiGraph(edges), reflexive=False)
    expected = {(f"urn:{a}", f"urn:{b}") for a, b in closed.edges}
    assert sorted(pairs(query, found)) == sorted(expected)


@pytest.mark.parametrize(
    "chance", ["RAND()", "UUID()", "STRUUID()", "NOW()", "BNODE()", 'BNODE("b")', "RAND() + RAND()"]
)
def test_what_is_built_by_chance_is_what_is_told(chance: str) -> None:
    engine = rw.Engine()
    rule = engine.register(feeds("?a <urn:made> ?c", f"{{ ?a <urn:edge> ?b BIND({chance} AS ?c) }}"))
    heard = engine.register("SELECT ?a ?c FROM STREAM <urn:out> WHERE { ?a <urn:made> ?c }")
    foretold = []
    for time in (1, 2):
        engine.push([(f"urn:{name}", "urn:edge", "urn:b") for name in "pq"], time=time)
        foretold += [match.text("c") or b"" for match in engine.flush() if match.query is heard]
    told, built = ([match.text("c") or b"" for match in query.matches] for query in (rule, heard))
    assert sorted(told) == sorted(built) == sorted(foretold)
    assert chance == "NOW()" or len({*told}) == 4


def test_chance_twice_in_a_rule_is_drawn_twice() -> None:
    engine = rw.Engine()
    rule = engine.register(feeds("?a ?b ?c", "{ ?a <urn:edge> ?x BIND(RAND() AS ?b) BIND(RAND() AS ?c) }"))
    engine.push(("urn:a", "urn:edge", "urn:b"), time=1)
    (match,) = rule.matches
    assert match.text("b") != match.text("c")


def test_what_a_rule_builds_is_told_at_the_close_of_its_instant() -> None:
    engine, query = closing()
    assert pairs(query, engine.push(("urn:a", "urn:edge", "urn:b"), time=1)) == []
    assert pairs(query, engine.push(("urn:b", "urn:edge", "urn:c"), time=2)) == [("urn:a", "urn:b")]
    found = engine.advance(3)
    assert sorted(pairs(query, found)) == [("urn:a", "urn:c"), ("urn:b", "urn:c")]
    assert [(m.start, m.end) for m in found if m.query is query and str(m["a"]) == "urn:a"] == [(1, 2)]


def test_what_is_given_at_that_instant_does_not_come_in_twice() -> None:
    engine, query = closing()
    engine.push(("urn:a", "urn:edge", "urn:b"), time=1, stream="urn:in")
    given = engine.push(("urn:a", "urn:reach", "urn:b"), time=1, stream="urn:out")
    assert pairs(query, given + engine.flush()) == [("urn:a", "urn:b")]


def test_the_same_triple_on_another_stream_is_another_occurrence() -> None:
    engine, query = closing()
    every = engine.register("SELECT ?a ?c WHERE { ?a <urn:reach> ?c }")
    engine.push(("urn:a", "urn:edge", "urn:b"), time=1)
    found = engine.push(("urn:a", "urn:reach", "urn:b"), time=1, stream="urn:other") + engine.flush()
    assert len(pairs(query, found)) == 1
    assert len(pairs(every, found)) == 2


def test_a_rule_of_epsparql_feeds_the_stream_that_it_reads() -> None:
    engine = rw.Engine()
    engine.register(
        "CONSTRUCT { ?x <urn:q> ?y } FROM STREAM <urn:s> [RANGE 5s] WHERE { ?x <urn:p> ?y }", language="epsparql"
    )
    on = [engine.register(f"SELECT ?x FROM STREAM <urn:{name}> [RANGE 5s] WHERE {{ ?x <urn:q> ?y }}") for name in "st"]
    engine.push(("urn:a", "urn:p", 1), time=1, stream="urn:s")
    assert [match.query for match in engine.flush()] == [on[0]]


def test_new_blank_nodes_hold_the_triples_of_one_solution_together() -> None:
    engine = rw.Engine()
    engine.register(feeds("_:n <urn:of> ?x . _:n <urn:is> ?y", "{ ?x <urn:p> ?y }"), keep=0)
    query = engine.register("SELECT ?x ?y ?n WHERE { ?n <urn:of> ?x . ?n <urn:is> ?y }")
    engine.push([("urn:a", "urn:p", 1), ("urn:b", "urn:p", 2)], time=1)
    found = [match for match in engine.flush() if match.query is query]
    assert sorted((str(m["x"]), int(m["y"])) for m in found) == [("urn:a", 1), ("urn:b", 2)]
    assert len({m["n"] for m in found}) == 2


def test_a_rule_that_never_ends_is_stopped_and_named_and_the_stream_goes_on() -> None:
    engine = rw.Engine(max_derivations=50)
    engine.register(COUNTING, name="counting")
    query = engine.register("SELECT ?n WHERE { ?a <urn:n> ?n }", name="found")
    told = engine.push(("urn:a", "urn:n", 0), time=1)
    with pytest.raises(LimitError, match=r"more than 50 triples at one instant: counting -> counting") as error:
        engine.push(("urn:b", "urn:m", 0), time=2)
    assert "max_derivations" in error.value.hint
    assert [int(m["n"]) for m in told if m.query is query] == [0]
    engine.push([], time=2)  # what was found before the error is told with the next call, or was called back
    assert engine.push(("urn:c", "urn:m", 0), time=3) is not None
    assert {int(row["n"]) for row in query.matches} >= {0, 1, 49}


def test_rules_that_wait_for_themselves_are_refused_with_the_ring() -> None:
    engine = rw.Engine()
    engine.register(
        feeds("?x <urn:a> 1", "{ ?x <urn:p> ?y MINUS { ?x <urn:b> 1 } }"),
        name="A",
    )
    with pytest.raises(QueryError, match="A -> B -> A") as error:
        engine.register(feeds("?x <urn:b> 1", "{ ?x <urn:a> 1 }"), name="B")
    assert "SEQ NOT" in error.value.hint
    assert [query.name for query in engine.queries] == ["A"]


def test_a_rule_that_negates_itself_is_refused_only_at_its_own_instant() -> None:
    engine = rw.Engine()
    own = feeds("?x <urn:first> 1", "{ ?x <urn:p> ?y FILTER NOT EXISTS { ?x <urn:first> 1 } }")
    with pytest.raises(QueryError, match="own -> own"):
        engine.register(own, name="own")
    first = engine.register(feeds("?x <urn:first> 1", "NOT { ?x <urn:first> 1 } SEQ { ?x <urn:p> ?y } WITHIN 10s"))
    found = []
    for second in (1, 2, 5, 11, 12):
        found += engine.push(("urn:a", "urn:p", second), time=second)
    assert [match.end for match in found + engine.flush() if match.query is first] == [1, 12]


def test_a_rule_that_reads_another_in_the_same_instant_comes_after_it() -> None:
    engine = rw.Engine()
    absent = feeds("?x <urn:alone> 1", "{ ?x <urn:p> ?y MINUS { ?x <urn:seen> 1 } }")
    engine.register(absent, keep=0)
    engine.register(feeds("?x <urn:seen> 1", "{ ?x <urn:q> ?y }"), keep=0)
    query = engine.register("SELECT ?x WHERE { ?x <urn:alone> 1 }")
    engine.push([("urn:a", "urn:p", 1), ("urn:b", "urn:p", 1), ("urn:b", "urn:q", 1)], time=1)
    assert [str(m["x"]) for m in engine.flush() if m.query is query] == ["urn:a"]


def test_a_rule_that_is_removed_builds_no_more() -> None:
    engine, query = closing()
    engine.push(("urn:a", "urn:edge", "urn:b"), time=1)
    [step] = [each for each in engine.queries if each.name == "step"]
    engine.advance(2)
    engine.remove(step)
    engine.push(("urn:b", "urn:edge", "urn:c"), time=2)
    assert pairs(query, engine.flush()) == [("urn:b", "urn:c")]


def test_a_reader_that_comes_later_finds_what_the_memories_hold() -> None:
    engine, _ = closing()
    engine.push(("urn:a", "urn:edge", "urn:b"), time=1)
    engine.advance(2)
    late = engine.register("SELECT ?a ?c WHERE { ?a <urn:reach> ?b . ?b <urn:edge> ?c }", name="late")
    engine.push(("urn:b", "urn:edge", "urn:c"), time=3)
    engine.flush()
    assert [(str(row["a"]), str(row["c"])) for row in late.matches] == [("urn:a", "urn:c")]


def test_what_is_built_has_what_the_schema_entails() -> None:
    engine = rw.Engine(schema=[[(URIRef("urn:near"), RDFS.subPropertyOf, URIRef("urn:reach"))]])
    engine.register(feeds("?a <urn:near> ?b", "{ ?a <urn:edge> ?b }"), keep=0)
    query = engine.register(FROM_OUT)
    engine.push(("urn:a", "urn:edge", "urn:b"), time=1)
    assert pairs(query, engine.flush()) == [("urn:a", "urn:b")]


def test_a_triple_that_is_no_rdf_is_not_built_and_the_others_are() -> None:
    engine = rw.Engine()
    engine.register(feeds("?y <urn:q> ?x . ?x <urn:r> ?y", "{ ?x <urn:p> ?y }"), keep=0)
    query = engine.register("SELECT * WHERE { ?s ?p ?o }", keep=None)
    engine.push(("urn:a", "urn:p", 5), time=1)
    engine.flush()
    assert sorted(str(row["p"]) for row in query.matches) == ["urn:p", "urn:r"]


def test_terms_of_an_open_instant_outlive_a_sweep() -> None:
    engine, query = closing()
    engine.push(("urn:a", "urn:edge", "urn:b"), time=1)
    sweep(engine)
    engine.push([(f"urn:new{i}", "urn:other", i) for i in range(50)], time=1)
    assert pairs(query, engine.flush()) == [("urn:a", "urn:b")]


@pytest.mark.parametrize("most", [0, -1, 1.5, "many"])
def test_a_bound_that_is_none_is_refused(most: object) -> None:
    with pytest.raises(UsageError, match="max_derivations is a whole number from 1 on"):
        rw.Engine(max_derivations=most)  # type: ignore[arg-type]


def test_a_snapshot_in_an_open_instant_goes_on(tmp_path: Path) -> None:
    engine, _ = closing()
    engine.push([("urn:a", "urn:edge", "urn:b"), ("urn:b", "urn:edge", "urn:c")], time=1)
    engine.snapshot(tmp_path / "it")
    restored = rw.Engine.restore(tmp_path / "it")
    restored.push(("urn:c", "urn:edge", "urn:d"), time=1)
    restored.flush()
    [found] = [query for query in restored.queries if query.name == "found"]
    assert len(found.matches) == 6


def test_a_stream_without_an_iri_is_a_name_and_says_so() -> None:
    engine = rw.Engine()
    with pytest.warns(UserWarning, match="hot is the query's name, and feeds nothing; a stream to feed has an IRI"):
        engine.register("REGISTER STREAM hot AS CONSTRUCT { ?x <urn:q> ?y } WHERE { ?x <urn:p> ?y }")
    assert engine.queries[0].name == "hot"


@pytest.mark.parametrize(
    ("written", "hint"),
    [("MET BY", "MET_BY"), ("NOT SEQ", "did you mean SEQ NOT"), ("THEN", "stands behind SEQ")],
)
def test_words_that_are_nearly_right_get_the_right_one(written: str, hint: str) -> None:
    with pytest.raises(QueryError) as error:
        rw.Engine().register(f"SELECT * WHERE {{ {{ ?x <urn:p> ?y }} {written} {{ ?x <urn:q> ?z }} }}")
    assert hint in error.value.hint


def test_what_static_data_alone_matches_is_told_and_builds_nothing() -> None:
    engine = rw.Engine(static=[[("urn:a", "urn:edge", "urn:b")]])
    rule, query = engine.register(BASE, keep=None), engine.register(FROM_OUT)
    found = engine.push(("urn:c", "urn:edge", "urn:d"), time=1) + engine.flush()
    assert sorted(str(row["a"]) for row in rule.matches) == ["urn:a", "urn:c"]
    assert pairs(query, found) == [("urn:c", "urn:d")]


CHAIN = (
    "PREFIX : <http://e/> REGISTER STREAM :b AS CONSTRUCT { ?x :q ?y } FROM STREAM :s [RANGE 1m] WHERE { ?x :p ?y }",
    "PREFIX : <http://e/> REGISTER STREAM :c AS CONSTRUCT { ?x :r ?y } FROM STREAM :b [RANGE 1m] WHERE { ?x :q ?y }",
)


def test_what_rules_build_in_the_instant_that_a_flush_closes_is_counted_once() -> None:
    engine = rw.Engine()
    for rule in CHAIN:
        engine.register(rule)
    engine.push(("http://e/a", "http://e/p", 1), time=1, stream="http://e/s")
    engine.flush()
    assert (engine.stats()["derivations"], engine.stats()["rounds"]) == (2, 2)
    engine.flush()
    assert (engine.stats()["derivations"], engine.stats()["rounds"]) == (2, 2)
    engine.push(("http://e/a", "http://e/p", 2), time=2, stream="http://e/s")
    engine.advance(3)
    engine.flush()
    assert (engine.stats()["derivations"], engine.stats()["rounds"]) == (4, 4)
