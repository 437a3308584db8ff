# ruff: noqa: E741  # l, n, r are the page's own letters
"""The operators of time, each as its row of the page's table says it.

l and r are tokens of the two sides, n one of an absent part.  Static tokens have no place in time: they take part in no
relation, bar no NOT, are not found by OPTIONALSEQ or EQUALSOPTIONAL, and are neither FIRST nor LAST.

Decisions where the page is silent:
* What stands first in a sequence (left of SEQ, SEQ NOT, OPTIONALSEQ; right of AFTER) is looked at as it was before
  r.start, FIRST and LAST below it too (RSEP-QL, eq. 7), in the window at r.end.  Only where FIRST or LAST is itself
  what stands first are the tokens also asked to be compatible with r, before the choice.
* `LAST A SEQ NOT N SEQ B` chooses, and then is barred or not; so does the condition of `LAST A OPTIONALSEQ B`.
* A SEQ NOT … SEQ or NOT … SEQ whose absent part chooses is told at the close of the instant, as all that looks at
  FIRST or LAST; so is an r of OPTIONALSEQ that stays alone for what a choice would have had to be.
* The width of a leading or trailing NOT is a WITHIN around both of its parts.
* A static r of OPTIONALSEQ, and a static l of EQUALSOPTIONAL, stays alone; of SEQ and NOT it gives nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from naive.allen import RELATIONS
from naive.policies import Pair, chosen
from naive.times import is_true
from naive.tokens import How, Scope, Token, World, compatible, decided, earlier, extreme, joined
from retewave.compiler.algebra import (
    After,
    Algebra,
    Before,
    Between,
    First,
    Last,
    OptionalBefore,
    OptionalEquals,
    Relate,
    Within,
    shown_parts,
)
from retewave.windows import relations


def chooses(pattern: Algebra) -> bool:
    """Tell whether FIRST or LAST in a pattern is decided with the whole of it, not with what follows in a sequence."""
    match pattern:
        case First() | Last():
            return True
        case Relate(_, relations.BEFORE, second) | Between(after=second) | OptionalBefore(pattern=second):
            return chooses(second)
        case Relate(second, relations.AFTER, _):
            return chooses(second)
    return any(map(chooses, shown_parts(pattern)))


def looks_at_choice(pattern: OptionalBefore) -> bool:
    """Tell whether an r of OPTIONALSEQ hangs on which l is chosen, and not only on whether there is any."""
    if isinstance(pattern.optional, First | Last):
        return pattern.condition is not None or chooses(pattern.optional.pattern)
    return chooses(pattern.optional)


TokensOf = Callable[[Algebra, World, Scope], list[Token]]


def tokens_in_time(pattern: Algebra, world: World, scope: Scope, tokens_of: TokensOf) -> Iterator[Token]:
    """Yield the tokens of an operator of time."""
    return Temporal(world, scope, tokens_of).tokens(pattern)


class Temporal:
    """The operators of time at one place of a query."""

    def __init__(self, world: World, scope: Scope, tokens_of: TokensOf) -> None:
        self.world, self.scope, self._tokens_of = world, scope, tokens_of

    def tokens(self, pattern: Algebra) -> Iterator[Token]:
        match pattern:
            case Relate(left, relations.SEQ, right):
                return self.chosen(self.in_sequence(left, right))
            case Relate():
                return (joined(l, r) for l, r in self.related(pattern))
            case Within(inner, width):
                return (each for each in self.all(inner, within=width) if each.end - each.start <= width)
            case OptionalBefore():
                return self.optional_before(pattern)
            case OptionalEquals():
                return self.optional_equals(pattern)
            case Between():
                found = self.chosen(self.not_barred(pattern))
                return (decided(each, each.end, How.CLOSE) for each in found) if chooses(pattern.absent) else found
            case Before():
                return self.before(pattern)
            case After():
                return self.after(pattern)
            case First() | Last():
                return self.first_or_last(pattern)
        raise TypeError(f"{type(pattern).__name__} is no operator of time")

    def optional_before(self, pattern: OptionalBefore) -> Iterator[Token]:
        for r in self.all(pattern.pattern):
            yield from self.with_what_was_before(r, pattern)

    def optional_equals(self, pattern: OptionalEquals) -> Iterator[Token]:
        for l in self.all(pattern.pattern):
            yield from (decided(each, l.end, How.CLOSE) for each in self.with_what_is_equal(l, pattern))

    def before(self, pattern: Before) -> Iterator[Token]:
        for r in self.all(pattern.pattern, within=pattern.width):
            if not r.is_static and r.end - r.start <= pattern.width and self.nothing_before(r, pattern):
                yield decided(r, r.end, How.CLOSE) if chooses(pattern.absent) else r

    def after(self, pattern: After) -> Iterator[Token]:
        for l in self.all(pattern.pattern, within=pattern.width):
            deadline = l.start + pattern.width
            if not l.is_static and l.end <= deadline and self.nothing_until(l, deadline, pattern):
                yield decided(replace(l, end=deadline), deadline, How.DEADLINE)

    def first_or_last(self, pattern: First | Last) -> Iterator[Token]:
        found = [each for each in self.all(pattern.pattern) if self.sees(each, self.scope.at)]
        for each in extreme(found, type(pattern)):
            yield decided(each, self.scope.upto, How.CLOSE)

    def all(self, pattern: Algebra, **changes: Any) -> list[Token]:
        """Return the tokens of a part, in this scope or with some of it changed."""
        return self._tokens_of(pattern, self.world, replace(self.scope, **changes))

    def related(self, pattern: Relate) -> list[Pair]:
        if pattern.relation == relations.AFTER:
            return [(l, r) for l in self.all(pattern.left) for r in self.first_of_a_sequence(pattern.right, l)]
        holds = RELATIONS[pattern.relation]
        return [
            (l, r)
            for l in self.all(pattern.left)
            for r in self.all(pattern.right)
            if not l.is_static and not r.is_static and compatible(l.bindings, r.bindings) and holds(l, r)
        ]

    def in_sequence(self, left: Algebra, right: Algebra) -> list[Pair]:
        """Return each r with the l before it; the naive policy looks at the last ones of the window only."""
        if self.world.policy.name != "naive":
            return [(l, r) for r in self.all(right) for l in self.first_of_a_sequence(left, r)]
        return [
            (l, r)
            for r in self.all(right)
            if not any(earlier(r, other) for other in self.in_window(right, r.end))
            for l in extreme(self.in_window(left, r.end), Last)
            if compatible(l.bindings, r.bindings) and l.end < r.start
        ]

    def chosen(self, found: list[Pair]) -> Iterator[Token]:
        """Yield what the query's policy takes of the pairs of a sequence."""
        if self.world.policy.name == "unrestricted":
            return (joined(l, r) for l, r in found)
        found = [(l, r) for l, r in found if self.sees(l, r.end) and self.sees(r, r.end)]
        return (decided(joined(l, r), r.end, How.CLOSE) for l, r in chosen(self.world.policy, found))

    def in_window(self, pattern: Algebra, at: int) -> list[Token]:
        return [each for each in self.all(pattern, at=at, upto=at) if self.sees(each, at)]

    def sees(self, token: Token, at: int) -> bool:
        return self.world.sees(token, at, self.scope)

    def first_of_a_sequence(self, pattern: Algebra, r: Token) -> list[Token]:
        """Return the compatible l of what stands first in a sequence, l.end < r.start; none for a static r."""
        if r.is_static:
            return []
        found = self.all(pattern.pattern if isinstance(pattern, First | Last) else pattern, at=r.end, upto=r.start - 1)
        found = [l for l in found if not l.is_static and compatible(l.bindings, r.bindings)]
        if isinstance(pattern, First | Last):
            return extreme([l for l in found if self.sees(l, r.end)], type(pattern))
        return found

    def with_what_was_before(self, r: Token, pattern: OptionalBefore) -> list[Token]:
        found = [l for l in self.first_of_a_sequence(pattern.optional, r) if self.sees(l, r.end)]
        whole = [joined(l, r) for l in found]
        whole = [each for each in whole if is_true(pattern.condition, each.bindings, each.start, each.end)]
        alone = decided(r, r.end, How.CLOSE) if looks_at_choice(pattern) and not r.is_static else r
        return whole or [alone] * (r.is_static or self.world.knows(r.end, self.scope))

    def with_what_is_equal(self, l: Token, pattern: OptionalEquals) -> list[Token]:
        whole = [
            joined(l, r)
            for r in self.all(pattern.optional, at=l.end, upto=l.end)
            if compatible(l.bindings, r.bindings) and not r.is_static and (r.start, r.end) == (l.start, l.end)
            if self.sees(r, l.end)
        ]
        whole = [each for each in whole if is_true(pattern.condition, each.bindings, each.start, each.end)]
        return whole or [l] * (l.is_static or self.has_been_there_since(l.end - 1))

    def not_barred(self, pattern: Between) -> list[Pair]:
        return [
            (l, r)
            for l, r in self.in_sequence(pattern.before, pattern.after)
            if self.has_been_there_since(l.end)
            if not any(
                l.end < n.start and self.sees(n, r.end)
                for n in self.absent(pattern, joined(l, r), at=r.end, upto=r.start - 1)
            )
        ]

    def nothing_before(self, r: Token, pattern: Before) -> bool:
        inside = replace(self.scope, within=pattern.width, ranged=False)
        found = self.absent(pattern, r, at=r.end, upto=r.start - 1, within=pattern.width, ranged=False)
        return not any(self.world.sees(n, r.end, inside) for n in found) and self.world.knows(r.end, inside)

    def nothing_until(self, l: Token, deadline: int, pattern: After) -> bool:
        found = self.absent(pattern, l, at=deadline, upto=deadline, within=pattern.width, ranged=False)
        return not any(l.end < n.start for n in found) and self.has_been_there_since(l.end)

    def absent(self, pattern: Between | Before | After, whole: Token, **changes: Any) -> list[Token]:
        """Return what must not be there: compatible, and so that the condition is true, with its own times."""
        return [
            n
            for n in self.all(pattern.absent, **changes)
            if not n.is_static and compatible(whole.bindings, n.bindings)
            if is_true(pattern.condition, {**whole.bindings, **n.bindings}, n.start, n.end)
        ]

    def has_been_there_since(self, time: int) -> bool:
        """Tell whether the query knows all that ends later than a time."""
        return self.world.registered is None or time >= self.world.registered
