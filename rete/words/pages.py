"""Large arrays: mapped for themselves, used again where they can be.

Data's way: the ground of the dictionary, the arena, and of what goes from kernel to kernel in large arrays.
Fresh memory costs: the system clears every page at its first use, which was a quarter of the time of reading.  And
the C library keeps what is freed between other things: arrays that grow by doubling leave as much behind as they use.
So what has outgrown its first size has addresses behind it to grow into, and stays where it is.
Invariant: an array of `zeros` is zero; `Pool.take` returns an array that nobody else refers to, no view of it included.
Huge pages are cleared whole, and where they are not backed yet, as in many virtual machines, that costs more time than
they save: they are only for what is used all over (`in_huge_pages`), and when there is time.
"""

from __future__ import annotations

import math
import mmap
import sys
from contextlib import suppress

import numpy as np

__all__ = ["Pool", "extended", "grown", "in_huge_pages", "zeros"]

_LEAST = 1 << 20  # bytes; less is not worth a mapping
_ROOM = 16  # addresses of a growing array, as a multiple of its size: only used pages take memory
_NO_RESERVE = 0x4000 if sys.platform == "linux" else 0  # MAP_NORESERVE, which Python names from 3.13 on
_KEPT = 4  # arrays that a pool keeps


def zeros(shape: tuple[int, ...], dtype: type | np.dtype = np.int64) -> np.ndarray:
    """Return an array of zeros, of which nothing is resident before use if it is large.

    >>> int(zeros((2, 1 << 20)).sum())
    0
    """
    return _flat(math.prod(shape), np.dtype(dtype)).reshape(shape)


def _flat(count: int, kind: np.dtype, room: int = 1) -> np.ndarray:
    """Return what every view of it has as its base."""
    if count * kind.itemsize < _LEAST:
        return np.zeros(count, kind)
    return np.frombuffer(_mapped(count * kind.itemsize, room), kind, count)


def _mapped(size: int, room: int) -> mmap.mmap:
    """Map this many bytes, and more addresses behind them for growth; fewer where addresses are scarce."""
    if sys.platform == "win32":
        return mmap.mmap(-1, size)
    while room > 1:
        try:
            return mmap.mmap(-1, room * size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
        except OSError:
            room //= 2
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def grown(array: np.ndarray, length: int) -> np.ndarray:
    """Return an array of a greater length that begins with the same content; the rest is zero.

    >>> grown(np.array([1, 2]), 4).tolist()
    [1, 2, 0, 0]
    """
    larger = zeros((length, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


def extended(array: np.ndarray, length: int) -> np.ndarray:
    """Return a longer array in place of this one: the same memory, if there is room behind it, or else a copy of it.

    What was there may still be read where it was; but only the longer array may be written, or extended again.

    >>> first = extended(np.array([1, 2]), 1 << 17)
    >>> second = extended(first, 1 << 18)
    >>> np.shares_memory(first, second), second[:3].tolist()
    (True, [1, 2, 0])
    """
    shape = (length, *array.shape[1:])
    mapping = _mapping(array)
    if mapping is None or math.prod(shape) * array.itemsize > len(mapping):
        longer = _flat(math.prod(shape), array.dtype, _ROOM).reshape(shape)
        longer[: len(array)] = array
        return longer
    return np.frombuffer(mapping, array.dtype, math.prod(shape)).reshape(shape)


def in_huge_pages(array: np.ndarray) -> None:
    """Ask for huge pages for an array of `zeros` that is not used yet and will be read at random, all over.

    It is no more than a wish: a small array has none, nor has every system.
    """
    mapping = _mapping(array)
    if mapping is not None and hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):
            mapping.madvise(mmap.MADV_HUGEPAGE)


def _mapping(array: np.ndarray) -> mmap.mmap | None:
    """Return the mapping that an array of this module begins, if there is one."""
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    owner = base.base.obj if isinstance(base.base, memoryview) else None
    return owner if isinstance(owner, mmap.mmap) and base.ctypes.data == array.ctypes.data else None


class Pool:
    """Arrays of one shape that are handed out, and used again when nobody refers to them any more.

    The words of a taken array may be anything.

    >>> pool = Pool((2, 3))
    >>> first = pool.take()
    >>> row = first[0]
    >>> del first
    >>> np.shares_memory(row, pool.take())
    False
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        # the control, which nobody but this list refers to; then the bases of what is taken, to which views refer
        self._arrays = [np.zeros(0, np.int64)]

    def take(self) -> np.ndarray:
        """Return an array that is the taker's until the last reference to it, or to a view of it, goes."""
        unused, *counts = _references(self._arrays)
        for place, count in enumerate(counts, start=1):
            if count == unused:
                return self._arrays[place].reshape(self.shape)
        array = _flat(math.prod(self.shape), np.dtype(np.int64))
        if len(self._arrays) <= _KEPT:
            self._arrays.append(array)
        return array.reshape(self.shape)


def _references(arrays: list[np.ndarray]) -> list[int]:
    """Count the references to each array.

    How many of them are the interpreter's own differs between its versions (3.14 lends references instead of counting
    them); within one call it is the same for all arrays.  So an array is free when it counts as many as the control.
    """
    return [sys.getrefcount(array) for array in arrays]
