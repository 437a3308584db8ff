"""Rule (5) and query (6) of the EP-SPARQL paper tell what plain Python tells, in either window and either form."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from retewave.bench.events.task import EventFound
from retewave.bench.peers.events import etalis
from retewave.bench.sums import FORMS, WINDOWS, ToldSum, by_etalis, by_hand, prices, same, told

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


@pytest.mark.skipif(bool(etalis.missing()), reason=etalis.missing() or "it is there")
def test_etalis_sums_up_each_window(tmp_path: Path) -> None:
    assert by_etalis(prices(7, 5), tmp_path)[0]


def test_an_answer_of_etalis_with_another_sum_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    windows = [[20, 30], [1, 2]]
    for matches, total, right in ((2, 53, True), (2, 52, False), (1, 53, False)):
        found = EventFound(matches, 1.0, 0.5, total)
        monkeypatch.setattr(etalis, "play", lambda *words, found=found: found)
        assert by_etalis(windows, tmp_path) == (right, 0.5)
    assert (tmp_path / "sums.pl").read_text().splitlines()[:4] == [
        "size(2).", "width(4).", "at(1, point(0)).", "at(2, price(20)).",
    ]  # fmt: skip
