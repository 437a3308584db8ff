"""Groups: the events that repeated steps of a match's sequence took, repetition by repetition.

Data's way: the rows that a network writes behind a match -> **groups** -> `Match.groups`, sinks.
Invariant: the rows of one match stand together, the last event first, as the kernel walks back.  They hold ids of the
batch's dictionary, so they are spared, and outlast it, with the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from retewave.rete.words import layout

if TYPE_CHECKING:
    from retewave.compiler.algebra import Variable
    from retewave.compiler.lower import Output, OutputRuns
    from retewave.windows.times import Instant

__all__ = ["Groups", "Repetition", "RunParts", "apart", "told_runs"]

_BRANCH = layout.UNDECIDED_ROW - 1


@dataclass(frozen=True)
class Repetition(Mapping[str, Any]):
    """One repetition of a step: a mapping from the variables of its event pattern to rdflib terms, with its time."""

    time: Instant  # when its event was, in the form in which times went in
    texts: Mapping[str, bytes] = field(repr=False)  # its terms as canonical N-Triples texts
    _term: Callable[[bytes], Any] = field(repr=False, compare=False)  # makes an rdflib term of a text

    def __getitem__(self, name: str) -> Any:
        return self._term(self.texts[name.removeprefix("?")])

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)

    def __len__(self) -> int:
        return len(self.texts)

    def __hash__(self) -> int:
        return hash((self.time, tuple(self.texts.items())))


@dataclass(frozen=True)
class RunPart:
    """One event of a run, as far as its query asks for it."""

    time: int  # microseconds
    state: int  # number of the state in which the run then was, -1: it was complete
    columns: Sequence[int]  # of the row


@dataclass(frozen=True)
class RunParts:
    """The events of the runs of some matches."""

    rows: np.ndarray  # int64[m, ...]: as the kernel has written them
    begins: np.ndarray  # int64[n + 1]: where those of each match begin

    def of(self, match: int) -> list[RunPart]:
        """Return those of one match, the first event first."""
        found = self.rows[self.begins[match] : self.begins[match + 1]][::-1]
        times, states = found[:, layout.O_START].tolist(), found[:, layout.TOLD_STATE].tolist()
        columns = found[:, layout.O_COLUMNS :].tolist()
        return [RunPart(*each) for each in zip(times, states, columns, strict=True)]


def apart(rows: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, RunParts]:
    """Return output rows of matches without those that tell of their runs, their places, and the runs' events.

    The rows have a column more: which of the matches each is.
    """
    told = (rows[:, layout.O_BRANCH] & layout.TOLD_RUN) != 0
    if not told.any():
        numbers = np.arange(len(rows))
        return np.column_stack([rows, numbers]), places, RunParts(rows[:0], np.zeros(len(rows) + 1, dtype=np.int64))
    heads = np.flatnonzero(~told)
    counts = np.diff(np.append(heads, len(rows))) - 1
    begins = np.concatenate([[0], np.cumsum(counts)])
    own = np.column_stack([rows[heads], np.arange(len(heads))])
    return own, places[heads], RunParts(rows[told], begins)


@dataclass(frozen=True)
class Groups:
    """The groups of a batch of matches."""

    parts: RunParts  # the events of the runs
    numbers: np.ndarray  # int64[n]: which of the runs each match has
    branches: np.ndarray  # int64[n]: which branch of its query it is of
    outputs: Mapping[int, OutputRuns]  # what the rows of a branch hold

    def of(self, row: int) -> dict[str, list[tuple[int, dict[Variable, int]]]]:
        """Return, by the names of event patterns, the time of each repetition of a match, and the ids that it bound."""
        output = self.outputs.get(int(self.branches[row]))
        if output is None:  # what is decided at a deadline tells no groups
            return {}
        found: dict[str, list[tuple[int, dict[Variable, int]]]] = {}
        for state, _, _ in output.states.values():
            for one in state.repeated:
                found.update({name: [] for name, _ in one.parts})
        for part in self.parts.of(int(self.numbers[row])):
            state, columns, way = output.states[part.state]
            if state.repeated:
                taken = state.repeated[part.columns[way] if way >= 0 else 0]
                for name, variables in taken.parts:
                    bound = {each: part.columns[columns[each]] for each in sorted(variables, key=str)}
                    found[name].append((part.time, {each: term for each, term in bound.items() if term}))
        return found

    def after(self, count: int) -> Groups:
        """Return the groups of the matches behind the first `count`."""
        return replace(self, numbers=self.numbers[count:], branches=self.branches[count:])

    @property
    def terms(self) -> np.ndarray:
        """The ids of all terms in them, some more than once; 0 is none."""
        rows, branches = self._told()
        found = [np.zeros(0, dtype=np.int64)]
        for branch, output in self.outputs.items():
            own = rows[branches == branch]
            for number, (state, columns, way) in output.states.items():
                there = own[own[:, layout.TOLD_STATE] == number]
                for taken, one in enumerate(state.repeated if len(there) else ()):
                    if way < 0 and taken > 0:
                        break
                    chosen = there if way < 0 else there[there[:, layout.O_COLUMNS + way] == taken]
                    places = {layout.O_COLUMNS + columns[each] for _, variables in one.parts for each in variables}
                    found.append(chosen[:, sorted(places)].ravel())
        return np.concatenate(found)

    def _told(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows that tell of the runs, match by match, and the branch of each."""
        begins = self.parts.begins[self.numbers]
        counts = self.parts.begins[self.numbers + 1] - begins
        before = np.cumsum(counts) - counts
        places = np.arange(counts.sum()) + np.repeat(begins - before, counts)
        return self.parts.rows[places], np.repeat(self.branches, counts)


def told_runs(outputs: Mapping[tuple[int, int], Output], query: int) -> dict[int, OutputRuns]:
    """Return, by branch, the content of the rows that tell the runs of a query."""
    return {branch: each.runs for (of, branch), each in outputs.items() if of == query and each.runs is not None}
