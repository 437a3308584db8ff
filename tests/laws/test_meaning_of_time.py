"""What each operator of time means, in the words of its definition: at equal times, at the bound, and beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from helpers.timed import A, B, C, N, asked, binds, found, iri, item, lasts, one, seen, seq
from naive.detectors import detected
from naive.times import duration_text, moment_text, window_of

from retewave.compiler import algebra
from retewave.compiler.algebra import Stream, Variable
from retewave.compiler.expressions.tree import Call, Constant, Expression, Operation
from retewave.windows import relations

XSD = b"<http://www.w3.org/2001/XMLSchema#"
W = 10  # the width of windows, in microseconds


def test_joined_token_has_the_earliest_start_and_the_latest_end() -> None:
    assert found(algebra.Join(A, B), item("s a 1", 1, 4), item("s b 2", 3, 6)) == [("a=1 b=2", 1, 6, "arrival")]


def test_static_part_of_a_join_changes_no_time() -> None:
    static = frozenset({(iri("s"), iri("b"), iri("2"))})
    assert found(algebra.Join(A, B), item("s a 1", 1, 4), static=static) == [("a=1 b=2", 1, 4, "arrival")]


RELATED = {  # for l = [10, 20]: what r is related so, and one microsecond beside
    "before": ([(21, 30)], [(20, 30), (19, 30)]),
    "after": ([(0, 9)], [(0, 10), (0, 11)]),
    "equals": ([(10, 20)], [(10, 21), (9, 20), (11, 20), (10, 19)]),
    "meets": ([(20, 30), (20, 20)], [(19, 30), (21, 30)]),
    "met by": ([(0, 10), (10, 10)], [(0, 9), (0, 11)]),
    "overlaps": ([(11, 21), (19, 21)], [(10, 21), (20, 21), (11, 20)]),
    "overlapped by": ([(9, 11), (9, 19)], [(9, 10), (9, 20), (10, 19)]),
    "starts": ([(10, 21)], [(10, 20), (11, 21), (9, 21)]),
    "started by": ([(10, 19), (10, 10)], [(10, 20), (11, 19), (9, 19)]),
    "during": ([(9, 21)], [(10, 21), (9, 20)]),
    "contains": ([(11, 19), (15, 15)], [(10, 19), (11, 20)]),
    "finishes": ([(9, 20)], [(10, 20), (9, 21), (9, 19)]),
    "finished by": ([(11, 20), (20, 20)], [(10, 20), (11, 19), (11, 21)]),
}


@pytest.mark.parametrize("name", RELATED)
def test_relation_holds_exactly_at_its_bounds(name: str) -> None:
    where = algebra.Relate(A, relations.code_of(name), B)
    for matches, others in zip(RELATED[name], (True, False), strict=True):
        for start, end in matches:
            items = sorted((item("s a 1", 10, 20), item("s b 1", start, end)), key=lambda each: each.end)
            assert bool(found(where, *items)) is others, (start, end)


def test_instant_at_an_intervals_start_both_meets_and_starts_it() -> None:
    for name in ("meets", "starts"):
        assert found(algebra.Relate(A, relations.code_of(name), B), item("s a 1", 5), item("s b 1", 5, 9))


def test_union_is_either_with_its_own_interval() -> None:
    assert found(algebra.Union(A, B), item("s a 1", 1), item("s b 2", 2)) == [
        ("a=1", 1, 1, "arrival"),
        ("b=2", 2, 2, "arrival"),
    ]


@pytest.mark.parametrize(("operator", "width", "matches"), [("<", 5, False), ("<", 6, True), ("<=", 5, True)])
def test_duration_in_a_filter_is_that_of_the_token_filtered(operator: str, width: int, matches: bool) -> None:
    where = algebra.Filter(lasts(operator, width), algebra.Join(A, B))
    assert bool(found(where, item("s a 1", 0), item("s b 1", 5))) is matches


TIMES = [("GETSTARTTIME", 3), ("GETENDTIME", 5)]


def test_start_and_end_in_a_filter_are_those_of_the_token_filtered() -> None:
    start, end = (Operation("=", (Call(name, ()), Constant(moment_text(at)))) for name, at in TIMES)
    assert found(algebra.Filter(Operation("&&", (start, end)), algebra.Join(A, B)), item("s a 1", 3), item("s b 1", 5))


def test_within_keeps_what_is_exactly_as_long() -> None:
    where = algebra.Within(algebra.Join(A, B), W)
    assert binds(where, item("s a 1", 0), item("s b 1", W), item("s b 2", W + 1)) == ["a=1 b=1"]


def test_range_keeps_what_is_exactly_as_old() -> None:
    streams = (Stream(iri("one"), W),)
    items = item("s a 1", 0, stream="urn:one"), item("s b 1", W, stream="urn:one")
    late = item("s b 2", W + 1, stream="urn:one")
    assert binds(algebra.Join(A, B), *items, late, streams=streams) == ["a=1 b=1"]


def test_optionalseq_takes_all_that_was_before_in_the_window_or_comes_alone() -> None:
    where = algebra.Within(algebra.OptionalBefore(A, B), W)
    items = item("s a 0", 0), item("s a 1", 1), item("s a 2", 2), item("s b 1", W + 1)
    assert found(where, *items) == [("a=1 b=1", 1, W + 1, "arrival"), ("a=2 b=1", 2, W + 1, "arrival")]
    assert found(where, items[0], items[-1]) == [("b=1", W + 1, W + 1, "arrival")]
    assert found(where, item("s a 1", 5), item("s b 1", 5)) == [("b=1", 5, 5, "arrival")]
    assert found(where, item("s a 1", 5), item("s b 1", 6, 7)) == [("a=1 b=1", 5, 7, "arrival")]


def test_condition_of_optionalseq_sees_the_times_of_the_join_in_both_halves() -> None:
    where = algebra.OptionalBefore(A, B, lasts("<=", 3))
    assert binds(where, item("s a 1", 0), item("s b 1", 3), item("s b 2", 4)) == ["a=1 b=1", "b=2"]


def test_equalsoptional_wants_both_bounds_equal_and_waits_for_the_close() -> None:
    where = algebra.OptionalEquals(A, B)
    assert found(where, item("s a 1", 1, 5), item("s b 1", 1, 5)) == [("a=1 b=1", 1, 5, "flush")]
    assert found(where, item("s a 1", 1, 5), item("s b 1", 2, 5), item("s b 1", 1, 6)) == [("a=1", 1, 5, "close")]


def test_optional_takes_what_ends_at_the_same_instant_and_what_was_before_but_nothing_later() -> None:
    told = found(algebra.LeftJoin(A, B), item("s b 1", 3), item("s a 1", 5), item("s b 2", 5), item("s b 3", 6))
    assert told == [("a=1 b=1", 3, 5, "close"), ("a=1 b=2", 5, 5, "close")]


def test_optional_leaves_alone_what_has_its_partner_one_microsecond_outside_the_window() -> None:
    where = algebra.Within(algebra.LeftJoin(A, B), W)
    assert found(where, item("s b 1", 0), item("s a 1", W)) == [("a=1 b=1", 0, W, "flush")]
    assert found(where, item("s b 1", 0), item("s a 1", W + 1)) == [("a=1", W + 1, W + 1, "flush")]


def test_duration_conjunct_is_such_a_window_too() -> None:
    where = algebra.Filter(lasts("<", W), algebra.LeftJoin(A, B))
    assert binds(where, item("s b 1", 0), item("s a 1", W)) == ["a=1"]
    assert binds(where, item("s b 1", 1), item("s a 1", W)) == ["a=1 b=1"]


def test_duration_in_the_condition_of_optional_bounds_the_join_and_not_the_optional_group() -> None:
    inner = algebra.LeftJoin(B, C)
    where = algebra.LeftJoin(A, inner, lasts("<=", 5))
    assert binds(where, item("s c 1", 0), item("s b 1", 6), item("s a 1", 7)) == ["a=1"]
    bounded = algebra.LeftJoin(A, algebra.Filter(lasts("<=", 5), inner))
    assert binds(bounded, item("s c 1", 0), item("s b 1", 6), item("s a 1", 7)) == ["a=1 b=1"]


@pytest.mark.parametrize(("at", "found_there"), [(-1, False), (0, True), (W, True), (W + 1, False)])
def test_minus_and_exists_look_at_the_window_up_to_the_instant(at: int, found_there: bool) -> None:
    items = sorted((item("s a 1", W), item("s n 1", at)), key=lambda each: each.end)
    missing = [] if found_there else ["a=1"]
    assert binds(algebra.Within(algebra.Minus(A, N), W), *items) == missing
    assert binds(algebra.Within(algebra.Exists(A, N, negated=True), W), *items) == missing
    assert binds(algebra.Within(algebra.Exists(A, N), W), *items) == (["a=1"] if found_there else [])


def test_minus_without_a_variable_in_common_takes_nothing_away() -> None:
    items = item("s n 1", 1), item("s a 1", 2)
    assert binds(algebra.Minus(A, one("n", "?other")), *items) == ["a=1"]
    assert binds(algebra.Exists(A, one("n", "?other"), negated=True), *items) == []


@pytest.mark.parametrize(
    ("start", "end", "bars"), [(2, 3, False), (3, 3, True), (3, 7, True), (7, 7, True), (7, 8, False), (8, 8, False)]
)
def test_not_between_bars_what_is_strictly_inside(start: int, end: int, bars: bool) -> None:
    items = [item("s a 1", 2), item("s n 1", start, end), item("s b 1", 8)]
    assert binds(algebra.Between(A, N, B), *items) == ([] if bars else ["a=1 b=1"])


def test_not_between_bars_only_what_it_is_compatible_with() -> None:
    where = algebra.Between(A, one("n", "?x", "?b"), B)
    items = item("s a 1", 1), item("s n 2", 2), item("s b 1", 3), item("s b 2", 4)
    assert binds(where, *items) == ["a=1 b=1"]


def test_filter_of_a_not_group_sees_all_three_and_the_times_of_what_is_absent() -> None:
    same = Operation("=", (Variable("n"), Variable("b")))
    where = algebra.Between(A, N, B, Operation("&&", (same, lasts(">=", 2))))
    items = item("s a 1", 0), item("s n 2", 1, 3), item("s n 1", 3, 4), item("s b 1", 5), item("s b 2", 6)
    assert binds(where, *items) == ["a=1 b=1"]


@pytest.mark.parametrize(("start", "end", "bars"), [(-1, 5, False), (0, 0, True), (7, 7, True), (7, 8, False)])
def test_leading_not_looks_back_from_the_end_to_before_the_start(start: int, end: int, bars: bool) -> None:
    where = algebra.Before(N, A, W)
    assert binds(where, item("s n 1", start, end), item("s a 1", 8, 10)) == ([] if bars else ["a=1"])


def test_leading_not_lets_nothing_through_that_is_longer_than_its_width() -> None:
    assert binds(algebra.Before(N, A, W), item("s a 1", 0, W), item("s a 2", 0, W + 1)) == ["a=1"]


def test_trailing_not_is_told_at_its_deadline_and_what_ends_at_the_deadline_bars_it() -> None:
    where = algebra.After(A, N, W)
    assert found(where, item("s a 1", 0), item("s c 1", W + 1)) == [("a=1", 0, W, "deadline")]
    assert found(where, item("s a 1", 0), item("s n 1", W), item("s c 1", W + 1)) == []
    assert found(where, item("s a 1", 0), item("s n 1", W + 1)) == [("a=1", 0, W, "deadline")]
    assert found(where, item("s a 1", 0), item("s n 1", 0)) == [("a=1", 0, W, "flush")]


def test_trailing_not_lets_nothing_through_that_is_longer_than_its_width() -> None:
    assert binds(algebra.After(A, N, W), item("s a 1", 0, W), item("s a 2", 0, W + 1)) == ["a=1"]


def test_range_says_nothing_of_an_absent_part_with_a_width_of_its_own() -> None:
    streams = (Stream(iri("one"), 3),)
    items = item("s n 1", 0, stream="urn:one"), item("s a 1", W, stream="urn:one")
    assert binds(algebra.Before(N, A, W), *items, streams=streams) == []
    assert binds(algebra.Exists(A, N, negated=True), *items, streams=streams) == ["a=1"]


def test_range_says_nothing_of_decisions_inside_such_an_absent_part_either() -> None:
    with_c = algebra.Exists(N, C)
    streams = (Stream(iri("one"), 3),)
    c, n, a = (item(text, at, stream="urn:one") for text, at in (("s c 1", 0), ("s n 1", 5), ("s a 1", W)))
    assert binds(algebra.Before(with_c, A, W), c, n, a, streams=streams) == []
    assert binds(algebra.Before(with_c, A, W), n, a, streams=streams) == ["a=1"]


def test_range_of_a_stream_bounds_what_not_between_sees_of_it() -> None:
    streams = Stream(iri("wide"), W), Stream(iri("narrow"), 3)
    a, b = item("s a 1", 1, stream="urn:wide"), item("s b 1", 9, stream="urn:wide")
    assert binds(algebra.Between(A, N, B), a, item("s n 1", 5, stream="urn:narrow"), b, streams=streams) == ["a=1 b=1"]
    assert binds(algebra.Between(A, N, B), a, item("s n 1", 6, stream="urn:narrow"), b, streams=streams) == []


def test_times_in_the_condition_of_exists_are_those_of_what_is_found() -> None:
    where = algebra.Exists(A, N, lasts(">=", 2))
    assert binds(where, item("s n 1", 1, 3), item("s a 1", 5)) == ["a=1"]
    assert binds(where, item("s n 1", 3), item("s a 1", 2, 5)) == []


def test_static_data_neither_bars_nor_is_found_in_time_but_takes_away_in_general() -> None:
    static = frozenset({(iri("s"), iri("n"), iri("1"))})
    a, b = item("s a 1", 1), item("s b 1", 2)
    for where in (algebra.Between(A, N, B), algebra.Before(N, seq(A, B), W), algebra.After(seq(A, B), N, W)):
        assert binds(where, a, b, static=static) == ["a=1 b=1"]
    assert binds(algebra.OptionalBefore(N, A), a, static=static) == ["a=1"]
    assert binds(algebra.OptionalEquals(A, N), a, static=static) == ["a=1"]
    assert binds(algebra.Minus(A, N), a, static=static) == []
    assert binds(algebra.LeftJoin(A, N), a, static=static) == ["a=1 n=1"]


def test_first_and_last_are_chosen_at_the_instant_of_the_whole_pattern() -> None:
    items = item("s a 1", 1), item("t a 2", 2), item("s b 1", 3)
    assert binds(algebra.First(A), *items) == ["a=1"]
    assert binds(algebra.Last(A), *items) == ["a=1", "a=2 x=t"]
    assert binds(algebra.Join(algebra.First(A), B), *items) == ["a=1 b=1"]
    assert binds(algebra.Join(algebra.Last(A), B), *items) == []


def test_first_looks_at_the_window_of_that_instant_only() -> None:
    where = algebra.Within(algebra.First(A), W)
    assert binds(where, item("s a 1", 0), item("s a 2", W), item("s a 3", 2 * W + 1)) == ["a=1", "a=3"]


def test_of_equal_ends_the_longer_token_is_the_earlier_one() -> None:
    items = item("s a 1", 1, 3), item("s a 2", 2, 3), item("t a 2", 2, 3)
    assert binds(algebra.First(A), *items) == ["a=1"]
    assert binds(algebra.Last(A), *items) == ["a=2", "a=2 x=t"]


def test_last_a_seq_b_is_each_b_with_the_latest_a_that_goes_with_it() -> None:
    items = item("s a 1", 1), item("s a 2", 2), item("t a 3", 3), item("s b 1", 4), item("s a 4", 5), item("s b 2", 6)
    assert binds(seq(algebra.Last(A), B), *items) == ["a=2 b=1", "a=4 b=2"]
    assert binds(seq(algebra.First(A), B), *items) == ["a=1 b=1", "a=1 b=2"]
    assert binds(algebra.Within(seq(algebra.First(A), B), 4), *items) == ["a=1 b=1", "a=2 b=2"]
    assert binds(algebra.Relate(B, relations.AFTER, algebra.Last(A)), *items) == ["a=2 b=1", "a=4 b=2"]


def test_advance_to_the_deadline_does_not_pass_it() -> None:
    where, items = algebra.After(A, N, W), (item("s a 1", 0),)
    assert found(where, *items, until=W) == found(where, *items, flush=False) == []
    assert found(where, *items, until=W + 1) == [("a=1", 0, W, "deadline")]
    assert found(where, *items) == [("a=1", 0, W, "flush")]
    assert binds(A, *items, item("s a 2", W), until=W) == ["a=1"]


def test_set_of_solutions_tells_each_once_over_all_variables_and_then_projects() -> None:
    query = replace(asked(algebra.Join(A, B), solutions="set"), projection=("x",))
    items = item("s a 1", 1), item("s a 1", 1), item("s a 2", 1), item("s b 1", 2)
    assert [seen(each)[1:] for each in detected(query, items)] == [(1, 2, "arrival")] * 2
    assert len(detected(replace(query, solutions="bag"), items)) == 3


def test_late_query_decides_no_absence_that_reaches_back_before_its_registration() -> None:
    for where in (algebra.Before(N, A, W), algebra.Within(algebra.Exists(A, N, negated=True), W)):
        assert binds(where, item("s a 1", W), item("s a 2", W + 1), registered=0) == ["a=2"]
    assert binds(algebra.Between(A, N, B), item("s a 1", 0), item("s b 1", 1), registered=0) == ["a=1 b=1"]
    assert binds(algebra.After(A, N, W), item("s a 1", -1), item("s a 2", 0), registered=0) == ["a=2"]
    assert binds(algebra.Within(algebra.LeftJoin(A, B), W), item("s b 1", 1), item("s a 1", 2), registered=0)


def test_texts_of_times_are_canonical() -> None:
    assert duration_text(0) == b'"PT0S"^^' + XSD + b"dayTimeDuration>"
    assert duration_text(90_061_500_000) == b'"P1DT1H1M1.5S"^^' + XSD + b"dayTimeDuration>"
    assert moment_text(1_000_001) == b'"1970-01-01T00:00:01.000001Z"^^' + XSD + b"dateTime>"


@pytest.mark.parametrize(("operator", "width"), [("<", 2_999_999), ("<=", 3_000_000), ("=", None)])
def test_duration_conjunct_is_a_window(operator: str, width: int | None) -> None:
    long, bound = Call("GETDURATION", ()), Constant(b'"PT3S"^^' + XSD + b"duration>")
    test: Expression = Operation(operator, (long, bound))
    swapped = Operation({"<": ">", "<=": ">="}.get(operator, operator), (bound, long))
    other = Call("BOUND", (Variable("x"),))
    assert [window_of(each) for each in (test, swapped, Operation("&&", (other, test)))] == [width] * 3
    assert window_of(Operation("||", (other, test))) is None
