"""DISTINCT in the naive meaning: a match is reported once while what supports it lives."""

from __future__ import annotations

from helpers.looked_up import at, every, looked_up, query, selecting, times_of, triple

from retewave.compiler.algebra import Union


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
