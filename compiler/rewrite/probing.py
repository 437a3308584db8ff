"""Operators that ask whether a solution of another pattern exists: OPTIONAL, MINUS, EXISTS, and each NOT.

Data's way: algebra -> **branches** -> plan -> network.
An operator whose right side may be missing is two branches: the join, and the left solutions for which a probe finds
nothing to join.  So every variable of a branch is bound, and the network has only joins and probes.
The join's solutions are told as soon as they are complete; the others when the probe has decided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce

from retewave.compiler.algebra import (
    After,
    Algebra,
    Before,
    Between,
    Exists,
    LeftJoin,
    Minus,
)
from retewave.compiler.expressions.tree import IMPURE, TIMES, Call, Expression, Operation, Variable, mentions
from retewave.compiler.rewrite import relating
from retewave.compiler.rewrite.branch import (
    THERE,
    WHOLE,
    Bound,
    Branch,
    Decided,
    FilterStep,
    Moment,
    Probe,
    Step,
    choices_of,
    is_timed,
    with_windows,
)
from retewave.compiler.rewrite.chosen_there import among_pairs, in_their_windows, looks_until
from retewave.compiler.rewrite.inlining import Assigned, agreed, inlined, values_of
from retewave.compiler.rewrite.joining import Fresh, Joined, as_part, join, joinable, refuse_chosen, scoped, single
from retewave.errors import Place, QueryError

__all__ = [
    "absent",
    "chosen_by",
    "closed",
    "exists",
    "left_join",
    "look_at",
    "looking",
    "minus",
    "never_after",
    "never_before",
    "not_barred",
    "where",
]

MOST_LEAVES = 100  # patterns and tables that an operator looks at for a choice: choices of choices double them

Normal = Callable[[Algebra], list[Branch]]

_START, _END = Moment(WHOLE, False), Moment(WHOLE, True)
_ITS_START, _ITS_END = Moment(THERE, False), Moment(THERE, True)
_NOT_LATER = (Bound(_ITS_END, 0, _END),)  # the solution there ends at or before the own end


def absent(branch: Branch, probe: Probe, place: Place | None) -> Branch:
    """Return a branch with one more probe, behind the probes that it has."""
    refuse_chosen(probe.there, place)
    if not branch.operands:
        raise QueryError(
            "the side that decides has no triple pattern, so no time",
            place=place,
            hint="put the pattern of the stream first",
        )
    there = replace(probe.there, steps=_decidable(probe.there, place))
    own, its = values_of(branch.steps), values_of(probe.there.steps)
    named = _named(own, its, branch.bound, there.bound)
    conditions = [inlined(step, named) for step in probe.conditions]
    shared = sorted((own.keys() & (its.keys() | there.bound)) | (its.keys() & branch.bound), key=str)
    if shared and probe.rank:
        what = f"{shared[0]} is assigned by BIND, and a policy compares what is bound"
        raise QueryError(what, place=place, hint="BIND behind the SEQ, or in a query without a policy")
    for variable in shared:
        conditions.append(agreed(own.get(variable, variable), its.get(variable, variable), unbound=True))
    _check_values(conditions, probe.conditions, place)
    if any(is_timed(step) for step in branch.steps) and not _asks_operands(probe):
        branch = as_part(branch, place)
    return replace(branch, probes=(*branch.probes, replace(probe, there=there, conditions=tuple(conditions))))


def _asks_operands(probe: Probe) -> bool:
    """Tell whether a probe compares the times of single operands, and leaves the end of the whole as it is."""
    moments = (each for bound in probe.bounds for each in (bound.earlier, bound.later) if not each.there)
    return probe.decided is not Decided.AT_DEADLINE and any(each.operand >= 0 for each in moments)


def looking(
    branch: Branch, probe: Probe, fresh: Fresh, place: Place | None, until: tuple[Bound, ...] | None = None
) -> Branch:
    """Return a branch with one more probe, which may look at FIRST or LAST of what has ended when the bounds say."""
    if not probe.there.closing:
        return absent(branch, probe, place)
    if until is None:
        until = tuple(bound for bound in probe.bounds if bound.earlier == _ITS_END)
    probe, pairs, choices = among_pairs(branch, probe, until, fresh, place)
    for choice in choices:
        pairs = looking(pairs, choice, fresh, place, choice.bounds[-len(until) :])
    if len(pairs.leaves) > MOST_LEAVES:
        what = f"FIRST and LAST inside of each other make more than {MOST_LEAVES} patterns of these"
        raise QueryError(what, place=place, hint="let one FIRST or LAST choose of what no other one chooses")
    return absent(branch, replace(probe, there=pairs), place)


def closed(branch: Branch, fresh: Fresh, place: Place | None = None) -> Branch:
    """Return the branch of a whole pattern: the choices that waited for the whole are decided with it."""
    if not branch.closing:
        return branch
    branch = with_windows(branch)
    closing, branch = branch.closing, replace(branch, closing=())
    for choice in closing:
        if choice.there.closing:
            choice = replace(choice, bounds=choice.bounds + _NOT_LATER)
        branch = looking(branch, choice, fresh, place, _NOT_LATER)
    return branch


def _named(
    own: Assigned, its: Assigned, bound: frozenset[Variable], bound_there: frozenset[Variable]
) -> dict[Variable, Expression]:
    """Return the expressions of the variables that BIND assigns on one side or both, for a condition on both sides."""
    values = {**its, **own}
    values |= {each: Call("COALESCE", (own[each], its[each])) for each in own.keys() & its.keys()}
    return {each: value for each, value in values.items() if each not in bound | bound_there}


def _check_values(conditions: Sequence[FilterStep], written: Sequence[FilterStep], place: Place | None) -> None:
    """Refuse an assigned expression that would have another value in a condition, as RAND() or a time."""
    for number, step in enumerate(conditions):
        before = written[number].expression if number < len(written) else None
        new = TIMES if before is None or not mentions(before, TIMES) else frozenset()
        if mentions(step.expression, IMPURE | new) and step.expression != before:
            raise _not_twice(place)


def _not_twice(place: Place | None) -> QueryError:
    return QueryError(
        "what may be missing depends on a variable that BIND gives another value each time, or a time",
        place=place,
        hint="BIND behind this group",
    )


def _decidable(there: Branch, place: Place | None) -> tuple[Step, ...]:
    """Return the steps of the looked-at branch: its filters, without assigned variables."""
    values = values_of(there.steps)
    found = []
    for step in there.steps:
        if isinstance(step, FilterStep):
            own = inlined(step, values)
            if step.scope & values.keys() and mentions(own.expression, IMPURE):
                raise _not_twice(place)
            found.append(own)
    return tuple(found)


def left_join(node: LeftJoin, of: Normal, fresh: Fresh) -> Iterator[Branch]:
    """Yield the branches of OPTIONAL."""
    for left in of(node.left):
        alone = left
        for right in of(node.right):
            yield _together(left, right, node.condition, fresh, node.place)
            look = look_at("OPTIONAL", alone, right, node.condition, _NOT_LATER, Decided.AT_CLOSE)
            alone = looking(alone, replace(look, joint=True), fresh, node.place)
        yield alone


def _together(left: Branch, right: Branch, condition: Expression | None, fresh: Fresh, place: Place | None) -> Branch:
    """Return the join of each left solution with the right solutions that end no later."""
    if not left.operands:
        raise QueryError(
            "OPTIONAL has nothing on its left that has a time", place=place, hint="put the pattern of the stream first"
        )
    there = joinable(right, place)
    found = join(single(left, place), replace(there, closing=()), fresh, place)
    (one,) = found.left
    bounds = tuple(Bound(Moment(other, True), 0, Moment(one, True)) for other in found.right)
    branch = replace(found.branch, bounds=found.branch.bounds + bounds)
    return where(chosen_by(replace(found, branch=branch), there, fresh, place), condition)


def chosen_by(found: Joined, there: Branch, fresh: Fresh, place: Place | None) -> Branch:
    """Return the join of a first part with another one; FIRST and LAST there choose when the first part ends."""
    (one,) = found.left
    its = dict(zip(there.operands, found.right, strict=True))
    until = (Bound(_ITS_END, 0, Moment(one, True)),)
    branch = replace(found.branch, bounds=found.branch.bounds + in_their_windows(found, there.closing, its))
    for choice in looks_until(there.closing, its, until, Decided.AT_CLOSE):
        streamed = branch.streamed | {frozenset(found.right)}
        branch = looking(replace(branch, streamed=streamed), choice, fresh, place, until)
    return branch


def where(branch: Branch, condition: Expression | None) -> Branch:
    """Return a branch with a condition on its solutions."""
    steps = scoped(condition, branch.bound | branch.assigned)
    return replace(branch, steps=branch.steps + steps)


def look_at(
    operator: str,
    branch: Branch,
    there: Branch,
    condition: Expression | None,
    bounds: tuple[Bound, ...],
    decided: Decided,
) -> Probe:
    """Return the probe that a branch's solutions need to look at another branch."""
    conditions = scoped(condition, branch.bound | branch.assigned | there.bound | there.assigned)
    return Probe(there, bounds, decided, conditions=conditions, operator=operator)


def minus(node: Minus, of: Normal, fresh: Fresh) -> Iterator[Branch]:
    """Yield the branches of MINUS: an alternative that shares no variable takes nothing away."""
    others = of(node.right)
    for branch in of(node.left):
        for there in others:
            shared = (branch.bound | branch.assigned) & (there.bound | there.assigned)
            if shared:
                look = look_at("MINUS", branch, there, None, _NOT_LATER, Decided.AT_CLOSE)
                if not branch.bound & there.bound:
                    look = replace(look, conditions=(_one_shared(branch, there, shared),))
                branch = looking(branch, look, fresh, node.place)
        yield branch


def _one_shared(branch: Branch, there: Branch, shared: frozenset[Variable]) -> FilterStep:
    """Return the condition that both sides have a value for one of these variables, which BIND assigns."""
    own, its = values_of(branch.steps), values_of(there.steps)
    same = [agreed(own.get(v, v), its.get(v, v), unbound=False) for v in sorted(shared, key=str)]
    expression = reduce(lambda one, other: Operation("||", (one, other)), (each.expression for each in same))
    return FilterStep(expression, frozenset().union(*(each.scope for each in same)))


def exists(node: Exists, of: Normal, fresh: Fresh) -> Iterator[Branch]:
    """Yield the branches of NOT EXISTS, or of EXISTS: a branch for each alternative before which none is there."""
    others = of(node.group)
    for branch in of(node.pattern):
        for there in others:
            look = look_at("EXISTS", branch, there, node.condition, _NOT_LATER, Decided.AT_CLOSE)
            if not node.negated:
                yield looking(branch, replace(look, wanted=True), fresh, node.place)
            branch = looking(branch, replace(look, operator="NOT EXISTS"), fresh, node.place)
        if node.negated:
            yield branch


def not_barred(node: Between, pairs: Iterable[Joined], of: Normal, fresh: Fresh) -> Iterator[Joined]:
    """Yield the pairs of P1 SEQ P2 that have no N between."""
    others = of(node.absent)
    for found in pairs:
        bounds = (*relating.before(found.left, (THERE,)), *relating.before((THERE,), found.right))
        branch = found.branch
        for there in others:
            look = look_at("SEQ NOT … SEQ", branch, there, node.condition, bounds, Decided.AT_ARRIVAL)
            branch = looking(branch, replace(look, streamed=True), fresh, node.place)
        yield replace(found, branch=branch)


def never_before(node: Before, of: Normal, fresh: Fresh) -> Iterator[Branch]:
    """Yield the branches of NOT N SEQ P WITHIN width."""
    bounds = (Bound(_END, -node.width, _ITS_START), Bound(_ITS_END, 1, _START))
    others = [relating.looking_back(there, node.width, ranged=False) for there in of(node.absent)]
    for branch in of(node.pattern):
        branch = relating.bounded(branch, node.width, node.place)
        for there in others:
            look = look_at("NOT … SEQ", branch, there, node.condition, bounds, Decided.AT_ARRIVAL)
            branch = looking(branch, replace(look, streamed=True, keep=node.width), fresh, node.place)
        yield branch


def never_after(node: After, of: Normal, fresh: Fresh) -> Iterator[Branch]:
    """Yield the branches of P SEQ NOT N WITHIN width.

    The first alternative of N is looked up at the deadline, which becomes the end; the others when that closes.
    """
    bounds = (Bound(Moment(0, True), 1, _ITS_START), Bound(_ITS_END, -node.width, Moment(0, False)))
    others = [relating.looking_back(there, node.width, ranged=False) for there in of(node.absent)]
    for branch in of(node.pattern):
        _check_windows(branch, node)
        branch = as_part(relating.bounded(branch, node.width, node.place), node.place)
        decided = Decided.AT_DEADLINE
        for there in others:
            look = look_at("SEQ NOT", branch, there, node.condition, bounds, decided)
            deadline = node.width if decided is Decided.AT_DEADLINE else 0
            look = replace(look, streamed=True, keep=node.width, deadline=deadline, lasting=True)
            branch = looking(branch, look, fresh, node.place)
            decided = Decided.AT_CLOSE
        yield branch


def _check_windows(branch: Branch, node: After) -> None:
    """Refuse a choice in a window that is over before the deadline with which it is decided."""
    if any(within < node.width for _, within in choices_of(branch.closing)):
        raise QueryError(
            "FIRST or LAST chooses in a window that is narrower than that of the NOT behind it, which decides",
            place=node.place,
            hint="leave out the WITHIN around FIRST or LAST",
        )
