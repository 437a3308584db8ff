"""Groups: counts, sums and extremes of the solutions in a window, kept as solutions come and go.

Data's way: rows of `rete/reports/lives.py` that have come or gone -> **groups** -> what has changed, for a report.
Whole numbers and decimals are summed as whole numbers, decimals in units of 10**-9; doubles as whole numbers, too, in
units of 2**-128, in eight words of 32 bits.  So all sums are exact, and what goes takes away what it had brought.
A term that fits none of these is counted as bound and as nothing else: who tells a group's sum sees by the counts that
it must be found in another way.
Left out: terms that results have (`retewave.views.grouping`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from retewave.rete.reports.extremes import CELL_WORDS, drop_until, note_value
from retewave.rete.reports.lives import ROW_START, ROW_TERMS, empty_places, enter_place, forget_place, tag_of
from retewave.rete.terms.kinds import DATETIME, DECIMAL, DOUBLE, INTEGER, Values
from retewave.rete.words.jit import inlined, kernel
from retewave.windows.intervals import STATIC_START

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
    "of_doubles",
]

# words of what is kept of a group and an argument: how many solutions bind it, to numbers, to moments with a zone, to
# what is summed as whole numbers, decimals, doubles; two words each of the sums of whole numbers and of decimals
BOUND, NUMBERS, MOMENTS, WHOLE, DECIMALS, DOUBLES, WHOLE_SUM, DECIMAL_SUM, _WORDS = 0, 1, 2, 3, 4, 5, 6, 8, 10
UNIT = 10**9  # of decimals
_LIMBS, _LIMB, _LOWEST = 8, 32, 128  # words of a sum of doubles, bits of each, and the power below of its unit
_MANY_DIGITS, _WHOLE_DOUBLE = 1e15, 9007199254740992.0  # decimals and whole numbers below are told apart as doubles
_FEWEST = 64
_TOP, _FREE, _CHANGED = 0, 1, 2  # words of the counts: the first group never used, a free one, changed ones
_KNOWN, _STAMP = 0, 1  # words of a group: how many solutions it has; 1 if it has changed


@inlined
def _add_in_parts(kept, group, a, word, amount, sign):  # type: ignore[no-untyped-def]
    """Add a whole number to a sum of two words: so many of them fit that it never overflows."""
    kept[group, a, word] += sign * (amount >> _LIMB)
    kept[group, a, word + 1] += sign * (amount & 0xFFFFFFFF)


@inlined
def _decimal(number):  # type: ignore[no-untyped-def]
    """Return a decimal in units of 10**-9, and whether that is exact; the double is the decimal's nearest one."""
    coarse = np.rint(number * 1e6)
    if abs(coarse) < _MANY_DIGITS and coarse / 1e6 == number:
        return np.int64(coarse) * 1000, True
    fine = np.rint(number * 1e9)
    return (np.int64(fine), True) if abs(fine) < _MANY_DIGITS and fine / 1e9 == number else (np.int64(0), False)


@kernel
def _add_double(limbs, group, a, number, sign):  # type: ignore[no-untyped-def]
    """Add a double to a sum of doubles, and tell whether that is exact."""
    if number == 0.0:
        return True
    if not abs(number) < 2.0**90 or abs(number) < 2.0**-70:
        return False
    mantissa, power = math.frexp(abs(number))
    whole = np.int64(mantissa * 2.0**53)
    at = power - 53 + _LOWEST
    while at < 0:  # the lowest bits of so small a number may be all 0
        if whole & 1:
            return False
        whole, at = whole >> 1, at + 1
    sign = -sign if number < 0.0 else sign
    limb, shift = at // _LIMB, at % _LIMB
    low, high = (whole & 0xFFFFFFFF) << shift, (whole >> _LIMB) << shift
    limbs[group, a, limb] += sign * (low & 0xFFFFFFFF)
    limbs[group, a, limb + 1] += sign * ((low >> _LIMB) + (high & 0xFFFFFFFF))
    limbs[group, a, limb + 2] += sign * (high >> _LIMB)
    return True


@inlined
def _count(kept, limbs, group, a, term, sign, kinds, numbers, exact):  # type: ignore[no-untyped-def]
    """Count and sum a term, or take it away."""
    if term == 0:
        return
    kept[group, a, BOUND] += sign
    kind, number = kinds[term], numbers[term]
    if exact[term] == 0 or number != number:
        return
    if kind == DATETIME:
        kept[group, a, MOMENTS] += sign
    elif kind == DECIMAL:
        kept[group, a, NUMBERS] += sign
        amount, good = _decimal(number)
        if good:
            kept[group, a, DECIMALS] += sign
            _add_in_parts(kept, group, a, DECIMAL_SUM, amount, sign)
    elif kind == INTEGER and abs(number) <= _WHOLE_DOUBLE:
        kept[group, a, NUMBERS] += sign
        kept[group, a, WHOLE] += sign
        _add_in_parts(kept, group, a, WHOLE_SUM, np.int64(number), sign)
    elif kind == DOUBLE:
        kept[group, a, NUMBERS] += sign
        if _add_double(limbs, group, a, number, sign):
            kept[group, a, DOUBLES] += sign


@inlined
def _note_changed(known, changed, counts, group):  # type: ignore[no-untyped-def]
    if known[group, _STAMP] == 0:
        known[group, _STAMP] = 1
        changed[counts[_CHANGED]] = group
        counts[_CHANGED] += 1


@inlined
def _place_of(keys, table, rows, row, columns, tag):  # type: ignore[no-untyped-def]
    """Return the place of a row's group in the table, or where it would go."""
    mask = table.size - 1
    place = tag & mask
    while table[place] != 0:
        entry = table[place]
        if entry >> 32 == tag:
            group, same = entry & 0xFFFFFFFF, True
            for c in range(columns.size):
                same = same and keys[group, c] == rows[row, columns[c]]
            if same:
                break
        place = (place + 1) & mask
    return place


@inlined
def _tag(keys, rows, row, columns):  # type: ignore[no-untyped-def]
    """Return the tag of a row's key, which is written before the first group."""
    for c in range(columns.size):
        keys[0, c] = rows[row, columns[c]]
    return tag_of(keys, 0, 0, columns.size)


@inlined
def _new_group(keys, counts, known, kept, limbs, columns):  # type: ignore[no-untyped-def]
    """Return a group with the key that is written before the first group."""
    group = counts[_FREE]
    if group != 0:
        counts[_FREE] = known[group, _KNOWN]
    else:
        group = counts[_TOP]
        counts[_TOP] += 1
    for c in range(columns.size):
        keys[group, c] = keys[0, c]
    known[group, _KNOWN] = 0
    known[group, _STAMP] = 0
    kept[group] = 0
    limbs[group] = 0
    return group


@kernel
def _add(rows, touched, begin, columns, arguments, keys, table, counts, known, kept, limbs, changed, heads, extremes,
         signs, cells, cell_numbers, cell_counts, step, origin, kinds, numbers, exact):  # type: ignore[no-untyped-def]  # fmt: skip
    """Take rows that have come, or live longer; return the place of the first that there was no room for."""
    for i in range(begin, touched.size):
        if counts[_TOP] >= keys.shape[0] or cell_counts[0] + signs.size > cells.shape[0]:
            return i
        row, new = abs(touched[i]), touched[i] > 0
        if not new and signs.size == 0:
            continue
        tag = _tag(keys, rows, row, columns)
        place = _place_of(keys, table, rows, row, columns, tag)
        if table[place] == 0:
            enter_place(table, place, tag, _new_group(keys, counts, known, kept, limbs, columns))
        group = table[place] & 0xFFFFFFFF
        if new:
            known[group, _KNOWN] += 1
            _note_changed(known, changed, counts, group)
            for a in range(arguments.size):
                _count(kept, limbs, group, a, rows[row, arguments[a]], 1, kinds, numbers, exact)
        start = rows[row, ROW_START]
        if step > 1 and start != STATIC_START and signs.size != 0:
            start = origin + ((start - 1 - origin) // step + 1) * step  # as long as it lives
        for e in range(signs.size):
            term = rows[row, arguments[extremes[e]]]
            kind = kinds[term]
            ordered = kind == INTEGER or kind == DECIMAL or kind == DOUBLE or kind == DATETIME
            if ordered and exact[term] != 0 and numbers[term] == numbers[term]:
                note_value(cells, cell_numbers, cell_counts, heads, group, e, signs[e], start, term, numbers[term])
    return touched.size


@kernel
def _take_away(rows, gone, columns, arguments, keys, table, counts, known, kept, limbs, changed, kinds, numbers, exact):  # type: ignore[no-untyped-def]
    """Take away rows that have left."""
    for i in range(gone.size):
        row = gone[i]
        place = _place_of(keys, table, rows, row, columns, _tag(keys, rows, row, columns))
        group = table[place] & 0xFFFFFFFF
        known[group, _KNOWN] -= 1
        _note_changed(known, changed, counts, group)
        for a in range(arguments.size):
            _count(kept, limbs, group, a, rows[row, arguments[a]], -1, kinds, numbers, exact)


@kernel
def _settle(keys, table, counts, known, changed, heads, cells, cell_counts, low, found):  # type: ignore[no-untyped-def]
    """Write the extremes of changed groups; forget the groups that have no solution any more."""
    columns, mask = keys.shape[1], table.size - 1
    for i in range(changed.size):
        group = changed[i]
        for e in range(heads.shape[1]):
            found[i, e] = drop_until(cells, cell_counts, heads, group, e, low)
        known[group, _STAMP] = 0
        if known[group, _KNOWN] == 0:
            place = tag_of(keys, group, 0, columns) & mask
            while table[place] & 0xFFFFFFFF != group:
                place = (place + 1) & mask
            forget_place(table, place)
            known[group, _KNOWN] = counts[_FREE]
            known[group, _STAMP] = -1
            counts[_FREE] = group


@kernel
def _groups_of(rows, wanted, columns, keys, table, found):  # type: ignore[no-untyped-def]
    """Write the group of each wanted row."""
    for i in range(wanted.size):
        tag = _tag(keys, rows, wanted[i], columns)
        found[i] = table[_place_of(keys, table, rows, wanted[i], columns, tag)] & 0xFFFFFFFF


def of_doubles(limbs: np.ndarray) -> float:
    """Return a sum of doubles, rounded once.

    >>> limbs = np.zeros((1, 1, 8), dtype=np.int64)
    >>> _ = [_add_double(limbs, 0, 0, number, 1) for number in (0.1, 1e20, -1e20)]
    >>> of_doubles(limbs[0, 0])
    0.1
    """
    total = sum(limb << (_LIMB * place) for place, limb in enumerate(limbs.tolist()))
    return total / (1 << _LOWEST)  # Python rounds a quotient of whole numbers to the nearest double


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
        self.step, self.origin = grid or (1, 0)
        self.columns = np.array(columns, dtype=np.int64) + ROW_TERMS
        self.arguments = np.array(arguments, dtype=np.int64) + ROW_TERMS
        self.extremes = np.array([place for place, _ in extremes], dtype=np.int64)
        self.signs = np.array([sign for _, sign in extremes], dtype=np.int64)
        self.table = np.zeros(4 * _FEWEST, dtype=np.int64)
        self.counts = np.array([1, 0, 0], dtype=np.int64)
        self.keys = np.zeros((_FEWEST, len(columns)), dtype=np.int64)
        self.known = np.zeros((_FEWEST, 2), dtype=np.int64)
        self.kept = np.zeros((_FEWEST, len(arguments), _WORDS), dtype=np.int64)
        self.limbs = np.zeros((_FEWEST, len(arguments), _LIMBS), dtype=np.int64)
        self.heads = np.zeros((_FEWEST, len(extremes), 2), dtype=np.int64)
        self.changed = np.zeros(_FEWEST, dtype=np.int64)
        self.cells = np.zeros((_FEWEST, CELL_WORDS), dtype=np.int64)
        self.cell_numbers = np.zeros(_FEWEST)
        self.cell_counts = np.array([1, 0], dtype=np.int64)

    def add(self, rows: np.ndarray, touched: np.ndarray, values: Values) -> None:
        """Take rows that have come, and with a minus those that live longer."""
        done = 0
        while done < len(touched):
            self._make_room()
            done = _add(
                rows, touched, done, self.columns, self.arguments, self.keys, self.table, self.counts, self.known,
                self.kept, self.limbs, self.changed, self.heads, self.extremes, self.signs, self.cells,
                self.cell_numbers, self.cell_counts, self.step, self.origin, values.kind, values.number, values.exact,
            )  # fmt: skip

    def take_away(self, rows: np.ndarray, gone: np.ndarray, values: Values) -> None:
        """Take away rows that have left."""
        if len(gone):
            _take_away(
                rows, gone, self.columns, self.arguments, self.keys, self.table, self.counts, self.known, self.kept,
                self.limbs, self.changed, values.kind, values.number, values.exact,
            )  # fmt: skip

    def settle(self, low: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the groups that have changed since the last time, and their extremes, 0 for none.

        The groups that have no solution any more are among them; their numbers may be used again.
        """
        changed = self.changed[: self.counts[_CHANGED]].copy()
        self.counts[_CHANGED] = 0
        found = np.zeros((len(changed), self.heads.shape[1]), dtype=np.int64)
        _settle(
            self.keys, self.table, self.counts, self.known, changed, self.heads, self.cells, self.cell_counts, low,
            found,
        )  # fmt: skip
        return changed, found

    def groups_of(self, rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Return the groups of some rows that are alive."""
        found = np.empty(len(wanted), dtype=np.int64)
        _groups_of(rows, wanted, self.columns, self.keys, self.table, found)
        return found

    def sizes(self, groups: np.ndarray) -> np.ndarray:
        """Return how many solutions some groups have; 0 for those that are no more."""
        sizes: np.ndarray = np.where(self.known[groups, _STAMP] < 0, 0, self.known[groups, _KNOWN])
        return sizes

    @property
    def there(self) -> np.ndarray:
        """The groups that have solutions."""
        top = int(self.counts[_TOP])
        return np.flatnonzero(self.known[1:top, _STAMP] >= 0) + 1

    def _make_room(self) -> None:
        """Make room for one more group, and its cells, at least."""
        groups, cells = len(self.keys), len(self.cells)
        if self.counts[_TOP] >= groups:
            for name in ("keys", "known", "kept", "limbs", "heads", "changed"):
                setattr(self, name, _doubled(getattr(self, name)))
            self.table = empty_places(2 * groups, self.table)
        if self.cell_counts[0] + len(self.signs) > cells:
            self.cells, self.cell_numbers = _doubled(self.cells), _doubled(self.cell_numbers)


def _doubled(array: np.ndarray) -> np.ndarray:
    larger = np.zeros((2 * len(array), *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger
