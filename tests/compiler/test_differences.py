"""Differences: what filters on two variables say of their numbers, and which filters say nothing that is sure."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retewave.compiler.algebra import Filter
from retewave.compiler.expressions.differences import Difference, differences
from retewave.compiler.expressions.tree import Expression
from retewave.compiler.parse import parse

XSD = "http://www.w3.org/2001/XMLSchema#"


def condition(text: str) -> Expression:
    where = parse(f"SELECT * WHERE {{ ?s <http://e/p> ?a, ?b, ?c FILTER ({text}) }}", source="test").where
    assert isinstance(where, Filter)
    return where.expression


def found(text: str) -> list[tuple[float, float, float]]:
    """Return the factors of ?a and ?b, and the constant, of each difference."""
    told = []
    for each in differences(condition(text)):
        factors = {name.name: share.factor for name, share in each.shares}
        told.append((factors["a"], factors["b"], each.constant))
    return told


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("?a < ?b", [(1, -1, 0)]),
        ("?a <= 2 * ?b + 1", [(1, -2, -1)]),
        ("?a > 0.5 * ?b", [(-1, 0.5, 0)]),
        ("?a = ?b", [(1, -1, 0), (-1, 1, 0)]),
        ("?a / 4 - ?b * 2 >= -3", [(-0.25, 2, -3)]),
        ("(?a + ?a) * (1 + 1) < - ?b", [(4, 1, 0)]),
        ("?a - 0 < 0 - ?b", [(1, 1, 0)]),
        ("?a < ?b && ?b < 2 * ?a", [(1, -1, 0), (-2, 1, 0)]),
        ("?a < ?b && isIRI(?c)", [(1, -1, 0)]),
    ],
)
def test_a_filter_that_compares_sums_of_two_variables_says_a_difference(text: str, expected: object) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "?a != ?b",
        "?a < 3",
        "?a * ?b < 3",
        "?a < ?b || ?b < 1",
        "! (?a < ?b)",
        "?a < ?b + ?c",
        "?a - ?a < ?b",
        "?a / (?b - 1) < 2",
        "3 / ?a < ?b",
        "?a < ?b * 0",
        "?a < ?b / (1 - 1)",
        "?a < ?b * 1e40",
        "?a < ?b * 1e-20 * 1e-20",
        f'?a < ?b * "2"^^<{XSD}float>',
        "?a < STRLEN(?b)",
        "abs(?a) < ?b",
    ],
)
def test_a_filter_that_says_nothing_sure_of_two_numbers_says_no_difference(text: str) -> None:
    assert list(differences(condition(text))) == []


numbers = st.integers(-(10**6), 10**6).map(lambda number: Fraction(number, 1000))
factors = st.sampled_from(["0.7", "2", "-1.05", "1e0", "0.001", "-3"])


@given(numbers, numbers, factors, factors, st.integers(-5, 5))
def test_where_a_filter_is_true_no_difference_is_above_its_error(
    a: Fraction, b: Fraction, one: str, other: str, constant: int
) -> None:
    left, right = Fraction(one) * a - constant, Fraction(other) * b
    holds = {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right, "=": left == right}
    for operator, is_true in holds.items():
        asked = condition(f"{one} * ?a - {constant} {operator} ?b * {other}")
        above = [excess(each, float(a), float(b)) > 0 for each in differences(asked)]
        assert above
        assert not (is_true and any(above))
        if not is_true and abs(left - right) > Fraction(1, 1000):
            assert any(above)


def excess(difference: Difference, a: float, b: float) -> float:
    """Return by how much a difference is above its error."""
    values = {"a": a, "b": b}
    whole = difference.constant - difference.error
    for place, (name, share) in enumerate(difference.shares):
        whole += share.factor * values[name.name] - difference.slack(place) * abs(values[name.name])
    return whole
