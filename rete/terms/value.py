"""The value of a term: its kind, its number, and whether the number decides comparisons.

Data's way: bytes -> reader -> **dictionary**, which asks this once for every new term.
Invariant: the text is canonical (docs/architecture.md), so a literal ends in `"`, in its tag or in `>`.
Left out: datatypes other than XML Schema's that SPARQL compares; they are NONE.
"""

from __future__ import annotations

import numpy as np

from retewave.rete.terms import kinds as kinds
from retewave.rete.terms.dates import date_of, duration_of
from retewave.rete.terms.numbers import double_of, integer_of, number_of, numeral_at
from retewave.rete.words.ascii import DIGIT_0, DIGIT_1, GREATER, LESS, MINUS, PLUS, QUOTE, UNDERSCORE
from retewave.rete.words.bytes import Address, byte, spells, word
from retewave.rete.words.jit import inlined, kernel

__all__ = ["value_of"]

_LONGEST_NAME = 18  # nonPositiveInteger
_SHORT = 15  # digits: integers of no more are doubles themselves
_BOOLEAN, _DECIMAL, _FLOAT, _DOUBLE, _DATETIME, _DATE = range(6)
_DURATION, _DAYTIME, _YEARMONTH, _STRING, _INTEGER = range(6, 11)  # the integer types follow from _INTEGER on
_NAMED = [
    "boolean",
    "decimal",
    "float",
    "double",
    "dateTime",
    "date",
    "duration",
    "dayTimeDuration",
    "yearMonthDuration",
    "string",
]
# An integer type: its greatest magnitude below and above zero ("" for none), and whether zero is in it.
_INTEGERS = {
    "integer": ("", "", True),
    "nonPositiveInteger": ("", "0", True),
    "negativeInteger": ("", "0", False),
    "long": ("9223372036854775808", "9223372036854775807", True),
    "int": ("2147483648", "2147483647", True),
    "short": ("32768", "32767", True),
    "byte": ("128", "127", True),
    "nonNegativeInteger": ("0", "", True),
    "unsignedLong": ("0", "18446744073709551615", True),
    "unsignedInt": ("0", "4294967295", True),
    "unsignedShort": ("0", "65535", True),
    "unsignedByte": ("0", "255", True),
    "positiveInteger": ("0", "", False),
}


def _table(texts: list[str], width: int) -> np.ndarray:
    """Return one row a text: its length, then its bytes."""
    table = np.zeros((len(texts), width + 1), np.uint8)
    for row, text in zip(table, texts, strict=True):
        row[0] = len(text)
        row[1 : len(text) + 1] = np.frombuffer(text.encode(), np.uint8)
    return table


_NAMES = _table([*_NAMED, *_INTEGERS], _LONGEST_NAME)
_LIMITS = _table([side for below, above, _ in _INTEGERS.values() for side in (below, above)], 20)
_ZEROS = np.array([zero for _, _, zero in _INTEGERS.values()])
_PREFIX, _TRUE, _FALSE, _INF, _NAN = (
    np.frombuffer(text, np.uint8).copy()
    for text in (b'"^^<http://www.w3.org/2001/XMLSchema#', b"true", b"false", b"INF", b"NaN")
)

_PREFIX_WORDS = np.array(
    [int.from_bytes(_PREFIX[at : at + 8].tobytes(), "little") for at in (0, 8, 16, 24, len(_PREFIX) - 8)], np.uint64
)
_LENGTHS = np.array([len(name) for name in [*_NAMED, *_INTEGERS]])
_ENDINGS = np.array(  # the last eight bytes of each datatype's name, "#" and what is before it included
    [int.from_bytes(f"XMLSchema#{name}".encode()[-8:], "little") for name in [*_NAMED, *_INTEGERS]], np.uint64
)


@inlined
def _is_prefix(at: Address) -> bool:
    """Tell whether XML Schema's datatypes begin so: by eight bytes, the last of which overlap."""
    size = len(_PREFIX)
    for k in range(len(_PREFIX_WORDS)):  # noqa: SIM110
        if word(at + min(8 * k, size - 8)) != _PREFIX_WORDS[k]:
            return False
    return True


@kernel
def _datatype(at: Address, size: int) -> tuple[int, Address]:
    """Return (code, end of the lexical form) of a literal that ends in ">"; code -1 if it is foreign."""
    last = at + size - 1
    if size <= len(_PREFIX) + 1:
        return -1, at
    ending = word(last - 8)
    for code in range(len(_NAMES)):
        if _ENDINGS[code] != ending:
            continue
        length = int(_LENGTHS[code])
        name = last - length
        quote = name - len(_PREFIX)
        if quote > at and _is_prefix(quote) and (length <= 8 or spells(name, length, _NAMES[code, 1 : length + 1])):
            return code, quote
    return -1, at


@kernel
def _boolean(at: Address, end: Address) -> tuple[int, float, int]:
    size = end - at
    if (size == 1 and byte(at) == DIGIT_1) or spells(at, size, _TRUE):
        return kinds.BOOLEAN, 1.0, 1
    if (size == 1 and byte(at) == DIGIT_0) or spells(at, size, _FALSE):
        return kinds.BOOLEAN, 0.0, 1
    return kinds.NONE, 0.0, 0


@kernel
def _decimal(at: Address, end: Address) -> tuple[int, float, int]:
    numeral = numeral_at(at, end)
    if numeral.end != end or numeral.power:
        return kinds.NONE, 0.0, 0
    number, sure = double_of(numeral)
    # Up to 15 digits, different decimals are different doubles; integers up to 2**53 are doubles themselves.
    distinct = abs(numeral.mantissa) < 10**15 or (numeral.exponent == 0 and abs(numeral.mantissa) <= 1 << 53)
    return kinds.DECIMAL, number, 1 if sure and distinct else 0


@kernel
def _double(at: Address, end: Address, kind: int) -> tuple[int, float, int]:
    numeral = numeral_at(at, end)
    if numeral.end == end:
        number, sure = double_of(numeral)
        return kind, number, 1 if sure else 0
    if spells(at, end - at, _NAN):
        return kind, np.nan, 1
    signed = at < end and (byte(at) == PLUS or byte(at) == MINUS)
    first = at + 1 if signed else at
    if not spells(first, end - first, _INF):
        return kinds.NONE, 0.0, 0
    return kind, -np.inf if byte(at) == MINUS else np.inf, 1


@kernel
def _date(at: Address, end: Address, timed: bool) -> tuple[int, float, int]:
    good, zoned, micros, exact = date_of(at, end, timed)
    if not good:
        return kinds.NONE, 0.0, 0
    if timed:
        return kinds.DATETIME if zoned else kinds.DATETIME_LOCAL, micros, 1 if exact else 0
    return kinds.DATE if zoned else kinds.DATE_LOCAL, micros, 1 if exact else 0


@kernel
def _duration(at: Address, end: Address, datatype: int) -> tuple[int, float, int]:
    least, greatest, months, micros, exact = duration_of(at, end)
    if greatest == 0:
        return kinds.NONE, 0.0, 0
    if datatype == _DURATION:
        return kinds.DURATION, micros, 1 if exact and months == 0.0 else 0
    if datatype == _YEARMONTH:
        return (kinds.YEARMONTH_DURATION, months, 1 if exact else 0) if greatest <= 2 else (kinds.NONE, 0.0, 0)
    return (kinds.DAYTIME_DURATION, micros, 1 if exact else 0) if least >= 3 else (kinds.NONE, 0.0, 0)


@kernel
def _typed(at: Address, end: Address, datatype: int) -> tuple[int, float, int]:
    """Return the value of the lexical form in [at, end)."""
    if datatype == _INTEGER and 0 < end - at <= _SHORT:
        number = number_of(at, end - at)
        if number >= 0:
            return kinds.INTEGER, float(number), 1
    if datatype >= _INTEGER:
        which = datatype - _INTEGER
        good, value, exact = integer_of(at, end, _LIMITS[2 * which : 2 * which + 2], _ZEROS[which])
        return (kinds.INTEGER, value, 1 if exact else 0) if good else (kinds.NONE, 0.0, 0)
    if datatype in (_DATETIME, _DATE):
        return _date(at, end, datatype == _DATETIME)
    if datatype == _DECIMAL:
        return _decimal(at, end)
    if datatype == _DOUBLE:
        return _double(at, end, kinds.DOUBLE)
    if datatype == _FLOAT:
        return _double(at, end, kinds.FLOAT)
    if datatype == _BOOLEAN:
        return _boolean(at, end)
    if datatype == _STRING:
        return kinds.STRING, 0.0, 0
    return _duration(at, end, datatype)


@kernel
def value_of(at: Address, size: int) -> tuple[int, float, int]:
    """Return (kind, number, exact) of a term's text."""
    first, last = byte(at), byte(at + size - 1)
    if first == LESS:
        return kinds.IRI, 0.0, 0
    if first == UNDERSCORE:
        return kinds.BLANK, 0.0, 0
    if last == QUOTE:
        return kinds.STRING, 0.0, 0
    if last != GREATER:
        return kinds.LANG, 0.0, 0
    datatype, end = _datatype(at, size)
    return _typed(at + 1, end, datatype) if datatype >= 0 else (kinds.NONE, 0.0, 0)
