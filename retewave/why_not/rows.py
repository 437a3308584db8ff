"""The rows that each triple pattern of a query can draw on: live rows of memories, static facts, inline tables.

Data's way: memories of a network that runs -> **rows by pattern** -> the search for partial matches.
Invariant: a pattern's rows have passed its α test and have come on a stream that it hears; every memory behind an equal
test serves it, whichever query it belongs to, so a row that one filter kept out another memory may still hold.
Left out: collected rows; they are gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from retewave.compiler.algebra import TriplePattern, Values, Variable
from retewave.compiler.expressions.tree import TIMES, mentions
from retewave.compiler.plan import producers
from retewave.compiler.plan.producers import AlphaTest, End, Input, Join, SlotFilter, Table
from retewave.compiler.plan.shape import Member
from retewave.compiler.plan.walk import Reached, inputs_of, looks_of, moment_of, reached
from retewave.compiler.rewrite.branch import Probe as Look
from retewave.engine.compiled import CompiledNetwork
from retewave.engine.loading import static_facts
from retewave.rete.facts import FACT_ALPHA, FACT_COLUMNS, FACT_END
from retewave.rete.terms.dictionary import Terms
from retewave.viz.explain.relations import grouped
from retewave.windows.intervals import AFTER_ALL, BEFORE_ALL, STATIC_END, STATIC_START
from retewave.windows.relations import NONE

__all__ = [
    "END",
    "START",
    "UNKNOWN",
    "WINDOW_START",
    "Gate",
    "Looked",
    "Memories",
    "Parts",
    "PatternRows",
    "Related",
    "Span",
]

END, WINDOW_START, START = 0, 1, 2  # columns of `PatternRows.times`
UNKNOWN = -1  # the id of a term that the dictionary does not have: no row holds it
_TIMES = 3
_STATIC = (STATIC_END, STATIC_START, STATIC_START)


@dataclass(frozen=True)
class PatternRows:
    """The rows that a triple pattern or inline table of a query can draw on."""

    pattern: TriplePattern | Values  # as the query has it
    test: AlphaTest | None  # the test that its triples have passed; None for an inline table
    names: tuple[str, ...]  # its variables
    ids: np.ndarray  # int64[n, variables], oldest first
    times: np.ndarray  # int64[n, 3]: END, WINDOW_START, START
    slots: tuple[int, ...]  # the memories that hold its triples
    own_slots: tuple[int, ...]  # those of them that this query reads
    kept: bool = True  # else this query keeps no row of it: it matches, or is decided, when it comes
    used_up: Mapping[int, int] = field(default_factory=dict)  # rows that the query has used up, and when


@dataclass(frozen=True)
class Span:
    """Some patterns of a query that are joined, and have an interval together."""

    tree: Reached  # how they are joined
    places: frozenset[int]  # of the patterns and tables that a match has


@dataclass(frozen=True)
class Related:
    """The interval of some patterns' triples stands in a temporal relation to that of some others."""

    left: Span  # the left interval is theirs
    code: int  # of retewave.windows.relations; NONE: only the bounds say it
    right: Span  # the right one is theirs
    bounds: tuple[tuple[tuple[int, bool], int, tuple[int, bool]], ...]  # as retewave.windows.relations tells them

    @property
    def places(self) -> frozenset[int]:
        """Return the places of all patterns that it relates."""
        return self.left.places | self.right.places


@dataclass(frozen=True)
class Gate:
    """A gate that intervals must pass on their way."""

    tree: Reached  # whose
    within: int | None  # the longest that it may be, microseconds
    streamed: bool  # it is not static
    filters: tuple[SlotFilter, ...]  # that look at its times


@dataclass(frozen=True)
class Looked:
    """A look of a probe at the rows of a memory."""

    look: Look  # what it asks, in the query's words
    probe: producers.Probe  # the same in the plan's
    number: int  # of the probe
    tree: Reached  # of the probe: its inputs are what it decides on, and what it looks at
    patterns: tuple[TriplePattern, ...]  # that it looks for, as the query has them
    columns: Mapping[int, int]  # the looked-at producer's column -> that of `rows`
    rows: np.ndarray  # what it may look at: END, WINDOW_START, START, and columns

    @property
    def decides(self) -> Reached:
        """Return the tuples that it decides on."""
        return self.tree.inputs[0]


@dataclass(frozen=True)
class Parts:
    """One branch of a query, as far as rows are concerned."""

    rows: tuple[PatternRows, ...]  # of every pattern and inline table that a match has, in the order written
    places: Mapping[int, int]  # number of a leaf -> its place in `rows`
    related: tuple[Related, ...]  # the temporal relations between them
    gates: tuple[Gate, ...]  # what their intervals must pass
    looked: tuple[Looked, ...]  # the probes, each behind those that it needs
    whole: Reached  # the whole branch


class Memories:
    """The memories of a network, read by pattern."""

    def __init__(self, compiled: CompiledNetwork, terms: Terms, static: np.ndarray) -> None:
        self.compiled, self.terms = compiled, terms
        self.lowered, self.plan = compiled.lowered, compiled.plan
        self._static = static  # static triples, as input rows

    def parts(self, end: End, member: Member) -> Parts:
        """Return the rows of every pattern and inline table of a branch, with the conditions on them."""
        tree = reached(self.plan, end, member)
        written = member.steps.leaves
        open_ = {f"${place}": self.terms.find(text) or -1 for place, text in enumerate(member.constants, 1)}
        found: dict[int, PatternRows] = {}
        for leaf, slot in self._leaves(tree):
            if leaf.leaf < len(written):  # a query of no pattern has a leaf that stands for nothing
                found[leaf.leaf] = self._rows(leaf, written[leaf.leaf], open_, slot)
        places = {leaf: place for place, leaf in enumerate(sorted(found))}
        return Parts(
            tuple(found[leaf] for leaf in sorted(found)),
            places,
            tuple(self._related(tree, places)),
            tuple(self._gates(tree, end.read)),
            tuple(self._looked(tree, looks_of(member.steps))),
            tree,
        )

    def _leaves(self, tree: Reached, slot: int | None = None) -> Iterator[tuple[Reached, int | None]]:
        """Yield the leaves of which a match is made, and the memory of the join above that each fills."""
        if not tree.inputs:
            yield tree, slot
        elif isinstance(tree.producer, Join):
            slots = self.lowered.network.nodes[self.lowered.nodes[tree.number]].slots
            for each, fed in zip(tree.inputs, slots, strict=True):
                yield from self._leaves(each, fed)
        else:
            yield from self._leaves(tree.inputs[0])

    def _steps(self, tree: Reached) -> Iterator[Reached]:
        """Yield the steps of which a match is made, each behind its inputs, without steps that are only looked at."""
        for each in tree.inputs if isinstance(tree.producer, Join) else tree.inputs[:1]:
            yield from self._steps(each)
        yield tree

    def _span(self, tree: Reached, places: Mapping[int, int]) -> Span:
        leaves = (leaf.leaf for leaf, _ in self._leaves(tree))
        return Span(tree, frozenset(places[leaf] for leaf in leaves if leaf in places))

    def _related(self, tree: Reached, places: Mapping[int, int]) -> Iterator[Related]:
        """Yield the relations between inputs of joins, as relations between operands of the query's text."""
        for join in self._steps(tree):
            if not isinstance(join.producer, Join):
                continue
            spans: list[Reached] = []

            def time(which: tuple[int, int], join: Reached = join, spans: list[Reached] = spans) -> tuple[int, bool]:
                whose, at_end = moment_of(join.inputs[which[0]], which[1])
                if not any(whose is each for each in spans):
                    spans.append(whose)
                return next(place for place, each in enumerate(spans) if each is whose), at_end

            gaps = [(time(gap.earlier), gap.gap, time(gap.later)) for gap in join.producer.gaps]
            for left, code, right in grouped(gaps):
                bounds = [each for each in gaps if {each[0][0], each[2][0]} == {left, right}]
                sides = ((int(a != left), one, gap, int(b != left), other) for (a, one), gap, (b, other) in bounds)
                said = tuple(((a, one), gap, (b, other)) for a, one, gap, b, other in sides)
                yield Related(
                    self._span(spans[left], places),
                    code if isinstance(code, int) else NONE,
                    self._span(spans[right], places),
                    said,
                )

    def _gates(self, tree: Reached, read: Input) -> Iterator[Gate]:
        """Yield the gates for intervals, each behind the gates of its inputs."""
        inputs = inputs_of(tree.producer) if isinstance(tree.producer, Join) else inputs_of(tree.producer)[:1]
        for below, each in zip(tree.inputs, inputs, strict=False):
            yield from self._gates(below, each)
        timed = tuple(each for each in read.filters if mentions(each.expression, TIMES))
        if read.within is not None or read.streamed or timed:
            yield Gate(tree, read.within, read.streamed, timed)

    def _looked(self, tree: Reached, looks: Mapping[int, Look]) -> Iterator[Looked]:
        for step in self._steps(tree):
            if not isinstance(step.producer, producers.Probe):
                continue
            looked = step.inputs[1]
            number = self.lowered.probes[step.number]
            leaves = sorted(leaf.leaf for leaf in looked.leaves())
            if isinstance(looked.producer, AlphaTest):
                rows = self._tuples(looked.number)
                columns = {place: _TIMES + place for place in producers.TRIPLE}
            else:
                slot = self.lowered.network.probes[number].slot
                plan, rows = self.lowered.slots[slot], self.compiled.runtime.rows_of(slot)
                columns = {column: _TIMES + place for place, column in enumerate((*plan.keys, *plan.payload))}
            yield Looked(
                looks[leaves[0]],
                step.producer,
                number,
                step,
                (looks[leaves[0]].written or looks[leaves[0]].there).made_of,
                columns,
                rows,
            )

    def elsewhere(self, rows: PatternRows) -> np.ndarray:
        """Return the ids of such triples that came on streams this pattern does not hear, and other queries hold."""
        test = rows.test
        assert test is not None and isinstance(rows.pattern, TriplePattern)
        places = [rows.pattern.terms.index(Variable(name)) for name in rows.names]
        found = [np.empty((0, len(places)), dtype=np.int64)]
        for slot, plan in enumerate(self.lowered.slots):
            other = self.plan.producers[plan.producer]
            if isinstance(other, AlphaTest) and (other.atom, other.equal) == (test.atom, test.equal):
                if other.streams == test.streams:
                    continue
                found.append(self._streamed(slot)[:, [_TIMES + place for place in places]])
        return np.concatenate(found)

    def _rows(
        self, leaf: Reached, pattern: TriplePattern | Values, open_: Mapping[str, int], slot: int | None
    ) -> PatternRows:
        if not isinstance(leaf.producer, AlphaTest):
            return self._table(leaf, pattern)
        tuples = self._tuples(leaf.number)
        names = {place: leaf.names[place] for place in producers.TRIPLE if place in leaf.names}
        for place, name in names.items():
            if name in open_:
                tuples = tuples[tuples[:, _TIMES + place] == open_[name]]
        again = _repeated(pattern)
        free = {place: name for place, name in names.items() if name not in open_ and place not in again}
        bound = {place: name.removeprefix("?") for place, name in free.items()}
        holding = (place for place, each in enumerate(self.lowered.slots) if each.producer == leaf.number)
        slots = tuple(place for place in holding if not self.lowered.network.passes(place))
        ids = tuples[:, [_TIMES + place for place in bound]]
        own = () if slot is None or slot not in slots else (slot,)
        times = tuples[:, :_TIMES]
        spent = self._spent(own)
        used_up = (
            {row: spent[key] for row, key in enumerate(map(tuple, tuples.tolist())) if key in spent} if spent else {}
        )
        return PatternRows(pattern, leaf.producer, tuple(bound.values()), ids, times, slots, own, bool(own), used_up)

    def _spent(self, slots: Iterable[int]) -> dict[tuple[int, ...], int]:
        """Return the triples in some memories of which each arrival is used up, and when the last of them was."""
        network, rows_of = self.lowered.network, self.compiled.runtime.rows_of
        found: dict[tuple[int, ...], int] = {}
        for slot in slots:
            record = network.slots[slot]
            node = network.nodes[record.node]
            if node.spent < 0:
                continue
            spent = {int(event): int(at) for _, at, _, event in rows_of(network.nodes[node.spent].slots[0])}
            for key, row in zip(map(tuple, self._streamed(slot).tolist()), rows_of(slot), strict=True):
                ends = [spent.get(int(row[_TIMES + node.keys + column]), AFTER_ALL) for column in record.events]
                found[key] = max((*ends, found.get(key, BEFORE_ALL)))
        return {key: at for key, at in found.items() if at < AFTER_ALL}

    def _table(self, leaf: Reached, pattern: TriplePattern | Values) -> PatternRows:
        assert isinstance(leaf.producer, Table)
        names = tuple(leaf.names[column].removeprefix("?") for column in range(leaf.producer.columns))
        ids = [[self.terms.find(text) for text in row] for row in leaf.producer.rows]
        times = np.tile(np.array(_STATIC, dtype=np.int64), (len(ids), 1))
        return PatternRows(
            pattern, None, names, np.array(ids, dtype=np.int64).reshape(len(ids), len(names)), times, (), ()
        )

    def _tuples(self, number: int) -> np.ndarray:
        """Return the different triples that an α test has let through, static first: times, then the columns."""
        facts = self._facts[self._facts[:, FACT_ALPHA] == self.lowered.alphas[number]]
        found = [facts[:, FACT_END : FACT_COLUMNS + len(producers.TRIPLE)]]
        found += [self._streamed(slot) for slot, each in enumerate(self.lowered.slots) if each.producer == number]
        test = self.plan.producers[number]
        assert isinstance(test, producers.AlphaTest)
        kept = [_TIMES + column for column in test.columns]
        tuples = np.concatenate(found)
        tuples[:, [c for c in range(_TIMES, tuples.shape[1]) if c not in kept]] = 0
        return np.unique(tuples, axis=0)

    def _streamed(self, slot: int) -> np.ndarray:
        plan, rows = self.lowered.slots[slot], self.compiled.runtime.rows_of(slot)
        tuples = np.zeros((len(rows), _TIMES + len(producers.TRIPLE)), dtype=np.int64)
        tuples[:, :_TIMES] = rows[:, :_TIMES]
        for place, column in enumerate((*plan.keys, *plan.payload)):
            if column in producers.TRIPLE:
                tuples[:, _TIMES + column] = rows[:, _TIMES + place]
        return tuples

    @cached_property
    def _facts(self) -> np.ndarray:
        return static_facts(self.compiled, self.terms, self._static)


def _repeated(pattern: TriplePattern | Values) -> list[int]:
    """Return the places of a triple pattern that have a variable which it has before: its test has compared them."""
    terms = pattern.terms if isinstance(pattern, TriplePattern) else ()
    return [place for place, term in enumerate(terms) if isinstance(term, Variable) and term in terms[:place]]
