"""Sequences of events as branches: one for each choice of optional steps and each way in which the sequence may end.

Data's way: algebra -> **states and ways** (`stepping.py`) **-> branches** -> plan.
A step that may be there or not makes two sequences.  A sequence that ends with a step as often as can be, strictly
repeated, ends in two ways: an instant comes that is no repetition, or none comes until the window is over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from retewave.compiler import algebra
from retewave.compiler.algebra import Follows, Occurs, SequenceStep
from retewave.compiler.expressions.tree import mentions
from retewave.compiler.rewrite.branch import Branch
from retewave.compiler.rewrite.choosing import Normal
from retewave.compiler.rewrite.joining import Fresh
from retewave.compiler.rewrite.runs import Barred, Runs
from retewave.compiler.rewrite.stepping import Stepping
from retewave.errors import QueryError

__all__ = ["in_sequence"]

_PREV = frozenset(("PREV",))


def in_sequence(sequence: algebra.Sequence, of: Normal, fresh: Fresh) -> Iterator[Branch]:
    """Yield the branches of a sequence."""
    _refuse(sequence)
    for steps in product(*map(_choices, sequence.steps)):
        yield from _branches(Stepping(replace(sequence, steps=steps), sequence.steps, of, fresh))


def _refuse(sequence: algebra.Sequence) -> None:
    """Refuse a sequence that the network cannot run."""
    for step in sequence.steps:
        for asked in algebra.event_patterns(step.operand):
            called = any(mentions(one, _PREV) for one in asked.conditions)
            if called and step.occurs in (Occurs.MAYBE, Occurs.NEVER):
                what = f"PREV is not supported in a step with {step.occurs.value}"
                raise QueryError(what, place=asked.place, hint="it has a value in a step that repeats")


def _choices(step: SequenceStep) -> tuple[SequenceStep, ...]:
    if step.occurs is not Occurs.MAYBE:
        return (step,)
    return replace(step, occurs=Occurs.ONCE), replace(step, occurs=Occurs.NEVER)


def _branches(stepping: Stepping) -> Iterator[Branch]:
    """Yield a branch for each state in which a run is complete, and each way in which that becomes certain."""
    steps, place = stepping.sequence.steps, stepping.sequence.place
    taken = [number for number, step in enumerate(steps) if step.occurs is not Occurs.NEVER]
    if not taken:
        raise QueryError("a sequence of steps that must not be there finds nothing", place=place)
    finals = stepping.states(taken)
    last, absent = steps[taken[-1]], steps[taken[-1] + 1 :]
    if stepping.sequence.width is None and (absent or last.occurs is Occurs.MOST):
        raise QueryError("what is decided when the window is over needs WITHIN", place=(absent or (last,))[0].place)
    if last.occurs is Occurs.MOST and last.between is Follows.STRICT and not absent:
        closed, nothing = stepping.closed(len(taken), finals)
        runs = stepping.runs()
        yield from (_complete(stepping, runs, final) for final in closed)
        yield from (_complete(stepping, replace(runs, after=(nothing,)), final) for final in finals)
        return
    after, longest = _after(stepping, absent), len(taken) if last.occurs is Occurs.MOST else 0
    runs = replace(stepping.runs(), after=after, longest=longest)
    yield from (_complete(stepping, runs, final) for final in finals)


def _after(stepping: Stepping, absent: Sequence[SequenceStep]) -> tuple[Barred, ...]:
    """Return the events that must not come behind a complete run."""
    found = (each for step in absent for each in stepping.alternatives(step.operand))
    return tuple(Barred(each.event, each.conditions) for each in found)


def _complete(stepping: Stepping, runs: Runs, final: int) -> Branch:
    return Branch(runs=runs.ends_in(final), steps=stepping.assigned(final))
