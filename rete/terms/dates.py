"""Dates, times and durations of XML Schema 1.1: lexical form -> microseconds or months.

Data's way: called by rete/terms/value.py when the dictionary meets a new literal.
Invariant: exact says that the double is the value to the microsecond; a fraction of a microsecond is cut off
and not exact.
Left out: the partial dates (xsd:gYear and such) and xsd:time, which SPARQL does not compare.
"""

from __future__ import annotations

import numpy as np

from retewave.rete.terms.numbers import digits_end
from retewave.rete.words.ascii import (
    COLON,
    DIGIT_0,
    DOT,
    MINUS,
    PLUS,
    UPPER_D,
    UPPER_H,
    UPPER_M,
    UPPER_P,
    UPPER_S,
    UPPER_T,
    UPPER_Y,
    UPPER_Z,
)
from retewave.rete.words.bytes import Address, byte
from retewave.rete.words.jit import kernel

__all__ = ["date_of", "duration_of"]

_SECOND = 1_000_000
_MINUTE = 60 * _SECOND
_DAY = 86_400 * _SECOND
_FAR_YEAR = 200_000  # beyond it microseconds do not fit int64
_MONTH_DAYS = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])


@kernel
def _pair(at: Address, end: Address) -> int:
    """Return the number of two digits, -1 if there are not two."""
    if at + 2 > end or digits_end(at, at + 2) != at + 2:
        return -1
    return (byte(at) - DIGIT_0) * 10 + byte(at + 1) - DIGIT_0


@kernel
def _peek(at: Address, end: Address) -> int:
    """Return the byte at an address, -1 at the end."""
    return byte(at) if at < end else -1


@kernel
def _year(at: Address, end: Address) -> tuple[int, int]:
    """Read a year of four or more digits: return (end, year), end -1 if malformed; a far year is clipped."""
    negative = _peek(at, end) == MINUS
    first = at + 1 if negative else at
    stop = digits_end(first, end)
    if stop - first < 4 or (stop - first > 4 and byte(first) == DIGIT_0):
        return -1, 0
    year = 0
    for k in range(first, stop):
        year = min(year * 10 + byte(k) - DIGIT_0, 10 * _FAR_YEAR)
    return stop, -year if negative else year


@kernel
def _month_days(year: int, month: int) -> int:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else _MONTH_DAYS[month - 1]


@kernel
def _days(year: int, month: int, day: int) -> int:
    """Return the days since 1970-01-01 in the proleptic Gregorian calendar (years begin in March inside)."""
    shifted = year - 1 if month <= 2 else year
    era = shifted // 400
    of_era = shifted - era * 400
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


@kernel
def _calendar_day(at: Address, end: Address) -> tuple[int, int, bool]:
    """Read YYYY-MM-DD: return (end, days since 1970, near), end -1 if there is no such day."""
    at, year = _year(at, end)
    if at < 0 or _peek(at, end) != MINUS or _peek(at + 3, end) != MINUS:
        return -1, 0, False
    month, day = _pair(at + 1, end), _pair(at + 4, end)
    if not 1 <= month <= 12 or not 1 <= day <= _month_days(year, month):
        return -1, 0, False
    return at + 6, _days(year, month, day), abs(year) <= _FAR_YEAR


@kernel
def _fraction(at: Address, end: Address) -> tuple[int, int, bool]:
    """Read an optional ".digits": return (end, microseconds, whole), end -1 if there is a point alone."""
    if _peek(at, end) != DOT:
        return at, 0, True
    stop = digits_end(at + 1, end)
    if stop == at + 1:
        return -1, 0, False
    micros, unit, whole = 0, 100_000, True
    for k in range(at + 1, stop):
        digit = byte(k) - DIGIT_0
        micros += digit * unit
        whole = whole and (unit > 0 or digit == 0)
        unit //= 10
    return stop, micros, whole


@kernel
def _clock(at: Address, end: Address) -> tuple[int, int, bool]:
    """Read hh:mm:ss[.f]: return (end, microseconds, whole), end -1 if malformed; 24:00:00 ends the day."""
    if _peek(at + 2, end) != COLON or _peek(at + 5, end) != COLON:
        return -1, 0, False
    hour, minute, second = _pair(at, end), _pair(at + 3, end), _pair(at + 6, end)
    if hour < 0 or hour > 24 or not 0 <= minute <= 59 or not 0 <= second <= 59:
        return -1, 0, False
    at, micros, whole = _fraction(at + 8, end)
    total = (hour * 60 + minute) * _MINUTE + second * _SECOND + micros
    if total > _DAY or (hour == 24 and not whole):
        return -1, 0, False
    return at, total, whole


@kernel
def _zone(at: Address, end: Address) -> tuple[bool, bool, int]:
    """Read the rest of the text as an optional zone: return (well formed, present, microseconds east of UTC)."""
    if at == end:
        return True, False, 0
    if _peek(at, end) == UPPER_Z:
        return at + 1 == end, True, 0
    east = _peek(at, end) == PLUS
    if end - at != 6 or not (east or _peek(at, end) == MINUS) or _peek(at + 3, end) != COLON:
        return False, False, 0
    hour, minute = _pair(at + 1, end), _pair(at + 4, end)
    if not 0 <= hour <= 14 or not 0 <= minute <= 59 or (hour == 14 and minute != 0):
        return False, False, 0
    offset = (hour * 60 + minute) * _MINUTE
    return True, True, offset if east else -offset


@kernel
def date_of(at: Address, end: Address, timed: bool) -> tuple[bool, bool, float, bool]:
    """Return (well formed, has a zone, microseconds since 1970 UTC, exact) of a date, or of a dateTime."""
    at, days, near = _calendar_day(at, end)
    micros, whole = 0, True
    if at >= 0 and timed:
        if _peek(at, end) != UPPER_T:
            return False, False, 0.0, False
        at, micros, whole = _clock(at + 1, end)
    if at < 0:
        return False, False, 0.0, False
    good, zoned, offset = _zone(at, end)
    if not near:
        return good, zoned, float(days) * _DAY, False
    total = np.int64(days) * _DAY + micros - offset
    return good, zoned, float(total), whole and np.int64(float(total)) == total


@kernel
def _unit(letter: int, timed: bool) -> tuple[int, int, int]:
    """Return (rank, months, microseconds) of a duration's unit, rank 0 if there is none of that letter."""
    if not timed:
        if letter == UPPER_Y:
            return 1, 12, 0
        if letter == UPPER_M:
            return 2, 1, 0
        return (3, 0, _DAY) if letter == UPPER_D else (0, 0, 0)
    if letter == UPPER_H:
        return 4, 0, 60 * _MINUTE
    if letter == UPPER_M:
        return 5, 0, _MINUTE
    return (6, 0, _SECOND) if letter == UPPER_S else (0, 0, 0)


@kernel
def _component(at: Address, end: Address, timed: bool) -> tuple[int, int, float, float, bool]:
    """Read one "digits unit": return (end, rank, months, microseconds, whole), rank 0 if malformed."""
    stop = digits_end(at, end)
    amount = 0.0
    for k in range(at, stop):
        amount = amount * 10.0 + (byte(k) - DIGIT_0)
    fraction_end, micros, whole = _fraction(stop, end)
    if stop == at or fraction_end < 0 or fraction_end >= end:
        return at, 0, 0.0, 0.0, False
    rank, months, unit = _unit(byte(fraction_end), timed)
    if fraction_end != stop and rank != 6:
        return at, 0, 0.0, 0.0, False
    return fraction_end + 1, rank, amount * months, amount * unit + micros, whole


@kernel
def duration_of(at: Address, end: Address) -> tuple[int, int, float, float, bool]:
    """Return (least rank, greatest rank, months, microseconds, exact); greatest rank 0 if malformed.

    A rank is the place of a unit in YMDHMS, from 1; so a yearMonthDuration has ranks 1 to 2 and a
    dayTimeDuration 3 to 6.
    """
    negative = _peek(at, end) == MINUS
    at = at + 1 if negative else at
    if _peek(at, end) != UPPER_P:
        return 7, 0, 0.0, 0.0, False
    at += 1
    least, last, months, micros, exact, timed = 7, 0, 0.0, 0.0, True, False
    while at < end:
        if not timed and byte(at) == UPPER_T:
            timed = True
            at += 1
        at, rank, more_months, more_micros, whole = _component(at, end, timed)
        if rank <= last:
            return 7, 0, 0.0, 0.0, False
        least, last = min(least, rank), rank
        months, micros, exact = months + more_months, micros + more_micros, exact and whole
    sign = -1.0 if negative else 1.0
    small = months < 2.0**53 and micros < 2.0**53
    return least, last, sign * months, sign * micros, exact and small
