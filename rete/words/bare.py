"""See an array as bare words, which kernels pass to each other.

Numba counts references to arrays, atomically, at every call that it does not inline: more than half the time of a
kernel made of small functions.  A pointer has no count.  So only the outermost kernel holds arrays; it keeps them
alive, grows them, and hands `words(array)` to the functions below it, which read and write `w[i]` and nothing else.
With the JIT off an array is its own words.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from retewave.rete.words.bytes import address_of
from retewave.rete.words.jit import JIT

__all__ = ["address_in", "bytes_at", "prefetch", "reals_at", "tail", "words", "words_at"]


def _words_plain(array: Any) -> Any:
    return array.reshape(-1)


@intrinsic
def _words_jitted(typing_context, array):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return context.make_array(signature.args[0])(context, builder, args[0]).data

    return types.CPointer(array.dtype)(array), codegen


@intrinsic
def _address_jitted(typing_context, words):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        is_array = isinstance(signature.args[0], types.Array)
        data = context.make_array(signature.args[0])(context, builder, args[0]).data if is_array else args[0]
        return builder.ptrtoint(data, ir.IntType(64))

    return types.int64(words), codegen


def _tail_plain(array: Any, offset: int) -> Any:
    return array[offset:]


@intrinsic
def _tail_jitted(typing_context, pointer, offset):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.gep(args[0], [args[1]])

    return pointer(pointer, types.intp), codegen


def _prefetch_plain(array: Any, offset: int) -> None:
    return None


@intrinsic
def _prefetch_jitted(typing_context, pointer, offset):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        address = builder.bitcast(builder.gep(args[0], [args[1]]), byte)
        for_writing, keep, data = number(1), number(3), number(1)
        builder.call(prefetch, [address, for_writing, keep, data])
        return context.get_dummy_value()

    return types.none(pointer, types.intp), codegen


def _plain_at(kind: Any) -> Any:
    everything: Any = kind * (1 << 40)  # as with a pointer, nobody looks at where it ends

    def at(address: int) -> Any:
        return np.frombuffer(everything.from_address(int(address)), kind)

    return at


def _jitted_at(kind: types.Type) -> Any:
    def typer(typing_context, address):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

        return types.CPointer(kind)(types.int64), codegen

    return intrinsic(typer)


words: Any = _words_jitted if JIT else _words_plain  # a C-contiguous array -> its words
prefetch: Any = _prefetch_jitted if JIT else _prefetch_plain  # (words, offset): that word will soon be wanted
address_in: Any = _address_jitted if JIT else address_of  # (words or array) -> the address of the first one
tail: Any = _tail_jitted if JIT else _tail_plain  # (words, offset) -> the words from there on
# (address) -> the words, reals or bytes there: for a kernel that gets the addresses of its arrays
words_at: Any = _jitted_at(types.int64) if JIT else _plain_at(ctypes.c_int64)
reals_at: Any = _jitted_at(types.float64) if JIT else _plain_at(ctypes.c_double)
bytes_at: Any = _jitted_at(types.uint8) if JIT else _plain_at(ctypes.c_uint8)
