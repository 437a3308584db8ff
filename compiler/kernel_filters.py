"""Compile a filter's expression to code for the kernel.

Data's way: expression -> **program** -> interpreter (rete/filters.py).
Every expression compiles: what the kernel cannot compute becomes one instruction that says so.  A part that
depends on one variable only is remembered by term: where the kernel is undecided, it looks into a memo table
that Python fills with the evaluator's answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from retewave.compiler.expressions import (
    IMPURE,
    Call,
    Constant,
    Expression,
    Membership,
    Operation,
    Variable,
    mentions,
    variables,
)
from retewave.rete import filter_codes as op

__all__ = ["Memo", "Program", "compile_filter"]


_BINARY = {
    "||": op.OR,
    "&&": op.AND,
    "=": op.EQUAL,
    "!=": op.NOT_EQUAL,
    "<": op.LESS,
    "<=": op.LESS_OR_EQUAL,
    ">": op.GREATER,
    ">=": op.GREATER_OR_EQUAL,
    "+": op.ADD,
    "-": op.SUBTRACT,
    "*": op.MULTIPLY,
    "/": op.DIVIDE,
}
_UNARY = {"!": op.NOT, "-": op.NEGATE, "+": op.UNARY_PLUS}
_CALLS = {
    "ISIRI": op.IS_IRI,
    "ISBLANK": op.IS_BLANK,
    "ISLITERAL": op.IS_LITERAL,
    "ISNUMERIC": op.IS_NUMERIC,
}
_NEVER_REMEMBERED = IMPURE | {"IN_SHARE"}  # it is never undecided
_PUSHES = frozenset(
    (op.PUSH_VARIABLE, op.PUSH_TERM, op.PUSH_ERROR, op.PUSH_FALSE, op.PUSH_UNDECIDED, op.BOUND, op.IN_SHARE)
)
_POPS_TWO = frozenset((*_BINARY.values(), op.SAME_TERM))


@dataclass(frozen=True)
class Memo:
    """A part of a filter that is remembered by the term of its one variable."""

    number: int  # the row of the memo table
    variable: Variable  # the variable that the part depends on
    expression: Expression  # what the evaluator must decide


@dataclass(frozen=True)
class Program:
    """A filter as code."""

    code: tuple[int, ...]  # instructions of rete/filter_codes.py
    depth: int  # the stack that it needs
    memos: tuple[Memo, ...]  # what it looks up


@dataclass
class _Compiler:
    scope: frozenset[Variable]  # the variables that the filter may see
    columns: Mapping[Variable, int]  # where the kernel finds them; others are known to Python only
    term_id: Callable[[bytes], int]  # the TermId of a constant
    new_memo: Callable[[Expression, Variable], int] | None  # allots a row of the memo table
    code: list[int] = field(default_factory=list)  # what is compiled so far
    memos: list[Memo] = field(default_factory=list)  # likewise

    def emit(self, code: int, first: int = 0, second: int = 0) -> None:
        self.code += (code, first, second)

    def condition(self, expression: Expression) -> None:
        """Compile what stands for a truth value; remember its largest parts that depend on one variable."""
        only = self._only_variable(expression)
        if only is not None:
            self.value(expression)
            self._remember(expression, only)
        elif isinstance(expression, Operation) and expression.operator in ("||", "&&", "!"):
            for operand in expression.operands:
                self.condition(operand)
            table = _BINARY if len(expression.operands) == 2 else _UNARY
            self.emit(table[expression.operator])
        else:
            self.value(expression)

    def _only_variable(self, expression: Expression) -> Variable | None:
        seen = variables(expression) & self.scope
        if self.new_memo is None or len(seen) != 1 or mentions(expression, _NEVER_REMEMBERED):
            return None
        (only,) = seen
        return only if only in self.columns else None

    def _remember(self, expression: Expression, variable: Variable) -> None:
        assert self.new_memo is not None
        memo = Memo(self.new_memo(expression, variable), variable, expression)
        self.memos.append(memo)
        self.emit(op.MEMO, memo.number, self.columns[variable])

    def value(self, expression: Expression) -> None:
        """Compile what stands for a value."""
        match expression:
            case Variable():
                self._variable(expression)
            case Constant(text):
                self.emit(op.PUSH_TERM, self.term_id(text))
            case Operation(operator, operands):
                for operand in operands:
                    self.value(operand)
                self.emit((_BINARY if len(operands) == 2 else _UNARY)[operator])
            case Call():
                self._call(expression)
            case Membership():
                self._membership(expression)

    def _variable(self, variable: Variable) -> None:
        if variable not in self.scope:
            self.emit(op.PUSH_ERROR)
        elif variable in self.columns:
            self.emit(op.PUSH_VARIABLE, self.columns[variable])
        else:
            self.emit(op.PUSH_UNDECIDED)

    def _call(self, call: Call) -> None:
        match call:
            case Call("BOUND", (Variable() as variable,)):
                if variable not in self.scope:
                    self.emit(op.PUSH_FALSE)
                elif variable in self.columns:
                    self.emit(op.BOUND, self.columns[variable])
                else:
                    self.emit(op.PUSH_UNDECIDED)
            case Call("SAMETERM", (left, right)):
                self.value(left)
                self.value(right)
                self.emit(op.SAME_TERM)
            case Call("IN_SHARE", (Variable() as variable, Constant(share), Constant(part))):
                self.emit(op.IN_SHARE, self.columns[variable], int(share) << 32 | int(part))
            case Call(name, (operand,)) if name in _CALLS:
                self.value(operand)
                self.emit(_CALLS[name])
            case _:
                self.emit(op.PUSH_UNDECIDED)

    def _membership(self, membership: Membership) -> None:
        # IN is a chain of equalities; without members the needle alone decides between false and an error.
        if not membership.members:
            self.emit(op.PUSH_UNDECIDED)
            return
        for index, member in enumerate(membership.members):
            self.value(membership.needle)
            self.value(member)
            self.emit(op.EQUAL)
            if index:
                self.emit(op.OR)
        if membership.negated:
            self.emit(op.NOT)


def compile_filter(
    expression: Expression,
    scope: frozenset[Variable],
    columns: Mapping[Variable, int],
    term_id: Callable[[bytes], int],
    new_memo: Callable[[Expression, Variable], int] | None = None,
) -> Program:
    """Compile a filter; without `new_memo` nothing is remembered.

    >>> x = Variable("x")
    >>> compile_filter(Call("BOUND", (x,)), frozenset((x,)), {x: 3}, lambda text: 0).code
    (21, 3, 0)
    """
    compiler = _Compiler(scope, columns, term_id, new_memo)
    compiler.condition(expression)
    return Program(tuple(compiler.code), _depth(compiler.code), tuple(compiler.memos))


def _depth(code: list[int]) -> int:
    deepest = depth = 0
    for place in range(0, len(code), op.INSTRUCTION_WIDTH):
        depth += (code[place] in _PUSHES) - (code[place] in _POPS_TWO)
        deepest = max(deepest, depth)
    return deepest
