"""Groups that a view keeps, and their aggregates as terms.

Data's way: rows that have come and gone (`retewave.views.contents`) -> **groups, changed ones told anew** -> relations.
A report finds the terms of the groups that have changed since the one before; the others have theirs.
Where a group has terms that the table of groups cannot sum or compare, its aggregates are found from its solutions.
Invariant: a group's aggregates are those that `ColumnExpressions.aggregated` gives for its solutions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Context, Decimal

import numpy as np

from retewave.compiler.expressions.numbers import DOUBLE, decimal_text, numeric_literal
from retewave.compiler.expressions.tree import Expression, Variable
from retewave.compiler.rewrite.kept import GroupsFound
from retewave.rete.reports.doubles import exact_of_doubles, of_doubles
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
)
from retewave.rete.reports.lives import Lives
from retewave.rete.terms.dictionary import Terms
from retewave.rete.terms.kinds import Values
from retewave.views.different import DifferentValues
from retewave.views.expressions import ColumnExpressions
from retewave.views.relation import Bag
from retewave.views.sums import partial_sum
from retewave.windows.intervals import BEFORE_ALL

__all__ = ["KeptGroups"]

_SIGNS = {"MIN": 1, "MAX": -1}
_DIVISION, _WIDE = Context(prec=28), Context(prec=80)  # as an expression divides; more digits than any sum has
_INTEGER, _DECIMAL, _DOUBLE = (
    b'"%%s"^^<http://www.w3.org/2001/XMLSchema#%s>' % kind for kind in (b"integer", b"decimal", b"double")
)
_NONE = np.zeros(0, dtype=np.int64)
_UNKNOWN = -1  # in place of a term: the table does not know it
_FEW = 4  # groups that are found one by one, texts that are interned so


class KeptGroups:
    """The groups of one GROUP BY over a leaf's solutions."""

    def __init__(
        self,
        found: GroupsFound,
        columns: Sequence[Variable],
        terms: Terms,
        expressions: Callable[[], ColumnExpressions],
        grid: tuple[int, int] | None = None,
    ) -> None:
        self.found = found  # what it stands for
        self._columns = tuple(columns)  # of the rows that come and go
        self._variables = found.variables
        self._terms = terms
        self._expressions = expressions  # made when it is needed: it loads rdflib
        place = self._columns.index
        calls = [call for _, call in found.aggregates]
        columns_of = [_variable(call.argument) for call in calls]
        arguments = list(dict.fromkeys(each for each in columns_of if each is not None))
        self._arguments = [None if each is None else arguments.index(each) for each in columns_of]
        wanted = [(of, _SIGNS.get(call.function, 0)) for call, of in zip(calls, self._arguments, strict=True)]
        extremes = list(dict.fromkeys((of, sign) for of, sign in wanted if sign and of is not None))
        self._extremes = [extremes.index((of or 0, sign)) if sign else -1 for of, sign in wanted]
        keys, seen = [place(key) for key in found.by], [place(each) for each in arguments]
        self.table = GroupTable(keys, seen, extremes, grid)
        self._different = {  # by the argument's place
            of: DifferentValues(keys, seen[of])
            for call, of in zip(calls, self._arguments, strict=True)
            if of is not None and call.distinct and call.function not in _SIGNS
        }
        self._shown = np.zeros((1, len(found.variables)), dtype=np.int64)  # the solution of each group; 0: the first
        self._is_shown = np.zeros(1, dtype=np.bool_)
        self.came = self.gone = Bag(found.variables, self._shown[:0])  # at the latest report

    def change(self, lives: Lives, touched: np.ndarray, gone: np.ndarray, values: Values) -> None:
        """Take rows that have come or live longer, and rows that have left."""
        for table in (self.table, *(each.pairs for each in self._different.values())):
            table.add(lives.rows, touched, values)
            table.take_away(lives.rows, gone, values)
        for each in self._different.values():
            each.settle(values)

    def settle(self, lives: Lives, low: int) -> None:
        """Find the aggregates of the groups anew that have changed since the last time."""
        changed, extremes = self.table.settle(low)
        self._reach(len(self.table))
        if len(changed) <= _FEW and not self._different:
            self._settle_few(changed, extremes, lives)
            return
        former = changed[self._is_shown[changed]]
        self.gone = Bag(self._variables, self._shown[former])
        self._is_shown[former] = False
        alive = self.table.sizes(changed) > 0
        groups = changed[alive]
        if len(groups):
            shown = np.empty((len(groups), self._shown.shape[1]), dtype=np.int64)
            keys = len(self.found.keys)
            shown[:, :keys] = self.table.keys_of(groups)
            shown[:, keys:] = self._aggregates(groups, extremes[alive], lives)
            self._shown[groups] = shown
            self._is_shown[groups] = True
        self.came = Bag(self._variables, self._shown[groups])

    def _settle_few(self, changed: np.ndarray, extremes: np.ndarray, lives: Lives) -> None:
        """Find a few groups anew: as `settle` does, group by group, as arrays of few rows take longer than lists."""
        table, shown, is_shown = self.table, self._shown, self._is_shown
        gone, came = [], []
        records = zip(changed.tolist(), table.groups[changed].tolist(), extremes.tolist(), strict=True)
        for group, record, least in records:
            if is_shown[group]:
                gone.append(shown[group].tolist())
            is_shown[group] = table.is_alive(record)
            if is_shown[group]:
                values = self._told_of(group, record, least, lives)
                came.append([*record[table.key_words], *values])
                shown[group] = came[-1]
        width = shown.shape[1]
        self.gone = Bag(self._variables, np.array(gone, dtype=np.int64).reshape(len(gone), width))
        self.came = Bag(self._variables, np.array(came, dtype=np.int64).reshape(len(came), width))

    def _told_of(self, group: int, record: list[int], least: list[int], lives: Lives) -> list[int]:
        """Return the terms of one group's aggregates."""
        said = [self._of_record(place, record, least, group) for place in range(len(self._arguments))]
        values = [self._terms.intern(each) if isinstance(each, bytes) else each for each in said]
        if _UNKNOWN in values:
            found = np.array([values], dtype=np.int64)
            self._slow(np.array([group]), found, lives)
            values = found[0].tolist()
        return values

    def _of_record(self, place: int, record: list[int], least: list[int], group: int) -> bytes | int:
        """Return an aggregate of one group as text or as a term, or that it is not known."""
        function, argument = self.found.aggregates[place][1].function, self._arguments[place]
        if argument is None:
            return _INTEGER % (b"%d" % record[0])
        kept = self.table.of_argument(record, argument)
        if function in _SIGNS:
            return least[self._extremes[place]] if record[0] in (kept[NUMBERS], kept[MOMENTS]) else _UNKNOWN
        if function == "COUNT":
            return _INTEGER % (b"%d" % kept[BOUND])
        return _sum(function, record[0], kept, self.table.limbs[group, argument])

    def all(self) -> Bag:
        """Return the solutions of all groups."""
        found = self._shown[self._is_shown]
        if len(found) or not self.found.implicit:
            return Bag(self._variables, found)
        one = Bag.unit()
        nobody = Bag(self._columns, np.zeros((0, len(self._columns)), dtype=np.int64))
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
    def _aggregates(self, groups: np.ndarray, extremes: np.ndarray, lives: Lives) -> np.ndarray:
        """Return the terms of all aggregates, a row a group."""
        whole = _Told(self.table, groups)
        keys = self.table.keys_of(groups) if self._different else groups
        different = {of: _Told(each.table, each.groups_of(keys)) for of, each in self._different.items()}
        columns = [self._said(place, whole, different, extremes) for place in range(len(self._arguments))]
        texts = [each for column in columns for each in column if isinstance(each, bytes)]
        interned = iter(self._interned(texts))
        known = [[next(interned) if isinstance(each, bytes) else each for each in column] for column in columns]
        found = np.array(known, dtype=np.int64).reshape(len(columns), len(groups)).T
        if (found < 0).any():
            self._slow(groups, found, lives)
        return found

    def _interned(self, texts: list[bytes]) -> list[int]:
        if len(texts) <= _FEW:
            return [self._terms.intern(each) for each in texts]
        found: list[int] = self._terms.intern_many(texts).tolist()
        return found

    def _said(
        self, place: int, whole: _Told, different: Mapping[int, _Told], extremes: np.ndarray
    ) -> Sequence[bytes | int]:
        """Return an aggregate of each group by what the tables have kept: texts or terms, or that it is not known."""
        call, argument = self.found.aggregates[place][1], self._arguments[place]
        if argument is None:
            return [_INTEGER % (b"%d" % record[0]) for record in whole.records]
        if call.function in _SIGNS:
            least: list[int] = extremes[:, self._extremes[place]].tolist()
            known = (size in (kept[NUMBERS], kept[MOMENTS]) for size, kept in whole.of(argument))
            return [term if good else _UNKNOWN for term, good in zip(least, known, strict=True)]
        told, argument = (different[argument], 0) if call.distinct else (whole, argument)
        if call.function == "COUNT":
            return [_INTEGER % (b"%d" % kept[BOUND]) for _, kept in told.of(argument)]
        return [
            _sum(call.function, size, kept, told.limbs(number, argument))
            for number, (size, kept) in enumerate(told.of(argument))
        ]

    def _slow(self, groups: np.ndarray, found: np.ndarray, lives: Lives) -> None:
        """Find from their solutions what the table does not know of some groups."""
        wanted = groups[(found < 0).any(axis=1)]
        rows = lives.there
        own = self.table.groups_of(lives.rows, rows)
        kept = np.isin(own, wanted)
        ids = lives.terms(rows[kept])
        order = np.lexsort(ids.T)  # sums of what is rounded hang on it, so it follows from the terms alone
        solutions = Bag(self._columns, ids[order])
        numbers = np.searchsorted(np.sort(wanted), own[kept][order])
        places = np.searchsorted(np.sort(wanted), groups).clip(max=len(wanted) - 1)
        for (_, call), column in zip(self.found.aggregates, found.T, strict=True):
            unknown = column < 0
            if unknown.any():
                column[unknown] = self._expressions().aggregated(call, solutions, numbers, len(wanted))[places[unknown]]

    def fill(self, lives: Lives, values: Values) -> None:
        """Begin with the rows that are alive."""
        self.change(lives, lives.there, _NONE, values)
        self.settle(lives, BEFORE_ALL)


class _Told:
    """What a table has kept of some groups."""

    def __init__(self, table: GroupTable, groups: np.ndarray) -> None:
        self._table, self._groups = table, groups
        self.records: list[list[int]] = table.groups[groups].tolist()  # the words of each; the first: its solutions

    def of(self, argument: int) -> Iterator[tuple[int, list[int]]]:
        """Yield how many solutions a group has, and what is kept of an argument."""
        return ((record[0], self._table.of_argument(record, argument)) for record in self.records)

    def limbs(self, place: int, argument: int) -> np.ndarray:
        """Return the words of a group's sum of doubles."""
        found: np.ndarray = self._table.limbs[self._groups[place], argument]
        return found


def _sum(function: str, size: int, kept: list[int], limbs: np.ndarray) -> bytes | int:
    """Return a sum or a mean as text, if all of a group's values are exact numbers, or all are doubles."""
    if kept[WHOLE] + kept[DECIMALS] == size:
        return _exact(function, kept)
    if kept[DOUBLES] != size:
        return _UNKNOWN
    if function == "PARTIAL_SUM":
        return partial_sum(exact_of_doubles(limbs))
    total = of_doubles(limbs)
    return _of_double(total / size if function == "AVG" else total)


def _variable(argument: Expression | None) -> Variable | None:
    """Return the column that an aggregate is of."""
    assert argument is None or isinstance(argument, Variable)
    return argument


def _exact(function: str, kept: list[int]) -> bytes:
    """Return the sum or the mean of whole numbers and decimals as text."""
    whole = (kept[WHOLE_SUM] << 32) + kept[WHOLE_SUM + 1]
    parts = (kept[DECIMAL_SUM] << 32) + kept[DECIMAL_SUM + 1]
    if function != "AVG" and not kept[DECIMALS]:
        return _INTEGER % (b"%d" % whole)
    sum_of = Decimal(whole * UNIT + parts).scaleb(-9, _WIDE) if kept[DECIMALS] else Decimal(whole)
    if function == "AVG":
        sum_of = _DIVISION.divide(sum_of, Decimal(kept[WHOLE] + kept[DECIMALS]))
    return _DECIMAL % decimal_text(sum_of).encode()


def _of_double(value: float) -> bytes:
    literal = numeric_literal(value + 0.0, DOUBLE)  # no zero is negative
    return _DOUBLE % str(literal).encode()
