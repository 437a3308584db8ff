"""Sequences of events: the runs of SEQ, step by step, as the page has them.

A run is a tuple of events, each with the event pattern and the step that it was taken for, and one joined mapping; of
two ways to the same run one counts: the same events, mapping, and values in each repetition.  It grows by each solution
of the next step that is later, compatible, and so that the conditions are true: `:` takes all of these, `;` those that
have no such one between, `,` those that have no event of the sequence's streams between, of the run's partition if
there are any.

Decisions where the page is silent:
* MAYBE is written out as the page does it for one step, so several make every choice.  What is left out still counts as
  text that can bind a variable, so that no later step has that as a group variable; a step that is NEVER does not.
* Steps that are NEVER: those before the first other step look to the beginning of the window, whatever their operator
  is, and compare with the solution of that step (its first repetition); those behind the last other step look to the
  end of the window.  In the middle, one that follows by `,` is nothing, or an event right behind (a gap) in which
  nothing is compatible with the run and with the next solution; others bar what is between the solutions around them.
* The event of a gap is no part of the run; the next step follows it.
* What is absent is seen with its own time, and with the bindings of the run and of the next solution.
* A condition sees the times of the run so far.
* MOST looks from its last repetition, gaps apart.  Before a NEVER that ends the sequence it looks to the end of the
  window, and is decided there.  Strict repetitions at the end are decided at the next instant of the run's partition.
* A GPM's own FILTERs are those of its outermost group, FILTER EXISTS too; an event pattern that must not be there
  puts events into partitions, too.
* Registered late, a query makes no `;`, `,`, NEVER or MOST that looks at times before its registration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from naive.events import Event, Part, Solution, events_of, mappings, solutions, variables_of, without_filters
from naive.groups import Seen, asks_what_was_before, conjuncts
from naive.tokens import FOREVER, Bindings, How, Repetition, Token, World, compatible
from retewave.compiler import algebra
from retewave.compiler.algebra import Follows, Occurs, Operand, SequenceStep, Variable
from retewave.compiler.expressions.tree import Expression
from retewave.windows.intervals import STATIC_END

BEFORE_ALL = STATIC_END  # a time that nothing comes before
REPEATED = (Occurs.SOME, Occurs.MOST)

Steps = tuple[tuple[int, SequenceStep], ...]  # with their places in the sequence
Gap = tuple[SequenceStep, Event]


@dataclass(frozen=True)
class Run:
    """What a sequence has matched so far."""

    bindings: Bindings
    solutions: tuple[tuple[int, Solution], ...] = ()  # with the places of the steps that they were taken for
    groups: tuple[Repetition, ...] = ()
    gaps: tuple[Gap, ...] = ()  # since the last solution: what was passed over, and for which NEVER

    @property
    def start(self) -> int:
        return self.solutions[0][1].time

    @property
    def time(self) -> int:
        """Return when it has taken its last solution."""
        return self.solutions[-1][1].time

    @property
    def parts(self) -> list[Part]:
        return [part for _, solution in self.solutions for part in solution.parts]


@dataclass(frozen=True)
class Complete:
    """A run that is complete, and when that is known."""

    run: Run
    end: int
    how: How

    def identity(self) -> object:
        """Return what two ways to the same run have in common."""
        taken = (
            (place, part.pattern.name, part.event.key)
            for place, each in self.run.solutions
            for part in each.parts
        )  # fmt: skip
        repeated = (frozenset(bindings.items()) for each in self.run.groups for _, bindings in each.parts)
        return (*taken, *repeated, frozenset(self.run.bindings.items()), self.end)


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


def windows(sequence: algebra.Sequence, start: int) -> list[tuple[int, int]]:
    """Return the bounds of the windows in which a run that starts at some time may be, both inside."""
    if sequence.tumbling is None:
        return [(BEFORE_ALL, FOREVER) if sequence.width is None else (start - sequence.width, start + sequence.width)]
    assert sequence.width, "windows that tumble have a width"
    number = (start - sequence.tumbling) // sequence.width
    begins = [sequence.tumbling + each * sequence.width for each in (number - 1, number) if each >= 0]
    return [(begin, begin + sequence.width) for begin in begins if begin <= start <= begin + sequence.width]


def past_last(sequence: algebra.Sequence, found: list[Complete]) -> Iterator[Complete]:
    """Yield what AFTER MATCH SKIP PAST LAST leaves of a partition; a run that another one begins with is earlier."""

    def order(each: Complete) -> tuple[int, int, list[int]]:
        return each.end, each.run.start, [solution.time for _, solution in each.run.solutions]

    for key in {_key(sequence, each.run.bindings) for each in found}:
        waiting = [each for each in found if _key(sequence, each.run.bindings) == key]
        while waiting:
            earliest = min(map(order, waiting))
            told = [each for each in waiting if order(each) == earliest]
            yield from (replace(each, how=max(each.how, How.CLOSE)) for each in told)
            waiting = [each for each in waiting if each.run.start > told[0].run.time]


def _key(sequence: algebra.Sequence, bindings: Bindings) -> tuple[bytes | None, ...]:
    return tuple(bindings.get(each) for each in sequence.partition)


class Runs:
    """The runs of one sequence over what there is."""

    def __init__(self, sequence: algebra.Sequence, world: World) -> None:
        self.sequence, self.world = sequence, world
        self.static = [fact for fact in world.facts if fact.event is None]
        self.events = events_of(sequence.streams, world.facts)
        self._found: dict[Operand, list[Solution]] = {}

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
        if any(run.time < n.time <= end for each in absent for n in self.matching(each, run, run.bindings)):
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
            if not run.solutions or not self.is_barred(run, longer, absent):
                waiting = [longer]
                while waiting:
                    each = waiting.pop()
                    yield each
                    if step.occurs in REPEATED:
                        waiting += self.repeated(each, place, step)

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

    def gaps(self, run: Run, step: SequenceStep) -> list[Gap]:
        """Return the events that may be right behind a run in place of what is absent."""
        since = run.gaps[-1][1].time if run.gaps else run.time
        following = self.next_instant(run, since)
        here = [each for each in self.events if each.time == following and self.is_of(each, run)]
        return [(step, each) for each in here if self.knows(since)]

    def is_barred(self, run: Run, longer: Run, absent: list[SequenceStep]) -> bool:
        """Tell whether a run must not go on so: a step behind it has been taken, for the first time."""
        place, last = run.solutions[-1]
        step, until = self.sequence.steps[place], longer.time
        if (absent or step.occurs is Occurs.MOST) and not self.knows(run.time):
            return True
        return (
            any(last.time < n.time < until for each in absent for n in self.matching(each, run, longer.bindings))
            or any(n.is_of(e) for each, e in run.gaps for n in self.matching(each, run, longer.bindings))
            or (step.occurs is Occurs.MOST and any(more.time <= until for more in self.repeated(run, place, step)))
        )

    def is_barred_before(self, run: Run, absent: list[SequenceStep], begin: int) -> bool:
        """Tell whether what must not be there before a run is there, from the beginning of its window on."""
        _, first = run.solutions[0]
        found = (n for each in absent for n in self.matching(each, Run({}), first.bindings))
        return any(begin <= n.time < run.start for n in found) or (bool(absent) and not self.knows(begin - 1))

    def matching(self, step: SequenceStep, run: Run, bindings: Bindings) -> list[Solution]:
        """Return the solutions of what must not be there that are compatible with a run and what is behind it."""
        return [
            n
            for n in self.solutions(step)
            if compatible(bindings, n.bindings)
            if fulfilled(n, Seen({**bindings, **n.bindings}, run.groups, n.time, n.time))
        ]

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
    def instants(self) -> dict[tuple[bytes | None, ...], list[int]]:
        """Return the times of the events of each partition."""
        found: dict[tuple[bytes | None, ...], list[int]] = {}
        for event in self.events:
            for key in self.partitions_of(event):
                found.setdefault(key, []).append(event.time)
        return found

    def partitions_of(self, event: Event) -> set[tuple[bytes | None, ...]]:
        """Return the partitions that an event is of: some event pattern, without its own filters, binds them so."""
        if not self.sequence.partition:
            return {()}
        patterns = {each for step in self.sequence.steps for each in algebra.event_patterns(step.operand)}
        return {
            _key(self.sequence, bindings)
            for each in patterns
            for bindings in mappings(each, without_filters(each.pattern), event, self.static)
        }

    def is_of(self, event: Event, run: Run) -> bool:
        return _key(self.sequence, run.bindings) in self.partitions_of(event)

    def next_instant(self, run: Run, since: int) -> int:
        """Return the time of the first event of a run's partition after some time."""
        times = self.instants.get(_key(self.sequence, run.bindings), [])
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
