"""Pairs: conditions that compare terms with terms, and nothing else.

Data's way: a step's program -> **pairs** -> the kernel's array.
Where both terms have exact numbers, the kernel compares these, and does not run the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from retewave.rete.filters import codes as op
from retewave.rete.words import layout

__all__ = ["ComparedPair", "pairs_of"]

_ALLOWED = {
    op.LESS: layout.PAIR_LESS,
    op.LESS_OR_EQUAL: layout.PAIR_LESS | layout.PAIR_EQUAL,
    op.EQUAL: layout.PAIR_EQUAL,
    op.NOT_EQUAL: layout.PAIR_LESS | layout.PAIR_GREATER,
    op.GREATER_OR_EQUAL: layout.PAIR_GREATER | layout.PAIR_EQUAL,
    op.GREATER: layout.PAIR_GREATER,
}


@dataclass(frozen=True)
class ComparedPair:
    """A comparison of two terms."""

    allowed: int  # the relations that make it true: PAIR_LESS, PAIR_EQUAL, PAIR_GREATER
    places: tuple[int, int]  # which columns of the program are compared


def pairs_of(program: Sequence[int]) -> tuple[ComparedPair, ...]:
    """Return the comparisons that must all hold for a program to be true; none, if it does anything else.

    >>> pairs_of((op.PUSH_VARIABLE, 1, 0, op.PUSH_VARIABLE, 3, 0, op.LESS, 0, 0))
    (ComparedPair(allowed=1, places=(1, 3)),)
    """
    found: list[ComparedPair] = []
    stack: list[int | None] = []  # columns; None: a verdict
    for place in range(0, len(program), op.INSTRUCTION_WIDTH):
        action, argument = program[place : place + 2]
        if action == op.PUSH_VARIABLE:
            stack.append(argument)
            continue
        right, left = (stack.pop(), stack.pop()) if len(stack) > 1 else (None, None)
        if action in _ALLOWED and left is not None and right is not None:
            found.append(ComparedPair(_ALLOWED[action], (left, right)))
        elif action != op.AND or left is not None or right is not None:
            return ()
        stack.append(None)
    return tuple(found) if stack == [None] else ()
