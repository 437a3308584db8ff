"""The city: the engine reports what an RDF store finds that is asked again at each report; the readings are as said."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path

import pytest

import retewave as rw
from retewave.bench.city.data import QUERIES, background, readings
from retewave.bench.city.engine import reported, written
from retewave.bench.city.peer import asked_again, plain, windows_of

ITEMS = list(readings(6, rate=2, others=1))
KNOWN = background(others=1)


def rounded(rows: Counter[tuple[str, ...]]) -> Counter[tuple[str, ...]]:
    """Return rows in which equal decimals are equal texts."""
    found: Counter[tuple[str, ...]] = Counter()
    for row, count in rows.items():
        found[tuple(_rounded(term) for term in row)] += count
    return found


def _rounded(term: str) -> str:
    lexical, typed, kind = term.partition('"^^<http://www.w3.org/2001/XMLSchema#decimal>')
    return f"{float(lexical[1:]):.6f}{kind}" if typed else term


@pytest.mark.parametrize("number", range(1, 13))
def test_citybench_reports_what_is_found_by_asking_again(number: int, tmp_path: Path) -> None:
    name = f"q{number}.csparql"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # q11 asks for a variable that nothing binds, as the published text does
        found = reported(name, ITEMS, written(KNOWN, tmp_path))
    right = list(asked_again((QUERIES / name).read_text(), ITEMS, KNOWN))
    assert [(time, rounded(rows)) for time, rows in found] == [(time, rounded(rows)) for time, rows in right]
    assert sum(rows.total() for _, rows in right) > 0


@pytest.mark.parametrize("number", [1, 2, 6, 7, 10, 11, 12])
def test_citybench_in_cqels_runs_as_it_is(number: int, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = reported(f"q{number}.cqels", ITEMS, written(KNOWN, tmp_path))
    assert found


@pytest.mark.parametrize("number", [1, 7, 10])
def test_cqels_tells_what_is_new_of_what_csparql_tells(number: int, tmp_path: Path) -> None:
    """The streams' readings name their stream, so merged windows and windows in place find the same rows."""
    places = written(KNOWN, tmp_path)
    all_rows, new = (reported(f"q{number}.{kind}", ITEMS, places) for kind in ("csparql", "cqels"))
    before: Counter[tuple[str, ...]] = Counter()
    for (time, rows), (its_time, its_rows) in zip(all_rows, new, strict=True):
        assert (its_time, its_rows) == (time, rows - before)
        before = rows


def test_a_seed_draws_the_same_readings() -> None:
    assert list(readings(2, others=3)) == list(readings(2, others=3)) != list(readings(2, others=3, seed=2))
    assert background(events=2) == background(events=2)
    times = [reading.time for reading in readings(3, rate=2, others=5)]
    assert times == sorted(times) and times[-1] < 3_000_000


def test_a_text_is_apart_from_its_windows() -> None:
    text = (QUERIES / "q6.csparql").read_text()
    assert [window.width for window in windows_of(text)] == [20_000_000, 3_000_000]
    assert "from" not in plain(text) and "range" not in plain(text)
    with pytest.raises(rw.QueryError):
        rw.Engine().register(text.replace("[range 20s step 1s]", "[range 20s step 0s]"))
