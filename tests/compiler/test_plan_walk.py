"""What an end of the plan reaches: every pattern and inline table that was written, once, in the words of its query."""

from __future__ import annotations

import json

import pytest
from helpers.inside import network_of

from retewave import Engine
from retewave.compiler.plan.producers import AlphaTest
from retewave.compiler.plan.walk import depths, reached, users_of
from retewave.viz.explain.names import Prefixes, pattern_parts

QUERIES = (
    "SELECT * { ?x <urn:p> ?y }",
    "SELECT * { ?x <urn:p> ?y . ?y <urn:q> ?z . ?x <urn:r> ?z . VALUES (?x ?z) { (<urn:a> <urn:b>) } }",
    "SELECT * { ?x <urn:p> ?y . ?x <urn:p> ?z . ?x <urn:p> <urn:a> }",  # equal producers under one join
    "SELECT * { ?b <urn:p> ?a . ?a <urn:p> ?b . ?a ?p ?a }",
)


@pytest.mark.parametrize("text", QUERIES)
def test_the_leaves_of_an_end_are_the_patterns_and_tables_as_they_are_written(text: str) -> None:
    engine = Engine()
    engine.register(text)
    plan = network_of(engine).plan
    (end,) = plan.ends
    (member,) = end.shape.members
    leaves = sorted(reached(plan, end).leaves(), key=lambda leaf: leaf.leaf)
    written = [*member.steps.patterns, *member.steps.values]
    assert [leaf.leaf for leaf in leaves] == list(range(len(written)))
    for leaf, pattern in zip(leaves, member.steps.patterns, strict=False):
        assert isinstance(leaf.producer, AlphaTest)
        assert " ".join(pattern_parts(leaf.producer, leaf.names, Prefixes())) == str(pattern)


def test_each_member_of_a_shape_reads_the_tree_in_its_own_words() -> None:
    engine = Engine()
    for name, other in (("x", "y"), ("a", "b")):
        engine.register(f"SELECT * {{ ?{name} <urn:p> ?{other} . ?{other} <urn:q> <urn:{name}> }}")
    plan = network_of(engine).plan
    (end,) = plan.ends
    said = [
        {name for leaf in reached(plan, end, each).leaves() for name in leaf.names.values()}
        for each in end.shape.members
    ]
    assert said == [{"?x", "?y", "$1"}, {"?a", "?b", "$1"}]


def test_a_producer_is_as_deep_as_the_joins_below_it_and_knows_the_ends_that_use_it() -> None:
    engine = Engine()
    for text in QUERIES:
        engine.register(text, allow_cartesian=True)
    plan = network_of(engine).plan
    below = [
        {each.number: max((inner.number != each.number) for inner in each.walk()) for each in reached(plan, end).walk()}
        for end in plan.ends
    ]
    for number, (users, depth) in enumerate(zip(users_of(plan), depths(plan), strict=True)):
        assert users == {place for place, numbers in enumerate(below) if number in numbers}
        assert (depth > 0) == any(numbers.get(number, False) for numbers in below)


def test_explain_tells_the_line_in_which_a_pattern_is_written() -> None:
    engine = Engine()
    engine.register("SELECT * {\n  ?x <urn:p> ?y .\n  ?y a <urn:C> .\n}")
    (section,) = json.loads(engine.explain("json"))["sections"]
    assert sorted(pattern["line"] for pattern in section["patterns"]) == [2, 3]
