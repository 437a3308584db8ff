"""Why the rows of a view's reports are there: kept of a view that is explained.

Data's way: a report's evaluation -> **the derivations of the rows that are told** -> matches.
A row that is told to be gone (DSTREAM) is derived as it was at the report that had it last.
Left out: a view that goes on from a snapshot does not know why rows are gone that were there before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from retewave.compiler.rewrite.leaves import MatchFound, ViewLeaves
from retewave.provenance.derivation import Derivation, DerivedRows, terms_of
from retewave.provenance.made_of import Sources
from retewave.query import Query
from retewave.rete.terms.dictionary import Terms
from retewave.views.evidence import Evidence, Witnesses
from retewave.views.matching import MatchedEvents
from retewave.views.relation import Bag

if TYPE_CHECKING:  # it loads rdflib
    from retewave.views.expressions import ColumnExpressions

__all__ = ["Reasons"]


class Reasons:
    """The evidence of a view, and the derivations of its latest rows."""

    def __init__(
        self, query: Query, split: ViewLeaves, sources: Sources, bounds: Callable[[int, int], tuple[int, int]]
    ) -> None:
        assert query.parsed.view is not None
        self.evidence = Evidence(query.number, split, sources, bounds)
        self._split = split
        self._tells_gone = query.parsed.view.told == "DSTREAM"
        self._one = query.parsed.form == "ASK"  # one row stands for all
        self._derivation: Callable[[int], Derivation] = lambda _: ()  # of a row of the latest report, by its place
        self._count = 0  # of these rows
        self._told: tuple[Derivation | None, ...] | None = None  # of those that are told; None: all
        self._known: list[Derivation] | None = None  # of the rows of the latest report, if they may be told to be gone
        self._at: int | None = None  # the time of the latest report
        self._bounds: tuple[tuple[int, int], ...] = ()  # of its windows

    def evaluated(
        self,
        pattern: Any,
        terms: Terms,
        expressions: ColumnExpressions,
        found: Callable[[Any], Bag],
        matched: Callable[[MatchFound], MatchedEvents],
        time: int,
    ) -> Bag:
        """Return the solutions of a view at a time, each derived."""
        from retewave.views.derivations import Derivations

        @cache
        def witnesses(leaf: int) -> Witnesses:
            return self.evidence.inside(leaf, time)

        for leaf in range(len(self._split.leaves)):
            witnesses(leaf)  # what has left its window is forgotten
        evaluation = Derivations(terms, expressions, found, witnesses, matched)
        bag = evaluation.of(pattern)
        self._derivation = lambda row: evaluation.derivation(bag, row)
        self._count, self._told = min(len(bag), 1) if self._one else len(bag), None
        return bag

    def choose(self, places: np.ndarray, *, gone: bool) -> None:
        """Tell of some rows only: of the latest report's, or of the former one's, which are gone."""
        if not gone:
            self._told = tuple(map(self._derivation, places.tolist()))
            return
        before, self._known = self._known, list(map(self._derivation, range(self._count)))
        self._told = tuple(None if before is None else before[place] for place in places.tolist())

    def derived(self, time: int, bounds: tuple[tuple[int, int], ...]) -> DerivedRows:
        """Return the derivations of what a report tells; `bounds` are those of its windows."""
        (before, former), (self._at, self._bounds) = (self._at, self._bounds), (time, bounds)
        rows = tuple(map(self._derivation, range(self._count))) if self._told is None else self._told
        self._derivation, self._told = lambda _: (), None  # what they were found in is needed no more
        sources, leaves = self.evidence.sources, self._split.leaves
        if self._tells_gone:
            return DerivedRows(rows, leaves, sources, former, before)
        return DerivedRows(rows, leaves, sources, bounds)

    @property
    def held(self) -> list[np.ndarray]:
        """All terms that it has, with other numbers among them."""
        known = [term for row in self._known or () for term in terms_of(row)]
        return [*self.evidence.held, np.array(known, dtype=np.int64)]
