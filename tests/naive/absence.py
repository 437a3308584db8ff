# ruff: noqa: E741  # l, n, r are the page's own letters
"""What must not be there (MEANING §3: Between, Before, After), and what hangs on a choice below it.

n is a token of an absent part.  Static tokens bar no NOT.

Decisions where the page is silent:
* `LAST A SEQ NOT N SEQ B` chooses, and then is barred or not.
* A SEQ NOT … SEQ or NOT … SEQ whose absent part chooses is told at the close of the instant, as all that looks at
  FIRST or LAST.
* The width of a leading or trailing NOT is a WITHIN around both of its parts.
* A static token of the part that is there gives nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from naive.order import InOrder
from naive.policies import Pair
from naive.times import is_true
from naive.tokens import How, Token, compatible, decided, joined
from retewave.compiler.algebra import After, Algebra, Before, Between, First, Last, OptionalBefore, Relate, shown_parts
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


class Absences(InOrder):
    """What is barred at one place of a query."""

    def between(self, pattern: Between) -> Iterator[Token]:
        found = self.chosen(self.not_barred(pattern))
        return (decided(each, each.end, How.CLOSE) for each in found) if chooses(pattern.absent) else found

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

    def before(self, pattern: Before) -> Iterator[Token]:
        for r in self.all(pattern.pattern, within=pattern.width):
            if not r.is_static and r.end - r.start <= pattern.width and self.nothing_before(r, pattern):
                yield decided(r, r.end, How.CLOSE) if chooses(pattern.absent) else r

    def after(self, pattern: After) -> Iterator[Token]:
        for l in self.all(pattern.pattern, within=pattern.width):
            deadline = l.start + pattern.width
            if not l.is_static and l.end <= deadline and self.nothing_until(l, deadline, pattern):
                yield decided(replace(l, end=deadline), deadline, How.DEADLINE)

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
