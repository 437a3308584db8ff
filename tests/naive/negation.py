"""What must not be there in a sequence (MEANING §6, negation): the steps that are NEVER, before, in and behind a run.

Decisions where the page is silent:
* Those before the first other step look to the beginning of the window, whatever their operator is, and compare with
  the solution of that step (its first repetition); those behind the last other step look to the end of the window.
* In the middle, one that follows by `,` is nothing, or an event right behind (a gap) in which nothing is compatible
  with the run and with the next solution; others bar what is between the solutions around them.
* The event of a gap is no part of the run; the next step follows it.
* What is absent is seen with its own time, and with the bindings of the run and of the next solution.
"""

from __future__ import annotations

from naive.events import Solution
from naive.groups import Seen
from naive.partitions import Partitions, fulfilled
from naive.run import Gap, Run
from naive.tokens import Bindings, compatible
from retewave.compiler.algebra import SequenceStep


class Negations(Partitions):
    """What bars a run of one sequence."""

    def gaps(self, run: Run, step: SequenceStep) -> list[Gap]:
        """Return the events that may be right behind a run in place of what is absent."""
        since = run.gaps[-1][1].time if run.gaps else run.time
        following = self.next_instant(run, since)
        here = [each for each in self.events if each.time == following and self.is_of(each, run)]
        return [(step, each) for each in here if self.knows(since)]

    def is_barred(self, run: Run, longer: Run, absent: list[SequenceStep]) -> bool:
        """Tell whether what must not be there is between a run and the next solution, or in a gap."""
        last, until = run.time, longer.time
        return (bool(absent) and not self.knows(last)) or (
            any(last < n.time < until for each in absent for n in self.matching(each, run, longer.bindings))
            or any(n.is_of(e) for each, e in run.gaps for n in self.matching(each, run, longer.bindings))
        )

    def is_barred_before(self, run: Run, absent: list[SequenceStep], begin: int) -> bool:
        """Tell whether what must not be there before a run is there, from the beginning of its window on."""
        _, first = run.solutions[0]
        found = (n for each in absent for n in self.matching(each, Run({}), first.bindings))
        return any(begin <= n.time < run.start for n in found) or (bool(absent) and not self.knows(begin - 1))

    def is_barred_behind(self, run: Run, absent: list[SequenceStep], end: int) -> bool:
        """Tell whether what must not be there behind a run is there, up to the end of its window."""
        return any(run.time < n.time <= end for each in absent for n in self.matching(each, run, run.bindings))

    def matching(self, step: SequenceStep, run: Run, bindings: Bindings) -> list[Solution]:
        """Return the solutions of what must not be there that are compatible with a run and what is behind it."""
        return [
            n
            for n in self.solutions(step)
            if compatible(bindings, n.bindings)
            if fulfilled(n, Seen({**bindings, **n.bindings}, run.groups, n.time, n.time))
        ]
