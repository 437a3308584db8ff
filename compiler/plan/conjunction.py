"""Plan one branch: its operands, joined in some order, then its probes.

Data's way: shapes -> join order -> **branches as producers** -> plan.
A branch here is in the words of its shape: its variables are c0, c1, … by their numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from retewave.compiler.algebra import TriplePattern, Values
from retewave.compiler.expressions.tree import Expression
from retewave.compiler.plan.operators.join import Scope, filters_on, join, numbers_in, slot_filter
from retewave.compiler.plan.operators.probe import probe
from retewave.compiler.plan.operators.runs import runs
from retewave.compiler.plan.order import Candidate, Star, next_star
from retewave.compiler.plan.producers import END, START, Open, Plan, Told
from retewave.compiler.rewrite.branch import Bound, Branch, Moment, Probe, is_timed
from retewave.compiler.rewrite.runs import Runs

__all__ = ["Conjunction", "joined"]


_NO_LEAF = 1 << 30  # a number that no pattern and no table of a branch has


@dataclass(frozen=True)
class Conjunction:
    """Plans the branches of one query."""

    plan: Plan  # where their producers go
    alpha: Callable[[TriplePattern], Open]  # the α test of a triple pattern
    table: Callable[[Values], Open]  # the producer of inline data
    width: int  # how far the query looks back
    leaves: Iterator[int]  # numbers for patterns and tables, in the order of `Branch.leaves`
    spender: str = ""  # the query, if it uses events up
    shown: frozenset[int] = frozenset()  # variables that are asked for at the end

    def planned(
        self,
        branch: Branch,
        common: tuple[Expression, ...],
        pushed: set[Expression],
        asked: bool,
        wanted: frozenset[Moment] = frozenset(),
    ) -> Open:
        """Return the producer of a branch.

        `asked`: its filters must be decided in it; `wanted`: which times of its operands are asked for outside.
        """
        if branch.runs is not None:
            return self._runs(branch.runs)
        opened = [self._numbered(self.alpha(pattern)) for pattern in branch.patterns]
        tables = [self._numbered(self.table(each)) for each in branch.values]
        within = replace(self, shown=self.shown | _looked_for(branch.probes)) if branch.probes else self
        wanted |= {each for look in branch.probes for each in _operands(look, there=False)}
        compared = wanted | {each for bound in branch.bounds for each in (bound.earlier, bound.later)}
        for operand, part in enumerate(branch.parts, len(opened)):
            opened.append(within.planned(part.branch, common, pushed, asked, _inside(compared, operand)))
        for operand, each in enumerate(opened):
            inner = {_of_part(moment, operand): column for moment, column in each.times.items()}
            each.times = {Moment(operand, False): START, Moment(operand, True): END, **inner}
        bounds = _needed(branch.bounds, [each.static for each in opened])
        scope = Scope(common, pushed, bounds, wanted, asked, self.spender)
        waiting = self._with_time(branch, opened, scope) + tables
        root = joined(self.plan, waiting or [self._unit()], scope)
        root.within = _least(root.within, branch.width)
        for look in branch.probes:
            own = tuple(each.expression for each in look.there.steps if not is_timed(each))
            there = self.planned(look.there, own, set(), True, _operands(look, there=True))
            root = probe(self.plan, root, there, look, self.width, scope)
        timed = (slot_filter(each.expression, root.columns, True) for each in branch.steps if is_timed(each))
        rest = filters_on(root, scope) if asked else ()
        root.filters = (*root.filters, *rest, *timed)
        return root

    def _runs(self, found: Runs) -> Open:
        """Return the complete runs of a sequence.  An event's patterns are of one instant: their window is 0."""
        within = replace(self, width=0)

        def of_event(event: Branch) -> Open:
            own = tuple(each.expression for each in event.steps if not is_timed(each))
            return within.planned(event, own, set(), True)

        return runs(self.plan, found, of_event, self.shown)

    def _unit(self) -> Open:
        """Return the solution of an empty group: it binds nothing, and no leaf stands for it."""
        opened = self.table(Values((), ((),)))
        opened.leaves = (_NO_LEAF,)
        return opened

    def _numbered(self, opened: Open) -> Open:
        leaf = next(self.leaves)
        opened.leaves = (leaf,)
        opened.told = {Told(leaf, each.what): column for each, column in opened.told.items()}
        return opened

    def _with_time(self, branch: Branch, opened: list[Open], scope: Scope) -> list[Open]:
        """Return the operands such that each side of a relation has one that static data alone does not give.

        Where all of a side may be static, its operands are joined first.
        """
        for side in sorted(branch.streamed, key=len):
            if not all(opened[operand].static and not opened[operand].streamed for operand in side):
                continue
            together = list({id(opened[operand]): opened[operand] for operand in sorted(side)}.values())
            root = joined(self.plan, together, scope)
            root.streamed = True
            opened = [root if any(each is one for one in together) else each for each in opened]
        return list({id(each): each for each in opened}.values())


def _looked_for(probes: Iterable[Probe]) -> frozenset[int]:
    """Return the variables, by number, that a tuple needs for the decisions of probes."""
    found: set[int] = set()
    for look in probes:
        found.update(int(each.name[1:]) for each in look.there.bound)
        found.update(*(numbers_in(step.expression) for step in look.conditions))
    return frozenset(found)


def _operands(look: Probe, there: bool) -> frozenset[Moment]:
    """Return the times of operands that a probe compares: of the looked-at branch, or of the decided branch."""
    compared = *((bound.earlier, bound.later) for bound in look.bounds), *look.rank
    moments = (each for both in compared for each in both)
    return frozenset(replace(each, there=False) for each in moments if each.operand >= 0 and each.there == there)


def _inside(moments: Iterable[Moment], part: int) -> frozenset[Moment]:
    """Return those of some moments that are inside of a part, as moments of its own operands."""
    inside = (each for each in moments if each.operand == part and each.inside)
    return frozenset(replace(each, operand=each.inside[0], inside=each.inside[1:]) for each in inside)


def _of_part(moment: Moment, part: int) -> Moment:
    """Return a moment of an operand of a part as one of the part."""
    return replace(moment, operand=part, inside=(moment.operand, *moment.inside))


def joined(plan: Plan, waiting: list[Open], scope: Scope) -> Open:
    """Join all operands that wait, star by star."""
    while len(waiting) > 1:
        star = next_star([Candidate(frozenset(each.columns), each.static) for each in waiting])
        star = _narrowed(star, waiting, scope)
        chosen = [waiting[place] for place in star.inputs]
        rest = [each for place, each in enumerate(waiting) if place not in star.inputs]
        waiting = [join(plan, chosen, star.key, scope), *rest]
    return waiting[0]


def _narrowed(star: Star, waiting: list[Open], scope: Scope) -> Star:
    """Return the first two inputs of a star that a filter compares, if relations in time limit their combinations.

    A star tries each combination of its rows; what a filter refuses early is not tried with the others.
    """
    if len(star.inputs) < 3 or not scope.bounds:
        return star
    for place, one in enumerate(star.inputs):
        for other in star.inputs[place + 1 :]:
            both = waiting[one].columns.keys() | waiting[other].columns.keys()
            apart = (waiting[one].columns.keys(), waiting[other].columns.keys())
            for each in scope.common:
                names = numbers_in(each)
                if each not in scope.pushed and names <= both and not any(names <= one_ for one_ in apart):
                    return Star(star.key, (one, other))
    return star


def _needed(bounds: tuple[Bound, ...], static: list[bool]) -> list[Bound]:
    """Return some bounds without those that follow from two others, as in a chain of SEQ."""
    before = {(each.earlier.operand, each.later.operand) for each in bounds if _is_before(each)}
    between = [place for place, each in enumerate(static) if not each]
    return [
        each
        for each in dict.fromkeys(bounds)
        if not (
            _is_before(each)
            and any({(each.earlier.operand, middle), (middle, each.later.operand)} <= before for middle in between)
        )
    ]


def _is_before(bound: Bound) -> bool:
    whole = not bound.earlier.inside and not bound.later.inside
    return whole and bound.gap == 1 and bound.earlier.at_end and not bound.later.at_end


def _least(one: int | None, other: int | None) -> int | None:
    return min((each for each in (one, other) if each is not None), default=None)
