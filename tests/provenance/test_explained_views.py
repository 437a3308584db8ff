"""Law: the triples that explain a row of a report are in its windows, and alone give the row again."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from cases.many import many
from cases.views import Written, engine_of, pushed, told, written
from naive.view_graphs import Row
from naive.view_windows import Item, NaiveWindow
from naive.views import NaiveView

import retewave as rw

SEEDS = 200  # a test's share of the cases
_Arrival = tuple[object, str | None, tuple[str, str, str] | None]  # time, stream, triple


@dataclass(frozen=True)
class Alone(NaiveWindow):
    """A window in which some only are of the items that it would have."""

    kept: frozenset[_Arrival] = frozenset()

    def inside(self, items: list[Item], now: int) -> Iterator[tuple[int, Item]]:
        for place, each in super().inside(items, now):
            if (each.time, each.stream, each.triple) in self.kept:
                yield place, each


def alone(view: NaiveView, kept: frozenset[_Arrival]) -> NaiveView:
    windows = (Alone(each.name, each.stream, each.extent, each.patterns, kept) for each in view.windows)
    return replace(view, windows=tuple(windows))


def is_sure(view: Written) -> bool:
    """Tell whether no row can come back because what took it away, or was before it, is no part of the explanation."""
    counts = re.search(r"COUNT|SUM|AVG|MIN\(|MAX|LIMIT", view.text)
    denies = re.search(r"MINUS|NOT EXISTS|OPTIONAL", view.text)
    consumes = view.naive.match is not None and view.naive.match.policy.consumes
    return not ((counts and denies) or consumes or "OFFSET" in view.text)


def check_row(view: Written, items: list[Item], match: rw.Match) -> None:
    explained = match.explain()
    kept = frozenset((each.end, each.stream, each.terms) for each in explained.arrivals if each.end is not None)
    derived = match._batch.derived
    assert derived is not None
    now = int(match.end) if derived.before is None else derived.before // 1_000_000  # type: ignore[arg-type]
    there = {
        (each.time, each.stream, each.triple) for window in view.naive.windows for _, each in window.inside(items, now)
    }
    assert kept <= there, f"{view.text}\n{items}\n{explained}"
    static = {*view.static, *(triple for triples in view.graphs.values() for triple in triples)}
    assert {each.terms for each in explained.arrivals if each.end is None} <= static
    whole = all(each.count in (None, len(each.sides)) for each in explained.reckonings)
    if whole and is_sure(view):
        ((_, rows),) = told(match.query, [match])
        (row,) = rows
        again: Counter[Row] = alone(view.naive, kept).evaluated(items, now, set())
        assert row in again, f"{view.text}\n{items}\n{view.static}\n{view.graphs}\n{explained}\n{again}"


@pytest.mark.parametrize("part", range(5))
def test_the_triples_of_an_explained_row_are_in_its_windows_and_alone_give_it_again(part: int) -> None:
    sure = 0
    for seed in range(part * many(SEEDS), (part + 1) * many(SEEDS)):
        view, items = written(1_000_000 + seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            engine, query = engine_of(view, explain=True)
            matches = pushed(engine, items)
        wanted = [(time, rows) for time, rows in view.naive.reports(items, items[-1].time) if rows]
        assert told(query, matches) == wanted
        for match in matches:
            sure += is_sure(view)
            check_row(view, items, match)
    assert many(SEEDS) < 50 or sure > many(SEEDS) // 2
