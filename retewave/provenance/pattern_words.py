"""Words for a part of a view's algebra, with what a row has bound filled in.

Data's way: algebra with `LeafFound`s -> **words** -> an explanation of what was not there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from retewave.compiler.algebra import (
    Exists,
    ExistsValue,
    Extend,
    Filter,
    LeftJoin,
    Minus,
    TriplePattern,
    Triples,
    Union,
    Variable,
)
from retewave.compiler.algebra.walk import operands, shown_parts
from retewave.compiler.expressions.tree import Expression, to_sparql
from retewave.compiler.rewrite.leaves import Leaf, LeafFound, MatchFound, PathFound, TimesFound
from retewave.viz.explain.names import Prefixes

__all__ = ["PatternWords", "patterns_of"]


def patterns_of(pattern: Any) -> tuple[TriplePattern, ...]:
    """Return the triple patterns of a part of a view: filters may stand around them."""
    while isinstance(pattern, Filter):
        pattern = pattern.pattern
    assert isinstance(pattern, Triples)
    return pattern.patterns


@dataclass(frozen=True)
class PatternWords:
    """Writes what is not there."""

    prefixes: Prefixes  # the query's
    leaves: Sequence[Leaf]  # the parts of the view, by their numbers
    bound: Mapping[Variable, bytes]  # what is filled in

    @staticmethod
    def leaves_in(pattern: Any) -> Iterator[int]:
        """Yield the numbers of the leaves in a pattern."""
        match pattern:
            case LeafFound(leaf):
                yield leaf
            case PathFound(path, _):
                yield from PatternWords.leaves_in(path.step)
            case TimesFound(inner):
                yield from PatternWords.leaves_in(inner)
            case MatchFound():
                return
            case _:
                for each in operands(pattern):
                    yield from PatternWords.leaves_in(each)

    def said(self, pattern: Any) -> str:
        """Return a pattern in words: in braces if it is more than a triple pattern."""
        said = self._said(pattern)
        return f"{{ {said} }}" if " . " in said or "FILTER" in said or "{" in said else said

    def _said(self, pattern: Any) -> str:
        match pattern:
            case LeafFound():
                return self._leaf(self.leaves[pattern.leaf].pattern)
            case Filter(expression, inner):
                return f"{self._said(inner)} FILTER({self._expression(expression)})"
            case Union(left, right):
                return f"{{ {self._said(left)} }} UNION {{ {self._said(right)} }}"
            case LeftJoin(left, right):
                return f"{self._said(left)} OPTIONAL {{ {self._said(right)} }}"
            case Minus(left, right):
                return f"{self._said(left)} MINUS {{ {self._said(right)} }}"
            case Exists(inner, group, negated=negated):
                return f"{self._said(inner)} FILTER {'NOT ' * negated}EXISTS {{ {self._said(group)} }}"
            case ExistsValue(inner) | Extend(inner) | TimesFound(inner):
                return self._said(inner)
            case PathFound(path):
                return f"path from {self._term(path.start)} to {self._term(path.end)}"
            case MatchFound():
                return "MATCH"
        parts = [self._said(each) for each in shown_parts(pattern) or operands(pattern)]
        return " . ".join(each for each in parts if each)

    def _leaf(self, pattern: Any) -> str:
        if isinstance(pattern, Filter):
            return f"{self._leaf(pattern.pattern)} FILTER({self._expression(pattern.expression)})"
        return " . ".join(" ".join(map(self._term, each.terms)) for each in patterns_of(pattern))

    def _expression(self, expression: Expression) -> str:
        return self.prefixes.short(to_sparql(expression))

    def _term(self, term: bytes | Variable) -> str:
        if isinstance(term, Variable):
            return self.prefixes.short(self.bound[term]) if term in self.bound else str(term)
        return self.prefixes.short(term)
