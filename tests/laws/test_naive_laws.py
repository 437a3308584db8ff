"""Laws that the naive meaning itself keeps, whatever the query and the stream."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from cases.engine import Case, case_of
from cases.many import many
from helpers.looked_up import Window, looked_up, query, triple
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive.detectors import detected
from naive.streams import Item, Triple

from retewave.compiler.parse import parse
from retewave.windows.intervals import is_static, window_start

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
