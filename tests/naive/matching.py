"""What MATCH means (RSEP-QL, equations 4 to 11; MEANING §5): a set of (bindings, start, end), by recursion.

⟨E⟩ is evaluated under what is bound already, and before a time: so equation 7 restricts the left side of a SEQ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

Bindings = tuple[tuple[str, str], ...]  # (variable, term), by variable
Found = Callable[[str], Iterable[tuple[Bindings, int, int]]]  # of an event pattern: bindings, time, event


@dataclass(frozen=True)
class Named:
    name: str  # of an event pattern


@dataclass(frozen=True)
class Chosen:
    last: bool  # LAST; else FIRST
    of: Named | Chosen | Then


@dataclass(frozen=True)
class Then:
    left: Named | Chosen | Then
    right: Named | Chosen | Then


Order = Named | Chosen | Then


@dataclass(frozen=True)
class Solution:
    bindings: Bindings
    start: int
    end: int
    events: frozenset[int]  # of one derivation


def joined(one: Bindings, other: Bindings) -> Bindings | None:
    """Return both, if they agree."""
    found = dict(one)
    if any(found.setdefault(name, term) != term for name, term in other):
        return None
    return tuple(sorted(found.items()))


def extreme(found: list[Solution], last: bool) -> list[Solution]:
    """Return those that no other is before, or after."""
    ranks = [(each.end, each.start) for each in found]
    best = (max if last else min)(ranks, default=None)
    return [each for each, rank in zip(found, ranks, strict=True) if rank == best]


def solutions(
    order: Order, found: Found, policy: str, given: Bindings = (), before: float = float("inf")
) -> list[Solution]:
    """Return the derivations of ⟨E⟩ that agree with what is given and end before a time."""
    match order:
        case Named(name):
            return [
                Solution(bindings, time, time, frozenset((event,)))
                for bindings, time, event in found(name)
                if time < before and joined(given, bindings) is not None
            ]
        case Chosen(last, of):
            return extreme(solutions(of, found, policy, given, before), last)
    rights = solutions(order.right, found, policy, given, before)
    if policy == "naive":
        lefts = extreme(solutions(order.left, found, policy, given, before), True)
        pairs = [(left, right) for right in extreme(rights, True) for left in lefts if left.end < right.start]
        return [both for left, right in pairs if (both := _both(left, right)) is not None]
    made = []
    partners = {
        right: solutions(order.left, found, policy, joined(given, right.bindings) or (), min(before, right.start))
        for right in rights
    }
    for right, lefts in partners.items():
        rivals = [other for other in rights if other.bindings == right.bindings and partners[other]]
        if policy in ("chronological", "recent"):
            lefts = extreme(lefts, policy == "recent") if right in extreme(rivals, policy == "recent") else []
        made += [both for left in lefts if (both := _both(left, right)) is not None]
    return made


def _both(left: Solution, right: Solution) -> Solution | None:
    bindings = joined(left.bindings, right.bindings)
    if bindings is None:
        return None
    return Solution(bindings, left.start, right.end, left.events | right.events)


def matched(order: Order, found: Found, policy: str) -> tuple[list[Bindings], frozenset[int]]:
    """Return the bag of bindings that MATCH gives, and the events that it is made of."""
    made = solutions(order, found, policy)
    told = {replace(each, events=frozenset()) for each in made}
    return [each.bindings for each in told], frozenset().union(*(each.events for each in made))
