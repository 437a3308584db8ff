"""FIRST and LAST on the side that an operator looks at: OPTIONAL, MINUS, EXISTS and their kin, and each NOT.

Data's way: algebra -> **branches** -> plan -> network.
Such a choice is another one for each solution that is decided on: the latest A *as of then*.
So the choice is made among pairs.  A pair is a solution that is decided on, and a solution there that it may look at.
The operator then looks for a chosen pair of its own solution: a pair that binds the same and has the same times.
Left out, and refused by name: a filter of the looked-at group that compares its times with a variable of the other
side, as a pair has other times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product

from retewave.compiler.rewrite.branch import (
    THERE,
    WHOLE,
    Bound,
    Branch,
    Decided,
    Moment,
    Probe,
    choices_of,
    is_timed,
    lowered,
    moved,
)
from retewave.compiler.rewrite.joining import Fresh, Joined, as_part, join, joinable, single
from retewave.errors import Place, QueryError

__all__ = ["among_pairs", "in_their_windows", "looks_until", "same"]


def looks_until(
    closing: Iterable[Probe], places: dict[int, int], until: tuple[Bound, ...], decided: Decided
) -> Iterator[Probe]:
    """Yield the probes of a choice whose operands have other places, among the solutions that end in time."""
    for probe in closing:
        yield replace(probe, bounds=tuple(moved(each, places) for each in probe.bounds) + until, decided=decided)


def in_their_windows(found: Joined, closing: Iterable[Probe], places: dict[int, int]) -> tuple[Bound, ...]:
    """Return the bounds by which a chosen solution is in the window of its own choice when the first part ends."""
    return tuple(
        Bound(Moment(own, True), -within, replace(start, operand=places[start.operand]))
        for start, within in choices_of(closing)
        for own in found.left
    )


def among_pairs(
    branch: Branch, look: Probe, until: tuple[Bound, ...], fresh: Fresh, place: Place | None
) -> tuple[Probe, Branch, list[Probe]]:
    """Return a probe that looks at pairs, the branch of the pairs, and the probes that choose among them.

    The choice is made among the solutions there that end in time, as the bounds `until` say.
    """
    look = _with_own_times(look, place)
    chosen_from = joinable(look.there, place) if _is_by_operand(look) else single(look.there, place)
    there = replace(chosen_from, closing=())
    whole = any(WHOLE in (bound.earlier.operand, bound.later.operand) for bound in look.bounds)
    own = as_part(replace(branch, closing=()), place) if whole else _bare(branch)
    found = join(own, there, fresh, place)
    if whole:
        look, until = replace(look, bounds=tuple(map(lowered, look.bounds))), tuple(map(lowered, until))
    bounds = tuple(each for bound in look.bounds for each in _placed(bound, found))
    its = dict(zip(there.operands, found.right, strict=True))
    bounds += tuple(_young(found, look.within)) + in_their_windows(found, chosen_from.closing, its)
    pairs = replace(
        found.branch,
        bounds=found.branch.bounds + bounds,
        streamed=found.branch.streamed | {frozenset(found.right)},
    )
    ended = tuple(_mine(bound, found) for bound in until)
    chosen = list(looks_until(chosen_from.closing, its, ended, Decided.AT_CLOSE))
    decided = Decided.AT_CLOSE
    if look.decided is Decided.AT_DEADLINE:  # of the pair, too, which begins with the solution
        decided, chosen[0] = look.decided, _at_deadline(chosen[0], look.deadline)
    found_by = replace(look, written=look.there, own=found.left, decided=decided, within=None, streamed=False)
    bounds = tuple(same([WHOLE] if whole else branch.operands, found.left))
    return replace(found_by, there=pairs, bounds=bounds), pairs, chosen


def _at_deadline(choice: Probe, deadline: int) -> Probe:
    """Return a choice that is decided at a deadline, from which its window counts back."""
    assert choice.within is not None  # the NOT's own, or a narrower one
    since = Bound(Moment(WHOLE, False), deadline - choice.within, Moment(THERE, False))
    bounds = (since, *choice.bounds)
    return replace(
        choice, bounds=bounds, decided=Decided.AT_DEADLINE, deadline=deadline, within=None, keep=choice.within
    )


def _is_by_operand(look: Probe) -> bool:
    """Tell whether bounds on the solution there say the same of each of its operands: no later, or no earlier."""
    return not any(Moment(THERE, True) == each.later or Moment(THERE, False) == each.earlier for each in look.bounds)


def _with_own_times(look: Probe, place: Place | None) -> Probe:
    """Return a probe whose conditions on the times of the solution there stand in the branch there."""
    if look.joint:
        return look
    timed = [each for each in look.conditions if is_timed(each)]
    its = look.there.bound | look.there.assigned
    if any(not each.scope <= its for each in timed):
        raise QueryError(
            "a filter beside FIRST or LAST compares times with a variable of the other side",
            place=place,
            hint="put the filter on times into a group of its own, inside of the braces of FIRST or LAST",
        )
    there = replace(look.there, steps=(*look.there.steps, *timed))
    return replace(look, there=there, conditions=tuple(each for each in look.conditions if not is_timed(each)))


def _bare(branch: Branch) -> Branch:
    """Return a branch without its conditions on the whole: it has each of the solutions, and their times."""
    return replace(branch, probes=(), closing=(), width=None, steps=())


def _placed(bound: Bound, found: Joined) -> Iterator[Bound]:
    """Yield a bound of the probe as bounds between the operands of a pair: a side stands for each of its operands."""
    for earlier in _moments(bound.earlier, found):
        for later in _moments(bound.later, found):
            yield Bound(earlier, bound.gap, later)


def _moments(moment: Moment, found: Joined) -> Iterator[Moment]:
    if moment.operand >= 0:
        yield replace(moment, operand=found.left[moment.operand])
        return
    yield from (Moment(operand, moment.at_end) for operand in (found.right if moment.operand == THERE else found.left))


def _mine(bound: Bound, found: Joined) -> Bound:
    """Return a bound on the end of the looked-at solution; the other moment is of the pair's own solution."""
    (later,) = _moments(bound.later, found)
    return replace(bound, later=later)


def _young(found: Joined, within: int | None) -> Iterator[Bound]:
    """Yield the bounds by which the looked-at solution is in the window when the solution ends."""
    if within is not None:
        for own, its in product(found.left, found.right):
            yield Bound(Moment(own, True), -within, Moment(its, False))


def same(operands: Iterable[int], there: Iterable[int]) -> Iterator[Bound]:
    """Yield the bounds by which operands of a solution that is decided on have the times of operands there."""
    for operand, its in zip(operands, there, strict=True):
        for at_end in (False, True):
            own, other = Moment(operand, at_end), Moment(its, at_end, there=True)
            yield from (Bound(own, 0, other), Bound(other, 0, own))
