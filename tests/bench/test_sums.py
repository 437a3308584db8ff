"""Rule (5) and query (6) of the EP-SPARQL paper tell what plain Python tells, in either window and either form."""

from __future__ import annotations

from fractions import Fraction

import pytest

from retewave.bench.sums import FORMS, WINDOWS, ToldSum, by_hand, prices, same, told

ignored = pytest.mark.filterwarnings(
    "ignore::retewave.engine.accepting.CartesianWarning", "ignore::retewave.engine.accepting.UnboundedWarning"
)


@ignored
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("form", FORMS)
def test_each_price_makes_a_sum_and_each_window_an_average(form: str, window: str) -> None:
    windows = prices(7, 4)
    found, _ = told(form, window, windows)
    assert same(found, by_hand(windows))
    assert (len(found.sums), len(found.averages)) == (28, 4)


def test_another_sum_or_average_is_not_the_same() -> None:
    right = by_hand([[1, 2], [5, 5]])
    assert same(right, ToldSum(list(right.sums), [each + Fraction(1, 10**15) for each in right.averages]))
    assert not same(right, ToldSum(right.sums[:-1], right.averages))
    assert not same(right, ToldSum(list(right.sums), [Fraction(3, 2), Fraction(6)]))
    assert not same(right, ToldSum(list(right.sums), right.averages[:1]))
