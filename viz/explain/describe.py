"""A plan in the words of its queries: the description that the text, the JSON and the drawings print.

Data's way: network that runs -> **description** -> text, JSON.
One section a shape: queries that differ in constants only are one plan, and are described once.  Long lists are cut
short, and say by how much.  Left out: state, except which memories hold static rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from retewave.compiler import algebra
from retewave.compiler.algebra import TriplePattern
from retewave.compiler.expressions.tree import Expression, Variable, rename, to_sparql
from retewave.compiler.plan.producers import (
    END,
    START,
    AlphaTest,
    End,
    Gap,
    Input,
    Join,
    Probe,
    RunStep,
    RunWay,
    State,
    Table,
)
from retewave.compiler.plan.shape import Member
from retewave.compiler.plan.walk import Reached, looks_of, moment_of, reached, users_of
from retewave.compiler.rewrite.normal import ExtendStep, FilterStep
from retewave.rete.counters import holds_static
from retewave.viz.explain.automaton import Automaton, automaton_of
from retewave.viz.explain.compiled import Compiled
from retewave.viz.explain.deciding import decided_by
from retewave.viz.explain.epsilon import Epsilon, Form
from retewave.viz.explain.keeping import evaluated_of, kept_of
from retewave.viz.explain.names import MOST_LISTED, Prefixes, pattern_parts, spell_window
from retewave.viz.explain.relations import Time, spoken
from retewave.viz.explain.rules import BuildPlan, built_by, of_rule
from retewave.viz.explain.runs import STRATEGIES, between, conditions_of
from retewave.viz.explain.timing import decided, reported, told, within

__all__ = [
    "Description",
    "PatternPlan",
    "Section",
    "StepPlan",
    "StreamPlan",
    "describe",
    "prefixes_of",
]


@dataclass(frozen=True)
class StreamPlan:
    """A stream that a query hears."""

    stream: str  # its IRI
    range: str  # the window on it; two, with "to" between, when the queries of the section differ


@dataclass(frozen=True)
class PatternPlan:
    """A triple pattern and the α-memory test behind it."""

    alpha: int  # number of the α record
    pattern: str  # in the query's variables; $1, $2, … are the constants in which the queries differ
    line: int | None  # of the first query's text, in which it is written; None: nothing there stands for it alone
    entailed_by: tuple[Form, ...]  # the first forms of input that the schema makes it match, besides itself
    forms: int  # how many there are
    facts: int  # triples that the schema itself states, there before the stream
    shared_with: tuple[str, ...]  # the first other queries whose patterns pass the same test
    shared: int  # how many there are
    built_by: tuple[str, ...]  # rules that may give it something


@dataclass(frozen=True)
class StepPlan:
    """A node of the tree of steps: a pattern, inline data, a join of others, or a probe: a look of one at another."""

    kind: str  # "pattern", "table", "join", "star" (three inputs or more), "product" (no key) or "probe"
    number: int  # of the α record, the node, or the probe
    label: str  # the pattern, the table's columns, or the operator that a probe is for
    memory: int | None  # the memory (slot) above that it fills; none at the root, or where a probe decides on it
    static: bool  # that memory holds rows that were there before the stream
    filters: tuple[str, ...]  # what its tuples pass before they come into that memory
    within: str = ""  # likewise: how long they may be, and what of the query says so
    streamed: bool = False  # likewise: they are not static
    passing: bool = False  # a join keeps no rows of it: it can only come last
    key: tuple[str, ...] = ()  # under which a join's or a probe's inputs are read
    window: str = ""  # how long a join's memories keep a row, or the memory that a probe looks at
    relations: tuple[str, ...] = ()  # temporal relations between the inputs
    conditions: tuple[str, ...] = ()  # what else makes a row fit that a probe looks at
    wants: str = ""  # "exists": a probe lets pass what something fits; "absent": what nothing fits
    decided: str = ""  # when a probe decides
    level: int = 0  # of what probes decide at one time, the lower levels come first
    inputs: tuple[StepPlan, ...] = ()  # a join's inputs; of a probe what it decides on, and what it looks at
    shared_with: tuple[str, ...] = ()  # the first other queries that use this join or probe
    shared: int = 0  # how many there are


@dataclass(frozen=True)
class OpenConstant:
    """A place in which the queries of a shape differ."""

    name: str  # $1, $2, …
    terms: int  # how many terms there are
    examples: tuple[str, ...]  # the first queries' own, query by query


@dataclass(frozen=True)
class FilterPlan:
    """A filter or an assignment of a query."""

    expression: str  # in SPARQL
    by: str  # the place where it is decided
    early: bool  # done on the way into a memory already, not only at the end


@dataclass(frozen=True)
class Section:
    """One plan: one shape with all its queries."""

    queries: tuple[str, ...]  # the first queries' names; an alternative of a UNION is numbered
    count: int  # how many there are
    answers: str  # what it does: it detects
    told: str  # when a match is told, at the latest
    kept: str  # what of it is kept from report to report, if it is a part of a view; else empty
    evaluated: str  # what of the view is evaluated at each report
    form: str  # SELECT, SELECT DISTINCT or CONSTRUCT
    shows: tuple[str, ...]  # the variables of a match
    on: str  # which of them are reported, if DISTINCT ON says so; else empty
    builds: BuildPlan | None  # what the first query feeds back, if it is a rule
    policy: str  # which pairs its sequences take; empty where they take all
    uses_up: bool  # whether the events of a match are not there for the query any more, when its instant is over
    streams: tuple[StreamPlan, ...]  # empty: every stream
    window: str  # the window that a match must fit
    open: tuple[OpenConstant, ...]  # where the queries differ
    patterns: tuple[PatternPlan, ...]  # in the order of their tests' numbers
    joins: StepPlan  # the tree
    filters: tuple[FilterPlan, ...]  # of the first query
    alike: bool  # all queries show and filter the same as the first query
    automaton: Automaton | None = None  # of its sequence of events, at the first of its alternatives


@dataclass(frozen=True)
class Description:
    """All plans of a network."""

    queries: int  # registered queries
    alphas: int  # α tests and inline tables
    memories: int  # inputs of joins, and what probes look at
    joins: int  # joins
    probes: int  # probes
    levels: int  # of what probes decide at one time
    prefixes: dict[str, str]  # label -> namespace, of the prefixes used
    sections: tuple[Section, ...]  # one section a shape


def describe(compiled: Compiled) -> Description:
    """Describe the plan of all queries."""
    described = _Described(compiled)
    sections = tuple(described.section(place, end) for place, end in enumerate(compiled.lowered.plan.ends))
    network = compiled.lowered.network
    return Description(
        len(compiled.outcome.queries),
        len(network.alphas),
        len(network.slots),
        len(compiled.lowered.nodes),
        len(network.probes),
        max((probe.level for probe in network.probes), default=0),
        dict(sorted(described.prefixes.used.items())),
        sections,
    )


class _Described:
    """One pass over the ends."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled, self.lowered = compiled, compiled.lowered
        self.plan = compiled.lowered.plan
        self.queries = compiled.outcome.queries
        self.prefixes = prefixes_of(compiled)
        self.epsilon = Epsilon(compiled.dispatch)
        self.users = users_of(self.plan)
        self.end_queries = [
            tuple(dict.fromkeys(self.queries[m.listener.number].name for m in end.shape.members))
            for end in self.plan.ends
        ]

        self.readers = {
            number: [name for place in sorted(ends) for name in self.end_queries[place]]
            for number, ends in enumerate(self.users)
        }

    def section(self, place: int, end: End) -> Section:
        members = end.shape.members
        query: algebra.Query = self.queries[members[0].listener.number].parsed
        tree, leaves = reached(self.plan, end), self.queries[members[0].listener.number].leaves
        return Section(
            queries=tuple(self._title(member) for member in members[:MOST_LISTED]),
            count=len(members),
            answers="detects" if query.view is None else f"view, as it has {query.view.reason}",
            told=told(tree, self.lowered.fed) if query.view is None else reported(query.view),
            kept="" if leaves is None else kept_of(leaves, members[0].branch),
            evaluated="" if leaves is None or query.view is None else evaluated_of(leaves, query),
            form=f"{query.form} DISTINCT" if query.distinct else query.form,
            shows=tuple(f"?{name}" for name in members[0].listener.projection),
            on=str(query.on or ""),
            builds=of_rule(self.lowered, end, members[0], query, self.readers, self.prefixes),
            policy=_policy(query.policy),
            uses_up=query.policy.consumes,
            streams=self._streams(members),
            window=_span([member.listener.width for member in members]),
            open=self._open(end),
            patterns=self._patterns(tree, members[0], place),
            joins=_Steps(self, place, end, query.where).tree(tree, end.read),
            filters=tuple(self._filters(end)),
            alike=len({self._asks(member) for member in members}) == 1,
            automaton=automaton_of(query) if members[0].branch == 0 else None,
        )

    def _title(self, member: Member) -> str:
        name: str = self.queries[member.listener.number].name
        alternatives = len(member.listener.branches)
        if alternatives == 1:
            return name
        kind = "alternative" if self.queries[member.listener.number].parsed.view is None else "part"
        return f"{name} ({kind} {member.branch + 1} of {alternatives})"

    def _asks(self, member: Member) -> tuple[object, ...]:
        """Return the columns and filters of a member, with its variables named by their numbers."""
        query: algebra.Query = self.queries[member.listener.number].parsed
        numbers = {variable: Variable(f"c{number}") for variable, number in member.numbers.items()}
        steps = tuple((type(step), rename(step.expression, numbers)) for step in member.steps.steps)
        shown = tuple(numbers.get(Variable(name)) for name in member.listener.projection)
        compared = tuple(numbers.get(Variable(name)) for name in member.listener.compared)
        bound = query.on and (query.on.within, query.on.most)
        leaves = self.queries[member.listener.number].leaves
        viewed = query.view and leaves and (kept_of(leaves, member.branch), evaluated_of(leaves, query))
        return query.form, query.distinct, bound, shown, compared, steps, viewed

    def _streams(self, members: tuple[Member, ...]) -> tuple[StreamPlan, ...]:
        widths: dict[bytes, set[int]] = {}
        windows = {each for member in members for each in self._windows(member)}
        if windows:
            return tuple(StreamPlan(self.prefixes.short(iri), text) for iri, text in sorted(windows))
        for member in members:
            for iri, width in _widths(self.queries[member.listener.number].parsed, member):
                widths.setdefault(iri, set()).add(width)
        return tuple(StreamPlan(self.prefixes.short(iri), _span(sorted(found))) for iri, found in widths.items())

    def _windows(self, member: Member) -> Iterator[tuple[bytes, str]]:
        """Yield the stream of the window of a view that a branch reads, and the window."""
        query = self.queries[member.listener.number]
        if query.parsed.view is not None:
            number = query.leaves.leaves[member.branch].window
            window = None if number is None else query.parsed.view.windows[number]
            if window is not None and window.stream is not None:
                yield window.stream, str(window.extent)

    def _open(self, end: End) -> tuple[OpenConstant, ...]:
        found = []
        for place in range(len(end.parameters)):
            terms = [member.constants[place] for member in end.shape.members]
            shown = tuple(self.prefixes.short(term) for term in terms[:MOST_LISTED])
            found.append(OpenConstant(f"${place + 1}", len(set(terms)), shown))
        return tuple(found)

    def others(self, number: int, place: int) -> tuple[tuple[str, ...], int]:
        """Return the first queries that use a producer beside those of one end, and how many there are."""
        ends = sorted(self.users[number] - {place})
        own = set(self.end_queries[place])
        names = dict.fromkeys(name for end in ends for name in self.end_queries[end] if name not in own)
        return tuple(names)[:MOST_LISTED], len(names)

    def _patterns(self, tree: Reached, member: Member, place: int) -> tuple[PatternPlan, ...]:
        found: dict[tuple[int, frozenset[tuple[int, str]]], PatternPlan] = {}
        for leaf in tree.leaves():
            key = leaf.number, frozenset(leaf.names.items())
            if isinstance(leaf.producer, AlphaTest) and key not in found:
                found[key] = self._pattern(leaf, leaf.producer, member, place)
        return tuple(sorted(found.values(), key=lambda each: (each.alpha, each.pattern)))

    def _pattern(self, leaf: Reached, test: AlphaTest, member: Member, place: int) -> PatternPlan:
        parts = pattern_parts(test, leaf.names, self.prefixes)
        pattern = member.steps.leaves[leaf.leaf]
        written = pattern.place if isinstance(pattern, TriplePattern) else None
        shared_with, shared = self.others(leaf.number, place)
        return PatternPlan(
            self.lowered.alphas[leaf.number],
            " ".join(parts),
            written.line if written else None,
            self.epsilon.forms(test.atom, parts, self.prefixes),
            self.epsilon.count(test.atom),
            self.epsilon.facts(test.atom),
            shared_with,
            shared,
            built_by(self.lowered, leaf.number, {number: query.name for number, query in self.queries.items()}),
        )

    def _filters(self, end: End) -> Iterator[FilterPlan]:
        member = end.shape.members[0]
        numbers = {variable: Variable(f"c{number}") for variable, number in member.numbers.items()}
        for step in member.steps.steps:
            shown = self.prefixes.short(to_sparql(step.expression))
            if isinstance(step, ExtendStep):
                yield FilterPlan(f"BIND({shown} AS {step.variable})", "Python computes, for each match", False)
            elif isinstance(step, FilterStep):
                early = rename(step.expression, numbers) in end.pushed
                yield FilterPlan(f"FILTER {shown}", str(decided_by(step, member.steps)), early)


_TAKEN = {
    "naive": "the last of each side of a SEQ, whatever it binds",
    "chronological": "the earliest pairs of a SEQ, for each binding of its second part",
    "recent": "the latest pairs of a SEQ, for each binding of its second part",
}


def _policy(policy: algebra.Policy) -> str:
    """Return a policy in words."""
    if not policy.chooses:
        return ""
    return f"{policy}: takes {_TAKEN[policy.name]}"


class _Steps:
    """The tree of steps below one end, in the words of its first query."""

    def __init__(self, described: _Described, place: int, end: End, where: algebra.Algebra) -> None:
        self.all, self.place, self.where = described, place, where
        self.lowered, self.prefixes = described.lowered, described.prefixes
        self.looks = looks_of(end.shape.members[0].steps)

    def tree(self, tree: Reached, read: Input, slot: int | None = None, passing: bool = False) -> StepPlan:
        """Return a step with all below it; `read` says how it is read, `slot` is the memory that it fills."""
        step = self._step(tree)
        arena = self.all.compiled.runtime.arena
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
        shared_with, shared = self.all.others(tree.number, self.place)
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
        shared_with, shared = self.all.others(tree.number, self.place)
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
        shared_with, shared = self.all.others(tree.number, self.place)
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
        shared_with, shared = self.all.others(tree.number, self.place)
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
        """Yield what makes a pair better than another one, if a probe compares them so."""
        times = [moment_of(tree.inputs[0], own) for own, _ in probe.rank]
        by = ", then the ".join(f"{'end' if at_end else 'start'} of {self._name(whose)}" for whose, at_end in times)
        if times:
            yield f"input 2 is {'later' if probe.latest else 'earlier'} than input 1: the {by}"

    def _name(self, tree: Reached) -> str:
        """Return what a step below another one is called there."""
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


def prefixes_of(compiled: Compiled) -> Prefixes:
    """Return the prefixes of all queries, oldest query first."""
    return Prefixes.of(pair for query in compiled.outcome.queries.values() for pair in query.parsed.prefixes)


def _widths(query: algebra.Query, member: Member) -> Iterator[tuple[bytes, int]]:
    for stream in query.streams:
        own = stream.width if query.window is None else query.window
        yield stream.iri, member.listener.width if own is None else own


def _span(widths: list[int]) -> str:
    least, most = spell_window(min(widths)), spell_window(max(widths))
    return least if least == most else f"{least} to {most}"
