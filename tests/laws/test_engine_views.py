"""The engine's views are those of the meaning: random windows, reports and queries over random streams."""

from __future__ import annotations

import warnings

import pytest
from cases.many import many
from cases.views import engine_of, pushed, told, written

SEEDS = 300  # a test's share of the cases


def check(seed: int) -> None:
    view, items = written(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        engine, query = engine_of(view)
        found = told(query, pushed(engine, items))
    wanted = [(time, rows) for time, rows in view.naive.reports(items, items[-1].time) if rows]
    assert found == wanted, f"seed {seed}\n{view.text}\n{items}\n{view.static}"


@pytest.mark.parametrize("part", range(10))
def test_reports_are_those_of_the_meaning(part: int) -> None:
    for seed in range(part * many(SEEDS), (part + 1) * many(SEEDS)):
        check(seed)
