"""The different values of an argument in each group, as solutions come and go: what DISTINCT in an aggregate asks for.

Data's way: rows that have come and gone -> **pairs of a group and a value -> counts and sums of those that are there**
-> `retewave.views.grouping`.
Invariant: a value is counted once in a group as long as some solution of the group has it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from retewave.rete.reports.groups import GroupTable
from retewave.rete.reports.lives import ROW_TERMS
from retewave.rete.terms.kinds import Values
from retewave.windows.intervals import BEFORE_ALL

__all__ = ["DifferentValues"]


class DifferentValues:
    """The different values of one argument."""

    def __init__(self, keys: Sequence[int], argument: int) -> None:
        """Take rows whose terms at `keys` make a group, and which have the value at `argument`."""
        self.pairs = GroupTable([*keys, argument], [], [], None)
        self.table = GroupTable(range(len(keys)), [len(keys)], [], None)
        self._is_there = np.zeros(1, dtype=np.bool_)  # by pair

    def settle(self, values: Values) -> None:
        """Take over which pairs have come and gone since the last time."""
        changed, _ = self.pairs.settle(BEFORE_ALL)
        if len(self.pairs) > len(self._is_there):
            self._is_there = np.append(self._is_there, np.zeros(len(self.pairs) - len(self._is_there), dtype=np.bool_))
        now, before = self.pairs.sizes(changed) > 0, self._is_there[changed]
        self._is_there[changed] = now
        terms = self.pairs.keys_of(changed)
        came, gone = _rows(terms[now & ~before]), _rows(terms[before & ~now])
        self.table.add(came, np.arange(1, len(came)), values)
        self.table.take_away(gone, np.arange(1, len(gone)), values)
        self.table.settle(BEFORE_ALL)

    def groups_of(self, keys: np.ndarray) -> np.ndarray:
        """Return the table's groups with some keys; each of them has a solution."""
        rows = _rows(np.column_stack([keys, np.zeros(len(keys), dtype=np.int64)]))
        return self.table.groups_of(rows, np.arange(1, len(rows)))


def _rows(terms: np.ndarray) -> np.ndarray:
    """Return terms as rows of `rete/reports/lives.py`, the first of which is number 1."""
    rows = np.zeros((len(terms) + 1, ROW_TERMS + terms.shape[1]), dtype=np.int64)
    rows[1:, ROW_TERMS:] = terms
    return rows
