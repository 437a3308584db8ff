"""The dictionary's arrays and kernels: look up, intern, reclaim.

Data's way: the scanner interns through these straight from the input's bytes; `Terms` wraps them for Python.
Invariant: a slot holds 31 bits of a text's hash and its id, 0 is free, at most half of the slots are taken; the
caller reserves room before it interns, so no kernel ever grows an array.
Left out: growing (rete/terms.py), and what a text means (rete/term_values.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from retewave.rete.jit import kernel
from retewave.rete.term_bytes import copy, hash_of, same
from retewave.rete.term_values import value_of

__all__ = [
    "COUNTERS",
    "FREE",
    "LIVE",
    "NEXT",
    "SEED",
    "USED",
    "Table",
    "fill_slots",
    "find_bytes",
    "has_room",
    "intern_bytes",
    "intern_stretches",
    "reclaim",
]

SEED = 0  # of the hash
NEXT = 1  # the smallest id never handed out
LIVE = 2  # how many ids have a text
FREE = 3  # how many reclaimed ids wait for reuse
USED = 4  # how many bytes of the arena are taken
COUNTERS = 5  # how many counters there are

_ID_BITS = 32
_ID_MASK = (1 << _ID_BITS) - 1


class Table(NamedTuple):
    """The dictionary as arrays; all but `arena`, `slots` and `counters` are indexed by TermId."""

    arena: np.ndarray  # uint8: the texts, one behind the other
    slots: np.ndarray  # int64: hash bits above, id below; a power of two of them
    spans: np.ndarray  # int64 [id, 2]: where in the arena a text starts, its size; -1 for an id without text
    hashes: np.ndarray  # int64: the text's hash
    kind: np.ndarray  # uint8: retewave.rete.values
    number: np.ndarray  # float64: retewave.rete.values
    exact: np.ndarray  # uint8: retewave.rete.values
    pinned: np.ndarray  # uint8: 1 for an id that is never reclaimed
    free: np.ndarray  # int64: a stack of reclaimed ids; its height is counters[FREE]
    counters: np.ndarray  # int64: SEED, NEXT, LIVE, FREE, USED


@kernel
def has_room(table: Table, size: int, terms: int) -> bool:
    """Tell whether so many bytes and terms can be interned without growing."""
    counters = table.counters
    return (
        counters[USED] + size <= len(table.arena)
        and counters[NEXT] + terms <= len(table.spans)
        and 2 * (counters[LIVE] + terms) <= len(table.slots)
    )


@kernel
def _slot_of(table: Table, text: np.ndarray, at: int, size: int, hashed: int) -> int:
    """Return the slot that holds the text, or the free slot where it belongs."""
    slots, spans = table.slots, table.spans
    mask = len(slots) - 1
    slot = hashed & mask
    entry = slots[slot]
    while entry != 0:
        if entry >> _ID_BITS == hashed >> _ID_BITS:
            span = spans[entry & _ID_MASK]
            if span[1] == size and same(table.arena, span[0], text, at, size):
                return slot
        slot = (slot + 1) & mask
        entry = slots[slot]
    return slot


@kernel
def find_bytes(table: Table, text: np.ndarray, at: int, size: int) -> int:
    """Return the id of a text, 0 if it has none."""
    hashed = hash_of(text, at, size, table.counters[SEED])
    return table.slots[_slot_of(table, text, at, size, hashed)] & _ID_MASK


@kernel
def _new_id(table: Table) -> int:
    counters = table.counters
    counters[LIVE] += 1
    if counters[FREE] > 0:
        counters[FREE] -= 1
        return table.free[counters[FREE]]
    counters[NEXT] += 1
    return counters[NEXT] - 1


@kernel
def _describe(table: Table, term: int, text: np.ndarray, at: int, size: int, hashed: int) -> None:
    """Fill the new id's rows of the arrays, and copy its text."""
    start = table.counters[USED]
    copy(text, at, table.arena, start, size)
    table.counters[USED] = start + size
    table.spans[term, 0] = start
    table.spans[term, 1] = size
    table.hashes[term] = hashed
    table.kind[term], table.number[term], table.exact[term] = value_of(text, at, size)


@kernel
def intern_bytes(table: Table, text: np.ndarray, at: int, size: int) -> int:
    """Return the id of a text, a new one if it has none. The caller has made sure of the room."""
    hashed = hash_of(text, at, size, table.counters[SEED])
    slot = _slot_of(table, text, at, size, hashed)
    if table.slots[slot] != 0:
        return table.slots[slot] & _ID_MASK
    term = _new_id(table)
    _describe(table, term, text, at, size, hashed)
    table.slots[slot] = (hashed >> _ID_BITS << _ID_BITS) | term
    return term


@kernel
def intern_stretches(table: Table, text: np.ndarray, ends: np.ndarray, ids: np.ndarray) -> None:
    """Intern texts that lie one behind the other, each up to its end, and set their ids."""
    at = 0
    for i in range(len(ends)):
        ids[i] = intern_bytes(table, text, at, ends[i] - at)
        at = ends[i]


@kernel
def fill_slots(table: Table) -> None:
    """Enter every id that has a text into the empty slots."""
    mask = len(table.slots) - 1
    for term in range(1, table.counters[NEXT]):
        if table.spans[term, 0] < 0:
            continue
        slot = table.hashes[term] & mask
        while table.slots[slot] != 0:
            slot = (slot + 1) & mask
        table.slots[slot] = (table.hashes[term] >> _ID_BITS << _ID_BITS) | term


@kernel
def reclaim(table: Table, marks: np.ndarray, arena: np.ndarray) -> int:
    """Free the ids that are neither marked nor pinned, copy the other texts to the new arena, return how many.

    The slots and the arena of the table are out of date afterwards.
    """
    counters, spans = table.counters, table.spans
    freed, used = 0, 0
    for term in range(1, counters[NEXT]):
        start, size = spans[term, 0], spans[term, 1]
        if start < 0:
            continue
        if table.pinned[term] or (term < len(marks) and marks[term]):
            copy(table.arena, start, arena, used, size)
            spans[term, 0] = used
            used += size
            continue
        spans[term, 0], spans[term, 1] = -1, 0
        table.kind[term], table.number[term], table.exact[term] = 0, 0.0, 0
        table.free[counters[FREE]] = term
        counters[FREE] += 1
        freed += 1
    counters[LIVE] -= freed
    counters[USED] = used
    return freed
