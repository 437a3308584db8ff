"""Relations in time between branches: SEQ, EQUALS, Allen's relations, WITHIN.

Data's way: algebra -> **branches** -> plan -> network.
A relation of two operands is a conjunction of bounds between their moments.  BEFORE (SEQ) decomposes: the latest end
of the left side is before the earliest start of the right one exactly if each end is before each start.  So a chain of
SEQ stays one conjunction of its patterns.  The other relations need the interval of a whole side, so a side becomes a
part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from retewave.compiler.rewrite.branch import Bound, Branch, Decided, Moment, Part, Probe
from retewave.compiler.rewrite.joining import Fresh, Joined, as_part, join, single
from retewave.errors import Place, QueryError
from retewave.windows import relations

__all__ = ["before", "bounded", "joined", "looking_back", "narrowed"]


def joined(left: Branch, relation: int, right: Branch, fresh: Fresh, place: Place | None) -> Joined:
    """Return the join of two branches that a relation holds between."""
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
    """Yield the bounds by which each left operand ends before each right operand starts."""
    for one, other in product(left, right):
        yield Bound(Moment(one, True), 1, Moment(other, False))


def _bounds(relation: int, found: Joined) -> tuple[Bound, ...]:
    """Return Allen's relation of two operands as bounds."""
    sides = found.left[0], found.right[0]
    return tuple(
        Bound(Moment(sides[one], end), gap, Moment(sides[other], other_end))
        for (one, end), gap, (other, other_end) in relations.bounds(relation)
    )


def bounded(branch: Branch, width: int, place: Place | None = None) -> Branch:
    """Return a branch whose solutions are no longer than a width, and whose probes look no further back."""
    return narrowed(looking_back(branch, width), width, place)


def looking_back(branch: Branch, width: int, ranged: bool = True) -> Branch:
    """Return a branch whose probes look no further back than a width; a probe with a width of its own keeps it.

    `ranged`: they look no further back than the query's ranges, either.
    """

    def bound(probe: Probe) -> Probe:
        if probe.keep is None:
            within = width if probe.within is None else probe.within
            probe = replace(probe, within=within, ranged=probe.ranged and ranged)
        return replace(probe, there=looking_back(probe.there, width, ranged and probe.keep is None))

    return replace(
        branch,
        parts=tuple(Part(looking_back(part.branch, width, ranged)) for part in branch.parts),
        probes=tuple(map(bound, branch.probes)),
        closing=tuple(map(bound, branch.closing)),
    )


def narrowed(branch: Branch, width: int, place: Place | None = None) -> Branch:
    """Return a branch whose solutions are no longer than a width."""
    if any(probe.decided is Decided.AT_DEADLINE for probe in branch.probes):
        branch = as_part(branch, place)  # the deadline has become its end
    return replace(branch, width=width if branch.width is None else min(branch.width, width))
