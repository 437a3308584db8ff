"""Find the new rows among output rows: a network that is made anew before the stream finds its static matches again.

Data's way: a new network's first output -> **rows that were not found before** -> outcome.
Invariant: rows are bags; of n equal rows, of which m were found before, n - m are new.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from retewave.compiler.lower import Output
from retewave.rete.words import layout

__all__ = ["Outputs", "fresh_rows", "joined", "plain"]

Outputs = Mapping[tuple[int, int], Output]  # (query, branch) -> its output rows


def joined(parts: list[np.ndarray]) -> np.ndarray:
    """Return output rows of several networks, which may be of several widths, as one array."""
    width = max((rows.shape[1] for rows in parts), default=layout.O_COLUMNS)
    padded = [np.pad(rows, ((0, 0), (0, width - rows.shape[1]))) for rows in parts]
    return np.concatenate([np.empty((0, width), dtype=np.int64), *padded])


def plain(rows: np.ndarray, outputs: Outputs) -> np.ndarray:
    """Return output rows that can be compared: without words behind their columns and marks of undecided filters."""
    rows = rows.copy()
    rows[:, layout.O_BRANCH] &= layout.UNDECIDED_ROW - 1
    kinds, kind = np.unique(rows[:, layout.O_QUERY] << 32 | rows[:, layout.O_BRANCH], return_inverse=True)
    widths = np.array([len(outputs[each >> 32, each & (1 << 32) - 1].names) for each in kinds.tolist()], dtype=np.int64)
    columns = rows[:, layout.O_COLUMNS :]
    columns[np.arange(columns.shape[1]) >= widths[kind.reshape(-1), None]] = 0
    return rows


def fresh_rows(rows: np.ndarray, before: np.ndarray, outputs: Outputs) -> np.ndarray:
    """Return the output rows that are not among the plain ones found before, in their order."""
    if not len(before) or not len(rows):
        return rows
    both = joined([before, plain(rows, outputs)])
    _, kinds = np.unique(both, axis=0, return_inverse=True)
    kinds = kinds.reshape(-1)  # NumPy 2.0 gives a column
    order = np.argsort(kinds, kind="stable")  # rows of one kind are neighbours, those found before first
    first = np.concatenate([[True], np.diff(kinds[order]) != 0])
    rank = np.arange(len(order)) - np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    place = np.empty_like(rank)
    place[order] = rank
    had = np.bincount(kinds[: len(before)], minlength=int(kinds.max()) + 1)
    return rows[place[len(before) :] >= 2 * had[kinds[len(before) :]]]
