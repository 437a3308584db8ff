"""Characters of N-Triples and N-Quads: UTF-8, escapes, and the classes of the grammar.

Data's way: called by the term scanner for everything that is not plain ASCII.
Invariant: a character that these functions accept is a Unicode scalar value, in its only right encoding.
Left out: the wide search through ASCII, which is in rete/words/bytes.py.
"""

from __future__ import annotations

import numpy as np

from retewave.rete.words.ascii import (
    BACK_QUOTE,
    BACKSLASH,
    CARET,
    DIGIT_0,
    DIGIT_9,
    GREATER,
    LEFT_BRACE,
    LESS,
    LOWER_A,
    LOWER_F,
    LOWER_U,
    LOWER_Z,
    MINUS,
    NOT_ASCII,
    QUOTE,
    RIGHT_BRACE,
    SPACE,
    UNDERSCORE,
    UPPER_U,
)
from retewave.rete.words.bytes import Address, byte, set_byte
from retewave.rete.words.jit import kernel

__all__ = [
    "decode",
    "encode",
    "escaped",
    "is_alphanumeric",
    "is_iri_character",
    "is_label_part",
    "is_label_start",
    "is_letter",
]

# PN_CHARS_BASE of the grammar beyond ASCII: ranges, both ends included.
_BASE = np.array(
    [
        [0xC0, 0xD6],
        [0xD8, 0xF6],
        [0xF8, 0x2FF],
        [0x370, 0x37D],
        [0x37F, 0x1FFF],
        [0x200C, 0x200D],
        [0x2070, 0x218F],
        [0x2C00, 0x2FEF],
        [0x3001, 0xD7FF],
        [0xF900, 0xFDCF],
        [0xFDF0, 0xFFFD],
        [0x10000, 0xEFFFF],
    ]
)
# The least code point of a UTF-8 sequence of the length: the sequence of a smaller code point is overlong.
_LEAST = np.array([0, 0, 0x80, 0x800, 0x10000])


@kernel
def is_letter(code: int) -> bool:
    """Tell whether an ASCII code is a letter."""
    return LOWER_A <= code | 32 <= LOWER_Z


@kernel
def is_alphanumeric(code: int) -> bool:
    """Tell whether an ASCII code is a letter or a digit."""
    return is_letter(code) or DIGIT_0 <= code <= DIGIT_9


@kernel
def _is_base(code: int) -> bool:
    if code < NOT_ASCII:
        return is_letter(code)
    for i in range(len(_BASE)):  # noqa: SIM110 (Numba knows no any() of a generator)
        if _BASE[i, 0] <= code <= _BASE[i, 1]:
            return True
    return False


@kernel
def is_label_start(code: int) -> bool:
    """Tell whether a blank node's label may start so: PN_CHARS_U or a digit.

    The 2014 grammar's PN_CHARS_U has a colon, too; the W3C's tests and errata have taken it out.
    """
    return DIGIT_0 <= code <= DIGIT_9 or code == UNDERSCORE or _is_base(code)


@kernel
def is_label_part(code: int) -> bool:
    """Tell whether a blank node's label may go on so: PN_CHARS (dots apart)."""
    return is_label_start(code) or code == MINUS or code == 0xB7 or 0x300 <= code <= 0x36F or 0x203F <= code <= 0x2040


@kernel
def is_iri_character(code: int) -> bool:
    """Tell whether a character may stand in an IRI, be it escaped or not."""
    if code <= SPACE or code == QUOTE or code == LESS or code == GREATER:
        return False
    return not (code == BACKSLASH or code == CARET or code == BACK_QUOTE or LEFT_BRACE <= code <= RIGHT_BRACE)


@kernel
def decode(at: Address) -> tuple[int, int]:
    """Return (code, length) of the UTF-8 character at an address; length 0 if it is not valid."""
    lead = byte(at)
    if lead < 0x80:
        return lead, 1
    if lead < 0xC2 or lead > 0xF4:
        return 0, 0
    length = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    code = lead & (0x7F >> length)
    for k in range(1, length):
        if byte(at + k) & 0xC0 != 0x80:
            return 0, 0
        code = code << 6 | (byte(at + k) & 0x3F)
    if code < _LEAST[length] or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        return 0, 0
    return code, length


@kernel
def encode(code: int, target: Address) -> Address:
    """Write a character as UTF-8 and return the address behind it."""
    if code < 0x80:
        set_byte(target, code)
        return target + 1
    length = 2 if code < 0x800 else 3 if code < 0x10000 else 4
    for k in range(length - 1, 0, -1):
        set_byte(target + k, 0x80 | (code & 0x3F))
        code >>= 6
    set_byte(target, (0xF00 >> length) & 0xFF | code)
    return target + length


@kernel
def _hexadecimal(digit: int) -> int:
    if DIGIT_0 <= digit <= DIGIT_9:
        return digit - DIGIT_0
    letter = digit | 32
    return letter - LOWER_A + 10 if LOWER_A <= letter <= LOWER_F else -1


@kernel
def escaped(at: Address) -> tuple[int, int]:
    r"""Return (code, length) of the \uXXXX or \UXXXXXXXX at an address.

    The length is 0 if there is none, -1 if it stands for no Unicode character.
    """
    kind = byte(at + 1)
    if kind != LOWER_U and kind != UPPER_U:  # u U
        return 0, 0
    length = 6 if kind == LOWER_U else 10
    code = 0
    for k in range(2, length):
        digit = _hexadecimal(byte(at + k))
        if digit < 0:
            return 0, 0
        code = code << 4 | digit
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        return 0, -1
    return code, length
