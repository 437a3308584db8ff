"""Operators that look at what is there, or is not: OPTIONAL, MINUS, EXISTS and their kin in time.

Data's way: algebra -> **branches** -> plan -> network.
Whatever may be missing is two branches: the join, and the solutions of which a probe says that there is nothing to
join.  So every variable of a branch is bound, and the network knows two things only: joins, and probes.
The join's half is told as soon as it is complete; the other one when the operator says that it is certain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product

from retewave.compiler.algebra import (
    After,
    Algebra,
    Before,
    Between,
    Exists,
    LeftJoin,
    Minus,
    OptionalBefore,
    OptionalEquals,
)
from retewave.compiler.expressions.tree import Expression
from retewave.compiler.rewrite import relating
from retewave.compiler.rewrite.branch import (
    THERE,
    WHOLE,
    Bound,
    Branch,
    Decided,
    ExtendStep,
    FilterStep,
    Moment,
    Probe,
    Step,
    is_timed,
)
from retewave.compiler.rewrite.joining import Fresh, Joined, as_part, join, refuse_chosen, scoped, single
from retewave.errors import Place, QueryError
from retewave.windows import relations

__all__ = ["absent", "between", "exists", "left_join", "minus", "never_after", "never_before", "not_barred", "optional"]

Normal = Callable[[Algebra], list[Branch]]

_START, _END = Moment(WHOLE, False), Moment(WHOLE, True)
_ITS_START, _ITS_END = Moment(THERE, False), Moment(THERE, True)
_NOT_LATER = (Bound(_ITS_END, 0, _END),)  # what is looked at ends at or before the solution


def absent(branch: Branch, probe: Probe, place: Place | None) -> Branch:
    """Return a branch with one probe more, behind those that it has."""
    refuse_chosen(branch, place)
    refuse_chosen(probe.there, place)
    if not branch.operands:
        raise QueryError(
            "the side that decides has no triple pattern, so no time",
            place=place,
            hint="put the pattern of the stream first",
        )
    there = replace(probe.there, steps=_decidable(probe.there, place))
    shared = (branch.bound | branch.assigned) & (there.bound | probe.there.assigned)
    seen = shared.union(*(each.scope for each in probe.conditions))
    assigned = seen & (branch.assigned | probe.there.assigned)
    if assigned:
        raise QueryError(
            f"{min(map(str, assigned))} is assigned by BIND, and what may be missing depends on it",
            place=place,
            hint="compare with the expression itself, or BIND behind this group",
        )
    if any(is_timed(step) for step in branch.steps):
        branch = as_part(branch, place)
    return replace(branch, probes=(*branch.probes, replace(probe, there=there)))


def _decidable(there: Branch, place: Place | None) -> tuple[Step, ...]:
    """Return the steps of what is looked at, without assignments, which nobody sees."""
    for step in there.steps:
        if isinstance(step, FilterStep) and step.scope & there.assigned:
            raise QueryError(
                f"{min(map(str, step.scope & there.assigned))} is assigned by BIND, and what may be missing depends "
                "on it",
                place=place,
                hint="compare with the expression itself",
            )
    return tuple(step for step in there.steps if not isinstance(step, ExtendStep))


def left_join(node: LeftJoin, of: Normal, fresh: Fresh) -> Iterator[Branch]:
    """Yield the branches of OPTIONAL."""
    for left in of(node.left):
        alone = left
        for right in of(node.right):
            yield _together(left, right, node.condition, fresh, node.place)
            look = _look("OPTIONAL", alone, right, node.condition, _NOT_LATER, Decided.AT_CLOSE)
            alone = absent(alone, replace(look, joint=True), node.place)
        yield alone


def _together(left: Branch, right: Branch, condition: Expression | None, fresh: Fresh, place: Place | None) -> Branch:
    """Return each left solution with the right ones that end no later."""
    if not left.operands:
        raise QueryError(
            "OPTIONAL has nothing on its left that has a time", place=place, hint="put the pattern of the stream first"
        )
    found = join(single(left, place), right, fresh, place)
    (one,) = found.left
    bounds = tuple(Bound(Moment(other, True), 0, Moment(one, True)) for other in found.right)
    return _with(found, bounds, condition)


def _with(found: Joined, bounds: tuple[Bound, ...], condition: Expression | None) -> Branch:
    branch = found.branch
    steps = scoped(condition, branch.bound | branch.assigned)
    return replace(branch, bounds=branch.bounds + bounds, steps=branch.steps + steps)


def _look(
    operator: str,
    branch: Branch,
    there: Branch,
    condition: Expression | None,
    bounds: tuple[Bound, ...],
    decided: Decided,
) -> Probe:
    """Return the look of a branch's solutions for those of another one."""
    conditions = scoped(condition, branch.bound | branch.assigned | there.bound | there.assigned)
    return Probe(there, bounds, decided, conditions=conditions, operator=operator)


def optional(node: OptionalBefore | OptionalEquals, of: Normal, fresh: Fresh) -> Iterator[Branch]:
    """Yield the branches of OPTIONALSEQ and EQUALSOPTIONAL."""
    if isinstance(node, OptionalBefore):
        name, relation, decided = "OPTIONALSEQ", relations.BEFORE, Decided.AT_ARRIVAL
        bounds: tuple[Bound, ...] = (Bound(_ITS_END, 1, _START),)
    else:
        name, relation, decided = "EQUALSOPTIONAL", relations.EQUALS, Decided.AT_CLOSE
        bounds = (
            *(Bound(_ITS_START, 0, _START), Bound(_START, 0, _ITS_START)),
            *(Bound(_ITS_END, 0, _END), Bound(_END, 0, _ITS_END)),
        )
    for branch in of(node.pattern):
        alone = branch
        for there in of(node.optional):
            found = relating.joined(there, relation, branch, fresh, node.place)
            yield _with(found, (), node.condition)
            look = _look(name, branch, there, node.condition, bounds, decided)
            alone = absent(alone, replace(look, joint=True, streamed=True), node.place)
        yield alone


def minus(node: Minus, of: Normal) -> Iterator[Branch]:
    """Yield the branches of MINUS: what shares no variable takes nothing away."""
    others = of(node.right)
    for branch in of(node.left):
        for there in others:
            if (branch.bound | branch.assigned) & (there.bound | there.assigned):
                look = _look("MINUS", branch, there, None, _NOT_LATER, Decided.AT_CLOSE)
                branch = absent(branch, look, node.place)
        yield branch


def exists(node: Exists, of: Normal) -> Iterator[Branch]:
    """Yield the branches of FILTER EXISTS: one for each alternative that is the first one there; or of NOT EXISTS."""
    others = of(node.group)
    for branch in of(node.pattern):
        for there in others:
            look = _look("EXISTS", branch, there, node.condition, _NOT_LATER, Decided.AT_CLOSE)
            if not node.negated:
                yield absent(branch, replace(look, wanted=True), node.place)
            branch = absent(branch, replace(look, operator="NOT EXISTS"), node.place)
        if node.negated:
            yield branch


def between(node: Between, of: Normal, fresh: Fresh) -> Iterator[Branch]:
    """Yield the branches of P1 SEQ NOT N SEQ P2."""
    pairs = product(of(node.before), of(node.after))
    return (each.branch for each in not_barred(node, pairs, of, fresh))


def not_barred(node: Between, pairs: Iterable[tuple[Branch, Branch]], of: Normal, fresh: Fresh) -> Iterator[Joined]:
    """Yield pairs of alternatives of P1 and P2 as the branches of P1 SEQ NOT N SEQ P2."""
    others = of(node.absent)
    for left, right in pairs:
        found = relating.joined(left, relations.BEFORE, right, fresh, node.place)
        bounds = (*relating.before(found.left, (THERE,)), *relating.before((THERE,), found.right))
        branch = found.branch
        for there in others:
            look = _look("SEQ NOT … SEQ", branch, there, node.condition, bounds, Decided.AT_ARRIVAL)
            branch = absent(branch, replace(look, streamed=True), node.place)
        yield replace(found, branch=branch)


def never_before(node: Before, of: Normal) -> Iterator[Branch]:
    """Yield the branches of NOT N SEQ P WITHIN width."""
    bounds = (Bound(_END, -node.width, _ITS_START), Bound(_ITS_END, 1, _START))
    others = [relating.looking_back(there, node.width, ranged=False) for there in of(node.absent)]
    for branch in of(node.pattern):
        branch = relating.bounded(branch, node.width, node.place)
        for there in others:
            look = _look("NOT … SEQ", branch, there, node.condition, bounds, Decided.AT_ARRIVAL)
            branch = absent(branch, replace(look, streamed=True, keep=node.width), node.place)
        yield branch


def never_after(node: After, of: Normal) -> Iterator[Branch]:
    """Yield the branches of P SEQ NOT N WITHIN width.

    The first alternative of N is looked for at the deadline, which becomes the end; the others when that is closed.
    """
    bounds = (Bound(Moment(0, True), 1, _ITS_START), Bound(_ITS_END, -node.width, Moment(0, False)))
    others = [relating.looking_back(there, node.width, ranged=False) for there in of(node.absent)]
    for branch in of(node.pattern):
        branch = as_part(relating.bounded(branch, node.width, node.place), node.place)
        decided = Decided.AT_DEADLINE
        for there in others:
            look = _look("SEQ NOT", branch, there, node.condition, bounds, decided)
            deadline = node.width if decided is Decided.AT_DEADLINE else 0
            look = replace(look, streamed=True, keep=node.width, deadline=deadline, lasting=True)
            branch = absent(branch, look, node.place)
            decided = Decided.AT_CLOSE
        yield branch
