"""The tree of steps below one end of a plan: patterns, tables, joins, probes, states and steps of runs.

Data's way: plan, network that runs -> **steps** -> a section of the description.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from retewave.compiler import algebra
from retewave.compiler.expressions.tree import Expression, Variable, rename, to_sparql
from retewave.compiler.plan.producers import (
    END,
    START,
    AlphaTest,
    Gap,
    Input,
    Join,
    Probe,
    RunStep,
    RunWay,
    State,
    Table,
)
from retewave.compiler.plan.walk import Reached, looks_of, moment_of
from retewave.rete.counters import holds_static
from retewave.viz.explain.compiled import Compiled
from retewave.viz.explain.description import StepPlan
from retewave.viz.explain.names import Prefixes, pattern_parts, spell_window
from retewave.viz.explain.relations import Time, spoken
from retewave.viz.explain.runs import STRATEGIES, between, conditions_of
from retewave.viz.explain.sharing import Sharing
from retewave.viz.explain.timing import decided, within

__all__ = ["StepTree"]


class StepTree:
    """The tree of steps below one end, in the words of its first query."""

    def __init__(
        self, compiled: Compiled, sharing: Sharing, prefixes: Prefixes, place: int, where: algebra.Algebra
    ) -> None:
        self.compiled, self.sharing, self.prefixes, self.place, self.where = compiled, sharing, prefixes, place, where
        self.lowered = compiled.lowered
        end = self.lowered.plan.ends[place]
        self.looks = looks_of(end.shape.members[0].steps)

    def tree(self, tree: Reached, read: Input, slot: int | None = None, passing: bool = False) -> StepPlan:
        """Return a step with all below it; `read` says how it is read, `slot` is the memory that it fills."""
        step = self._step(tree)
        arena = self.compiled.runtime.arena
        return replace(
            step,
            memory=slot,
            static=slot is not None and holds_static(arena, slot),
            filters=tuple(self._filter(each.expression, tree.names) for each in read.filters),
            within="" if read.within is None else within(read.within, self.where),
            streamed=read.streamed,
            passing=passing,
        )

    def _step(self, tree: Reached) -> StepPlan:
        match tree.producer:
            case Join():
                return self._join(tree, tree.producer)
            case Probe():
                return self._probe(tree, tree.producer)
            case State():
                return self._state(tree, tree.producer)
            case RunStep():
                return self._run(tree, tree.producer)
            case Table():
                return self._leaf("table", tree, self._table(tree.producer, tree.names))
            case AlphaTest():
                return self._leaf("pattern", tree, self._pattern(tree, tree.producer))
        raise TypeError(f"nothing tells of {tree.producer}")

    def _leaf(self, kind: str, tree: Reached, label: str) -> StepPlan:
        return StepPlan(kind, self.lowered.alphas[tree.number], label, None, False, ())

    def _pattern(self, leaf: Reached, test: AlphaTest) -> str:
        return " ".join(pattern_parts(test, leaf.names, self.prefixes))

    def _table(self, table: Table, names: Mapping[int, str]) -> str:
        columns = " ".join(names.get(column, "_") for column in range(table.columns))
        return f"VALUES ({columns}), {len(table.rows):,} {'row' if len(table.rows) == 1 else 'rows'}"

    def _join(self, tree: Reached, join: Join) -> StepPlan:
        record = self.lowered.nodes[tree.number]
        node = self.lowered.network.nodes[record]
        key = self._key(tree.inputs[0])
        kind = "product" if not key else "star" if len(tree.inputs) > 2 else "join"
        inputs = tuple(
            self.tree(each, read, slot, node.passing == place)
            for place, (each, read, slot) in enumerate(zip(tree.inputs, join.inputs, node.slots, strict=True))
        )
        shared_with, shared = self.sharing.others(tree.number, self.place)
        return StepPlan(
            kind, record, "", None, False, (), key=key, window=spell_window(node.window), inputs=inputs,
            relations=self._relations(tree, join.gaps), shared_with=shared_with, shared=shared,
        )  # fmt: skip

    def _probe(self, tree: Reached, probe: Probe) -> StepPlan:
        number = self.lowered.probes[tree.number]
        record = self.lowered.network.probes[number]
        decides, looked = tree.inputs
        look = self.looks.get(min((leaf.leaf for leaf in looked.leaves()), default=-1))
        conditions = (
            between(probe, decides.names, looked.names) if look is None else [e.expression for e in look.conditions]
        )
        shared_with, shared = self.sharing.others(tree.number, self.place)
        return StepPlan(
            "probe", number, "SEQ !" if look is None else look.operator, None, False, (),
            key=self._key(decides),
            window="this instant" if probe.rank else spell_window(self._window_of(record.slot)),
            relations=(*self._relations(tree, probe.gaps), *self._rank(tree, probe)),
            conditions=tuple(self.prefixes.short(to_sparql(each)) for each in conditions),
            wants="exists" if probe.wanted else "absent",
            decided=decided(probe),
            level=record.level,
            inputs=(self.tree(decides, probe.inputs[0]), self.tree(looked, probe.inputs[1], record.slot)),
            shared_with=shared_with,
            shared=shared,
        )  # fmt: skip

    def _state(self, tree: Reached, state: State) -> StepPlan:
        number = self.lowered.states[tree.number]
        record = self.lowered.network.states[number]
        slot = None if record.slot < 0 else record.slot
        window = "" if slot is None else spell_window(self._window_of(slot))
        reads = zip(tree.inputs, state.inputs, strict=True)
        key = tuple(tree.names.get(column, "_") for column in state.keys)
        shared_with, shared = self.sharing.others(tree.number, self.place)
        if tree.again:
            return StepPlan("state", number, "as above", slot, False, (), shared_with=shared_with, shared=shared)
        again = tuple(
            each
            for way in state.again
            for each in conditions_of(way, tree.names, self._taken(tree, way), self.prefixes)
        )
        return StepPlan(
            "state", number, "once" if state.once else "runs", slot, False, (), key=key, window=window,
            conditions=again, inputs=tuple(self.tree(each, read) for each, read in reads),
            shared_with=shared_with, shared=shared,
        )  # fmt: skip

    def _taken(self, tree: Reached, way: RunWay) -> Mapping[int, str]:
        return next(each.names for each in tree.inputs if each.number == way.event.producer)

    def _run(self, tree: Reached, step: RunStep) -> StepPlan:
        number, way = self.lowered.steps[tree.number], step.way
        run = tree.inputs[0].names if step.run is not None else {}
        reads = zip(tree.inputs, step.inputs, strict=True)
        shared_with, shared = self.sharing.others(tree.number, self.place)
        return StepPlan(
            "step", number, STRATEGIES[way.follows] if step.run is not None else "begins", None, False, (),
            key=tuple(tree.inputs[-1].names.get(column, "_") for column in way.event.keys),
            conditions=conditions_of(way, run, self._taken(tree, way), self.prefixes),
            inputs=tuple(self.tree(each, read) for each, read in reads), shared_with=shared_with, shared=shared,
        )  # fmt: skip

    def _key(self, read: Reached) -> tuple[str, ...]:
        """Return the key under which an input is read, in its words."""
        assert read.above is not None
        return tuple(read.names.get(column, "_") for column in read.above.keys)

    def _window_of(self, slot: int) -> int:
        return self.lowered.network.nodes[self.lowered.network.slots[slot].node].window

    def _relations(self, tree: Reached, gaps: tuple[Gap, ...]) -> tuple[str, ...]:
        def time(which: tuple[int, int]) -> Time:
            place, column = which
            if column in (START, END):
                return f"input {place + 1}", column == END
            whose, at_end = moment_of(tree.inputs[place], column)
            return self._name(whose), at_end

        return tuple(spoken(gaps, time))

    def _rank(self, tree: Reached, probe: Probe) -> Iterator[str]:
        """Yield how a probe compares pairs, if it does."""
        times = [moment_of(tree.inputs[0], own) for own, _ in probe.rank]
        by = ", then the ".join(f"{'end' if at_end else 'start'} of {self._name(whose)}" for whose, at_end in times)
        if times:
            yield f"input 2 is {'later' if probe.latest else 'earlier'} than input 1: the {by}"

    def _name(self, tree: Reached) -> str:
        """Return the name of a step, as steps above it use it."""
        match tree.producer:
            case Join():
                return f"join {self.lowered.nodes[tree.number]}"
            case Probe():
                return f"probe {self.lowered.probes[tree.number]}"
            case State():
                return f"runs {self.lowered.states[tree.number]}"
            case RunStep():
                return f"step {self.lowered.steps[tree.number]}"
            case Table():
                return self._table(tree.producer, tree.names)
            case AlphaTest():
                return f"{{ {self._pattern(tree, tree.producer)} }}"
        raise TypeError(f"nothing tells of {tree.producer}")

    def _filter(self, expression: Expression, names: Mapping[int, str]) -> str:
        own = {Variable(f"c{column}"): Variable(name.removeprefix("?")) for column, name in names.items()}
        return self.prefixes.short(to_sparql(rename(expression, own)))
