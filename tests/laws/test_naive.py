"""The naive meaning of conjunctions and of DISTINCT is that of docs/language.md and of the Sparkwave paper."""

from __future__ import annotations

from collections import Counter

import pytest
from helpers.looked_up import Asked, Window, at, bindings, every, looked_up, pattern, query, selecting, times_of, triple
from naive.streams import Item, Triple

from retewave.compiler.algebra import Filter, Join, Relate, Triples, Union, Values, Variable
from retewave.compiler.expressions.tree import Constant, Operation
from retewave.windows import relations
from retewave.windows.intervals import STATIC_END, STATIC_START

# The paper
LISTING_1 = [
    at(10, "t11 a b"),
    at(20, "t21 m n"),
    at(40, "t12 a b"),
    at(60, "t11 c t21"),
    at(60, "t22 m n"),
    at(70, "t21 l o"),
    at(80, "t12 c t22"),
    at(90, "t22 l o"),
    at(120, "t31 p q"),
    at(170, "t32 p q"),
]


def test_listing_1_has_both_matches_with_their_intervals() -> None:
    matches = looked_up(query("?x a b", "?x c ?y", "?y m n"), LISTING_1)
    assert [(bindings(match), match.start, match.end, match.arrival) for match in matches] == [
        ({"?x": "t11", "?y": "t21"}, 10, 60, 3),
        ({"?x": "t12", "?y": "t22"}, 40, 80, 6),
    ]


def test_figure_3_interval_grows_from_20_to_60_when_the_third_triple_arrives() -> None:
    stream = LISTING_1[:4]
    partial = looked_up(query("?x a b", "?y m n"), stream[:2])
    assert times_of(partial) == [(10, 20)]
    assert times_of(looked_up(query("?x a b", "?y m n", "?x c ?y"), stream)) == [(10, 60)]


# The window
@pytest.mark.parametrize("window, count", [(50, 2), (49, 1), (40, 1), (39, 0), (None, 2)])
def test_window_is_closed_at_its_width(window: int | None, count: int) -> None:
    assert len(looked_up(query("?x a b", "?x c ?y", "?y m n", window=window), LISTING_1)) == count


def test_window_counts_from_the_start_of_an_item_to_the_end_of_the_match() -> None:
    long_item = Item(triple("x a b"), 0, 100)
    assert len(looked_up(query("?x a b", window=100), [long_item])) == 1
    assert looked_up(query("?x a b", window=99), [long_item]) == []


def test_items_of_equal_times_match_within_a_window_of_no_width() -> None:
    stream = [at(5, "x a b"), at(5, "x c d")]
    assert len(looked_up(query("?x a b", "?x c d", window=0), stream)) == 1


def test_each_arrival_of_a_triple_is_its_own_fact() -> None:
    stream = [at(1, "x a b"), at(2, "x a b"), at(3, "x c d"), at(4, "x c d")]
    assert times_of(looked_up(query("?x a b", "?x c d"), stream)) == [(2, 3), (1, 3), (2, 4), (1, 4)]


def test_stream_out_of_order_is_refused() -> None:
    with pytest.raises(ValueError, match="in the order of their ends"):
        looked_up(query("?x a b"), [at(2, "x a b"), at(1, "x a b")])


# Patterns
def test_one_fact_serves_two_patterns_of_a_query() -> None:
    matches = looked_up(query("?x knows ?y", "?y knows ?z"), [at(1, "ann knows ann")])
    assert [bindings(match) for match in matches] == [{"?x": "ann", "?y": "ann", "?z": "ann"}]


def test_variable_that_occurs_twice_in_a_pattern_has_one_value() -> None:
    stream = [at(1, "ann knows bob"), at(2, "bob knows bob")]
    assert [bindings(match) for match in looked_up(query("?x knows ?x"), stream)] == [{"?x": "bob"}]


def test_variable_may_stand_for_the_predicate() -> None:
    matches = looked_up(query("?x ?p b"), [at(1, "x a b"), at(2, "x c b"), at(3, "x c d")])
    assert [bindings(match)["?p"] for match in matches] == ["a", "c"]


def test_patterns_without_a_shared_variable_match_in_every_combination() -> None:
    stream = [at(1, "x a b"), at(2, "y a b"), at(3, "z c d")]
    assert len(looked_up(query("?x a b", "?z c d"), stream)) == 2


def test_projection_keeps_a_match_for_each_combination() -> None:
    matches = looked_up(selecting(every("?x a ?y"), project=("x",)), [at(1, "x a b"), at(1, "x a c")])
    assert [bindings(match) for match in matches] == [{"?x": "x"}] * 2


def test_union_reports_a_match_for_each_branch() -> None:
    matches = looked_up(selecting(Union(every("?x a ?y"), every("?x a b"))), [at(1, "x a b")])
    assert Counter(tuple(bindings(match)) for match in matches) == {("?x", "?y"): 1, ("?x",): 1}


def test_filter_sees_the_binding() -> None:
    stream = [at(1, "<x> a b"), at(1, "<y> a b")]
    differs = Operation("!=", (Variable("x"), Constant(b"<x>")))
    matches = looked_up(selecting(Filter(differs, every("?x a b"))), stream)
    assert [bindings(match)["?x"] for match in matches] == ["<y>"]


def test_table_of_values_restricts_and_repeats() -> None:
    table = Values((Variable("x"), Variable("n")), ((b"x", b"1"), (b"x", b"2"), (b"z", b"3")))
    matches = looked_up(selecting(Join(table, every("?x a b"))), [at(1, "x a b"), at(1, "y a b")])
    assert [bindings(match) for match in matches] == [{"?n": "1", "?x": "x"}, {"?n": "2", "?x": "x"}]


# Entailment
SUBCLASSES = {b"Cat": {b"Animal", b"Pet"}, b"Animal": set(), b"Pet": {b"Animal"}}


def subclasses(given: Triple) -> list[Triple]:
    """Give the classes of a thing along every path, so that some come twice."""
    subject, predicate, class_ = given
    found = [given]
    for wider in SUBCLASSES.get(class_, set()):
        found += subclasses((subject, predicate, wider))
    return found


def test_entailed_triple_matches() -> None:
    matches = looked_up(query("?x type Pet"), [at(1, "tom type Cat")], entail=subclasses)
    assert [bindings(match) for match in matches] == [{"?x": "tom"}]


def test_triple_entailed_along_two_paths_is_one_fact_of_an_arrival() -> None:
    stream = [at(1, "tom type Cat"), at(2, "tom type Pet")]
    assert len(looked_up(query("?x type Animal"), stream, entail=subclasses)) == 2


def test_given_and_entailed_facts_of_one_arrival_both_match_a_variable() -> None:
    matches = looked_up(query("?x type ?c"), [at(1, "tom type Pet")], entail=subclasses)
    assert sorted(bindings(match)["?c"] for match in matches) == ["Animal", "Pet"]


# Static data
def test_static_facts_leave_the_interval_alone_and_never_expire() -> None:
    matches = looked_up(query("?x a ?v", "?v in gb", window=0), [at(70, "x a v")], {triple("v in gb")})
    assert times_of(matches) == [(70, 70)]


def test_match_of_static_facts_alone_is_found_before_the_stream() -> None:
    matches = looked_up(query("?v in gb"), [at(1, "w in gb")], {triple("v in gb")})
    assert [(match.arrival, match.start, match.end) for match in matches] == [
        (-1, STATIC_START, STATIC_END),
        (0, 1, 1),
    ]


def test_static_triple_that_two_others_entail_is_one_fact() -> None:
    static = {triple("tom type Cat"), triple("tom type Pet")}
    assert len(looked_up(query("?x type Animal"), [], static, entail=subclasses)) == 1


# Events
def in_event(*patterns: str, window: Window = None) -> Asked:
    return selecting(every(*patterns, event="e"), window=window)


def test_event_pattern_matches_within_one_event_only() -> None:
    stream = [
        at(1, "x a b", event=1),
        at(1, "x c d", event=1),
        at(1, "y a b", event=2),
        at(1, "y c d", event=3),
    ]
    assert [bindings(match) for match in looked_up(in_event("?x a b", "?x c d"), stream)] == [{"?x": "x"}]


def test_triple_that_came_alone_is_an_event_by_itself() -> None:
    stream = [at(1, "x a b"), at(1, "x c d")]
    assert looked_up(in_event("?x a b", "?x c d"), stream) == []
    assert len(looked_up(in_event("?x a b"), stream)) == 1


def test_static_fact_is_in_no_event() -> None:
    assert looked_up(in_event("?x a b"), [], {triple("x a b")}) == []


def test_two_event_patterns_match_in_two_events() -> None:
    two = selecting(Triples((pattern("?x a b", "first"), pattern("?x c d", "second"))))
    assert len(looked_up(two, [at(1, "x a b", event=1), at(2, "x c d", event=2)])) == 1


# Streams
@pytest.mark.parametrize("end, count", [(105, 1), (106, 0)])
def test_item_of_the_narrow_stream_leaves_at_its_own_range(end: int, count: int) -> None:
    stream = [at(100, "x a b", "narrow"), at(end, "x c d", "wide")]
    two = query("?x a b", "?x c d", window={"narrow": 5, "wide": 20})
    assert len(looked_up(two, stream)) == count


@pytest.mark.parametrize("end, count", [(120, 1), (121, 0)])
@pytest.mark.parametrize("stream_name", ["wide", None])
def test_item_of_the_wide_stream_or_of_none_leaves_at_the_widest(end: int, count: int, stream_name: str | None) -> None:
    stream = [at(100, "x a b", stream_name), at(end, "x c d", "narrow")]
    two = query("?x a b", "?x c d", window={"narrow": 5, "wide": 20})
    assert len(looked_up(two, stream)) == count


def test_stream_that_the_query_does_not_name_is_not_seen() -> None:
    stream = [at(1, "x a b", "other"), at(1, "y a b", "named"), at(1, "z a b")]
    matches = looked_up(query("?x a b", window={"named": 5}), stream)
    assert [bindings(match)["?x"] for match in matches] == ["y", "z"]


def test_query_that_names_no_stream_sees_all() -> None:
    stream = [at(1, "x a b", "one"), at(1, "y a b", "other"), at(1, "z a b")]
    assert len(looked_up(query("?x a b", window=5), stream)) == 3


def test_stream_without_a_range_is_the_widest() -> None:
    stream = [at(0, "x a b", "long"), at(10**9, "x c d", "short")]
    two = query("?x a b", "?x c d", window={"long": None, "short": 5})
    assert len(looked_up(two, stream)) == 1


# Temporal relations
@pytest.mark.parametrize("order, count", [([1, 2], 1), ([2, 2], 0)])
def test_seq_wants_the_left_side_to_end_before_the_right_one_starts(order: list[int], count: int) -> None:
    stream = [at(order[0], "x a b"), at(order[1], "x c d")]
    sequence = selecting(Relate(every("?x a b"), relations.SEQ, every("?x c d")))
    assert len(looked_up(sequence, stream)) == count


def test_relation_of_a_group_is_that_of_its_joined_interval() -> None:
    stream = [at(1, "x a b"), at(2, "x c d"), at(3, "x a b"), at(4, "x e f")]
    late_group = selecting(Relate(every("?x a b", "?x c d"), relations.SEQ, every("?x e f")))
    assert times_of(looked_up(late_group, stream)) == [(2, 4), (1, 4)]
    inside = selecting(Relate(every("?x a b", "?x e f"), relations.CONTAINS, every("?x c d")))
    assert times_of(looked_up(inside, stream)) == [(1, 4)]
