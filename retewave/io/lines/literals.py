"""A literal of a line of N-Triples or N-Quads: where it ends, and its canonical text.

Data's way: bytes of a line -> **the span of a literal** -> dictionary.
Invariant: as in `terms.py`.
"""

from __future__ import annotations

import numpy as np

from retewave.io.lines import reasons as why
from retewave.io.lines.characters import (
    decode,
    encode,
    escaped,
    is_alphanumeric,
    is_letter,
)
from retewave.io.lines.terms import (
    DATATYPE,
    FAULT,
    WRITTEN,
    _has_scheme,
    _plain_iri_end,
    _write_iri,
    blanks_end,
    fault,
    keep,
    keep_written,
)
from retewave.rete.words.ascii import (
    APOSTROPHE,
    AT_SIGN,
    BACKSLASH,
    CARET,
    CR,
    FORM_FEED,
    LESS,
    LF,
    LOWER_B,
    LOWER_F,
    LOWER_N,
    LOWER_R,
    LOWER_T,
    MINUS,
    QUOTE,
    UPPER_A,
    UPPER_Z,
)
from retewave.rete.words.bytes import (
    BLOCK,
    Address,
    byte,
    cell,
    copy,
    first_string_stop,
    same,
    set_byte,
    set_cell,
    spells,
)
from retewave.rete.words.jit import inlined, kernel

__all__ = ["literal"]


_LONGEST_DATATYPE = 2 * BLOCK  # bytes of a datatype that the next one is compared with: that looks past the line's end


_STRING = np.frombuffer(b"<http://www.w3.org/2001/XMLSchema#string>", np.uint8).copy()


@inlined
def _next_string_stop(at: Address) -> Address:
    step = first_string_stop(at)
    while step == BLOCK:
        at += BLOCK
        step = first_string_stop(at)
    return at + step


@inlined
def _plain_string_end(line: Address, at: Address) -> Address:
    r"""Return the address of the quote or "\" that comes first, or FAULT; UTF-8 is checked on the way."""
    at = _next_string_stop(at)
    while byte(at) >= 0x80:
        _, length = decode(at)
        if length == 0:
            return fault(line, why.BAD_UTF8, at)
        at = _next_string_stop(at + length)
    if byte(at) == LF or byte(at) == CR:
        return fault(line, why.OPEN_STRING, at)
    return at


@kernel
def _character_escape(letter: int) -> int:
    r"""Return the character that \ and the letter stand for, -1 if they stand for none."""
    if letter == QUOTE or letter == APOSTROPHE or letter == BACKSLASH:  # " ' \
        return letter
    if letter == LOWER_N:
        return 10
    if letter == LOWER_T:
        return 9
    if letter == LOWER_R:
        return 13
    if letter == LOWER_B:
        return 8
    return FORM_FEED if letter == LOWER_F else -1


@kernel
def _write_character(code: int, target: Address) -> Address:
    r"""Write a character as it stands in a canonical literal: only " \ LF CR are escaped."""
    if code == QUOTE or code == BACKSLASH or code == LF or code == CR:
        set_byte(target, BACKSLASH)
        set_byte(target + 1, LOWER_N if code == LF else LOWER_R if code == CR else code)
        return target + 2
    return encode(code, target)


@kernel
def _write_string(line: Address, at: Address, target: Address) -> tuple[Address, Address]:
    """Write a quoted string with canonical escapes: return (address behind it, behind the written bytes)."""
    stop = _plain_string_end(line, at + 1)
    while stop != FAULT:
        copy(at, target, stop - at)
        target += stop - at
        if byte(stop) == QUOTE:
            set_byte(target, QUOTE)
            return stop + 1, target + 1
        code, length = _character_escape(byte(stop + 1)), 2
        if code < 0:
            code, length = escaped(stop)
        if length <= 0:
            return fault(line, why.BAD_STRING_ESCAPE if length == 0 else why.BAD_SURROGATE, stop), target
        target = _write_character(code, target)
        at = stop + length
        stop = _plain_string_end(line, at)
    return FAULT, target


@kernel
def _tag_end(line: Address, at: Address) -> Address:
    """Return the address behind the language tag whose "@" is at the address."""
    at += 1
    part = at
    while is_letter(byte(at)):
        at += 1
    while at > part and byte(at) == MINUS:
        part = at + 1
        at = part
        while is_alphanumeric(byte(at)):
            at += 1
    return at if at > part else fault(line, why.BAD_TAG, at)


@kernel
def _is_lower(at: Address, end: Address) -> bool:
    while at < end:
        if UPPER_A <= byte(at) <= UPPER_Z:
            return False
        at += 1
    return True


@kernel
def _write_tag(at: Address, end: Address, target: Address) -> Address:
    while at < end:
        letter = byte(at)
        set_byte(target, letter | 32 if UPPER_A <= letter <= UPPER_Z else letter)
        at += 1
        target += 1
    return target


@kernel
def _write_datatype(line: Address, at: Address, target: Address) -> tuple[Address, Address]:
    """Write "^^" and the datatype, nothing for xsd:string: return (address behind it, behind the written bytes)."""
    if byte(at + 1) != CARET:
        return fault(line, why.NO_DATATYPE, at), target
    start = blanks_end(at + 2)
    if byte(start) != LESS:
        return fault(line, why.NO_DATATYPE, start), target
    set_byte(target, CARET)
    set_byte(target + 1, CARET)
    end, written = _write_iri(line, start, target + 2)
    if end != FAULT and not _has_scheme(target + 2):
        return fault(line, why.RELATIVE_IRI, start), target
    return end, target if spells(target + 2, written - target - 2, _STRING) else written


@kernel
def _rewritten_literal(line: Address, span: Address, at: Address) -> Address:
    """Scan and rewrite a literal that is not canonical, or may not be."""
    end, target = _write_string(line, at, cell(line, WRITTEN))
    if end == FAULT:
        return FAULT
    ahead = blanks_end(end)
    if byte(ahead) == AT_SIGN:
        end = _tag_end(line, ahead)
        target = _write_tag(ahead, end, target)
    elif byte(ahead) == CARET:
        end, target = _write_datatype(line, ahead, target)
    if end == FAULT:
        return FAULT
    keep_written(line, span, target)
    return end


@kernel
def _tagged(line: Address, span: Address, at: Address, quote_end: Address) -> Address:
    """Scan on behind a string that "@" follows."""
    end = _tag_end(line, quote_end)
    if end == FAULT:
        return FAULT
    return keep(span, at, end) if _is_lower(quote_end, end) else _rewritten_literal(line, span, at)


@kernel
def _typed(line: Address, span: Address, at: Address, quote_end: Address) -> Address:
    """Scan on behind a string that "^^<" follows."""
    start = quote_end + 2
    stop = _plain_iri_end(line, start + 1)
    if stop == FAULT:
        return FAULT
    if byte(stop) == BACKSLASH or spells(start, stop + 1 - start, _STRING):
        return _rewritten_literal(line, span, at)
    if not _has_scheme(start):
        return fault(line, why.RELATIVE_IRI, start)
    size = stop + 1 - quote_end
    set_cell(line, DATATYPE, quote_end)
    set_cell(line, DATATYPE + 1, size if size <= _LONGEST_DATATYPE else 0)
    return keep(span, at, stop + 1)


@kernel
def literal(line: Address, span: Address, at: Address) -> Address:
    r"""Scan the literal whose quote is at the address.

    Canonical as it stands is: no "\", a lower-case tag, a datatype that follows at once and is not xsd:string.
    """
    quote = _plain_string_end(line, at + 1)
    if quote == FAULT:
        return FAULT
    if byte(quote) == BACKSLASH:
        return _rewritten_literal(line, span, at)
    end = quote + 1
    if byte(end) == CARET and byte(end + 1) == CARET and byte(end + 2) == LESS:
        size = cell(line, DATATYPE + 1)
        if size > 0 and same(cell(line, DATATYPE), end, size):
            return keep(span, at, end + size)
        return _typed(line, span, at, end)
    if byte(end) == AT_SIGN:
        return _tagged(line, span, at, end)
    follows = byte(blanks_end(end))
    if follows == CARET or follows == AT_SIGN:
        return _rewritten_literal(line, span, at)
    return keep(span, at, end)
