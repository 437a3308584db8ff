"""`explain` says what the plan is, in the words of the queries."""

from __future__ import annotations

import json
from typing import Any

import pytest
from helpers.explained import agrees_with_golden, bsbm_engine, bsbm_query, social_engine
from helpers.inside import network_of

import retewave as rw
from retewave.viz.explain.describe import describe
from retewave.viz.explain.description import Section, StepPlan
from retewave.viz.explain.text import explain, explain_data

PREFIX = "PREFIX e: <http://e/>\n"
SCHEMA = (
    b"@prefix e: <http://e/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
    b"@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
)


def engine_of(*queries: str, schema: str = "", **options: Any) -> rw.Engine:
    engine = rw.Engine(schema=[SCHEMA + schema.encode()] if schema else [], **options)
    for query in queries:
        engine.register(PREFIX + query)
    return engine


def section_of(query: str, **options: str) -> Section:
    (section,) = describe(network_of(engine_of(query, **options))).sections
    return section


def text_of(*queries: str, **options: str) -> str:
    return engine_of(*queries, **options).explain()


def steps_of(step: StepPlan) -> list[StepPlan]:
    return [step, *(deeper for each in step.inputs for deeper in steps_of(each))]


# Golden files


def test_the_papers_social_example_is_explained_as_ever() -> None:
    assert agrees_with_golden(social_engine().explain(), "social.explain.txt")


def test_the_papers_three_benchmark_patterns_are_explained_as_ever() -> None:
    assert agrees_with_golden(bsbm_engine().explain(), "bsbm.explain.txt")


def test_a_view_says_what_is_kept_and_what_is_evaluated() -> None:
    told = text_of(
        "SELECT ?x (AVG(?y) AS ?mean) FROM STREAM e:s [RANGE 9s STEP 3s] { ?x e:p ?y } GROUP BY ?x ORDER BY ?mean",
        "REGISTER ISTREAM e:o AS SELECT ?x FROM STREAM e:s [RANGE 9s STEP 3s] { ?x e:p ?y BIND(?y + 1 AS ?z) }",
        """SELECT * FROM NAMED WINDOW e:w ON e:s [RANGE 9s STEP 3s]
        { WINDOW e:w { ?x e:p ?y . ?y e:q ?z OPTIONAL { ?z e:r+ ?v } } }""",
    )
    assert agrees_with_golden(told, "views.explain.txt")


def test_two_engines_explain_the_same_queries_alike() -> None:
    assert bsbm_engine(seed=1).explain() == bsbm_engine(seed=2).explain()


# ε


def test_an_axiom_is_shown_where_it_lets_an_input_reach_a_pattern() -> None:
    (pattern,) = section_of("SELECT * { ?who a e:Person }", schema="e:knows rdfs:range e:Person .").patterns
    (form,) = pattern.entailed_by
    assert form.input == "_ e:knows ?who"
    assert form.axioms == ("e:knows rdfs:range e:Person",)
    assert form.no_literal


def test_the_axioms_of_a_way_are_in_the_order_of_the_way() -> None:
    schema = "e:greets rdfs:subPropertyOf e:meets . e:meets owl:inverseOf e:isMetBy ."
    (pattern,) = section_of("SELECT * { ?a e:isMetBy ?b }", schema=schema).patterns
    form = next(form for form in pattern.entailed_by if "e:greets" in form.input)
    assert form.input == "?b e:greets ?a"
    assert form.axioms == ("e:greets rdfs:subPropertyOf e:meets", "e:meets owl:inverseOf e:isMetBy")


def test_what_the_schema_says_of_an_open_class_is_shown() -> None:
    (pattern,) = section_of("SELECT * { ?x a ?class }", schema="e:pilots rdfs:domain e:Pilot .").patterns
    assert [(form.input, form.binds) for form in pattern.entailed_by] == [("?x e:pilots _", ("?class = e:Pilot",))]


def test_more_than_eight_forms_of_input_are_counted_and_not_listed() -> None:
    schema = " ".join(f"e:C{n} rdfs:subClassOf e:C ." for n in range(20))
    (pattern,) = section_of("SELECT * { ?x a e:C }", schema=schema).patterns
    assert (len(pattern.entailed_by), pattern.forms) == (8, 20)
    assert "and 12 more forms of input" in text_of("SELECT * { ?x a e:C }", schema=schema)


def test_triples_that_the_schema_states_are_counted() -> None:
    schema = "[ owl:oneOf (e:a e:b) ] rdfs:subClassOf e:C ."
    assert "2 triples that the schema states" in text_of("SELECT * { ?x a e:C }", schema=schema)


# Joins


def test_a_star_join_is_said_to_be_one() -> None:
    section = section_of("SELECT * { ?x e:p ?a ; e:q ?b ; e:r ?c }")
    assert (section.joins.kind, section.joins.key, len(section.joins.inputs)) == ("star", ("?x",), 3)


def test_a_pattern_alone_has_no_join() -> None:
    assert "  no join\n    α0  ?s ?p ?o" in text_of("SELECT * { ?s ?p ?o }")


def test_a_cartesian_product_is_named() -> None:
    with pytest.warns(UserWarning, match="share no variable"):
        text = text_of("SELECT * { ?a e:p 1 . ?b e:q 2 }", allow_cartesian=True)  # type: ignore[arg-type]
    assert "cartesian product" in text


def test_one_test_that_serves_two_patterns_is_told_in_the_variables_of_each() -> None:
    labels = {step.label for step in steps_of(section_of("SELECT * { ?a e:p ?b . ?b e:p ?c }").joins)}
    assert {"?a e:p ?b", "?b e:p ?c"} < labels


def test_a_repeated_variable_stands_in_both_its_places() -> None:
    assert "?x e:p ?x" in text_of("SELECT * { ?x e:p ?x }")


def test_inline_data_is_a_step_with_its_number_of_rows() -> None:
    assert "VALUES (?b), 2 rows [static]" in text_of("SELECT * { ?a e:p ?b VALUES ?b { 1 2 } }")


def test_a_memory_with_static_rows_is_marked() -> None:
    engine = engine_of("SELECT * { ?a e:p ?b . ?b e:q ?c }")
    engine.load(static=[b"<http://e/b> <http://e/q> <http://e/c> ."])
    marked = [line for line in engine.explain().splitlines() if "[static]" in line]
    assert len(marked) == 1 and "?b e:q ?c" in marked[0]


def test_an_alternative_is_a_section_of_its_own() -> None:
    text = text_of(
        "REGISTER QUERY u AS PREFIX e: <http://e/> SELECT * { { ?x e:p ?y } UNION { ?x e:q ?y . ?y e:r ?z } }"
    )
    assert "query u (alternative 1 of 2)" in text and "query u (alternative 2 of 2)" in text


# Windows


def test_a_shared_join_says_that_it_keeps_the_widest_window() -> None:
    stream, pattern = "FROM STREAM <http://e/s>", "{ ?a e:p ?b . ?b e:q ?c }"
    text = text_of(f"SELECT * {stream} [RANGE 1s] {pattern}", f"SELECT ?a {stream} [RANGE 5m] {pattern}")
    assert "stream e:s, window 1s to 5m" in text
    assert "join 0 on ?b, keeps 5m" in text
    assert "this is what query1 shows and filters; others differ" in text


def test_streams_show_their_own_windows() -> None:
    text = text_of("SELECT * FROM STREAM <http://e/s> [RANGE 1s] FROM STREAM <http://e/t> [RANGE 2h] { ?a e:p ?b }")
    assert "stream e:s, window 1s\n  stream e:t, window 2h" in text


# Sharing


def test_patterns_and_joins_name_the_queries_that_they_are_shared_with() -> None:
    patterns = describe(network_of(bsbm_engine())).sections[0].patterns
    assert patterns[0].shared_with == ("pattern2", "pattern3")
    assert "join 0 on ?offer, star of 10, keeps 5s  (shared with pattern2, pattern3)" in bsbm_engine().explain()


def test_a_thousand_queries_of_one_shape_are_one_section() -> None:
    engine = engine_of(*(f"SELECT * {{ ?offer e:product e:P{n} ; e:price ?price }}" for n in range(1000)))
    (section,) = describe(network_of(engine)).sections
    assert (section.count, len(section.queries), section.open[0].terms) == (1000, 8, 1000)
    assert "1,000 queries of one shape: query1, query2" in engine.explain()
    assert "?offer e:product $1" in engine.explain()


def test_queries_of_one_shape_that_filter_differently_are_said_to_differ() -> None:
    text = text_of("SELECT * { ?x e:p 1 ; e:q ?y FILTER(?y < 3) }", "SELECT * { ?x e:p 2 ; e:q ?y FILTER(?y < 4) }")
    assert "this is what query1 shows and filters; others differ" in text


# Filters


def test_a_filter_says_where_it_is_done_and_by_whom() -> None:
    filters = "FILTER(?y < 3) FILTER(REGEX(?z, 'a.')) FILTER(CONCAT(?y, ?z) = 'b') BIND(?y + 1 AS ?n)"
    section = section_of(f"SELECT * {{ ?x e:p ?y ; e:q ?z {filters} }}")
    assert {each.by: each.early for each in section.filters} == {
        "the kernel decides": True,
        "Python decides, once a term": True,
        "Python decides, for each candidate match": False,
        "Python computes, for each match": False,
    }
    assert [step.filters for step in steps_of(section.joins) if step.filters] == [("(?y < 3)",), ('REGEX(?z, "a.")',)]


# Data


def test_data_is_json_and_says_what_the_text_says() -> None:
    compiled = network_of(social_engine())
    data = json.loads(json.dumps(explain_data(compiled)))
    assert data["sections"][0]["patterns"][0]["pattern"] in explain(compiled)
    assert "counts" not in data and "counts" in explain_data(compiled, stats=True)


def test_an_engine_without_queries_explains_itself() -> None:
    assert rw.Engine().explain() == "0 queries: 0 α tests, 0 joins, 0 memories\n"


def test_another_shape_or_window_is_another_text() -> None:
    first, second = rw.Engine(), rw.Engine()
    first.register(bsbm_query(1))
    second.register(bsbm_query(1, window="6s"))
    assert first.explain() != second.explain()
