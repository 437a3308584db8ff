"""Repetitions as columns: what the steps of a sequence took that may be repeated, for a whole batch of matches.

Data's way: a batch's groups -> **columns of repetitions** -> ndjson, columns of lists.
Invariant: a match's repetitions lie one behind the other, in the order of time.  Ids are those of the dictionary.
Left out: `match.groups`, which looks at one match.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from retewave.compiler.algebra import Occurs, Query, Sequence, Variable, event_patterns, visible
from retewave.compiler.algebra.walk import walk

if TYPE_CHECKING:
    from retewave.match import Matches

__all__ = ["RepeatedPattern", "Repetitions", "repeated", "repetitions_of"]


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


def repetitions_of(batch: Matches) -> tuple[Repetitions, ...]:
    """Return the repetitions in the matches of a batch, for each event pattern that its query may repeat."""
    groups = getattr(batch, "groups", None)
    if groups is None:
        return ()
    found = [groups.of(row) for row in range(len(batch))]
    return tuple(_taken(each, [of.get(each.name, []) for of in found]) for each in batch.query.repeated)


def _taken(pattern: RepeatedPattern, found: list[list[tuple[int, Mapping[Variable, int]]]]) -> Repetitions:
    """Return what a pattern took: for each match, the time and the ids of each repetition."""
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in found], dtype=np.int64)])
    taken = [one for each in found for one in each]
    names = [Variable(name) for name in pattern.variables]
    ids = [[bound.get(name, 0) for name in names] for _, bound in taken]
    times = np.array([time for time, _ in taken], dtype=np.int64)
    return Repetitions(
        pattern.name, pattern.variables, offsets, times, np.array(ids, dtype=np.int64).reshape(len(taken), len(names))
    )
