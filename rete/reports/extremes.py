"""Extremes: the least or the greatest number of each group in a sliding window.

Data's way: values that come, with their starts -> **extremes** -> MIN and MAX of a report (`rete/reports/groups.py`).
Of two values, the one that is no less extreme and lives no less long makes the other needless, so that is dropped.
What is left of a group is a list of cells: the later the start, the less extreme the value.  The oldest cell that is
still in the window has the extreme.  A value that comes again is one more value: no list is asked which rows are there.
Invariant: along a list from the newest cell to the oldest, starts fall, and values become more extreme.
"""

from __future__ import annotations

import numpy as np

from retewave.rete.words.jit import inlined

__all__ = ["CELL_TOP", "CELL_WORDS", "drop_until", "note_value"]

CELL_START, CELL_TERM, CELL_NEWER, CELL_OLDER, CELL_WORDS = 0, 1, 2, 3, 4
NEWEST, OLDEST = 0, 1  # words of a list's head
CELL_TOP, CELL_FREE = 0, 1  # words of the counts: the first cell never used, a free one


@inlined
def _take_out(cells, counts, heads, head, cell):  # type: ignore[no-untyped-def]
    """Take a cell out of its list, and let it be used again."""
    at = cell * CELL_WORDS
    newer, older = cells[at + CELL_NEWER], cells[at + CELL_OLDER]
    if newer != 0:
        cells[newer * CELL_WORDS + CELL_OLDER] = older
    else:
        heads[head + NEWEST] = older
    if older != 0:
        cells[older * CELL_WORDS + CELL_NEWER] = newer
    else:
        heads[head + OLDEST] = newer
    cells[at + CELL_OLDER] = counts[CELL_FREE]
    counts[CELL_FREE] = cell


@inlined
def _put_in(cells, counts, heads, head, newer, older):  # type: ignore[no-untyped-def]
    """Return a cell that stands between two of a list."""
    cell = counts[CELL_FREE]
    if cell != 0:
        counts[CELL_FREE] = cells[cell * CELL_WORDS + CELL_OLDER]
    else:
        cell = counts[CELL_TOP]
        counts[CELL_TOP] += 1
    cells[cell * CELL_WORDS + CELL_NEWER], cells[cell * CELL_WORDS + CELL_OLDER] = newer, older
    if newer != 0:
        cells[newer * CELL_WORDS + CELL_OLDER] = cell
    else:
        heads[head + NEWEST] = cell
    if older != 0:
        cells[older * CELL_WORDS + CELL_NEWER] = cell
    else:
        heads[head + OLDEST] = cell
    return cell


@inlined
def note_value(cells, numbers, counts, heads, head, sign, start, term, number):  # type: ignore[no-untyped-def]
    """Note a value in the list whose head is at a place: `sign` is 1 for the least, -1 for the greatest."""
    newer, older = np.int64(0), heads[head + NEWEST]
    while older != 0 and cells[older * CELL_WORDS + CELL_START] >= start:
        if sign * numbers[older] <= sign * number:
            return
        if cells[older * CELL_WORDS + CELL_START] == start:
            break
        newer, older = older, cells[older * CELL_WORDS + CELL_OLDER]
    while older != 0 and sign * numbers[older] >= sign * number:
        needless, older = older, cells[older * CELL_WORDS + CELL_OLDER]
        _take_out(cells, counts, heads, head, needless)
    cell = _put_in(cells, counts, heads, head, newer, older)
    cells[cell * CELL_WORDS + CELL_START], cells[cell * CELL_WORDS + CELL_TERM] = start, term
    numbers[cell] = number


@inlined
def drop_until(cells, counts, heads, head, low):  # type: ignore[no-untyped-def]
    """Drop the cells that start at a time or before; return the term of the extreme, 0 if there is none."""
    cell = heads[head + OLDEST]
    while cell != 0 and cells[cell * CELL_WORDS + CELL_START] <= low:
        _take_out(cells, counts, heads, head, cell)
        cell = heads[head + OLDEST]
    return cells[cell * CELL_WORDS + CELL_TERM] if cell != 0 else np.int64(0)
