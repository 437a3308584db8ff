"""The rows that each triple pattern of a query can draw on: live rows of memories, static facts, inline tables.

Data's way: memories of a network that runs -> **rows by pattern** -> the search for partial matches.
Invariant: a pattern's rows have passed its α test and have come on a stream that it hears; every memory behind an equal
test serves it, whichever query it belongs to, so a row that one filter kept out another memory may still hold.
Left out: collected rows; they are gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from retewave.compiler.algebra import TriplePattern, Values, Variable
from retewave.compiler.plan.producers import AlphaTest, End, Table
from retewave.compiler.plan.shape import Member
from retewave.compiler.plan.walk import Reached, reached
from retewave.engine.compiled import CompiledNetwork, static_facts
from retewave.rete.facts import FACT_ALPHA, FACT_COLUMNS, FACT_END
from retewave.rete.terms.dictionary import Terms
from retewave.rete.words.layout import ALPHA_COLUMNS
from retewave.viz.explain.relations import named
from retewave.windows.intervals import STATIC_END, STATIC_START

__all__ = ["END", "START", "WINDOW_START", "Memories", "PatternRows", "Related"]

END, WINDOW_START, START = 0, 1, 2  # columns of `PatternRows.times`
_TIMES = 3
_STATIC = (STATIC_END, STATIC_START, STATIC_START)


@dataclass(frozen=True)
class PatternRows:
    """What one triple pattern or inline table of a query can draw on."""

    pattern: TriplePattern | Values  # as the query has it
    test: AlphaTest | None  # the test that its triples have passed; None for an inline table
    names: tuple[str, ...]  # its variables
    ids: np.ndarray  # int64[n, variables], oldest first
    times: np.ndarray  # int64[n, 3]: END, WINDOW_START, START
    slots: tuple[int, ...]  # the memories that hold its triples
    own_slots: tuple[int, ...]  # the slots that this query reads


@dataclass(frozen=True)
class Related:
    """The interval of some patterns' triples stands in a temporal relation to that of some others."""

    left: frozenset[int]  # places of patterns
    code: int  # of retewave.windows.relations
    right: frozenset[int]  # places of patterns


class Memories:
    """The memories of a network, read by pattern."""

    def __init__(self, compiled: CompiledNetwork, terms: Terms, static: np.ndarray) -> None:
        self.compiled, self.terms = compiled, terms
        self.lowered, self.plan = compiled.lowered, compiled.plan
        self._static = static  # static triples, as input rows

    def parts(self, end: End, member: Member) -> tuple[tuple[PatternRows, ...], tuple[Related, ...]]:
        """Return the rows of every pattern and inline table of one branch of a query, in the order written.

        And the temporal relations between them.
        """
        tree = reached(self.plan, end, member)
        written = member.steps.leaves
        open_ = {f"${place}": self.terms.find(text) or -1 for place, text in enumerate(member.constants, 1)}
        found: dict[int, PatternRows] = {}
        for leaf, slot in self._leaves(tree):
            if leaf.leaf < len(written):  # a query of no pattern has a leaf that stands for nothing
                found[leaf.leaf] = self._rows(leaf, written[leaf.leaf], open_, slot)
        return tuple(found[place] for place in sorted(found)), tuple(self._related(tree))

    def _leaves(self, tree: Reached, slot: int | None = None) -> Iterator[tuple[Reached, int | None]]:
        """Yield the leaves, and the memory of the join above that each fills."""
        if not tree.inputs:
            yield tree, slot
            return
        slots = self.lowered.network.nodes[self.lowered.nodes[tree.number]].slots
        for each, fed in zip(tree.inputs, slots, strict=True):
            yield from self._leaves(each, fed)

    def _related(self, tree: Reached) -> Iterator[Related]:
        """Yield the relations between inputs of joins, as relations between the patterns that were written."""
        for join in tree.walk():
            if join.inputs:
                places = [frozenset(leaf.leaf for leaf in each.leaves()) for each in join.inputs]
                relations = self.lowered.network.nodes[self.lowered.nodes[join.number]].relations
                for left, code, right in named(relations):
                    yield Related(places[left], code, places[right])

    def elsewhere(self, rows: PatternRows) -> np.ndarray:
        """Return the ids of such triples that came on streams this pattern does not hear, and other queries hold."""
        test = rows.test
        assert test is not None and isinstance(rows.pattern, TriplePattern)
        places = [rows.pattern.terms.index(Variable(name)) for name in rows.names]
        found = [np.empty((0, len(places)), dtype=np.int64)]
        for slot, plan in enumerate(self.lowered.slots):
            other = self.plan.producers[plan.producer]
            if isinstance(other, AlphaTest) and (other.atom, other.equal) == (test.atom, test.equal) and other != test:
                found.append(self._streamed(slot)[:, [_TIMES + place for place in places]])
        return np.concatenate(found)

    def _rows(
        self, leaf: Reached, pattern: TriplePattern | Values, open_: Mapping[str, int], slot: int | None
    ) -> PatternRows:
        if not isinstance(leaf.producer, AlphaTest):
            return self._table(leaf, pattern)
        tuples = self._tuples(leaf.number)
        for place, name in leaf.names.items():
            if name in open_:
                tuples = tuples[tuples[:, _TIMES + place] == open_[name]]
        bound = {place: name.removeprefix("?") for place, name in sorted(leaf.names.items()) if name not in open_}
        slots = tuple(place for place, each in enumerate(self.lowered.slots) if each.producer == leaf.number)
        ids = tuples[:, [_TIMES + place for place in bound]]
        own = () if slot is None else (slot,)
        return PatternRows(pattern, leaf.producer, tuple(bound.values()), ids, tuples[:, :_TIMES], slots, own)

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
        found = [facts[:, FACT_END : FACT_COLUMNS + ALPHA_COLUMNS]]
        found += [self._streamed(slot) for slot, each in enumerate(self.lowered.slots) if each.producer == number]
        kept = [_TIMES + column for column in self.plan.producers[number].columns]  # type: ignore[union-attr]
        tuples = np.concatenate(found)
        tuples[:, [c for c in range(_TIMES, tuples.shape[1]) if c not in kept]] = 0
        return np.unique(tuples, axis=0)

    def _streamed(self, slot: int) -> np.ndarray:
        plan, rows = self.lowered.slots[slot], self.compiled.runtime.rows_of(slot)
        tuples = np.zeros((len(rows), _TIMES + ALPHA_COLUMNS), dtype=np.int64)
        tuples[:, :_TIMES] = rows[:, :_TIMES]
        for place, column in enumerate((*plan.keys, *plan.payload)):
            tuples[:, _TIMES + column] = rows[:, _TIMES + place]
        return tuples

    @cached_property
    def _facts(self) -> np.ndarray:
        return static_facts(self.compiled, self.terms, self._static)
