"""Groups that a view keeps, and their aggregates as terms.

Data's way: rows that have come and gone (`retewave.views.contents`) -> **groups, changed ones told anew** -> relations.
A report finds the terms of the groups that have changed since the one before; the others have theirs.
Where a group has terms that the table of groups cannot sum or compare, its aggregates are found from its solutions.
Invariant: a group's aggregates are those that `ColumnExpressions.aggregated` gives for its solutions.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal

import numpy as np

from retewave.compiler.algebra import AggregateCall
from retewave.compiler.expressions.numbers import DOUBLE, decimal_text, numeric_literal
from retewave.compiler.rewrite.kept import GroupsFound
from retewave.rete.reports.groups import (
    BOUND,
    DECIMAL_SUM,
    DECIMALS,
    DOUBLES,
    MOMENTS,
    NUMBERS,
    UNIT,
    WHOLE,
    WHOLE_SUM,
    GroupTable,
    of_doubles,
)
from retewave.rete.reports.lives import Lives
from retewave.rete.terms.dictionary import Terms
from retewave.rete.terms.kinds import Values
from retewave.views.expressions import ColumnExpressions
from retewave.views.relation import Bag
from retewave.windows.intervals import BEFORE_ALL

__all__ = ["KeptGroups"]

_SIGNS = {"MIN": 1, "MAX": -1}
_DIVISION, _WIDE = Context(prec=28), Context(prec=80)  # as an expression divides; more digits than any sum has
_INTEGER, _DECIMAL, _DOUBLE = (
    b'"%%s"^^<http://www.w3.org/2001/XMLSchema#%s>' % kind for kind in (b"integer", b"decimal", b"double")
)
_NONE = np.zeros(0, dtype=np.int64)


class KeptGroups:
    """The groups of one GROUP BY over a leaf's solutions."""

    def __init__(
        self,
        found: GroupsFound,
        terms: Terms,
        expressions: Callable[[], ColumnExpressions],
        grid: tuple[int, int] | None = None,
    ) -> None:
        self.found = found  # what it stands for
        self._terms = terms
        self._expressions = expressions  # made when it is needed: it loads rdflib
        place = found.leaf.variables.index
        calls = [call for _, call in found.aggregates]
        arguments = list(dict.fromkeys(call.argument for call in calls if call.argument is not None))
        self._arguments = [None if call.argument is None else arguments.index(call.argument) for call in calls]
        wanted = [(of, _SIGNS.get(call.function, 0)) for call, of in zip(calls, self._arguments, strict=True)]
        extremes = list(dict.fromkeys((of, sign) for of, sign in wanted if sign and of is not None))
        self._extremes = [extremes.index((of or 0, sign)) if sign else -1 for of, sign in wanted]
        keys, seen = [place(key) for key in found.keys], [place(each) for each in arguments]
        self.table = GroupTable(keys, seen, extremes, grid)
        self._shown = np.zeros((1, len(found.variables)), dtype=np.int64)  # the solution of each group; 0: the first
        self._is_shown = np.zeros(1, dtype=np.bool_)
        self.came = self.gone = Bag(found.variables, self._shown[:0])  # at the latest report

    def settle(self, lives: Lives, low: int) -> None:
        """Find the aggregates of the groups anew that have changed since the last time."""
        changed, extremes = self.table.settle(low)
        self._reach(len(self.table))
        former = changed[self._is_shown[changed]]
        self.gone = Bag(self.found.variables, self._shown[former])
        self._is_shown[former] = False
        alive = self.table.sizes(changed) > 0
        groups = changed[alive]
        if len(groups):
            columns = [*self.table.keys_of(groups).T, *self._aggregates(groups, extremes[alive], lives)]
            self._shown[groups] = np.column_stack(columns)
            self._is_shown[groups] = True
        self.came = Bag(self.found.variables, self._shown[groups])

    def all(self) -> Bag:
        """Return the solutions of all groups."""
        found = self._shown[self._is_shown]
        if len(found) or not self.found.implicit:
            return Bag(self.found.variables, found)
        one = Bag.unit()
        nobody = Bag(self.found.leaf.variables, np.zeros((0, len(self.found.leaf.variables)), dtype=np.int64))
        for variable, call in self.found.aggregates:
            one = one.extended(variable, self._expressions().aggregated(call, nobody, _NONE, 1))
        return one

    @property
    def terms(self) -> np.ndarray:
        """The terms that its groups show."""
        return self._shown[self._is_shown]

    def _reach(self, size: int) -> None:
        if size > len(self._shown):
            shown, is_shown = np.zeros((size, self._shown.shape[1]), dtype=np.int64), np.zeros(size, dtype=np.bool_)
            shown[: len(self._shown)], is_shown[: len(self._is_shown)] = self._shown, self._is_shown
            self._shown, self._is_shown = shown, is_shown

    # ---- aggregates of changed groups ----
    def _aggregates(self, groups: np.ndarray, extremes: np.ndarray, lives: Lives) -> list[np.ndarray]:
        """Return a column of terms for each aggregate."""
        sizes, columns, known = self.table.sizes(groups), [], []
        for place, (_, call) in enumerate(self.found.aggregates):
            column, good = self._quick(call, place, groups, sizes, extremes)
            columns.append(column)
            known.append(good)
        unknown = ~np.logical_and.reduce(known) if known else np.zeros(len(groups), dtype=np.bool_)
        if unknown.any():
            self._slow(groups, known, columns, lives)
        return columns

    def _quick(
        self, call: AggregateCall, place: int, groups: np.ndarray, sizes: np.ndarray, extremes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the terms of an aggregate by what the table has kept, and for which groups they hold."""
        argument = self._arguments[place]
        if argument is None:
            return self._counts(sizes), np.ones(len(groups), dtype=np.bool_)
        kept = self.table.kept(groups, argument)
        if call.function == "COUNT":
            return self._counts(kept[:, BOUND]), np.ones(len(groups), dtype=np.bool_)
        if call.function in _SIGNS:
            return extremes[:, self._extremes[place]], (kept[:, NUMBERS] == sizes) | (kept[:, MOMENTS] == sizes)
        return self._sums(call.function, groups, kept, sizes, argument)

    def _counts(self, counts: np.ndarray) -> np.ndarray:
        used, places = np.unique(counts, return_inverse=True)
        return self._terms.intern_many([_INTEGER % (b"%d" % each) for each in used.tolist()])[places]

    def _sums(
        self, function: str, groups: np.ndarray, kept: np.ndarray, sizes: np.ndarray, argument: int
    ) -> tuple[np.ndarray, np.ndarray]:
        exact = kept[:, WHOLE] + kept[:, DECIMALS] == sizes
        doubles = kept[:, DOUBLES] == sizes
        good = exact | doubles
        texts = [b"<>"] * len(groups)
        for place in np.flatnonzero(exact).tolist():
            texts[place] = _exact(function, kept[place].tolist())
        for place in np.flatnonzero(doubles).tolist():
            total = of_doubles(self.table.limbs[groups[place], argument])
            texts[place] = _of_double(total / int(sizes[place]) if function == "AVG" else total)
        column = np.zeros(len(groups), dtype=np.int64)
        if good.any():
            places = np.flatnonzero(good)
            column[places] = self._terms.intern_many([texts[place] for place in places.tolist()])
        return column, good

    def _slow(self, groups: np.ndarray, known: list[np.ndarray], columns: list[np.ndarray], lives: Lives) -> None:
        """Find, from the solutions of some groups, the aggregates that the table does not know."""
        wanted = groups[~np.logical_and.reduce(known)]
        rows = lives.there
        own = self.table.groups_of(lives.rows, rows)
        kept = np.isin(own, wanted)
        ids = lives.terms(rows[kept])
        order = np.lexsort(ids.T)  # sums of what is rounded hang on it, so it follows from the terms alone
        solutions = Bag(self.found.leaf.variables, ids[order])
        numbers = np.searchsorted(np.sort(wanted), own[kept][order])
        places = np.searchsorted(np.sort(wanted), groups).clip(max=len(wanted) - 1)
        for (_, call), good, column in zip(self.found.aggregates, known, columns, strict=True):
            if not good.all():
                found = self._expressions().aggregated(call, solutions, numbers, len(wanted))
                column[~good] = found[places[~good]]

    def fill(self, lives: Lives, values: Values) -> None:
        """Begin with the rows that are alive."""
        self.table.add(lives.rows, lives.there, values)
        self.settle(lives, BEFORE_ALL)


def _exact(function: str, kept: list[int]) -> bytes:
    """Return the sum or the mean of whole numbers and decimals as text."""
    whole = (kept[WHOLE_SUM] << 32) + kept[WHOLE_SUM + 1]
    parts = (kept[DECIMAL_SUM] << 32) + kept[DECIMAL_SUM + 1]
    if function == "SUM" and not kept[DECIMALS]:
        return _INTEGER % (b"%d" % whole)
    total = whole * UNIT + parts
    sum_of = Decimal(total).scaleb(-9, _WIDE)
    if function == "AVG":
        sum_of = _DIVISION.divide(sum_of, Decimal(kept[WHOLE] + kept[DECIMALS]))
    return _DECIMAL % decimal_text(sum_of).encode()


def _of_double(value: float) -> bytes:
    literal = numeric_literal(value + 0.0, DOUBLE)  # no zero is negative
    return _DOUBLE % str(literal).encode()
