"""The dictionary's memory and kernels: look up, intern, reclaim.

Data's way: the scanner interns through these straight from the input's bytes; `Terms` wraps them for Python.
Kernels see the dictionary as the Address of its cells: counters, and the addresses of the arrays.
Invariant: a slot holds 31 bits of a text's hash and its id, 0 is free, at most half of the slots are taken;
the caller makes sure of the room before it interns, so no kernel ever grows an array.  The place of a reclaimed text is
a hole that the next text of its capacity fills; texts move only when the arena grows.
Left out: growing (rete/terms/dictionary.py), and what a text means (rete/terms/value.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from retewave.rete.terms import kinds as kinds
from retewave.rete.terms.value import value_of
from retewave.rete.words.bytes import (
    BLOCK,
    Address,
    address_of,
    byte,
    cell,
    copy,
    copy_block,
    hash_of,
    prefetch,
    same,
    set_byte,
    set_cell,
    set_real,
)
from retewave.rete.words.jit import inlined, kernel

__all__ = [
    "CELLS",
    "FREE",
    "HOLES",
    "LIVE",
    "MARKED",
    "MARKS",
    "NEXT",
    "SEED",
    "UNIT",
    "USED",
    "TermTable",
    "connect",
    "fetch_slot",
    "fetch_span",
    "fetch_text",
    "fill_slots",
    "find_bytes",
    "find_hashed",
    "has_room",
    "hash_for",
    "intern_bytes",
    "intern_hashed",
    "intern_stretches",
    "living_bytes",
    "move_texts",
    "reclaim",
]

# The cells: counters first, then addresses and sizes of the arrays.
SEED = 0  # of the hash
NEXT = 1  # the smallest id never handed out
LIVE = 2  # how many ids have a text
FREE = 3  # how many reclaimed ids wait for reuse
USED = 4  # how many bytes of the arena are taken
_ARENA, _ARENA_SIZE, _SLOTS, _SLOT_COUNT, _IDS = 5, 6, 7, 8, 9
_HOLES, _SPANS, _HASHES, _KIND, _NUMBER, _EXACT, _PINNED, _REUSE = 10, 11, 12, 13, 14, 15, 16, 17
MARKS = 18  # during a sweep: the address of a byte for each id below MARKED, 1 where it is in use
MARKED = 19  # 0: no sweep is under way
CELLS = 20

UNIT = 16  # bytes: texts begin at multiples of it
_UNITS = 256  # a text of more is given a power of two of bytes
HOLES = _UNITS + 32  # the number of lists of holes: one list for each capacity

AHEAD = 16  # ids: their slots and texts lie anywhere, and are fetched before their turn
_ID_BITS = 32  # an entry is an id, and above it the part of the hash that leads to its slot
_ID_MASK = (1 << _ID_BITS) - 1


class TermTable(NamedTuple):
    """The dictionary's arrays; all but the first three are indexed by TermId."""

    arena: np.ndarray  # uint8: the texts, and the holes between them
    slots: np.ndarray  # int64: hash bits above, id below; a power of two of them
    holes: np.ndarray  # int64: where the first hole of each capacity starts, plus 1; a hole tells the same of the next
    spans: np.ndarray  # int64 [id, 2]: where in the arena a text starts, its size; -1 for an id without text
    hashes: np.ndarray  # int64: the text's hash
    kind: np.ndarray  # uint8: retewave.rete.terms.kinds
    number: np.ndarray  # float64: retewave.rete.terms.kinds
    exact: np.ndarray  # uint8: retewave.rete.terms.kinds
    pinned: np.ndarray  # uint8: not 0 for an id that is not to be reclaimed
    reuse: np.ndarray  # int64: a stack of reclaimed ids, cells[FREE] high; the only array not indexed by id


def connect(cells: np.ndarray, table: TermTable) -> None:
    """Tell the cells where the arrays are; a block at the arena's end stays free, so that texts are read by blocks."""
    cells[_ARENA], cells[_ARENA_SIZE] = address_of(table.arena), len(table.arena) - BLOCK
    cells[_SLOTS], cells[_SLOT_COUNT] = address_of(table.slots), len(table.slots)
    cells[_IDS] = len(table.spans)
    cells[_HOLES:MARKS] = [address_of(array) for array in table[2:]]


@inlined
def has_room(table: Address, size: int, terms: int) -> bool:
    """Tell whether these bytes and terms can be interned without growing."""
    return (
        cell(table, USED) + 2 * size + UNIT * terms <= cell(table, _ARENA_SIZE)
        and cell(table, NEXT) + terms <= cell(table, _IDS)
        and 2 * (cell(table, LIVE) + terms) <= cell(table, _SLOT_COUNT)
    )


@inlined
def _slot_of(table: Address, at: Address, size: int, hashed: int) -> int:
    """Return the slot that holds the text, or the free slot where it belongs."""
    slots, spans, arena = cell(table, _SLOTS), cell(table, _SPANS), cell(table, _ARENA)
    mask = cell(table, _SLOT_COUNT) - 1
    slot = (hashed >> _ID_BITS) & mask
    entry = cell(slots, slot)
    while entry != 0:
        if entry >> _ID_BITS == hashed >> _ID_BITS:
            term = entry & _ID_MASK
            if cell(spans, 2 * term + 1) == size and same(arena + cell(spans, 2 * term), at, size):
                return slot
        slot = (slot + 1) & mask
        entry = cell(slots, slot)
    return slot


@inlined
def _in_use(table: Address, term: int) -> int:
    """Return an id that somebody is given: a sweep that is under way spares it."""
    if term < cell(table, MARKED):
        set_byte(cell(table, MARKS) + term, 1)
    return term


@inlined
def hash_for(table: Address, at: Address, size: int) -> int:
    """Return the hash of a text as this dictionary takes it: for two look-ups of a text it is needed once."""
    return hash_of(at, size, cell(table, SEED))


@kernel
def find_bytes(table: Address, at: Address, size: int) -> int:
    """Return the id of a text, 0 if it has none."""
    return find_hashed(table, at, size, hash_for(table, at, size))


@inlined
def find_hashed(table: Address, at: Address, size: int, hashed: int) -> int:
    """Return the id of a text whose hash is known, 0 if it has none."""
    return _in_use(table, cell(cell(table, _SLOTS), _slot_of(table, at, size, hashed)) & _ID_MASK)


@inlined
def _likely_slot(table: Address, hashed: int) -> Address:
    return cell(table, _SLOTS) + 8 * ((hashed >> _ID_BITS) & (cell(table, _SLOT_COUNT) - 1))


@inlined
def fetch_slot(table: Address, hashed: int) -> None:
    """Have the slot of a hash on its way into the caches; `fetch_span` and `fetch_text` follow, each a while later."""
    prefetch(_likely_slot(table, hashed))


@inlined
def _likely_term(table: Address, hashed: int) -> int:
    """Return the id that a hash probably belongs to, 0 if there is none: what its text is, is not looked at."""
    slots, mask = cell(table, _SLOTS), cell(table, _SLOT_COUNT) - 1
    slot = (hashed >> _ID_BITS) & mask
    entry = cell(slots, slot)
    while entry != 0 and entry >> _ID_BITS != hashed >> _ID_BITS:
        slot = (slot + 1) & mask
        entry = cell(slots, slot)
    return entry & _ID_MASK


@inlined
def fetch_span(table: Address, hashed: int) -> int:
    """Prefetch the span of the text that a hash probably belongs to; return its id, 0 if there is none."""
    term = _likely_term(table, hashed)
    if term > 0:
        prefetch(cell(table, _SPANS) + 16 * term)
    return term


@inlined
def fetch_text(table: Address, term: int) -> None:
    """Prefetch the text of an id; 0 has none."""
    if term > 0:
        prefetch(cell(table, _ARENA) + cell(cell(table, _SPANS), 2 * term))


@kernel
def _new_id(table: Address) -> int:
    set_cell(table, LIVE, cell(table, LIVE) + 1)
    free = cell(table, FREE)
    if free > 0:
        set_cell(table, FREE, free - 1)
        return _in_use(table, cell(cell(table, _REUSE), free - 1))
    term = cell(table, NEXT)
    set_cell(table, NEXT, term + 1)
    return term


@kernel
def _capacity(size: int) -> int:
    """Return how many bytes a text is given: few enough capacities that a hole is soon filled again."""
    if size <= UNIT * _UNITS:
        return (size + UNIT - 1) // UNIT * UNIT
    capacity = 2 * UNIT * _UNITS
    while capacity < size:
        capacity *= 2
    return capacity


@kernel
def _list_of_holes(table: Address, capacity: int) -> Address:
    """Return where the first hole of a capacity is noted."""
    place = 0
    while capacity > UNIT * _UNITS:
        capacity //= 2
        place += 1
    return cell(table, _HOLES) + 8 * (capacity // UNIT + place - 1)


@kernel
def _new_place(table: Address, size: int) -> int:
    """Return where a new text starts: in a hole of its capacity, or behind all others."""
    capacity = _capacity(size)
    holes = _list_of_holes(table, capacity)
    hole = cell(holes, 0) - 1
    if hole >= 0:
        behind = cell(cell(table, _ARENA) + hole, 0)
        set_cell(holes, 0, behind)
        prefetch(cell(table, _ARENA) + behind)  # the next text's place tells where the one behind it is
        return hole
    start = cell(table, USED)
    set_cell(table, USED, start + capacity)
    return start


@kernel
def _leave_hole(table: Address, start: int, size: int) -> None:
    holes = _list_of_holes(table, _capacity(size))
    set_cell(cell(table, _ARENA) + start, 0, cell(holes, 0))
    set_cell(holes, 0, start + 1)


@kernel
def _describe(table: Address, term: int, at: Address, size: int, hashed: int) -> None:
    """Fill the new id's places in the arrays, and copy its text."""
    start = _new_place(table, size)
    target = cell(table, _ARENA) + start
    if BLOCK <= size <= 2 * BLOCK:  # most terms are no longer
        copy_block(at, target)
        copy_block(at + size - BLOCK, target + size - BLOCK)
    else:
        copy(at, target, size)
    set_cell(cell(table, _SPANS), 2 * term, start)
    set_cell(cell(table, _SPANS), 2 * term + 1, size)
    set_cell(cell(table, _HASHES), term, hashed)
    kind, number, exact = (kinds.IRI, 0.0, 0) if byte(at) == 60 else value_of(at, size)
    set_byte(cell(table, _KIND) + term, kind)
    set_real(cell(table, _NUMBER), term, number)
    set_byte(cell(table, _EXACT) + term, exact)


@kernel
def intern_bytes(table: Address, at: Address, size: int) -> int:
    """Return the id of a text, a new one if it has none. The caller has made sure of the room."""
    return intern_hashed(table, at, size, hash_for(table, at, size))


@inlined
def intern_hashed(table: Address, at: Address, size: int, hashed: int) -> int:
    """Return the id of a text whose hash is known, a new one if it has none. The caller has made sure of the room."""
    slots, slot = cell(table, _SLOTS), _slot_of(table, at, size, hashed)
    known = cell(slots, slot) & _ID_MASK
    if known != 0:
        return _in_use(table, known)
    term = _new_id(table)
    _describe(table, term, at, size, hashed)
    set_cell(slots, slot, (hashed >> _ID_BITS << _ID_BITS) | term)
    return term


@kernel
def intern_stretches(table: Address, joined: np.ndarray, ends: np.ndarray, ids: np.ndarray) -> bool:
    """Intern texts that lie one behind the other, each up to its end, and set their ids.

    Do nothing and say so if room is wanted first.
    """
    if not has_room(table, len(joined), len(ends)):
        return False
    at, start = np.int64(joined.ctypes.data), 0
    for i in range(len(ends)):
        ids[i] = intern_bytes(table, at + start, ends[i] - start)  # type: ignore[arg-type]
        start = ends[i]
    return True


@kernel
def living_bytes(table: Address) -> int:
    """Return how many bytes of the arena hold a text."""
    total, spans = 0, cell(table, _SPANS)
    for term in range(1, cell(table, NEXT)):
        if cell(spans, 2 * term) >= 0:
            total += _capacity(cell(spans, 2 * term + 1))
    return total


@kernel
def move_texts(table: Address, arena: Address, spans: Address) -> int:
    """Copy the texts to another arena, without the holes, and their places to other spans; return the bytes taken."""
    used, old = 0, cell(table, _SPANS)
    for term in range(1, cell(table, NEXT)):
        start, size = cell(old, 2 * term), cell(old, 2 * term + 1)
        if start >= 0:
            copy(cell(table, _ARENA) + start, arena + used, size)
            set_cell(spans, 2 * term, used)
            used += _capacity(size)
    return used


@kernel
def fill_slots(table: Address) -> None:
    """Enter every id that has a text into the empty slots."""
    slots, hashes, mask = cell(table, _SLOTS), cell(table, _HASHES), cell(table, _SLOT_COUNT) - 1
    for term in range(1, cell(table, NEXT)):
        if cell(cell(table, _SPANS), 2 * term) < 0:
            continue
        hashed = cell(hashes, term)
        slot = (hashed >> _ID_BITS) & mask
        while cell(slots, slot) != 0:
            slot = (slot + 1) & mask
        set_cell(slots, slot, (hashed >> _ID_BITS << _ID_BITS) | term)


@kernel
def _free_slot(table: Address, term: int) -> None:
    """Take an id out of its slot, and move up the ids behind it that would not be found any more.

    Where these belong their entries tell: to look at their hashes would be to wait for each.
    """
    slots, hashes, mask = cell(table, _SLOTS), cell(table, _HASHES), cell(table, _SLOT_COUNT) - 1
    gap = (cell(hashes, term) >> _ID_BITS) & mask
    while cell(slots, gap) & _ID_MASK != term:
        gap = (gap + 1) & mask
    slot = (gap + 1) & mask
    while cell(slots, slot) != 0:
        wanted = (cell(slots, slot) >> _ID_BITS) & mask
        if (slot - wanted) & mask >= (slot - gap) & mask:
            set_cell(slots, gap, cell(slots, slot))
            gap = slot
        slot = (slot + 1) & mask
    set_cell(slots, gap, 0)


@kernel
def _forget(table: Address, term: int) -> None:
    """Take an id's text and value away, and keep the id for reuse."""
    spans = cell(table, _SPANS)
    _free_slot(table, term)
    _leave_hole(table, cell(spans, 2 * term), cell(spans, 2 * term + 1))
    set_cell(spans, 2 * term, -1)
    set_cell(spans, 2 * term + 1, 0)
    set_byte(cell(table, _KIND) + term, 0)
    set_byte(cell(table, _EXACT) + term, 0)
    set_real(cell(table, _NUMBER), term, 0.0)
    set_cell(cell(table, _REUSE), cell(table, FREE), term)
    set_cell(table, FREE, cell(table, FREE) + 1)
    set_cell(table, LIVE, cell(table, LIVE) - 1)


@inlined
def _used(table: Address, term: int) -> bool:
    return byte(cell(table, MARKS) + term) != 0 or byte(cell(table, _PINNED) + term) != 0


@kernel
def reclaim(table: Address, first: int, behind: int) -> None:
    """Forget those of the ids from the first on that are neither marked nor pinned."""
    for term in range(first, behind):
        soon = term + AHEAD
        if soon < behind and not _used(table, soon):
            prefetch(_likely_slot(table, cell(cell(table, _HASHES), soon)))
            prefetch(cell(table, _ARENA) + cell(cell(table, _SPANS), 2 * soon))
        if not _used(table, term) and cell(cell(table, _SPANS), 2 * term) >= 0:
            _forget(table, term)
