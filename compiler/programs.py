"""Filter programs of one network: compiled against columns, with one memo table and one stack for all of them.

Data's way: plan -> **programs** (while it is lowered) -> kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from retewave.compiler.expressions import Expression, Variable, rename, to_sparql
from retewave.compiler.kernel_filters import compile_filter
from retewave.rete import filter_codes as op
from retewave.rete.terms import Terms

__all__ = ["Programs", "conjunction", "decides"]


@dataclass
class Programs:
    """Compiles the filters of one network."""

    terms: Terms  # the dictionary
    depth: int = 1  # the stack that the deepest program needs
    memos: dict[str, int] = field(default_factory=dict)  # a remembered expression of `?_` -> its row of the memo table

    def id(self, text: bytes) -> int:
        """Return the id of a term, and keep it for ever."""
        number = self.terms.intern(text)
        self.terms.pin([number])
        return number

    def compile(self, expression: Expression, columns: Mapping[Variable, int]) -> tuple[int, ...]:
        """Return the program of an expression whose variables stand in these columns."""
        program = compile_filter(expression, frozenset(columns), columns, self.id, self._memo)
        self.depth = max(self.depth, program.depth + 1)
        return program.code

    def memo_of(self, expression: Expression, variable: Variable) -> int | None:
        """Return the row of the memo table for an expression that depends on one variable, if it has one."""
        return self.memos.get(_by_itself(expression, variable))

    def _memo(self, expression: Expression, variable: Variable) -> int:
        return self.memos.setdefault(_by_itself(expression, variable), len(self.memos))

    def new_memo(self, width: int) -> np.ndarray:
        """Return an empty memo table for terms below `width`."""
        return np.zeros((max(1, len(self.memos)), width if self.memos else 1), dtype=np.uint8)


def _by_itself(expression: Expression, variable: Variable) -> str:
    """Print an expression with its one variable named `?_`, so that equal ones share a memo."""
    return to_sparql(rename(expression, {variable: Variable("_")}))


def conjunction(programs: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """Return one program that is true when all of them are; empty when there are none.

    >>> conjunction([]), conjunction([(op.PUSH_FALSE, 0, 0)])
    ((), (4, 0, 0))
    """
    code: tuple[int, ...] = ()
    for place, program in enumerate(programs):
        code += program + ((op.AND, 0, 0) if place else ())
    return code


def decides(program: tuple[int, ...]) -> bool:
    """Say whether a program can decide anything, or leaves all to Python."""
    return program != (op.PUSH_UNDECIDED, 0, 0)
