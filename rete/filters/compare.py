"""Comparisons: what a filter on two inputs says of rows before they are combined.

A filter like `?low < 0.7 * ?before` compares a number of one row with a number of another.  Each row keeps its side of
it as a word, a *reading*: the lower side's is as low as that side may be, the upper side's as high.  So a lower reading
above an upper one says that the filter is not true, and that is a relation between two words, as those in time are.  A
group keeps the least reading of a slot's lower sides, the greatest of its upper sides; a new row that is beyond it goes
with none of them, which is known without a look at them.

Invariant: what is refused here, the filter's own program would refuse.  A term of which the number is not exact, or
that is none, has a reading that refuses nothing.
"""

from __future__ import annotations

import numpy as np

from retewave.rete.filters.codes import FALSE, TRUE, UNDECIDED
from retewave.rete.terms.kinds import DECIMAL, DOUBLE, INTEGER
from retewave.rete.words.jit import inlined, kernel
from retewave.rete.words.layout import (
    COMPARED_LOWER,
    COMPARED_LOWER_EXTREME,
    COMPARED_LOWER_WORD,
    COMPARED_UPPER,
    COMPARED_UPPER_EXTREME,
    COMPARED_UPPER_WORD,
    COMPARED_WIDTH,
    NODE_COMPARED,
    NODE_COMPARED_COUNT,
    NODE_LISTS,
    NODE_WINDOW,
    NONE,
    OPEN,
    PAIR_ALLOWED,
    PAIR_EQUAL,
    PAIR_GREATER,
    PAIR_LEFT,
    PAIR_LEFT_SIDE,
    PAIR_LESS,
    PAIR_RIGHT,
    PAIR_RIGHT_SIDE,
    PAIR_RUN,
    PAIR_TUPLE,
    PAIR_WIDTH,
    R_LINK,
    R_WINDOW_START,
    READING_CONSTANT,
    READING_EXTREME,
    READING_FACTOR,
    READING_INTO,
    READING_OF,
    READING_SLACK,
    READING_UPPER,
    READING_WIDTH,
    SLOT_LIST,
    SLOT_READING_COUNT,
    SLOT_READINGS,
)
from retewave.rete.words.reals import bits_of, in_order, real_of

__all__ = ["LARGEST", "compare_terms", "find_extremes", "is_beyond", "number_word", "read_row"]

LARGEST = 1e100  # a number beyond this is not read: what a filter calculates with it might overflow


@inlined
def _number(values, term):  # type: ignore[no-untyped-def]
    """Return the number of a term if it is exact, else NaN."""
    kind = values.kind[term]
    readable = kind in (INTEGER, DECIMAL, DOUBLE) and values.exact[term] != 0
    number = values.number[term]
    return number if readable and abs(number) <= LARGEST else np.nan


@inlined
def _further(word, extreme, upper):  # type: ignore[no-untyped-def]
    """Tell whether a reading is beyond an extreme of its side."""
    return word > extreme if upper != 0 else word < extreme


@kernel
def read_row(arena, net, slot, group, row, values):  # type: ignore[no-untyped-def]
    """Write the readings of a row that has come to a slot; if it stays, the extremes of its group include them.

    An extreme of 0 is not known.  It stays so until somebody looks, or until the list begins anew.
    """
    at = net[slot + SLOT_READINGS]
    alone = arena[group + net[slot + SLOT_LIST]] >> 32 == row and arena[row + R_LINK] >> 32 == 0
    for reading in range(at, at + net[slot + SLOT_READING_COUNT] * READING_WIDTH, READING_WIDTH):
        number = _number(values, arena[row + net[reading + READING_OF]])
        upper, extreme = net[reading + READING_UPPER], net[reading + READING_EXTREME]
        word = OPEN if upper != 0 else -OPEN
        if number == number:
            factor, slack = real_of(net[reading + READING_FACTOR]), real_of(net[reading + READING_SLACK])
            word = in_order(factor * number + real_of(net[reading + READING_CONSTANT]) + slack * abs(number))
        arena[row + net[reading + READING_INTO]] = word
        if extreme != NONE:
            known = arena[group + extreme]
            if alone or (known != 0 and _further(word, known, upper)):
                arena[group + extreme] = word


@kernel
def is_beyond(arena, net, node, group, slot, row):  # type: ignore[no-untyped-def]
    """Tell whether a row of a slot goes with no row at all of some other slot, as far as its group's extremes tell."""
    at = net[node + NODE_COMPARED]
    for pair in range(at, at + net[node + NODE_COMPARED_COUNT] * COMPARED_WIDTH, COMPARED_WIDTH):
        if slot == net[pair + COMPARED_LOWER]:
            extreme = net[pair + COMPARED_UPPER_EXTREME]
            known = 0 if extreme == NONE else arena[group + extreme]
            if known != 0 and arena[row + net[pair + COMPARED_LOWER_WORD]] > known:
                return True
        elif slot == net[pair + COMPARED_UPPER]:
            extreme = net[pair + COMPARED_LOWER_EXTREME]
            known = 0 if extreme == NONE else arena[group + extreme]
            if known != 0 and known > arena[row + net[pair + COMPARED_UPPER_WORD]]:
                return True
    return False


@kernel
def find_extremes(arena, net, node, group, slot, end):  # type: ignore[no-untyped-def]
    """Look for the extremes of a group's other slots anew, at a time: a row of this slot has met nothing.

    Rows that are out of the window stay out, and do not count.
    """
    at, due = net[node + NODE_COMPARED], end - net[node + NODE_WINDOW]
    for pair in range(at, at + net[node + NODE_COMPARED_COUNT] * COMPARED_WIDTH, COMPARED_WIDTH):
        if slot == net[pair + COMPARED_LOWER]:
            other, word, upper = net[pair + COMPARED_UPPER], net[pair + COMPARED_UPPER_WORD], 1
            extreme = net[pair + COMPARED_UPPER_EXTREME]
        elif slot == net[pair + COMPARED_UPPER]:
            other, word, upper = net[pair + COMPARED_LOWER], net[pair + COMPARED_LOWER_WORD], 0
            extreme = net[pair + COMPARED_LOWER_EXTREME]
        else:
            continue
        row = arena[group + net[node + NODE_LISTS] + other] >> 32
        if extreme == NONE or row == 0:
            continue
        found = -OPEN if upper != 0 else OPEN
        while row != 0:
            if arena[row + R_WINDOW_START] >= due and _further(arena[row + word], found, upper):
                found = arena[row + word]
            row = arena[row + R_LINK] >> 32
        arena[group + extreme] = found


@inlined
def _of_term(values, term):  # type: ignore[no-untyped-def]
    """Return the number of what a column holds if that is a term with an exact one, else NaN."""
    return _number(values, term) if term > 0 else np.nan


@inlined
def number_word(values, term):  # type: ignore[no-untyped-def]
    """Return the number of what a column holds as bits: NaN, if it is no term with an exact one."""
    return bits_of(_of_term(values, term))


@inlined
def _side(arena, side, word, row, item, values):  # type: ignore[no-untyped-def]
    """Return the number on a side of a comparison."""
    if side == PAIR_RUN:
        return real_of(arena[row + word])
    return real_of(item[word]) if side == PAIR_TUPLE else _of_term(values, item[word])


@kernel
def compare_terms(arena, net, at, count, row, item, values):  # type: ignore[no-untyped-def]
    """Return the verdict on comparisons of terms, of a run's row and of a tuple, all of which must hold.

    UNDECIDED: some term has no exact number; the program of the condition says what is to be said.
    """
    for pair in range(at, at + count * PAIR_WIDTH, PAIR_WIDTH):
        one, other = net[pair + PAIR_LEFT], net[pair + PAIR_RIGHT]
        left = _side(arena, net[pair + PAIR_LEFT_SIDE], one, row, item, values)
        right = _side(arena, net[pair + PAIR_RIGHT_SIDE], other, row, item, values)
        # without a branch: which number is greater, nobody can foresee
        relation = PAIR_LESS * (left < right) + PAIR_EQUAL * (left == right) + PAIR_GREATER * (left > right)
        if net[pair + PAIR_ALLOWED] & relation == 0:
            return UNDECIDED if relation == 0 else FALSE
    return TRUE
