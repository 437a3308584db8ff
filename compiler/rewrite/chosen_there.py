"""FIRST and LAST on the side that an operator looks at: OPTIONAL, MINUS, EXISTS, and the NOT of `SEQ NOT … SEQ`.

Data's way: algebra -> **branches** -> plan -> network.
Such a choice is another one for each solution that is decided on: the latest A *as of then*.
So the choice is made among pairs.  A pair is a solution that is decided on, and a solution there that it may look at.
The operator then looks for a chosen pair of its own solution: a pair that binds the same and has the same times.
Left out, and refused by name: a NOT at the beginning or at the end of a sequence, and a choice in a group that has
conditions in time beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product

from retewave.compiler.expressions.tree import TIMES, mentions
from retewave.compiler.rewrite.branch import THERE, WHOLE, Bound, Branch, Decided, Moment, Probe, moved
from retewave.compiler.rewrite.joining import Fresh, Joined, as_part, is_own, join, refuse_chosen
from retewave.errors import Place

__all__ = ["among_pairs", "in_their_windows", "looks_until", "without_choice"]


def without_choice(there: Branch, place: Place | None) -> tuple[Branch, tuple[Bound, ...]]:
    """Return a branch without its FIRST and LAST, and its width as bounds between its operands."""
    plain = replace(there, width=None, closing=())
    if is_own(plain):
        refuse_chosen(there, place)
    if there.width is None:
        return plain, ()
    both = product(plain.operands, repeat=2)
    return plain, tuple(Bound(Moment(one, True), -there.width, Moment(other, False)) for one, other in both)


def looks_until(
    closing: Iterable[Probe], places: dict[int, int], until: tuple[Bound, ...], decided: Decided
) -> Iterator[Probe]:
    """Yield the probes of a choice whose operands have other places, among the solutions that end in time."""
    for probe in closing:
        yield replace(probe, bounds=tuple(moved(each, places) for each in probe.bounds) + until, decided=decided)


def in_their_windows(found: Joined, closing: Iterable[Probe], places: dict[int, int]) -> tuple[Bound, ...]:
    """Return the bounds by which a chosen solution is in the window of its own choice when the first part ends."""
    chosen = {(each.operand, look.within) for look in closing for bound in look.bounds for each in _of_operands(bound)}
    return tuple(
        Bound(Moment(own, True), -within, Moment(places[operand], False))
        for operand, within in sorted(chosen, key=str)
        if within is not None
        for own in found.left
    )


def _of_operands(bound: Bound) -> Iterator[Moment]:
    return (each for each in (bound.earlier, bound.later) if each.operand >= 0)


def among_pairs(branch: Branch, look: Probe, fresh: Fresh, place: Place | None) -> tuple[Probe, Branch, list[Probe]]:
    """Return a probe that looks at pairs, the branch of the pairs, and the probes that choose among them."""
    there, inside = without_choice(look.there, place)
    timed = any(mentions(each.expression, TIMES) for each in look.conditions)
    if look.keep is not None or (timed and not look.joint):
        refuse_chosen(look.there, place)
    whole = any(WHOLE in (bound.earlier.operand, bound.later.operand) for bound in look.bounds)
    own = as_part(replace(branch, closing=()), place) if whole else _bare(branch)
    found = join(own, there, fresh, place)
    bounds = tuple(each for bound in look.bounds for each in _placed(bound, found))
    its = dict(zip(there.operands, found.right, strict=True))
    bounds += tuple(moved(bound, its) for bound in inside) + tuple(_young(found, look.within))
    bounds += in_their_windows(found, look.there.closing, its)
    pairs = replace(
        found.branch,
        bounds=found.branch.bounds + bounds,
        streamed=found.branch.streamed | {frozenset(found.right)},
    )
    until = tuple(_mine(bound, found) for bound in look.bounds if bound.earlier == Moment(THERE, True))
    chosen = list(looks_until(look.there.closing, its, until, Decided.AT_CLOSE))
    found_by = replace(look, written=look.there, own=found.left, decided=Decided.AT_CLOSE, within=None, streamed=False)
    return replace(found_by, there=pairs, bounds=tuple(_same(branch, found, whole))), pairs, chosen


def _bare(branch: Branch) -> Branch:
    """Return a branch without its conditions on the whole: it has each of the solutions, and their times."""
    return replace(branch, probes=(), closing=(), width=None, steps=())


def _placed(bound: Bound, found: Joined) -> Iterator[Bound]:
    """Yield a bound of the probe as bounds between the operands of a pair: a side stands for each of its operands."""
    for earlier in _moments(bound.earlier, found):
        for later in _moments(bound.later, found):
            yield Bound(earlier, bound.gap, later)


def _moments(moment: Moment, found: Joined) -> Iterator[Moment]:
    operands = found.right if moment.operand == THERE else found.left
    if moment.operand >= 0:
        operands = (found.left[moment.operand],)
    yield from (Moment(operand, moment.at_end) for operand in operands)


def _mine(bound: Bound, found: Joined) -> Bound:
    """Return a bound on the end of the looked-at solution; the other moment is of the pair's own solution."""
    (later,) = _moments(bound.later, found)
    return replace(bound, later=later)


def _young(found: Joined, within: int | None) -> Iterator[Bound]:
    """Yield the bounds by which the looked-at solution is in the window when the solution ends."""
    if within is not None:
        for own, its in product(found.left, found.right):
            yield Bound(Moment(own, True), -within, Moment(its, False))


def _same(branch: Branch, found: Joined, whole: bool) -> Iterator[Bound]:
    """Yield the bounds by which a pair's first part has the times of the solution that is decided on."""
    for operand, its in zip([WHOLE] if whole else branch.operands, found.left, strict=True):
        for at_end in (False, True):
            own, other = Moment(operand, at_end), Moment(its, at_end, there=True)
            yield from (Bound(own, 0, other), Bound(other, 0, own))
