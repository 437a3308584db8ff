"""Relations: bags of solutions as columns of term ids, and the joins of SPARQL 1.1 on them.

Data's way: live solutions of the network -> **relations** -> operators -> a report.
A cell is a term's id, or 0 where the variable is unbound.  Solutions are compatible if they agree in the variables that
both bind, so rows are joined by classes: rows that bind the same variables are compared by the columns they share.
Left out: expressions (`retewave.views.expressions`), and which relation is asked for (`retewave.views.evaluate`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from retewave.compiler.algebra import Told
from retewave.compiler.expressions.tree import Variable
from retewave.rete.reports.relations import numbered_rows, pairs_of_equals

__all__ = ["Bag", "classes", "codes", "differences", "first_places", "left_over", "pairs", "united", "without"]


_FEW = 4  # rows that are compared as lists


@dataclass(frozen=True, eq=False)
class Bag:
    """A bag of solutions."""

    variables: tuple[Variable, ...]  # its columns
    ids: np.ndarray  # int64[n, columns]; 0 is unbound

    @classmethod
    def unit(cls, rows: int = 1) -> Bag:
        """Return solutions that bind nothing."""
        return cls((), np.zeros((rows, 0), dtype=np.int64))

    def __len__(self) -> int:
        return len(self.ids)

    def column(self, variable: Variable) -> np.ndarray:
        """Return a column; unbound for a variable that it does not have."""
        if variable in self.variables:
            return self.ids[:, self.variables.index(variable)]
        return np.zeros(len(self.ids), dtype=np.int64)

    def projected(self, variables: Sequence[Variable]) -> Bag:
        """Return the solutions with these columns only."""
        if tuple(variables) == self.variables:
            return self
        columns = [self.column(each) for each in variables]
        ids = np.column_stack(columns) if columns else np.zeros((len(self), 0), dtype=np.int64)
        return Bag(tuple(variables), ids)

    def taken(self, places: np.ndarray) -> Bag:
        """Return the solutions at some places, or those that a mask keeps."""
        return Bag(self.variables, self.ids[places])

    def extended(self, variable: Variable, column: np.ndarray) -> Bag:
        """Return the solutions with one more column; a column that is there gets values where it has none."""
        if variable in self.variables:
            ids = self.ids.copy()
            place = self.variables.index(variable)
            ids[:, place] = np.where(ids[:, place] == 0, column, ids[:, place])
            return Bag(self.variables, ids)
        return Bag((*self.variables, variable), np.column_stack([self.ids, column]))

    def distinct(self) -> Bag:
        """Return each different solution once, at its first place."""
        return self.taken(first_places(self.ids))

    def joined(self, other: Bag) -> Bag:
        """Return the join of two relations."""
        mine, its = pairs(self, other)
        return self.combined(other, mine, its)

    def combined(self, other: Bag, mine: np.ndarray, its: np.ndarray) -> Bag:
        """Return the unions of pairs of compatible solutions."""
        found, own = self.taken(mine), [place for place, each in enumerate(other.variables) if each in self.variables]
        for place in own:
            found = found.extended(other.variables[place], other.ids[its, place])
        more = [place for place in range(len(other.variables)) if place not in own]
        new = other.ids[:, more][its]
        return Bag((*found.variables, *(other.variables[place] for place in more)), np.hstack([found.ids, new]))


def codes(ids: np.ndarray) -> np.ndarray:
    """Return a number for each row: equal rows, equal numbers; they count from 0 by the rows' first places."""
    return numbered_rows(ids)[0]


def first_places(ids: np.ndarray) -> np.ndarray:
    """Return the first place of each different row, in order."""
    return numbered_rows(ids)[1]


def classes(ids: np.ndarray) -> Iterator[tuple[tuple[bool, ...], np.ndarray]]:
    """Yield which columns rows bind, and the places of the rows that bind just these."""
    bound = ids != 0
    if bound.all():
        if len(ids):
            yield (True,) * ids.shape[1], np.arange(len(ids))
        return
    kinds = codes(bound.astype(np.int64))
    for kind in range(int(kinds.max()) + 1):
        places = np.flatnonzero(kinds == kind)
        yield tuple(bound[places[0]].tolist()), places


def pairs(one: Bag, other: Bag, *, sharing: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of all pairs of compatible solutions, in the order of the first; `sharing`: of at least a term.

    >>> x, y = Variable("x"), Variable("y")
    >>> left, right = Bag((x,), np.array([[1], [2], [0]])), Bag((x, y), np.array([[2, 5], [3, 6]]))
    >>> [places.tolist() for places in pairs(left, right)]
    [[1, 2, 2], [0, 0, 1]]
    """
    shared = [each for each in one.variables if each in other.variables]
    left, right = one.projected(shared).ids, other.projected(shared).ids
    mine: list[np.ndarray] = []
    its: list[np.ndarray] = []
    for bound, places in classes(left):
        for also, others in classes(right):
            both = [place for place in range(len(shared)) if bound[place] and also[place]]
            if sharing and not both:
                continue
            first, second = pairs_of_equals(left[places][:, both], right[others][:, both])
            mine.append(places[first])
            its.append(others[second])
    if not mine:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    if len(mine) == 1:
        return mine[0], its[0]
    found, theirs = np.concatenate(mine), np.concatenate(its)
    order = np.lexsort((theirs, found))
    return found[order], theirs[order]


def united(parts: Sequence[Bag]) -> Bag:
    """Return the solutions of all parts."""
    variables = tuple(dict.fromkeys(each for part in parts for each in part.variables))
    return Bag(variables, np.concatenate([part.projected(variables).ids for part in parts]))


def without(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return rows without as many equal ones as there are among others, in their order."""
    if not len(rows) or not len(others):
        return rows
    if max(len(rows), len(others)) <= _FEW:
        left = others.tolist()
        kept_rows = [row for row in rows.tolist() if not _taken_from(left, row)]
        return np.array(kept_rows, dtype=np.int64).reshape(len(kept_rows), rows.shape[1])
    kept: np.ndarray = rows[left_over(rows, others)]
    return kept


def differences(told: Told, rows: np.ndarray, former: np.ndarray) -> tuple[np.ndarray, int]:
    """Return what is told of a report and of the one before, and how many of these rows, the last ones, are gone.

    >>> found, gone = differences("CHANGES", np.array([[1], [2]]), np.array([[2], [3]]))
    >>> found.tolist(), gone
    ([[1], [3]], 1)
    """
    if told == "ISTREAM":
        return without(rows, former), 0
    gone = without(former, rows)
    return (gone, 0) if told == "DSTREAM" else (np.concatenate([without(rows, former), gone]), len(gone))


def _taken_from(rows: list[list[int]], row: list[int]) -> bool:
    """Take a row out of a list; tell whether it was there."""
    if row not in rows:
        return False
    rows.remove(row)
    return True


def left_over(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the places of rows that are left if as many equal ones go as there are among others.

    >>> left_over(np.array([[1], [2], [1]]), np.array([[1], [3]])).tolist()
    [1, 2]
    """
    known = codes(np.concatenate([others, rows]))
    before, mine = known[: len(others)], known[len(others) :]
    left = np.bincount(before, minlength=int(known.max(initial=-1)) + 1)
    order = np.argsort(mine, kind="stable")
    ordered = mine[order]
    number = np.arange(len(ordered)) - np.searchsorted(ordered, ordered, "left")  # which of the equal ones it is
    found: np.ndarray = np.sort(order[number >= left[ordered]])
    return found
