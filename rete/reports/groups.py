"""Groups: counts, sums and extremes of the solutions in a window, kept as solutions come and go.

Data's way: rows of `rete/reports/lives.py` that have come or gone -> **groups** -> what has changed, for a report.
Whole numbers and decimals are summed as whole numbers, decimals in units of 10**-9; doubles as whole numbers, too, in
units of 2**-128, in eight words of 32 bits.  So all sums are exact, and what goes takes away what it had brought.
A term that fits none of these is counted as bound and as nothing else: who tells a group's sum sees by the counts that
it must be found in another way.
Left out: terms that results have (`retewave.views.grouping`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from retewave.rete.reports.doubles import LIMB, LIMBS, add_double
from retewave.rete.reports.extremes import CELL_TOP, CELL_WORDS, drop_until, note_value
from retewave.rete.reports.lives import (
    ROW,
    ROW_TERMS,
    forget_place,
    place_of,
    place_of_row,
    roomy,
    tag_of,
)
from retewave.rete.terms.kinds import DATETIME, DECIMAL, DOUBLE, INTEGER, Values
from retewave.rete.words.bare import prefetch, words
from retewave.rete.words.jit import inlined, kernel
from retewave.windows.intervals import BEFORE_ALL, STATIC_START

__all__ = [
    "BOUND",
    "DECIMALS",
    "DECIMAL_SUM",
    "DOUBLES",
    "MOMENTS",
    "NUMBERS",
    "UNIT",
    "WHOLE",
    "WHOLE_SUM",
    "GroupTable",
]

# words of what is kept of a group and an argument: how many solutions bind it, to numbers, to moments with a zone, to
# what is summed as whole numbers, decimals, doubles; two words each of the sums of whole numbers and of decimals
BOUND, NUMBERS, MOMENTS, WHOLE, DECIMALS, DOUBLES, WHOLE_SUM, DECIMAL_SUM, _WORDS = 0, 1, 2, 3, 4, 5, 6, 8, 10
UNIT = 10**9  # of decimals
_MANY_DIGITS, _WHOLE_DOUBLE = 1e15, 9007199254740992.0  # decimals and whole numbers below are told apart as doubles
_FEWEST = 64
_AHEAD = 16  # rows of whose terms the numbers are fetched before the first is looked at
_TOP, _FREE, _CHANGED = 0, 1, 2  # words of the counts: the first group never used, a free one, changed ones
# words of a group: how many solutions it has; 1 if it has changed, -1 if it is free; its key, then what is kept of each
# argument, then the heads of its lists of extremes
_SOLUTIONS, _STAMP, _KEY = 0, 1, 2
# words of the plan: how many columns make the key, arguments, extremes; words of a group; the grid of starts; then the
# columns, the arguments' columns, the arguments that have extremes, and the signs of these
_COLUMNS, _ARGUMENTS, _EXTREMES, _WIDTH, _STEP, _ORIGIN, _LISTS = 0, 1, 2, 3, 4, 5, 6


@inlined
def _add_in_parts(groups, at, amount, sign):  # type: ignore[no-untyped-def]
    """Add a whole number to a sum of two words, which has room for more numbers than there can be."""
    groups[at] += sign * (amount >> LIMB)
    groups[at + 1] += sign * (amount & 0xFFFFFFFF)


@inlined
def _decimal(number):  # type: ignore[no-untyped-def]
    """Return a decimal in units of 10**-9, and whether that is exact; the double is the decimal's nearest one."""
    coarse = np.rint(number * 1e6)
    if abs(coarse) < _MANY_DIGITS and coarse / 1e6 == number:
        return np.int64(coarse) * 1000, True
    fine = np.rint(number * 1e9)
    return (np.int64(fine), True) if abs(fine) < _MANY_DIGITS and fine / 1e9 == number else (np.int64(0), False)


@inlined
def _count(groups, at, limbs, limb, term, sign, kind, number, exact):  # type: ignore[no-untyped-def]
    """Count and sum a term, or take it away."""
    if term == 0:
        return
    groups[at + BOUND] += sign
    if exact == 0 or number != number:
        return
    if kind == DATETIME:
        groups[at + MOMENTS] += sign
    elif kind == DECIMAL:
        groups[at + NUMBERS] += sign
        amount, good = _decimal(number)
        if good:
            groups[at + DECIMALS] += sign
            _add_in_parts(groups, at + DECIMAL_SUM, amount, sign)
    elif kind == INTEGER and abs(number) <= _WHOLE_DOUBLE:
        groups[at + NUMBERS] += sign
        groups[at + WHOLE] += sign
        _add_in_parts(groups, at + WHOLE_SUM, np.int64(number), sign)
    elif kind == DOUBLE:
        groups[at + NUMBERS] += sign
        if add_double(limbs, limb, number, sign):
            groups[at + DOUBLES] += sign


@inlined
def _place(groups, table, mask, plan, rows, row):  # type: ignore[no-untyped-def]
    """Return the place of a row's group in the table, or where it would go; its key is written as that of group 0."""
    columns = plan[_COLUMNS]
    for c in range(columns):
        groups[_KEY + c] = rows[row + plan[_LISTS + c]]
    tag = tag_of(groups, _KEY, columns)
    return place_of(table, mask, tag, groups, _KEY, plan[_WIDTH], groups, _KEY, columns), tag


@inlined
def _new_group(groups, counts, limbs, plan):  # type: ignore[no-untyped-def]
    """Return a group with the key of group 0."""
    group, width = counts[_FREE], plan[_WIDTH]
    if group != 0:
        counts[_FREE] = groups[group * width]
    else:
        group = counts[_TOP]
        counts[_TOP] += 1
    for w in range(width):
        groups[group * width + w] = groups[w] if _KEY <= w < _KEY + plan[_COLUMNS] else 0
    for w in range(plan[_ARGUMENTS] * LIMBS):
        limbs[group * plan[_ARGUMENTS] * LIMBS + w] = 0
    return group


@inlined
def _change(groups, counts, changed, limbs, plan, group, rows, row, sign, kinds, numbers, exact):  # type: ignore[no-untyped-def]
    """Let a solution come to its group, or leave it."""
    at, arguments = group * plan[_WIDTH], plan[_ARGUMENTS]
    groups[at] += sign
    if groups[at + _STAMP] == 0:
        groups[at + _STAMP] = 1
        changed[counts[_CHANGED]] = group
        counts[_CHANGED] += 1
    at += _KEY + plan[_COLUMNS]
    for a in range(arguments):
        term = rows[row + plan[_LISTS + plan[_COLUMNS] + a]]
        limb = (group * arguments + a) * LIMBS
        _count(groups, at + a * _WORDS, limbs, limb, term, sign, kinds[term], numbers[term], exact[term])


@inlined
def _compare(groups, plan, group, cells, cell_numbers, cell_counts, rows, row, start, kinds, numbers, exact):  # type: ignore[no-untyped-def]
    """Note the values of a solution of which extremes are asked."""
    columns, arguments, extremes = plan[_COLUMNS], plan[_ARGUMENTS], plan[_EXTREMES]
    lists = _LISTS + columns + arguments
    head = group * plan[_WIDTH] + _KEY + columns + arguments * _WORDS
    for e in range(extremes):
        term = rows[row + plan[_LISTS + columns + plan[lists + e]]]
        kind, number, sign = kinds[term], numbers[term], plan[lists + extremes + e]
        ordered = kind in (INTEGER, DECIMAL, DOUBLE, DATETIME)
        if ordered and exact[term] != 0 and number == number:
            note_value(cells, cell_numbers, cell_counts, groups, head + 2 * e, sign, start, term, number)


@inlined
def _foresee(plan, rows, row, kinds, numbers, exact):  # type: ignore[no-untyped-def]
    """Have what is known of the arguments of a row that comes soon on its way."""
    for a in range(plan[_ARGUMENTS]):
        term = rows[row + plan[_LISTS + plan[_COLUMNS] + a]]
        prefetch(kinds, term)
        prefetch(numbers, term)
        prefetch(exact, term)


@kernel
def _add(  # type: ignore[no-untyped-def]
    all_rows,
    touched,
    begin,
    plan_words,
    all_groups,
    places,
    group_counts,
    all_limbs,
    all_changed,
    all_cells,
    all_cell_numbers,
    all_cell_counts,
    kind_of,
    number_of,
    is_exact,
):
    """Take rows that have come, or live longer; return the place of the first that there was no room for."""
    rows, plan, groups, table = words(all_rows), words(plan_words), words(all_groups), words(places)
    width = all_rows.shape[1]
    counts, limbs, changed, mask = words(group_counts), words(all_limbs), words(all_changed), places.size - 1
    cells, cell_numbers, cell_counts = words(all_cells), words(all_cell_numbers), words(all_cell_counts)
    kinds, numbers, exact = words(kind_of), words(number_of), words(is_exact)
    step, origin, until = plan[_STEP], plan[_ORIGIN], np.int64(BEFORE_ALL)
    for i in range(begin, touched.size):
        if i + _AHEAD < touched.size:
            _foresee(plan, rows, abs(touched[i + _AHEAD]) * width, kinds, numbers, exact)
        if counts[_TOP] >= all_groups.shape[0] or cell_counts[CELL_TOP] + plan[_EXTREMES] > all_cells.shape[0]:
            return i
        row, new = abs(touched[i]) * width, touched[i] > 0
        if not new and plan[_EXTREMES] == 0:
            continue
        place, tag = _place(groups, table, mask, plan, rows, row)
        if table[place] == 0:
            table[place] = (tag << 32) | _new_group(groups, counts, limbs, plan)
        group = table[place] & ROW
        if new:
            _change(groups, counts, changed, limbs, plan, group, rows, row, 1, kinds, numbers, exact)
        if plan[_EXTREMES] == 0:
            continue
        start = rows[row]
        if step > 1 and start != STATIC_START:  # the end of its stretch: it lives as long
            if not until - step < start <= until:
                until = origin + ((start - 1 - origin) // step + 1) * step
            start = until
        _compare(groups, plan, group, cells, cell_numbers, cell_counts, rows, row, start, kinds, numbers, exact)
    return touched.size


@kernel
def _take_away(  # type: ignore[no-untyped-def]
    all_rows, gone, plan_words, all_groups, places, group_counts, all_limbs, all_changed, kind_of, number_of, is_exact
):
    """Take away rows that have left."""
    rows, plan, groups, table = words(all_rows), words(plan_words), words(all_groups), words(places)
    width = all_rows.shape[1]
    counts, limbs, changed, mask = words(group_counts), words(all_limbs), words(all_changed), places.size - 1
    kinds, numbers, exact = words(kind_of), words(number_of), words(is_exact)
    for i in range(gone.size):
        if i + _AHEAD < gone.size:
            _foresee(plan, rows, gone[i + _AHEAD] * width, kinds, numbers, exact)
        row = gone[i] * width
        place, _ = _place(groups, table, mask, plan, rows, row)
        _change(groups, counts, changed, limbs, plan, table[place] & ROW, rows, row, -1, kinds, numbers, exact)


@kernel
def _settle(plan_words, all_groups, places, group_counts, changed, all_cells, all_cell_counts, low, found):  # type: ignore[no-untyped-def]
    """Write the extremes of changed groups; forget the groups that have no solution any more."""
    plan, groups, table, counts = words(plan_words), words(all_groups), words(places), words(group_counts)
    cells, cell_counts, mask = words(all_cells), words(all_cell_counts), places.size - 1
    columns, head = plan[_COLUMNS], _KEY + plan[_COLUMNS] + plan[_ARGUMENTS] * _WORDS
    for i in range(changed.size):
        group = changed[i]
        at = group * plan[_WIDTH]
        for e in range(plan[_EXTREMES]):
            found[i, e] = drop_until(cells, cell_counts, groups, at + head + 2 * e, low)
        groups[at + _STAMP] = 0
        if groups[at] == 0:
            forget_place(table, mask, place_of_row(table, mask, tag_of(groups, at + _KEY, columns), group))
            groups[at], groups[at + _STAMP] = counts[_FREE], -1
            counts[_FREE] = group


@kernel
def _groups_of(all_rows, wanted, plan_words, all_groups, places, found):  # type: ignore[no-untyped-def]
    """Write the group of each wanted row."""
    rows, plan, groups, table = words(all_rows), words(plan_words), words(all_groups), words(places)
    width = all_rows.shape[1]
    for i in range(wanted.size):
        place, _ = _place(groups, table, places.size - 1, plan, rows, wanted[i] * width)
        found[i] = table[place] & ROW


class GroupTable:
    """The groups of one GROUP BY, and what aggregates need of each."""

    def __init__(
        self,
        columns: Sequence[int],
        arguments: Sequence[int],
        extremes: Sequence[tuple[int, int]],
        grid: tuple[int, int] | None,
    ) -> None:
        """Make groups by the terms at `columns`.

        Counts and sums are kept of the terms at `arguments`, and extremes of the arguments at some places: the least
        for a sign of 1, the greatest for one of -1.  `grid`: see `grid_of` (`retewave.views.bounds`).
        """
        step, origin = grid or (1, 0)
        self.keys, self._kept = len(columns), _KEY + len(columns)
        width = self._kept + len(arguments) * _WORDS + 2 * len(extremes)
        sizes = [len(columns), len(arguments), len(extremes), width, step, origin]
        seen = [ROW_TERMS + each for each in (*columns, *arguments)]
        lists = [*seen, *(place for place, _ in extremes), *(sign for _, sign in extremes)]
        self.plan = np.array([*sizes, *lists], dtype=np.int64)
        self.table = np.zeros(4 * _FEWEST, dtype=np.int64)
        self.counts = np.array([1, 0, 0], dtype=np.int64)
        self.groups = np.zeros((_FEWEST, width), dtype=np.int64)
        self.limbs = np.zeros((_FEWEST, max(1, len(arguments)), LIMBS), dtype=np.int64)
        self.changed = np.zeros(_FEWEST, dtype=np.int64)
        self.cells = np.zeros((_FEWEST + 2 * len(extremes), CELL_WORDS), dtype=np.int64)
        self.cell_numbers = np.zeros(len(self.cells))
        self.cell_counts = np.array([1, 0], dtype=np.int64)

    def __len__(self) -> int:
        return len(self.groups)

    def add(self, rows: np.ndarray, touched: np.ndarray, values: Values) -> None:
        """Take rows that have come, and with a minus those that live longer."""
        done = 0
        while done < len(touched):
            self._make_room()
            done = _add(
                rows, touched, done, self.plan, self.groups, self.table, self.counts, self.limbs, self.changed,
                self.cells, self.cell_numbers, self.cell_counts, values.kind, values.number, values.exact,
            )  # fmt: skip

    def take_away(self, rows: np.ndarray, gone: np.ndarray, values: Values) -> None:
        """Take away rows that have left."""
        if len(gone):
            _take_away(
                rows, gone, self.plan, self.groups, self.table, self.counts, self.limbs, self.changed, values.kind,
                values.number, values.exact,
            )  # fmt: skip

    def settle(self, low: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the groups that have changed since the last time, and their extremes, 0 for none.

        The groups that have no solution any more are among them; their numbers may be used again.
        """
        changed = self.changed[: self.counts[_CHANGED]].copy()
        self.counts[_CHANGED] = 0
        found = np.zeros((len(changed), self.plan[_EXTREMES]), dtype=np.int64)
        _settle(
            self.plan, self.groups, self.table, self.counts, changed, self.cells, self.cell_counts, low, found
        )  # fmt: skip
        return changed, found

    def groups_of(self, rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Return the groups of some rows that are alive."""
        found = np.empty(len(wanted), dtype=np.int64)
        _groups_of(rows, wanted, self.plan, self.groups, self.table, found)
        return found

    def sizes(self, groups: np.ndarray) -> np.ndarray:
        """Return how many solutions some groups have; 0 for those that are no more."""
        sizes: np.ndarray = np.where(self.groups[groups, _STAMP] < 0, 0, self.groups[groups, _SOLUTIONS])
        return sizes

    @property
    def key_words(self) -> slice:
        """Which words of a group are its key."""
        return slice(_KEY, self._kept)

    def is_alive(self, record: list[int]) -> bool:
        """Tell whether a group of such words has a solution."""
        return record[_STAMP] >= 0 and record[_SOLUTIONS] > 0

    def keys_of(self, groups: np.ndarray) -> np.ndarray:
        """Return the keys of some groups."""
        return self.groups[groups, _KEY : self._kept]

    def of_argument(self, record: list[int], argument: int) -> list[int]:
        """Return what is kept of an argument, BOUND and the other words, of the words of a group."""
        first = self._kept + argument * _WORDS
        return record[first : first + _WORDS]

    def _make_room(self) -> None:
        """Make room for one more group, and its cells, at least."""
        size = len(self.groups)
        if self.counts[_TOP] >= size:
            self.groups, self.limbs, self.changed = map(_doubled, (self.groups, self.limbs, self.changed))
            self.table = roomy(2 * size, self.table)
        if self.cell_counts[CELL_TOP] + self.plan[_EXTREMES] > len(self.cells):
            self.cells, self.cell_numbers = _doubled(self.cells), _doubled(self.cell_numbers)


def _doubled(array: np.ndarray) -> np.ndarray:
    larger = np.zeros((2 * len(array), *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger
