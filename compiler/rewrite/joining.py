"""How two branches become one, and when a branch becomes a part of another.

Data's way: algebra -> **branches** -> plan -> network.
A branch with conditions in time (a width, a probe, a filter on its own times) keeps its interval when it is joined:
it becomes a part.  Its steps that do not look at times (filters on terms, assignments) move to the joined branch, where
they mean the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from retewave.compiler.expressions.tree import (
    IMPURE,
    Call,
    Expression,
    Operation,
    Variable,
    mentions,
    rename,
    variables,
)
from retewave.compiler.rewrite.branch import (
    Branch,
    ExtendStep,
    FilterStep,
    Part,
    Probe,
    Step,
    is_timed,
    lowered,
    moved,
    with_windows,
)
from retewave.compiler.rewrite.inlining import Assigned, inlined, values_of
from retewave.errors import Place, QueryError

__all__ = ["Fresh", "Joined", "as_part", "conjuncts", "is_own", "join", "joinable", "refuse_chosen", "scoped", "single"]

Fresh: TypeAlias = Callable[[Variable], Variable]


@dataclass(frozen=True)
class Joined:
    """A branch made of two, and where their operands are in it."""

    branch: Branch  # the join of both
    left: tuple[int, ...]  # places of the first one's operands
    right: tuple[int, ...]  # places of the second one's


def conjuncts(expression: Expression) -> Iterator[Expression]:
    """Yield the parts of a conjunction: a filter keeps only what is true, and it is true when all of its parts are."""
    if isinstance(expression, Operation) and expression.operator == "&&":
        for part in expression.operands:
            yield from conjuncts(part)
    else:
        yield expression


def scoped(expression: Expression | None, seen: frozenset[Variable]) -> tuple[FilterStep, ...]:
    """Return a condition as filters that see some variables."""
    if expression is None:
        return ()
    return tuple(FilterStep(part, variables(part) & seen) for part in conjuncts(expression))


def as_part(branch: Branch, place: Place | None = None) -> Branch:
    """Return a branch whose only operand is the given branch, which so keeps its interval.

    FIRST and LAST in it are still decided with the whole pattern: they compare the times of operands of the part.
    """
    branch = with_windows(branch)
    values, timed = values_of(branch.steps), list[Step]()
    for step in branch.steps:
        if isinstance(step, FilterStep) and is_timed(step):
            timed.append(_of_terms(step, values, place))
        elif is_timed(step):
            raise QueryError(
                "the times of a group that is a part of another cannot be given to a variable",
                place=place,
                hint="BIND them at the top of the pattern, or compare them in a FILTER of the group",
            )
    return Branch(
        parts=(Part(replace(branch, steps=tuple(timed), closing=())),),
        steps=tuple(step for step in branch.steps if not is_timed(step)),
        closing=tuple(replace(look, bounds=tuple(map(lowered, look.bounds))) for look in branch.closing),
    )


def _of_terms(step: FilterStep, values: Assigned, place: Place | None) -> FilterStep:
    """Return a filter on times that sees no assigned variable."""
    found = inlined(step, values)
    if step.scope & values.keys() and mentions(found.expression, IMPURE):
        what = "a filter compares times with a variable that BIND gives another value each time"
        raise QueryError(what, place=place, hint="compare them at the top of the pattern")
    return found


def single(branch: Branch, place: Place | None = None) -> Branch:
    """Return a branch with one operand and no tables: the branch itself, or one that has it as a part."""
    if len(branch.operands) == 1 and not branch.values and not is_own(branch):
        return branch
    return as_part(branch, place)


def refuse_chosen(branch: Branch, place: Place | None) -> None:
    """Refuse a FIRST or LAST below an operator that does not let it see the whole pattern."""
    if branch.closing:
        raise QueryError(
            "FIRST and LAST are decided with the whole pattern, and cannot stand here",
            place=place,
            hint="put them on the left of a SEQ, or beside the other groups at the top of the pattern",
        )


def is_own(branch: Branch) -> bool:
    """Tell whether a branch has conditions in time, and so keeps its interval when it is joined."""
    return bool(branch.width is not None or branch.probes or any(is_timed(step) for step in branch.steps))


def joinable(branch: Branch, place: Place | None) -> Branch:
    """Return a branch without conditions in time of its own: the branch itself, or one that has it as a part."""
    return as_part(branch, place) if is_own(branch) else branch


def join(left: Branch, right: Branch, fresh: Fresh, place: Place | None = None) -> Joined:
    """Join two branches.

    A shared variable that operands bind on both sides joins by its name.  A shared variable that a step assigns
    may be unbound, so it gets a new name on that side.  Steps behind both sides check that the two values agree,
    and where both sides assign the variable, take the value of the side that has one.
    """
    left, right = joinable(left, place), joinable(right, place)
    shared = (left.bound | left.assigned) & (right.bound | right.assigned)
    checks: list[Step] = []
    for variable in sorted(shared & (left.assigned | right.assigned), key=lambda each: each.name):
        one = fresh(variable) if variable in left.assigned else variable
        other = fresh(variable) if variable in right.assigned else variable
        left, right = _renamed(left, variable, one), _renamed(right, variable, other)
        checks += _agreement(variable, one, other)
    return _merged(left, right, (*left.steps, *right.steps, *checks))


def _merged(left: Branch, right: Branch, steps: tuple[Step, ...]) -> Joined:
    """Put the operands of two branches together: first all patterns, then all parts."""
    patterns = len(left.patterns), len(right.patterns)
    of_left = {place: place + (patterns[1] if place >= patterns[0] else 0) for place in left.operands}
    shift = len(left.parts)
    of_right = {place: place + patterns[0] + (shift if place >= patterns[1] else 0) for place in right.operands}
    sides = ((left, of_left), (right, of_right))
    branch = Branch(
        patterns=left.patterns + right.patterns,
        values=left.values + right.values,
        steps=steps,
        parts=left.parts + right.parts,
        bounds=tuple(moved(bound, places) for side, places in sides for bound in side.bounds),
        streamed=frozenset(frozenset(map(places.__getitem__, one)) for side, places in sides for one in side.streamed),
        closing=tuple(_moved(probe, places) for side, places in sides for probe in side.closing),
    )
    return Joined(branch, tuple(of_left.values()), tuple(of_right.values()))


def _moved(probe: Probe, places: dict[int, int]) -> Probe:
    return replace(probe, bounds=tuple(moved(bound, places) for bound in probe.bounds))


def _agreement(variable: Variable, one: Variable, other: Variable) -> Iterator[Step]:
    """Yield the steps that join a variable with itself, where a side assigns it under another name."""
    both = frozenset((one, other))
    alternatives: Expression = Call("SAMETERM", (one, other))
    for each in (one, other):
        if each != variable:
            alternatives = Operation("||", (Operation("!", (Call("BOUND", (each,)),)), alternatives))
    yield FilterStep(alternatives, both)
    if variable not in both:
        yield ExtendStep(variable, Call("COALESCE", (one, other)), both)


def _renamed(branch: Branch, old: Variable, new: Variable) -> Branch:
    """Rename a variable in the steps; only one that a step assigns is ever renamed."""
    if old == new:
        return branch
    names = {old: new}
    return replace(branch, steps=tuple(_renamed_step(step, names) for step in branch.steps))


def _renamed_step(step: Step, names: dict[Variable, Variable]) -> Step:
    expression = rename(step.expression, names)
    scope = frozenset(names.get(each, each) for each in step.scope)
    if isinstance(step, FilterStep):
        return FilterStep(expression, scope)
    return ExtendStep(names.get(step.variable, step.variable), expression, scope)
