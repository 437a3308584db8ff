"""Durations are read exactly, refused with the known units, and written back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from cases.many import many
from hypothesis import given, settings
from hypothesis import strategies as st

from retewave.windows.durations import LONGEST, UNITS, parse, spell


@pytest.mark.parametrize(
    "text, micros",
    [
        ("250us", 250),
        ("250µs", 250),
        ("250ms", 250_000),
        ("5s", 5_000_000),
        ("5sec", 5_000_000),
        ("5m", 300_000_000),
        ("5 min", 300_000_000),
        ("1h30m", 5_400_000_000),
        (" 1h 30m ", 5_400_000_000),
        ("2d", 172_800_000_000),
        ("1.5s", 1_500_000),
        ("5M", 300_000_000),
        ("0s", 0),
        ("PT5M", 300_000_000),
        ("P1DT2H", 93_600_000_000),
        ("PT0.5S", 500_000),
        ("P2D", 172_800_000_000),
    ],
)
def test_text_is_read(text: str, micros: int) -> None:
    assert parse(text) == micros


@pytest.mark.parametrize(
    "value, micros",
    [
        (5, 5_000_000),
        (0.25, 250_000),
        (1.001, 1_001_000),  # 1.001 * 1e6 is a little less
        (np.int64(5), 5_000_000),
        (np.float32(0.5), 500_000),
        (timedelta(minutes=5), 300_000_000),
        (np.timedelta64(5, "m"), 300_000_000),
        (np.timedelta64(1, "W"), 604_800_000_000),
        (np.timedelta64(1_999, "ns"), 1),
    ],
)
def test_number_counts_seconds_and_a_timedelta_is_what_it_is(value: Any, micros: int) -> None:
    assert parse(value) == micros


@pytest.mark.parametrize(
    "value, message",
    [
        ("5 parsecs", r"unknown unit 'parsecs'; the known ones are us, ms, s, m, h, d"),
        ("5", r"'5' has no unit; the known ones are us, ms, s, m, h, d"),
        ("-5m", r"'-5m' is not a duration; write it like 5m"),
        ("", r"'' is not a duration"),
        ("5m and more", r"'5m and more' is not a duration"),
        ("1" * 1_000, r"'11111111111111111111'... is not a duration"),
        ("1.5us", r"'1.5us' is not a whole number of microseconds"),
        ("P1M", r"'P1M' is not an xsd:dayTimeDuration"),
        ("PT", r"'PT' is not an xsd:dayTimeDuration"),
        ("P1DT", r"'P1DT' is not an xsd:dayTimeDuration"),
        ("P", r"'P' is not an xsd:dayTimeDuration"),
        ("-PT5M", r"'-PT5M' is not an xsd:dayTimeDuration"),
        (-1, r"a duration is not negative .*; -1 is not"),
        (timedelta(seconds=-1), r"a duration is not negative"),
        (float("nan"), r"nan is not a duration"),
        (float("inf"), r"inf is not a duration"),
        (1e300, r"at most"),
        (np.timedelta64("NaT"), r"NaT is not a duration"),
        (np.timedelta64(1, "M"), r"no fixed length"),
        (np.timedelta64(10**12, "W"), r"is longer than"),
        (True, r"a duration is a text, a number of seconds or a timedelta, not True"),
        (None, r"not None"),
    ],
)
def test_what_is_no_duration_is_refused_with_the_reason(value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse(value)


@pytest.mark.parametrize("text", ["5m", "1h30m", "250ms", "1d1h1m1s", "1s1us", "0s"])
def test_spelling_is_the_shortest_in_exact_units(text: str) -> None:
    assert spell(parse(text)) == text


@settings(max_examples=many(300))
@given(st.integers(0, LONGEST))
def test_what_is_spelled_is_read_back(micros: int) -> None:
    assert parse(spell(micros)) == micros


@settings(max_examples=many(300))
@given(st.dictionaries(st.sampled_from(sorted(UNITS)), st.integers(0, 10_000), min_size=1))
def test_parts_add_up(parts: dict[str, int]) -> None:
    text = "".join(f"{count}{unit}" for unit, count in parts.items())
    assert parse(text) == sum(count * UNITS[unit] for unit, count in parts.items())


@settings(max_examples=many(200))
@given(st.text(alphabet="0123456789.smhdPTD -µ", max_size=12))
def test_any_text_is_read_or_refused_by_a_value_error(text: str) -> None:
    try:
        micros = parse(text)
    except ValueError:
        return
    assert 0 <= micros <= LONGEST


def test_negative_duration_is_not_spelled() -> None:
    with pytest.raises(ValueError, match="-1 microseconds"):
        spell(-1)
