"""What a query means: its algebra, node by node, by sets and nested loops.

A **token** is a solution with its interval, the facts that it was made of, and the time at which it is decided.
Joining tokens joins their bindings, takes the earliest start and the latest end, and is decided when the later of the
two is.  Static facts have the interval (+∞, −∞), so that they change no minimum and no maximum.
Multiplicities are SPARQL's: every combination of facts is a token of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from rdflib import BNode
from rdflib.term import Node

from naive.streams import Entail, Fact, Item, Triple, Widths, facts_of, young_enough
from retewave.compiler import algebra
from retewave.compiler.algebra import Algebra, Extend, Filter, Join, TriplePattern, Triples, Union, Values, Variable
from retewave.compiler.expressions.evaluate import Evaluator
from retewave.io.rdf import from_text, to_text
from retewave.windows.intervals import STATIC_END, STATIC_START

Bindings = Mapping[Variable, bytes]  # variable -> canonical text; what is unbound is not there


@dataclass(frozen=True)
class Token:
    """A solution in time."""

    bindings: Bindings  # what it binds
    start: int = STATIC_START  # of its earliest fact
    end: int = STATIC_END  # of its latest fact
    decided_at: int = STATIC_END  # when it is certain
    facts: tuple[Fact, ...] = ()  # what it was made of


def tokens_of(pattern: Algebra, facts: Sequence[Fact]) -> Iterator[Token]:
    """Yield the tokens of a pattern over some facts."""
    match pattern:
        case Triples(patterns):
            yield from _basic(patterns, facts)
        case Join(left, right):
            yield from _joined(list(tokens_of(left, facts)), list(tokens_of(right, facts)))
        case Union(left, right):
            yield from tokens_of(left, facts)
            yield from tokens_of(right, facts)
        case Filter(expression, inner):
            keeps = Evaluator(expression)
            yield from (each for each in tokens_of(inner, facts) if keeps.truth(_terms(each.bindings), BNode()) is True)
        case Extend(inner, variable, expression):
            value = Evaluator(expression)
            yield from (_extended(each, variable, value) for each in tokens_of(inner, facts))
        case Values(variables, rows):
            yield from (Token({v: text for v, text in zip(variables, row, strict=True) if text}) for row in rows)


def _basic(patterns: Sequence[TriplePattern], facts: Sequence[Fact]) -> list[Token]:
    """Return a token for each choice of a fact for every triple pattern."""
    found = [Token({})]
    for pattern in patterns:
        matching = [token for fact in facts for token in _matching(pattern, fact)]
        found = list(_joined(found, matching))
    return found


def _matching(pattern: TriplePattern, fact: Fact) -> Iterator[Token]:
    source = None if pattern.source is None else pattern.source[1:-1].decode()
    if source is not None and fact.event is not None and fact.stream not in (None, source):
        return
    bindings: dict[Variable, bytes] = {}
    for term, text in zip(pattern.terms, fact.triple, strict=True):
        if text != (term if isinstance(term, bytes) else bindings.setdefault(term, text)):
            return
    yield Token(bindings, fact.start, fact.end, fact.end, (fact,))


def _joined(left: Sequence[Token], right: Sequence[Token]) -> Iterator[Token]:
    for one in left:
        for other in right:
            if compatible(one.bindings, other.bindings):
                yield Token(
                    {**one.bindings, **other.bindings},
                    min(one.start, other.start),
                    max(one.end, other.end),
                    max(one.decided_at, other.decided_at),
                    one.facts + other.facts,
                )


def compatible(one: Bindings, other: Bindings) -> bool:
    """Tell whether two solutions agree on what both bind."""
    return all(other.get(variable, text) == text for variable, text in one.items())


def _extended(token: Token, variable: Variable, value: Evaluator) -> Token:
    term = value.value(_terms(token.bindings), BNode())
    return token if term is None else replace(token, bindings={**token.bindings, variable: to_text(term)})


def _terms(bindings: Bindings) -> dict[str, Node]:
    return {variable.name: from_text(text) for variable, text in bindings.items()}


def solutions(
    query: algebra.Query, stream: Sequence[Item], static: Set[Triple] = frozenset(), entail: Entail = lambda t: {t}
) -> list[Token]:
    """Return what a query without DISTINCT finds: tokens that show its projection, in the order of their decision."""
    facts = list(facts_of(_widths(query), stream, static, entail))
    found = [token for token in tokens_of(query.where, facts) if young_enough(token.facts, token.end)]
    shown = {Variable(name) for name in query.projection}
    found.sort(key=lambda token: token.decided_at)
    return [replace(each, bindings={v: text for v, text in each.bindings.items() if v in shown}) for each in found]


def _widths(query: algebra.Query) -> Widths:
    if not query.streams:
        return query.window
    return {each.iri[1:-1].decode(): each.width if query.window is None else query.window for each in query.streams}
