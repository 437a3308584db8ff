"""What a graph pattern means over one graph, which has no time: SPARQL's operators on sets of mappings.

The page's ⟦P⟧ of an event is this, over the event's triples and the background graphs (definitions 5 and 6 of the
SPAseq paper).  Times in its expressions are the event's.

Decisions where the page is silent:
* ⟦P⟧ is a set of mappings over all variables of P, hidden ones included: what two arms of a UNION find alike is found
  once.  The variable that names the event is no part of a mapping.
* A triple pattern in no GRAPH that names no event sees the event and the static data of no named graph; in GRAPH,
  that graph alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from naive.streams import Fact
from naive.times import is_true, value_of
from naive.tokens import Bindings, compatible
from retewave.compiler.algebra import (
    Algebra,
    Exists,
    Extend,
    Filter,
    Join,
    LeftJoin,
    Minus,
    TriplePattern,
    Triples,
    Union,
    Values,
    Variable,
)
from retewave.compiler.expressions.tree import Expression
from retewave.io.rdf import to_text


def bound(pattern: TriplePattern, fact: Fact) -> Bindings | None:
    """Return what a triple pattern binds when a fact is what it asks for."""
    source = None if pattern.source is None else pattern.source[1:-1].decode()
    if source is not None and fact.event is not None and fact.stream not in (None, source):
        return None
    if (pattern.event is not None and fact.event is None) or pattern.graph != fact.graph:
        return None
    bindings: dict[Variable, bytes] = {}
    for term, text in zip(pattern.terms, fact.triple, strict=True):
        if text != (term if isinstance(term, bytes) else bindings.setdefault(term, text)):
            return None
    return bindings


def distinct(mappings: Iterable[Bindings]) -> list[Bindings]:
    """Return a set of mappings."""
    return list({frozenset(each.items()): each for each in mappings}.values())


@dataclass(frozen=True)
class Graph:
    """One graph, with what is always there."""

    facts: Sequence[Fact]  # its own, and those of static data
    time: int  # what the functions of times say

    def mappings(self, pattern: Algebra) -> list[Bindings]:
        """Return the solutions of a pattern."""
        return distinct(self._mappings(pattern))

    def _mappings(self, pattern: Algebra) -> Iterable[Bindings]:
        match pattern:
            case Triples(patterns):
                return self._basic(patterns)
            case Join(left, right):
                return _pairs(self.mappings(left), self.mappings(right))
            case Union(left, right):
                return self.mappings(left) + self.mappings(right)
            case Filter(expression, inner):
                return (each for each in self.mappings(inner) if self._is_true(expression, each))
            case Extend(inner):
                return (self._extended(each, pattern) for each in self.mappings(inner))
            case Values(variables, rows):
                return ({v: text for v, text in zip(variables, row, strict=True) if text} for row in rows)
            case LeftJoin(left):
                return (whole for one in self.mappings(left) for whole in self._optional(one, pattern))
            case Minus(left, right):
                away = self.mappings(right)
                return (each for each in self.mappings(left) if not any(_is_like(each, other) for other in away))
            case Exists(inner):
                return (each for each in self.mappings(inner) if self._is_there(each, pattern) is not pattern.negated)
        raise TypeError(f"{type(pattern).__name__} is no pattern of one graph")

    def _basic(self, patterns: Iterable[TriplePattern]) -> list[Bindings]:
        found: list[Bindings] = [{}]
        for pattern in patterns:
            found = _pairs(found, [each for fact in self.facts if (each := bound(pattern, fact)) is not None])
        return found

    def _is_true(self, expression: Expression | None, bindings: Bindings) -> bool:
        return is_true(expression, bindings, self.time, self.time)

    def _extended(self, bindings: Bindings, pattern: Extend) -> Bindings:
        term = value_of(pattern.expression, bindings, self.time, self.time)
        return bindings if term is None else {**bindings, pattern.variable: to_text(term)}

    def _optional(self, one: Bindings, pattern: LeftJoin) -> Iterator[Bindings]:
        whole = [each for each in _pairs([one], self.mappings(pattern.right)) if self._is_true(pattern.condition, each)]
        yield from whole or [one]

    def _is_there(self, one: Bindings, pattern: Exists) -> bool:
        return any(self._is_true(pattern.condition, each) for each in _pairs([one], self.mappings(pattern.group)))


def _pairs(left: Iterable[Bindings], right: Sequence[Bindings]) -> list[Bindings]:
    return [{**one, **other} for one in left for other in right if compatible(one, other)]


def _is_like(one: Bindings, other: Bindings) -> bool:
    return bool(one.keys() & other.keys()) and compatible(one, other)
