# ruff: noqa: E741  # l, n, r are the page's own letters
"""Policies (MEANING §5): which pairs of a SEQ are taken, and which events a match uses up.

A policy chooses at the close of the instant at which r ends, among the r that end there and the l in the window, of the
pairs that go together and that no NOT between them bars.

Decisions where the page is silent:
* An r that is itself not in the window is no candidate: it keeps no other from being chosen.
* *naive* wants l and r each to be the last of its side at the instant r.end, what ends at that instant included.
* What is used up is not seen by SEQ NOT … SEQ, NOT … SEQ and the other decisions from the next instant on.  A trailing
  NOT that was barred stays barred.
"""

from __future__ import annotations

from collections.abc import Sequence

from naive.tokens import Token, World, extreme
from retewave.compiler.algebra import First, Last, Policy

Pair = tuple[Token, Token]


def chosen(policy: Policy, found: Sequence[Pair], *, whole: bool = False) -> list[Pair]:
    """Return the pairs that a policy takes of all; for *naive* these are all of the last l and r.

    A detector chooses among the r that end together, a view (`whole`) among all.
    """
    if policy.name in ("unrestricted", "naive"):
        return list(found)
    which = First if policy.name == "chronological" else Last
    pairs = []
    for r in {id(r): r for _, r in found}.values():
        rivals = [other for _, other in found if other.bindings == r.bindings and (whole or other.end == r.end)]
        if any(r is each for each in extreme(rivals, which)):
            pairs += [(l, r) for l in extreme([l for l, other in found if other is r], which)]
    return pairs


def use_up(policy: Policy, told: Sequence[Token], at: int, world: World) -> None:
    """Mark the events of what is told at an instant: when it is closed, they are not there any more."""
    if policy.consumes:
        for event in {fact.event for token in told for fact in token.facts if fact.event is not None}:
            world.used.setdefault(event, at)
        world.found.clear()
