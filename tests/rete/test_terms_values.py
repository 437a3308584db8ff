"""The side table of values: against Python's float, Decimal and datetime, and XML Schema's lexical rules."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from cases.many import many
from hypothesis import given, settings
from hypothesis import strategies as st

from retewave.rete.terms import kinds as kinds
from retewave.rete.terms.dictionary import Terms

pytestmark = pytest.mark.jit
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TERMS = Terms(seed=1)


def value(lexical: str, datatype: str) -> tuple[int, float, int]:
    term = TERMS.intern(f'"{lexical}"^^<http://www.w3.org/2001/XMLSchema#{datatype}>'.encode())
    table = TERMS.values
    return int(table.kind[term]), float(table.number[term]), int(table.exact[term])


@settings(max_examples=many(300), deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False) | st.floats(-1e6, 1e6))
def test_an_exact_double_is_the_float_that_python_reads(number: float) -> None:
    kind, found, exact = value(repr(number), "double")
    assert kind == kinds.DOUBLE
    assert found == number if exact else math.isclose(found, number, rel_tol=1e-12, abs_tol=1e-300)


@settings(max_examples=many(200), deadline=None)
@given(st.floats(1e-3, 1e9))
def test_every_double_of_common_size_is_exact(number: float) -> None:
    assert value(repr(number), "double") == (kinds.DOUBLE, number, 1)


@settings(max_examples=many(300), deadline=None)
@given(st.decimals(-(10**12), 10**12, places=4), st.decimals(-(10**4), 10**4, places=17), st.integers())
def test_exact_numbers_compare_as_their_decimals_do(left: Decimal, right: Decimal, whole: int) -> None:
    read = [(n, value(f"{n:f}", "decimal")) for n in (left, right)]
    read += [(Decimal(whole), value(str(whole), "integer"))]
    assert value(f"{left:f}", "decimal")[2] or len(left.as_tuple().digits) > 15
    for a, (_, x, exact) in read:
        assert math.isclose(x, float(a), rel_tol=1e-15)
        for b, (_, y, too) in read:
            if exact and too:
                assert (a < b, a == b) == (x < y, x == y)


@settings(max_examples=many(300), deadline=None)
@given(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)), st.integers(-14 * 60, 14 * 60) | st.none())
def test_a_datetime_is_its_microseconds_since_1970(moment: datetime, offset: int | None) -> None:
    zone = "" if offset is None else f"{'-' if offset < 0 else '+'}{abs(offset) // 60:02}:{abs(offset) % 60:02}"
    micros = (moment.replace(tzinfo=UTC) - timedelta(minutes=offset or 0) - EPOCH) // timedelta(microseconds=1)
    kind, number, exact = value(moment.isoformat() + zone, "dateTime")
    assert kind == (kinds.DATETIME_LOCAL if offset is None else kinds.DATETIME)
    assert number == float(micros) and exact == (int(float(micros)) == micros)


@pytest.mark.parametrize(
    ("lexical", "datatype", "expected"),
    [
        ("+007", "integer", (kinds.INTEGER, 7.0, 1)),
        ("9007199254740993", "integer", (kinds.INTEGER, 9007199254740992.0, 0)),
        ("-0", "unsignedByte", (kinds.INTEGER, 0.0, 1)),
        ("255", "unsignedByte", (kinds.INTEGER, 255.0, 1)),
        ("18446744073709551615", "unsignedLong", (kinds.INTEGER, 18446744073709551615.0, 0)),
        ("-9223372036854775808", "long", (kinds.INTEGER, -9223372036854775808.0, 0)),
        (".5", "decimal", (kinds.DECIMAL, 0.5, 1)),
        ("1.", "decimal", (kinds.DECIMAL, 1.0, 1)),
        ("1.10000000000000000000000", "decimal", (kinds.DECIMAL, 1.1, 1)),
        ("1E2", "float", (kinds.FLOAT, 100.0, 1)),
        ("-INF", "double", (kinds.DOUBLE, -math.inf, 1)),
        ("true", "boolean", (kinds.BOOLEAN, 1.0, 1)),
        ("0", "boolean", (kinds.BOOLEAN, 0.0, 1)),
        ("2008-02-29", "date", (kinds.DATE_LOCAL, 1204243200e6, 1)),
        ("2008-02-29+02:00", "date", (kinds.DATE, 1204236000e6, 1)),
        ("2008-03-20T24:00:00Z", "dateTime", (kinds.DATETIME, 1206057600e6, 1)),
        ("1970-01-01T00:00:00.0000001Z", "dateTime", (kinds.DATETIME, 0.0, 0)),
        ("-P1Y2M", "yearMonthDuration", (kinds.YEARMONTH_DURATION, -14.0, 1)),
        ("P1DT2H3M4.5S", "dayTimeDuration", (kinds.DAYTIME_DURATION, 93784500000.0, 1)),
        ("P1Y1D", "duration", (kinds.DURATION, 86400000000.0, 0)),
        ("-PT1.5S", "duration", (kinds.DURATION, -1500000.0, 1)),
        ("x", "string", (kinds.STRING, 0.0, 0)),
    ],
)
def test_a_well_formed_literal_has_its_value(lexical: str, datatype: str, expected: tuple[int, float, int]) -> None:
    assert value(lexical, datatype) == expected


@pytest.mark.parametrize(
    ("lexical", "datatype"),
    [
        ("", "integer"), ("5 ", "integer"), ("5.0", "integer"), ("--5", "integer"), ("1e3", "integer"),
        ("256", "unsignedByte"), ("-1", "unsignedInt"), ("-129", "byte"), ("0", "positiveInteger"),
        ("0", "negativeInteger"), ("1", "nonPositiveInteger"), ("18446744073709551616", "unsignedLong"),
        ("9223372036854775808", "long"), ("1e3", "decimal"), (".", "decimal"), ("", "decimal"),
        ("1e", "double"), ("inf", "double"), ("+NaN", "double"), ("TRUE", "boolean"), ("2", "boolean"),
        ("2008-02-30", "date"), ("2008-13-01", "date"), ("2008-1-01", "date"), ("02008-01-01", "date"),
        ("2008-01-01T25:00:00", "dateTime"), ("2008-01-01T24:00:01", "dateTime"), ("2008-01-01", "dateTime"),
        ("2008-01-01T00:00:60", "dateTime"), ("2008-01-01T00:00:00.", "dateTime"),
        ("2008-01-01T00:00:00+14:01", "dateTime"), ("2008-01-01T00:00:00z", "dateTime"),
        ("P", "duration"), ("P1DT", "duration"), ("P1M1Y", "duration"), ("1D", "duration"),
        ("P1.5D", "dayTimeDuration"), ("P1Y", "dayTimeDuration"), ("P1D", "yearMonthDuration"), ("5", "gYear"),
    ],
)  # fmt: skip
def test_an_ill_formed_literal_has_no_value(lexical: str, datatype: str) -> None:
    assert value(lexical, datatype) == (kinds.NONE, 0.0, 0)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (b"<http://example.org/a>", kinds.IRI),
        (b"_:b", kinds.BLANK),
        (b'"a"', kinds.STRING),
        (b'"a"@en', kinds.LANG),
        (b'"5"^^<http://example.org/integer>', kinds.NONE),
        (b'"5"^^<http://example.org/2001/XMLSchema#integer>', kinds.NONE),
        (b'""^^<a:b>', kinds.NONE),
    ],
)
def test_every_term_has_a_kind(text: bytes, kind: int) -> None:
    assert TERMS.values.kind[TERMS.intern(text)] == kind
