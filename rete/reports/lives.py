"""Lives: the different solutions that are in a window, each with the time until which it lives.

Data's way: solutions of the network -> **lives** -> what has come and what has gone since the last report -> views.
A solution lives as long as its start is in the window.  One that comes again takes the later start and makes no row.
Rows hang in *cells*, by their starts: a cell is a stretch of time, and cells are used in a ring.  A row whose start has
moved stays where it hangs; it is hung anew when its cell is over.  So a row that leaves costs a few words, and one that
comes again costs a look-up.
Invariant: a row that is alive hangs in the cell of its start or of an earlier one; static rows hang nowhere.
"""

from __future__ import annotations

import numpy as np

from retewave.rete.memory.arena import mix
from retewave.rete.words.bare import prefetch, words
from retewave.rete.words.jit import inlined, kernel
from retewave.rete.words.pages import extended, in_huge_pages, zeros
from retewave.windows.intervals import BEFORE_ALL, STATIC_START

__all__ = ["ROW", "ROW_TERMS", "Lives", "forget_place", "place_of", "place_of_row", "roomy", "tag_of"]

ROW_START, ROW_NEXT, ROW_TERMS = 0, 1, 2  # words of a row: its latest start, the next row of its cell, its terms
_TOP, _FREE, _COUNT, _CELL = 0, 1, 2, 3  # words of the counts: the first row never used, a free row, rows, next cell
_TAG = (1 << 31) - 1  # mask of the part of a hash that stands in the table, behind the row's number
ROW = (1 << 32) - 1  # mask of a row's number there
_AHEAD = 16  # rows whose places are fetched before the first is looked at
_FEWEST = 64
_CELLS = 1 << 12  # at most, or one more


@inlined
def tag_of(own, at, columns):  # type: ignore[no-untyped-def]
    """Return the part of the hash of some words that a table keeps."""
    h = 0
    for c in range(columns):
        h = mix(h, own[at + c])
    return h & _TAG


@inlined
def place_of(table, mask, tag, own, at, width, others, there, columns):  # type: ignore[no-untyped-def]
    """Return the place in a table of the row whose words from `at` on are those of `others` from `there` on.

    If there is none, it is the place where such a row would go.  A row has `width` words.
    """
    place = tag & mask
    while table[place] != 0:
        entry = table[place]
        if entry >> 32 == tag:
            row, same = (entry & ROW) * width + at, True
            for c in range(columns):
                same = same and own[row + c] == others[there + c]
            if same:
                break
        place = (place + 1) & mask
    return place


@inlined
def place_of_row(table, mask, tag, row):  # type: ignore[no-untyped-def]
    """Return the place of a row that is in a table."""
    place = tag & mask
    while table[place] & ROW != row:
        place = (place + 1) & mask
    return place


@inlined
def forget_place(table, mask, place):  # type: ignore[no-untyped-def]
    """Empty a place; those behind it that would not be found any more move up."""
    hole = place
    at = (hole + 1) & mask
    while table[at] != 0:
        home = (table[at] >> 32) & mask
        if ((at - home) & mask) >= ((at - hole) & mask):
            table[hole] = table[at]
            hole = at
        at = (at + 1) & mask
    table[hole] = 0


@kernel
def _entered_anew(table, larger):  # type: ignore[no-untyped-def]
    """Enter what a table has into a larger one, which is empty."""
    mask = larger.size - 1
    for entry in table:
        if entry != 0:
            place = (entry >> 32) & mask
            while larger[place] != 0:
                place = (place + 1) & mask
            larger[place] = entry


def roomy(count: int, table: np.ndarray) -> np.ndarray:
    """Return `table`, or a larger table with the same rows, that has room for `count` rows."""
    if 2 * count <= len(table):
        return table
    size = max(_FEWEST, len(table))
    while size < 4 * count:
        size *= 2
    larger = zeros((size,))
    in_huge_pages(larger)
    _entered_anew(table, larger)
    return larger


@inlined
def _hang(rows, at, row, cells, ring, stretch, origin):  # type: ignore[no-untyped-def]
    """Hang a row, whose words are at a place, into the cell of its start."""
    cell = ((rows[at] - 1 - origin) // stretch) % ring
    rows[at + ROW_NEXT] = cells[cell]
    cells[cell] = row


@inlined
def _new_row(rows, counts, width, new, at):  # type: ignore[no-untyped-def]
    """Return a row with the start and the terms of a solution."""
    row = counts[_FREE]
    if row != 0:
        counts[_FREE] = rows[row * width + ROW_NEXT]
    else:
        row = counts[_TOP]
        counts[_TOP] += 1
    counts[_COUNT] += 1
    rows[row * width] = new[at]
    for c in range(ROW_TERMS, width):
        rows[row * width + c] = new[at + c]
    return row


@inlined
def _tags(table, mask, new, first, count, width, tags):  # type: ignore[no-untyped-def]
    """Write the tags of some solutions, and have their places fetched."""
    for k in range(count):
        tags[k] = tag_of(new, (first + k) * width + ROW_TERMS, width - ROW_TERMS)
        prefetch(table, tags[k] & mask)


@kernel
def _enter(all_rows, row_counts, places, all_cells, stretch, origin, came, low, high, touched, waiting):  # type: ignore[no-untyped-def]
    """Take solutions of start, end and terms.

    Write the rows that are new into `touched`, those that live longer with a minus, and the places of solutions that
    end behind `high` into `waiting`; return the number of both.
    """
    rows, table, cells, new, counts = words(all_rows), words(places), words(all_cells), words(came), words(row_counts)
    width, mask, ring, all_tags = all_rows.shape[1], places.size - 1, all_cells.size, np.zeros(_AHEAD, np.int64)
    tags, found, later = words(all_tags), 0, 0
    for i in range(came.shape[0]):
        if i % _AHEAD == 0:
            _tags(table, mask, new, i, min(_AHEAD, came.shape[0] - i), width, tags)
        at, tag = i * width, tags[i % _AHEAD]
        if new[at + 1] > high:
            waiting[later] = i
            later += 1
        if new[at + 1] > high or new[at] <= low:
            continue
        place = place_of(table, mask, tag, rows, ROW_TERMS, width, new, at + ROW_TERMS, width - ROW_TERMS)
        row = table[place] & ROW
        if row == 0:
            row = _new_row(rows, counts, width, new, at)
            table[place] = (tag << 32) | row
            if stretch != 0 and new[at] != STATIC_START:
                _hang(rows, row * width, row, cells, ring, stretch, origin)
            touched[found] = row
            found += 1
        elif rows[row * width] < new[at]:
            rows[row * width] = new[at]
            touched[found] = -row
            found += 1
    return found, later


@kernel
def _leave(all_rows, counts, places, all_cells, stretch, origin, low, gone):  # type: ignore[no-untyped-def]
    """Take out the rows whose start is at `low` or before; return how many they are.  They keep their words."""
    rows, table, cells = words(all_rows), words(places), words(all_cells)
    width, mask, ring, left = all_rows.shape[1], places.size - 1, all_cells.size, 0
    last = (low - 1 - origin) // stretch
    for cell in range(max(counts[_CELL], last - ring + 1), last + 1):
        row, cells[cell % ring] = cells[cell % ring], 0
        while row != 0:
            at = row * width
            following = rows[at + ROW_NEXT]
            if rows[at] > low:
                _hang(rows, at, row, cells, ring, stretch, origin)
            else:
                place = place_of_row(table, mask, tag_of(rows, at + ROW_TERMS, width - ROW_TERMS), row)
                forget_place(table, mask, place)
                gone[left] = row
                left += 1
            row = following
    counts[_CELL] = last + 1 if (low - origin) % stretch == 0 else last
    counts[_COUNT] -= left
    return left


@kernel
def _free(rows, counts, gone):  # type: ignore[no-untyped-def]
    """Give rows back that have left."""
    for i in range(gone.size - 1, -1, -1):
        rows[gone[i], ROW_START] = BEFORE_ALL
        rows[gone[i], ROW_NEXT] = counts[_FREE]
        counts[_FREE] = gone[i]


class Lives:
    """The different solutions in one window."""

    def __init__(self, columns: int, span: int, step: tuple[int, int] | None) -> None:
        """Make room for solutions of `columns` terms.

        `span`: how far apart the starts of two that live can be, 0 for any distance: then none leaves.  `step`: the
        lower bound of the window is always a multiple of the first, counted from the second.
        """
        self.rows = np.zeros((_FEWEST, ROW_TERMS + columns), dtype=np.int64)
        self.table = np.zeros(_FEWEST, dtype=np.int64)
        self.counts = np.array([1, 0, 0, BEFORE_ALL], dtype=np.int64)
        width, self.origin = step or (1, 0)
        self.stretch = width * max(1, span // width // _CELLS) if span else 0
        wanted = span // self.stretch + 2 if span else 1
        self.cells = np.zeros(wanted, dtype=np.int64)

    def __len__(self) -> int:
        return int(self.counts[_COUNT])

    def enter(self, came: np.ndarray, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
        """Take solutions of start, end and terms that a window may hold.

        Return the rows that were touched (with a minus, if they were there already and live longer now), and the places
        of the solutions that end behind `high`.
        """
        self._make_room(len(came))
        touched, waiting = np.empty(len(came), dtype=np.int64), np.empty(len(came), dtype=np.int64)
        found, later = _enter(
            self.rows, self.counts, self.table, self.cells, self.stretch, self.origin, np.ascontiguousarray(came), low,
            high, touched, waiting,
        )  # fmt: skip
        return touched[:found], waiting[:later]

    def leave(self, low: int) -> np.ndarray:
        """Return the rows that are in the window no more; they keep their words until they are given back."""
        if not self.stretch or low <= BEFORE_ALL:
            return np.empty(0, dtype=np.int64)
        gone = np.empty(len(self), dtype=np.int64)
        left = _leave(self.rows, self.counts, self.table, self.cells, self.stretch, self.origin, low, gone)
        return gone[:left].copy() if 2 * left < len(gone) else gone[:left]

    def give_back(self, gone: np.ndarray) -> None:
        """Let rows that have left be used again."""
        _free(self.rows, self.counts, gone)

    def _make_room(self, count: int) -> None:
        needed = int(self.counts[_TOP]) + count
        if needed > len(self.rows):
            self.rows = extended(self.rows, max(needed, len(self.rows) * 3 // 2))
        self.table = roomy(len(self) + count, self.table)

    @property
    def there(self) -> np.ndarray:
        """The rows that are alive."""
        top = int(self.counts[_TOP])
        return np.flatnonzero(self.rows[1:top, ROW_START] != BEFORE_ALL) + 1

    def terms(self, rows: np.ndarray) -> np.ndarray:
        """Return the terms of some rows."""
        return self.rows[rows, ROW_TERMS:]

    def all(self) -> np.ndarray:
        """Return start, end and terms of all, as `enter` takes them: an end that is no later than the last one."""
        found = self.rows[self.there]
        starts = found[:, ROW_START]
        ends = np.where(starts == STATIC_START, BEFORE_ALL, starts)
        return np.column_stack([starts, ends, found[:, ROW_TERMS:]])
