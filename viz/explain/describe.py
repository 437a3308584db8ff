"""Describe the plans of a network: one section a shape, in the words of its first query.

Data's way: network that runs -> **description** (`description.py`) -> text, JSON.
"""

from __future__ import annotations

from collections.abc import Iterator

from retewave.compiler import algebra
from retewave.compiler.algebra import TriplePattern
from retewave.compiler.expressions.tree import Variable, rename, to_sparql
from retewave.compiler.plan.producers import AlphaTest, End
from retewave.compiler.plan.shape import Member
from retewave.compiler.plan.walk import Reached, reached
from retewave.compiler.rewrite.normal import ExtendStep, FilterStep
from retewave.viz.explain.automaton import automaton_of
from retewave.viz.explain.compiled import Compiled
from retewave.viz.explain.deciding import decided_by
from retewave.viz.explain.description import (
    Description,
    FilterPlan,
    OpenConstant,
    PatternPlan,
    Section,
    StreamPlan,
)
from retewave.viz.explain.epsilon import Epsilon
from retewave.viz.explain.events import EventWords, title_of_event
from retewave.viz.explain.keeping import evaluated_of, kept_of
from retewave.viz.explain.names import MOST_LISTED, Prefixes, pattern_parts, spell_window
from retewave.viz.explain.rules import built_by, of_rule
from retewave.viz.explain.sharing import Sharing
from retewave.viz.explain.steps import StepTree
from retewave.viz.explain.timing import reported, told

__all__ = ["describe", "prefixes_of"]


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
        self.sharing = Sharing(compiled)
        self.events = EventWords(self.queries)

    def section(self, place: int, end: End) -> Section:
        members = end.shape.members
        query: algebra.Query = self.queries[members[0].listener.number].parsed
        tree, leaves = reached(self.plan, end), self.queries[members[0].listener.number].leaves
        plan = self.queries[members[0].listener.number].plan
        tells = plan is None or plan.found[members[0].branch].kind == "told"
        section = Section(
            queries=tuple(self._title(member) for member in members[:MOST_LISTED]),
            count=len(members),
            answers="detects" if query.view is None else f"view, as it has {query.view.reason}",
            told=told(tree, self.lowered.fed) if query.view is None else reported(query.view),
            kept="" if leaves is None else kept_of(leaves, members[0].branch),
            evaluated="" if leaves is None or query.view is None else evaluated_of(leaves, query),
            form="" if not tells else f"{query.form} DISTINCT" if query.distinct else query.form,
            shows=tuple(f"?{name}" for name in members[0].listener.projection if tells),
            on=str(query.on or ""),
            builds=of_rule(self.lowered, end, members[0], query, self.sharing.readers, self.prefixes),
            policy=_policy(query.policy),
            uses_up=query.policy.consumes,
            streams=self._streams(members),
            window=_span([member.listener.width for member in members]),
            open=self._open(end),
            patterns=self._patterns(tree, members[0], place),
            joins=StepTree(self.compiled, self.sharing, self.prefixes, place, query.where).tree(tree, end.read),
            filters=tuple(self._filters(end)),
            alike=len({self._asks(member) for member in members}) == 1,
            automaton=automaton_of(query) if members[0].branch == 0 else None,
        )
        return section if plan is None else self.events.all_of(section)

    def _title(self, member: Member) -> str:
        name: str = self.queries[member.listener.number].name
        plan = self.queries[member.listener.number].plan
        if plan is not None:
            return f"{name} ({title_of_event(plan, member.branch)})"
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

    def _patterns(self, tree: Reached, member: Member, place: int) -> tuple[PatternPlan, ...]:
        """Return the patterns as they are written, each once: FIRST and LAST compare them with copies of them."""
        found: dict[object, PatternPlan] = {}
        for leaf in sorted(tree.leaves(), key=lambda each: each.leaf):
            if isinstance(leaf.producer, AlphaTest):
                key = _written(leaf, leaf.producer, member)
                if key not in found:
                    found[key] = self._pattern(leaf, leaf.producer, member, place)
        return tuple(sorted(found.values(), key=lambda each: (each.alpha, each.pattern)))

    def _pattern(self, leaf: Reached, test: AlphaTest, member: Member, place: int) -> PatternPlan:
        parts = pattern_parts(test, leaf.names, self.prefixes)
        pattern = member.steps.leaves[leaf.leaf]
        written = pattern.place if isinstance(pattern, TriplePattern) else None
        shared_with, shared = self.sharing.others(leaf.number, place)
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


def _written(leaf: Reached, test: AlphaTest, member: Member) -> object:
    """Return what tells a pattern from the others of its query: where it is written, if that is known."""
    pattern = member.steps.leaves[leaf.leaf]
    names = frozenset(leaf.names.items())
    if isinstance(pattern, TriplePattern) and pattern.place is not None:
        return pattern.place, test.atom, frozenset((column, name.split(".")[0]) for column, name in names)
    return leaf.number, names


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
