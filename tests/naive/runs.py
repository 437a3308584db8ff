"""Runs of a sequence, step by step (MEANING §6): the strategies, and steps that repeat.

A run grows by each solution of the next step that is later, compatible, and so that the conditions are true: `:` takes
all of these, `;` those that have no such one between, `,` those that have no event of the sequence's streams between,
of the run's partition if there are any.

Decisions where the page is silent:
* A condition sees the times of the run so far.
* MOST looks from its last repetition, gaps apart.  Before a NEVER that ends the sequence it looks to the end of the
  window, and is decided there.  Strict repetitions at the end are decided at the next instant of the run's partition.
* Registered late, a query makes no `;`, `,`, NEVER or MOST that looks at times before its registration.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from naive.events import Solution
from naive.groups import Seen, asks_what_was_before
from naive.negation import Negations
from naive.partitions import fulfilled
from naive.run import BEFORE_ALL, Complete, Run, windows
from naive.tokens import FOREVER, How, Repetition, compatible
from retewave.compiler.algebra import Follows, Occurs, SequenceStep, Variable

REPEATED = (Occurs.SOME, Occurs.MOST)

Steps = tuple[tuple[int, SequenceStep], ...]  # with their places in the sequence


class Runs(Negations):
    """The runs of one sequence over what there is."""

    def complete(self, steps: Steps) -> Iterator[Complete]:
        """Yield the complete runs of some steps, none of which is MAYBE."""
        there = [number for number, (_, step) in enumerate(steps) if step.occurs is not Occurs.NEVER]
        first, behind = there[0], there[-1] + 1
        runs, absent = [Run({})], list[SequenceStep]()
        for place, step in steps[first:behind]:
            if step.occurs is not Occurs.NEVER:
                runs, absent = [longer for run in runs for longer in self.taken(run, place, step, absent)], []
            elif step.follows is Follows.STRICT:
                runs = [replace(run, gaps=(*run.gaps, gap)) for run in runs for gap in self.gaps(run, step)]
            else:
                absent.append(step)
        before, after = ([step for _, step in part] for part in (steps[:first], steps[behind:]))
        for run in runs:
            for begin, end in windows(self.sequence, run.start):
                if run.time <= end and not self.is_barred_before(run, before, begin):
                    yield from self.closed(run, after, end)

    def closed(self, run: Run, absent: list[SequenceStep], end: int) -> Iterator[Complete]:
        """Yield a run when nothing more is asked of it, or when that has not come by the end of its window."""
        place = run.solutions[-1][0]
        step = self.sequence.steps[place]
        if self.is_barred_behind(run, absent, end):
            return
        if step.occurs is not Occurs.MOST:
            if not absent or self.knows(run.time):
                yield Complete(run, end, How.DEADLINE) if absent else Complete(run, run.time, How.ARRIVAL)
        elif self.knows(run.time) and not any(longer.time <= end for longer in self.repeated(run, place, step)):
            following = self.next_instant(run, run.time)
            soon = step.between is Follows.STRICT and not absent and following <= end
            yield Complete(run, following, How.CLOSE) if soon else Complete(run, end, How.DEADLINE)

    def taken(self, run: Run, place: int, step: SequenceStep, absent: list[SequenceStep]) -> Iterator[Run]:
        """Yield a run with the next step, whatever it repeats, where neither gaps nor absences nor MOST bar it."""
        for longer in self.followed(run, place, step, step.follows if run.solutions else Follows.ANY):
            if not run.solutions or not (self.is_barred(run, longer, absent) or self.could_repeat(run, longer)):
                waiting = [longer]
                while waiting:
                    each = waiting.pop()
                    yield each
                    if step.occurs in REPEATED:
                        waiting += self.repeated(each, place, step)

    def could_repeat(self, run: Run, longer: Run) -> bool:
        """Tell whether the last step of a run is MOST, and could have been taken once more before the run goes on."""
        place, _ = run.solutions[-1]
        step = self.sequence.steps[place]
        return step.occurs is Occurs.MOST and (
            not self.knows(run.time) or any(more.time <= longer.time for more in self.repeated(run, place, step))
        )

    def repeated(self, run: Run, place: int, step: SequenceStep) -> list[Run]:
        """Return a run with one repetition more of its last step."""
        return self.followed(replace(run, gaps=()), place, step, step.between)

    def followed(self, run: Run, place: int, step: SequenceStep, follows: Follows) -> list[Run]:
        """Return a run with each solution of a step that may follow."""
        since = run.gaps[-1][1].time if run.gaps else run.time if run.solutions else BEFORE_ALL
        if follows is not Follows.ANY and not self.knows(since):
            return []
        latest = self.next_instant(run, since) if follows is Follows.STRICT else FOREVER
        found = [
            longer
            for solution in self.solutions(step)
            if since < solution.time <= latest and (longer := self.grown(run, place, step, solution)) is not None
        ]
        if follows is Follows.NEXT:
            return [each for each in found if not any(other.time < each.time for other in found)]
        return found

    def grown(self, run: Run, place: int, step: SequenceStep, solution: Solution) -> Run | None:
        """Return a run with one solution more, if that is compatible and in the window."""
        own = self.own_variables[place] if step.occurs in REPEATED else frozenset[Variable]()
        shared = {variable: text for variable, text in run.bindings.items() if variable not in own}
        start = run.start if run.solutions else solution.time
        if not compatible(shared, solution.bindings) or not any(
            solution.time <= end for _, end in windows(self.sequence, start)
        ):
            return None
        parts = tuple((part.pattern.name, part.bindings) for part in solution.parts)
        groups = (*run.groups, *[Repetition(place, solution.time, parts, own)] * (step.occurs in REPEATED))
        seen = Seen({**shared, **solution.bindings}, groups, start, solution.time)
        is_first = not run.solutions or run.solutions[-1][0] != place
        if not fulfilled(solution, seen, lambda conjunct: is_first and asks_what_was_before(conjunct)):
            return None
        return Run(seen.bindings, (*run.solutions, (place, solution)), groups)
