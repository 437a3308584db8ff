"""A plan in the words of its queries: the description that the text, the JSON and the drawings print.

Data's way: network that runs -> **description** -> text, JSON.
One section a shape: queries that differ in constants only are one plan, and are described once.  Long lists are cut
short, and say by how much.  Left out: state, except which memories hold static rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from retewave.compiler import algebra
from retewave.compiler.algebra import TriplePattern
from retewave.compiler.expressions.tree import Expression, Variable, rename, to_sparql
from retewave.compiler.plan.producers import AlphaTest, End, Join, Table
from retewave.compiler.plan.shape import Member
from retewave.compiler.plan.walk import Reached, reached, users_of
from retewave.compiler.rewrite.normal import ExtendStep, FilterStep
from retewave.rete.counters import holds_static
from retewave.viz.explain.compiled import Compiled
from retewave.viz.explain.deciding import decided_by
from retewave.viz.explain.epsilon import Epsilon, Form
from retewave.viz.explain.names import MOST_LISTED, Prefixes, pattern_parts, spell_window
from retewave.viz.explain.relations import named
from retewave.windows.relations import NAMES

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


@dataclass(frozen=True)
class StepPlan:
    """A node of the tree of joins: a pattern, inline data, or a join of others."""

    kind: str  # "pattern", "table", "join", "star" (three inputs or more) or "product" (no key)
    number: int  # of the α record or the node
    label: str  # the pattern, or the table's columns
    memory: int | None  # the memory (slot) of the join above that it fills; none at the root
    static: bool  # that memory holds rows that were there before the stream
    filters: tuple[str, ...]  # the filters that its tuples pass before they come into that memory
    key: tuple[str, ...] = ()  # a join's key
    window: str = ""  # how long a join's memories keep a row
    relations: tuple[str, ...] = ()  # temporal relations between a join's inputs
    inputs: tuple[StepPlan, ...] = ()  # a join's inputs
    shared_with: tuple[str, ...] = ()  # the first other queries that use this join
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
    form: str  # SELECT, SELECT DISTINCT or CONSTRUCT
    shows: tuple[str, ...]  # the variables of a match
    on: str  # which of them are reported, if DISTINCT ON says so; else empty
    streams: tuple[StreamPlan, ...]  # empty: every stream
    window: str  # the window that a match must fit
    open: tuple[OpenConstant, ...]  # where the queries differ
    patterns: tuple[PatternPlan, ...]  # in the order of their tests' numbers
    joins: StepPlan  # the tree
    filters: tuple[FilterPlan, ...]  # of the first query
    alike: bool  # all queries show and filter the same as the first query


@dataclass(frozen=True)
class Description:
    """All plans of a network."""

    queries: int  # registered queries
    alphas: int  # α tests and inline tables
    memories: int  # inputs of joins
    joins: int  # joins
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
        len(network.nodes),
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

    def section(self, place: int, end: End) -> Section:
        members = end.shape.members
        query: algebra.Query = self.queries[members[0].listener.number].parsed
        tree = reached(self.plan, end)
        return Section(
            queries=tuple(self._title(member) for member in members[:MOST_LISTED]),
            count=len(members),
            form=f"{query.form} DISTINCT" if query.distinct else query.form,
            shows=tuple(f"?{name}" for name in members[0].listener.projection),
            on=str(query.on or ""),
            streams=self._streams(members),
            window=_span([member.listener.width for member in members]),
            open=self._open(end),
            patterns=self._patterns(tree, members[0], place),
            joins=self._tree(tree, place),
            filters=tuple(self._filters(end)),
            alike=len({self._asks(member) for member in members}) == 1,
        )

    def _title(self, member: Member) -> str:
        name: str = self.queries[member.listener.number].name
        alternatives = len(member.listener.branches)
        return name if alternatives == 1 else f"{name} (alternative {member.branch + 1} of {alternatives})"

    def _asks(self, member: Member) -> tuple[object, ...]:
        """Return the columns and filters of a member, with its variables named by their numbers."""
        query: algebra.Query = self.queries[member.listener.number].parsed
        numbers = {variable: Variable(f"c{number}") for variable, number in member.numbers.items()}
        steps = tuple((type(step), rename(step.expression, numbers)) for step in member.steps.steps)
        shown = tuple(numbers.get(Variable(name)) for name in member.listener.projection)
        compared = tuple(numbers.get(Variable(name)) for name in member.listener.compared)
        bound = query.on and (query.on.within, query.on.most)
        return query.form, query.distinct, bound, shown, compared, steps

    def _streams(self, members: tuple[Member, ...]) -> tuple[StreamPlan, ...]:
        widths: dict[bytes, set[int]] = {}
        for member in members:
            for iri, width in _widths(self.queries[member.listener.number].parsed, member):
                widths.setdefault(iri, set()).add(width)
        return tuple(StreamPlan(self.prefixes.short(iri), _span(sorted(found))) for iri, found in widths.items())

    def _open(self, end: End) -> tuple[OpenConstant, ...]:
        found = []
        for place in range(len(end.parameters)):
            terms = [member.constants[place] for member in end.shape.members]
            shown = tuple(self.prefixes.short(term) for term in terms[:MOST_LISTED])
            found.append(OpenConstant(f"${place + 1}", len(set(terms)), shown))
        return tuple(found)

    def _others(self, number: int, place: int) -> tuple[tuple[str, ...], int]:
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
        shared_with, shared = self._others(leaf.number, place)
        return PatternPlan(
            self.lowered.alphas[leaf.number],
            " ".join(parts),
            written.line if written else None,
            self.epsilon.forms(test.atom, parts, self.prefixes),
            self.epsilon.count(test.atom),
            self.epsilon.facts(test.atom),
            shared_with,
            shared,
        )

    def _tree(self, tree: Reached, place: int, slot: int | None = None) -> StepPlan:
        above = tree.above.filters if tree.above else ()
        filters = tuple(self._slot_filter(each.expression, tree.names) for each in above)
        static = slot is not None and holds_static(self.compiled.runtime.arena, slot)
        match tree.producer:
            case AlphaTest():
                kind, label = "pattern", " ".join(pattern_parts(tree.producer, tree.names, self.prefixes))
            case Table():
                kind, label = "table", self._table(tree.producer, tree.names)
            case Join():
                return self._join(tree, place, (slot, static, filters))
        return StepPlan(kind, self.lowered.alphas[tree.number], label, slot, static, filters)

    def _join(self, tree: Reached, place: int, here: tuple[int | None, bool, tuple[str, ...]]) -> StepPlan:
        record = self.lowered.nodes[tree.number]
        node = self.lowered.network.nodes[record]
        key = tuple(tree.names.get(column, "_") for column in range(node.keys))
        kind = "product" if not key else "star" if len(tree.inputs) > 2 else "join"
        inputs = tuple(self._tree(each, place, slot) for each, slot in zip(tree.inputs, node.slots, strict=True))
        relations = tuple(
            f"input {left + 1} {NAMES[code]} input {right + 1}" for left, code, right in named(node.relations)
        )
        window = spell_window(node.window)
        return StepPlan(kind, record, "", *here, key, window, relations, inputs, *self._others(tree.number, place))

    def _table(self, table: Table, names: Mapping[int, str]) -> str:
        columns = " ".join(names.get(column, "_") for column in range(table.columns))
        return f"VALUES ({columns}), {len(table.rows):,} {'row' if len(table.rows) == 1 else 'rows'}"

    def _slot_filter(self, expression: Expression, names: Mapping[int, str]) -> str:
        own = {Variable(f"c{column}"): Variable(name.removeprefix("?")) for column, name in names.items()}
        return self.prefixes.short(to_sparql(rename(expression, own)))

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
