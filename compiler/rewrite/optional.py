"""OPTIONALSEQ and EQUALSOPTIONAL: each solution with those before it, or of its times; alone, where there are none.

Data's way: algebra -> **branches** -> plan -> network.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from retewave.compiler.algebra import Algebra, First, Last, OptionalBefore, OptionalEquals
from retewave.compiler.rewrite.branch import THERE, WHOLE, Bound, Branch, Decided, Moment
from retewave.compiler.rewrite.choosing import Normal, chosen_before, chosen_inside
from retewave.compiler.rewrite.chosen_there import same
from retewave.compiler.rewrite.joining import Fresh, Joined, joinable, single
from retewave.compiler.rewrite.probing import absent, chosen_by, look_at, looking, where
from retewave.compiler.rewrite.relating import joined
from retewave.windows import relations

__all__ = ["optional_before", "optional_equals"]

_START, _END = Moment(WHOLE, False), Moment(WHOLE, True)
_ITS_START, _ITS_END = Moment(THERE, False), Moment(THERE, True)
_BEFORE = (Bound(_ITS_END, 1, _START),)  # the solution there ends before the own start
_EQUAL = (
    *(Bound(_ITS_START, 0, _START), Bound(_START, 0, _ITS_START)),
    *(Bound(_ITS_END, 0, _END), Bound(_END, 0, _ITS_END)),
)


def optional_before(node: OptionalBefore, of: Normal, fresh: Fresh) -> Iterator[Branch]:
    """Yield the branches of OPTIONALSEQ."""
    if isinstance(node.optional, First | Last):
        yield from _choice_before(node, node.optional, of, fresh)
        return
    for branch in of(node.pattern):
        alone = branch
        for there in of(node.optional):
            yield where(chosen_inside(there, branch, fresh, node.place).branch, node.condition)
            look = look_at("OPTIONALSEQ", branch, there, node.condition, _BEFORE, Decided.AT_ARRIVAL)
            alone = looking(alone, replace(look, joint=True, streamed=True), fresh, node.place)
        yield alone


def _choice_before(node: OptionalBefore, chosen: First | Last, of: Normal, fresh: Fresh) -> Iterator[Branch]:
    """Yield the branches of FIRST or LAST OPTIONALSEQ: before each r a solution is chosen, if there is any."""
    for right in of(node.pattern):
        branch = joinable(right, node.place)
        pairs = list(chosen_before(chosen, [branch], of, fresh, node.place))
        yield from (where(found.branch, node.condition) for found in pairs)
        yield _without_choice(branch, chosen.pattern, pairs, of, fresh, node)


def _without_choice(
    branch: Branch, pattern: Algebra, pairs: list[Joined], of: Normal, fresh: Fresh, node: OptionalBefore
) -> Branch:
    """Return the solutions r before which there is nothing to choose, or nothing chosen makes the condition true."""
    alone = branch
    for there in of(pattern) if node.condition is None else ():
        look = look_at("OPTIONALSEQ", branch, there, None, _BEFORE, Decided.AT_ARRIVAL)
        alone = looking(alone, replace(look, joint=True, streamed=True), fresh, node.place)
    for found in () if node.condition is None else pairs:
        bounds = tuple(same(branch.operands, found.right))
        there = replace(found.branch, closing=())  # what else r must be, it is or not beside any pair
        look = look_at("OPTIONALSEQ", branch, there, node.condition, bounds, Decided.AT_CLOSE)
        alone = absent(alone, replace(look, joint=True, own=found.right), node.place)
    return alone


def optional_equals(node: OptionalEquals, of: Normal, fresh: Fresh) -> Iterator[Branch]:
    """Yield the branches of EQUALSOPTIONAL."""
    for branch in of(node.pattern):
        alone = branch
        for there in of(node.optional):
            yield where(_equal(single(there, node.place), branch, fresh, node), node.condition)
            look = look_at("EQUALSOPTIONAL", branch, there, node.condition, _EQUAL, Decided.AT_CLOSE)
            alone = looking(alone, replace(look, joint=True, streamed=True), fresh, node.place)
        yield alone


def _equal(there: Branch, branch: Branch, fresh: Fresh, node: OptionalEquals) -> Branch:
    """Return the join of solutions with those there that have the same times."""
    found = joined(replace(there, closing=()), relations.EQUALS, branch, fresh, node.place)
    return chosen_by(Joined(found.branch, found.right, found.left), there, fresh, node.place)
