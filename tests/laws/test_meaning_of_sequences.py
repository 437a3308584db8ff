"""What each operator of a sequence of events means, in the words of its definition, and where the page decides."""

from __future__ import annotations

import pytest
from helpers.sequences import LETTERS, event, found, letters, of_letters, pattern, query, runs, sequence
from naive.detectors import detected


@pytest.mark.parametrize(
    ("text", "stream", "expected"),
    [
        ("A: B", "aabb", ["1 3", "1 4", "2 3", "2 4"]),
        ("A; B", "aabb", ["1 3", "2 3"]),
        ("A, B", "aabb", ["2 3"]),
        ("A, B", "a.xb", []),
        ("A, B", "a..b", ["1 4"]),
        ("A; B", "a.xb", ["1 4"]),
        ("A; B", "ba", []),
        ("A; (B | C), D", "acd", ["1 2 3"]),
    ],
)
def test_strategy_says_which_later_event_continues_a_run(text: str, stream: str, expected: list[str]) -> None:
    assert sorted(of_letters(text, stream)) == expected


@pytest.mark.parametrize(
    ("text", "stream", "expected"),
    [
        ("A+", "aa", ["1", "1 2", "2"]),
        ("A+", "axa", ["1", "1 3", "3"]),
        ("A:+", "aaa", ["1", "1 2", "1 2 3", "1 3", "2", "2 3", "3"]),
        ("A,+", "axa", ["1", "3"]),
        ("A; B+", "axbbxb", ["1 3", "1 3 4"]),
        ("A; B;+", "axbbxb", ["1 3", "1 3 4", "1 3 4 6"]),
        ("A: B+", "abxb", ["1 2", "1 4"]),
        ("A, B+, C", "abbc", ["1 2 3 4"]),
        ("A; B+; C", "abbxc", ["1 2 3 5", "1 2 5"]),
    ],
)
def test_kleene_plus_makes_a_run_of_each_number_of_repetitions(text: str, stream: str, expected: list[str]) -> None:
    assert sorted(of_letters(text, stream)) == expected


@pytest.mark.parametrize(
    ("text", "stream", "expected"),
    [
        ("A; B+!; C", "abbxc", ["1 2 3 5"]),
        ("A; B;+!; C", "abxbc", ["1 2 4 5"]),
        ("A; B+!; C", "abxbc", ["1 2 5"]),
        ("A, B+!, C", "abbc", ["1 2 3 4"]),
    ],
)
def test_longest_kleene_plus_keeps_what_could_not_have_been_longer(text: str, stream: str, expected: list[str]) -> None:
    assert sorted(of_letters(text, stream)) == expected


def test_further_repetition_at_the_instant_of_the_next_step_bars_it() -> None:
    where = sequence("A; B+!; C", LETTERS)
    assert runs(where, *letters("ab"), event(3, "s c 3")) == ["1 2 3"]
    assert runs(where, *letters("ab"), event(3, "s c 3"), event(3, "s b 9")) == []
    assert runs(where, *letters("ab"), event(3, "s c 3"), event(4, "s b 4")) == ["1 2 3"]


@pytest.mark.parametrize(
    ("text", "stream", "expected"),
    [
        ("A; N!; C", "axc", ["1 3"]),
        ("A; N!; C", "anc", []),
        ("A; N!: C", "acnc", ["1 2"]),
        ("A, N!, C", "ac", ["1 2"]),
        ("A, N!, C", "axc", ["1 3"]),
        ("A, N!, C", "anc", []),
        ("A, N!, C", "axxc", []),
        ("A, N!; C", "anxc", ["1 4"]),
        ("A; B?; C", "axbc", ["1 3 4"]),
        ("A; B?; C", "axc", ["1 3"]),
        ("A, B?, C", "abc", ["1 2 3"]),
        ("A, B?, C", "axc", ["1 3"]),
        ("A, B?, C", "ac", ["1 2"]),
        ("A?; B", "ab", ["1 2"]),
        ("A?; B", "xb", ["2"]),
        ("N!; C", "nc", []),
        ("N!; C", "nxxxxxc", ["7"]),
    ],
)
def test_negated_and_optional_steps_inside_and_first(text: str, stream: str, expected: list[str]) -> None:
    assert sorted(of_letters(text, stream, width=5)) == expected


def test_negated_step_compares_with_the_step_behind_it() -> None:
    where = sequence("A; N!; C", {"A": "?s a ?a", "N": "?x n ?v", "C": "?x c ?c"})
    assert found(where, event(1, "s a 1"), event(2, "x n 1"), event(3, "x c 1")) == []
    assert found(where, event(1, "s a 1"), event(2, "y n 1"), event(3, "x c 1")) == ["a=1 c=1 s=s x=x @ 1-3"]


@pytest.mark.parametrize(
    ("text", "stream", "expected"),
    [
        ("A; N!", "a", ["a=1 s=s @ 1-6"]),
        ("A; N!", "a....n", []),
        ("A; N!", "a.....n", ["a=1 s=s @ 1-6"]),
        ("A; B?", "a", ["a=1 s=s @ 1-6"]),
        ("A; B?", "ab", ["a=1 b=2 s=s @ 1-2"]),
        ("A, B+!", "abx", ["a=1 b=2 s=s @ 1-3"]),
        ("A, B+!", "ab", ["a=1 b=2 s=s @ 1-6"]),
        ("A, B+!", "ab.....x", ["a=1 b=2 s=s @ 1-6"]),
        ("A, B;+!", "abxb", ["a=1 b=4 s=s @ 1-6"]),
    ],
)
def test_what_is_absent_at_the_end_is_decided_at_the_deadline(text: str, stream: str, expected: list[str]) -> None:
    assert found(sequence(text, LETTERS, width=5), *letters(stream)) == expected


def test_width_counts_from_the_first_event_to_the_last_with_the_bound_inside() -> None:
    assert of_letters("A; B", "a..b", width=3) == ["1 4"]
    assert of_letters("A; B", "a...b", width=3) == []


def test_tumbling_windows_have_both_bounds_inside_and_none_is_before_the_first() -> None:
    assert of_letters("A; B", "ab", width=2, tumbling=1) == ["1 2"]
    assert of_letters("A; B", "a.b", width=2, tumbling=1) == ["1 3"]
    assert of_letters("A; B", "xaxb", width=2, tumbling=1) == []
    assert of_letters("A; B", "aab", width=2, tumbling=2) == ["2 3"]
    assert of_letters("A; N!", "xaxx", width=4, tumbling=0) == ["2"]


def test_outer_negation_looks_to_the_bounds_of_the_tumbling_window() -> None:
    assert found(sequence("A; N!", LETTERS, width=4, tumbling=0), *letters("a..xn")) == ["a=1 s=s @ 1-4"]
    assert of_letters("N!; A", "n.....a", width=5, tumbling=0) == ["7"]
    assert of_letters("N!; A", ".....n.a", width=5, tumbling=0) == []


def test_both_are_of_one_time_and_either_gives_a_run_each() -> None:
    both, either = sequence("A; (B & C)", LETTERS), sequence("A; (B | C)", LETTERS)
    one = [event(1, "s a 1"), event(2, "s b 2 . s c 3")]
    two = [event(1, "s a 1"), event(2, "s b 2"), event(2, "s c 3")]
    for events in (one, two):
        assert found(both, *events) == ["a=1 b=2 c=3 s=s @ 1-2"]
        assert sorted(found(either, *events)) == ["a=1 b=2 s=s @ 1-2", "a=1 c=3 s=s @ 1-2"]
    assert found(both, event(1, "s a 1"), event(2, "s b 2"), event(3, "s c 3")) == []


def test_each_mapping_of_an_event_goes_its_own_way() -> None:
    where = sequence("A, B", {"A": "?s v ?p", "B": "?s v ?q | ?q > ?p"})
    assert found(where, event(1, "x v 1 . y v 5"), event(2, "x v 2 . y v 4")) == ["p=1 q=2 s=x @ 1-2"]


def test_condition_on_what_was_before_says_what_the_next_event_is() -> None:
    where = sequence("A; B", {"A": "?s v ?p", "B": "?s v ?q | ?q > ?p"})
    assert found(where, event(1, "s v 3"), event(2, "s v 2"), event(3, "s v 4")) == [
        "p=3 q=4 s=s @ 1-3",
        "p=2 q=4 s=s @ 2-3",
    ]


FALL = {"A": "?s v ?p", "B": "?s v ?q | ?q < ?p & ?q < PREV(?q)", "C": "?s v ?r | ?r > ?p"}


def prices(*values: int) -> list:
    return [event(time, f"s v {value}") for time, value in enumerate(values)]


def test_prev_is_the_value_of_the_repetition_before_and_true_in_the_first() -> None:
    assert runs(sequence("A, B+, C", FALL), *prices(9, 5, 4, 10)) == ["0 1 2 3", "1 2 3"]
    assert runs(sequence("A, B+, C", FALL), *prices(9, 4, 5, 10)) == []


def test_group_variables_have_the_last_value_and_aggregates_see_all() -> None:
    steps = {"A": "?s v ?p", "B": "?s w ?q | COUNT(?q) <= 2", "C": "?s v ?r | ?r > SUM(?q)"}
    where = sequence("A, B+, C", steps)
    told = detected(
        query(where),
        [i for e in [event(1, "s v 1"), event(2, "s w 2"), event(3, "s w 3"), event(4, "s v 6")] for i in e],
    )
    assert [[(each.time, each.parts[0][0]) for each in token.groups] for token in told] == [[(2, "B"), (3, "B")]]
    assert found(where, event(1, "s v 1"), event(2, "s w 2"), event(3, "s w 3"), event(4, "s v 5")) == []
    assert found(where, *(event(time, "s w 1") for time in (2, 3, 4)), event(1, "s v 1")) == []


def test_contiguity_is_that_of_the_partition() -> None:
    where = sequence("A, B", {"A": "?s a ?p", "B": "?s b ?q"}, partition="s")
    events = event(1, "x a 1"), event(2, "y c 1"), event(3, "y b 1"), event(4, "x b 2")
    assert found(where, *events) == ["p=1 q=2 s=x @ 1-4"]
    assert found(where, events[0], event(2, "x a 2 . x c 3"), events[3]) == ["p=2 q=2 s=x @ 2-4"]
    assert found(where, events[0], event(2, "x c 3"), events[3]) == ["p=1 q=2 s=x @ 1-4"]


def test_skip_past_last_tells_the_first_complete_and_ends_what_began_before_its_end() -> None:
    assert of_letters("A; B", "aabab", past_last=True) == ["1 3", "4 5"]
    assert of_letters("A: B", "abb", past_last=True) == ["1 2"]
    assert of_letters("A; B+", "abb", past_last=True) == ["1 2"]


def test_event_with_an_interval_counts_by_its_end() -> None:
    events = event(5, "s a 1", start=1), event(6, "s b 2", start=2)
    assert found(sequence("A; B", LETTERS), *events) == ["a=1 b=2 s=s @ 5-6"]


def test_event_pattern_looks_at_its_streams_only() -> None:
    where = sequence("A; B", {"A": "s1: ?s a ?a", "B": "s2: ?s b ?b"})
    assert found(where, event(1, "s a 1", stream="s1"), event(2, "s b 1", stream="s1")) == []
    assert len(found(where, event(1, "s a 1", stream="s1"), event(2, "s b 1", stream="s2"))) == 1


def test_names_of_event_patterns_are_what_a_run_is_told_apart_by() -> None:
    assert pattern("A", "?s a ?a").name == "A"
    where = sequence("(A | B)", {"A": "?s a ?a", "B": "?s a ?a"})
    assert found(where, event(1, "s a 1")) == ["a=1 s=s @ 1-1"] * 2
