r"""Strings as the dictionary writes them: compared, searched and measured where they stand, without a copy.

Data's way: dictionary's bytes -> **strings** -> functions of filters (rete/filters/strings.py).
A string is three numbers: where it begins, its size in bytes, and its letters' case: as written, or as if LCASE or
UCASE had changed them.  It is written as inside a canonical literal (docs/architecture.md), whose escapes `\"` `\\`
`\n` `\r` stand for four characters that are never written otherwise.  So equal strings are equal bytes, a prefix is a
prefix of the bytes, and what is found in the bytes is found in the string if its beginning cuts no escape (`_begins`).
Invariant: case is changed in ASCII only; whether that is enough for an answer, `comparable` says first.
Left out: which terms are strings, and what languages have to do with it.
"""

from __future__ import annotations

import numpy as np

from retewave.rete.words.ascii import BACKSLASH, CR, LF, LOWER_A, LOWER_N, LOWER_R, LOWER_Z, UPPER_A, UPPER_Z
from retewave.rete.words.bytes import Address, byte, same, word
from retewave.rete.words.jit import inlined, kernel

__all__ = [
    "AS_WRITTEN",
    "LOWER",
    "UPPER",
    "String",
    "comparable",
    "ends",
    "finds",
    "in_ascii",
    "length",
    "order",
    "starts",
]

AS_WRITTEN, LOWER, UPPER = 0, 1, 2

String = tuple[Address, int, int]  # where it begins, its size in bytes, the case of its letters

_ASCII, _FOREIGN, _PECULIAR = 0, 1, 2  # all in ASCII; with others; with others whose other case may be, or look, ASCII
_NONE, _LOWS, _HIGHS = np.uint64(0), np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(0x8080808080808080)  # in each byte
_BACKSLASHES = np.uint64(0x5C5C5C5C5C5C5C5C)
_SHORT = 32  # bytes: a part that is not longer may be looked for in any text


@inlined
def _in_case(value: int, case: int) -> int:
    """Return a byte in the case asked for."""
    if case == LOWER and UPPER_A <= value <= UPPER_Z:
        return value + 32
    if case == UPPER and LOWER_A <= value <= LOWER_Z:
        return value - 32
    return value


@inlined
def _in_other_case(value: int) -> int:
    """Return a letter's byte in the other case."""
    return value + 32 if UPPER_A <= value <= UPPER_Z else value - 32 if LOWER_A <= value <= LOWER_Z else value


@inlined
def _is_peculiar(lead: int, second: int) -> bool:
    """Tell of the first two bytes of a character whether its other case may have ASCII letters in it.

    ß, İ ı, ŉ ſ, ǰ, ẖ … ẚ, the Kelvin sign, ﬀ … ﬆ, and some that share their beginnings with these.
    """
    if lead == 0xC3 or lead == 0xC7:
        return second == 0x9F if lead == 0xC3 else second == 0xB0
    if lead == 0xC4 or lead == 0xC5:
        return second == 0xB0 or second == 0xB1 if lead == 0xC4 else second == 0x89 or second == 0xBF
    return (lead == 0xE1 and second == 0xBA) or (lead == 0xE2 and second == 0x84) or (lead == 0xEF and second == 0xAC)


@inlined
def _is_plain(at: Address) -> bool:
    """Tell whether the next 8 bytes are ASCII, and no backslash."""
    eight = word(at)
    if eight & _HIGHS != _NONE:
        return False
    # A byte that is a backslash stays below the high bit.
    return ((eight ^ _BACKSLASHES) + _LOWS) & _HIGHS == _HIGHS  # type: ignore[no-any-return]


@kernel
def _alphabet(string: String) -> int:
    place, end, found = string[0], string[0] + string[1], _ASCII
    while place < end:
        if end - place >= 8 and _is_plain(place):
            place += 8
            continue
        value = byte(place)
        if value >= 0xC0:
            found = _FOREIGN
            if _is_peculiar(value, byte(place + 1)):
                return _PECULIAR
        elif value == BACKSLASH and string[2] == UPPER:
            return _PECULIAR  # the letter of an escape has no case
        place += 1
    return found


@kernel
def in_ascii(string: String) -> bool:
    """Tell whether all characters are ASCII, and no letter of an escape would be changed by the case."""
    return _alphabet(string) == _ASCII


@kernel
def comparable(one: String, other: String) -> bool:
    """Tell whether it is enough that the case of ASCII letters is changed, to compare or to find one in the other.

    Other letters are then only ever compared with ASCII, which they stay different from, and above.
    """
    if one[2] == AS_WRITTEN and other[2] == AS_WRITTEN:
        return True
    first, second = _alphabet(one), _alphabet(other)
    if (one[2] != AS_WRITTEN and first == _PECULIAR) or (other[2] != AS_WRITTEN and second == _PECULIAR):
        return False
    return first == _ASCII or second == _ASCII


@inlined
def _alike(at: Address, case: int, other: Address, other_case: int, size: int) -> bool:
    """Tell whether two stretches of this many bytes are equal."""
    if case == AS_WRITTEN and other_case == AS_WRITTEN:
        return same(at, other, size)
    for k in range(size):  # noqa: SIM110 (Numba knows no all() of a generator)
        if _in_case(byte(at + k), case) != _in_case(byte(other + k), other_case):
            return False
    return True


@kernel
def _begins(at: Address, place: Address) -> bool:
    """Tell whether a place in a string that begins at `at` is not the letter of an escape."""
    slashes = 0
    while place - slashes > at and byte(place - slashes - 1) == BACKSLASH:
        slashes += 1
    return slashes % 2 == 0


@kernel
def starts(string: String, part: String) -> bool:
    """Tell whether a string starts with another."""
    return part[1] <= string[1] and _alike(string[0], string[2], part[0], part[2], part[1])


@kernel
def ends(string: String, part: String) -> bool:
    """Tell whether a string ends with another."""
    place = string[0] + string[1] - part[1]
    return part[1] <= string[1] and _alike(place, string[2], part[0], part[2], part[1]) and _begins(string[0], place)


@kernel
def finds(string: String, part: String) -> int:
    """Tell whether a string contains another: 1 or 0; -1 if that takes a better method than this.

    Every place is tried where the part's first byte stands; where that makes many long trials, it is given up.
    """
    at, size, case = string
    wanted, long, wanted_case = part
    if long == 0:
        return 1
    first, last, patience = _in_case(byte(wanted), wanted_case), at + size - long, _SHORT * (size + 64)
    second = _in_other_case(first) if case != AS_WRITTEN else first
    for place in range(at, last + 1):
        if byte(place) == first or byte(place) == second:
            if _alike(place, case, wanted, wanted_case, long) and _begins(at, place):
                return 1
            patience -= long
            if patience < 0:
                return -1
    return 0


@inlined
def _unescaped(letter: int) -> int:
    """Return the character that a letter stands for behind a backslash."""
    return LF if letter == LOWER_N else CR if letter == LOWER_R else letter


@inlined
def _character(at: Address, place: Address, case: int) -> int:
    """Return what tells the character at a place from others of the same beginning."""
    value = byte(place)
    if not _begins(at, place):
        return _unescaped(value)
    return _unescaped(byte(place + 1)) if value == BACKSLASH else _in_case(value, case)


@kernel
def order(one: String, other: String) -> int:
    """Return -1, 0 or 1, as a string is less than another by its code points, equal, or greater."""
    shared, k = min(one[1], other[1]), 0
    while k < shared and _in_case(byte(one[0] + k), one[2]) == _in_case(byte(other[0] + k), other[2]):
        k += 1
    if k < shared:
        left, right = _character(one[0], one[0] + k, one[2]), _character(other[0], other[0] + k, other[2])
    else:
        left, right = one[1], other[1]
    return int(left > right) - int(left < right)


@kernel
def length(string: String) -> int:
    """Return how many code points a string has."""
    place, end, count = string[0], string[0] + string[1], 0
    while place < end:
        if end - place >= 8 and _is_plain(place):
            place, count = place + 8, count + 8
            continue
        value = byte(place)
        place += 2 if value == BACKSLASH else 1
        count += 1 if value & 0xC0 != 0x80 else 0
    return count
