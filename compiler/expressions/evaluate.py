"""Evaluate an expression on one solution in Python: filters that the kernel leaves undecided end here.

Data's way: match row -> decoded bindings -> **evaluator** -> keep, drop, or a new value. An expression becomes nested
closures once. Operators and functions are ours (`operators.py`, `functions.py`); those that a user has registered,
and sums of times and durations, are rdflib's.
Invariant: three values, True, False and error; an error in an operand is an error unless the operator says otherwise
(`||`, `&&`, IN, COALESCE, BOUND). Whatever a function raises is an error here (`contained`, in `_compile` and nowhere
else), and no literal's value is computed before a function asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rdflib import BNode, Literal, URIRef
from rdflib.term import Node

from retewave.compiler.expressions import chance
from retewave.compiler.expressions.faults import ExpressionError, contained
from retewave.compiler.expressions.functions import FUNCTIONS, labelled
from retewave.compiler.expressions.numbers import is_numeric, raw_literal
from retewave.compiler.expressions.operators import FALSE, TRUE, arithmetic, compare, negate, truth
from retewave.compiler.expressions.registered import of_rdflib
from retewave.compiler.expressions.tree import (
    IMPURE,
    Call,
    Constant,
    Expression,
    Membership,
    Operation,
    Variable,
    children,
    mentions,
    to_sparql,
    variables,
)
from retewave.compiler.terms import literal, unquote

__all__ = ["Evaluator", "term_of", "text_of"]

Bindings = Mapping[str, Node]
Closure = Callable[[Bindings], Node]

_NOW: Final = "_:now"  # not the name of any variable: no blank node of a query reaches an expression
_SOLUTION: Final = "_:solution"  # nor is this


class Evaluator:
    """An expression, ready to be evaluated many times.

    >>> from retewave.compiler.expressions.tree import Operation, Variable
    >>> both = Evaluator(Operation("&&", (Variable("a"), Variable("b"))))
    >>> both.truth({"b": FALSE}), both.truth({"b": TRUE}), both.truth({"a": TRUE, "b": TRUE})
    (False, None, True)
    """

    def __init__(self, expression: Expression, *, scope: frozenset[Variable] | None = None) -> None:
        self.expression = expression  # the expression that is evaluated
        seen = variables(expression) if scope is None else variables(expression) & scope
        self.variables: tuple[str, ...] = tuple(sorted(each.name for each in seen))  # the variables that it needs
        self.pure = not mentions(expression, IMPURE)  # equal bindings give equal values
        self.labels = mentions(expression, frozenset(("BNODE",)))  # its blank nodes may have to be those of others
        self._tells_time = mentions(expression, frozenset(("NOW",)))
        self._closure = _compile(expression, frozenset(self.variables))

    def value(self, bindings: Bindings, solution: BNode | None = None) -> Node | None:
        """Return the value, or nothing when it is an error; expressions of one solution share `BNODE("label")`."""
        try:
            return self._run(bindings, solution)
        except ExpressionError:
            return None

    def truth(self, bindings: Bindings, solution: BNode | None = None) -> bool | None:
        """Return the effective boolean value: true, false, or nothing when it is an error."""
        try:
            return truth(self._run(bindings, solution))
        except ExpressionError:
            return None

    def _run(self, bindings: Bindings, solution: BNode | None) -> Node:
        if self.labels:
            bindings = {**bindings, _SOLUTION: chance.new_blank() if solution is None else solution}
        if self._tells_time:  # NOW() is one moment throughout an evaluation
            bindings = {**bindings, _NOW: Literal(chance.now())}
        return self._closure(bindings)


def term_of(text: bytes) -> Node:
    """Return the rdflib term of a canonical text, its lexical form untouched.

    >>> term_of(b'"05"^^<http://www.w3.org/2001/XMLSchema#integer>')
    rdflib.term.Literal('05', datatype=rdflib.term.URIRef('http://www.w3.org/2001/XMLSchema#integer'))
    """
    written = text.decode()
    if written[0] == "<":
        return URIRef(written[1:-1])
    if written[0] == "_":
        return BNode(written[2:])
    end = written.rindex('"')
    lexical, rest = unquote(written[: end + 1]), written[end + 1 :]
    if rest.startswith("@"):
        return raw_literal(lexical, language=rest[1:])
    return raw_literal(lexical, URIRef(rest[3:-1]) if rest else None)


def text_of(term: Node) -> bytes:
    """Return the canonical text of an rdflib term.

    >>> text_of(Literal("05", datatype="http://www.w3.org/2001/XMLSchema#integer", normalize=False))
    b'"05"^^<http://www.w3.org/2001/XMLSchema#integer>'
    """
    if isinstance(term, Literal):
        if term.language is not None:
            return literal(str(term), language=term.language)
        return literal(str(term)) if term.datatype is None else literal(str(term), str(term.datatype))
    return f"_:{term}".encode() if isinstance(term, BNode) else f"<{term}>".encode()


def _compile(expression: Expression, seen: frozenset[str]) -> Closure:
    """Return the closure of an expression, which raises `ExpressionError` and nothing else."""
    closure = _closure_of(expression, seen)
    match expression:
        case Operation(operator):
            return contained(operator, closure)
        case Call(function):
            return contained(function, closure)
    return closure


def _closure_of(expression: Expression, seen: frozenset[str]) -> Closure:
    match expression:
        case Variable(name):
            return _variable(name if name in seen else None)
        case Constant(text):
            constant = term_of(text)
            return lambda bindings: constant
        case Call("BOUND", (Variable(name),)):
            return lambda bindings: TRUE if name in seen and bindings.get(name) is not None else FALSE
        case Call("IN_SHARE"):
            return lambda bindings: TRUE  # the kernel has decided it: no row of another shard comes as far as this
        case Membership(needle, members, negated):
            return _membership(needle, members, negated, seen)
    parts = tuple(_compile(part, seen) for part in children(expression))
    if isinstance(expression, Operation):
        return _operation(expression.operator, parts)
    assert isinstance(expression, Call)
    special = _SPECIAL.get(expression.function)
    return special(*parts) if special else _function(expression, parts)


def _variable(name: str | None) -> Closure:
    def value(bindings: Bindings) -> Node:
        found = bindings.get(name) if name is not None else None
        if found is None:
            raise ExpressionError("unbound")
        return found

    return value


def _operation(symbol: str, parts: tuple[Closure, ...]) -> Closure:
    if symbol == "||":
        return _logical(parts, decisive=True)
    if symbol == "&&":
        return _logical(parts, decisive=False)
    first, *rest = parts
    if not rest:
        return _unary(symbol, first)
    (second,) = rest
    if symbol in ("+", "-", "*", "/"):
        return lambda bindings: arithmetic(symbol, first(bindings), second(bindings))
    return lambda bindings: compare(symbol, first(bindings), second(bindings))


def _unary(symbol: str, operand: Closure) -> Closure:
    if symbol == "!":
        return lambda bindings: FALSE if truth(operand(bindings)) else TRUE
    if symbol == "-":
        return lambda bindings: negate(operand(bindings))
    return lambda bindings: _number(operand(bindings))


def _number(term: Node) -> Node:
    if not is_numeric(term):
        raise ExpressionError("not a number")
    return term


def _logical(parts: tuple[Closure, ...], decisive: bool) -> Closure:
    """Return `||` (true decides) or `&&` (false decides); an error loses against the deciding value."""
    decided, otherwise = (TRUE, FALSE) if decisive else (FALSE, TRUE)

    def value(bindings: Bindings) -> Node:
        error: ExpressionError | None = None
        for part in parts:
            try:
                if truth(part(bindings)) is decisive:
                    return decided
            except ExpressionError as raised:
                error = raised
        if error is not None:
            raise error
        return otherwise

    return value


def _membership(needle: Expression, members: tuple[Expression, ...], negated: bool, seen: frozenset[str]) -> Closure:
    # Section 17.4.1.9: IN is a chain of `=` under `||`, NOT IN its negation; the needle is evaluated once.
    wanted = _compile(needle, seen)
    parts = tuple(_compile(member, seen) for member in members)

    def value(bindings: Bindings) -> Node:
        term = wanted(bindings)
        checks = tuple(_equals(term, part) for part in parts)
        found = _logical(checks, decisive=True)(bindings) is TRUE
        return TRUE if found is not negated else FALSE

    return value


def _equals(term: Node, part: Closure) -> Closure:
    return lambda bindings: compare("=", term, part(bindings))


def _if(condition: Closure, then: Closure, otherwise: Closure) -> Closure:
    return lambda bindings: then(bindings) if truth(condition(bindings)) else otherwise(bindings)


def _coalesce(*parts: Closure) -> Closure:
    def value(bindings: Bindings) -> Node:
        for part in parts:
            try:
                return part(bindings)
            except ExpressionError:
                continue
        raise ExpressionError("every part is an error")

    return value


_SPECIAL: dict[str, Callable[..., Closure]] = {
    "IF": _if,
    "COALESCE": _coalesce,
}


def _function(call: Call, parts: tuple[Closure, ...]) -> Closure:
    if call.function == "NOW":
        return lambda bindings: bindings[_NOW]
    if call.function == "BNODE" and parts:
        (label,) = parts
        return lambda bindings: labelled(label(bindings), bindings[_SOLUTION])
    if own := FUNCTIONS.get(call.function):
        return lambda bindings: own(*(part(bindings) for part in parts))
    arguments = tuple(Variable(f"a{index}") for index in range(len(parts)))
    apply = of_rdflib(to_sparql(Call(call.function, arguments, call.distinct)), len(parts))
    return lambda bindings: apply(tuple(part(bindings) for part in parts))
