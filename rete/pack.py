"""Packed tables: rows of terms as bytes that any dictionary can take in.

Data's way: rows of ids, here -> gathered -> **packed** -> the network or a disk -> rows of other ids, there.
A packed table has a header, the texts of its terms, each once, and its columns: term columns count in these texts
(0: no term), number columns are int64.  It is compressed as a whole.  Nothing of a dictionary or a process is in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from retewave.errors import SnapshotError
from retewave.rete.terms.dictionary import Terms
from retewave.rete.words.bytes import Address, address_of, cell, copy
from retewave.rete.words.jit import kernel

__all__ = ["Gathered", "gather", "pack", "unpack", "unpack_texts"]

_MAGIC = 0x31_4B_50_57_52  # "RWPK1"
_HEADER = 6  # words: magic, rows, term columns, number columns, terms, bytes of their texts
_CODEC = "lz4"


@dataclass(frozen=True)
class Gathered:
    """A table of terms, with the text of each term once."""

    places: np.ndarray  # int32[column, row]: which of the texts, counted from 1; 0: no term
    sizes: np.ndarray  # int32: of the texts, in bytes
    texts: np.ndarray  # uint8: one behind the other

    @property
    def ends(self) -> np.ndarray:
        """Where the texts end."""
        return np.cumsum(self.sizes, dtype=np.int64)

    def columns(self) -> list[pa.Array]:
        """Return the columns as Arrow's strings, null where there is no term."""
        offsets = np.zeros(len(self.sizes) + 1, np.int32)
        offsets[1:] = self.ends
        strings = pa.StringArray.from_buffers(len(self.sizes), pa.py_buffer(offsets), pa.py_buffer(self.texts))
        return [strings.take(pa.array(column - 1, mask=column == 0)) for column in self.places]


@kernel
def _number(ids: Address, across: int, along: int, places, local, found):  # type: ignore[no-untyped-def]
    """Replace ids by small numbers, in the order of their first appearance; return how many there are.

    The ids of a column are `along` words apart, the columns `across` words.
    """
    count = 0
    for column in range(places.shape[0]):
        for row in range(places.shape[1]):
            term = cell(ids, column * across + row * along)
            if term != 0 and local[term] == 0:
                found[count] = term
                count += 1
                local[term] = count
            places[column, row] = local[term]
    return count


@kernel
def _sizes(spans, found, sizes):  # type: ignore[no-untyped-def]
    """Set the sizes of the terms' texts; return their sum."""
    total = 0
    for i in range(len(found)):
        sizes[i] = cell(spans, 2 * found[i] + 1)
        total += sizes[i]
    return total


@kernel
def _copy_texts(spans, arena, found, target):  # type: ignore[no-untyped-def]
    """Copy the texts one behind the other."""
    at = target
    for i in range(len(found)):
        size = cell(spans, 2 * found[i] + 1)
        copy(arena + cell(spans, 2 * found[i]), at, size)
        at += size


def gather(terms: Terms, ids: np.ndarray) -> Gathered:
    """Return a table of ids, int64 [columns, rows], as a table of texts.

    >>> terms = Terms(seed=1)
    >>> found = gather(terms, np.array([[terms.intern(b"<a:b>"), 0], [terms.intern(b'"x"'), 1]]))
    >>> found.places.tolist(), found.ends.tolist(), found.texts.tobytes()
    ([[1, 0], [2, 1]], [5, 8], b'<a:b>"x"')
    """
    places = np.empty(ids.shape, np.int32)
    across, along = (stride // ids.itemsize for stride in ids.strides)
    with terms.lock:
        table = terms.table
        found = np.empty(min(ids.size, len(table.spans)), np.int64)
        local = np.zeros(len(table.spans), np.int32)
        found = found[: _number(address_of(ids), across, along, places, local, found)]
        sizes = np.empty(len(found), np.int32)
        total = int(_sizes(address_of(table.spans), found, sizes))
        texts = np.empty(total + 64, np.uint8)
        _copy_texts(address_of(table.spans), address_of(table.arena), found, address_of(texts))
    return Gathered(places, sizes, texts[:total])


def pack(terms: Terms, ids: np.ndarray, numbers: Sequence[np.ndarray]) -> bytes:
    """Pack a table: `ids` is int64 [columns, rows], its terms; `numbers` are columns of int64.

    >>> here, there = Terms(seed=1), Terms(seed=2)
    >>> packed = pack(here, np.array([[here.intern(b"<a:b>"), 0]]), [np.array([7, 8])])
    >>> ids, numbers = unpack(there, packed)
    >>> there.text(ids[0, 0]), ids[0].tolist(), numbers.tolist()
    (b'<a:b>', [1, 0], [[7, 8]])
    """
    table = gather(terms, ids)
    columns, rows = ids.shape
    header = np.array([_MAGIC, rows, columns, len(numbers), len(table.sizes), len(table.texts)], np.int64)
    parts: list[np.ndarray] = [
        header,
        *(np.ascontiguousarray(column, np.int64) for column in numbers),
        table.places,
        table.sizes,
        table.texts,
    ]
    raw = b"".join(part.data for part in parts)
    packed: bytes = pa.compress(raw, codec=_CODEC, asbytes=True)
    return len(raw).to_bytes(8, "little") + packed


def unpack(terms: Terms, packed: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Take a packed table in: its ids [columns, rows] and its numbers [columns, rows]."""
    table, numbers = unpack_texts(packed)
    ids = np.zeros(len(table.sizes) + 1, np.int64)
    ids[1:] = terms.intern_stretches(table.texts, table.ends)
    return ids[table.places], numbers


def unpack_texts(packed: bytes) -> tuple[Gathered, np.ndarray]:
    """Return a packed table's terms, and its numbers [columns, rows]."""
    raw = np.frombuffer(pa.decompress(packed[8:], int.from_bytes(packed[:8], "little"), codec=_CODEC), np.uint8)
    magic, rows, columns, number_columns, count, total = raw[: 8 * _HEADER].view(np.int64).tolist()
    if magic != _MAGIC:
        raise SnapshotError("these bytes are no packed rows", hint="another version of retewave may have written them")
    at = 8 * _HEADER
    numbers = raw[at : at + 8 * rows * number_columns].view(np.int64).reshape(number_columns, rows)
    at += 8 * rows * number_columns
    places = raw[at : at + 4 * rows * columns].view(np.int32).reshape(columns, rows)
    at += 4 * rows * columns
    sizes = raw[at : at + 4 * count].view(np.int32)
    at += 4 * count
    return Gathered(places, sizes, raw[at : at + total]), numbers
