"""Times as text: seconds as Python writes numbers, and dates as the canonical xsd:dateTime in UTC.

Data's way: a match row's microseconds -> **characters in a sink's buffer**.
Invariant: the text is, byte for byte, that of `Clock.decode` and `format_datetime` (windows/times.py).
Left out: seconds beyond `EXACT`, where a double no longer tells microseconds apart: Python writes those.
"""

from __future__ import annotations

from retewave.rete.words.ascii import COLON, DIGIT_0, DOT, LOWER_E, MINUS, UPPER_T, UPPER_Z
from retewave.rete.words.bytes import Address, set_byte
from retewave.rete.words.jit import kernel

__all__ = ["DATES", "EXACT", "LONGEST_TIME", "SECONDS", "TOLD", "WHOLE_SECONDS", "write_number", "write_time"]

# How times are written: 5, 5.0, 1970-01-01T00:00:05Z; or the caller has written them.
WHOLE_SECONDS, SECONDS, DATES, TOLD = range(4)
EXACT = (1 << 33) * 1_000_000  # microseconds: from here on the doubles next to each other are further apart than one
LONGEST_TIME = 32  # characters

_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_SMALL = 100  # microseconds: less than these Python writes with a power of ten


@kernel
def write_number(out: Address, value: int, least: int) -> Address:
    """Write a number that is not negative with `least` digits at least; return where it ends."""
    length, rest = 1, value // 10
    while rest > 0:
        length += 1
        rest //= 10
    length = max(length, least)
    for k in range(length):
        set_byte(out + length - 1 - k, DIGIT_0 + value % 10)
        value //= 10
    return out + length


@kernel
def _write_fraction(out: Address, micros: int) -> Address:
    """Write a dot and the digits of a part of a second, without zeros at the end."""
    digits = 6
    while micros % 10 == 0 and digits > 1:
        micros //= 10
        digits -= 1
    set_byte(out, DOT)
    return write_number(out + 1, micros, digits)


@kernel
def _write_small(out: Address, micros: int) -> Address:
    """Write less than 100 microseconds as Python does: 5e-06, 1.2e-05."""
    power = 53 if micros >= 10 else 54  # 5 or 6
    first, second = (micros // 10, micros % 10) if micros >= 10 else (micros, 0)
    set_byte(out, DIGIT_0 + first)
    out += 1
    if second:
        set_byte(out, DOT)
        set_byte(out + 1, DIGIT_0 + second)
        out += 2
    set_byte(out, LOWER_E)
    set_byte(out + 1, MINUS)
    set_byte(out + 2, DIGIT_0)
    set_byte(out + 3, power)
    return out + 4


@kernel
def _write_seconds(out: Address, time: int, whole: bool) -> Address:
    if time < 0:
        set_byte(out, MINUS)
        out, time = out + 1, -time
    if 0 < time < _SMALL:
        return _write_small(out, time)
    out = write_number(out, time // _SECOND, 1)
    micros = time % _SECOND
    return out if whole and micros == 0 else _write_fraction(out, micros)


@kernel
def _write_day(out: Address, days: int) -> Address:
    """Write a day, counted from 1970-01-01, in the proleptic Gregorian calendar.

    Years begin in March here, so that the leap day is their last; 400 of them, an era, have 146,097 days.
    """
    days += 719_468  # from 0000-03-01
    era = days // 146_097
    of_era = days - era * 146_097
    year = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    year += 400 * era + (1 if month >= 10 else 0)
    if year < 0:
        set_byte(out, MINUS)
        out, year = out + 1, -year
    out = write_number(out, year, 4)
    set_byte(out, MINUS)
    out = write_number(out + 1, month + 3 if month < 10 else month - 9, 2)
    set_byte(out, MINUS)
    return write_number(out + 1, day, 2)


@kernel
def _write_date(out: Address, time: int) -> Address:
    days = time // _DAY
    rest = time - days * _DAY
    out = _write_day(out, days)
    set_byte(out, UPPER_T)
    out = write_number(out + 1, rest // (3_600 * _SECOND), 2)
    set_byte(out, COLON)
    out = write_number(out + 1, rest // (60 * _SECOND) % 60, 2)
    set_byte(out, COLON)
    out = write_number(out + 1, rest // _SECOND % 60, 2)
    if rest % _SECOND:
        out = _write_fraction(out, rest % _SECOND)
    set_byte(out, UPPER_Z)
    return out + 1


@kernel
def write_time(out: Address, time: int, clock: int) -> Address:
    """Write a time as a clock tells it; return where it ends."""
    return _write_date(out, time) if clock == DATES else _write_seconds(out, time, clock == WHOLE_SECONDS)
