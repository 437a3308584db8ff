"""Points in time and durations: the values of xsd:dateTime, xsd:date, xsd:time and the durations, for any year.

Data's way: literal -> **moment**, duration -> operators, functions of times.
Invariant: a moment is the exact number of seconds since 1970 (UTC, or local when there is no zone) and whether it has
a zone. rdflib's values end at the year 9999 and lose the zone of a date. A value whose digits are too many to
calculate with is well formed all the same: it is an error only where it is calculated with.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact

from retewave.compiler.expressions.faults import ExpressionError

__all__ = [
    "Duration",
    "Moment",
    "date_text",
    "days_of",
    "exact_sum",
    "fields_of",
    "month_length",
    "parse_duration",
    "parse_moment",
    "parse_time",
]

_ZONE = r"(Z|[+-][0-9]{2}:[0-9]{2})?"
_CLOCK = r"([0-9]{2}):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?)"
_MOMENT = re.compile(rf"(-?(?:[1-9][0-9]{{4,}}|[0-9]{{4}}))-([0-9]{{2}})-([0-9]{{2}})(?:T{_CLOCK})?{_ZONE}", re.ASCII)
_TIME = re.compile(_CLOCK + _ZONE, re.ASCII)
_DURATION = re.compile(
    r"(-?)P(?=[0-9T])(?:([0-9]+)Y)?(?:([0-9]+)M)?(?:([0-9]+)D)?"
    r"(?:T(?=[0-9])(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:\.[0-9]+)?)S)?)?",
    re.ASCII,
)
_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DAY = 86_400
_FOURTEEN_HOURS = 14 * 3600
_MOST_DIGITS = 1_000  # of a year, of a fraction, of a duration's parts
_SUM = Context(prec=3 * _MOST_DIGITS, traps=[Inexact])


@dataclass(frozen=True)
class Moment:
    """A point in time, on the line of UTC or, without a zone, somewhere within fourteen hours of it."""

    seconds: Decimal | None  # since 1970-01-01T00:00:00; nothing when it has too many digits
    zoned: bool  # whether the zone is known

    def difference(self, other: Moment) -> Decimal | None:
        """Return self - other in seconds, or nothing when a missing zone leaves even its sign open."""
        if self.seconds is None or other.seconds is None:
            raise ExpressionError("a moment with too many digits")
        apart = _SUM.subtract(self.seconds, other.seconds)
        return apart if self.zoned == other.zoned or abs(apart) > _FOURTEEN_HOURS else None


@dataclass(frozen=True)
class Duration:
    """A duration: its months and its seconds, which nothing converts into each other."""

    months: int | None  # with the sign; nothing when it has too many digits
    seconds: Decimal | None  # likewise


def parse_moment(lexical: str, with_time: bool) -> Moment | None:
    """Read a dateTime or a date; a lexical form that is not valid gives nothing.

    >>> parse_moment("1970-01-01T01:00:00+01:00", True)
    Moment(seconds=Decimal('0'), zoned=True)
    >>> parse_moment("2023-02-29", False) is None
    True
    """
    match = _moment(lexical, with_time)
    if match is None:
        return None
    zoned = match[7] is not None
    if max(len(match[1]), len(match[6] or "")) > _MOST_DIGITS:
        return Moment(None, zoned)
    days, offset = days_of(int(match[1]), int(match[2]), int(match[3])), _offset(match[7])
    assert offset is not None
    whole = days * _DAY + int(match[4] or 0) * 3_600 + int(match[5] or 0) * 60 - offset
    return Moment(exact_sum(Decimal(whole), Decimal(match[6] or 0)), zoned)


def _moment(lexical: str, with_time: bool) -> re.Match[str] | None:
    """Return the parts of a well-formed dateTime or date."""
    match = _MOMENT.fullmatch(lexical)
    if match is None or (match[4] is not None) != with_time or _offset(match[7]) is None:
        return None
    is_clock = not with_time or _is_clock(match[4], match[5], match[6])
    return match if is_clock and _is_date(match[1], int(match[2]), int(match[3])) else None


def parse_time(lexical: str) -> Moment | None:
    """Read an xsd:time as the moment of that time on 1970-01-01.

    >>> parse_time("24:00:00") == parse_time("00:00:00")
    True
    """
    match = _TIME.fullmatch(lexical)
    offset = None if match is None else _offset(match[4])
    if match is None or offset is None or not _is_clock(match[1], match[2], match[3]):
        return None
    zoned = match[4] is not None
    if len(match[3]) > _MOST_DIGITS:
        return Moment(None, zoned)
    whole = int(match[1]) % 24 * 3_600 + int(match[2]) * 60 - offset
    return Moment(exact_sum(Decimal(whole), Decimal(match[3])), zoned)


def parse_duration(lexical: str, months: bool, seconds: bool) -> Duration | None:
    """Read a duration that may have months, or seconds, or both.

    >>> parse_duration("-P1Y2M", True, True)
    Duration(months=-14, seconds=Decimal('0'))
    >>> parse_duration("P1D", True, False) is None
    True
    """
    match = _DURATION.fullmatch(lexical)
    if match is None:
        return None
    sign, parts = (-1 if match[1] else 1), match.groups()[1:]
    if (not months and any(parts[:2])) or (not seconds and any(parts[2:])):
        return None
    if max(len(part or "") for part in parts) > _MOST_DIGITS:
        return Duration(None, None)
    year, month, day, hour, minute = (int(part or 0) for part in parts[:5])
    whole = sign * (day * _DAY + hour * 3_600 + minute * 60)
    second = Decimal(parts[5] or 0)
    return Duration(sign * (12 * year + month), exact_sum(Decimal(whole), second.copy_negate() if match[1] else second))


def fields_of(lexical: str, with_time: bool) -> tuple[str, int, int, int, int, Decimal, str] | None:
    """Return year, month, day, hours, minutes, seconds and zone of a moment, in its own zone, or nothing.

    >>> fields_of("1999-12-31T24:00:00", True)[:4]
    ('2000', 1, 1, 0)
    """
    match = _moment(lexical, with_time)
    if match is None:
        return None
    year, month, day, hour = match[1], int(match[2]), int(match[3]), int(match[4] or 0)
    if hour == 24:  # the end of a day is the beginning of the next day
        hour, day = 0, day + 1
        if not _is_date(year, month, day):
            month, day = month % 12 + 1, 1
            year = str(_integer(year) + 1) if month == 1 else year
    return year, month, day, hour, int(match[5] or 0), Decimal(match[6] or 0), match[7] or ""


def exact_sum(one: Decimal, other: Decimal) -> Decimal:
    """Add without rounding."""
    return _SUM.add(one, other)


def month_length(year: str, month: int) -> int:
    """Return the days of a month."""
    rest = int(year[-4:].lstrip("-"))  # of the year by ten thousand, which four hundred divides
    leap = month == 2 and rest % 4 == 0 and (rest % 100 != 0 or rest % 400 == 0)
    return _LENGTHS[month - 1] + leap


def _integer(year: str) -> int:
    if len(year) > _MOST_DIGITS:
        raise ExpressionError("a year with too many digits")
    return int(year)


def _offset(zone: str | None) -> int | None:
    """Return a zone's seconds east of UTC."""
    if zone in (None, "Z"):
        return 0
    assert zone is not None
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if minutes > 59 or hours * 60 + minutes > 14 * 60:
        return None
    return (hours * 3_600 + minutes * 60) * (-1 if zone[0] == "-" else 1)


def _is_date(year: str, month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= month_length(year, month)


def _is_clock(hours: str, minutes: str, seconds: str) -> bool:
    hour, minute = int(hours), int(minutes)
    if hour == 24:
        return minute == 0 and not seconds.strip("0.")
    return hour < 24 and minute < 60 and seconds < "60"


def days_of(year: int, month: int, day: int) -> int:
    """Return the days since 1970-01-01 in the proleptic Gregorian calendar."""
    # The year starts in March here, so that a leap day is its last.
    year -= month <= 2
    in_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return year * 365 + year // 4 - year // 100 + year // 400 + in_year - 719_468


def date_text(days: int) -> str:
    """Return the date that is some days after 1970-01-01, in any year: the inverse of `days_of`.

    >>> date_text(-1), date_text(days_of(12_024, 2, 29))
    ('1969-12-31', '12024-02-29')
    """
    era, of_era = divmod(days + 719_468, 146_097)  # eras of 400 years that begin in March
    of_years = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * of_years + of_years // 4 - of_years // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    year = of_years + era * 400 + (month <= 2)
    day = of_year - (153 * shifted + 2) // 5 + 1
    return f"{'-' if year < 0 else ''}{abs(year):04d}-{month:02d}-{day:02d}"
