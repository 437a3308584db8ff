"""The roads: two searches by hand and the engine find the same, and the city is what it is said to be."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retewave as rw
from retewave.bench.roads import soak
from retewave.bench.roads.city import CLOSED, SECOND, STREAM, City, Traffic, city, general, visits
from retewave.bench.roads.engine import RULES, engine_of, poured, visited
from retewave.bench.roads.search import Derived, by_numba, by_python

TOWN = city(side=4, one_way=5)
SQUARE = City(3, np.array([0, 1, 2, 0]), np.array([1, 2, 0, 2]))


def traffic(*events: tuple[int, int, int]) -> Traffic:
    """Return a traffic of (time, road that closes or -1, crossing of an agent or -1)."""
    time, road, at = (np.array(column) for column in zip(*events, strict=True))
    return Traffic(time, road, np.where(road < 0, np.arange(len(events)), -1), at, np.full(len(events), -1))


def test_the_city_has_ten_thousand_roads() -> None:
    town = city()
    assert (town.crossings, len(town.start)) == (2500, 10_000)
    grid = networkx.grid_2d_graph(50, 50).to_directed()
    drawn = set(zip(town.start[:-200].tolist(), town.end[:-200].tolist(), strict=True))
    assert drawn == {(50 * a + b, 50 * c + d) for (a, b), (c, d) in grid.edges}


@pytest.mark.parametrize(("at", "facts"), [(0, 3), (1, 1), (CLOSED, 1), (CLOSED + 1, 3)])
def test_a_closure_holds_from_after_its_instant_to_its_bound(at: int, facts: int) -> None:
    line = City(3, np.array([0, 1]), np.array([1, 2]))
    told = traffic(*sorted([(0, 0, -1), (at, -1, 0)]))
    assert by_python(line, told).facts == by_numba(line, told).facts == facts
    assert poured(line, told, RULES["epsparql"])[0].facts == facts


def test_a_crossing_that_two_roads_lead_to_is_one_fact() -> None:
    told = traffic((0, -1, 0))
    right = Derived(facts=3, solutions=5, answers=0)
    assert by_python(SQUARE, told) == by_numba(SQUARE, told) == right
    assert poured(SQUARE, told, RULES["rq"])[0] == right


@pytest.mark.parametrize("language", RULES)
def test_rules_derive_what_a_search_finds(language: str) -> None:
    told = general(TOWN, 14, closures=3, agents=5)
    right = by_python(TOWN, told)
    assert right.facts < right.solutions
    assert right.facts < 20 * TOWN.crossings, "some road is closed on the way"
    assert by_numba(TOWN, told) == right
    assert poured(TOWN, told, RULES[language])[0] == right


EVENTS = st.lists(
    st.tuples(st.sampled_from([0, 1, 5, 10, 11, 20]), st.integers(-1, 3), st.integers(0, 2)), min_size=1, max_size=12
)


@settings(max_examples=60, deadline=None)
@given(EVENTS)
def test_rules_and_searches_agree_on_closures_at_the_bound(events: list[tuple[int, int, int]]) -> None:
    ordered = sorted(events, key=lambda each: (each[0], each[1]))
    told = traffic(*((at * SECOND, road, -1 if road >= 0 else place) for at, road, place in ordered))
    right = by_python(SQUARE, told)
    assert by_numba(SQUARE, told) == right
    assert poured(SQUARE, told, RULES["rq"])[0] == right


def test_agents_are_answered_and_more_than_half_of_the_roads_is_closed() -> None:
    town = city()
    told = visits(town, 10)
    asked = np.flatnonzero(told.road < 0)
    assert len(asked) == 200
    for row in asked[::50]:
        lately = (told.time >= told.time[row] - CLOSED) & (told.time < told.time[row])
        assert len(np.unique(told.road[lately & (told.road >= 0)])) > 5000


def test_each_agent_that_is_pushed_gets_its_answer() -> None:
    told = visits(TOWN, 3, locations=4, closures=3)
    seen = visited(TOWN, told)
    assert seen.found == by_python(TOWN, told) == by_numba(TOWN, told)
    assert 0 < seen.found.answers < 12
    assert len(seen.asked) == len(seen.busy) == 12


def test_what_agents_of_one_instant_reach_is_theirs() -> None:
    one = traffic((0, 3, -1), (SECOND, -1, 0), (SECOND, -1, 2))
    assert poured(SQUARE, one, RULES["rq"])[0] == by_python(SQUARE, one)


def test_laps_derive_what_one_long_stream_does() -> None:
    town = city(side=20)
    once = soak.lap(town, 2000, 400)
    laps = soak.RoadLaps(once, 3)
    engine = engine_of(town, *RULES["rq"])
    batches = engine.run_batches(rw.read(laps.blocks(), format="nt", rate=soak.RATE, stream=STREAM))
    solutions = sum(len(matches) for batch in batches for matches in batch)
    right = soak.derived(town, once, 3)
    assert Derived(engine.stats()["derivations"], solutions, 0) == right
    assert laps.samples[-1][0] == 6000
    assert 300 < right.facts < 15 * town.crossings, "some roads are closed on the way, and some are open"
