"""FIRST and LAST: the solutions such that no other is earlier (later), by end, then by start.

Data's way: algebra -> **branches** -> plan -> network.
For each right solution r of SEQ, FIRST or LAST chooses among these solutions:
as the whole left side, those before r that are compatible with r; deeper in the left side, all before r.
Elsewhere it is decided with the whole pattern, among all solutions in the window then, whatever they bind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

from retewave.compiler.algebra import Algebra, First, Last, Relate, renamed, visible
from retewave.compiler.rewrite.branch import THERE, Bound, Branch, Decided, Moment, Probe, moved
from retewave.compiler.rewrite.chosen_there import in_their_windows
from retewave.compiler.rewrite.joining import Fresh, Joined, joinable, single
from retewave.compiler.rewrite.probing import looking
from retewave.compiler.rewrite.relating import before, joined
from retewave.errors import Place
from retewave.windows import relations

__all__ = ["Normal", "better", "chosen", "chosen_before", "chosen_inside", "in_sequence", "related"]

Normal = Callable[[Algebra], list[Branch]]


def related(node: Relate, of: Normal, fresh: Fresh) -> Iterator[Branch]:
    """Yield the branches of a relation."""
    match node.relation:
        case relations.BEFORE:
            yield from (found.branch for found in in_sequence(node.left, node.right, of, fresh, node.place))
        case relations.AFTER:
            yield from (found.branch for found in in_sequence(node.right, node.left, of, fresh, node.place))
        case relation:
            for left, right in product(of(node.left), of(node.right)):
                yield joined(left, relation, right, fresh, node.place).branch


def in_sequence(first: Algebra, second: Algebra, of: Normal, fresh: Fresh, place: Place | None) -> Iterator[Joined]:
    """Yield the branches of two sides in sequence; FIRST and LAST in the first choose from before the second."""
    if isinstance(first, First | Last):
        yield from chosen_before(first, of(second), of, fresh, place)
        return
    for left, right in product(of(first), of(second)):
        yield chosen_inside(left, right, fresh, place)


def chosen_inside(left: Branch, right: Branch, fresh: Fresh, place: Place | None) -> Joined:
    """Return two branches in sequence; FIRST and LAST in the left one choose among ends before the right one starts."""
    if not left.closing:
        return joined(left, relations.BEFORE, right, fresh, place)
    left = joinable(left, place)
    found = joined(replace(left, closing=()), relations.BEFORE, right, fresh, place)
    places, ended = dict(zip(left.operands, found.left, strict=True)), tuple(before((THERE,), found.right))
    windows = in_their_windows(replace(found, left=found.right), left.closing, places)
    branch = replace(found.branch, bounds=found.branch.bounds + windows)
    for probe in left.closing:
        bounds = tuple(moved(bound, places) for bound in probe.bounds) + ended
        branch = looking(branch, replace(probe, bounds=bounds, decided=Decided.AT_ARRIVAL), fresh, place, ended)
    return replace(found, branch=branch)


def chosen(node: First | Last, of: Normal, fresh: Fresh) -> Iterator[Branch]:
    """Yield the branches of FIRST or LAST: no other solution in the window, whatever it binds, is earlier or later."""
    others = of(renamed(node.pattern, {each: fresh(each) for each in visible(node.pattern)}))
    for branch in of(node.pattern):
        one = single(branch, node.place)
        looks = [probe for other in others for probe in better(type(node), other, 0, Decided.AT_CLOSE)]
        yield replace(one, closing=(*one.closing, *looks))


def better(which: type[First | Last], other: Branch, operand: int, decided: Decided) -> Iterator[Probe]:
    """Yield the probes for solutions earlier (FIRST) or later (LAST) than an operand: by end, then by start."""
    own, there = (Moment(operand, False), Moment(operand, True)), (Moment(THERE, False), Moment(THERE, True))
    (start, end), (its_start, its_end) = (there, own) if which is First else (own, there)
    name = "FIRST" if which is First else "LAST"
    together = Bound(end, 0, its_end), Bound(its_end, 0, end)
    for bounds in ((Bound(end, 1, its_end),), (*together, Bound(start, 1, its_start))):
        yield Probe(other, bounds, decided, streamed=True, operator=name)


def chosen_before(
    left: First | Last, rights: list[Branch], of: Normal, fresh: Fresh, place: Place | None
) -> Iterator[Joined]:
    """Yield the branches of FIRST or LAST as the left side of SEQ, with a choice for each right solution."""
    for other in rights:
        apart = {each: fresh(each) for each in visible(left.pattern) if each not in other.bound | other.assigned}
        others = of(renamed(left.pattern, apart))
        for one in of(left.pattern):
            found = chosen_inside(single(one, left.place), other, fresh, place)
            (operand,) = found.left
            ended = tuple(before((THERE,), found.right))
            branch = found.branch
            for there in others:
                for look in better(type(left), there, operand, Decided.AT_ARRIVAL):
                    branch = looking(branch, replace(look, bounds=look.bounds + ended), fresh, place, ended)
            yield replace(found, branch=branch)
