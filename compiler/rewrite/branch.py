"""Branches: conjunctions that a network can run, with their conditions in time.

Data's way: algebra -> **branches** -> plan -> network.
A branch means: join its operands (patterns, parts) and its tables; keep the joins that all bounds allow; let each probe
keep or drop a solution; then take the steps in order.
Invariants: every variable of a pattern, a part or a table is bound in every solution; only a variable that a step
assigns may be unbound.  A group that may be missing (OPTIONAL) makes two branches: with it, and without.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TypeAlias

from retewave.compiler.algebra import TriplePattern, Values
from retewave.compiler.expressions.tree import TIMES, Expression, Variable, mentions
from retewave.compiler.rewrite.runs import Runs

__all__ = [
    "THERE",
    "WHOLE",
    "Bound",
    "Branch",
    "Decided",
    "ExtendStep",
    "FilterStep",
    "Moment",
    "Part",
    "Probe",
    "Step",
    "choices_of",
    "is_timed",
    "lowered",
    "moved",
    "with_windows",
]


@dataclass(frozen=True)
class FilterStep:
    """Keep a solution if the expression is true."""

    expression: Expression  # false and error both drop the solution
    scope: frozenset[Variable]  # the variables that it mentions and may see; it takes others as unbound


@dataclass(frozen=True)
class ExtendStep:
    """Give a variable the value of an expression; an error leaves it unbound."""

    variable: Variable  # new: no pattern, table or earlier step has it
    expression: Expression  # gives its value
    scope: frozenset[Variable]  # the variables that it mentions and may see; it takes others as unbound


Step: TypeAlias = FilterStep | ExtendStep

WHOLE = -1  # the operand of a moment: the whole branch
THERE = -2  # the operand of a probe's moment: the solution that the probe looks at


@dataclass(frozen=True, order=True)
class Moment:
    """The start or the end of an operand's interval."""

    operand: int  # its place (patterns first, parts behind them), or WHOLE, or THERE
    at_end: bool  # True: its end; False: its start
    there: bool = False  # True: an operand of the branch that a probe looks at; False: of the branch itself
    inside: tuple[int, ...] = ()  # where the operand is a part: which of its operands, and so on down; (): the part


@dataclass(frozen=True, order=True)
class Bound:
    """One moment is at least a gap before another: earlier + gap <= later."""

    earlier: Moment  # of one operand
    gap: int  # microseconds; 1: strictly before; 0: before or at the same time; -n: at most n behind
    later: Moment  # of another operand


class Decided(IntEnum):
    """When a probe decides on a solution."""

    AT_ARRIVAL = 1  # of the solution: the probe looks only at earlier times
    AT_CLOSE = 2  # of the instant in which the solution ends
    AT_DEADLINE = 3  # at a time after the solution's start, which becomes the end of the solution


@dataclass(frozen=True)
class Probe:
    """A look at the solutions of another branch: a solution passes if none of them fits, or (`wanted`) if one fits.

    A solution there fits if it agrees in all variables that both bind, and the bounds and conditions hold.
    """

    there: Branch  # the other branch, which the probe looks at
    bounds: tuple[Bound, ...]  # between the branch's operands, WHOLE, THERE, and operands there
    decided: Decided  # when
    wanted: bool = False  # True: one must fit; False: none may fit
    streamed: bool = False  # solutions there that are static alone do not count
    conditions: tuple[FilterStep, ...] = ()  # they see both solutions
    joint: bool = False  # conditions see the times of both solutions joined; else of the one there
    deadline: int = 0  # AT_DEADLINE: how long after the solution's start, microseconds
    within: int | None = None  # how far before the decision it looks, microseconds; None: no WITHIN bounds it
    ranged: bool = True  # it looks no further back than the query's ranges
    keep: int | None = None  # how far before the decision its bounds let it look, whatever the ranges
    rank: tuple[tuple[Moment, Moment], ...] = ()  # only a better one in its instant fits; weightiest first
    latest: bool = False  # with `rank`: the later is better; else the earlier
    lasting: bool = False  # events used up before the decision fit, too
    chooses: bool = False  # it chooses among solutions, and tells of no absence
    operator: str = field(default="", compare=False)  # the operator that needs it, as EP-SPARQL writes it: for readers
    written: Branch | None = field(default=None, compare=False)  # likewise its branch, where `there` has more
    own: tuple[int, ...] = field(default=(), compare=False)  # operands there that are the solution itself once more


@dataclass(frozen=True)
class Part:
    """A branch that is joined as a whole, because something needs the interval of its solutions."""

    branch: Branch  # its steps are filters on its own times


@dataclass(frozen=True)
class Branch:
    """One conjunction."""

    patterns: tuple[TriplePattern, ...] = ()  # joined by their variables, in the order written
    values: tuple[Values, ...] = ()  # joined likewise; no UNDEF in them
    steps: tuple[Step, ...] = ()  # in the order of evaluation
    parts: tuple[Part, ...] = ()  # joined likewise
    bounds: tuple[Bound, ...] = ()  # between operands
    streamed: frozenset[frozenset[int]] = frozenset()  # operands of which at least one is not static
    probes: tuple[Probe, ...] = ()  # in order, on the joined solution
    closing: tuple[Probe, ...] = ()  # likewise, but on the solutions of the whole pattern
    width: int | None = None  # the greatest end - start of the joined solution, microseconds
    runs: Runs | None = None  # its only operand, if it is a sequence: it has no other one

    @property
    def bound(self) -> frozenset[Variable]:
        """Return the variables that are bound in every solution."""
        of_patterns = (pattern.variables for pattern in self.patterns)
        of_parts = (part.branch.bound for part in self.parts)
        of_runs = () if self.runs is None else (self.runs.bound,)
        return frozenset().union(*of_patterns, *of_parts, *of_runs, *(table.variables for table in self.values))

    @property
    def assigned(self) -> frozenset[Variable]:
        """Return the variables that a step assigns: an error may leave them unbound."""
        return frozenset(step.variable for step in self.steps if isinstance(step, ExtendStep))

    @property
    def operands(self) -> range:
        """Return the places of its operands."""
        return range(len(self.patterns) + len(self.parts))

    @property
    def is_plain(self) -> bool:
        """Tell whether the window is its only condition in time."""
        return self.width is None and self._is_joined

    @property
    def is_of_one_event(self) -> bool:
        """Tell whether it joins triples of one event, and static data, and asks for nothing else in time."""
        return (
            self._is_joined
            and any(each.event for each in self.patterns)
            and all(each.event is not None or each.source is not None for each in self.patterns)
        )

    @property
    def _is_joined(self) -> bool:
        asked = self.parts or self.bounds or self.streamed or self.probes or self.closing or self.runs
        return not asked and not any(map(is_timed, self.steps))

    @property
    def all_probes(self) -> Iterator[Probe]:
        """Yield its probes, those of its parts, and those of the branches that probes look at."""
        for probe in self.probes:
            yield probe
            yield from probe.there.all_probes
        for part in self.parts:
            yield from part.branch.all_probes
        for each in self.runs.branches if self.runs else ():
            yield from each.all_probes

    @property
    def waits(self) -> bool:
        """Tell whether some of its solutions are decided later than at the arrival of their last part."""
        if self.runs is not None and self.runs.waits:
            return True
        return any(probe.decided is not Decided.AT_ARRIVAL for probe in self.all_probes)

    @property
    def has_runs(self) -> bool:
        """Tell whether it is, or has as a part, a sequence."""
        return self.runs is not None or any(part.branch.has_runs for part in self.parts)

    @property
    def leaves(self) -> tuple[TriplePattern | Values, ...]:
        """Return all patterns and tables: its own, then those of its parts and those that its probes look at."""
        return tuple(self._leaves())

    @property
    def made_of(self) -> tuple[TriplePattern, ...]:
        """Return the triple patterns of its solutions: its own, and those of its parts; it only looks at the others."""
        return (*self.patterns, *(each for part in self.parts for each in part.branch.made_of))

    def _leaves(self) -> Iterator[TriplePattern | Values]:
        yield from self.patterns
        yield from self.values
        for part in self.parts:
            yield from part.branch.leaves
        for each in self.runs.branches if self.runs else ():
            yield from each.leaves
        for probe in self.probes:
            yield from probe.there.leaves

    @property
    def all_patterns(self) -> tuple[TriplePattern, ...]:
        """Return the triple patterns among its leaves."""
        return tuple(leaf for leaf in self.leaves if isinstance(leaf, TriplePattern))


def choices_of(closing: Iterable[Probe]) -> list[tuple[Moment, int]]:
    """Return the starts of the operands that FIRST and LAST choose in a window, and the widths of these."""
    moments = ((each, look) for look in closing for bound in look.bounds for each in (bound.earlier, bound.later))
    starts = {(replace(each, at_end=False), look.within) for each, look in moments if each.operand >= 0}
    return [(each, within) for each, within in sorted(starts, key=str) if within is not None]


def with_windows(branch: Branch) -> Branch:
    """Return a branch in which what FIRST and LAST have chosen is in its window still when the last operand ends."""
    bounds = tuple(
        Bound(Moment(operand, True), -within, start)
        for start, within in choices_of(branch.closing)
        for operand in branch.operands
        if operand != start.operand
    )
    return replace(branch, bounds=branch.bounds + bounds) if bounds else branch


def is_timed(step: Step) -> bool:
    """Tell whether a step looks at the times of the solution."""
    return mentions(step.expression, TIMES)


def moved(bound: Bound, places: dict[int, int]) -> Bound:
    """Return a bound whose operands have new places."""
    return replace(bound, earlier=_moved(bound.earlier, places), later=_moved(bound.later, places))


def lowered(bound: Bound) -> Bound:
    """Return a bound on a branch's operands as one on those of a branch that has it as its only part."""
    return replace(bound, earlier=_lowered(bound.earlier), later=_lowered(bound.later))


def _lowered(moment: Moment) -> Moment:
    if moment.there or moment.operand < 0:
        return moment
    return replace(moment, operand=0, inside=(moment.operand, *moment.inside))


def _moved(moment: Moment, places: dict[int, int]) -> Moment:
    return moment if moment.there else replace(moment, operand=places.get(moment.operand, moment.operand))
