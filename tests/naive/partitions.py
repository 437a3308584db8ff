"""What a sequence reads (MEANING §6): events of its streams, in partitions, and the solutions of its steps in them.

Decisions where the page is silent:
* A GPM's own FILTERs are those of its outermost group, FILTER EXISTS too; an event pattern that must not be there
  puts events into partitions, too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from naive.events import Event, Solution, events_of, mappings, solutions, variables_of, without_filters
from naive.groups import Seen, conjuncts
from naive.run import Run
from naive.tokens import FOREVER, Bindings, World
from retewave.compiler import algebra
from retewave.compiler.algebra import Occurs, Operand, SequenceStep, Variable
from retewave.compiler.expressions.tree import Expression

Partition = tuple[bytes | None, ...]  # the values of the variables of PARTITION BY


def partition_of(sequence: algebra.Sequence, bindings: Bindings) -> Partition:
    return tuple(bindings.get(each) for each in sequence.partition)


class Partitions:
    """What one sequence reads of what there is."""

    def __init__(self, sequence: algebra.Sequence, world: World) -> None:
        self.sequence, self.world = sequence, world
        self.static = [fact for fact in world.facts if fact.event is None]
        self.events = events_of(sequence.streams, world.facts)
        self._found: dict[Operand, list[Solution]] = {}

    def solutions(self, step: SequenceStep) -> list[Solution]:
        """Return the solutions of a step's operand."""
        if step.operand not in self._found:
            self._found[step.operand] = solutions(step.operand, self.events, self.static)
        return self._found[step.operand]

    @cached_property
    def own_variables(self) -> list[frozenset[Variable]]:
        """Return for each step the variables that are its own if it repeats: no earlier one can bind them."""
        earlier, found = set(self.sequence.partition), list[frozenset[Variable]]()
        for step in self.sequence.steps:
            found.append(frozenset(variables_of(step.operand)) - earlier)
            earlier.update(variables_of(step.operand) if step.occurs is not Occurs.NEVER else ())
        return found

    @cached_property
    def instants(self) -> dict[Partition, list[int]]:
        """Return the times of the events of each partition."""
        found: dict[Partition, list[int]] = {}
        for event in self.events:
            for key in self.partitions_of(event):
                found.setdefault(key, []).append(event.time)
        return found

    def partitions_of(self, event: Event) -> set[Partition]:
        """Return the partitions that an event is of: some event pattern, without its own filters, binds them so."""
        if not self.sequence.partition:
            return {()}
        patterns = {each for step in self.sequence.steps for each in algebra.event_patterns(step.operand)}
        return {
            partition_of(self.sequence, bindings)
            for each in patterns
            for bindings in mappings(each, without_filters(each.pattern), event, self.static)
        }

    def is_of(self, event: Event, run: Run) -> bool:
        return partition_of(self.sequence, run.bindings) in self.partitions_of(event)

    def next_instant(self, run: Run, since: int) -> int:
        """Return the time of the first event of a run's partition after some time."""
        times = self.instants.get(partition_of(self.sequence, run.bindings), [])
        return min((time for time in times if time > since), default=FOREVER)

    def knows(self, since: int) -> bool:
        """Tell whether the query knows all that ends later than a time."""
        return self.world.registered is None or since >= self.world.registered


def fulfilled(solution: Solution, seen: Seen, passes: Callable[[Expression], bool] = lambda _: False) -> bool:
    """Tell whether the conditions of all event patterns of a solution are true, or pass unseen."""
    return all(
        passes(conjunct) or seen.is_true(conjunct)
        for part in solution.parts
        for condition in part.pattern.conditions
        for conjunct in conjuncts(condition)
    )
