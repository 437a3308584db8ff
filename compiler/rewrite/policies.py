"""Policies: which pairs of a SEQ are taken, decided at the close of the instant at which they end.

Data's way: algebra -> **branches** -> plan -> network.
A pair is taken if a probe finds no better pair.  *chronological* and *recent* compare pairs whose second parts bind the
same and end together: the better pair is the one whose second part starts earlier (later), or, if both start together,
whose first part is earlier (later).  *naive* looks at each side by itself: no solution of that side in the window is
later, whatever it binds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import TypeAlias

from retewave.compiler.algebra import Algebra, Between, First, Last, PolicyName, Relate, renamed, visible
from retewave.compiler.expressions.tree import Variable
from retewave.compiler.rewrite import choosing, probing
from retewave.compiler.rewrite.branch import THERE, WHOLE, Bound, Branch, Decided, Moment, Probe
from retewave.compiler.rewrite.joining import Fresh, Joined, refuse_chosen, single
from retewave.compiler.rewrite.probing import absent
from retewave.errors import QueryError

__all__ = ["taken"]

Sequence: TypeAlias = Relate | Between
Binds: TypeAlias = frozenset[Variable]


def taken(
    node: Sequence, policy: PolicyName, of: choosing.Normal, fresh: Fresh, whole: bool = False
) -> Iterator[Branch]:
    """Yield the branches of a sequence with the pairs that a policy takes.

    FIRST and LAST in the second part are decided with the whole pattern, so the sequence must be the `whole`.
    """
    rights = [single(right, node.place) for right in of(_sides(node)[1])]
    _check_assigned(node, rights)
    for right in rights if policy == "naive" or not whole else ():
        refuse_chosen(right, node.place)
    for binds in dict.fromkeys(map(_binds, rights)):
        alike = [right for right in rights if _binds(right) == binds]
        pairs = list(_decided(_pairs(node, alike, of, fresh), fresh, node))
        if policy == "naive":
            yield from _each_last(node, pairs, of, fresh)
            continue
        apart = {each: fresh(each) for each in visible(_sides(node)[0]) if each not in binds}
        rivals = list(_decided(_pairs(_renamed(node, apart), alike, of, fresh), fresh, node))
        for pair in pairs:
            yield _without(pair.branch, (_better(policy, pair, rival) for rival in rivals), node)


def _renamed(node: Sequence, names: dict[Variable, Variable]) -> Sequence:
    found = renamed(node, names)
    assert isinstance(found, Relate | Between)
    return found


def _sides(node: Sequence) -> tuple[Algebra, Algebra]:
    return (node.left, node.right) if isinstance(node, Relate) else (node.before, node.after)


def _binds(branch: Branch) -> Binds:
    return branch.bound | branch.assigned


def _check_assigned(node: Sequence, rights: list[Branch]) -> None:
    """Refuse several alternatives of the second part where BIND assigns a variable: do they bind the same?"""
    assigned = frozenset().union(*(right.assigned for right in rights))
    if len(rights) > 1 and assigned:
        raise QueryError(
            f"{min(map(str, assigned))} is assigned by BIND, and a policy compares what the alternatives bind",
            place=node.place,
            hint="BIND behind the SEQ, or in a query without a policy",
        )


def _pairs(node: Sequence, rights: list[Branch], of: choosing.Normal, fresh: Fresh) -> Iterator[Joined]:
    """Yield the branches of a sequence with given alternatives of its right side; each side is one operand."""
    first = _sides(node)[0]
    if isinstance(first, First | Last):
        pairs: Iterable[Joined] = choosing.chosen_before(first, rights, of, fresh, node.place)
    else:
        both = product([single(left, node.place) for left in of(first)], rights)
        pairs = (choosing.chosen_inside(left, right, fresh, node.place) for left, right in both)
    yield from probing.not_barred(node, pairs, of, fresh) if isinstance(node, Between) else pairs


def _decided(pairs: Iterable[Joined], fresh: Fresh, node: Sequence) -> Iterator[Joined]:
    """Yield pairs of which FIRST and LAST in the second part are decided: pairs that are compared end together."""
    for pair in pairs:
        yield replace(pair, branch=probing.closed(pair.branch, fresh, node.place))


def _without(branch: Branch, looks: Iterable[Probe], node: Sequence) -> Branch:
    """Return a branch with probes more: it keeps the solutions for which none of them finds anything."""
    for look in looks:
        branch = absent(branch, look, node.place)
    return branch


def _better(policy: PolicyName, pair: Joined, rival: Joined) -> Probe:
    """Return the probe for a better pair, which has the same end and the same bindings in its second part."""
    (first, second), (its_first, its_second) = (pair.left + pair.right), (rival.left + rival.right)
    rank = tuple(
        (Moment(own, at_end), Moment(its, at_end, there=True))
        for own, its, at_end in ((second, its_second, False), (first, its_first, True), (first, its_first, False))
    )
    together = (Bound(Moment(WHOLE, True), 0, Moment(THERE, True)),)
    return Probe(
        rival.branch,
        together,
        Decided.AT_CLOSE,
        streamed=True,
        rank=rank,
        latest=policy == "recent",
        chooses=True,
        operator=f"POLICY {policy}",
    )


def _each_last(node: Sequence, pairs: list[Joined], of: choosing.Normal, fresh: Fresh) -> Iterator[Branch]:
    """Yield the pairs in which each side is the last solution of that side in the window, whatever it binds."""
    sides = _sides(node)
    others = [of(renamed(side, {each: fresh(each) for each in visible(side)})) for side in sides]
    for pair in pairs:
        looks = [
            replace(look, chooses=True, operator="POLICY naive")
            for (operand,), there in zip((pair.left, pair.right), others, strict=True)
            for other in there
            for look in choosing.better(Last, other, operand, Decided.AT_CLOSE)
        ]
        yield _without(pair.branch, looks, node)
