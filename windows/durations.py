"""Read durations (of windows, latenesses, bounds) as int64 microseconds, and write them back.

Where: at the edge, when a query or a command line is read; the engine sees microseconds only.
Invariant: a duration is a whole number of microseconds from 0 to LONGEST, and `parse(spell(x)) == x`.
Not here: points in time (`times.py`); months and years, which have no fixed length.

Errors are ValueErrors, for this is the lowest layer; callers that know the place in a query's text wrap them.
"""

from __future__ import annotations

import math
import re
from datetime import timedelta
from decimal import Decimal
from typing import Final

import numpy as np

from retewave.windows.intervals import LATEST

__all__ = ["LONGEST", "UNITS", "parse", "spell"]

LONGEST: Final = LATEST  # the longest duration: then no sum with a time overflows
SECOND: Final = 1_000_000  # microseconds
UNITS: Final = {
    "us": 1,
    "ms": 1_000,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": 3_600 * SECOND,
    "d": 86_400 * SECOND,
}
ALIASES: Final = {
    "µs": "us",  # the micro sign
    "μs": "us",  # the Greek letter
    **dict.fromkeys(("millis", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), "m"),
    **dict.fromkeys(("hr", "hrs", "hour", "hours"), "h"),
    **dict.fromkeys(("day", "days"), "d"),
}
NANOSECOND: Final = Decimal("0.001")  # read, as long as it comes to whole microseconds

LONGEST_TEXT: Final = 100  # characters

PARTS = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([^\W\d_]+)\s*")
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
DAY_TIME = re.compile(  # xsd:dayTimeDuration without a sign
    r"P(?:(?P<d>\d+)D)?(?:T(?=\d)(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?(?:(?P<s>\d+(?:\.\d+)?)S)?)?", re.ASCII
)
EXAMPLES = "write it like 5m, 1h30m, 250ms or PT5M"


def parse(value: str | int | float | timedelta | np.timedelta64) -> int:
    """Return a duration in microseconds; a bare number counts seconds, a text names its units.

    >>> parse("5m"), parse("1h30m"), parse("250ms"), parse("PT5M"), parse(0.5)
    (300000000, 5400000000, 250000, 300000000, 500000)
    """
    if isinstance(value, str):
        micros = _of_text(value)
    elif isinstance(value, timedelta):
        micros = value // timedelta(microseconds=1)
    elif isinstance(value, np.timedelta64):
        micros = _of_timedelta64(value)
    elif isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        micros = _of_seconds(value)
    else:
        raise ValueError(f"a duration is a text, a number of seconds or a timedelta, not {value!r}")
    if not 0 <= micros <= LONGEST:
        raise ValueError(f"a duration is not negative and at most {LONGEST} microseconds; {value!r} is not")
    return micros


def spell(micros: int) -> str:
    """Write a duration in the largest units that are exact.

    >>> spell(300_000_000), spell(5_400_000_000), spell(250_000), spell(0)
    ('5m', '1h30m', '250ms', '0s')
    """
    if micros < 0:
        raise ValueError(f"a duration is not negative; {micros} microseconds is")
    text = ""
    for unit in reversed(UNITS):
        count, micros = divmod(micros, UNITS[unit])
        if count:
            text += f"{count}{unit}"
    return text or "0s"


def _of_text(text: str) -> int:
    plain = text.strip()
    if len(plain) > LONGEST_TEXT:
        raise ValueError(f"{plain[:20]!r}... is not a duration; {EXAMPLES}")
    if plain.startswith(("P", "-P")):
        return _of_day_time(plain)
    parts = PARTS.findall(plain)
    if parts and PARTS.sub("", plain) == "":
        return _whole(sum(Decimal(count) * _micros_of_unit(unit, text) for count, unit in parts), text)
    if NUMBER.fullmatch(plain):
        raise ValueError(f"the duration {text!r} has no unit; the known ones are {_known()}")
    raise ValueError(f"{text!r} is not a duration; {EXAMPLES}")


def _micros_of_unit(unit: str, text: str) -> int | Decimal:
    if unit.lower() == "ns":
        return NANOSECOND
    known = UNITS.get(ALIASES.get(unit.lower(), unit.lower()))
    if known is None:
        raise ValueError(f"the duration {text!r} has an unknown unit {unit!r}; the known ones are {_known()}")
    return known


def _of_day_time(text: str) -> int:
    """Read an xsd:dayTimeDuration."""
    match = DAY_TIME.fullmatch(text)
    if match is None or not any(match.groups()):
        raise ValueError(
            f"{text!r} is not an xsd:dayTimeDuration: days, hours, minutes and seconds, like P1DT2H or PT0.5S"
        )
    parts = (Decimal(count) * UNITS[unit] for unit, count in match.groupdict().items() if count)
    return _whole(sum(parts), text)


def _whole(micros: Decimal | int, text: str) -> int:
    if micros != int(micros):
        raise ValueError(f"the duration {text!r} is not a whole number of microseconds")
    return int(micros)


def _of_timedelta64(value: np.timedelta64) -> int:
    if np.isnat(value):
        raise ValueError("NaT is not a duration")
    if np.datetime_data(value.dtype)[0] in ("generic", "Y", "M"):
        raise ValueError(f"{value!r} has no fixed length; give it in days, hours, seconds, ...")
    if abs(int(value.astype("timedelta64[W]").astype(np.int64))) > LONGEST // (7 * UNITS["d"]):
        raise ValueError(f"{value!r} is longer than {LONGEST} microseconds")  # and would overflow below
    return int(value.astype("timedelta64[us]").astype(np.int64))


def _of_seconds(seconds: int | float | np.integer | np.floating) -> int:
    if isinstance(seconds, float | np.floating) and not math.isfinite(seconds):
        raise ValueError(f"{seconds!r} is not a duration in seconds")
    if not -LONGEST // SECOND <= seconds <= LONGEST // SECOND:
        return LONGEST + 1 if seconds > 0 else -1  # out of range: `parse` refuses it
    if isinstance(seconds, int | np.integer):
        return int(seconds) * SECOND
    return round(float(seconds) * SECOND)


def _known() -> str:
    return ", ".join(UNITS)
