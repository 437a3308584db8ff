"""Large arrays: mapped for themselves, used again where they can be.

Data's way: the ground of the dictionary, the arena, and of what goes from kernel to kernel in large arrays.
Fresh memory costs: the system clears every page at its first use, which was a quarter of the time of reading.  And
the C library keeps what is freed between other things: arrays that grow by doubling leave as much behind as they use.
Invariant: an array of `zeros` is zero; `Pool.take` returns an array that nobody else refers to, no view of it included.
Left out: huge pages; they are cleared whole, and cost more time than they save.
"""

from __future__ import annotations

import math
import mmap
import sys

import numpy as np

__all__ = ["Pool", "grown", "zeros"]

_LEAST = 1 << 20  # bytes; less is not worth a mapping
_KEPT = 4  # arrays that a pool keeps
_UNUSED = 3  # references to one of them that is free: of the list, of the loop, of the call that counts them


def zeros(shape: tuple[int, ...], dtype: type | np.dtype = np.int64) -> np.ndarray:
    """Return an array of zeros, of which nothing is resident before use if it is large.

    >>> int(zeros((2, 1 << 20)).sum())
    0
    """
    return _flat(math.prod(shape), np.dtype(dtype)).reshape(shape)


def _flat(count: int, kind: np.dtype) -> np.ndarray:
    """Return what every view of it has as its base."""
    if count * kind.itemsize < _LEAST:
        return np.zeros(count, kind)
    return np.frombuffer(_mapped(count * kind.itemsize), kind, count)


def _mapped(size: int) -> mmap.mmap:
    if sys.platform == "win32":
        return mmap.mmap(-1, size)
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def grown(array: np.ndarray, length: int) -> np.ndarray:
    """Return an array of a greater length that begins with the same content; the rest is zero.

    >>> grown(np.array([1, 2]), 4).tolist()
    [1, 2, 0, 0]
    """
    larger = zeros((length, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


class Pool:
    """Arrays of one shape that are handed out, and used again when nobody refers to them any more.

    What is taken holds anything.

    >>> pool = Pool((2, 3))
    >>> first = pool.take()
    >>> row = first[0]
    >>> del first
    >>> np.shares_memory(row, pool.take())
    False
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self._arrays: list[np.ndarray] = []  # the bases of what is taken, to which every view of it refers

    def take(self) -> np.ndarray:
        """Return an array that is the taker's until the last reference to it, or to a view of it, goes."""
        for array in self._arrays:
            if sys.getrefcount(array) == _UNUSED:
                return array.reshape(self.shape)
        array = _flat(math.prod(self.shape), np.dtype(np.int64))
        if len(self._arrays) < _KEPT:
            self._arrays.append(array)
        return array.reshape(self.shape)
