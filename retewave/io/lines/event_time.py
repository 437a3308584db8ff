"""The time that a statement's object tells: read at once, and not interned.

Data's way: the text of a literal -> **microseconds** -> the row that tells an event's time.
"""

from __future__ import annotations

from retewave.io.lines.job import (
    BASE,
    LIMIT,
    TOLD,
    TOLD_LAST,
)
from retewave.io.lines.terms import (
    OBJECT,
)
from retewave.io.times.told import micros_told
from retewave.rete.terms.kinds import DATETIME, DATETIME_LOCAL
from retewave.rete.terms.numbers import number_of
from retewave.rete.terms.value import value_of
from retewave.rete.words.ascii import COLON, DIGIT_0, DIGIT_2, DIGIT_4, DIGIT_9, DOT
from retewave.rete.words.bytes import Address, byte, cell, same, set_cell
from retewave.rete.words.jit import inlined, kernel

__all__ = ["told_time"]


_NEAR = 2.0**61  # microseconds from 1970: times beyond are ids


_SURE = 2.0**52  # microseconds from 1970 that a double tells exactly


_SECONDS_AT, _ZONE_AT = 18, 27  # in a literal "YYYY-MM-DDThh:mm:ss.ffffff…


@inlined
def _within_minute(at: Address) -> int:
    """Return the microseconds of `ss.ffffff` where a dateTime's literal has them, less than 0 if it has them not."""
    seconds, micros = number_of(at + _SECONDS_AT, 2), number_of(at + _SECONDS_AT + 3, 6)
    if seconds < 0 or seconds > 59 or micros < 0 or byte(at + _SECONDS_AT + 2) != DOT:
        return -1
    return 1_000_000 * seconds + micros


@kernel
def _read_time(job: Address, at: Address, size: int) -> int:
    """Do as `told_time` does, whatever the literal; note it if the next one may be of the same minute."""
    kind, number, _ = value_of(at, size)
    micros = micros_told(kind, number)
    set_cell(job, TOLD_LAST + 1, 0)
    if not abs(micros) < _NEAR:
        return 0
    if DATETIME <= kind <= DATETIME_LOCAL and abs(micros) < _SURE and size > _ZONE_AT and byte(at + 17) == COLON:
        within = _within_minute(at)
        no_more = byte(at + _ZONE_AT) < DIGIT_0 or byte(at + _ZONE_AT) > DIGIT_9  # digits
        midnight = byte(at + 12) == DIGIT_2 and byte(at + 13) == DIGIT_4  # 24:00:00 is a time, what follows is none
        if within >= 0 and no_more and not midnight and cell(job, BASE) <= at < cell(job, LIMIT):
            set_cell(job, TOLD_LAST, at)
            set_cell(job, TOLD_LAST + 1, size)
            set_cell(job, TOLD_LAST + 2, int(micros) - within)
    return int(micros) - TOLD


@inlined
def told_time(job: Address) -> int:
    """Return the time that the line's object tells, less TOLD; 0 if it tells none, or one that is far away.

    Times follow each other: where the last one's literal differs in no more than seconds, only these are read.
    """
    at, size, last = cell(job + OBJECT, 0), cell(job + OBJECT, 1), cell(job, TOLD_LAST)
    alike = size == cell(job, TOLD_LAST + 1) and same(last, at, _SECONDS_AT)
    if alike and same(last + _ZONE_AT, at + _ZONE_AT, size - _ZONE_AT):
        within = _within_minute(at)
        if within >= 0:
            return cell(job, TOLD_LAST + 2) + within - TOLD
    return _read_time(job, at, size)
