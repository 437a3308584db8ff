"""Points in time go in as numbers, datetimes, datetime64s or texts, and come out as what went in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest
from cases.many import many
from hypothesis import given, settings
from hypothesis import strategies as st

from retewave.windows.intervals import EARLIEST, LATEST
from retewave.windows.times import Clock, Instant, format_datetime, micros, parse_datetime

EAST = timezone(timedelta(hours=2))
NOON = datetime(2012, 7, 16, 12, 0, 0, 250_000)
NOON_MICROS = 1_342_440_000_250_000

laws = settings(max_examples=many(200))


def datetime64(count: int, unit: str) -> np.datetime64:
    return np.datetime64(count, unit)  # type: ignore[call-overload]


offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@pytest.mark.parametrize(
    "value, expected",
    [
        (0, 0),
        (12, 12_000_000),
        (-1.5, -1_500_000),
        (1.001, 1_001_000),  # 1.001 * 1e6 is a little less
        (np.int32(12), 12_000_000),
        (NOON, NOON_MICROS),
        (NOON.replace(tzinfo=UTC), NOON_MICROS),
        (NOON.replace(tzinfo=EAST), NOON_MICROS - 7_200_000_000),
        (np.datetime64("2012-07-16T12:00:00.250"), NOON_MICROS),
        (np.datetime64("1970-01-02"), 86_400_000_000),
        ("2012-07-16T12:00:00.25Z", NOON_MICROS),
        ("2012-07-16T14:00:00.25+02:00", NOON_MICROS),
    ],
)
def test_time_of_any_form_is_read(value: Instant, expected: int) -> None:
    assert micros(value) == expected


def test_time_that_names_no_zone_is_utc() -> None:
    assert micros(NOON) == micros(NOON.replace(tzinfo=UTC))
    assert parse_datetime("2012-07-16T12:00:00") == parse_datetime("2012-07-16T12:00:00Z")


# What goes in comes out

form = (
    st.integers(-(10**10), 10**10)
    | st.integers(-(2**50), 2**50).map(lambda time: time / 1_000_000)
    | st.datetimes()
    | st.datetimes(timezones=offsets, min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1))
    | st.tuples(st.integers(-(10**10), 10**10), st.sampled_from(["D", "h", "s", "ms", "us"])).map(
        lambda pair: datetime64(pair[0] // (10**5 if pair[1] in "Dh" else 1), pair[1])
    )
)


@laws
@given(form)
def test_time_comes_out_as_what_went_in(value: Instant) -> None:
    clock = Clock.of(value)
    decoded = clock.decode(clock.encode(value))
    assert decoded == value
    assert type(decoded) is type(value)
    if isinstance(value, datetime) and isinstance(decoded, datetime):
        assert decoded.utcoffset() == value.utcoffset()
    if isinstance(value, np.datetime64) and isinstance(decoded, np.datetime64):
        assert decoded.dtype == value.dtype


@laws
@given(st.lists(st.integers(-(10**10), 10**10), min_size=1))
def test_array_of_times_is_read_and_written_as_each_of_them(seconds: list[int]) -> None:
    for values in [
        np.array(seconds),
        np.array(seconds) + 0.5,
        np.array(seconds) % 10_000 + 0.001,
        np.array(seconds, "datetime64[s]"),
        np.array([datetime(2000, 1, 1) + timedelta(seconds=number) for number in seconds]),
        np.array([f"{2000 + number % 1000}-01-01T00:00:00Z" for number in seconds]),
    ]:
        clock = Clock.of(values[0])
        times = clock.encode_all(values)
        assert times.dtype == np.int64
        assert times.tolist() == [clock.encode(value) for value in values]
        assert clock.decode_all(times).tolist() == values.tolist()


def test_whole_seconds_between_which_a_time_falls_come_out_as_floats() -> None:
    clock = Clock.of(1)
    assert clock.decode(1_500_000) == 1.5
    assert clock.decode_all(np.array([1_000_000, 1_500_000])).tolist() == [1.0, 1.5]


def test_array_of_times_that_no_float_holds_is_rounded_as_each_of_them() -> None:
    clock = Clock.of(1.0)
    times = [2**53 - 1, 2**53 + 1, -(2**53) - 1, 2**53 + 3]
    assert clock.decode_all(np.array(times)).tolist() == [clock.decode(time) for time in times]


def test_datetime64_of_several_units_keeps_its_step() -> None:
    value = datetime64(4, "25s")
    assert Clock.of(value).decode(micros(value)) == value


@pytest.mark.parametrize("nanoseconds, expected", [(1_999, 1), (-1, -1), (-1_001, -2)])
def test_what_is_finer_than_a_microsecond_is_cut_off_towards_the_past(nanoseconds: int, expected: int) -> None:
    assert micros(datetime64(nanoseconds, "ns")) == expected


# xsd:dateTime


@pytest.mark.parametrize(
    "text, same",
    [
        ("2012-07-16T24:00:00Z", "2012-07-17T00:00:00Z"),
        ("2012-12-31T24:00:00.000Z", "2013-01-01T00:00:00Z"),
        ("2012-07-16T12:00:00-00:00", "2012-07-16T12:00:00Z"),
        ("2012-07-16T12:00:00.123456999Z", "2012-07-16T12:00:00.123456Z"),
        (" 2012-07-16T12:00:00Z\n", "2012-07-16T12:00:00Z"),
        ("2012-02-29T00:00:00+14:00", "2012-02-28T10:00:00Z"),
    ],
)
def test_texts_of_the_same_time_are_equal(text: str, same: str) -> None:
    assert parse_datetime(text) == parse_datetime(same)


@pytest.mark.parametrize("year", ["-0044", "0000", "0001", "9999", "12345", "-12345"])
def test_year_beyond_what_datetime_knows_is_read_and_written(year: str) -> None:
    assert format_datetime(parse_datetime(f"{year}-03-15T12:00:00Z")).startswith(f"{year}-03-15T12")


@laws
@given(st.datetimes(timezones=offsets, min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)))
def test_text_says_the_same_as_the_datetime(moment: datetime) -> None:
    assert parse_datetime(moment.isoformat()) == micros(moment)


@laws
@given(st.integers(EARLIEST, LATEST))
def test_canonical_text_is_read_back(time: int) -> None:
    assert parse_datetime(format_datetime(time)) == time


@pytest.mark.parametrize(
    "text",
    [
        "yesterday",
        "2012-07-16",
        "2012-07-16 12:00:00Z",
        "2012-07-16T12:00Z",
        "2012-07-16T12:00:00.Z",
        "12-07-16T12:00:00Z",
        "012345-07-16T12:00:00Z",
        "2012-13-16T12:00:00Z",
        "2011-02-29T12:00:00Z",
        "2012-07-16T25:00:00Z",
        "2012-07-16T24:00:01Z",
        "2012-07-16T24:00:00.1Z",
        "2012-07-16T12:60:00Z",
        "2012-07-16T12:00:60Z",
        "2012-07-16T12:00:00+15:00",
        "2012-07-16T12:00:00+01:60",
        "99999-07-16T12:00:00Z",
        "9999999999-07-16T12:00:00Z",
        "٢٠١٢-07-16T12:00:00Z",
    ],
)
def test_text_that_is_no_time_is_refused_and_quoted(text: str) -> None:
    with pytest.raises(ValueError) as refused:
        parse_datetime(text)
    assert repr(text) in str(refused.value)


@laws
@given(st.text(alphabet="0123456789-+:.TZ", max_size=30))
def test_any_text_is_read_or_refused_by_a_value_error(text: str) -> None:
    try:
        time = parse_datetime(text)
    except ValueError:
        return
    assert EARLIEST <= time <= LATEST


# Bounds and types


@pytest.mark.parametrize(
    "value",
    [
        10**13,
        1e20,
        float("nan"),
        float("inf"),
        np.datetime64("NaT"),
        np.datetime64(500_000, "Y"),
        np.datetime64(-(10**15), "D"),
        True,
        None,
        b"2012",
    ],
)
def test_what_is_no_time_or_out_of_range_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"time|from 1970"):
        micros(value)


@pytest.mark.parametrize(
    "values",
    [
        [10**13],
        [1e20],
        [0.0, float("nan")],
        np.array(["NaT", "2012-01-01"], "datetime64[s]"),
        np.array([500_000], "datetime64[Y]"),
        [True],
        [None],
    ],
)
def test_array_with_one_wrong_time_is_refused(values: Any) -> None:
    with pytest.raises(ValueError, match=r"time|from 1970"):
        Clock("float").encode_all(values)


def test_clock_of_what_is_no_time_is_refused() -> None:
    with pytest.raises(ValueError, match="not None"):
        Clock.of(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("zone", [None, UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-14))])
def test_what_no_datetime_tells_is_the_last_or_the_first_one(zone: timezone | None) -> None:
    clock = Clock("datetime", zone=zone)
    last, first = clock.decode(LATEST), clock.decode(EARLIEST)
    assert (last, first) == (datetime.max.replace(tzinfo=zone), datetime.min.replace(tzinfo=zone))
    assert clock.decode_all(np.array([EARLIEST, LATEST])).tolist() == [first, last]
    assert clock.decode(clock.encode(last)) == last


@pytest.mark.parametrize("unit", ["s", "us", "ns", "ps", "fs"])
def test_what_a_fine_datetime64_cannot_tell_is_in_microseconds(unit: str) -> None:
    clock = Clock("datetime64", unit=unit)
    for time in (LATEST // 10**6 * 10**6, EARLIEST // 10**6 * 10**6, 0, 1_700_000_000_000_000):
        told = clock.decode(time)
        assert isinstance(told, np.datetime64)
        assert int(told.astype("datetime64[us]").astype(np.int64)) == time
        assert int(clock.decode_all(np.array([time])).astype("datetime64[us]").astype(np.int64)[0]) == time
