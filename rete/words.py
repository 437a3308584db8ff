"""See an array as bare words: what kernels pass to each other.

Numba counts references to arrays, atomically, at every call that it does not inline: more than half the time of a
kernel made of small functions.  A pointer has no count.  So only the outermost kernel holds arrays; it keeps them
alive, grows them, and hands `words(array)` to the functions below it, which read and write `w[i]` and nothing else.
With the JIT off an array is its own words.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic

from retewave.rete.jit import JIT

__all__ = ["tail", "words"]


def _words_plain(array: Any) -> Any:
    return array


@intrinsic
def _words_jitted(typing_context, array):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return context.make_array(signature.args[0])(context, builder, args[0]).data

    return types.CPointer(array.dtype)(array), codegen


def _tail_plain(array: Any, offset: int) -> Any:
    return array[offset:]


@intrinsic
def _tail_jitted(typing_context, pointer, offset):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.gep(args[0], [args[1]])

    return pointer(pointer, types.intp), codegen


words: Any = _words_jitted if JIT else _words_plain  # a C-contiguous array -> its words
tail: Any = _tail_jitted if JIT else _tail_plain  # (words, offset) -> the words from there on
