"""FIRST and LAST inside of what comes first: they choose of what was there before the rest began."""

from __future__ import annotations

import pytest

import retewave as rw
from retewave.errors import QueryError

P, Q, R, N = (f"{{ ?x <urn:{name}> ?{name} }}" for name in "pqrn")

pytestmark = pytest.mark.filterwarnings("ignore::retewave.engine.registry.UnboundedWarning")


def told(where: str, *items: tuple[str, float]) -> list[tuple[float, float, str]]:
    """Push triples of one subject at their times; return what is told: start, end, and the time of the <p>."""
    engine = rw.Engine()
    engine.register(f"SELECT * {{ {where} }}")
    found = [match for name, time in items for match in engine.push(("urn:a", f"urn:{name}", time), time=time)]
    return [(float(m.start), float(m.end), str(m.get("p", ""))) for m in [*found, *engine.flush()]]  # type: ignore[arg-type]


STREAM = (("r", 0), ("p", 1), ("p", 2), ("p", 3), ("q", 3))


@pytest.mark.parametrize(
    ("where", "start"),
    [
        (f"LAST {P} SEQ {Q}", 2),
        (f"{{ LAST {P} FILTER(BOUND(?x)) }} SEQ {Q}", 2),
        (f"{{ LAST {P} {R} }} SEQ {Q}", 0),
        (f"{Q} AFTER LAST {P}", 2),
        (f"{Q} AFTER {{ LAST {P} {R} }}", 0),
        (f"LAST {P} OPTIONALSEQ {Q}", 2),
        (f"LAST {P} SEQ NOT {N} SEQ {Q}", 2),
        (f"{{ LAST {P} {R} }} SEQ NOT {N} SEQ {Q}", 0),
    ],
)
def test_what_comes_with_the_rest_is_not_the_last_before_it(where: str, start: float) -> None:
    assert told(where, *STREAM) == [(start, 3, "2")]


def test_what_is_chosen_is_barred_and_no_other_one_takes_its_place() -> None:
    where = f"LAST {P} SEQ NOT {N} SEQ {Q}"
    assert told(where, ("p", 1), ("p", 2), ("n", 3), ("q", 4)) == []
    assert told(where, ("p", 1), ("n", 2), ("p", 3), ("q", 4)) == [(3, 4, "3")]


def test_without_any_to_choose_of_the_rest_of_optionalseq_stands_alone() -> None:
    assert told(f"LAST {P} OPTIONALSEQ {Q}", ("q", 1), ("p", 2), ("p", 3), ("q", 3)) == [(1, 1, ""), (2, 3, "2")]


def test_other_relations_look_at_the_last_of_all() -> None:
    assert told(f"LAST {P} EQUALS {Q}", ("p", 1), ("q", 1), ("p", 2), ("q", 2), ("p", 3)) == [(1, 1, "1"), (2, 2, "2")]


ASKED = (("p", 1), ("q", 2), ("p", 3), ("q", 4), ("p", 4), ("q", 5))


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (f"{Q} OPTIONAL {{ LAST {P} }}", [(1, 2, "1"), (4, 4, "4"), (4, 5, "4")]),
        (f"{Q} OPTIONAL {{ FIRST {P} }}", [(1, 2, "1"), (1, 4, "1"), (1, 5, "1")]),
        (f"{Q} MINUS {{ LAST {P} FILTER(?p > 2) }}", [(2, 2, "")]),
        (f"{Q} FILTER EXISTS {{ LAST {P} FILTER(?p > 2) }}", [(4, 4, ""), (5, 5, "")]),
        (f"{Q} FILTER NOT EXISTS {{ LAST {P} FILTER(?p > 2) }}", [(2, 2, "")]),
        (f"{{ LAST {P} }} OPTIONAL {{ {Q} }}", [(1, 1, "1"), (2, 3, "3"), (2, 4, "4"), (4, 4, "4")]),
    ],
)
def test_what_looks_at_the_last_sees_it_as_of_each_decision(
    where: str, expected: list[tuple[float, float, str]]
) -> None:
    assert sorted(told(where, *ASKED)) == sorted(expected)


def test_a_filter_on_times_of_the_whole_changes_nothing_of_what_is_the_last() -> None:
    where = f"LAST {P} {R}"
    stream = (("r", 1), ("p", 2), ("r", 3), ("p", 4))
    anything = 'FILTER(getDURATION() >= "PT0S"^^<http://www.w3.org/2001/XMLSchema#duration>)'
    assert told(f"{where} {anything}", *stream) == told(where, *stream) != []


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (f"NOT {{ LAST {P} FILTER(?p > 2) }} SEQ {Q} WITHIN 5s", [(2, 2, "")]),
        (f"NOT {{ FIRST {P} FILTER(?p > 2) }} SEQ {Q} WITHIN 2s", [(2, 2, "")]),
        (f"{Q} SEQ NOT {{ LAST {P} FILTER(?p < 4) }} WITHIN 1s", [(4, 5, ""), (5, 6, "")]),
        (f"{Q} SEQ NOT {{ LAST {P} FILTER(?p < 4) }} WITHIN 2s", [(2, 4, ""), (4, 6, ""), (5, 7, "")]),
        (f"{Q} SEQ NOT {{ FIRST {P} FILTER(?p < 4) }} WITHIN 2s", [(4, 6, ""), (5, 7, "")]),
        (f"{{ LAST {P} WITHIN 5s }} SEQ {Q}", [(1, 2, "1"), (3, 4, "3"), (4, 5, "4")]),
        (f"{Q} MINUS {{ LAST {P} MINUS {{ ?x <urn:q> ?q }} }}", [(4, 4, ""), (5, 5, "")]),
        (
            f"{{ LAST {P} OPTIONAL {Q} }} SEQ {{ ?x <urn:q> ?end }}",
            [(1, 2, "1"), (2, 4, "3"), (2, 5, "4"), (4, 5, "4")],
        ),
        (f"LAST {P} SEQ NOT {Q} WITHIN 1s", []),
        (f"{{ LAST {P} FILTER(?p < 4) }} OPTIONALSEQ {Q}", [(1, 2, "1"), (3, 4, "3"), (5, 5, "")]),
        (f"{Q} EQUALSOPTIONAL {{ LAST {P} }}", [(2, 2, ""), (4, 4, "4"), (5, 5, "")]),
        (f"LAST {{ LAST {P} {Q} }}", [(1, 2, "1"), (2, 3, "3"), (4, 4, "4"), (4, 5, "4")]),
    ],
)
def test_a_choice_may_stand_at_the_ends_and_among_conditions_of_its_own(
    where: str, expected: list[tuple[float, float, str]]
) -> None:
    assert sorted(told(where, *ASKED)) == sorted(expected)


def test_a_window_that_is_over_before_the_choice_is_decided_is_refused() -> None:
    with pytest.raises(QueryError, match="FIRST or LAST chooses in a window that is narrower"):
        rw.Engine().register(f"SELECT * {{ {{ LAST {P} WITHIN 3s }} SEQ NOT {Q} WITHIN 5s }}")


def test_times_beside_a_choice_are_not_compared_with_the_other_side() -> None:
    seconds = "<http://www.w3.org/2001/XMLSchema#duration>"
    there = f'LAST {P} FILTER(?q = 1 || getDURATION() >= "PT0S"^^{seconds})'
    with pytest.raises(QueryError, match="a filter beside FIRST or LAST compares times with a variable"):
        rw.Engine().register(f"SELECT * {{ NOT {{ {there} }} SEQ {Q} WITHIN 5s }}")


def test_choices_of_choices_of_choices_are_refused() -> None:
    where = f"LAST {{ {P} LAST {{ {Q} LAST {{ {R} LAST {N} }} }} }}"
    with pytest.raises(QueryError, match="FIRST and LAST inside of each other make more than 100 patterns"):
        rw.Engine().register(f"SELECT * {{ {where} }}")
