"""What the laws of time have once found wrong: each test failed on the code as it was."""

from __future__ import annotations

import pytest
from naive.detectors import detected
from naive.streams import Item

import retewave as rw
from retewave.compiler.parse import parse

P = "?x <http://e/p> ?z"


def ends(engine: rw.Engine, *times: float | tuple[float, float]) -> list[float]:
    """Push <a> <p> <a> at some times, and flush; return the ends of the matches."""
    found = [match for time in times for match in engine.push(("http://e/a", "http://e/p", "http://e/a"), time=time)]
    return [float(match.end) for match in [*found, *engine.flush()]]  # type: ignore[arg-type]


def test_a_deadline_beside_a_condition_that_python_decides_is_taken_for_no_term() -> None:
    engine = rw.Engine()
    engine.register(f'SELECT * {{ {{ {P} }} SEQ NOT {{ {P} FILTER(REGEX(STR(?x), "[a-z]$")) }} WITHIN 5s }}')
    assert ends(engine, 1, 2, 10) == [7, 15]


def test_what_may_be_missing_and_what_it_is_missed_by_may_both_bind_a_variable_by_bind() -> None:
    engine = rw.Engine()
    engine.register(f"SELECT * {{ {P} BIND(?x AS ?b) OPTIONAL {{ ?x <http://e/p> ?w BIND(?w AS ?b) }} }}")
    assert ends(engine, 1, 2) == [1, 2, 2]


def test_an_answer_that_the_kernel_finds_in_the_memo_by_then_is_not_the_next_ones() -> None:
    engine = rw.Engine()
    right = "?y <http://e/p> ?w BIND(?w AS ?b) FILTER(?b < 2) { ?x <http://e/p> ?z BIND(?x + 1 AS ?b) }"
    engine.register(f"SELECT * {{ {P} BIND(?x AS ?b) OPTIONAL {{ {right} }} }}", allow_cartesian=True)
    assert engine.push(("http://e/a", "http://e/p", 1), time=8) == []
    (alone,) = engine.flush()
    assert alone.text("b") == b"<http://e/a>"


def test_open_deadlines_outlive_a_new_network_where_a_probe_is_looked_at_by_the_same_with_a_filter() -> None:
    engine = rw.Engine()
    engine.register(
        f"SELECT * {{ LAST {{ {{ {P} FILTER(BOUND(?x)) }} SEQ NOT {{ ?x <http://e/q> ?z }} WITHIN 5s }} }}",
        allow_cartesian=True,
    )
    assert ends(engine, 1, 2, (2, 3)) == [6, 7, 7]  # with the interval, the network is made anew


def test_another_filter_around_the_same_pattern_is_another_query_to_what_waits() -> None:
    engine = rw.Engine()
    missing = f"{{ {P} OPTIONAL {{ ?x <http://e/q> ?z }} }}"
    query = engine.register(f"SELECT * {{ {missing} FILTER(BOUND(?x)) }}")
    other = engine.register(f"SELECT * {{ {missing} FILTER(ISIRI(?x)) }}")
    assert ends(engine, 1) == [1, 1]
    engine.remove(other)
    assert ends(engine, 2, 3) == [2, 3]
    assert query.matched == 3


def test_what_an_absence_would_bar_is_unknown_as_long_as_that_absence_is() -> None:
    engine = rw.Engine()
    engine.register("SELECT * { ?x <http://e/else> ?z }")
    assert ends(engine, 1) == []
    barred = f"{{ NOT {{ ?x <http://e/q> ?z }} SEQ {{ {P} }} WITHIN 5s }}"
    engine.register(f"SELECT * {{ NOT {{ {barred} }} SEQ {{ {P} }} WITHIN 2s }}")
    # From 4 on it knows its own window, but not whether a <q> before its registration bars what is in that window.
    assert ends(engine, 4, 5, 12, 13, 15.5) == [12, 15.5]


def test_minus_that_shares_no_variable_is_no_absence_and_waits_for_nothing_before_the_registration() -> None:
    engine, where = rw.Engine(), parse(f"SELECT * {{ {P} MINUS {{ <http://e/a> <http://e/q> ?w }} }}")
    engine.register("SELECT * { ?x <http://e/else> ?z }")
    assert ends(engine, 1) == []
    engine.register(where)
    assert ends(engine, 2, 3) == [2, 3]
    a, p = b"<http://e/a>", b"<http://e/p>"
    items = [Item((a, p, a), time, time) for time in (2, 3)]
    assert [each.end for each in detected(where, items, registered=1)] == [2, 3]


@pytest.mark.parametrize("which", ["LAST", "FIRST"])
def test_of_single_triples_the_last_since_the_registration_is_the_last_and_the_first_is_unknown(which: str) -> None:
    engine = rw.Engine()
    engine.register("SELECT * { ?x <http://e/else> ?z }")
    assert ends(engine, 1) == []
    engine.register(f"SELECT * {{ {which} {{ {P} }} SEQ {{ {P} }} }}")
    assert ends(engine, 2, 3, (3.5, 4)) == ([3, 4] if which == "LAST" else [])


ABSENT = f"{{ {{ {P} }} SEQ NOT {{ ?x <http://e/q> ?z }} WITHIN 5s }}"


def told_with_a_flush(text: str, *later: tuple[str, int]) -> list[float]:
    """Push <p> at 1, flush, and push what comes later; return the ends of what is told."""
    engine, found = rw.Engine(), []
    engine.register(text)
    for predicate, time in (("p", 1), *later):
        found += engine.push(("http://e/a", f"http://e/{predicate}", "http://e/a"), time=time)
        found += engine.flush() if predicate == "p" else []
    return [float(match.end) for match in [*found, *engine.flush()]]  # type: ignore[arg-type]


def test_what_comes_after_a_flush_and_before_a_deadline_is_there_for_what_is_decided_at_the_deadline() -> None:
    query = f"SELECT * {{ {ABSENT} FILTER EXISTS {{ ?x <http://e/r> ?z }} }}"
    assert told_with_a_flush(query, ("r", 2), ("s", 9)) == [6]


def test_an_absence_that_a_flush_has_told_and_that_did_not_hold_is_no_part_of_what_comes_later() -> None:
    assert told_with_a_flush(f"SELECT * {{ {ABSENT} SEQ {{ ?x <http://e/r> ?z }} }}", ("q", 2), ("r", 9)) == []
