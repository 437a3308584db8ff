"""Terms as the formats of results write them, from the bytes of their canonical texts.

Data's way: ids of a match -> texts in the dictionary -> **characters in a sink's buffer**.
Invariant: nothing is parsed and no object is made of a term; a text is copied by blocks of 32 bytes, and bytes
behind it are read and written, too: callers see to BLOCK bytes of room behind every text and behind the buffer.
A canonical text's escapes are JSON's own (those of quotes, backslashes and line ends), so they go there as they stand.
Left out: the text between terms (rete/written/lines.py).
"""

from __future__ import annotations

from retewave.rete.words.ascii import (
    BACKSLASH,
    COMMA,
    CR,
    DIGIT_0,
    LESS,
    LF,
    LOWER_A,
    LOWER_N,
    LOWER_R,
    LOWER_T,
    LOWER_U,
    QUOTE,
    SPACE,
    TAB,
    UNDERSCORE,
)
from retewave.rete.words.bytes import (
    BLOCK,
    Address,
    byte,
    copy_block,
    first_control,
    first_csv_stop,
    first_json_stop,
    set_byte,
)
from retewave.rete.words.jit import inlined, kernel

__all__ = ["LONGEST", "copy_over", "write_csv", "write_json_inside", "write_tsv"]

LONGEST = 6  # bytes that a byte of a text may become: \u0009 in JSON


@inlined
def copy_over(source: Address, target: Address, size: int) -> Address:
    """Copy a stretch by whole blocks, over the bytes behind it; return where it ends."""
    for k in range(0, size, BLOCK):
        copy_block(source + k, target + k)
    return target + size


@kernel
def _write_control(out: Address, value: int) -> Address:
    """Write a control character as JSON escapes it."""
    low = value % 16
    set_byte(out, BACKSLASH)
    set_byte(out + 1, LOWER_U)
    set_byte(out + 2, DIGIT_0)
    set_byte(out + 3, DIGIT_0)
    set_byte(out + 4, DIGIT_0 + value // 16)
    set_byte(out + 5, low + (DIGIT_0 if low < 10 else LOWER_A - 10))
    return out + 6


@kernel
def write_json_inside(at: Address, out: Address) -> tuple[Address, Address]:
    """Write a literal's inside from behind its first quote; return where its last quote is, and where it ends."""
    while True:
        copy_block(at, out)
        step = first_json_stop(at)
        at += step
        out += step
        if step < BLOCK:
            stop = byte(at)
            if stop == QUOTE:
                return at, out
            if stop == BACKSLASH:
                set_byte(out, stop)
                set_byte(out + 1, byte(at + 1))
                at, out = at + 2, out + 2
            else:
                out = _write_control(out, stop)
                at += 1


@kernel
def _write_quoted(at: Address, end: Address, out: Address) -> Address:
    """Write a value as a CSV field in quotes, without the escapes of its text, and with its quotes doubled."""
    set_byte(out, QUOTE)
    out += 1
    while at < end:
        value = byte(at)
        if value == BACKSLASH:
            at += 1
            value = byte(at)
            value = LF if value == LOWER_N else CR if value == LOWER_R else value
        if value == QUOTE:
            set_byte(out, QUOTE)
            out += 1
        set_byte(out, value)
        at, out = at + 1, out + 1
    set_byte(out, QUOTE)
    return out + 1


@kernel
def _write_unescaped(at: Address, end: Address, out: Address) -> Address:
    """Write a value whose only escapes are of backslashes."""
    while at < end:
        if byte(at) == BACKSLASH:
            at += 1
        set_byte(out, byte(at))
        at, out = at + 1, out + 1
    return out


@kernel
def _write_field(at: Address, end: Address, out: Address) -> Address:
    """Write a value that holds something special, in quotes if it must be."""
    k = at
    while k < end:
        value = byte(k)
        if value == BACKSLASH:
            k += 1
            if byte(k) != BACKSLASH:
                return _write_quoted(at, end, out)
        elif value == COMMA or value == LF or value == CR:
            return _write_quoted(at, end, out)
        k += 1
    return _write_unescaped(at, end, out)


@kernel
def _closing(at: Address) -> Address:
    """Return where a literal's inside, which begins there, has its last quote."""
    while True:
        at += first_json_stop(at)
        stop = byte(at)
        if stop == QUOTE:
            return at
        at += 2 if stop == BACKSLASH else 1 if stop < SPACE else 0  # another character: the next block begins with it


@kernel
def write_csv(at: Address, size: int, out: Address) -> Address:
    """Write a term as SPARQL 1.1 Query Results CSV has it, the value alone; return where it ends."""
    first = byte(at)
    if first == UNDERSCORE:
        return copy_over(at, out, size)
    end = at + size - 1 if first == LESS else _closing(at + 1)
    at += 1
    k = at
    while k < end:
        copy_block(k, out + k - at)
        step = first_csv_stop(k)
        if step < BLOCK:
            if k + step < end:
                return _write_field(at, end, out)
            break
        k += BLOCK
    return out + end - at


@kernel
def write_tsv(at: Address, size: int, out: Address) -> Address:
    """Write a term as SPARQL 1.1 Query Results TSV has it, its text with tabs escaped; return where it ends."""
    end = at + size
    while at < end:
        copy_block(at, out)
        step = min(first_control(at), end - at)
        at += step
        out += step
        if step < BLOCK and at < end:
            if byte(at) == TAB:
                set_byte(out, BACKSLASH)
                set_byte(out + 1, LOWER_T)
                out += 2
            else:
                set_byte(out, byte(at))
                out += 1
            at += 1
    return out
