"""Filter programs of one network: compiled against columns, with one memo table and one stack for all of them.

Data's way: plan -> **programs** (while it is lowered) -> kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from retewave.compiler.expressions.kernel import Memo, compile_filter
from retewave.compiler.expressions.tree import Expression, Operation, Variable, rename, variables
from retewave.rete.filters import codes as op
from retewave.rete.terms.dictionary import Terms

__all__ = ["Programs", "asked", "at_most", "conjunction", "decides", "in_window", "is_static", "is_streamed"]


_TERM = Variable("term")


@dataclass
class Programs:
    """Compiles the filters of one network; equal parts of filters share one row of the memo table."""

    terms: Terms  # the dictionary
    depth: int = 1  # the stack that the deepest program needs, conjunctions included
    memos: list[Memo] = field(default_factory=list)  # by number: the part that a row of the memo table remembers
    _numbers: dict[Expression, int] = field(default_factory=dict)
    _ids: dict[bytes, int] = field(default_factory=dict)

    def id(self, text: bytes) -> int:
        """Return the id of a term, and keep it until `leave`."""
        number = self._ids.get(text)
        if number is None:
            number = self._ids[text] = self.terms.intern(text)
            self.terms.keep(number)
        return number

    def leave(self) -> None:
        """Let the constants go: the network that has them is given up."""
        self.terms.let_go(self._ids.values())
        self._ids.clear()

    def compile(
        self, expression: Expression, columns: Mapping[Variable, int], scope: frozenset[Variable]
    ) -> tuple[int, ...]:
        """Return the program of an expression that sees the variables of `scope`, which stand in these columns."""
        program = compile_filter(expression, scope, columns, self.id, self._memo)
        self.depth = max(self.depth, program.depth + 1)
        return program.code

    def memo_of(self, expression: Expression) -> int | None:
        """Return the row of the memo table for an expression that depends on one variable, if it has one."""
        seen = variables(expression)
        return self._numbers.get(_plain(expression, next(iter(seen)))) if len(seen) == 1 else None

    def remembered(self, expression: Expression) -> Iterator[Expression]:
        """Yield the largest parts of a condition that have a row of the memo table: each is on one variable."""
        if self.memo_of(expression) is not None:
            yield expression
        elif isinstance(expression, Operation) and expression.operator in ("||", "&&", "!"):
            for operand in expression.operands:
                yield from self.remembered(operand)

    def _memo(self, expression: Expression, variable: Variable) -> int:
        plain = _plain(expression, variable)
        if plain not in self._numbers:
            self._numbers[plain] = len(self.memos)
            self.memos.append(Memo(len(self.memos), _TERM, plain))
        return self._numbers[plain]


def _plain(expression: Expression, variable: Variable) -> Expression:
    """Name the one variable of an expression alike in all: the term alone decides, whatever its variable is called."""
    return rename(expression, {variable: _TERM})


def conjunction(programs: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """Return one program that is true when all programs are; an empty program when there are none.

    >>> conjunction([]), conjunction([(op.PUSH_FALSE, 0, 0)])
    ((), (4, 0, 0))
    """
    code: list[int] = []  # a tuple would be copied for each of them
    for place, program in enumerate(programs):
        code.extend(program)
        if place:
            code.extend((op.AND, 0, 0))
    return tuple(code)


def asked(program: tuple[int, ...]) -> tuple[int, ...]:
    """Return a program of which nothing may be left open: Python is asked to decide whatever the kernel cannot.

    >>> asked(()), asked((op.PUSH_FALSE, 0, 0))[-3] == op.ASKING
    ((), True)
    """
    return (*program, op.ASKING, 0, 0) if program else ()


def at_most(width: int) -> tuple[int, ...]:
    """Return the program that says whether a row is no longer than a width, in microseconds."""
    return (op.DURATION_AT_MOST, width, 0)


def in_window(width: int) -> tuple[int, ...]:
    """Return the program that says whether a row is in a window of some microseconds, as its streams see it."""
    return (op.IN_WINDOW, width, 0)


def is_streamed() -> tuple[int, ...]:
    """Return the program that says whether a row is not static."""
    return (op.IS_STREAMED, 0, 0)


def is_static() -> tuple[int, ...]:
    """Return the program that says whether a row is static."""
    return (op.IS_STREAMED, 0, 0, op.NOT, 0, 0)


def decides(program: tuple[int, ...]) -> bool:
    """Tell whether a program can decide anything, or leaves all to Python."""
    return program != (op.PUSH_UNDECIDED, 0, 0)
