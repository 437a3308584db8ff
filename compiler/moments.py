"""Points in time: the value of an xsd:dateTime or xsd:date, exact and for any year.

Data's way: literal -> **moment** -> operators.
Invariant: a moment is the exact number of seconds since 1970 (UTC, or local when there is no zone) and
whether it has a zone.  rdflib's values end at the year 9999 and lose the zone of a date.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

__all__ = ["Moment", "parse_moment"]

_MOMENT = re.compile(
    r"(-?(?:[1-9][0-9]{4,}|[0-9]{4}))-([0-9]{2})-([0-9]{2})"
    r"(?:T([0-9]{2}):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?))?(Z|[+-][0-9]{2}:[0-9]{2})?",
    re.ASCII,
)
_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_FOURTEEN_HOURS = 14 * 3600


@dataclass(frozen=True)
class Moment:
    """A point in time, on the line of UTC or, without a zone, somewhere within fourteen hours of it."""

    seconds: Decimal  # since 1970-01-01T00:00:00
    zoned: bool  # whether the zone is known

    def difference(self, other: Moment) -> Decimal | None:
        """Return self - other in seconds, or nothing when a missing zone leaves even its sign open."""
        apart = self.seconds - other.seconds
        return apart if self.zoned == other.zoned or abs(apart) > _FOURTEEN_HOURS else None


def parse_moment(lexical: str, with_time: bool) -> Moment | None:
    """Read a dateTime or a date; a lexical form that is not valid gives nothing.

    >>> parse_moment("1970-01-01T01:00:00+01:00", True)
    Moment(seconds=Decimal('0'), zoned=True)
    >>> parse_moment("2023-02-29", False) is None
    True
    """
    match = _MOMENT.fullmatch(lexical)
    if match is None or (match[4] is not None) != with_time:
        return None
    year, month, day = int(match[1]), int(match[2]), int(match[3])
    hour, minute, second = int(match[4] or 0), int(match[5] or 0), Decimal(match[6] or 0)
    offset = _offset(match[7])
    if offset is None or not _is_date(year, month, day) or not _is_time(hour, minute, second):
        return None
    days = _days(year, month, day)
    return Moment(Decimal(days * 86_400 + hour * 3_600 + minute * 60 - offset) + second, match[7] is not None)


def _offset(zone: str | None) -> int | None:
    if zone in (None, "Z"):
        return 0
    assert zone is not None
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if minutes > 59 or hours * 60 + minutes > 14 * 60:
        return None
    return (hours * 3_600 + minutes * 60) * (-1 if zone[0] == "-" else 1)


def _is_date(year: int, month: int, day: int) -> bool:
    if not 1 <= month <= 12:
        return False
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 1 <= day <= _LENGTHS[month - 1] + leap


def _is_time(hour: int, minute: int, second: Decimal) -> bool:
    if hour == 24:
        return minute == 0 and second == 0
    return hour < 24 and minute < 60 and second < 60


def _days(year: int, month: int, day: int) -> int:
    """Return the days since 1970-01-01 in the proleptic Gregorian calendar."""
    # The year starts in March here, so that a leap day is its last.
    year -= month <= 2
    in_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return year * 365 + year // 4 - year // 100 + year // 400 + in_year - 719_468
