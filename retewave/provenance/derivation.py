"""What a row of a report is derived from: solutions of the view's parts, groups of these, and what was not there.

Data's way: a report's evaluation (`retewave.views.derivations`) -> **derivations** -> explanations, pictures.
Invariant: terms are ids of the batch whose rows they explain; nothing refers to what a view goes on to change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from retewave.compiler.expressions.tree import Variable
from retewave.compiler.plan.producers import END, EXPLAINED, GIVEN_TRIPLE, TRIPLE
from retewave.compiler.rewrite.leaves import Leaf
from retewave.provenance.made_of import Sources

__all__ = ["Derivation", "DerivedRows", "Lacking", "PartSolution", "Several", "Step", "terms_of"]

_TERMS = tuple(place for place, what in enumerate(EXPLAINED) if what in (*TRIPLE, *GIVEN_TRIPLE))


@dataclass(frozen=True)
class PartSolution:
    """A solution of a part of the view: the triples that made it."""

    leaf: int  # the part's number
    words: tuple[int, ...]  # for each of its patterns, what `EXPLAINED` tells of the triple

    @property
    def triples(self) -> Iterator[dict[int, int]]:
        """Yield what is told of each pattern's triple, by what it is."""
        for first in range(0, len(self.words), len(EXPLAINED)):
            yield dict(zip(EXPLAINED, self.words[first : first + len(EXPLAINED)], strict=True))


@dataclass(frozen=True)
class Several:
    """Several solutions that belong together: the members of a group, the steps of a path, the events of MATCH."""

    operator: str  # what puts them together: "GROUP BY", "path", "MATCH"
    count: int  # how many they are
    parts: tuple[Derivation, ...]  # of the first of them
    values: tuple[tuple[str, int], ...] = ()  # the group's keys and aggregates as they are written, and their terms


@dataclass(frozen=True)
class Lacking:
    """A pattern of which there was no solution that goes with the row: OPTIONAL, MINUS, NOT EXISTS."""

    operator: str  # what asks for it
    pattern: Any  # the algebra of what was not there
    bound: tuple[tuple[Variable, int], ...]  # what the row had bound then


Step: TypeAlias = PartSolution | Several | Lacking
Derivation: TypeAlias = tuple[Step, ...]


@dataclass(frozen=True)
class DerivedRows:
    """The derivations of a batch's rows."""

    rows: tuple[Derivation | None, ...]  # None: not known, as the view went on from a snapshot since then
    leaves: tuple[Leaf, ...]  # the parts of the view, by their numbers
    sources: Sources  # the meaning of streams' numbers, and how triples were led to patterns
    bounds: tuple[tuple[int, int], ...]  # of the windows that had the triples, in microseconds: open, and closed
    before: int | None = None  # microseconds: the report that had the rows last, where they are told to be gone

    def after(self, count: int) -> DerivedRows:
        """Return the derivations of the rows behind the first `count`."""
        return replace(self, rows=self.rows[count:])

    @property
    def terms(self) -> np.ndarray:
        """The ids of all terms, some more than once; 0 is none."""
        found = [term for row in self.rows if row is not None for term in terms_of(row)]
        return np.array([0, *found], dtype=np.int64)

    def moments(self, row: int) -> Iterator[tuple[int, int]]:
        """Yield the window, by its number, and the time of each triple of a stream that a row is derived from."""
        for step in solved_in(self.rows[row] or ()):
            window = self.leaves[step.leaf].window
            if window is not None:
                yield from ((window, told[END]) for told in step.triples)


def solved_in(derivation: Derivation) -> Iterator[PartSolution]:
    """Yield the solutions of parts of the view, those of groups included."""
    for step in derivation:
        if isinstance(step, PartSolution):
            yield step
        elif isinstance(step, Several):
            for part in step.parts:
                yield from solved_in(part)


def terms_of(derivation: Derivation) -> Iterator[int]:
    """Yield the ids of all terms of a derivation."""
    for step in derivation:
        match step:
            case PartSolution(_, words):
                yield from (words[first + place] for first in range(0, len(words), len(EXPLAINED)) for place in _TERMS)
            case Several(_, _, parts, values):
                yield from (term for _, term in values)
                for part in parts:
                    yield from terms_of(part)
            case Lacking(_, _, bound):
                yield from (term for _, term in bound)
