"""See a real number as a word whose order is the number's, so that words can be compared in place of numbers.

Where it stands: below the operators; a word of `net` or of a row may be the bits of a double.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from retewave.rete.words.jit import JIT, inlined

__all__ = ["bits_of", "in_order", "real_of", "word_of"]

_MAGNITUDE = (1 << 63) - 1  # all bits of a word but the sign


def word_of(number: float) -> int:
    """Return the bits of a double as a word: `bits_of` for who is no kernel.

    >>> word_of(1.0) < word_of(1.5) < word_of(2.0)
    True
    """
    return int(np.float64(number).view(np.int64))


@intrinsic
def _bits_jitted(typing_context, number):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), codegen


def _real_plain(word: int) -> float:
    return float(np.int64(word).view(np.float64))


@intrinsic
def _real_jitted(typing_context, word):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), codegen


bits_of: Any = _bits_jitted if JIT else word_of  # a double -> its bits as a word
real_of: Any = _real_jitted if JIT else _real_plain  # the bits -> the double


@inlined
def in_order(number):  # type: ignore[no-untyped-def]
    """Return a word for a number that is no NaN: a greater number has a greater word; it is never 0."""
    bits = bits_of(number)
    word = bits if bits >= 0 else bits ^ _MAGNITUDE
    return word if word != 0 else 1
