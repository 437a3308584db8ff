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
from retewave.rete.words.ascii import BACKSLASH, COLON, CR, DOT, GREATER, LF, MINUS, PLUS, SPACE, TAB
from retewave.rete.words.bytes import (
    BLOCK,
    Address,
    byte,
    cell,
    copy,
    first_iri_stop,
    set_byte,
    set_cell,
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


@inlined
def fault(line: Address, reason: int, place: Address) -> Address:
    """Note a fault and return FAULT."""
    set_cell(line, REASON, reason)
    set_cell(line, PLACE, place)
    return FAULT


@inlined
def blanks_end(at: Address) -> Address:
    """Return the address behind spaces and tabs."""
    while byte(at) == SPACE or byte(at) == TAB:
        at += 1
    return at


@inlined
def keep(span: Address, start: Address, end: Address) -> Address:
    """Note a term that is canonical as it stands."""
    set_cell(span, 0, start)
    set_cell(span, 1, end - start)
    return end


@kernel
def keep_written(line: Address, span: Address, stop: Address) -> None:
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
def _has_scheme(at: Address) -> bool:
    """Tell whether the IRI whose "<" is at the address starts with a scheme and a colon."""
    start = word(at)
    if start == _HTTP or start == _HTTPS:
        return True
    at += 1
    if not is_letter(byte(at)):
        return False
    while is_alphanumeric(byte(at)) or byte(at) == PLUS or byte(at) == MINUS or byte(at) == DOT:
        at += 1
    return byte(at) == COLON


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
    if stop == GREATER or stop == BACKSLASH:
        return at
    return fault(line, why.OPEN_IRI if stop == LF or stop == CR else why.BAD_IRI_CHARACTER, at)


@kernel
def _write_iri(line: Address, at: Address, target: Address) -> tuple[Address, Address]:
    """Write an IRI with its escapes resolved: return (address behind it, address behind the written bytes)."""
    stop = _plain_iri_end(line, at + 1)
    while stop != FAULT:
        copy(at, target, stop - at)
        target += stop - at
        if byte(stop) == GREATER:
            set_byte(target, GREATER)
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
    keep_written(line, span, written)
    return end


@inlined
def iri(line: Address, span: Address, at: Address) -> Address:
    """Scan the IRI whose "<" is at the address."""
    stop = _plain_iri_end(line, at + 1)
    if stop == FAULT:
        return FAULT
    if byte(stop) == BACKSLASH:
        return _rewritten_iri(line, span, at)
    return keep(span, at, stop + 1) if _has_scheme(at) else fault(line, why.RELATIVE_IRI, at)


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
        elif code != DOT:  # a dot belongs to the label only if more of the label follows
            return end


@kernel
def blank(line: Address, span: Address, at: Address) -> Address:
    """Scan the blank node whose "_" is at the address; its label is prefixed with the document's scope."""
    if byte(at + 1) != COLON:
        return fault(line, why.BAD_LABEL, at)
    end = _label_end(line, at + 2)
    if end == FAULT:
        return FAULT
    target, scope_size, size = cell(line, WRITTEN), cell(line, SCOPE_SIZE), end - at - 2
    copy(cell(line, SCOPE), target, scope_size)
    copy(at + 2, target + scope_size, size)
    keep_written(line, span, target + scope_size + size)
    return end
