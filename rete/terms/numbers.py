"""Numbers of XML Schema: lexical form -> number, whether it is exact, and whether it is well formed.

Data's way: called by rete/terms/value.py when the dictionary meets a new literal.
Invariant: an answer marked exact is the nearest double of the lexical form; where that cannot be told from 18
digits and a power of ten up to 22, the answer is near and not exact.
Left out: white space around the lexical form (RDF's lexical space has none).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from retewave.rete.words.ascii import DIGIT_0, DIGIT_9, LOWER_E, MINUS, PLUS, UPPER_E
from retewave.rete.words.bytes import Address, byte
from retewave.rete.words.jit import inlined, kernel

__all__ = ["Numeral", "digits_end", "double_of", "integer_of", "number_of", "numeral_at"]

_DIGITS = 18  # decimal digits that surely fit int64
_EXACT_INTEGER = 1 << 53  # the integers up to here are doubles
_EXACT_POWER = 22  # 10**22 is the largest power of ten that is a double
_LAST_POWER = 308  # 10**309 is no double
_SPLIT = 134217729.0  # 2**27 + 1: Dekker's splitting of a double into halves
_DOUBT = 2.0**-45  # a safe bound of the correction's relative error in `_scale`
_POWERS = np.array([10.0**k for k in range(_EXACT_POWER + 1)])


class Numeral(NamedTuple):
    """What a scan of [+-] digits [. digits] [e digits] found; the value is mantissa * 10**exponent."""

    end: Address  # the index behind its last byte; -1 if there is no numeral
    mantissa: int  # at most 18 significant digits, with the sign
    exponent: int  # the power of ten
    cut: bool  # True if significant digits were left out
    point: bool  # True if there was a decimal point
    power: bool  # True if there was an exponent


@inlined
def number_of(at: Address, count: int) -> int:
    """Return the number that `count` digits make, at most 18; less than 0 if a byte is no digit."""
    number, wrong = 0, 0
    for k in range(count):
        digit = byte(at + k) - DIGIT_0
        wrong |= digit | (9 - digit)
        number = number * 10 + digit
    return number if wrong >= 0 else -1


@kernel
def digits_end(at: Address, end: Address) -> int:
    """Return the index behind the decimal digits that start at `at`."""
    while at < end and DIGIT_0 <= byte(at) <= DIGIT_9:
        at += 1
    return at


@kernel
def _significand(at: Address, end: Address) -> tuple[int, int, int, bool, bool]:
    """Read digits [. digits]: return (end, mantissa, exponent, cut, point), end -1 when there is no digit."""
    mantissa, used, pending, behind, seen = 0, 0, 0, 0, 0
    cut, point = False, False
    while at < end:
        digit = byte(at) - DIGIT_0
        at += 1
        if digit == -2 and not point:  # "."
            point = True
            continue
        if not 0 <= digit <= 9:
            at -= 1
            break
        seen += 1
        behind += 1 if point else 0
        if digit == 0:
            pending += 1 if used else 0
            continue
        if used + pending + 1 > _DIGITS:
            cut = True
            pending += 1
            continue
        for _ in range(pending + 1):
            mantissa *= 10
        mantissa += digit
        used, pending = used + pending + 1, 0
    if mantissa == 0:
        pending, behind = 0, 0
    return at if seen else -1, mantissa, pending - behind, cut, point


@kernel
def _power(at: Address, end: Address) -> tuple[int, int]:
    """Read an exponent behind its "e": return (end, power), end -1 if it is malformed, the power clipped."""
    negative = at < end and byte(at) == MINUS
    if at < end and (byte(at) == PLUS or byte(at) == MINUS):
        at += 1
    stop = digits_end(at, end)
    if stop == at:
        return -1, 0
    power = 0
    for k in range(at, stop):
        power = min(power * 10 + byte(k) - DIGIT_0, 100_000)
    return stop, -power if negative else power


@kernel
def numeral_at(at: Address, end: Address) -> Numeral:
    """Read the numeral that starts at `at`."""
    negative = at < end and byte(at) == MINUS
    if at < end and (byte(at) == PLUS or byte(at) == MINUS):
        at += 1
    at, mantissa, exponent, cut, point = _significand(at, end)
    if at < 0:
        return Numeral(-1, 0, 0, False, False, False)
    power = at < end and (byte(at) == LOWER_E or byte(at) == UPPER_E)
    if power:
        at, shift = _power(at + 1, end)
        exponent += shift
    return Numeral(at, -mantissa if negative else mantissa, exponent, cut, point, power)


@kernel
def _product_error(a: float, b: float, product: float) -> float:
    """Return a * b - product exactly (Dekker)."""
    wide = a * _SPLIT
    a_high = wide - (wide - a)
    a_low = a - a_high
    wide = b * _SPLIT
    b_high = wide - (wide - b)
    b_low = b - b_high
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


@kernel
def _scale(mantissa: int, exponent: int) -> tuple[float, bool]:
    """Return mantissa * 10**exponent for |exponent| <= 22, and whether it is surely the nearest double.

    Computed as an unevaluated sum of two doubles; the rounding is sure when moving the small part by its
    own error does not move the result.
    """
    high = float(mantissa)
    low = float(mantissa - np.int64(high))
    power = _POWERS[abs(exponent)]
    if exponent >= 0:
        first = high * power
        rest = _product_error(high, power, first) + low * power
    else:
        first = high / power
        product = first * power
        rest = ((high - product) - _product_error(first, power, product) + low) / power
    margin = abs(rest) * _DOUBT
    return first + rest, first + (rest - margin) == first + (rest + margin)


@kernel
def double_of(numeral: Numeral) -> tuple[float, bool]:
    """Return the numeral as a double, and whether that is surely the nearest one."""
    mantissa, exponent = numeral.mantissa, numeral.exponent
    if mantissa == 0:
        return 0.0, True
    while exponent > _EXACT_POWER and abs(mantissa) * 10 <= _EXACT_INTEGER:
        mantissa *= 10
        exponent -= 1
    if abs(exponent) > _EXACT_POWER:
        power = np.inf if exponent > _LAST_POWER else 10.0 ** float(max(exponent, -400))  # Python's ** raises there
        return float(mantissa) * power, False
    if abs(mantissa) <= _EXACT_INTEGER:
        power = _POWERS[abs(exponent)]
        number = float(mantissa) * power if exponent >= 0 else float(mantissa) / power
        return number, not numeral.cut
    number, sure = _scale(mantissa, exponent)
    return number, sure and not numeral.cut


@kernel
def _at_most(at: Address, end: Address, limit: np.ndarray) -> bool:
    """Tell whether the digits, leading zeros aside, are a number no greater than the limit's digits."""
    while at < end and byte(at) == DIGIT_0:
        at += 1
    if end - at != len(limit):
        return end - at < len(limit)
    for k in range(len(limit)):
        if byte(at + k) != limit[k]:
            return byte(at + k) < limit[k]  # type: ignore[no-any-return]
    return True


@kernel
def integer_of(at: Address, end: Address, limits: np.ndarray, zero: bool) -> tuple[bool, float, bool]:
    """Return (well formed, number, exact) of an integer whose magnitude is bounded.

    `limits` has two rows, below and above zero: the number of digits (0: no bound), then the digits.
    """
    numeral = numeral_at(at, end)
    if numeral.end != end or numeral.point or numeral.power:
        return False, 0.0, False
    if numeral.mantissa == 0:
        return zero, 0.0, zero
    limit = limits[0 if numeral.mantissa < 0 else 1]
    first = at + 1 if byte(at) == PLUS or byte(at) == MINUS else at
    if limit[0] and not _at_most(first, end, limit[1 : limit[0] + 1]):
        return False, 0.0, False
    number, sure = double_of(numeral)
    return True, number, sure and abs(number) <= _EXACT_INTEGER
