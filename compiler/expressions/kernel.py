"""Compile a filter's expression to code for the kernel.

Data's way: expression -> **program** -> interpreter (rete/filters/interpreter.py).
Every expression compiles: a part that the kernel cannot compute becomes one instruction that says so.  A part that
depends on one variable only is remembered by term: where the kernel is undecided, it looks into a memo table
that Python fills with the evaluator's answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from retewave.compiler.expressions.tree import (
    IMPURE,
    TIMES,
    Call,
    Constant,
    Expression,
    Membership,
    Operation,
    Variable,
    mentions,
    variables,
)
from retewave.compiler.regex.plain import Needle, alternatives
from retewave.compiler.terms import RDF, XSD, literal, unquote
from retewave.rete.filters import codes as op

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
_LANG_STRING = RDF + "langString"
_UNARY = {"!": op.NOT, "-": op.NEGATE, "+": op.UNARY_PLUS}
_CALLS = {
    "ISIRI": op.IS_IRI,
    "ISBLANK": op.IS_BLANK,
    "ISLITERAL": op.IS_LITERAL,
    "ISNUMERIC": op.IS_NUMERIC,
}
_STRING_CALLS = {
    "STR": op.STR,
    "LANG": op.LANG,
    "LCASE": op.LCASE,
    "UCASE": op.UCASE,
    "STRLEN": op.STRLEN,
}
_STRING_TESTS = {"CONTAINS": op.CONTAINS, "STRSTARTS": op.STRSTARTS, "STRENDS": op.STRENDS}
_MAY_BE_STRINGS = (op.STR, op.LANG, op.LCASE, op.UCASE, op.PUSH_VARIABLE, op.PUSH_TERM)  # they may push strings
_LANGUAGE_RANGE = re.compile(r"\*|[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*")
_TIMES = {"GETDURATION": op.DURATION, "GETSTARTTIME": op.START_TIME, "GETENDTIME": op.END_TIME}
_NEVER_REMEMBERED = IMPURE | {"IN_SHARE"} | TIMES  # it is never undecided; what looks at times is not the term's
_PUSHES = frozenset(
    (
        *(op.PUSH_VARIABLE, op.PUSH_TERM, op.PUSH_ERROR, op.PUSH_FALSE, op.PUSH_UNDECIDED, op.BOUND, op.IN_SHARE),
        *(op.DURATION_AT_MOST, op.IN_WINDOW, op.IS_STREAMED, op.DURATION, op.START_TIME, op.END_TIME),
    )
)
_POPS_TWO = frozenset((*_BINARY.values(), *_STRING_TESTS.values(), op.SAME_TERM, op.LANG_MATCHES, op.REGEX))


@dataclass(frozen=True)
class Memo:
    """A part of a filter that is remembered by the term of its one variable."""

    number: int  # the row of the memo table
    variable: Variable  # the variable that the part depends on
    expression: Expression  # the part that the evaluator must decide


@dataclass(frozen=True)
class Program:
    """A filter as code."""

    code: tuple[int, ...]  # instructions of rete/filters/codes.py
    depth: int  # the stack that it needs
    memos: tuple[Memo, ...]  # the memos that it looks into


@dataclass
class _Compiler:
    scope: frozenset[Variable]  # the variables that the filter may see
    columns: Mapping[Variable, int]  # where the kernel finds them; others are known to Python only
    term_id: Callable[[bytes], int]  # the TermId of a constant
    new_memo: Callable[[Expression, Variable], int] | None  # allots a row of the memo table
    code: list[int] = field(default_factory=list)  # the instructions compiled so far
    memos: list[Memo] = field(default_factory=list)  # likewise

    def emit(self, code: int, first: int = 0, second: int = 0) -> None:
        self.code += (code, first, second)

    def condition(self, expression: Expression) -> None:
        """Compile an expression for its truth value; remember its largest parts that depend on one variable."""
        only = self._only_variable(expression)
        if only is not None:
            self._truth(expression)
            self._remember(expression, only)
        elif isinstance(expression, Operation) and expression.operator in ("||", "&&", "!"):
            for operand in expression.operands:
                self.condition(operand)
            table = _BINARY if len(expression.operands) == 2 else _UNARY
            self.emit(table[expression.operator])
        else:
            self._truth(expression)

    def _truth(self, expression: Expression) -> None:
        """Compile an expression for its effective boolean value, which for strings takes an instruction."""
        self.value(expression)
        if self.code[-op.INSTRUCTION_WIDTH] in _MAY_BE_STRINGS:
            self.emit(op.TRUTH)

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
        """Compile an expression for its value."""
        match expression:
            case Variable():
                self._variable(expression)
            case Constant(text):
                self.emit(op.PUSH_TERM, self.term_id(text))
            case Operation(operator, operands):
                compiled = self._truth if operator in ("||", "&&", "!") else self.value
                for operand in operands:
                    compiled(operand)
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
            case Call(name, ()) if name in _TIMES:
                self.emit(_TIMES[name])
            case Call("LANGMATCHES" | "REGEX"):
                self._pattern(call)
            case _:
                self._string_call(call)

    def _string_call(self, call: Call) -> None:
        match call:
            case Call("DATATYPE", (operand,)):
                self.value(operand)
                self.emit(op.DATATYPE, *(self.term_id(f"<{name}>".encode()) for name in (XSD + "string", _LANG_STRING)))
            case Call(name, (operand,)) if name in _STRING_CALLS:
                self.value(operand)
                self.emit(_STRING_CALLS[name])
            case Call(name, (string, part)) if name in _STRING_TESTS:
                self.value(string)
                self.value(part)
                self.emit(_STRING_TESTS[name])
            case _:
                self.emit(op.PUSH_UNDECIDED)

    def _pattern(self, call: Call) -> None:
        """Compile a test against a pattern, if that is written out and asks for no more than strings."""
        subject, *given = call.arguments
        written = [simple_string(each) for each in given]
        patterns = [each for each in written if each is not None]
        if len(patterns) < len(given):
            self.emit(op.PUSH_UNDECIDED)
        elif call.function == "LANGMATCHES" and _LANGUAGE_RANGE.fullmatch(patterns[0]):
            self.value(subject)
            self.emit(op.PUSH_TERM, self.term_id(literal(patterns[0].lower())))
            self.emit(op.LANG_MATCHES)
        else:
            self._regex(subject, alternatives(*patterns) if call.function == "REGEX" else ())

    def _regex(self, subject: Expression, found: tuple[Needle, ...]) -> None:
        if not found:
            self.emit(op.PUSH_UNDECIDED)
        for index, each in enumerate(found):
            self.value(subject)
            self.emit(op.PUSH_TERM, self.term_id(literal(each.string)))
            start, end = each.at_start * op.REGEX_AT_START, each.at_end * op.REGEX_AT_END
            self.emit(op.REGEX, start | end | each.any_case * op.REGEX_ANY_CASE)
            if index:
                self.emit(op.OR)

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


def simple_string(expression: Expression) -> str | None:
    """Return the string of a simple literal that is written out, else nothing.

    >>> simple_string(Constant(b'"a"')), simple_string(Constant(b'"a"@en'))
    ('a', None)
    """
    if isinstance(expression, Constant) and expression.text[:1] == expression.text[-1:] == b'"':
        return unquote(expression.text.decode())
    return None


def _depth(code: list[int]) -> int:
    deepest = depth = 0
    for place in range(0, len(code), op.INSTRUCTION_WIDTH):
        depth += (code[place] in _PUSHES) - (code[place] in _POPS_TWO)
        deepest = max(deepest, depth)
    return deepest
