"""Which leaves of a branch are copies: a choice that an operator looks at is made among pairs with the solution itself.

Data's way: a branch -> **its leaves that say what others have said** -> what an explanation leaves out.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from itertools import count

from retewave.compiler.rewrite.branch import Branch

__all__ = ["copies"]


def copies(branch: Branch) -> frozenset[int]:
    """Return the numbers of the leaves that are copies, as the planner numbers leaves."""
    return frozenset(_copies(branch, count(), ()))


def _copies(branch: Branch, leaves: Iterator[int], own: Container[int]) -> Iterator[int]:
    for place in range(len(branch.patterns)):
        leaf = next(leaves)
        if place in own:
            yield leaf
    for _ in branch.values:
        next(leaves)
    for place, part in enumerate(branch.parts, len(branch.patterns)):
        if place in own:
            yield from (next(leaves) for _ in part.branch.leaves)
        else:
            yield from _copies(part.branch, leaves, ())
    for probe in branch.probes:
        if probe.wanted:
            yield from _copies(probe.there, leaves, probe.own)
        else:
            for _ in probe.there.leaves:
                next(leaves)
