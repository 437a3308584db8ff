"""Operators that ask whether a solution of another pattern exists: OPTIONAL, MINUS, EXISTS and their kin in time.

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
    First,
    Last,
    LeftJoin,
    Minus,
    OptionalBefore,
    OptionalEquals,
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
    is_timed,
    moved,
)
from retewave.compiler.rewrite.chosen_there import among_pairs, in_their_windows, looks_until, without_choice
from retewave.compiler.rewrite.inlining import Assigned, agreed, inlined, values_of
from retewave.compiler.rewrite.joining import Fresh, Joined, as_part, join, refuse_chosen, scoped, single
from retewave.errors import Place, QueryError
from retewave.windows import relations

__all__ = ["absent", "between", "exists", "left_join", "minus", "never_after", "never_before", "not_barred", "optional"]

Normal = Callable[[Algebra], list[Branch]]
InSequence = Callable[[Algebra, Algebra], Iterator[Joined]]  # the branches of one side before another

_START, _END = Moment(WHOLE, False), Moment(WHOLE, True)
_ITS_START, _ITS_END = Moment(THERE, False), Moment(THERE, True)
_NOT_LATER = (Bound(_ITS_END, 0, _END),)  # the solution there ends at or before the own end
_BEFORE = (Bound(_ITS_END, 1, _START),)  # the solution there ends before the own start


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


def looking(branch: Branch, probe: Probe, fresh: Fresh, place: Place | None) -> Branch:
    """Return a branch with one more probe, which may look at FIRST or LAST."""
    if not probe.there.closing:
        return absent(branch, probe, place)
    probe, pairs, choices = among_pairs(branch, probe, fresh, place)
    for choice in choices:
        pairs = absent(pairs, choice, place)
    return absent(branch, replace(probe, there=pairs), place)


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
            look = _look("OPTIONAL", alone, right, node.condition, _NOT_LATER, Decided.AT_CLOSE)
            alone = looking(alone, replace(look, joint=True), fresh, node.place)
        yield alone


def _together(left: Branch, right: Branch, condition: Expression | None, fresh: Fresh, place: Place | None) -> Branch:
    """Return the join of each left solution with the right solutions that end no later."""
    if not left.operands:
        raise QueryError(
            "OPTIONAL has nothing on its left that has a time", place=place, hint="put the pattern of the stream first"
        )
    there, bounds = without_choice(right, place) if right.closing else (right, ())
    found = join(single(left, place), there, fresh, place)
    (one,) = found.left
    its = dict(zip(there.operands, found.right, strict=False))
    bounds = tuple(moved(each, its) for each in bounds) + in_their_windows(found, right.closing, its)
    bounds += tuple(Bound(Moment(other, True), 0, Moment(one, True)) for other in found.right)
    until = (Bound(_ITS_END, 0, Moment(one, True)),)
    for choice in looks_until(right.closing, its, until, Decided.AT_CLOSE):
        streamed = found.branch.streamed | {frozenset(found.right)}
        found = replace(found, branch=absent(replace(found.branch, streamed=streamed), choice, place))
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
    """Return the probe that a branch's solutions need to look at another branch."""
    conditions = scoped(condition, branch.bound | branch.assigned | there.bound | there.assigned)
    return Probe(there, bounds, decided, conditions=conditions, operator=operator)


def _optional_choice(
    node: OptionalBefore, chosen: First | Last, of: Normal, in_sequence: InSequence
) -> Iterator[Branch]:
    """Yield the branches of FIRST or LAST OPTIONALSEQ: before each r a solution is chosen, if there is any."""
    if node.condition is not None:
        raise QueryError(
            "a filter of the optional group sees what FIRST or LAST has chosen, which cannot be looked for",
            place=node.place,
            hint="put the filter into the braces of FIRST or LAST, or behind the whole pattern",
        )
    yield from (found.branch for found in in_sequence(chosen, node.pattern))
    others = of(chosen.pattern)
    for branch in of(node.pattern):
        for there in others:
            look = _look("OPTIONALSEQ", branch, there, None, _BEFORE, Decided.AT_ARRIVAL)
            branch = absent(branch, replace(look, joint=True, streamed=True), node.place)
        yield branch


def optional(
    node: OptionalBefore | OptionalEquals, of: Normal, fresh: Fresh, in_sequence: InSequence
) -> Iterator[Branch]:
    """Yield the branches of OPTIONALSEQ and EQUALSOPTIONAL; `in_sequence` gives those of l SEQ r."""
    if isinstance(node, OptionalBefore) and isinstance(node.optional, First | Last):
        yield from _optional_choice(node, node.optional, of, in_sequence)
        return
    if isinstance(node, OptionalBefore):
        name, relation, decided = "OPTIONALSEQ", relations.BEFORE, Decided.AT_ARRIVAL
        bounds: tuple[Bound, ...] = _BEFORE
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


def minus(node: Minus, of: Normal, fresh: Fresh) -> Iterator[Branch]:
    """Yield the branches of MINUS: an alternative that shares no variable takes nothing away."""
    others = of(node.right)
    for branch in of(node.left):
        for there in others:
            shared = (branch.bound | branch.assigned) & (there.bound | there.assigned)
            if shared:
                look = _look("MINUS", branch, there, None, _NOT_LATER, Decided.AT_CLOSE)
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
            look = _look("EXISTS", branch, there, node.condition, _NOT_LATER, Decided.AT_CLOSE)
            if not node.negated:
                yield looking(branch, replace(look, wanted=True), fresh, node.place)
            branch = looking(branch, replace(look, operator="NOT EXISTS"), fresh, node.place)
        if node.negated:
            yield branch


def between(node: Between, of: Normal, fresh: Fresh, in_sequence: InSequence) -> Iterator[Branch]:
    """Yield the branches of P1 SEQ NOT N SEQ P2; `in_sequence` gives those of P1 SEQ P2."""
    return (each.branch for each in not_barred(node, in_sequence(node.before, node.after), of, fresh))


def not_barred(node: Between, pairs: Iterable[Joined], of: Normal, fresh: Fresh) -> Iterator[Joined]:
    """Yield the pairs of P1 SEQ P2 that have no N between."""
    others = of(node.absent)
    for found in pairs:
        bounds = (*relating.before(found.left, (THERE,)), *relating.before((THERE,), found.right))
        branch = found.branch
        for there in others:
            look = _look("SEQ NOT … SEQ", branch, there, node.condition, bounds, Decided.AT_ARRIVAL)
            branch = looking(branch, replace(look, streamed=True), fresh, node.place)
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

    The first alternative of N is looked up at the deadline, which becomes the end; the others when that closes.
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
