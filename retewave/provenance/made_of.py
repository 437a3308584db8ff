"""The parts of matches, as numbers: carried with a batch until an explanation is asked for.

Data's way: output rows -> **the parts of their matches** -> `retewave/match.py` -> an explanation.
Invariant: rows stand in the order of the batch's matches.  Nothing here refers to what an engine goes on to change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from retewave.compiler.lower import Output
from retewave.compiler.plan.producers import END, GIVEN_TRIPLE, START, TRIPLE, Told
from retewave.compiler.rewrite.branch import Branch
from retewave.epsilon.dispatch import Dispatch
from retewave.provenance.groups import RunParts
from retewave.rete.words import layout

if TYPE_CHECKING:
    from retewave.query import Query

__all__ = ["MadeOf", "Sources", "place_of"]

_TERMS = (*TRIPLE, *GIVEN_TRIPLE)  # what is told that is a term


@dataclass(frozen=True)
class Sources:
    """The meaning of the numbers in a network's output rows."""

    outputs: Mapping[tuple[int, int], Output]  # (query, branch) -> what its rows hold
    branches: Mapping[int, tuple[Branch, ...]]  # of the queries, by number
    dispatch: Dispatch  # how ε led triples to patterns
    streams: Mapping[str, int]  # the numbers of the streams, by their IRIs
    rules: tuple[Query, ...] = ()  # the queries that feed back what they build

    def stream(self, number: int) -> str | None:
        """Return the IRI of a stream; nothing for 0, which is none."""
        return next((iri for iri, known in self.streams.items() if known == number), None)


@dataclass(frozen=True)
class MadeOf:
    """The output rows of a batch's matches."""

    rows: np.ndarray  # int64[n, …]: as the kernel has written them
    sources: Sources  # what their numbers mean
    parts: RunParts | None = None  # the events of their runs, if they have some; the rows' last column says which

    def branch(self, row: int) -> int:
        """Return which of its query's branches a match is of."""
        return int(self.rows[row, layout.O_BRANCH]) & (layout.UNDECIDED_ROW - 1)

    def told(self, row: int) -> dict[Told, int]:
        """Return all that a match tells of its triples."""
        words = self.rows[row]
        return {each: int(words[place_of(column)]) for each, column in self._output(row).told.items()}

    def run(self, row: int) -> list[tuple[int, dict[Told, int]]]:
        """Return the events of a match's run, in order: the state to which each led, and the columns told of it."""
        runs = self._output(row).runs
        if runs is None or self.parts is None:
            return []
        found = []
        for part in self.parts.of(int(self.rows[row, -1])):
            told = {each: part.columns[column] for each, column in runs.told.get(part.state, {}).items()}
            there = {each.leaf for each, number in told.items() if each.what == TRIPLE[0] and number}
            if there:
                found.append((part.state, {each: number for each, number in told.items() if each.leaf in there}))
        return found

    def steps(self, row: int) -> dict[int, int]:
        """Return how many steps runs have taken in each of the states of a match's query."""
        runs = self._output(row).runs
        return {} if runs is None else {number: state.step for number, (state, _, _) in runs.states.items()}

    def after(self, count: int) -> MadeOf:
        """Return the parts of the matches behind the first `count`."""
        return replace(self, rows=self.rows[count:])

    @property
    def terms(self) -> np.ndarray:
        """The ids of all terms that are told, some more than once; 0 is none."""
        branches = self.rows[:, layout.O_BRANCH] & (layout.UNDECIDED_ROW - 1)
        found = [np.empty(0, dtype=np.int64)]
        for branch in np.unique(branches).tolist():
            rows = np.flatnonzero(branches == branch)
            told = self._output(int(rows[0])).told
            places = sorted({place_of(column) for each, column in told.items() if each.what in _TERMS})
            found.append(self.rows[rows][:, places].reshape(-1))
        for row in range(len(self.rows)) if self.parts is not None else ():
            of_run = [pair for _, one in self.run(row) for pair in one.items()]
            found.append(np.array([number for each, number in of_run if each.what in _TERMS], dtype=np.int64))
        return np.concatenate(found)

    def _output(self, row: int) -> Output:
        return self.sources.outputs[int(self.rows[row, layout.O_QUERY]), self.branch(row)]


def place_of(column: int) -> int:
    """Return where an output row has a column, or its start or end."""
    return {START: layout.O_START, END: layout.O_END}.get(column, layout.O_COLUMNS + column)
