"""DISTINCT ON: once per key, a cool-down, a bound per key; at their bounds, and where they go wrong.

The laws (engine == naive, batch == one by one, restored == never stopped, …) draw such queries in `cases.engine`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from helpers.inside import network_of, sweep
from hypothesis import given
from hypothesis import strategies as st

import retewave as rw
from retewave.compiler.algebra import DistinctOn
from retewave.compiler.parse import parse
from retewave.inspector.reading import counts_by_node
from retewave.rete.reports.cool_down import CoolDown

WHERE = "FROM STREAM <http://e/s> [RANGE {window}] WHERE {{ ?x <http://e/in> ?room }}"


def told(head: str, *events: tuple[float, str, str], window: str = "1s") -> list[tuple[float, str]]:
    """Return (time, room) of what is reported of events (time, sensor, room)."""
    engine = engine_of(head, window)
    return [found for event in events for found in push(engine, *event)]


def engine_of(head: str, window: str = "1s", **options: Any) -> rw.Engine:
    engine = rw.Engine(max_future=None, seed=1, **options)
    engine.register(f"{head} {WHERE.format(window=window)}", name="q")
    return engine


def push(engine: rw.Engine, time: float, sensor: str, room: str) -> list[tuple[float, str]]:
    triple = (f"http://e/{sensor}", "http://e/in", f"http://e/{room}")
    return [(cast(float, match.end), room) for match in engine.push(triple, time=time, stream="http://e/s")]


def test_a_cool_down_begins_at_a_report_and_ends_behind_its_bound() -> None:
    events = [(time, "x", "a") for time in (0, 4, 5, 5.000001, 9, 11)]
    assert told("SELECT DISTINCT ON (?room) FOR 5s ?room", *events) == [(0, "a"), (5.000001, "a"), (11, "a")]


def test_what_is_not_reported_does_not_prolong_a_cool_down_but_keeps_a_plain_distinct_on_silent() -> None:
    events = [(time, f"x{time}", "a") for time in range(8)]
    assert told("SELECT DISTINCT ON (?room) FOR 2s ?x", *events) == [(0, "a"), (3, "a"), (6, "a")]
    assert told("SELECT DISTINCT ON (?room) ?x", *events, window="2s") == [(0, "a")]


def test_rooms_cool_down_by_themselves() -> None:
    events = [(0, "x", "a"), (1, "x", "b"), (6, "x", "a"), (6, "x", "b"), (7, "x", "b")]
    assert told("SELECT DISTINCT ON (?room) FOR 5s ?x", *events) == [(0, "a"), (1, "b"), (6, "a"), (7, "b")]


def test_a_bound_per_key_counts_the_reports_within_the_time() -> None:
    events = [(time, "x", "a") for time in (0, 1, 2, 5, 6, 7, 8)]
    found = [time for time, _ in told("SELECT DISTINCT ON (?room) LIMIT 2 FOR 5s ?room", *events)]
    assert found == [0, 1, 6, 7]


def test_empty_parentheses_are_one_key_for_the_whole_query() -> None:
    events = [(0, "x", "a"), (1, "y", "b"), (6, "y", "b")]
    assert told("SELECT DISTINCT ON () FOR 5s *", *events) == [(0, "a"), (6, "b")]


@pytest.mark.parametrize("order", [["a1", "a2", "b1"], ["b1", "a2", "a1"], ["a2", "b1", "a1"]])
def test_within_an_instant_whether_a_key_is_reported_does_not_depend_on_the_order(order: list[str]) -> None:
    events = [(0, sensor, sensor[0]) for sensor in order]
    assert sorted(told("SELECT DISTINCT ON (?room) FOR 0s ?x", *events)) == [(0, "a"), (0, "b")]
    assert len(told("SELECT DISTINCT ON (?room) LIMIT 2 FOR 0s ?x", *events)) == 3


def test_distinct_on_all_that_is_shown_is_distinct() -> None:
    events = [(time, "x", room) for time, room in enumerate("abaabbabab")]
    plain = told("SELECT DISTINCT ?room ?x", *events)
    assert told("SELECT DISTINCT ON (?x ?room) ?room ?x", *events) == plain


def test_unbound_equals_unbound() -> None:
    engine = rw.Engine(max_future=None)
    union = "{ ?x <http://e/in> ?room } UNION { ?x <http://e/of> ?other }"
    engine.register(f"SELECT DISTINCT ON (?room) FOR 5s ?x WHERE {{ {union} }}")
    found = [
        len(engine.push((f"http://e/{s}", f"http://e/{p}", "http://e/r"), time=time))
        for time, (s, p) in enumerate([("x", "of"), ("y", "of"), ("x", "in"), ("y", "in"), ("z", "of")])
    ]
    assert found == [1, 0, 1, 0, 0]


def test_an_expression_is_a_key_by_its_name_shown_or_bound() -> None:
    events = [(0, "x1", "a"), (1, "x2", "a"), (2, "y1", "a")]
    key = "SUBSTR(STR(?x), 10, 1)"
    assert told(f"SELECT DISTINCT ON (?k) FOR 5s ({key} AS ?k)", *events) == [(0, "a"), (2, "a")]
    engine = rw.Engine(max_future=None)
    engine.register(f"SELECT DISTINCT ON (?k) FOR 5s ?x WHERE {{ ?x <http://e/in> ?room BIND({key} AS ?k) }}")
    assert [found for event in events for found in push(engine, *event)] == [(0, "a"), (2, "a")]


def test_a_construct_query_builds_once_per_key_that_its_template_does_not_show() -> None:
    head = "CONSTRUCT DISTINCT ON (?room) FOR 5s { ?x a <http://e/Found> }"
    engine = engine_of(head)
    assert len(engine.queries[0].variables) == 1
    found = [match.triples for time in range(7) for match in engine.push(
        (f"http://e/x{time}", "http://e/in", "http://e/a"), time=time, stream="http://e/s")]  # fmt: skip
    assert [len(each) for each in found] == [1, 1]


def test_static_data_is_one_instant_before_the_stream() -> None:
    text = "SELECT DISTINCT ON (?room) LIMIT 2 FOR 5s ?x WHERE { ?x <http://e/in> ?room }"
    triples = [(f"http://e/x{n}", "http://e/in", "http://e/a") for n in range(4)]
    engine = rw.Engine(static=[triples], max_future=None)
    engine.register(text)
    assert len(engine.flush()) == 2
    sweep(engine)  # it must not forget them before the stream has begun
    engine.load(static=[[("http://e/x9", "http://e/in", "http://e/a")]])
    assert engine.flush() == []
    assert [len(push(engine, time, "y", "a")) for time in (-9e9, 0, 1, 2)] == [1, 1, 1, 0]


# ---- what is remembered ----
def test_it_is_bounded_by_the_keys_reported_within_the_time() -> None:
    engine = engine_of("SELECT DISTINCT ON (?room) LIMIT 3 FOR 5s ?x")
    for second in range(2_000):
        push(engine, second, "x", f"r{second}")
    (stage,) = network_of(engine).outcome.reports[0]
    assert isinstance(stage.report, CoolDown)
    assert len(stage.report.latest) <= 256
    sweep(engine)
    assert len(stage.report) == 6
    assert len(engine.terms) < 100


def test_terms_that_only_a_cool_down_remembers_outlive_sweeps() -> None:
    engine = engine_of("SELECT DISTINCT ON (?room) FOR 1h ?x")
    assert push(engine, 0, "x", "a")
    for second in range(1, 200):
        push(engine, second, f"x{second}", f"r{second}")
        sweep(engine)
    assert push(engine, 300, "y", "a") == []
    assert push(engine, 301, "y", "fresh") == [(301, "fresh")]


def test_it_is_in_explain_stats_why_not_and_the_inspector(tmp_path: Path) -> None:
    engine = engine_of("SELECT DISTINCT ON (?room) LIMIT 3 FOR 5m ?room", stats=True)
    for second in range(5):
        push(engine, second, f"x{second}", "a")
    assert "  reports at most 3 for each ?room within 5m\n" in engine.explain()
    assert json.loads(engine.explain("json"))["sections"][0]["on"] == "at most 3 for each ?room within 5m"
    assert (engine.stats()["suppressed"], engine.stats()["remembered"]) == ({"q": 2}, {"q": 1})
    assert counts_by_node(network_of(engine))["query:q"] == {"matches": 3, "suppressed": 2, "remembered": 1}
    assert "at most 3 for each ?room within 5m" in str(engine.why_not(engine.queries[0], {"room": "http://e/a"}))
    engine.snapshot(tmp_path / "one")
    restored = rw.Engine.restore(tmp_path / "one")
    assert restored.stats()["suppressed"] == {"q": 2}
    assert push(restored, 6, "x", "a") == push(engine, 6, "x", "a") == []


@given(
    most=st.integers(1, 3),
    width=st.integers(0, 4),
    steps=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.booleans()), max_size=60),
)
def test_advancing_and_taking_over_its_state_change_nothing(
    most: int, width: int, steps: list[tuple[int, int, bool]]
) -> None:
    one, other, now = CoolDown.empty(1, width, most), CoolDown.empty(1, width, most), 0
    for step, key, stop in steps:
        now += step
        row, time = np.array([[key]]), np.array([now])
        assert one.new(row, time, time).tolist() == other.new(row, time, time).tolist()
        if stop:
            other.advance(now)
            fresh = CoolDown.empty(1, width, most)
            fresh.put(other.state())
            other = fresh


# ---- the text ----
def test_it_is_read_with_all_its_parts() -> None:
    text = "select distinct on (?x ?y) limit 3 for 1.5s ?x where { ?x a ?y }"
    assert parse(text).on == DistinctOn(("x", "y"), 1_500_000, 3)
    assert parse("CONSTRUCT DISTINCT ON () { ?x a ?x } { ?x a ?y }").on == DistinctOn(())
    assert parse("SELECT DISTINCT * { ?x a ?y }").on is None


@pytest.mark.parametrize(
    ("part", "column", "said", "hint"),
    [
        ("ON (?rom) ?x", 21, "?rom does not occur in the pattern", "did you mean ?room?"),
        ("ON (STR(?x)) ?x", 21, "an expression in DISTINCT ON", "write ON (?key)"),
        ("ON ((?x AS ?k)) ?x", 22, "an expression in DISTINCT ON", "write ON (?key)"),
        ("ON (?x) LIMIT 3 ?x", 25, "LIMIT behind DISTINCT ON needs FOR", "LIMIT 3 FOR 5m"),
        ("ON (?x) LIMIT 0 FOR 5s ?x", 31, "from 1 to 1,000, not 0", ""),
        ("ON (?x) LIMIT 1001 FOR 5s ?x", 31, "from 1 to 1,000, not 1001", ""),
        ("ON (?x) FOR 0.0000001s ?x", 29, "is not a whole number of microseconds", ""),
        ("ON (?x) FOR 5 ?x", 29, "'5' cannot stand here", "a duration such as 5m"),
        ("ON ?x", 20, "'?x' cannot stand here", "'('"),
    ],
)
def test_what_cannot_be_meant_is_an_error_with_its_place(part: str, column: int, said: str, hint: str) -> None:
    with pytest.raises(rw.QueryError) as error:
        parse(f"SELECT DISTINCT {part} WHERE {{ ?x <http://e/in> ?room }}")
    assert error.value.place is not None
    assert error.value.place.column == column
    assert said in str(error.value)
    assert hint in str(error.value)
