"""`explain` and drawings of queries with operators of time: relations, windows, probes, and when each is decided."""

from __future__ import annotations

import json

import pytest
from cases.many import many
from cases.temporal import Case, temporal_case
from helpers.inside import network_of
from helpers.shown import BETWEEN, NESTED, NEVER, OPTIONAL, OPTIONALSEQ, SEQ, engine_of
from hypothesis import assume, given, settings

import retewave as rw
from retewave.viz.explain.describe import describe
from retewave.viz.explain.description import Section, StepPlan

CASES = many(60)


def sections_of(query: str) -> tuple[Section, ...]:
    return describe(network_of(engine_of(query))).sections


def probe_of(query: str) -> StepPlan:
    return next(each.joins for each in sections_of(query) if each.joins.kind == "probe")


def lines_of(query: str) -> list[str]:
    return [line.strip(" │├└─") for line in engine_of(query).explain().splitlines()]


# Every query


@pytest.mark.filterwarnings("ignore::retewave.engine.registry.CartesianWarning")
@settings(max_examples=CASES, deadline=None)
@given(temporal_case())
def test_whatever_a_query_asks_of_time_it_is_explained_and_drawn(case: Case) -> None:
    engine = rw.Engine(static=[case.static] if case.static else [], stats=True, allow_cartesian=True)
    try:
        engine.register(case.query, name="q")
        network_of(engine)
    except rw.QueryError:  # what the engine refuses
        assume(False)
    text = engine.explain()
    assert "detects, told at " in text
    json.dumps(json.loads(engine.explain("json")))
    graph = engine.graph()
    layers = graph.nodes(data="layer")
    assert all(layers[source] < layers[target] for source, target in graph.edges())
    compiled = network_of(engine)
    assert sum(kind == "probe" for _, kind in graph.nodes(data="kind")) == len(compiled.lowered.probes)
    for drawing in ("all", "network"):
        assert engine.draw(drawing, "dot").startswith(b"digraph")


# What is told when


@pytest.mark.parametrize(
    ("query", "told"),
    [
        (SEQ, "at arrival"),
        (OPTIONALSEQ, "at arrival"),
        (BETWEEN, "at arrival"),
        (NEVER, "at the deadline, start + 5m"),
        (NESTED, "at the deadline, start + 5m"),
        (OPTIONAL, "at the close of the instant"),
        (f"SELECT * {{ {{ ?x e:z ?z }} SEQ {{ {NEVER[11:-2]} }} }}", "at the deadline"),
        ("SELECT * { { ?x e:a ?a OPTIONAL { ?x e:b ?b } } SEQ { ?x e:c ?c } }", "at arrival"),
    ],
)  # fmt: skip
def test_first_line_says_that_a_query_detects_and_when_it_tells(query: str, told: str) -> None:
    sections = sections_of(query)
    assert {each.answers for each in sections} == {"detects"}
    assert sections[-1].told == told
    alternative = f" (alternative {len(sections)} of {len(sections)})" if len(sections) > 1 else ""
    assert f"query q{alternative}: detects, told {told}" in lines_of(query)


# Joins


def test_seq_is_told_as_before_and_other_relations_by_allens_names() -> None:
    assert "join 0 on ?x, star of 3, keeps unbounded, input 1 before input 2, input 2 before input 3" in lines_of(SEQ)
    for name, said in (
        ("OVERLAPS", "input 1 overlaps input 2"),
        ("FINISHED_BY", "input 2 finishes input 1"),
        ("CONTAINS", "input 2 during input 1"),
        ("EQUALS", "input 1 equals input 2"),
    ):
        section = sections_of(f"SELECT * {{ {{ ?x e:a ?a }} {name} {{ ?x e:b ?b }} }}")[0]
        assert section.joins.relations == (said,)


def test_what_no_relation_names_is_told_as_bounds() -> None:
    section = sections_of("SELECT * { ?x e:a ?a OPTIONAL { ?x e:b ?b } }")[0]
    assert section.joins.relations in (
        ("input 1 ends no later than input 2",),
        ("input 2 ends no later than input 1",),
    )


def test_time_of_a_pattern_inside_a_joined_input_is_named_by_the_pattern() -> None:
    relations = sections_of(OPTIONAL)[0].joins.relations
    assert relations == tuple(f"{{ {each} }} ends no later than input 1" for each in ("?x e:b ?b", "?b e:c ?c"))


def test_input_that_can_only_come_last_is_said_to_keep_no_rows() -> None:
    assert "α1  ?x e:b ?b [keeps no rows: it can only come last]" in lines_of(
        "SELECT * { { ?x e:a ?a } SEQ { ?x e:b ?b } }"
    )


# Windows


def test_windows_say_which_words_of_the_query_set_them() -> None:
    assert "join 0 on ?x, keeps less than 5m, input 1 before input 2 [window less than 5m, from getDURATION()]" in (
        lines_of(BETWEEN)
    )
    assert probe_of(NEVER).inputs[0].within == "5m, from WITHIN"
    assert sections_of("SELECT * { { ?x e:a ?a } SEQ { ?x e:b ?b } WITHIN 7s }")[0].joins.within == "7s, from WITHIN"


# Probes


def test_probe_says_what_it_decides_and_what_it_looks_for() -> None:
    assert engine_of(OPTIONALSEQ).explain().splitlines()[-5:] == [
        "    probe 0 on ?x, OPTIONALSEQ: passes if absent, decided at arrival, keeps unbounded",
        "    │    where input 2 before input 1",
        "    │    where (?a < ?b) is true",
        "    ├─ α1  ?x e:b ?b",
        "    └─ looks for α0  ?x e:a ?a",
    ]
    probe = probe_of(OPTIONALSEQ)
    assert (probe.label, probe.wants, probe.key, probe.decided) == ("OPTIONALSEQ", "absent", ("?x",), "at arrival")
    assert (probe.relations, probe.conditions) == (("input 2 before input 1",), ("(?a < ?b)",))
    assert [each.label for each in probe.inputs] == ["?x e:b ?b", "?x e:a ?a"]


@pytest.mark.parametrize(
    ("operator", "query", "wants"),
    [
        ("OPTIONALSEQ", OPTIONALSEQ, "absent"),
        ("EQUALSOPTIONAL", "SELECT * { { ?x e:a ?a } EQUALSOPTIONAL { ?x e:b ?b } }", "absent"),
        ("OPTIONAL", OPTIONAL, "absent"),
        ("MINUS", "SELECT * { ?x e:a ?a MINUS { ?x e:b ?b } }", "absent"),
        ("EXISTS", "SELECT * { ?x e:a ?a FILTER EXISTS { ?x e:b ?b } }", "exists"),
        ("NOT EXISTS", "SELECT * { ?x e:a ?a FILTER NOT EXISTS { ?x e:b ?b } }", "absent"),
        ("SEQ NOT … SEQ", BETWEEN, "absent"),
        ("NOT … SEQ", "SELECT * { NOT { ?x e:a ?a } SEQ { ?x e:b ?b } WITHIN 5m }", "absent"),
        ("SEQ NOT", NEVER, "absent"),
        ("FIRST", "SELECT * { FIRST { ?x e:a ?a } SEQ { ?x e:b ?b } }", "absent"),
        ("LAST", "SELECT * { LAST { ?x e:a ?a } }", "absent"),
    ],
)
def test_every_operator_has_its_name_at_its_probe(operator: str, query: str, wants: str) -> None:
    probe = probe_of(query)
    assert (probe.label, probe.wants) == (operator, wants)
    assert f"{operator}: passes if {'it exists' if wants == 'exists' else 'absent'}" in engine_of(query).explain()


def test_levels_are_told_where_there_are_several() -> None:
    text = engine_of(NESTED).explain()
    assert "level 2 of 2" in text and "level 1 of 2" in text
    assert "level" not in engine_of(NEVER).explain()


def test_absent_part_between_is_placed_by_the_patterns_around_it() -> None:
    assert probe_of(BETWEEN).relations[-2:] == ("{ ?x e:a ?a } before input 2", "input 2 before { ?x e:b ?b }")


def test_memories_of_probes_are_no_joins() -> None:
    described = describe(network_of(engine_of(NEVER)))
    assert (described.joins, described.memories, described.probes) == (0, 1, 1)
    assert engine_of(NEVER).explain().startswith("1 query: 2 α tests, 0 joins, 1 memory, 1 probe\n")
