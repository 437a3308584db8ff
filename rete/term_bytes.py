"""Bytes in wide steps: load, compare, hash and search 8 to 32 bytes at a time.

Data's way: the ground of the scanner and of the dictionary.
Invariant: `load_word` reads exactly 8 bytes from its index on, the `first_…` searches read BLOCK bytes; the
caller owns what is read.  Without the JIT the same functions run as plain Python.
Left out: what the bytes mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from retewave.rete.jit import JIT, kernel

__all__ = ["BLOCK", "copy", "first_iri_stop", "first_string_stop", "hash_of", "load_word", "same"]

BLOCK = 32  # the bytes that one search step looks at
_FIRST = np.uint64(0xA0761D6478BD642F)  # odd constants of wyhash: bits without a pattern
_SECOND = np.uint64(0xE7037ED1A0B428DB)
_MASK = (1 << 64) - 1
_IRI_STOPS = frozenset(b'<>"{}|^`\\') | frozenset(range(0x21)) | frozenset(range(0x80, 0x100))
_STRING_STOPS = frozenset(b'"\\\n\r') | frozenset(range(0x80, 0x100))


def _pointer(context: Any, builder: Any, signature: Any, args: Any, kind: ir.Type) -> ir.Value:
    """Return the address of the array's byte at the index, as a pointer to `kind`."""
    array = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.bitcast(builder.gep(array.data, [args[1]]), kind.as_pointer())


def _splat(kind: ir.VectorType, byte: int) -> ir.Constant:
    signed = byte - 256 if byte > 127 else byte
    return ir.Constant(kind, [ir.Constant(ir.IntType(8), signed)] * kind.count)


def _first_set(builder: Any, hits: ir.Value) -> ir.Value:
    """Return the index of the first true of BLOCK booleans, BLOCK if there is none."""
    word = ir.IntType(64)
    bits = builder.zext(builder.bitcast(hits, ir.IntType(BLOCK)), word)
    guarded = builder.or_(bits, ir.Constant(word, 1 << BLOCK))
    return builder.cttz(guarded, ir.Constant(ir.IntType(1), 1))


def _search(tests: Any) -> Any:
    """Make an intrinsic (array, index) -> int64 that finds the first byte of a block for which `tests` holds."""

    def typer(typingctx: Any, array: Any, index: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> ir.Value:
            kind = ir.VectorType(ir.IntType(8), BLOCK)
            block = builder.load(_pointer(context, builder, signature, args, kind), align=1)
            return _first_set(builder, tests(builder, kind, block))

        return types.int64(array, types.int64), codegen

    return typer


def _equal(builder: Any, kind: ir.VectorType, block: ir.Value, byte: int, keep: int = 0xFF) -> ir.Value:
    masked = block if keep == 0xFF else builder.and_(block, _splat(kind, keep))
    return builder.icmp_signed("==", masked, _splat(kind, byte))


def _any(builder: Any, hits: list[ir.Value]) -> ir.Value:
    found = hits[0]
    for hit in hits[1:]:
        found = builder.or_(found, hit)
    return found


def _iri_tests(builder: Any, kind: ir.VectorType, block: ir.Value) -> ir.Value:
    braces = builder.sub(block, _splat(kind, 0x7B))
    return _any(
        builder,
        [
            builder.icmp_signed(
                "<=", block, _splat(kind, 0x20)
            ),  # controls, blank; as signed, also 0x80…0xFF
            _equal(builder, kind, block, 0x3C, keep=0xFD),  # < >
            _equal(builder, kind, block, 0x5C, keep=0xFD),  # \ ^
            _equal(builder, kind, block, 0x22),  # "
            _equal(builder, kind, block, 0x60),  # `
            builder.icmp_unsigned("<", braces, _splat(kind, 3)),  # { | }
        ],
    )


def _string_tests(builder: Any, kind: ir.VectorType, block: ir.Value) -> ir.Value:
    return _any(
        builder,
        [
            builder.icmp_signed("<", block, _splat(kind, 0)),
            _equal(builder, kind, block, 0x22),
            _equal(builder, kind, block, 0x5C),
            _equal(builder, kind, block, 0x0A),
            _equal(builder, kind, block, 0x0D),
        ],
    )


def _load_word(typingctx: Any, array: Any, index: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> ir.Value:
        return builder.load(_pointer(context, builder, signature, args, ir.IntType(64)), align=1)

    return types.uint64(array, types.int64), codegen


def _fold(typingctx: Any, left: Any, right: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> ir.Value:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        high = builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))
        return builder.xor(builder.trunc(product, ir.IntType(64)), high)

    return types.uint64(types.uint64, types.uint64), codegen


def _plain_search(stops: frozenset[int]) -> Any:
    def search(array: np.ndarray, index: int) -> int:
        for i, byte in enumerate(array[index : index + BLOCK].tolist()):
            if byte in stops:
                return i
        return BLOCK

    return search


def _plain_load_word(array: np.ndarray, index: int) -> int:
    return int.from_bytes(array[index : index + 8].tobytes(), "little")


def _plain_fold(left: int, right: int) -> int:
    product = int(left) * int(right)
    return (product ^ (product >> 64)) & _MASK


if JIT:
    load_word: Any = intrinsic(_load_word)
    fold: Any = intrinsic(_fold)
    first_iri_stop: Any = intrinsic(_search(_iri_tests))
    first_string_stop: Any = intrinsic(_search(_string_tests))
else:
    load_word, fold = _plain_load_word, _plain_fold
    first_iri_stop, first_string_stop = _plain_search(_IRI_STOPS), _plain_search(_STRING_STOPS)


@kernel
def same(left: np.ndarray, i: int, right: np.ndarray, j: int, size: int) -> bool:
    """Tell whether two stretches of bytes are equal."""
    if size < 8:
        for k in range(size):
            if left[i + k] != right[j + k]:
                return False
        return True
    last = size - 8
    for k in range(0, last, 8):
        if load_word(left, i + k) != load_word(right, j + k):
            return False
    return load_word(left, i + last) == load_word(right, j + last)


@kernel
def copy(source: np.ndarray, i: int, target: np.ndarray, j: int, size: int) -> None:
    """Copy a stretch of bytes into another array."""
    for k in range(size):
        target[j + k] = source[i + k]


@kernel
def _short_word(text: np.ndarray, at: int, size: int) -> np.uint64:
    word = np.uint64(0)
    for k in range(size):
        word = (word << np.uint64(8)) | np.uint64(text[at + k])
    return word


@kernel
def hash_of(text: np.ndarray, at: int, size: int, seed: int) -> int:
    """Return a seeded hash of 63 bits (wyhash's scheme: multiply 64 x 64 bits, fold the halves).

    A word equal to a constant would wipe out the seed; the constants' bytes are not valid UTF-8, so none is.
    """
    state = np.uint64(seed) ^ _FIRST
    if size < 8:
        return np.int64(
            fold(_short_word(text, at, size) ^ _SECOND, fold(state, _FIRST ^ np.uint64(size))) >> np.uint64(1)
        )
    if size < 16:
        state = fold(load_word(text, at) ^ _SECOND, load_word(text, at + size - 8) ^ state)
        return np.int64(fold(state ^ _FIRST, _SECOND ^ np.uint64(size)) >> np.uint64(1))
    last = size - 16
    for k in range(0, last, 16):
        state = fold(load_word(text, at + k) ^ _SECOND, load_word(text, at + k + 8) ^ state)
    state = fold(load_word(text, at + last) ^ _SECOND, load_word(text, at + last + 8) ^ state)
    return np.int64(fold(state ^ _FIRST, _SECOND ^ np.uint64(size)) >> np.uint64(1))
