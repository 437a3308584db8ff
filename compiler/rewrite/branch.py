"""Branches: conjunctions that a network can run, with what time asks of them.

Data's way: algebra -> **branches** -> plan -> network.
A branch means: join its operands (patterns, parts) and its tables; keep what all its bounds allow; let each probe look
whether something is there, or is not; then take the steps in order.
Invariants: every variable of a pattern, a part or a table is bound in every solution; a variable that only a step
assigns may be unbound.  Whatever may be missing (OPTIONAL) has become two branches, so nothing else is ever unbound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TypeAlias

from retewave.compiler.algebra import TriplePattern, Values
from retewave.compiler.expressions.tree import TIMES, Expression, Variable, mentions

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
    "is_timed",
    "moved",
]


@dataclass(frozen=True)
class FilterStep:
    """Keep a solution if the expression is true."""

    expression: Expression  # false and error both drop the solution
    scope: frozenset[Variable]  # the variables that it mentions and may see; it takes others as unbound


@dataclass(frozen=True)
class ExtendStep:
    """Give a variable the value of an expression; an error leaves it unbound."""

    variable: Variable  # no pattern, table or earlier step has it
    expression: Expression  # what it becomes
    scope: frozenset[Variable]  # the variables that it mentions and may see; it takes others as unbound


Step: TypeAlias = FilterStep | ExtendStep

WHOLE = -1  # the operand of a moment: the whole branch
THERE = -2  # the operand of a probe's moment: what is looked at


@dataclass(frozen=True, order=True)
class Moment:
    """A bound of an operand's interval."""

    operand: int  # its place: patterns are counted first, parts behind them; WHOLE or THERE
    at_end: bool  # its end; else its start
    there: bool = False  # whether it is an operand of what a probe looks at; else of the branch itself


@dataclass(frozen=True, order=True)
class Bound:
    """One moment is, by a gap or more, before another: earlier + gap <= later."""

    earlier: Moment  # of one operand
    gap: int  # microseconds: 1 says strictly before, 0 before or at, a negative one how far it may be behind
    later: Moment  # of another operand


class Decided(IntEnum):
    """When a probe tells whether something is there."""

    AT_ARRIVAL = 1  # of the solution: all that it looks at is earlier
    AT_CLOSE = 2  # of the instant at which the solution ends
    AT_DEADLINE = 3  # at a time after the solution's start, which becomes the end of the solution


@dataclass(frozen=True)
class Probe:
    """A look at other solutions: a solution passes if none of them fits it, or if one does.

    One fits if it is compatible with the solution, in all variables that both bind, and the bounds and conditions hold.
    """

    there: Branch  # what is looked at
    bounds: tuple[Bound, ...]  # between moments of the branch's operands, WHOLE, THERE, and operands of that
    decided: Decided  # when
    wanted: bool = False  # whether one must be there; else none may be
    streamed: bool = False  # whether what static data alone gives is not looked at
    conditions: tuple[FilterStep, ...] = ()  # see both
    joint: bool = False  # whether times in conditions are those of both together; else of what is looked at
    deadline: int = 0  # AT_DEADLINE: how long after the solution's start, microseconds
    within: int | None = None  # how far before the decision it looks, microseconds; None: no WITHIN bounds it
    ranged: bool = True  # whether it looks no further than the query's ranges
    keep: int | None = None  # how far before the decision its bounds let it look, whatever the ranges
    rank: tuple[tuple[Moment, Moment], ...] = ()  # what fits is better: own moments, those there, weightiest first
    latest: bool = False  # whether the later is better; it looks at the instant of the decision only, if it ranks
    lasting: bool = False  # what is used up before the decision fits, too
    chooses: bool = False  # it chooses among what is found, and tells of no absence
    operator: str = field(default="", compare=False)  # what asks for it, in the words of EP-SPARQL: for reading


@dataclass(frozen=True)
class Part:
    """A branch that is joined as a whole: its solutions have an interval that something asks for."""

    branch: Branch  # its steps are filters that look at its own times


@dataclass(frozen=True)
class Branch:
    """One conjunction."""

    patterns: tuple[TriplePattern, ...] = ()  # joined by their variables, in the order written
    values: tuple[Values, ...] = ()  # joined likewise; no UNDEF in them
    steps: tuple[Step, ...] = ()  # in the order of evaluation
    parts: tuple[Part, ...] = ()  # joined likewise
    bounds: tuple[Bound, ...] = ()  # between operands
    streamed: frozenset[frozenset[int]] = frozenset()  # operands of which at least one is not static
    probes: tuple[Probe, ...] = ()  # in their order, on what is joined
    closing: tuple[Probe, ...] = ()  # the same, on the whole pattern that this is a part of
    width: int | None = None  # end - start is at most this, microseconds: of what is joined

    @property
    def bound(self) -> frozenset[Variable]:
        """Return the variables that are bound in every solution."""
        of_patterns = (pattern.variables for pattern in self.patterns)
        of_parts = (part.branch.bound for part in self.parts)
        return frozenset().union(*of_patterns, *of_parts, *(table.variables for table in self.values))

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
        """Tell whether time asks nothing of it but the window."""
        asked = self.parts or self.bounds or self.streamed or self.probes or self.closing
        return not asked and self.width is None and not any(map(is_timed, self.steps))

    @property
    def all_probes(self) -> Iterator[Probe]:
        """Yield its probes, those of its parts, and those of what they look at."""
        for probe in self.probes:
            yield probe
            yield from probe.there.all_probes
        for part in self.parts:
            yield from part.branch.all_probes

    @property
    def leaves(self) -> tuple[TriplePattern | Values, ...]:
        """Return all patterns and tables: its own, those of its parts, those that its probes look at."""
        return tuple(self._leaves())

    def _leaves(self) -> Iterator[TriplePattern | Values]:
        yield from self.patterns
        yield from self.values
        for part in self.parts:
            yield from part.branch.leaves
        for probe in self.probes:
            yield from probe.there.leaves

    @property
    def all_patterns(self) -> tuple[TriplePattern, ...]:
        """Return the triple patterns among its leaves."""
        return tuple(leaf for leaf in self.leaves if isinstance(leaf, TriplePattern))


def is_timed(step: Step) -> bool:
    """Tell whether a step looks at the times of the solution."""
    return mentions(step.expression, TIMES)


def moved(bound: Bound, places: dict[int, int]) -> Bound:
    """Return a bound between operands that have come to other places."""
    return replace(bound, earlier=_moved(bound.earlier, places), later=_moved(bound.later, places))


def _moved(moment: Moment, places: dict[int, int]) -> Moment:
    return moment if moment.there else replace(moment, operand=places.get(moment.operand, moment.operand))
