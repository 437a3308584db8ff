"""Relations in time between branches: SEQ, EQUALS, Allen's relations, WITHIN.

Data's way: algebra -> **branches** -> plan -> network.
A relation of two operands is a conjunction of bounds between their moments.  BEFORE (SEQ) decomposes: the latest end
of the left side is before the earliest start of the right one exactly if each end is before each start.  So a chain of
SEQ stays one conjunction of its patterns.  The other relations are about the interval of a whole side: it becomes a
part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from retewave.compiler.rewrite.branch import Bound, Branch, Decided, Moment, Probe
from retewave.compiler.rewrite.joining import Fresh, Joined, as_part, join, single
from retewave.errors import Place, QueryError
from retewave.windows import relations

__all__ = ["before", "bounded", "joined", "less", "same"]


def joined(left: Branch, relation: int, right: Branch, fresh: Fresh, place: Place | None) -> Joined:
    """Return two branches joined, and in a relation."""
    for side in (left, right):
        if not side.operands:
            raise QueryError(
                f"{relations.NAMES[relation].upper()} relates what has a time, and a side has no triple pattern",
                place=place,
                hint="join inline data with one of the groups, inside its braces",
            )
    if relation == relations.AFTER:
        other = joined(right, relations.BEFORE, left, fresh, place)
        return Joined(other.branch, other.right, other.left)
    if relation != relations.BEFORE:
        left, right = single(left, place), single(right, place)
    found = join(left, right, fresh, place)
    bounds = tuple(before(found.left, found.right)) if relation == relations.BEFORE else _bounds(relation, found)
    streamed = found.branch.streamed | {frozenset(found.left), frozenset(found.right)}
    branch = replace(found.branch, bounds=found.branch.bounds + bounds, streamed=streamed)
    return replace(found, branch=branch)


def before(left: tuple[int, ...], right: tuple[int, ...]) -> Iterator[Bound]:
    """Yield what says that each of some operands ends before each of some others starts."""
    for one, other in product(left, right):
        yield Bound(Moment(one, True), 1, Moment(other, False))


def _bounds(relation: int, found: Joined) -> tuple[Bound, ...]:
    """Return Allen's relation of two operands as bounds."""
    ((left,), (right,)) = found.left, found.right
    if relation not in (relations.NONE, relations.EQUALS) and relation % 2 == 1:
        left, right, relation = right, left, relations.inverse(relation)
    starts, ends = (Moment(left, False), Moment(right, False)), (Moment(left, True), Moment(right, True))
    match relation:
        case relations.EQUALS:
            return (*same(*starts), *same(*ends))
        case relations.MEETS:
            return tuple(same(ends[0], starts[1]))
        case relations.OVERLAPS:
            return (less(*starts), less(starts[1], ends[0]), less(*ends))
        case relations.STARTS:
            return (*same(*starts), less(*ends))
        case relations.DURING:
            return (less(starts[1], starts[0]), less(*ends))
        case relations.FINISHES:
            return (less(starts[1], starts[0]), *same(*ends))
    raise ValueError(f"an unknown code of a temporal relation: {relation}")


def less(one: Moment, other: Moment) -> Bound:
    """Say that one moment is before another."""
    return Bound(one, 1, other)


def same(one: Moment, other: Moment) -> tuple[Bound, Bound]:
    """Say that two moments are one."""
    return Bound(one, 0, other), Bound(other, 0, one)


def bounded(branch: Branch, width: int, place: Place | None = None) -> Branch:
    """Return a branch whose solutions are no longer than a width."""
    if branch.probes and branch.probes[-1].decided is Decided.AT_DEADLINE:
        return replace(as_part(branch, place), width=width)  # the deadline has become its end
    least = width if branch.width is None else min(branch.width, width)
    return _reaching(replace(branch, width=least), width)


def _reaching(branch: Branch, width: int) -> Branch:
    """Let the probes of a branch look no further back than a width."""

    def narrowed(probe: Probe) -> Probe:
        return replace(probe, reach=width if probe.reach is None else min(probe.reach, width))

    return replace(branch, probes=tuple(map(narrowed, branch.probes)), closing=tuple(map(narrowed, branch.closing)))
