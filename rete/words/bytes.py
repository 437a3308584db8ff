"""Bytes in memory: read, write, compare, hash and search them, in steps of 8 to 32 bytes.

Data's way: the ground of the scanner and of the dictionary.
Kernels here speak of memory by Address, not by array: an array that is passed on costs seven machine words
and two atomic counts a call, which was seven eighths of the scanner's time.
Invariant: `word` reads exactly 8 bytes, the `first_…` searches exactly BLOCK; the caller owns all that is
read and keeps it alive.  Without the JIT the same functions run as plain Python.
Left out: the meaning of the bytes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from retewave.rete.words.jit import JIT, inlined, kernel

__all__ = [
    "BLOCK",
    "Address",
    "address_of",
    "byte",
    "cell",
    "copy",
    "copy_block",
    "fence",
    "first_control",
    "first_csv_stop",
    "first_iri_stop",
    "first_json_stop",
    "first_string_stop",
    "hash_of",
    "prefetch",
    "same",
    "set_byte",
    "set_cell",
    "set_real",
    "spells",
    "stream_cell",
    "word",
]

Address = int  # of a byte in memory

BLOCK = 32  # the bytes that one search step looks at
_FIRST = np.uint64(0xA0761D6478BD642F)  # odd constants of wyhash: bits without a pattern
_SECOND = np.uint64(0xE7037ED1A0B428DB)
_ONE = np.uint64(1)
_MASK = (1 << 64) - 1
_IRI_STOPS = frozenset(b'<>"{}|^`\\') | frozenset(range(0x21)) | frozenset(range(0x80, 0x100))
_STRING_STOPS = frozenset(b'"\\\n\r') | frozenset(range(0x80, 0x100))
_CONTROLS = frozenset(range(0x20))
_JSON_STOPS = _CONTROLS | frozenset(b'"\\')
_CSV_STOPS = _JSON_STOPS | frozenset(b",")

_BYTE, _WORD, _REAL = ir.IntType(8), ir.IntType(64), ir.DoubleType()
_BYTES = ir.VectorType(_BYTE, BLOCK)


def address_of(array: np.ndarray) -> Address:
    """Return where an array's first byte is; it stays there as long as the array lives."""
    return int(array.__array_interface__["data"][0])


def _place(builder: Any, args: Any, kind: ir.Type) -> ir.Value:
    """Return the pointer that an address, and perhaps an index behind it, stand for."""
    pointer = builder.inttoptr(args[0], kind.as_pointer())
    return builder.gep(pointer, [args[1]]) if len(args) > 1 else pointer


def _load_byte(typing: Any, at: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> ir.Value:
        return builder.zext(builder.load(_place(builder, args, _BYTE)), _WORD)

    return types.int64(types.int64), code


def _load_word(typing: Any, at: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> ir.Value:
        return builder.load(_place(builder, args, _WORD), align=1)

    return types.uint64(types.int64), code


def _load_cell(typing: Any, at: Any, index: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> ir.Value:
        return builder.load(_place(builder, args, _WORD))

    return types.int64(types.int64, types.int64), code


def _store_byte(typing: Any, at: Any, value: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> ir.Value:
        builder.store(builder.trunc(args[1], _BYTE), _place(builder, args[:1], _BYTE))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), code


def _store_cell(typing: Any, at: Any, index: Any, value: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> ir.Value:
        builder.store(args[2], _place(builder, args[:2], _WORD))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), code


def _stream_cell(typing: Any, at: Any, index: Any, value: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> ir.Value:
        stored = builder.store(args[2], _place(builder, args[:2], _WORD))
        stored.set_metadata("nontemporal", builder.module.add_metadata([ir.IntType(32)(1)]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), code


def _fence(typing: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> ir.Value:
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), code


def _store_real(typing: Any, at: Any, index: Any, value: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> ir.Value:
        builder.store(args[2], _place(builder, args[:2], _REAL))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.float64), code


def _prefetch(typing: Any, at: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> ir.Value:
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [_BYTE.as_pointer(), number, number, number])
        fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        for_reading, keep, data = number(0), number(3), number(1)
        builder.call(fetch, [_place(builder, args, _BYTE), for_reading, keep, data])
        return context.get_dummy_value()

    return types.void(types.int64), code


def _same_block(typing: Any, left: Any, right: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> ir.Value:
        blocks = [builder.load(builder.inttoptr(at, _BYTES.as_pointer()), align=1) for at in args]
        differences = builder.bitcast(builder.icmp_unsigned("!=", *blocks), ir.IntType(BLOCK))
        return builder.icmp_unsigned("==", differences, ir.Constant(ir.IntType(BLOCK), 0))

    return types.boolean(types.int64, types.int64), code


def _copy_block(typing: Any, source: Any, target: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> ir.Value:
        block = builder.load(builder.inttoptr(args[0], _BYTES.as_pointer()), align=1)
        builder.store(block, builder.inttoptr(args[1], _BYTES.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), code


def _fold(typing: Any, left: Any, right: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> ir.Value:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        high = builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), _WORD)
        return builder.xor(builder.trunc(product, _WORD), high)

    return types.uint64(types.uint64, types.uint64), code


def _search(tests: Callable[[Any, ir.Value], ir.Value]) -> Any:
    """Make an intrinsic that gives the index of a block's first byte for which `tests` holds, or BLOCK."""

    def typer(typing: Any, at: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> ir.Value:
            hits = tests(builder, builder.load(_place(builder, args, _BYTES), align=1))
            bits = builder.zext(builder.bitcast(hits, ir.IntType(BLOCK)), _WORD)
            guarded = builder.or_(bits, ir.Constant(_WORD, 1 << BLOCK))
            return builder.cttz(guarded, ir.Constant(ir.IntType(1), 1))

        return types.int64(types.int64), code

    return typer


def _all(value: int) -> ir.Constant:
    """Return a block of one byte repeated."""
    return ir.Constant(_BYTES, [ir.Constant(_BYTE, value - 256 if value > 127 else value)] * BLOCK)


def _equal(builder: Any, block: ir.Value, value: int, keep: int = 0xFF) -> ir.Value:
    masked = block if keep == 0xFF else builder.and_(block, _all(keep))
    return builder.icmp_signed("==", masked, _all(value))


def _any(builder: Any, hits: list[ir.Value]) -> ir.Value:
    found = hits[0]
    for hit in hits[1:]:
        found = builder.or_(found, hit)
    return found


def _iri_tests(builder: Any, block: ir.Value) -> ir.Value:
    hits = [
        builder.icmp_signed("<=", block, _all(0x20)),  # controls and blank; as signed numbers, also 0x80…0xFF
        _equal(builder, block, 0x3C, keep=0xFD),  # < >
        _equal(builder, block, 0x5C, keep=0xFD),  # \ ^
        _equal(builder, block, 0x22),  # "
        _equal(builder, block, 0x60),  # `
        builder.icmp_unsigned("<", builder.sub(block, _all(0x7B)), _all(3)),  # { | }
    ]
    return _any(builder, hits)


def _string_tests(builder: Any, block: ir.Value) -> ir.Value:
    hits = [builder.icmp_signed("<", block, _all(0)), *(_equal(builder, block, stop) for stop in b'"\\\n\r')]
    return _any(builder, hits)


def _stops_and_controls(stops: bytes) -> Callable[[Any, ir.Value], ir.Value]:
    """Return the tests for controls and some other bytes."""

    def tests(builder: Any, block: ir.Value) -> ir.Value:
        controls = builder.icmp_unsigned("<", block, _all(0x20))
        return _any(builder, [controls, *(_equal(builder, block, stop) for stop in stops)])

    return tests


def _plain_search(stops: frozenset[int]) -> Any:
    def search(at: Address) -> int:
        return next((i for i, value in enumerate(ctypes.string_at(int(at), BLOCK)) if value in stops), BLOCK)

    return search


def _plain_fold(left: int, right: int) -> int:
    product = int(left) * int(right)
    return (product ^ (product >> 64)) & _MASK


def _plain_prefetch(at: Address) -> None:
    return None


def _plain_fence() -> None:
    return None


def _plain_same_block(left: Address, right: Address) -> bool:
    return ctypes.string_at(int(left), BLOCK) == ctypes.string_at(int(right), BLOCK)


def _plain_copy_block(source: Address, target: Address) -> None:
    ctypes.memmove(int(target), int(source), BLOCK)


def _plain_set_byte(at: Address, value: int) -> None:
    ctypes.c_uint8.from_address(int(at)).value = int(value)


def _plain_set_cell(at: Address, index: int, value: int) -> None:
    ctypes.c_int64.from_address(int(at + 8 * index)).value = int(value)


def _plain_set_real(at: Address, index: int, value: float) -> None:
    ctypes.c_double.from_address(int(at + 8 * index)).value = value


_At = Callable[[Address], int]  # what is to be told of an address
_Store = Callable[[Address, int, int], None]

if JIT:
    byte: _At = intrinsic(_load_byte)  # (address) -> the byte there
    word: Callable[[Address], Any] = intrinsic(_load_word)  # (address) -> the 8 bytes there, unsigned
    cell: Callable[[Address, int], int] = intrinsic(_load_cell)  # (address, index) -> the int64 there
    set_byte: Callable[[Address, int], None] = intrinsic(_store_byte)  # (address, value)
    set_cell: _Store = intrinsic(_store_cell)  # (address, index, value)
    set_real: Callable[[Address, int, float], None] = intrinsic(_store_real)  # (address, index, value)
    stream_cell: _Store = intrinsic(_stream_cell)  # (address, index, value): past the caches, for another core to read
    fence: Callable[[], None] = intrinsic(_fence)  # (): what was streamed comes before what is stored from here on
    prefetch: Callable[[Address], None] = intrinsic(_prefetch)  # (address): what is there will soon be read
    same_block: Callable[[Address, Address], bool] = intrinsic(_same_block)  # (address, address): are the blocks equal
    copy_block: Callable[[Address, Address], None] = intrinsic(_copy_block)  # (source, target)
    fold: Callable[[Any, Any], Any] = intrinsic(_fold)  # multiply 64 x 64 bits, combine the halves of the product
    first_iri_stop: _At = intrinsic(_search(_iri_tests))  # first byte that is no plain character of an IRI
    first_string_stop: _At = intrinsic(_search(_string_tests))  # first quote, backslash, line end, non-ASCII
    first_control: _At = intrinsic(_search(_stops_and_controls(b"")))  # first byte below 0x20
    first_json_stop: _At = intrinsic(_search(_stops_and_controls(b'"\\')))  # … or a quote, a backslash
    first_csv_stop: _At = intrinsic(_search(_stops_and_controls(b'",\\')))  # … or a comma
else:
    byte = lambda at: ctypes.c_uint8.from_address(int(at)).value  # noqa: E731
    word = lambda at: ctypes.c_uint64.from_address(int(at)).value  # noqa: E731
    cell = lambda at, index: ctypes.c_int64.from_address(int(at + 8 * index)).value  # noqa: E731
    stream_cell, fence = _plain_set_cell, _plain_fence
    set_byte, set_cell, set_real, fold = _plain_set_byte, _plain_set_cell, _plain_set_real, _plain_fold
    prefetch, same_block, copy_block = _plain_prefetch, _plain_same_block, _plain_copy_block
    first_iri_stop, first_string_stop = _plain_search(_IRI_STOPS), _plain_search(_STRING_STOPS)
    first_control, first_json_stop = _plain_search(_CONTROLS), _plain_search(_JSON_STOPS)
    first_csv_stop = _plain_search(_CSV_STOPS)


@inlined
def same(left: Address, right: Address, size: int) -> bool:
    """Tell whether two stretches of bytes are equal, the end first: terms of one vocabulary begin alike."""
    if size >= BLOCK:
        last = size - BLOCK
        if not same_block(left + last, right + last):
            return False
        for k in range(0, last, BLOCK):  # noqa: SIM110 (Numba knows no all() of a generator)
            if not same_block(left + k, right + k):
                return False
        return True
    if size >= 8:
        last = size - 8
        if word(left + last) != word(right + last):
            return False
        for k in range(0, last, 8):  # noqa: SIM110
            if word(left + k) != word(right + k):
                return False
        return True
    for k in range(size):  # noqa: SIM110
        if byte(left + k) != byte(right + k):
            return False
    return True


@kernel
def spells(at: Address, size: int, text: np.ndarray) -> bool:
    """Tell whether a stretch of bytes is a constant text."""
    if size != len(text):
        return False
    for k in range(size):  # noqa: SIM110
        if byte(at + k) != text[k]:
            return False
    return True


@kernel
def copy(source: Address, target: Address, size: int) -> None:
    """Copy a stretch of bytes; the two do not overlap."""
    if size < BLOCK:
        for k in range(size):
            set_byte(target + k, byte(source + k))
        return
    for k in range(0, size - BLOCK, BLOCK):
        copy_block(source + k, target + k)
    copy_block(source + size - BLOCK, target + size - BLOCK)


@kernel
def _short_word(at: Address, size: int) -> np.uint64:
    """Return up to 8 bytes as a number."""
    bits = np.uint64(0)
    for k in range(size):
        bits = (bits << np.uint64(8)) | np.uint64(byte(at + k))
    return bits


@inlined
def hash_of(at: Address, size: int, seed: int) -> int:
    """Return a seeded hash of 63 bits (wyhash's scheme: multiply 64 x 64 bits, fold the halves).

    A word equal to a constant would wipe out the seed; the constants' bytes are not valid UTF-8, so none is.
    """
    state = np.uint64(seed) ^ _FIRST
    if size >= 16:
        last = at + size - 16
        while at < last:
            state = fold(word(at) ^ _SECOND, word(at + 8) ^ state)
            at += 16
        state = fold(word(last) ^ _SECOND, word(last + 8) ^ state)
    elif size >= 8:
        state = fold(word(at) ^ _SECOND, word(at + size - 8) ^ state)
    else:
        state = fold(_short_word(at, size) ^ _SECOND, _FIRST ^ state)
    mixed = fold(state ^ _FIRST, _SECOND ^ np.uint64(size)) >> _ONE
    return np.int64(mixed)  # type: ignore[return-value]
