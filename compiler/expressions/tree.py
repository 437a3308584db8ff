"""Expressions: values that FILTER, BIND and SELECT compute from the variables of one solution.

Data's way: text -> parse -> **expression** -> kernel program (`kernel.py`) or evaluator
(`evaluate.py`). An expression is a small immutable tree of five kinds of node.  Every constant stands as
its canonical text and every function by the name that SPARQL gives it, so an expression needs no prologue:
`to_sparql` prints it again. Aggregates and EXISTS are no expressions here; the parser refuses them by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

__all__ = [
    "IMPURE",
    "TIMES",
    "TIMESTAMP",
    "Call",
    "Constant",
    "Expression",
    "Membership",
    "Operation",
    "Variable",
    "children",
    "mentions",
    "rename",
    "to_sparql",
    "variables",
    "with_children",
]

TIMES = frozenset(("GETDURATION", "GETSTARTTIME", "GETENDTIME"))  # functions of the solution's interval
TIMESTAMP = "<http://larkc.eu/csparql/sparql/jena/ext#timestamp>"  # of C-SPARQL: when a triple came last
IMPURE = frozenset(("RAND", "NOW", "UUID", "STRUUID", "BNODE"))  # functions of more than their arguments


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable, or a blank node of a pattern, which is a variable that nobody can name.

    >>> str(Variable("price")), Variable("_:b1").hidden
    ('?price', True)
    """

    name: str  # without the question mark; "_:..." for blank nodes and for variables that the compiler adds

    @property
    def hidden(self) -> bool:
        """Tell whether SELECT * leaves the variable out."""
        return self.name.startswith("_:")

    def __str__(self) -> str:
        return self.name if self.hidden else f"?{self.name}"


@dataclass(frozen=True, slots=True)
class Constant:
    """A term that is written in the expression."""

    text: bytes  # canonical N-Triples


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator with its operands."""

    operator: str  # "||" "&&" "=" "!=" "<" ">" "<=" ">=" "+" "-" "*" "/"; with one operand "!" "+" "-"
    operands: tuple[Expression, ...]  # one or two


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a built-in function or of a function that an IRI names, casts among them."""

    function: str  # upper-case name of a built-in ("BOUND", "REGEX"), or an IRI in angle brackets
    arguments: tuple[Expression, ...]  # in the order written
    distinct: bool = False  # f(DISTINCT ...): only with an IRI


@dataclass(frozen=True, slots=True)
class Membership:
    """`needle IN (...)` or `needle NOT IN (...)`."""

    needle: Expression  # the string that is looked for
    members: tuple[Expression, ...]  # where
    negated: bool  # NOT IN


Expression: TypeAlias = Variable | Constant | Operation | Call | Membership


def children(expression: Expression) -> tuple[Expression, ...]:
    """Return the direct sub-expressions."""
    match expression:
        case Operation(operands=parts) | Call(arguments=parts):
            return parts
        case Membership(needle=needle, members=members):
            return (needle, *members)
    return ()


def with_children(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """Return an expression with each direct sub-expression changed.

    >>> with_children(Operation("!", (Variable("a"),)), lambda part: Variable("b"))
    Operation(operator='!', operands=(Variable(name='b'),))
    """
    match expression:
        case Operation(operands=parts):
            return replace(expression, operands=tuple(map(change, parts)))
        case Call(arguments=parts):
            return replace(expression, arguments=tuple(map(change, parts)))
        case Membership(needle=needle, members=members):
            return replace(expression, needle=change(needle), members=tuple(map(change, members)))
    return expression


def variables(expression: Expression) -> frozenset[Variable]:
    """Return the variables that an expression mentions.

    >>> sorted(map(str, variables(Operation("+", (Variable("a"), Variable("b"))))))
    ['?a', '?b']
    """
    if isinstance(expression, Variable):
        return frozenset((expression,))
    return frozenset().union(*(variables(part) for part in children(expression)))


def mentions(expression: Expression, functions: frozenset[str]) -> bool:
    """Tell whether an expression calls one of some functions.

    >>> mentions(Operation("!", (Call("RAND", ()),)), IMPURE)
    True
    """
    if isinstance(expression, Call) and expression.function in functions:
        return True
    return any(mentions(part, functions) for part in children(expression))


def rename(expression: Expression, names: Mapping[Variable, Variable]) -> Expression:
    """Replace variables by others.

    >>> rename(Variable("a"), {Variable("a"): Variable("b")})
    Variable(name='b')
    """
    if isinstance(expression, Variable):
        return names.get(expression, expression)
    return with_children(expression, lambda part: rename(part, names))


def to_sparql(expression: Expression, name: Callable[[Variable], str] = str) -> str:
    """Print an expression as SPARQL with every IRI written out and every operation in brackets.

    >>> to_sparql(Operation("!", (Call("BOUND", (Variable("x"),)),)))
    '(! BOUND(?x))'
    """

    def listed(parts: tuple[Expression, ...]) -> str:
        return ", ".join(to_sparql(part, name) for part in parts)

    match expression:
        case Variable():
            return name(expression)
        case Constant(text):
            return text.decode()
        case Operation(operator, (only,)):
            return f"({operator} {to_sparql(only, name)})"
        case Operation(operator, (left, right)):
            return f"({to_sparql(left, name)} {operator} {to_sparql(right, name)})"
        case Call(function, arguments, distinct):
            return f"{function}({'DISTINCT ' if distinct else ''}{listed(arguments)})"
        case Membership(needle, members, negated):
            return f"({to_sparql(needle, name)} {'NOT IN' if negated else 'IN'} ({listed(members)}))"
    raise TypeError(f"not an expression: {expression!r}")
