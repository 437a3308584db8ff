"""The dictionary: the text of a term <-> its id, with the values of literals beside it.

Data's way: bytes -> reader -> **dictionary** -> rows of ids -> … -> matches, decoded here again.
Invariant: two texts are equal exactly when their ids are; the id of a living term never changes.
Left out: what makes a text canonical (the reader and retewave/io/rdf.py see to it), and which terms are
still in use (the caller of `sweep` knows).
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

import numpy as np

from retewave.errors import SnapshotError, UsageError
from retewave.rete.terms.kinds import Values
from retewave.rete.terms.table import (
    CELLS,
    FREE,
    HOLES,
    LIVE,
    MARKED,
    MARKS,
    NEXT,
    SEED,
    UNIT,
    USED,
    TermTable,
    connect,
    fill_slots,
    find_bytes,
    has_room,
    intern_bytes,
    intern_stretches,
    living_bytes,
    move_texts,
    reclaim,
)
from retewave.rete.terms.texts import Texts
from retewave.rete.words.bytes import BLOCK, Address, address_of
from retewave.rete.words.pages import extended, grown, in_huge_pages, zeros

__all__ = ["Terms"]

_FIRST_IDS = 1 << 12
_FIRST_BYTES = 1 << 18
_GROWN_IDS = 1 << 20  # the first growth jumps to this size; pages that are not used cost nothing
_GROWN_BYTES = 1 << 26
_SWEEP_FROM = 1 << 16  # with fewer terms a sweep is not worth its time
_FOR_EVER, _WHILE_USED = 1, 2  # why a term is pinned
_WORTHWHILE = 16  # a sweep that reclaims less than one term in this many was not worth its time
_LAST_ID = (1 << 32) - 1
_BY_ID = TermTable._fields[3:]
_STATE = ("arena", "holes", *_BY_ID, "cells", "sweeps")


class Terms:
    """A dictionary of terms.

    One thread interns at a time (a lock sees to it); texts and values may be read meanwhile, for every id
    that was handed out before the arrays were fetched. `sweep` wants to be alone.

    >>> terms = Terms(seed=1)
    >>> terms.intern(b"<http://example.org/a>"), terms.intern(b'"5"'), terms.intern(b'"5"')
    (1, 2, 2)
    >>> terms.text(2)
    b'"5"'
    """

    def __init__(self, seed: int | None = None) -> None:
        chosen = secrets.randbits(63) if seed is None else seed & ((1 << 63) - 1)
        self.lock = threading.Lock()  # held by the thread that interns: this class or the scanner
        self.generation = 0  # the number of sweeps
        self._swept_to = 0  # how many terms the last sweep left
        self.worthwhile = True  # the last sweep has found something worth its while
        self._pinned = 0  # how many terms are pinned: no sweep would reclaim them
        self._users: dict[int, int] = {}  # how often a term is kept and not let go
        self._marks = np.zeros(0, np.uint8)  # of the sweep that is under way
        self._begun_with = self._left = 0  # terms before the last sweep, and those of them that it left
        self._holders: list[Callable[[], np.ndarray]] = []
        self._cells = np.zeros(CELLS, np.int64)  # counters and addresses, for the kernels
        self._cells[SEED], self._cells[NEXT] = chosen, 1
        self.address: Address = address_of(self._cells)  # what a kernel calls the dictionary; it never changes
        self._connect(_empty_table())

    def __len__(self) -> int:
        return int(self._cells[LIVE])

    @property
    def values(self) -> Values:
        """The side table of values, as it is now: later ids need a later look."""
        return self._values

    @property
    def table(self) -> TermTable:
        """The arrays as they are now; growing and sweeping replace them, so hold the lock meanwhile."""
        return self._table

    @property
    def is_swept(self) -> bool:
        """Whether a sweep is under way."""
        return bool(self._cells[MARKED])

    @property
    def nbytes(self) -> int:
        """The size of all arrays in bytes."""
        return sum(array.nbytes for array in self._table)

    def intern(self, text: bytes) -> int:
        """Return the id of a text, a new one if it has none yet."""
        with self.lock:
            self.reserve(len(text), 1)
            return int(intern_bytes(self.address, address_of(_bytes_of(text)), len(text)))

    def intern_many(self, texts: Sequence[bytes]) -> np.ndarray:
        """Return the ids of many texts, in one go."""
        if not all(texts):
            raise UsageError("a term's text cannot be empty")
        joined = np.frombuffer(bytearray().join(texts), np.uint8)  # Numba takes a while over arrays that are read-only
        return self.intern_stretches(joined, np.array(list(accumulate(map(len, texts))), np.int64))

    def intern_stretches(self, joined: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Return the ids of texts that lie one behind the other, each up to its end."""
        ids = np.empty(len(ends), np.int64)
        with self.lock:
            while not intern_stretches(self.address, joined, ends, ids):
                self.reserve(len(joined), len(ends))
        return ids

    def find(self, text: bytes) -> int:
        """Return the id of a text, 0 if it has none.

        >>> Terms(seed=1).find(b"<http://example.org/never-seen>")
        0
        """
        with self.lock:
            return int(find_bytes(self.address, address_of(_bytes_of(text)), len(text)))

    def known(self, ids: np.ndarray) -> np.ndarray:
        """Return for each number whether it is the id of a term; a sweep that is under way spares these terms."""
        spans = self._table.spans
        inside = (ids > 0) & (ids < len(spans))
        if self._cells[MARKED]:
            self._marks[ids[inside & (ids < len(self._marks))]] = 1
        known: np.ndarray = inside & (spans[np.where(inside, ids, 0), 1] > 0)
        return known

    def text(self, term: int) -> bytes:
        """Return the text of an id."""
        return self.by_id.text(term)

    def texts(self, ids: Iterable[int]) -> list[bytes]:
        """Return the texts of many ids."""
        return self.by_id.texts(ids)

    def pin(self, ids: Iterable[int] | np.ndarray) -> None:
        """Keep these ids for ever: no sweep reclaims them."""
        chosen = ids if isinstance(ids, np.ndarray) else np.array(list(ids), np.int64)
        with self.lock:
            pinned = self._table.pinned
            pinned[chosen] |= _FOR_EVER
            self._pinned = int(np.count_nonzero(pinned[: int(self._cells[NEXT])]))

    def keep(self, term: int) -> None:
        """Pin a term until it is let go as often as it was kept."""
        with self.lock:
            users = self._users.get(term, 0)
            self._users[term] = users + 1
            if users == 0:
                self._pinned += self._table.pinned[term] == 0
                self._table.pinned[term] |= _WHILE_USED

    def let_go(self, terms: Iterable[int]) -> None:
        """Undo one `keep` of each: a sweep may reclaim the terms that have no other user and are not pinned for ever.

        >>> terms = Terms(seed=1)
        >>> constant = terms.intern(b"<http://example.org/T>")
        >>> terms.keep(constant)
        >>> terms.sweep(np.zeros(0, np.uint8))
        0
        >>> terms.let_go([constant])
        >>> terms.sweep(np.zeros(0, np.uint8))
        1
        """
        with self.lock:
            for term in terms:
                users = self._users.pop(term) - 1
                if users:
                    self._users[term] = users
                else:
                    self._table.pinned[term] &= ~_WHILE_USED & 0xFF
                    self._pinned -= self._table.pinned[term] == 0

    def grow_ahead(self) -> None:
        """Double the room, so that the next terms do not wait for the arrays to grow."""
        with self.lock:
            size, live = int(self._cells[USED]) // 2, int(self._cells[LIVE])  # it takes bytes for twice as many
            self.reserve(size, live, ahead=True)

    def hold(self, held: Callable[[], np.ndarray]) -> None:
        """Let every sweep spare the ids that the callable returns then (of rows that wait somewhere)."""
        self._holders.append(held)

    def release(self, held: Callable[[], np.ndarray]) -> None:
        """Undo `hold`."""
        self._holders.remove(held)

    def due(self, times: int = 2) -> bool:
        """Tell whether a sweep is due: the terms that are not pinned are `times` those that the last sweep left.

        They must also outnumber the pinned terms: a sweep takes a byte for each of those, and reclaims none.
        """
        return self.passing >= max(_SWEEP_FROM, times * (self._swept_to - self._pinned), self._pinned)

    @property
    def passing(self) -> int:
        """How many terms are not pinned."""
        return len(self) - self._pinned

    def first_passing(self) -> int:
        """Return the first id that is not pinned; terms that are loaded before the stream have the ids before it."""
        passing = self._table.pinned[: int(self._cells[NEXT])] == 0
        passing[:1] = False  # no term has the id 0
        return int(passing.argmax()) if passing.any() else len(passing)

    def in_use(self, growth: float) -> float:
        """Return the terms in use, if those that the last sweep left and that are not pinned grew by a factor."""
        return self._pinned + growth * max(0, self._swept_to - self._pinned)

    def sweep(self, marks: np.ndarray) -> int:
        """Reclaim every id that is neither marked, nor pinned, nor held; return how many those were.

        `marks` is indexed by id; an id beyond it is unmarked. Call it when nobody else works with the terms.
        """
        all_marks = self.begin_sweep()
        known = min(len(marks), len(all_marks))
        all_marks[:known] |= marks[:known]
        freed = self.reclaim(0, len(all_marks))
        self.end_sweep()
        return len(freed)

    def begin_sweep(self) -> np.ndarray:
        """Begin a sweep that takes its time: return a mark for each id, to be set before `reclaim` comes to it.

        Held terms are marked already; terms that are interned or found from now on are marked at that moment.
        """
        with self.lock:
            marks = np.zeros(int(self._cells[NEXT]), np.uint8)
            for held in list(self._holders):  # a reader that was given up lets go of it when it likes
                marks[held()] = 1
            self._marks = marks
            self._cells[MARKS], self._cells[MARKED] = address_of(marks), len(marks)
            self._begun_with = self._left = len(self)
        return marks

    def reclaim(self, first: int, count: int) -> np.ndarray:
        """Of the `count` ids from the first on, reclaim those that are neither marked nor pinned; return them."""
        with self.lock:
            free = int(self._cells[FREE])
            reclaim(self.address, max(first, 1), min(first + count, len(self._marks)))
            freed = self._table.reuse[free : int(self._cells[FREE])].copy()
        self._left -= len(freed)
        return freed

    def end_sweep(self) -> None:
        """End a sweep: all ids have been reclaimed that were neither marked nor pinned."""
        self.leave_sweep()
        self._swept_to = self._left
        self.worthwhile = _WORTHWHILE * (self._begun_with - self._left) >= self._begun_with - self._pinned
        self.generation += 1

    def leave_sweep(self) -> None:
        """Give a sweep up, wherever it is."""
        with self.lock:
            self._cells[MARKED] = 0

    def _connect(self, table: TermTable) -> None:
        """Take over arrays that have grown."""
        connect(self._cells, table)
        self._table = table
        self._values = Values(table.kind, table.number, table.exact, table.hashes, table.spans.reshape(-1), table.arena)
        self.by_id = Texts(table.arena, table.spans, table.kind, table.number, table.exact)  # as it is now, too

    def reserve(self, size: int, terms: int, *, ahead: bool = False) -> None:
        """Make room for these bytes and terms; ahead of a stream there is time for it. The caller holds the lock."""
        if has_room(self.address, size, terms):
            return
        ids, live = int(self._cells[NEXT]), int(self._cells[LIVE])
        if ids + terms > _LAST_ID:
            raise UsageError("the dictionary is full: it holds at most 4,294,967,295 terms")
        made: dict[str, np.ndarray] = {}
        if ids + terms > len(self._table.spans):
            rows = _power_of_two(ids + terms, max(4 * len(self._table.spans), _GROWN_IDS))
            made |= {name: extended(getattr(self._table, name), rows) for name in _BY_ID}
        if 2 * (live + terms) > len(self._table.slots):
            made["slots"] = zeros((_power_of_two(2 * (live + terms), 4 * len(self._table.slots)),))
            if ahead:
                in_huge_pages(made["slots"])
            made["slots"].fill(0)  # a page that is first read is mapped twice; the second mapping interrupts all cores
        self._connect(self._table._replace(**made))
        if "slots" in made:
            fill_slots(self.address)
        most = 2 * size + UNIT * terms  # the most room that these bytes can take
        if int(self._cells[USED]) + most > len(self._table.arena) - BLOCK:
            self._move_texts(most)

    def _move_texts(self, room: int) -> None:
        """Copy the texts to a new arena without holes, which has twice their size, and this room beside."""
        size = 2 * int(living_bytes(self.address)) + room + BLOCK
        arena = zeros((_power_of_two(size, _GROWN_BYTES),), np.uint8)
        old = self._table.spans  # a thread that reads a text meanwhile has the old arena and the old spans
        spans = grown(old[: int(self._cells[NEXT])], len(old))
        used = int(move_texts(self.address, address_of(arena), address_of(spans)))
        self._connect(self._table._replace(arena=arena, spans=spans, holes=np.zeros(HOLES, np.int64)))
        self._cells[USED] = used

    def state(self) -> dict[str, np.ndarray]:
        """Return the dictionary as a few arrays, for a snapshot."""
        with self.lock:
            ids, used = int(self._cells[NEXT]), int(self._cells[USED])
            state = {name: getattr(self._table, name)[:ids].copy() for name in _BY_ID}
            state["arena"], state["holes"] = self._table.arena[:used].copy(), self._table.holes.copy()
            state["cells"] = self._cells[: USED + 1].copy()
            state["sweeps"] = np.array([self.generation, self._swept_to])
        return state

    @classmethod
    def from_state(cls, state: dict[str, np.ndarray]) -> Terms:
        """Return a dictionary that continues where the state was taken.

        >>> old = Terms(seed=1)
        >>> old.intern(b'"5"') == Terms.from_state(old.state()).find(b'"5"')
        True
        """
        missing = [name for name in _STATE if name not in state]
        if missing:
            raise SnapshotError(f"the dictionary's state lacks {', '.join(missing)}")
        terms = cls(int(state["cells"][SEED]))
        terms.reserve(int(state["cells"][USED]), int(state["cells"][NEXT]))
        for name in ("arena", "holes", *_BY_ID):
            getattr(terms._table, name)[: len(state[name])] = state[name]
        terms._cells[: USED + 1] = state["cells"]
        fill_slots(terms.address)
        terms._table.pinned[:] &= _FOR_EVER  # the users of the other terms ask for them again
        terms._pinned = int(np.count_nonzero(terms._table.pinned))
        terms.generation, terms._swept_to = (int(number) for number in state["sweeps"])
        return terms


def _power_of_two(least: int, floor: int) -> int:
    return max(floor, 1 << max(least - 1, 0).bit_length())


def _bytes_of(text: bytes) -> np.ndarray:
    if not text:
        raise UsageError("a term's text cannot be empty")
    return np.frombuffer(text, np.uint8)


def _empty_table() -> TermTable:
    return TermTable(
        arena=np.zeros(_FIRST_BYTES, np.uint8),
        slots=np.zeros(2 * _FIRST_IDS, np.int64),
        holes=np.zeros(HOLES, np.int64),
        spans=np.zeros((_FIRST_IDS, 2), np.int64),
        hashes=np.zeros(_FIRST_IDS, np.int64),
        kind=np.zeros(_FIRST_IDS, np.uint8),
        number=np.zeros(_FIRST_IDS, np.float64),
        exact=np.zeros(_FIRST_IDS, np.uint8),
        pinned=np.zeros(_FIRST_IDS, np.uint8),
        reuse=np.zeros(_FIRST_IDS, np.int64),
    )
