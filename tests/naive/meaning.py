"""What a query means (MEANING §3): its algebra, node by node, by sets and nested loops.

Here are the operators that SPARQL has; those of time are in `tests/naive/temporal.py`, which solutions a detector
tells, and when, is in `tests/naive/detectors.py`.
Multiplicities are SPARQL's: every combination of facts is a token of its own.

Decisions where the page is silent:
* The groups of EXISTS and of MINUS are only looked at: a match is not made of their facts, and does not use them up.
* The times in the condition of EXISTS are those of the solution found, as in the group of a NOT.
* The innermost window is the one written closest, even if one around it is narrower; FILTERs that stand directly in
  each other are of one group.
* A static left side of OPTIONAL, MINUS, EXISTS is compared with static solutions only.
* A solution with which the right side of MINUS can share no variable keeps its place whatever came: that is no absence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from naive import sequences, temporal
from naive.graphs import bound
from naive.groups import Seen
from naive.streams import Fact
from naive.times import is_true, value_of, window_of
from naive.tokens import FOREVER, How, Scope, Token, World, compatible, decided, joined, pairs
from retewave.compiler import algebra
from retewave.compiler.algebra import (
    Algebra,
    Exists,
    Extend,
    Filter,
    First,
    Join,
    Last,
    LeftJoin,
    Minus,
    TriplePattern,
    Triples,
    Union,
    Values,
    visible,
    walk,
)
from retewave.io.rdf import to_text


def tokens_of(pattern: Algebra, world: World, scope: Scope) -> list[Token]:
    """Return the tokens of a pattern that a decision can look at, in its window or not.

    Only FIRST and LAST ask when; all other patterns have the same tokens at every instant after these ended.
    """
    asks_when = any(isinstance(each, First | Last) for each in walk(pattern))
    scope_asked = scope if asks_when else replace(scope, at=FOREVER, upto=FOREVER)
    key = (id(pattern), scope_asked)
    if key not in world.found:
        world.kept.append(pattern)
        world.found[key] = [each for each in _tokens(pattern, world, scope_asked) if world.is_there(each, each.end)]
    return [each for each in world.found[key] if each.end <= scope.upto]


def _tokens(pattern: Algebra, world: World, scope: Scope) -> Iterable[Token]:
    match pattern:
        case Triples(patterns):
            return _basic(patterns, world.facts)
        case Join(left, right):
            return pairs(tokens_of(left, world, scope), tokens_of(right, world, scope))
        case Union(left, right):
            return tokens_of(left, world, scope) + tokens_of(right, world, scope)
        case Filter():
            return _filtered(pattern, world, scope)
        case Extend(inner):
            return [_extended(each, pattern) for each in tokens_of(inner, world, scope)]
        case Values(variables, rows):
            return [Token({v: text for v, text in zip(variables, row, strict=True) if text}) for row in rows]
        case LeftJoin(left) | Minus(left) | Exists(left):
            return _at_close(pattern, tokens_of(left, world, scope), world, scope)
        case algebra.Sequence():
            return sequences.tokens_of_sequence(pattern, world)
    return temporal.tokens_in_time(pattern, world, scope, tokens_of)


def _at_close(pattern: LeftJoin | Minus | Exists, left: Sequence[Token], world: World, scope: Scope) -> Iterator[Token]:
    """Yield what is decided at the close of the instant at which the left side ends."""
    for one in left:
        if isinstance(pattern, LeftJoin):
            found = _optional(one, pattern, world, scope)
        elif isinstance(pattern, Minus):
            found = [one] * _not_taken_away(one, pattern, world, scope)
        else:
            found = [one] * _found_or_not(one, pattern, world, scope)
        yield from (decided(each, one.end, How.CLOSE) for each in found)


def _basic(patterns: Sequence[TriplePattern], facts: Sequence[Fact]) -> list[Token]:
    """Return a token for each choice of a fact for every triple pattern."""
    found = [Token({})]
    for pattern in patterns:
        found = pairs(found, [token for fact in facts for token in _matching(pattern, fact)])
    return found


def _matching(pattern: TriplePattern, fact: Fact) -> Iterator[Token]:
    bindings = bound(pattern, fact)
    if bindings is None:
        return
    if pattern.event is not None:
        bindings = {**bindings, pattern.event: str(fact.event).encode()}
    yield Token(bindings, fact.start, fact.end, fact.end, (fact,), How.CLOSE if fact.is_built else How.ARRIVAL)


def _filtered(pattern: Algebra, world: World, scope: Scope) -> list[Token]:
    """Return what all FILTERs of a group keep; what they say of the duration is a window on the group."""
    conditions = []
    while isinstance(pattern, Filter):
        conditions.append(pattern.expression)
        pattern = pattern.pattern
    widths = [width for each in conditions if (width := window_of(each)) is not None]
    inside = replace(scope, within=min(widths)) if widths else scope
    found = tokens_of(pattern, world, inside)
    return [one for one in found if all(_seen(one).is_true(each) for each in conditions)]


def _extended(token: Token, pattern: Extend) -> Token:
    term = value_of(_seen(token).plain(pattern.expression), token.bindings, token.start, token.end)
    return token if term is None else replace(token, bindings={**token.bindings, pattern.variable: to_text(term)})


def _seen(token: Token) -> Seen:
    """Return what an expression sees of a token."""
    return Seen(token.bindings, token.groups, token.start, token.end)


def _seen_by(one: Token, pattern: Algebra, world: World, scope: Scope) -> list[Token]:
    """Return the compatible tokens of a pattern in the window when a token ends."""
    then = replace(scope, at=one.end, upto=one.end)
    found = tokens_of(pattern, world, then)
    return [each for each in found if compatible(one.bindings, each.bindings) and world.sees(each, one.end, scope)]


def _optional(one: Token, pattern: LeftJoin, world: World, scope: Scope) -> list[Token]:
    whole = [joined(one, other) for other in _seen_by(one, pattern.right, world, scope)]
    whole = [each for each in whole if is_true(pattern.condition, each.bindings, each.start, each.end)]
    return whole or [one] * world.knows(one.end, scope)


def _not_taken_away(one: Token, pattern: Minus, world: World, scope: Scope) -> bool:
    like = [
        other
        for other in _seen_by(one, pattern.right, world, scope)
        if any(not variable.hidden for variable in one.bindings.keys() & other.bindings.keys())
    ]
    can_share = any(not variable.hidden for variable in one.bindings.keys() & set(visible(pattern.right)))
    return not like and (not can_share or world.knows(one.end, scope))


def _found_or_not(one: Token, pattern: Exists, world: World, scope: Scope) -> bool:
    found = any(
        is_true(pattern.condition, {**one.bindings, **other.bindings}, other.start, other.end)
        for other in _seen_by(one, pattern.group, world, scope)
    )
    return (not found and world.knows(one.end, scope)) if pattern.negated else found
