"""What matches are made of, as numbers: carried with a batch until somebody asks for an explanation.

Data's way: output rows -> **what their matches are made of** -> `retewave/match.py` -> an explanation.
Invariant: rows stand in the order of the batch's matches.  Nothing here refers to what an engine goes on to change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from retewave.compiler.lower import Output
from retewave.compiler.plan.producers import END, START, Told
from retewave.rete.words import layout

__all__ = ["MadeOf"]


@dataclass(frozen=True)
class MadeOf:
    """The output rows of a batch's matches."""

    rows: np.ndarray  # int64[n, …]: as the kernel has written them
    outputs: Mapping[tuple[int, int], Output]  # (query, branch) -> what its rows hold

    def branch(self, row: int) -> int:
        """Return which of its query's branches a match is of."""
        return int(self.rows[row, layout.O_BRANCH]) & (layout.UNDECIDED_ROW - 1)

    def told(self, row: int) -> dict[Told, int]:
        """Return what a match tells of its triples."""
        words = self.rows[row]
        output = self.outputs[int(words[layout.O_QUERY]), self.branch(row)]
        return {each: int(words[_place(column)]) for each, column in output.told.items()}

    def after(self, count: int) -> MadeOf:
        """Return what the matches behind the first so many are made of."""
        return replace(self, rows=self.rows[count:])


def _place(column: int) -> int:
    """Return where an output row has a column, or its start or end."""
    return {START: layout.O_START, END: layout.O_END}.get(column, layout.O_COLUMNS + column)
