"""Columns of terms: different terms numbered from 0, and their texts one behind the other, as Arrow has them.

Data's way: a column of ids -> **codes and a dictionary of texts** -> Arrow's columns.
Invariant: terms are numbered in the order of their first appearance, in one pass; no text becomes a Python object.
Left out: Arrow itself (retewave/io/sinks/arrow_columns.py).
"""

from __future__ import annotations

import numpy as np

from retewave.rete.terms.texts import Texts
from retewave.rete.words.bytes import BLOCK, Address, address_of, cell, prefetch, set_cell
from retewave.rete.words.jit import kernel
from retewave.rete.written.terms import copy_over

__all__ = ["encoded", "spelled"]

_ID_BITS = 32
_ID_MASK = (1 << _ID_BITS) - 1
_AHEAD = 8  # terms: their texts lie anywhere, and are fetched before their turn


@kernel
def _number(ids: Address, step: int, slots: np.ndarray, codes: np.ndarray, found: np.ndarray) -> int:
    """Set a code for each id, -1 for unbound, and take down which ids they stand for; return how many."""
    count, mask = 0, len(slots) - 1
    slots[:] = 0
    for row in range(len(codes)):
        term = cell(ids + row * step, 0)
        if term == 0:
            codes[row] = -1
            continue
        slot = term & mask  # ids are dense: terms that come together lie together
        while slots[slot] != 0 and (slots[slot] >> _ID_BITS) & _ID_MASK != term:
            slot = (slot + 1) & mask
        if slots[slot] == 0:
            slots[slot] = term << _ID_BITS | count
            found[count] = term
            count += 1
        codes[row] = slots[slot] & _ID_MASK
    return count


def encoded(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a code for each of a column's ids, -1 where it is unbound, and the ids that the codes stand for.

    >>> codes, ids = encoded(np.array([7, 0, 9, 7]))
    >>> codes.tolist(), ids.tolist()
    ([0, -1, 1, 0], [7, 9])
    """
    count = len(ids)
    codes, found = np.empty(count, np.int32), np.empty(count, np.int64)
    slots = np.empty(1 << (2 * count).bit_length(), np.int64)
    return codes, found[: _number(address_of(ids), ids.strides[0], slots, codes, found)]


@kernel
def _measure(spans: Address, ids: np.ndarray, ends: Address) -> None:
    """Set where each text ends if they lie one behind the other."""
    at = 0
    for k in range(len(ids)):
        at += cell(spans, 2 * ids[k] + 1)
        set_cell(ends, k, at)


@kernel
def _spell(arena: Address, spans: Address, ids: np.ndarray, out: Address) -> None:
    for k in range(len(ids)):
        if k + _AHEAD < len(ids):
            prefetch(arena + cell(spans, 2 * ids[k + _AHEAD]))
        out = copy_over(arena + cell(spans, 2 * ids[k]), out, cell(spans, 2 * ids[k] + 1))


def spelled(texts: Texts, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the texts of some ids one behind the other, and where each ends."""
    ends, spans = np.zeros(len(ids), np.int64), address_of(texts.spans)
    _measure(spans, ids, address_of(ends))
    size = int(ends[-1]) if len(ends) else 0
    joined = np.empty(size + BLOCK, np.uint8)
    _spell(address_of(texts.arena), spans, ids, address_of(joined))
    return joined[:size], ends
