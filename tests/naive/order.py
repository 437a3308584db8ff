# ruff: noqa: E741  # l, n, r are the page's own letters
"""Which tokens stand in an order or relation (MEANING §3: Relate; §5: policies), and what stands first in a sequence.

l and r are tokens of the two sides.

Decisions where the page is silent:
* What stands first in a sequence (left of SEQ, SEQ NOT, OPTIONALSEQ; right of AFTER) is looked at as it was before
  r.start, FIRST and LAST below it too (RSEP-QL, eq. 7), in the window at r.end.  Only where FIRST or LAST is itself
  what stands first are the tokens also asked to be compatible with r, before the choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from naive.allen import RELATIONS
from naive.policies import Pair, chosen
from naive.tokens import How, Scope, Token, World, compatible, decided, earlier, extreme, joined
from retewave.compiler.algebra import Algebra, First, Last, Relate
from retewave.windows import relations

TokensOf = Callable[[Algebra, World, Scope], list[Token]]


class InOrder:
    """What is related at one place of a query."""

    def __init__(self, world: World, scope: Scope, tokens_of: TokensOf) -> None:
        self.world, self.scope, self._tokens_of = world, scope, tokens_of

    def all(self, pattern: Algebra, **changes: Any) -> list[Token]:
        """Return the tokens of a part, in this scope or with some of it changed."""
        return self._tokens_of(pattern, self.world, replace(self.scope, **changes))

    def sees(self, token: Token, at: int) -> bool:
        return self.world.sees(token, at, self.scope)

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

    def first_of_a_sequence(self, pattern: Algebra, r: Token) -> list[Token]:
        """Return the compatible l of what stands first in a sequence, l.end < r.start; none for a static r."""
        if r.is_static:
            return []
        found = self.all(pattern.pattern if isinstance(pattern, First | Last) else pattern, at=r.end, upto=r.start - 1)
        found = [l for l in found if not l.is_static and compatible(l.bindings, r.bindings)]
        if isinstance(pattern, First | Last):
            return extreme([l for l in found if self.sees(l, r.end)], type(pattern))
        return found
