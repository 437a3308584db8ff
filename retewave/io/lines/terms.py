"""One term of a line of N-Triples or N-Quads: where it ends, and its canonical text.

Data's way: bytes of a line -> **spans of its terms** -> dictionary.
Invariant: every function starts at a term's first byte, and returns the address behind it, or FAULT after
noting the reason and the place; none reads past a line's end by more than two blocks.
A term that is canonical as it stands is a span of the input; any other is rewritten into the scratch bytes.
Left out: RFC 3987's finer rules (percent signs, ports): the grammar of N-Triples does not ask for them.
"""

from __future__ import annotations

import numpy as np

from retewave.io.lines import reasons as why
from retewave.io.lines.characters import (
    decode,
    encode,
    escaped,
    is_alphanumeric,
    is_iri_character,
    is_label_part,
    is_label_start,
    is_letter,
)
from retewave.rete.words.bytes import (
    BLOCK,
    Address,
    byte,
    cell,
    copy,
    first_iri_stop,
    first_string_stop,
    same,
    set_byte,
    set_cell,
    spells,
    word,
)
from retewave.rete.words.jit import inlined, kernel

__all__ = [
    "DATATYPE",
    "FAULT",
    "GRAPH",
    "LINE_CELLS",
    "OBJECT",
    "PLACE",
    "PREDICATE",
    "REASON",
    "SCOPE",
    "SCOPE_SIZE",
    "SUBJECT",
    "WRITTEN",
    "blank",
    "blanks_end",
    "fault",
    "iri",
    "literal",
]

FAULT = 0  # no address

# The cells of a line: spans of its terms (the address, in the next cell the size), and notes.
# A span goes by its own address, line + SUBJECT and so on: as an index, a constant, it would make Numba compile
# every function that takes it once for each.
SUBJECT = 0
PREDICATE = 16
OBJECT = 32
GRAPH = 48  # the size is 0 if there is none
REASON = 8  # of the fault: retewave.io.lines.reasons
PLACE = 9  # the fault's address in the input
WRITTEN = 10  # the address of the next free scratch byte
SCOPE = 11  # the address of the prefix of blank nodes' labels: "_:d7."
SCOPE_SIZE = 12
DATATYPE = 13  # the last datatype that stood as it should: the address of its "^^", and the size from there; 0: none
LINE_CELLS = 15

_HTTP = np.uint64(int.from_bytes(b"<http://", "little"))
_HTTPS = np.uint64(int.from_bytes(b"<https:/", "little"))
_LONGEST_DATATYPE = 2 * BLOCK  # bytes of a datatype that the next one is compared with: that looks past the line's end
_STRING = np.frombuffer(b"<http://www.w3.org/2001/XMLSchema#string>", np.uint8).copy()


@inlined
def fault(line: Address, reason: int, place: Address) -> Address:
    """Note a fault and return FAULT."""
    set_cell(line, REASON, reason)
    set_cell(line, PLACE, place)
    return FAULT


@inlined
def blanks_end(at: Address) -> Address:
    """Return the address behind spaces and tabs."""
    while byte(at) == 32 or byte(at) == 9:
        at += 1
    return at


@inlined
def _keep(span: Address, start: Address, end: Address) -> Address:
    """Note a term that is canonical as it stands."""
    set_cell(span, 0, start)
    set_cell(span, 1, end - start)
    return end


@kernel
def _keep_written(line: Address, span: Address, stop: Address) -> None:
    """Note a term that was written to the scratch bytes, from WRITTEN up to `stop`."""
    start = cell(line, WRITTEN)
    set_cell(span, 0, start)
    set_cell(span, 1, stop - start)
    set_cell(line, WRITTEN, stop)


@inlined
def _next_iri_stop(at: Address) -> Address:
    step = first_iri_stop(at)
    while step == BLOCK:
        at += BLOCK
        step = first_iri_stop(at)
    return at + step


@inlined
def _next_string_stop(at: Address) -> Address:
    step = first_string_stop(at)
    while step == BLOCK:
        at += BLOCK
        step = first_string_stop(at)
    return at + step


@inlined
def _has_scheme(at: Address) -> bool:
    """Return whether the IRI whose "<" is at the address starts with a scheme and a colon."""
    start = word(at)
    if start == _HTTP or start == _HTTPS:  # noqa: SIM109 (unsigned)
        return True
    at += 1
    if not is_letter(byte(at)):
        return False
    while is_alphanumeric(byte(at)) or byte(at) == 43 or byte(at) == 45 or byte(at) == 46:  # + - .
        at += 1
    return byte(at) == 58


@inlined
def _plain_iri_end(line: Address, at: Address) -> Address:
    r"""Return the address of the ">" or "\" that comes first, or FAULT; UTF-8 is checked on the way."""
    at = _next_iri_stop(at)
    while byte(at) >= 0x80:
        _, length = decode(at)
        if length == 0:
            return fault(line, why.BAD_UTF8, at)
        at = _next_iri_stop(at + length)
    stop = byte(at)
    if stop == 62 or stop == 92:
        return at
    return fault(line, why.OPEN_IRI if stop == 10 or stop == 13 else why.BAD_IRI_CHARACTER, at)


@kernel
def _write_iri(line: Address, at: Address, target: Address) -> tuple[Address, Address]:
    """Write an IRI with its escapes resolved: return (address behind it, address behind the written bytes)."""
    stop = _plain_iri_end(line, at + 1)
    while stop != FAULT:
        copy(at, target, stop - at)
        target += stop - at
        if byte(stop) == 62:
            set_byte(target, 62)
            return stop + 1, target + 1
        code, length = escaped(stop)
        if length <= 0:
            return fault(line, why.BAD_ESCAPE if length == 0 else why.BAD_SURROGATE, stop), target
        if not is_iri_character(code):
            return fault(line, why.BAD_IRI_CHARACTER, stop), target
        target = encode(code, target)
        at = stop + length
        stop = _plain_iri_end(line, at)
    return FAULT, target


@kernel
def _rewritten_iri(line: Address, span: Address, at: Address) -> Address:
    target = cell(line, WRITTEN)
    end, written = _write_iri(line, at, target)
    if end == FAULT:
        return FAULT
    if not _has_scheme(target):
        return fault(line, why.RELATIVE_IRI, at)
    _keep_written(line, span, written)
    return end


@inlined
def iri(line: Address, span: Address, at: Address) -> Address:
    """Scan the IRI whose "<" is at the address."""
    stop = _plain_iri_end(line, at + 1)
    if stop == FAULT:
        return FAULT
    if byte(stop) == 92:
        return _rewritten_iri(line, span, at)
    return _keep(span, at, stop + 1) if _has_scheme(at) else fault(line, why.RELATIVE_IRI, at)


@kernel
def _label_end(line: Address, at: Address) -> Address:
    """Return the address behind the blank node's label that starts at the address."""
    code, length = decode(at)
    if length == 0 or not is_label_start(code):
        return fault(line, why.BAD_LABEL if length else why.BAD_UTF8, at)
    at += length
    end = at
    while True:
        code, length = decode(at)
        if length == 0:
            return fault(line, why.BAD_UTF8, at)
        at += length
        if is_label_part(code):
            end = at
        elif code != 46:  # a dot belongs to the label only if more of the label follows
            return end


@kernel
def blank(line: Address, span: Address, at: Address) -> Address:
    """Scan the blank node whose "_" is at the address; its label is prefixed with the document's scope."""
    if byte(at + 1) != 58:
        return fault(line, why.BAD_LABEL, at)
    end = _label_end(line, at + 2)
    if end == FAULT:
        return FAULT
    target, scope_size, size = cell(line, WRITTEN), cell(line, SCOPE_SIZE), end - at - 2
    copy(cell(line, SCOPE), target, scope_size)
    copy(at + 2, target + scope_size, size)
    _keep_written(line, span, target + scope_size + size)
    return end


@inlined
def _plain_string_end(line: Address, at: Address) -> Address:
    r"""Return the address of the quote or "\" that comes first, or FAULT; UTF-8 is checked on the way."""
    at = _next_string_stop(at)
    while byte(at) >= 0x80:
        _, length = decode(at)
        if length == 0:
            return fault(line, why.BAD_UTF8, at)
        at = _next_string_stop(at + length)
    if byte(at) == 10 or byte(at) == 13:
        return fault(line, why.OPEN_STRING, at)
    return at


@kernel
def _character_escape(letter: int) -> int:
    r"""Return the character that \ and the letter stand for, -1 if they stand for none."""
    if letter == 34 or letter == 39 or letter == 92:  # " ' \
        return letter
    if letter == 110:  # n
        return 10
    if letter == 116:  # t
        return 9
    if letter == 114:  # r
        return 13
    if letter == 98:  # b
        return 8
    return 12 if letter == 102 else -1  # f


@kernel
def _write_character(code: int, target: Address) -> Address:
    r"""Write a character as it stands in a canonical literal: only " \ LF CR are escaped."""
    if code == 34 or code == 92 or code == 10 or code == 13:
        set_byte(target, 92)
        set_byte(target + 1, 110 if code == 10 else 114 if code == 13 else code)
        return target + 2
    return encode(code, target)


@kernel
def _write_string(line: Address, at: Address, target: Address) -> tuple[Address, Address]:
    """Write a quoted string with canonical escapes: return (address behind it, behind the written bytes)."""
    stop = _plain_string_end(line, at + 1)
    while stop != FAULT:
        copy(at, target, stop - at)
        target += stop - at
        if byte(stop) == 34:
            set_byte(target, 34)
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
    while at > part and byte(at) == 45:
        part = at + 1
        at = part
        while is_alphanumeric(byte(at)):
            at += 1
    return at if at > part else fault(line, why.BAD_TAG, at)


@kernel
def _is_lower(at: Address, end: Address) -> bool:
    while at < end:
        if 65 <= byte(at) <= 90:
            return False
        at += 1
    return True


@kernel
def _write_tag(at: Address, end: Address, target: Address) -> Address:
    while at < end:
        letter = byte(at)
        set_byte(target, letter | 32 if 65 <= letter <= 90 else letter)
        at += 1
        target += 1
    return target


@kernel
def _write_datatype(line: Address, at: Address, target: Address) -> tuple[Address, Address]:
    """Write "^^" and the datatype, nothing for xsd:string: return (address behind it, behind the written bytes)."""
    if byte(at + 1) != 94:
        return fault(line, why.NO_DATATYPE, at), target
    start = blanks_end(at + 2)
    if byte(start) != 60:
        return fault(line, why.NO_DATATYPE, start), target
    set_byte(target, 94)
    set_byte(target + 1, 94)
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
    if byte(ahead) == 64:  # @
        end = _tag_end(line, ahead)
        target = _write_tag(ahead, end, target)
    elif byte(ahead) == 94:  # ^
        end, target = _write_datatype(line, ahead, target)
    if end == FAULT:
        return FAULT
    _keep_written(line, span, target)
    return end


@kernel
def _tagged(line: Address, span: Address, at: Address, quote_end: Address) -> Address:
    """Scan on behind a string that "@" follows."""
    end = _tag_end(line, quote_end)
    if end == FAULT:
        return FAULT
    return _keep(span, at, end) if _is_lower(quote_end, end) else _rewritten_literal(line, span, at)


@kernel
def _typed(line: Address, span: Address, at: Address, quote_end: Address) -> Address:
    """Scan on behind a string that "^^<" follows."""
    start = quote_end + 2
    stop = _plain_iri_end(line, start + 1)
    if stop == FAULT:
        return FAULT
    if byte(stop) == 92 or spells(start, stop + 1 - start, _STRING):
        return _rewritten_literal(line, span, at)
    if not _has_scheme(start):
        return fault(line, why.RELATIVE_IRI, start)
    size = stop + 1 - quote_end
    set_cell(line, DATATYPE, quote_end)
    set_cell(line, DATATYPE + 1, size if size <= _LONGEST_DATATYPE else 0)
    return _keep(span, at, stop + 1)


@kernel
def literal(line: Address, span: Address, at: Address) -> Address:
    r"""Scan the literal whose quote is at the address.

    Canonical as it stands is: no "\", a lower-case tag, a datatype that follows at once and is not xsd:string.
    """
    quote = _plain_string_end(line, at + 1)
    if quote == FAULT:
        return FAULT
    if byte(quote) == 92:
        return _rewritten_literal(line, span, at)
    end = quote + 1
    if byte(end) == 94 and byte(end + 1) == 94 and byte(end + 2) == 60:
        size = cell(line, DATATYPE + 1)
        if size > 0 and same(cell(line, DATATYPE), end, size):
            return _keep(span, at, end + size)
        return _typed(line, span, at, end)
    if byte(end) == 64:
        return _tagged(line, span, at, end)
    follows = byte(blanks_end(end))
    if follows == 94 or follows == 64:
        return _rewritten_literal(line, span, at)
    return _keep(span, at, end)
