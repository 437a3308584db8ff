# ruff: noqa: E741  # l, n, r are the page's own letters
"""The operators of time (MEANING §3), each as its row of the page's table says it.

l and r are tokens of the two sides.  Static tokens have no place in time: they take part in no relation, are not found
by OPTIONALSEQ or EQUALSOPTIONAL, and are neither FIRST nor LAST.
`order.py` has SEQ, Allen's relations and policies, `absence.py` what must not be there.

Decisions where the page is silent:
* The condition of `LAST A OPTIONALSEQ B` is asked of what LAST has chosen.
* An r of OPTIONALSEQ that stays alone for what a choice would have had to be is told at the close of the instant, as
  all that looks at FIRST or LAST.
* A static r of OPTIONALSEQ, and a static l of EQUALSOPTIONAL, stays alone; of SEQ it gives nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from naive.absence import Absences, chooses
from naive.order import TokensOf
from naive.times import is_true
from naive.tokens import How, Scope, Token, World, compatible, decided, extreme, joined
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
)
from retewave.windows import relations


def looks_at_choice(pattern: OptionalBefore) -> bool:
    """Tell whether an r of OPTIONALSEQ hangs on which l is chosen, and not only on whether there is any."""
    if isinstance(pattern.optional, First | Last):
        return pattern.condition is not None or chooses(pattern.optional.pattern)
    return chooses(pattern.optional)


def tokens_in_time(pattern: Algebra, world: World, scope: Scope, tokens_of: TokensOf) -> Iterator[Token]:
    """Yield the tokens of an operator of time."""
    return Temporal(world, scope, tokens_of).tokens(pattern)


class Temporal(Absences):
    """The operators of time at one place of a query."""

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
                return self.between(pattern)
            case Before():
                return self.before(pattern)
            case After():
                return self.after(pattern)
            case First() | Last():
                return self.first_or_last(pattern)
        raise TypeError(f"{type(pattern).__name__} is no operator of time")

    def first_or_last(self, pattern: First | Last) -> Iterator[Token]:
        found = [each for each in self.all(pattern.pattern) if self.sees(each, self.scope.at)]
        for each in extreme(found, type(pattern)):
            yield decided(each, self.scope.upto, How.CLOSE)

    def optional_before(self, pattern: OptionalBefore) -> Iterator[Token]:
        for r in self.all(pattern.pattern):
            yield from self.with_what_was_before(r, pattern)

    def with_what_was_before(self, r: Token, pattern: OptionalBefore) -> list[Token]:
        found = [l for l in self.first_of_a_sequence(pattern.optional, r) if self.sees(l, r.end)]
        whole = [joined(l, r) for l in found]
        whole = [each for each in whole if is_true(pattern.condition, each.bindings, each.start, each.end)]
        alone = decided(r, r.end, How.CLOSE) if looks_at_choice(pattern) and not r.is_static else r
        return whole or [alone] * (r.is_static or self.world.knows(r.end, self.scope))

    def optional_equals(self, pattern: OptionalEquals) -> Iterator[Token]:
        for l in self.all(pattern.pattern):
            yield from (decided(each, l.end, How.CLOSE) for each in self.with_what_is_equal(l, pattern))

    def with_what_is_equal(self, l: Token, pattern: OptionalEquals) -> list[Token]:
        whole = [
            joined(l, r)
            for r in self.all(pattern.optional, at=l.end, upto=l.end)
            if compatible(l.bindings, r.bindings) and not r.is_static and (r.start, r.end) == (l.start, l.end)
            if self.sees(r, l.end)
        ]
        whole = [each for each in whole if is_true(pattern.condition, each.bindings, each.start, each.end)]
        return whole or [l] * (l.is_static or self.has_been_there_since(l.end - 1))
