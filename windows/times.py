"""Turn points in time into int64 microseconds since 1970-01-01T00:00:00Z, and back into the kind of value that came.

Where: at the edge, before rows are made and after matches are found; the engine sees microseconds only.
A time may be a number (of seconds), a datetime, a numpy datetime64 or the text of an xsd:dateTime.  A time
without a zone is UTC.  Parts of a microsecond are cut off towards the past.

Invariant: what a Clock of a value's kind decodes is the value that it encoded (to the microsecond); every
time lies in [EARLIEST, LATEST] of `intervals.py`.
Not here: durations (`durations.py`), and the wall clock (time is an argument).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from retewave.windows.intervals import EARLIEST, LATEST

__all__ = [
    "MICROSECONDS",
    "SECONDS",
    "Clock",
    "Instant",
    "format_datetime",
    "in_seconds",
    "micros",
    "parse_datetime",
    "spell_instant",
    "spell_interval",
]

Instant = int | float | str | datetime | np.datetime64 | np.integer | np.floating
Kind = Literal["int", "float", "datetime", "datetime64", "text"]

SECOND: Final = 1_000_000  # microseconds
_EXACT: Final = 2**53  # up to here a float has every whole number
YEARS: Final = 36_000  # from 1970, in both directions: less than LATEST
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FINER: Final = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}  # units of datetime64 in a microsecond
DATETIME = re.compile(
    r"(?P<date>-?\d{4,}-\d\d-\d\d)T(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:\.(?P<fraction>\d+))?"
    r"(?P<zone>Z|(?P<sign>[+-])(?P<zone_hour>\d\d):(?P<zone_minute>\d\d))?",
    re.ASCII,
)


@dataclass(frozen=True)
class Clock:
    """How a stream tells the time: the form in which its times go in and come out.

    >>> clock = Clock.of(12.5)
    >>> clock.encode(12.5), clock.decode(13_250_000)
    (12500000, 13.25)
    """

    kind: Kind
    zone: tzinfo | None = None  # of datetimes; None: they have no zone, and are UTC
    unit: str = "us"  # of datetime64s

    @classmethod
    def of(cls, value: Instant) -> Clock:
        """Return the clock that decodes times to values of this kind.

        >>> Clock.of(np.datetime64("2012-07-16T10:00")).unit
        'm'
        """
        plain = _PLAIN.get(type(value))
        if plain is not None:
            return plain
        if isinstance(value, np.datetime64):
            return cls("datetime64", unit=value.dtype.str.partition("[")[2].rstrip("]") or "us")
        if isinstance(value, datetime):
            return cls("datetime", zone=value.tzinfo)
        if isinstance(value, str):
            return cls("text")
        if isinstance(value, int | np.integer) and not isinstance(value, bool):
            return cls("int")
        if isinstance(value, float | np.floating):
            return cls("float")
        raise ValueError(_unknown(value))

    def encode(self, value: Instant) -> int:
        """Return a time of any form in microseconds."""
        return micros(value)

    def decode(self, time: int) -> Instant:
        """Return microseconds in this clock's form; a clock of whole seconds gives a float between them.

        What no datetime tells, as a deadline may be beyond the year 9999, is the last or the first one that there is;
        what a datetime64 of a finer unit cannot tell is in microseconds.

        >>> Clock("int").decode(3_000_000), Clock("int").decode(3_500_000)
        (3, 3.5)
        >>> Clock("datetime").decode(2**60).year
        9999
        """
        if self.kind == "float":
            return time / SECOND
        if self.kind == "int":
            return time // SECOND if time % SECOND == 0 else time / SECOND
        if self.kind == "text":
            return format_datetime(time)
        if self.kind == "datetime64":
            moment64: np.datetime64 = np.datetime64(time, "us").astype(f"datetime64[{self._unit_for(abs(time))}]")
            return moment64
        try:
            moment = EPOCH + timedelta(microseconds=time)
            return moment.replace(tzinfo=None) if self.zone is None else moment.astimezone(self.zone)
        except OverflowError:
            return (datetime.max if time > 0 else datetime.min).replace(tzinfo=self.zone)

    def _unit_for(self, most: int) -> str:
        """Return the unit in which a datetime64 at that distance from 1970 is told."""
        return self.unit if most * _FINER.get(self.unit, 1) < 2**63 else "us"

    def encode_all(self, values: ArrayLike) -> NDArray[np.int64]:
        """Return an array of times in microseconds.

        >>> Clock("float").encode_all([0.5, 2.0]).tolist()
        [500000, 2000000]
        """
        array = np.asarray(values)
        if array.dtype.kind == "M":
            _refuse(bool(np.isnat(array).any()), "NaT is not a time")
            return _floor_datetime64(array)
        if array.dtype.kind in "iu":
            _refuse(bool((np.abs(array) > LATEST // SECOND).any()), _out_of_range("a time of the array"))
            return array.astype(np.int64) * SECOND
        if array.dtype.kind == "f":
            _refuse(not bool(np.isfinite(array).all()), "a time of the array is not finite")
            _refuse(bool((np.abs(array) > LATEST / SECOND).any()), _out_of_range("a time of the array"))
            return np.rint(array.astype(np.float64) * SECOND).astype(np.int64)
        return np.array([micros(value) for value in array.ravel().tolist()], np.int64).reshape(array.shape)

    def decode_all(self, times: NDArray[np.int64]) -> NDArray[np.generic]:
        """Return an array of microseconds in this clock's form.

        >>> Clock("datetime64", unit="s").decode_all(np.array([3_000_000]))
        array(['1970-01-01T00:00:03'], dtype='datetime64[s]')
        """
        if self.kind == "datetime64":
            unit = self._unit_for(int(np.abs(times).max(initial=0)))
            return times.astype("datetime64[us]").astype(f"datetime64[{unit}]")
        if self.kind == "float" or (self.kind == "int" and (times % SECOND).any()):
            return in_seconds(times)
        if self.kind == "int":
            return times // SECOND
        decoded = (self.decode(time) for time in times.ravel().tolist())
        return np.fromiter(decoded, object, times.size).reshape(times.shape)


_PLAIN: Final = {int: Clock("int"), float: Clock("float"), str: Clock("text")}  # the clocks of most pushes
SECONDS: Final = Clock("int")  # the clock of a stream whose times nobody has given yet
MICROSECONDS: Final = Clock("datetime64")  # numpy's own form, without loss


def micros(value: Instant) -> int:
    """Return a point in time of any form in microseconds since 1970.

    >>> micros(1.5), micros("1970-01-01T00:00:02Z"), micros(datetime(1970, 1, 1, 0, 0, 3))
    (1500000, 2000000, 3000000)
    """
    if isinstance(value, str):
        return parse_datetime(value)
    if isinstance(value, float | np.floating):
        if not math.isfinite(value):
            raise ValueError(f"{value!r} is not a time in seconds")
        if not EARLIEST / SECOND <= value <= LATEST / SECOND:
            raise ValueError(_out_of_range(repr(value)))
        time = round(float(value) * SECOND)
    elif isinstance(value, int | np.integer) and not isinstance(value, bool):
        time = int(value) * SECOND
    elif isinstance(value, datetime):
        time = _of_datetime(value)
    elif isinstance(value, np.datetime64):
        _refuse(bool(np.isnat(value)), "NaT is not a time")
        time = int(_floor_datetime64(np.asarray(value)))
    else:
        raise ValueError(_unknown(value))
    if not EARLIEST <= time <= LATEST:
        raise ValueError(_out_of_range(repr(value)))
    return time


def in_seconds(times: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return microseconds as seconds, rounded as Python divides: numpy rounds what a float cannot hold beforehand.

    >>> in_seconds(np.array([1_500_000, 2**53 + 1])).tolist() == [1.5, (2**53 + 1) / SECOND]
    True
    """
    found: NDArray[np.float64] = times / SECOND
    beyond = np.abs(times) > _EXACT
    if beyond.any():
        found[beyond] = [time / SECOND for time in times[beyond].tolist()]
    return found


def parse_datetime(text: str) -> int:
    """Return the text of an xsd:dateTime in microseconds since 1970; without a zone it is UTC.

    >>> parse_datetime("1970-01-01T01:00:00.25+01:00"), parse_datetime("1969-12-31T24:00:00")
    (250000, 0)
    """
    match = DATETIME.fullmatch(text.strip(" \t\r\n"))
    if match is None:
        raise ValueError(f"{text!r} is not an xsd:dateTime like 2012-07-16T10:00:00Z")
    hour, minute, second = (int(match[part]) for part in ("hour", "minute", "second"))
    fraction = int((match["fraction"] or "0").ljust(6, "0")[:6])
    midnight = hour == 24 and minute == second == int(match["fraction"] or 0) == 0
    _refuse(not (hour < 24 or midnight) or minute > 59 or second > 59, f"{text!r} has no such time of day")
    clock = ((hour * 60 + minute) * 60 + second) * SECOND + fraction
    time = _days_since_1970(match["date"], text) * 86_400 * SECOND + clock - _zone(match, text)
    _refuse(not EARLIEST <= time <= LATEST, _out_of_range(repr(text)))
    return time


def format_datetime(time: int) -> str:
    """Return microseconds since 1970 as the canonical xsd:dateTime in UTC.

    >>> format_datetime(250_000), format_datetime(1_342_432_800_000_000)
    ('1970-01-01T00:00:00.25Z', '2012-07-16T10:00:00Z')
    """
    text = str(np.datetime64(time, "us"))
    sign, text = ("-", text[1:]) if text.startswith("-") else ("", text)
    year, rest = text.split("-", 1)  # numpy writes the year 44 before our era as -044
    if "." in rest:
        rest = rest.rstrip("0").rstrip(".")
    return f"{sign}{int(year):04}-{rest}Z"


def spell_instant(value: Instant) -> str:
    """Return a point in time as all texts show it: a number of seconds, or an xsd:dateTime in UTC.

    >>> spell_instant(1.5), spell_instant(datetime(2012, 7, 16, 10, tzinfo=UTC))
    ('1.5', '2012-07-16T10:00:00Z')
    """
    if isinstance(value, datetime | np.datetime64):
        return format_datetime(micros(value))
    return str(value)


def spell_interval(start: Instant | None, end: Instant | None) -> str:
    """Return an interval as texts show it.

    >>> spell_interval(1, 1), spell_interval(1, 2), spell_interval(None, None)
    ('[1]', '[1, 2]', 'static')
    """
    if start is None or end is None:
        return "static"
    first, last = spell_instant(start), spell_instant(end)
    return f"[{first}]" if first == last else f"[{first}, {last}]"


def _of_datetime(value: datetime) -> int:
    aware = value.replace(tzinfo=UTC) if value.tzinfo is None else value
    return (aware - EPOCH) // timedelta(microseconds=1)


def _floor_datetime64(array: NDArray[np.generic]) -> NDArray[np.int64]:
    years = array.astype("datetime64[Y]").astype(np.int64)  # since 1970; no unit overflows in years
    _refuse(bool((np.abs(years) > YEARS).any()), _out_of_range("a datetime64"))
    return array.astype("datetime64[us]").astype(np.int64)


def _days_since_1970(date: str, text: str) -> int:
    year = date.rsplit("-", 2)[0].lstrip("-")
    _refuse(len(year) > 6 or (len(year) > 4 and year.startswith("0")), f"{text!r} has no such year")
    try:
        return int(np.datetime64(date, "D").astype(np.int64))
    except ValueError as e:
        raise ValueError(f"{text!r} has no such day") from e


def _zone(match: re.Match[str], text: str) -> int:
    """Return how far the zone is ahead of UTC, in microseconds."""
    if match["sign"] is None:
        return 0
    minutes = int(match["zone_hour"]) * 60 + int(match["zone_minute"])
    _refuse(minutes > 14 * 60 or int(match["zone_minute"]) > 59, f"{text!r} has no such time zone")
    return (minutes if match["sign"] == "+" else -minutes) * 60 * SECOND


def _refuse(wrong: bool, message: str) -> None:
    if wrong:
        raise ValueError(message)


def _out_of_range(what: str) -> str:
    return f"{what if len(what) < 100 else what[:50] + '…'} is more than {YEARS} years from 1970"


def _unknown(value: object) -> str:
    return f"a time is a number of seconds, a datetime, a datetime64 or an xsd:dateTime, not {value!r}"
