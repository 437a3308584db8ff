"""Sums of doubles that are exact: whole numbers in units of 2**-128, in eight words of 32 bits.

Data's way: numbers of terms that come and go -> **sums** -> SUM and AVG of groups (`rete/reports/groups.py`).
Invariant: a number that goes takes away just what it had brought, so a sum is that of the numbers that are there.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from retewave.rete.words.jit import kernel

__all__ = ["LIMB", "LIMBS", "add_double", "exact_of_doubles", "of_doubles"]

LIMBS, LIMB, _LOWEST = 8, 32, 128  # words of a sum, bits of each, and the power below of its unit


@kernel
def add_double(limbs, at, number, sign):  # type: ignore[no-untyped-def]
    """Add a double to a sum of doubles, and tell whether that is exact."""
    if number == 0.0:
        return True
    if not abs(number) < 2.0**90 or abs(number) < 2.0**-70:
        return False
    mantissa, power = math.frexp(abs(number))
    whole = np.int64(mantissa * 2.0**53)
    bit = power - 53 + _LOWEST
    while bit < 0:  # the lowest bits of so small a number may be all 0
        if whole & 1:
            return False
        whole, bit = whole >> 1, bit + 1
    sign = -sign if number < 0.0 else sign
    limb, shift = at + bit // LIMB, bit % LIMB
    low, high = (whole & 0xFFFFFFFF) << shift, (whole >> LIMB) << shift
    limbs[limb] += sign * (low & 0xFFFFFFFF)
    limbs[limb + 1] += sign * ((low >> LIMB) + (high & 0xFFFFFFFF))
    limbs[limb + 2] += sign * (high >> LIMB)
    return True


def of_doubles(limbs: np.ndarray) -> float:
    """Return a sum of doubles, rounded once.

    >>> of_doubles(np.array([1, 0, 0, 0, 3, 0, 0, 0]))
    3.0
    """
    total = exact_of_doubles(limbs)
    return total.numerator / total.denominator  # Python rounds a quotient of whole numbers to the nearest double


def exact_of_doubles(limbs: np.ndarray) -> Fraction:
    """Return a sum of doubles as it is.

    >>> exact_of_doubles(np.array([0, 0, 0, 1 << 30, 3, 0, 0, 0]))
    Fraction(13, 4)
    """
    return Fraction(sum(limb << (LIMB * place) for place, limb in enumerate(limbs.tolist())), 1 << _LOWEST)
