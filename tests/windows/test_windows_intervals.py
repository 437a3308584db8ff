"""Intervals, window tests and temporal relations hold their laws and their boundaries."""

from __future__ import annotations

import pytest
from cases.many import many
from hypothesis import given, settings
from hypothesis import strategies as st

from retewave.windows import intervals, relations
from retewave.windows.intervals import (
    EARLIEST,
    LATEST,
    STATIC_END,
    STATIC_START,
    UNBOUNDED,
    end_of,
    is_static,
    start_of,
    widest,
    window_start,
    within,
)

times = st.integers(-20, 20) | st.sampled_from([EARLIEST, LATEST])
spans = st.tuples(times, times).map(lambda pair: (min(pair), max(pair)))
proper = spans.filter(lambda span: span[0] < span[1])
widths = st.integers(0, 40) | st.sampled_from([LATEST, UNBOUNDED])
INT64 = range(-(2**63), 2**63)


def joined(spans_: list[tuple[int, int]]) -> tuple[int, int]:
    start, end = STATIC_START, STATIC_END
    for span in spans_:
        start, end = start_of(start, span[0]), end_of(end, span[1])
    return start, end


# The interval of a join


@settings(max_examples=many(100))
@given(st.lists(spans, min_size=1))
def test_join_spans_from_the_first_start_to_the_last_end(items: list[tuple[int, int]]) -> None:
    assert joined(items) == (min(s for s, _ in items), max(e for _, e in items))


@given(spans)
def test_static_interval_leaves_the_other_side_as_it_is(span: tuple[int, int]) -> None:
    assert joined([(STATIC_START, STATIC_END), span]) == span
    assert joined([span, (STATIC_START, STATIC_END)]) == span


def test_join_of_static_tokens_is_static() -> None:
    assert is_static(*joined([(STATIC_START, STATIC_END)] * 2))


@given(spans)
def test_no_token_of_the_stream_is_static(span: tuple[int, int]) -> None:
    assert not is_static(*span)


# The window


@pytest.mark.parametrize("width", [0, 1, 300_000_000, LATEST])
def test_window_is_closed_at_its_width(width: int) -> None:
    assert within(0, width, width)
    assert not within(0, width + 1, width)


@given(widths)
def test_every_window_keeps_a_static_token(width: int) -> None:
    assert within(STATIC_START, STATIC_END, width)
    assert STATIC_END - STATIC_START in INT64


@given(spans)
def test_unbounded_window_keeps_everything(span: tuple[int, int]) -> None:
    assert within(*span, UNBOUNDED)


def test_query_that_names_no_stream_has_an_unbounded_window() -> None:
    assert widest([]) == UNBOUNDED


@settings(max_examples=many(500))
@given(st.lists(st.tuples(spans, widths), min_size=1, max_size=4))
def test_one_test_on_window_starts_says_that_no_item_is_older_than_its_stream_allows(
    items: list[tuple[tuple[int, int], int]],
) -> None:
    widest_width = widest([width for _, width in items])
    first = min(window_start(span[0], width, widest_width) for span, width in items)
    last = max(span[1] for span, _ in items)
    assert within(first, last, widest_width) == all(last - span[0] <= width for span, width in items)
    assert last - first in INT64 and first in INT64


@pytest.mark.parametrize("end, kept", [(105, True), (106, False)])
def test_item_of_the_narrow_stream_leaves_at_its_own_width(end: int, kept: bool) -> None:
    narrow = window_start(100, 5, 20)
    wide = window_start(end, 20, 20)
    assert within(start_of(narrow, wide), end, 20) is kept


@pytest.mark.parametrize("end, kept", [(120, True), (121, False)])
def test_item_of_the_wide_stream_leaves_at_the_widest_width(end: int, kept: bool) -> None:
    wide = window_start(100, 20, 20)
    narrow = window_start(end, 5, 20)
    assert within(start_of(narrow, wide), end, 20) is kept


@given(widths, widths)
def test_static_start_is_not_shifted(one: int, other: int) -> None:
    assert window_start(STATIC_START, min(one, other), max(one, other)) == STATIC_START


# Temporal relations

CODES = range(len(relations.NAMES))
ALLEN = range(relations.EQUALS, relations.FINISHED_BY + 1)

DEFINITIONS = {  # as in Allen 1983, left X and right Y, by the order of the four ends
    "before": lambda xs, xe, ys, ye: xe < ys,
    "after": lambda xs, xe, ys, ye: ye < xs,
    "meets": lambda xs, xe, ys, ye: xe == ys,
    "met by": lambda xs, xe, ys, ye: ye == xs,
    "overlaps": lambda xs, xe, ys, ye: xs < ys < xe < ye,
    "overlapped by": lambda xs, xe, ys, ye: ys < xs < ye < xe,
    "starts": lambda xs, xe, ys, ye: xs == ys and xe < ye,
    "started by": lambda xs, xe, ys, ye: xs == ys and ye < xe,
    "during": lambda xs, xe, ys, ye: ys < xs and xe < ye,
    "contains": lambda xs, xe, ys, ye: xs < ys and ye < xe,
    "finishes": lambda xs, xe, ys, ye: ys < xs and xe == ye,
    "finished by": lambda xs, xe, ys, ye: xs < ys and xe == ye,
    "equals": lambda xs, xe, ys, ye: (xs, xe) == (ys, ye),
    "none": lambda xs, xe, ys, ye: True,
}


def test_there_are_thirteen_relations() -> None:
    assert len(ALLEN) == 13
    assert sorted(DEFINITIONS) == sorted(relations.NAMES)


@settings(max_examples=many(500))
@given(proper, proper)
def test_exactly_one_relation_holds_between_proper_intervals(x: tuple[int, int], y: tuple[int, int]) -> None:
    assert sum(relations.holds(code, *x, *y) for code in ALLEN) == 1


@settings(max_examples=many(500))
@given(spans, spans)
def test_at_least_one_relation_holds_where_instants_occur(x: tuple[int, int], y: tuple[int, int]) -> None:
    assert any(relations.holds(code, *x, *y) for code in ALLEN)


@settings(max_examples=many(500))
@given(spans, spans)
def test_relations_are_as_allen_defines_them(x: tuple[int, int], y: tuple[int, int]) -> None:
    for code in CODES:
        assert relations.holds(code, *x, *y) == DEFINITIONS[relations.NAMES[code]](*x, *y)


@settings(max_examples=many(500))
@given(spans, spans)
def test_inverse_says_the_same_from_the_other_side(x: tuple[int, int], y: tuple[int, int]) -> None:
    for code in CODES:
        assert relations.holds(code, *x, *y) == relations.holds(relations.inverse(code), *y, *x)
        assert relations.inverse(relations.inverse(code)) == code


def test_seq_is_strict() -> None:
    assert relations.holds(relations.SEQ, 0, 4, 5, 9)
    assert not relations.holds(relations.SEQ, 0, 5, 5, 9)


@pytest.mark.parametrize("code", CODES)
def test_relation_is_found_by_its_name(code: int) -> None:
    assert relations.code_of(relations.NAMES[code].upper().replace(" ", "_")) == code


def test_unknown_relation_is_named_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'beside'; the known ones are seq, none, equals, before"):
        relations.code_of("beside")


@pytest.mark.parametrize("code", [-1, 14])
def test_unknown_code_is_refused(code: int) -> None:
    with pytest.raises(ValueError):
        relations.inverse(code)
    with pytest.raises(ValueError):
        relations.holds(code, 0, 1, 2, 3)


# In the kernel


def test_functions_compile_as_they_are() -> None:
    from retewave.rete.words.jit import kernel

    holds, shifted, inside = (kernel(f) for f in (relations.holds, intervals.window_start, intervals.within))
    for code in CODES:
        for left in [(1, 2), (2, 2), (0, 9)]:
            assert holds(code, *left, 2, 4) == relations.holds(code, *left, 2, 4)
    assert shifted(100, 5, 20) == 85
    assert shifted(STATIC_START, 5, 20) == STATIC_START
    assert inside(STATIC_START, STATIC_END, 0) and inside(0, LATEST, UNBOUNDED) and not inside(0, 6, 5)
