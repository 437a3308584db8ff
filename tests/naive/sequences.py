"""Sequences of events (MEANING §6): a token for each complete run of SEQ.

The steps of a sequence are read in each way that its optional ones allow; `runs.py` has the runs of one way,
`negation.py` what must not be there, `partitions.py` the events that are read.

Decisions where the page is silent:
* MAYBE is written out as the page does it for one step, so several make every choice.  What is left out still counts as
  text that can bind a variable, so that no later step has that as a group variable; a step that is NEVER does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from naive.partitions import partition_of
from naive.run import Complete
from naive.runs import Runs, Steps
from naive.tokens import How, Token, World
from retewave.compiler import algebra
from retewave.compiler.algebra import Follows, Occurs, SequenceStep


def tokens_of_sequence(sequence: algebra.Sequence, world: World) -> list[Token]:
    """Return a token for each complete run."""
    runs = Runs(sequence, world)
    found = {each.identity(): each for steps in ways(sequence.steps) for each in runs.complete(steps)}
    told = past_last(sequence, list(found.values())) if sequence.past_last else found.values()
    return [_token(each) for each in told]


def _token(complete: Complete) -> Token:
    run, how = complete.run, complete.how
    if how is How.ARRIVAL and any(fact.is_built for part in run.solutions[-1][1].parts for fact in part.event.facts):
        how = How.CLOSE
    facts = tuple(dict.fromkeys(fact for part in run.parts for fact in part.event.facts))
    return Token(run.bindings, run.start, complete.end, complete.end, facts, how, run.groups)


def ways(steps: Sequence[SequenceStep]) -> Iterator[Steps]:
    """Yield a sequence with each MAYBE written out, and each NEVER behind `,` left out or kept as a gap."""
    for chosen in product(*(_choices(step) for step in steps)):
        there = [place for place, step in enumerate(chosen) if step.occurs is not Occurs.NEVER]
        kept: list[list[Steps]] = [
            [((place, step),), ()] if _may_be_a_gap(step) and there[:1] < [place] < there[-1:] else [((place, step),)]
            for place, step in enumerate(chosen)
        ]
        if there:
            for each in product(*kept):
                yield tuple(step for part in each for step in part)


def _choices(step: SequenceStep) -> list[SequenceStep]:
    if step.occurs is not Occurs.MAYBE:
        return [step]
    return [replace(step, occurs=Occurs.ONCE), replace(step, occurs=Occurs.NEVER)]


def _may_be_a_gap(step: SequenceStep) -> bool:
    return step.occurs is Occurs.NEVER and step.follows is Follows.STRICT


def past_last(sequence: algebra.Sequence, found: list[Complete]) -> Iterator[Complete]:
    """Yield what AFTER MATCH SKIP PAST LAST leaves of a partition; a run that another one begins with is earlier."""

    def order(each: Complete) -> tuple[int, int, list[int]]:
        return each.end, each.run.start, [solution.time for _, solution in each.run.solutions]

    for key in {partition_of(sequence, each.run.bindings) for each in found}:
        waiting = [each for each in found if partition_of(sequence, each.run.bindings) == key]
        while waiting:
            earliest = min(map(order, waiting))
            told = [each for each in waiting if order(each) == earliest]
            yield from (replace(each, how=max(each.how, How.CLOSE)) for each in told)
            waiting = [each for each in waiting if each.run.start > told[0].run.time]
