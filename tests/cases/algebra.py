"""Random patterns of every operator, and the text that each of them is written as."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from retewave.compiler.algebra import (
    After,
    Algebra,
    Before,
    Between,
    Exists,
    Extend,
    Filter,
    First,
    Join,
    Last,
    LeftJoin,
    Minus,
    OptionalBefore,
    OptionalEquals,
    Relate,
    TriplePattern,
    Triples,
    Union,
    Values,
    Variable,
    Within,
    visible,
)
from retewave.compiler.expressions.tree import Call, Constant, Expression, Operation, to_sparql
from retewave.windows.durations import spell
from retewave.windows.relations import EQUALS, FINISHED_BY, NAMES

__all__ = ["patterns", "written"]

XSD = "http://www.w3.org/2001/XMLSchema#"
WIDTH = 90_000_001  # of a NOT at an end of a chain; no bound around it is narrower
VARIABLES = tuple(Variable(name) for name in "abc")
ONE = Constant(f'"1"^^<{XSD}integer>'.encode())
MINUTE = Constant(f'"PT1M"^^<{XSD}duration>'.encode())

triples = st.lists(
    st.builds(
        TriplePattern,
        st.sampled_from(VARIABLES),
        st.sampled_from((b"<urn:p>", b"<urn:q>")),
        st.sampled_from((*VARIABLES, b'"1"')),
        st.sampled_from((None, None, b"<urn:s>")),
    ),
    min_size=1,
    max_size=2,
).map(lambda each: Triples(tuple(each)))
expressions: st.SearchStrategy[Expression] = st.one_of(
    st.builds(lambda one, sign: Operation(sign, (one, ONE)), st.sampled_from(VARIABLES), st.sampled_from("<=")),
    st.just(Operation("<", (Call("GETDURATION", ()), MINUTE))),
    st.just(Operation("&&", (Call("BOUND", (VARIABLES[0],)), Operation("!", (Call("BOUND", (VARIABLES[1],)),))))),
)
conditions = st.none() | expressions
wide = st.integers(1, 3).map(lambda times: times * WIDTH)
tables = st.just(Values((VARIABLES[0],), ((b'"1"',), (None,))))


def _joined(left: Algebra, right: Algebra) -> Algebra:
    """Return two patterns side by side: triples side by side are one pattern."""
    if isinstance(left, Triples) and isinstance(right, Triples):
        return Triples(left.patterns + right.patterns)
    return Join(left, right)


def _extended(pattern: Algebra) -> Algebra:
    free = (Variable(f"new{number}") for number in range(100))
    return Extend(pattern, next(each for each in free if each not in visible(pattern)), ONE)


def _bounded(pattern: Before | After) -> Algebra:
    return Within(pattern, pattern.width)


def _around(inner: st.SearchStrategy[Algebra]) -> st.SearchStrategy[Algebra]:
    return st.one_of(
        st.builds(_joined, inner, inner),
        st.builds(LeftJoin, inner, inner, conditions),
        st.builds(Minus, inner, inner),
        st.builds(Exists, inner, inner, conditions, st.booleans()),
        st.builds(Union, inner, inner),
        st.builds(Filter, expressions, inner),
        st.builds(_extended, inner),
        st.builds(Relate, inner, st.integers(EQUALS, FINISHED_BY), inner),
        st.builds(Within, inner, wide),
        st.builds(OptionalBefore, inner, inner, conditions),
        st.builds(OptionalEquals, inner, inner, conditions),
        st.builds(Between, inner, inner, inner, conditions),
        st.builds(lambda *parts: _bounded(Before(parts[0], parts[1], WIDTH, parts[2])), inner, inner, conditions),
        st.builds(lambda *parts: _bounded(After(parts[0], parts[1], WIDTH, parts[2])), inner, inner, conditions),
        st.builds(First, inner),
        st.builds(Last, inner),
    )


patterns: st.SearchStrategy[Algebra] = st.recursive(triples | tables, _around, max_leaves=8)


def written(pattern: Algebra, bare: bool) -> str:
    """Return the body of a group that means a pattern; bare: without the braces that reading from the left spares."""

    def braced(each: Algebra) -> str:
        return f"{{ {written(each, bare)} }}"

    def left(each: Algebra) -> str:
        chain = isinstance(each, Relate | Between | OptionalBefore | OptionalEquals | Within | First | Last)
        return written(each, bare) if bare and chain else braced(each)

    return _of_graph(pattern, braced) or _of_time(pattern, braced, left)


def _own(pattern: Algebra, condition: Expression | None, braced: Callable[[Algebra], str]) -> str:
    """Write a group whose own filters are a condition: inner braces keep those that the pattern has."""
    return f"{{ {braced(pattern)}{'' if condition is None else f' FILTER({to_sparql(condition)})'} }}"


def _of_graph(pattern: Algebra, braced: Callable[[Algebra], str]) -> str:
    match pattern:
        case Triples(each):
            return " ".join(f"STREAM {one.source.decode()} {{ {one} }}" if one.source else f"{one} ." for one in each)
        case Values(columns, _):
            return f"VALUES {columns[0]} {{ '1' UNDEF }}"
        case Join(one, other):
            return f"{braced(one)} {braced(other)}"
        case LeftJoin(one, other, condition):
            return f"{braced(one)} OPTIONAL {_own(other, condition, braced)}"
        case Minus(one, other):
            return f"{braced(one)} MINUS {braced(other)}"
        case Exists(one, group, condition, negated):
            return f"{braced(one)} FILTER {'NOT ' if negated else ''}EXISTS {_own(group, condition, braced)}"
        case Union(one, other):
            return f"{braced(one)} UNION {braced(other)}"
        case Filter(expression, inner):
            return f"{braced(inner)} FILTER({to_sparql(expression)})"
        case Extend(inner, variable, expression):
            return f"{braced(inner)} BIND({to_sparql(expression)} AS {variable})"
    return ""


def _of_time(pattern: Algebra, braced: Callable[[Algebra], str], left: Callable[[Algebra], str]) -> str:
    def own(each: Algebra, condition: Expression | None) -> str:
        return _own(each, condition, braced)

    match pattern:
        case Relate(one, relation, other):
            return f"{left(one)} {NAMES[relation].upper().replace(' ', '_')} {braced(other)}"
        case Within(inner, width):
            ended = isinstance(inner, Before | After)
            return f"{_of_time(inner, braced, left) if ended else left(inner)} WITHIN {spell(width)}"
        case OptionalBefore(optional, other, condition):
            return f"{own(optional, condition)} OPTIONALSEQ {braced(other)}"
        case OptionalEquals(one, optional, condition):
            return f"{left(one)} EQUALSOPTIONAL {own(optional, condition)}"
        case Between(one, absent, other, condition):
            return f"{left(one)} SEQ NOT {own(absent, condition)} SEQ {braced(other)}"
        case Before(absent, other, _, condition):
            return f"NOT {own(absent, condition)} SEQ {braced(other)}"
        case After(one, absent, _, condition):
            return f"{left(one)} SEQ NOT {own(absent, condition)}"
        case First(inner) | Last(inner):
            return f"{type(pattern).__name__.upper()} {braced(inner)}"
    raise TypeError(f"not an operator of the algebra: {pattern!r}")
