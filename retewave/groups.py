"""Groups: what the steps of a sequence took that may be repeated, match by match.

Data's way: a run's parts -> **groups of a batch of matches** -> `match.groups`, ndjson, columns of lists.
Invariant: a match's repetitions lie one behind the other, in the order of time.  Ids are those of the dictionary.
Left out: what a repetition takes, which is the network's; aggregates over groups are variables like all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from retewave.compiler.algebra import Occurs, Query, Sequence, event_patterns, visible
from retewave.compiler.algebra.walk import walk
from retewave.windows.times import Instant

if TYPE_CHECKING:
    from retewave.match import Matches

__all__ = ["RepeatedPattern", "Repetition", "Repetitions", "repeated", "repetitions"]


@dataclass(frozen=True)
class RepeatedPattern:
    """An event pattern that a sequence may take more than once."""

    name: str  # as it is defined
    variables: tuple[str, ...]  # that it binds, in the order written


def repeated(parsed: Query) -> tuple[RepeatedPattern, ...]:
    """Return the event patterns of a query that may be repeated."""
    sequences = [each for each in walk(parsed.where) if isinstance(each, Sequence)]
    return tuple(
        RepeatedPattern(pattern.name, tuple(each.name for each in visible(pattern.pattern)))
        for sequence in sequences
        for step in sequence.steps
        if step.occurs in (Occurs.SOME, Occurs.MOST)
        for pattern in event_patterns(step.operand)
    )


@dataclass(frozen=True)
class Repetitions:
    """The repetitions of one event pattern in the matches of a batch."""

    name: str  # of the event pattern
    variables: tuple[str, ...]  # that it binds
    offsets: np.ndarray  # int64 [matches + 1]: where each match's repetitions begin and, one further, end
    times: np.ndarray  # int64 [repetitions]: microseconds
    ids: np.ndarray  # int64 [repetitions, variables]: the dictionary's; 0 is unbound

    def after(self, count: int) -> Repetitions:
        """Return the group of the matches behind the first so many."""
        begin = int(self.offsets[count])
        return replace(self, offsets=self.offsets[count:] - begin, times=self.times[begin:], ids=self.ids[begin:])

    def taken(self, rows: np.ndarray) -> Repetitions:
        """Return the group of some of the matches, in the order of their places."""
        counts = np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
        places = np.repeat(self.offsets[:-1][rows], counts) + within
        return replace(self, offsets=offsets, times=self.times[places], ids=self.ids[places])


class Repetition(Mapping[str, Any]):
    """One repetition in a match: a mapping from variables to rdflib terms, with the time of its event."""

    __slots__ = ("_batch", "_group", "_place")

    def __init__(self, batch: Matches, group: Repetitions, place: int) -> None:
        self._batch, self._group, self._place = batch, group, place

    @property
    def micros(self) -> int:
        """When its event was, in microseconds."""
        return int(self._group.times[self._place])

    @property
    def start(self) -> Instant:
        """When its event was, in the form in which times went in."""
        return self._batch.clock.decode(self.micros)

    @property
    def end(self) -> Instant:
        """The same: an event counts by its end."""
        return self.start

    def text(self, name: str) -> bytes | None:
        """Return a variable's term as canonical N-Triples text; None when it is unbound."""
        return self._batch.text(self._id(name))

    def __getitem__(self, name: str) -> Any:
        found = self._batch.term(self._id(name))
        if found is None:
            raise KeyError(name)
        return found

    def _id(self, name: str) -> int:
        try:
            column = self._group.variables.index(name.removeprefix("?"))
        except ValueError:
            known = ", ".join(f"?{each}" for each in self._group.variables) or "none"
            raise KeyError(f"{self._group.name} binds no variable {name}; it binds {known}") from None
        return int(self._group.ids[self._place, column])

    def __iter__(self) -> Iterator[str]:
        ids = self._group.ids[self._place].tolist()
        return (name for name, term in zip(self._group.variables, ids, strict=True) if term != 0)

    def __len__(self) -> int:
        return int(np.count_nonzero(self._group.ids[self._place]))

    def __repr__(self) -> str:
        terms = ", ".join(f"?{name} = {(self.text(name) or b'').decode()}" for name in self)
        return f"<{self._group.name} at {self.start} {terms}>"


def repetitions(batch: Matches, row: int) -> dict[str, list[Repetition]]:
    """Return the repetitions in a match, by the names of their event patterns."""
    return {
        group.name: [Repetition(batch, group, place) for place in range(*group.offsets[row : row + 2].tolist())]
        for group in batch.groups
    }
