"""Rows of ids told apart and paired by hashing: what relations of views are joined and grouped by.

Data's way: relations of a report -> **numbers of equal rows, pairs of equal rows** -> `retewave.views.relation`.
Invariant: equal rows have equal numbers, which count from 0 by the rows' first places.
"""

from __future__ import annotations

import numpy as np

from retewave.rete.reports.lives import ROW, place_of, tag_of
from retewave.rete.words.bare import prefetch, words
from retewave.rete.words.jit import kernel

__all__ = ["numbered_rows", "pairs_of_equals"]

_AHEAD = 16  # rows whose places are fetched before the first is looked at


@kernel
def _number(ids, places, found, firsts):  # type: ignore[no-untyped-def]
    """Write the number of each row, and the first place of each number; return how many numbers there are."""
    rows, table, width, mask, count = words(ids), words(places), ids.shape[1], places.size - 1, 0
    all_tags = np.zeros(_AHEAD, np.int64)
    tags = words(all_tags)
    for i in range(ids.shape[0]):
        if i % _AHEAD == 0:
            for k in range(min(_AHEAD, ids.shape[0] - i)):
                tags[k] = tag_of(rows, (i + k) * width, width)
                prefetch(table, tags[k] & mask)
        tag = tags[i % _AHEAD]
        place = place_of(table, mask, tag, rows, -width, width, rows, i * width, width)
        if table[place] == 0:
            table[place] = (tag << 32) | (i + 1)
            firsts[count] = i
            found[i] = count
            count += 1
        else:
            found[i] = found[(table[place] & ROW) - 1]
    return count


@kernel
def _pair(mine, its, count):  # type: ignore[no-untyped-def]
    """Return the places of all pairs of equal numbers, in the order of the first, then of the second."""
    ends, order = np.zeros(count + 1, np.int64), np.empty(its.size, np.int64)
    for number in its:
        ends[number + 1] += 1
    for number in range(count):
        ends[number + 1] += ends[number]
    begins = ends[:-1].copy()
    for i in range(its.size):
        order[begins[its[i]]] = i
        begins[its[i]] += 1
    total = 0
    for number in mine:
        total += ends[number + 1] - ends[number]
    first, second, at = np.empty(total, np.int64), np.empty(total, np.int64), 0
    for i in range(mine.size):
        for k in range(ends[mine[i]], ends[mine[i] + 1]):
            first[at], second[at] = i, order[k]
            at += 1
    return first, second


def numbered_rows(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a number for each row, and the first place of each number.

    >>> [found.tolist() for found in numbered_rows(np.array([[5, 1], [4, 1], [5, 1]]))]
    [[0, 1, 0], [0, 1]]
    """
    size = 4
    while size < 2 * len(ids):
        size *= 2
    found, firsts = np.empty(len(ids), np.int64), np.empty(len(ids), np.int64)
    if ids.shape[1] == 0:
        return np.zeros(len(ids), np.int64), np.arange(min(1, len(ids)))
    count = _number(np.ascontiguousarray(ids), np.zeros(size, np.int64), found, firsts)
    return found, firsts[:count].copy()


def pairs_of_equals(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of all pairs of equal rows, in the order of the first, then of the second."""
    known, firsts = numbered_rows(np.concatenate([left, right]))
    first, second = _pair(known[: len(left)], known[len(left) :], len(firsts))
    return first, second
