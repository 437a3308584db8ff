"""The naive meaning of conjunctions and of DISTINCT is that of docs/language.md and of the Sparkwave paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

import pytest
from cases.engine import Case, case_of
from cases.many import many
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive.detectors import detected
from naive.reports import Distinct, Match, matches
from naive.streams import Entail, Item, Triple

from retewave.compiler import algebra
from retewave.compiler.algebra import (
    Algebra,
    Filter,
    Join,
    Relate,
    Stream,
    TriplePattern,
    Triples,
    Union,
    Values,
    Variable,
)
from retewave.compiler.expressions.tree import Constant, Operation
from retewave.compiler.parse import parse
from retewave.windows import relations
from retewave.windows.intervals import STATIC_END, STATIC_START, is_static, window_start

Window = int | None | Mapping[str, int | None]  # one width, or a width for each named stream; None: unbounded


def triple(text: str) -> Triple:
    """`"t11 a b"` as three terms; any bytes will do, for the meaning only compares."""
    subject, predicate, object_ = text.encode().split()
    return subject, predicate, object_


def term(word: str) -> bytes | Variable:
    return Variable(word[1:]) if word.startswith("?") else word.encode()


def pattern(text: str, event: str | None = None) -> TriplePattern:
    """`"?x a b"` as a pattern: what starts with a question mark is a variable."""
    subject, predicate, object_ = map(term, text.split())
    return TriplePattern(subject, predicate, object_, event=None if event is None else Variable(event))


def every(*texts: str, event: str | None = None) -> Triples:
    return Triples(tuple(pattern(text, event) for text in texts))


def at(time: int, text: str, stream: str | None = None, event: int | None = None) -> Item:
    return Item(triple(text), time, time, stream, event)


@dataclass(frozen=True)
class Asked:
    """A query, and which of its matches are reported."""

    query: algebra.Query
    distinct: Distinct = False


def selecting(
    where: Algebra, *, window: Window = None, distinct: Distinct = False, project: tuple[str, ...] | None = None
) -> Asked:
    names = tuple(variable.name for variable in algebra.visible(where)) if project is None else project
    if isinstance(window, Mapping):
        streams = tuple(Stream(f"<{name}>".encode(), width) for name, width in window.items())
        return Asked(algebra.Query("SELECT", where, names, streams=streams), distinct)
    return Asked(algebra.Query("SELECT", where, names, window=window), distinct)


def query(*patterns: str, window: Window = None, distinct: bool = False) -> Asked:
    return selecting(every(*patterns), window=window, distinct=distinct)


def looked_up(
    of: Asked, stream: Sequence[Item], static: Set[Triple] = frozenset(), entail: Entail = lambda triple: {triple}
) -> list[Match]:
    return matches(of.query, stream, static, entail, distinct=of.distinct)


def bindings(match: Match) -> dict[str, str]:
    return {variable: text.decode() for variable, text in match.bindings}


def times_of(told: list[Match]) -> list[tuple[int, int]]:
    return [(match.start, match.end) for match in told]


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


# DISTINCT


def test_distinct_match_is_reported_once_while_its_support_lives() -> None:
    stream = [at(0, "x a b"), at(5, "x a b"), at(10, "x a b")]
    assert times_of(looked_up(query("?x a b", window=5, distinct=True), stream)) == [(0, 0)]


def test_distinct_match_is_reported_again_when_its_support_has_expired() -> None:
    stream = [at(0, "x a b"), at(6, "x a b")]
    assert times_of(looked_up(query("?x a b", window=5, distinct=True), stream)) == [(0, 0), (6, 6)]


def test_combination_that_is_not_reported_supports_all_the_same() -> None:
    stream = [at(0, "x a b"), at(4, "x a b"), at(8, "x a b")]
    assert times_of(looked_up(query("?x a b", window=5, distinct=True), stream)) == [(0, 0)]


def test_distinct_match_with_an_old_part_expires_with_that_part() -> None:
    stream = [at(0, "x a b"), at(5, "x c d"), at(6, "x a b")]
    matches = looked_up(query("?x a b", "?x c d", window=5, distinct=True), stream)
    assert times_of(matches) == [(0, 5), (5, 6)]


def test_distinct_of_several_at_one_arrival_reports_the_latest_start() -> None:
    stream = [at(0, "x a b"), at(3, "x a b"), at(5, "x c d")]
    matches = looked_up(query("?x a b", "?x c d", window=5, distinct=True), stream)
    assert times_of(matches) == [(3, 5)]


def test_distinct_counts_the_projected_bindings_over_all_branches() -> None:
    either = selecting(Union(every("?x a ?y"), every("?x c ?y")), window=5, project=("x",), distinct=True)
    assert len(looked_up(either, [at(1, "x a b"), at(2, "x c d"), at(3, "y c d")])) == 2


def test_distinct_static_match_lives_for_ever() -> None:
    matches = looked_up(query("?x a b", window=5, distinct=True), [at(0, "x a b"), at(99, "x a b")], {triple("x a b")})
    assert [match.arrival for match in matches] == [-1]


def test_distinct_with_streams_of_two_ranges_expires_each_part_by_its_own() -> None:
    window = {"slow": 20, "fast": 5}
    both = query("?x a b", "?x c d", window=window, distinct=True)
    stream = [
        at(0, "x a b", "slow"),
        at(10, "x c d", "fast"),
        at(15, "x c d", "fast"),
        at(21, "x a b", "slow"),
        at(22, "x c d", "fast"),
    ]
    assert times_of(looked_up(both, stream)) == [(0, 10), (21, 22)]


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


# Laws

laws = settings(max_examples=many(100), deadline=None)
things, predicates = st.sampled_from(["a", "b"]), st.sampled_from(["p", "q"])
triples = st.tuples(things, predicates, things).map(" ".join)
variables = st.sampled_from(["?x", "?y", "?z"])
patterns = st.lists(
    st.tuples(variables | things, predicates | variables, variables | things).map(" ".join),
    min_size=1,
    max_size=3,
)
ranges = st.integers(0, 12)
windows = st.none() | ranges | st.fixed_dictionaries({"s": ranges, "t": ranges})
graphs = st.frozensets(triples.map(triple), max_size=2)


@st.composite
def streams(draw: st.DrawFn) -> list[Item]:
    """A stream in the order of its ends, with intervals, named streams and events."""
    items = []
    for end in sorted(draw(st.lists(st.integers(0, 20), max_size=6))):
        text = draw(triples)
        stream, event = draw(st.sampled_from([None, "s", "t"])), draw(st.sampled_from([None, 1, 2]))
        items.append(Item(triple(text), end - draw(st.integers(0, 5)), end, stream, event))
    return items


@laws
@given(patterns, streams(), graphs, windows, st.booleans(), st.integers(0, 6))
def test_what_is_found_does_not_depend_on_what_comes_later(
    texts: list[str],
    stream: list[Item],
    static: frozenset[Triple],
    window: Window,
    distinct: bool,
    until: int,
) -> None:
    asked = query(*texts, window=window, distinct=distinct)
    found = looked_up(asked, stream, static)
    assert Counter(looked_up(asked, stream[:until], static)) == Counter(
        match for match in found if match.arrival < until
    )


@laws
@given(patterns, streams(), graphs, windows, st.booleans())
def test_order_of_the_patterns_does_not_matter(
    texts: list[str], stream: list[Item], static: frozenset[Triple], window: Window, distinct: bool
) -> None:
    forth, back = (query(*order, window=window, distinct=distinct) for order in (texts, texts[::-1]))
    assert Counter(looked_up(forth, stream, static)) == Counter(looked_up(back, stream, static))


@laws
@given(patterns, streams(), graphs, windows, st.integers(-50, 50))
def test_matches_move_with_the_time_of_the_stream(
    texts: list[str], stream: list[Item], static: frozenset[Triple], window: Window, by: int
) -> None:
    asked = query(*texts, window=window)
    moved = [replace(item, start=item.start + by, end=item.end + by) for item in stream]
    expected = [
        match if is_static(*match[:2]) else match._replace(start=match.start + by, end=match.end + by)
        for match in looked_up(asked, stream, static)
    ]
    assert Counter(looked_up(asked, moved, static)) == Counter(expected)


@laws
@given(patterns, streams(), graphs, st.integers(0, 12))
def test_what_is_older_than_the_window_may_be_forgotten(
    texts: list[str], stream: list[Item], static: frozenset[Triple], width: int
) -> None:
    asked = query(*texts, window=width)
    for place, item in enumerate(stream):
        live = [old for old in stream[:place] if item.end - old.start <= width]
        assert Counter(
            match._replace(arrival=place)
            for match in looked_up(asked, [*live, item], static)
            if match.arrival == len(live)
        ) == Counter(match for match in looked_up(asked, stream, static) if match.arrival == place)


@laws
@given(patterns, streams(), graphs, st.integers(0, 12), st.integers(0, 12))
def test_two_ranges_are_one_window_on_shifted_starts(
    texts: list[str], stream: list[Item], static: frozenset[Triple], of_s: int, of_t: int
) -> None:
    """The engine's way to several ranges (`window_start`) keeps the combinations that the ranges keep."""
    widths = {"s": of_s, "t": of_t, None: max(of_s, of_t)}
    shifted = [replace(item, start=window_start(item.start, widths[item.stream], max(of_s, of_t))) for item in stream]
    by_ranges = looked_up(query(*texts, window={"s": of_s, "t": of_t}), stream, static)
    by_shift = looked_up(query(*texts, window=max(of_s, of_t)), shifted, static)
    assert Counter(match[1:] for match in by_ranges) == Counter(match[1:] for match in by_shift)


@laws
@given(patterns, streams(), graphs, windows)
def test_set_is_what_is_left_of_the_bag_without_repetition(
    texts: list[str], stream: list[Item], static: frozenset[Triple], window: Window
) -> None:
    bag = looked_up(query(*texts, window=window), stream, static)
    found = looked_up(query(*texts, window=window, distinct=True), stream, static)
    assert Counter(found) <= Counter(bag)
    assert {match.bindings for match in found} == {match.bindings for match in bag}
    assert len({(match.bindings, match.arrival) for match in found}) == len(found)


@settings(max_examples=many(50), deadline=None, suppress_health_check=list(HealthCheck))
@given(case_of())
def test_what_has_no_operator_of_time_is_decided_when_it_ends(case: Case) -> None:
    for token in detected(parse(case.text), case.stream, case.static):
        assert token.decided_at == token.end or is_static(token.start, token.end)
