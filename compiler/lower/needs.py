"""The needs of a plan: which columns of each producer's tuples are used, and for how long.

Data's way: plan -> **needs** -> network records.
One pass goes over the ends, one from the last producer to the first.  A window bounds window starts, which ranges of
their own shift; a length, which WITHIN gives, bounds true starts.  Rows that the next network takes over keep all
columns, as it may have other queries.  So do α-memories: a pattern that is registered later starts from their rows.
"""

from __future__ import annotations

from retewave.compiler.expressions.tree import Variable, variables
from retewave.compiler.lower.lowered import Output, output_of
from retewave.compiler.plan.producers import (
    EITHER,
    TAKEN,
    AlphaTest,
    End,
    Input,
    Instants,
    Join,
    Plan,
    Probe,
    RunStep,
    RunWay,
    State,
    columns_of,
)
from retewave.compiler.plan.walk import lasting, momentary
from retewave.windows.intervals import UNBOUNDED

__all__ = ["Needs", "length_of"]


class Needs:
    """The columns and times that are needed of each producer of a plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.columns: list[set[int]] = [set() for _ in plan.producers]  # the columns of its tuples that are needed
        self.windows = [-1] * len(plan.producers)  # the widest window of its readers
        self.lengths = [-1] * len(plan.producers)  # the greatest length of its readers
        self.momentary = momentary(plan)  # whether its tuples are of one instant
        self.lasting = lasting(plan)  # whether the next network makes its tuples anew
        self.outputs: dict[tuple[int, int], Output] = {}  # (query, branch) -> its output rows
        tests = (each for each in plan.producers if isinstance(each, AlphaTest))
        # By how much a window start may be before the start.
        self._most_shifted = max((shift for test in tests if test.streams for _, shift in test.streams), default=0)
        for end in plan.ends:
            self._need(end)
            self._pass_on(end.read, max(member.listener.width for member in end.shape.members), UNBOUNDED)
        for number in reversed(range(len(plan.producers))):
            self._pass_down(number)

    def _need(self, end: End) -> None:
        wanted = self.columns[end.producer]
        wanted.update(end.parameters, (column for column in end.told.values() if column >= 0))
        for member in end.shape.members:
            output = self.outputs[member.listener.number, member.branch] = output_of(member, end.told)
            wanted.update(end.columns[member.numbers[Variable(name)]] for name in output.names)

    def _pass_down(self, number: int) -> None:
        producer = self.plan.producers[number]
        if isinstance(producer, Join):
            for place, each in enumerate(producer.inputs):
                needed = self.columns[each.producer]
                needed.update(each.keys, self.payload(number, place))
                self._pass_on(each, self.windows[number], self.lengths[number])
        elif isinstance(producer, Probe):
            decided, looked = producer.inputs
            self.columns[decided.producer].update(column for column in producer.origins if column >= 0)
            self.columns[looked.producer].update(looked.keys, self.looked(producer))
            source = self.plan.producers[looked.producer]
            if not isinstance(source, AlphaTest) and not self.lasting[looked.producer] and not producer.rank:
                self.columns[looked.producer].update(range(columns_of(source)))
            self._pass_on(decided, self.windows[number], self.lengths[number])
            self._pass_on(looked, self.kept(producer), length_of(producer))
        elif isinstance(producer, State):
            self._pass_to_runs(number, producer)
        elif isinstance(producer, RunStep):
            self.windows[number] = self._window(number, producer.width)
            if producer.run is not None:
                self._pass_on(producer.run, self.windows[number], self.lengths[number])
            self._pass_to_event(producer.way, self.windows[number])
        elif isinstance(producer, Instants):
            for each in producer.inputs:
                self.columns[each.producer].update(each.keys)
                self._pass_on(each, self.windows[number], UNBOUNDED)

    def _window(self, number: int, width: int | None) -> int:
        """Return how long the runs of a producer are of use."""
        return self.windows[number] if width is None else min(self.windows[number], width)

    def _pass_to_runs(self, number: int, state: State) -> None:
        self.columns[number].update(range(columns_of(state)))
        self.windows[number] = window = self._window(number, state.width)
        for each, columns in zip(state.entries, state.columns, strict=True):
            self.columns[each.producer].update(column for column in columns if column >= 0)
            self._pass_on(each, window, self.lengths[number])
        for way in state.again:
            self._pass_to_event(way, window)

    def _pass_to_event(self, way: RunWay, window: int) -> None:
        """Note the columns that a way needs of the event's solutions, and how far back its instants reach."""
        seen = {int(v.name[1:]) for each in way.conditions for v in variables(each) if v.name.startswith("c")}
        taken = {column for place, column in way.columns if place == TAKEN and column >= 0}
        taken |= {place - EITHER for place, _ in way.columns if place >= EITHER}
        equal = {column for _, column in way.equal}
        partition = way.instants.keys if way.instants is not None else ()
        self.columns[way.event.producer].update(way.event.keys, seen, taken, equal, partition)
        self._pass_on(way.event, window, UNBOUNDED)
        if way.instants is not None:
            self.windows[way.instants.producer] = max(self.windows[way.instants.producer], window)

    def _pass_on(self, each: Input, width: int, length: int) -> None:
        """Note the columns of a producer that an input's filters read, and how long its tuples are of use.

        A tuple of one instant is made of rows of that instant, however long the tuple itself is of use.
        """
        width = 0 if self.momentary[each.producer] else width
        self.columns[each.producer].update(column for one in each.filters for column in one.columns)
        within = width if each.within is None else min(width, each.within + self._most_shifted)
        self.windows[each.producer] = max(self.windows[each.producer], within)
        longest = length if each.within is None else min(length, each.within)
        self.lengths[each.producer] = max(self.lengths[each.producer], longest)

    def kept(self, probe: Probe) -> int:
        """Return how long after their window starts the rows that a probe looks at are kept."""
        if probe.keep is None:
            return probe.reach
        kept = probe.keep + self._most_shifted
        return kept if probe.reach < 0 else min(kept, probe.reach)

    def spent(self, spender: str) -> int:
        """Return how long a used-up event must be remembered: as long as any row or tuple may hold it."""
        found = [0]
        for number, producer in enumerate(self.plan.producers):
            if isinstance(producer, Join | Probe) and producer.spender == spender:
                found.append(self.windows[number])
            if isinstance(producer, Probe) and producer.spender == spender:
                found += [self.kept(producer), producer.deadline]
        return max(found)

    def seen(self, probe: Probe) -> tuple[int, ...]:
        """Return the columns of the second input, beside the key, that a probe's conditions and gaps look at."""
        named = {int(v.name[1:]) for each in probe.conditions for v in variables(each) if v.name.startswith("d")}
        times = {time[1] for gap in probe.gaps for time in (gap.earlier, gap.later) if time[0] == 1 and time[1] >= 0}
        return tuple(sorted(named | times | {column for _, column in probe.rank if column >= 0}))

    def looked(self, probe: Probe) -> tuple[int, ...]:
        """Return the columns of the second input, beside the key, that a probe looks at or takes along."""
        return tuple(sorted({*self.seen(probe), *(column for column in probe.taken if column >= 0)}))

    def payload(self, number: int, place: int) -> tuple[int, ...]:
        """Return the columns of one of a join's inputs that its memory keeps beside the key."""
        join = self.plan.producers[number]
        assert isinstance(join, Join)
        each = join.inputs[place]
        source = self.plan.producers[each.producer]
        if isinstance(source, AlphaTest):
            return tuple(column for column in source.columns if column not in each.keys)
        if not self.lasting[each.producer]:  # the next network takes these rows over, for other queries, too
            return tuple(column for column in range(columns_of(source)) if column not in each.keys)
        origins = [join.origins[column] for column in sorted(self.columns[number])]
        times = [time for gap in join.gaps for time in (gap.earlier, gap.later)]
        return tuple(sorted({column for slot, column in (*origins, *times) if slot == place and column >= 0}))


def length_of(probe: Probe) -> int:
    """Return how long after their true starts the rows that a probe looks at are of use."""
    return UNBOUNDED if probe.keep is None else probe.keep
