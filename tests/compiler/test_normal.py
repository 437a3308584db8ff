"""The normal form of single queries: what becomes a branch, a table, a step, and what each step may see."""

from __future__ import annotations

import pytest

from retewave.compiler.expressions.tree import Variable, to_sparql
from retewave.compiler.parse import parse
from retewave.compiler.rewrite.normal import Branch, ExtendStep, FilterStep, branches
from retewave.errors import QueryError


def normal(pattern: str) -> tuple[Branch, ...]:
    return branches(parse(f"SELECT * {{ {pattern} }}"))


def steps(branch: Branch) -> list[str]:
    return [
        (f"{step.variable} := " if isinstance(step, ExtendStep) else "") + to_sparql(step.expression)
        for step in branch.steps
    ]


def scopes(branch: Branch) -> list[set[str]]:
    return [{str(variable) for variable in step.scope} for step in branch.steps]


def test_a_conjunction_is_one_branch() -> None:
    (branch,) = normal("?x <urn:p> ?y . { ?y <urn:q> ?z } FILTER(?z = ?x)")
    assert [str(pattern) for pattern in branch.patterns] == ["?x <urn:p> ?y", "?y <urn:q> ?z"]
    assert steps(branch) == ["(?z = ?x)"]
    assert branch.bound == {Variable("x"), Variable("y"), Variable("z")}


def test_unions_multiply_in_the_order_written() -> None:
    found = normal("{ ?x <urn:a> 1 } UNION { ?x <urn:b> 1 } { ?x <urn:c> 1 } UNION { ?x <urn:d> 1 }")
    assert [[pattern.predicate for pattern in branch.patterns] for branch in found] == [
        [b"<urn:a>", b"<urn:c>"],
        [b"<urn:a>", b"<urn:d>"],
        [b"<urn:b>", b"<urn:c>"],
        [b"<urn:b>", b"<urn:d>"],
    ]


def test_a_conjunction_of_conditions_is_several_filters() -> None:
    (branch,) = normal("?x <urn:p> ?y FILTER(?x = 1 && (?y = 2 && ?x != ?y) && (?x = 3 || ?y = 4))")
    assert len(branch.steps) == 4
    assert scopes(branch) == [{"?x"}, {"?y"}, {"?x", "?y"}, {"?x", "?y"}]


def test_a_filter_sees_the_variables_of_its_own_group_only() -> None:
    (branch,) = normal("?x <urn:p> ?y { ?x <urn:q> ?z FILTER(?y = ?z) }")
    assert scopes(branch) == [{"?z"}]


def test_a_table_is_split_by_the_columns_that_a_row_binds() -> None:
    found = normal("VALUES (?x ?y) { (1 2) (UNDEF 3) (4 5) (UNDEF UNDEF) (UNDEF UNDEF) }")
    assert [len(table.rows) for branch in found for table in branch.values] == [2, 1]
    assert [len(branch.values) for branch in found] == [1, 1, 0, 0]


def test_a_bound_variable_that_a_pattern_binds_too_becomes_a_check() -> None:
    (branch,) = normal("{ ?x <urn:p> ?y BIND(?y + 1 AS ?z) FILTER(?z > 1) } ?w <urn:q> ?z")
    assigned, filtered, check = branch.steps
    assert isinstance(assigned, ExtendStep)
    assert isinstance(filtered, FilterStep)
    assert filtered.scope == {assigned.variable}
    assert assigned.variable.hidden
    assert check.scope == {assigned.variable, Variable("z")}
    assert Variable("z") in branch.bound


def test_two_bindings_of_one_variable_are_compared_and_coalesced() -> None:
    (branch,) = normal("{ BIND(1 AS ?z) } { BIND(2 AS ?z) }")
    *_, check, result = branch.steps
    assert isinstance(check, FilterStep)
    assert isinstance(result, ExtendStep)
    assert result.variable == Variable("z")
    assert to_sparql(result.expression).startswith("COALESCE(")


def test_too_many_alternatives_are_refused_before_they_are_built() -> None:
    pair = "{ ?x <urn:a> 1 } UNION { ?x <urn:b> 1 } "
    with pytest.raises(QueryError, match=r"1,024 alternatives, more than 1,000"):
        normal(pair * 10)
    assert len(normal(pair * 9)) == 512
