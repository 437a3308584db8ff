"""Extremes: the least or the greatest number of each group in a sliding window.

Data's way: values that come, with their starts -> **extremes** -> MIN and MAX of a report (`rete/reports/groups.py`).
Of two values, the one that is no less extreme and lives no less long makes the other needless, so that is dropped.
What is left of a group is a list of cells: the later the start, the less extreme the value.  The oldest cell that is
still in the window has the extreme.  A value that comes again is one more value: no list is asked which rows are there.
Invariant: along a list from the newest cell to the oldest, starts fall, and values become more extreme.
"""

from __future__ import annotations

import numpy as np

from retewave.rete.words.jit import inlined, kernel

__all__ = ["CELL_WORDS", "drop_until", "note_value"]

CELL_START, CELL_TERM, CELL_NEWER, CELL_OLDER, CELL_WORDS = 0, 1, 2, 3, 4
NEWEST, OLDEST = 0, 1  # words of a list's head
TOP, FREE = 0, 1  # words of the counts: the first cell never used, a free one


@inlined
def _take_out(cells, counts, heads, group, which, cell):  # type: ignore[no-untyped-def]
    """Take a cell out of its list, and let it be used again."""
    newer, older = cells[cell, CELL_NEWER], cells[cell, CELL_OLDER]
    if newer != 0:
        cells[newer, CELL_OLDER] = older
    else:
        heads[group, which, NEWEST] = older
    if older != 0:
        cells[older, CELL_NEWER] = newer
    else:
        heads[group, which, OLDEST] = newer
    cells[cell, CELL_OLDER] = counts[FREE]
    counts[FREE] = cell


@inlined
def _put_in(cells, counts, heads, group, which, newer, older):  # type: ignore[no-untyped-def]
    """Return a cell that stands between two of a list."""
    cell = counts[FREE]
    if cell != 0:
        counts[FREE] = cells[cell, CELL_OLDER]
    else:
        cell = counts[TOP]
        counts[TOP] += 1
    cells[cell, CELL_NEWER], cells[cell, CELL_OLDER] = newer, older
    if newer != 0:
        cells[newer, CELL_OLDER] = cell
    else:
        heads[group, which, NEWEST] = cell
    if older != 0:
        cells[older, CELL_NEWER] = cell
    else:
        heads[group, which, OLDEST] = cell
    return cell


@inlined
def note_value(cells, numbers, counts, heads, group, which, sign, start, term, number):  # type: ignore[no-untyped-def]
    """Note a value of a group: `sign` is 1 for the least, -1 for the greatest."""
    newer, older = np.int64(0), heads[group, which, NEWEST]
    while older != 0 and cells[older, CELL_START] >= start:
        if sign * numbers[older] <= sign * number:
            return
        if cells[older, CELL_START] == start:
            break
        newer, older = older, cells[older, CELL_OLDER]
    while older != 0 and sign * numbers[older] >= sign * number:
        needless, older = older, cells[older, CELL_OLDER]
        _take_out(cells, counts, heads, group, which, needless)
    cell = _put_in(cells, counts, heads, group, which, newer, older)
    cells[cell, CELL_START], cells[cell, CELL_TERM], numbers[cell] = start, term, number


@inlined
def drop_until(cells, counts, heads, group, which, low):  # type: ignore[no-untyped-def]
    """Drop the cells that start at a time or before; return the term of the extreme, 0 if there is none."""
    cell = heads[group, which, OLDEST]
    while cell != 0 and cells[cell, CELL_START] <= low:
        _take_out(cells, counts, heads, group, which, cell)
        cell = heads[group, which, OLDEST]
    return cells[cell, CELL_TERM] if cell != 0 else np.int64(0)
