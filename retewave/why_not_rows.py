"""The rows that each triple pattern of a query can draw on: live rows of memories, static facts, inline tables.

Data's way: memories of a network that runs -> **rows by pattern** -> the search for partial matches.
Invariant: a pattern's rows have passed its α test and have come on a stream that it hears; every memory behind an equal
test serves it, whichever query it belongs to, so what one filter kept out another memory may still hold.
Left out: what has been collected; it is gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from retewave.compiler.algebra import TriplePattern, Values, Variable
from retewave.compiler.explain_names import input_names
from retewave.compiler.plan import AlphaTest, End, Join, Table
from retewave.compiler.shape import Member
from retewave.rete.facts import FACT_ALPHA, FACT_COLUMNS, FACT_END
from retewave.rete.layout import ALPHA_COLUMNS
from retewave.rete.terms import Terms
from retewave.running import Running, static_facts
from retewave.windows.intervals import STATIC_END, STATIC_START

__all__ = ["END", "START", "WINDOW_START", "Memories", "Related", "Rows"]

END, WINDOW_START, START = 0, 1, 2  # columns of `Rows.times`
_TIMES = 3
_STATIC = (STATIC_END, STATIC_START, STATIC_START)


@dataclass(frozen=True)
class Rows:
    """What one triple pattern or inline table of a query can draw on."""

    pattern: TriplePattern | Values  # as the query has it
    test: AlphaTest | None  # what its triples have passed; None for an inline table
    names: tuple[str, ...]  # its variables
    ids: np.ndarray  # int64[n, variables], oldest first
    times: np.ndarray  # int64[n, 3]: END, WINDOW_START, START
    slots: tuple[int, ...]  # the memories that hold its triples
    own_slots: tuple[int, ...]  # those of them that this query reads


@dataclass(frozen=True)
class Related:
    """The interval of some patterns' triples stands in a temporal relation to that of some others."""

    left: frozenset[int]  # places of patterns
    code: int  # of retewave.windows.relations
    right: frozenset[int]  # places of patterns


class Memories:
    """The memories of a network, read by pattern."""

    def __init__(self, running: Running, terms: Terms, static: np.ndarray) -> None:
        self.running, self.terms = running, terms
        self.lowered, self.plan = running.lowered, running.plan
        self._static = static  # static triples, as input rows

    def parts(self, end: End, member: Member) -> tuple[tuple[Rows, ...], tuple[Related, ...]]:
        """Return the rows of every pattern and inline table of one branch of a query, in the order written.

        And the temporal relations between them.
        """
        names = {end.columns[number]: variable.name for variable, number in member.numbers.items()}
        names |= {column: f"${place}" for place, column in enumerate(end.parameters)}
        open_ = {f"${place}": self.terms.find(text) or -1 for place, text in enumerate(member.constants)}
        found = {
            leaf: self._table(producer, own, member) if isinstance(producer, Table)
            else self._rows(number, producer, own, member, open_, slot)
            for leaf, (number, producer, own, slot) in enumerate(self._leaves(end.producer, names))
            if own or isinstance(producer, AlphaTest)
        }  # fmt: skip
        written = [*member.steps.patterns, *member.steps.values]
        order = sorted(found, key=lambda leaf: written.index(found[leaf].pattern))
        places = {leaf: place for place, leaf in enumerate(order)}
        _, related = self._related(end.producer, 0)
        return tuple(found[leaf] for leaf in order), tuple(
            Related(_placed(left, places), code, _placed(right, places)) for left, code, right in related
        )

    def _related(self, number: int, first: int) -> tuple[int, list[tuple[range, int, range]]]:
        """Return the number behind a producer's leaves, counted from the first, and the relations between them."""
        producer = self.plan.producers[number]
        if not isinstance(producer, Join):
            return first + 1, []
        bounds, found = [first], []
        for each in producer.inputs:
            behind, inner = self._related(each.producer, bounds[-1])
            bounds.append(behind)
            found += inner
        inputs = [range(begin, behind) for begin, behind in pairwise(bounds)]
        node = self.lowered.network.nodes[self.lowered.nodes[number]]
        return bounds[-1], found + [(inputs[each.left], each.code, inputs[each.right]) for each in node.relations]

    def elsewhere(self, rows: Rows) -> np.ndarray:
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

    def _leaves(
        self, number: int, names: Mapping[int, str], slot: int | None = None
    ) -> Iterator[tuple[int, AlphaTest | Table, Mapping[int, str], int | None]]:
        producer = self.plan.producers[number]
        if isinstance(producer, Join):
            slots = self.lowered.network.nodes[self.lowered.nodes[number]].slots
            for place, each in enumerate(producer.inputs):
                yield from self._leaves(each.producer, input_names(producer, place, names), slots[place])
        else:
            yield number, producer, names, slot

    def _rows(
        self, number: int, test: AlphaTest, names: Mapping[int, str], member: Member, open_: Mapping[str, int],
        slot: int | None,
    ) -> Rows:  # fmt: skip
        tuples = self._tuples(number)
        for place, name in names.items():
            if name in open_:
                tuples = tuples[tuples[:, _TIMES + place] == open_[name]]
        bound = {place: name for place, name in sorted(names.items()) if name not in open_}
        slots = tuple(place for place, each in enumerate(self.lowered.slots) if each.producer == number)
        ids = tuples[:, [_TIMES + place for place in bound]]
        own = () if slot is None else (slot,)
        pattern = _pattern_of(test, names, member)
        return Rows(pattern, test, tuple(bound.values()), ids, tuples[:, :_TIMES], slots, own)

    def _table(self, table: Table, names: Mapping[int, str], member: Member) -> Rows:
        ordered = tuple(names[column] for column in range(table.columns))
        ids = [[self.terms.find(text) for text in row] for row in table.rows]
        times = np.tile(np.array(_STATIC, dtype=np.int64), (len(ids), 1))
        written = [each for each in member.steps.values if tuple(v.name for v in each.variables) == ordered]
        pattern = next(each for each in written if each.rows == table.rows)
        return Rows(
            pattern, None, ordered, np.array(ids, dtype=np.int64).reshape(len(ids), len(ordered)), times, (), ()
        )

    def _tuples(self, number: int) -> np.ndarray:
        """Return the different triples that an α test has let through, static ones first: times, then the columns."""
        facts = self._facts[self._facts[:, FACT_ALPHA] == self.lowered.alphas[number]]
        found = [facts[:, FACT_END : FACT_COLUMNS + ALPHA_COLUMNS]]
        found += [self._streamed(slot) for slot, each in enumerate(self.lowered.slots) if each.producer == number]
        kept = [_TIMES + column for column in self.plan.producers[number].columns]  # type: ignore[union-attr]
        tuples = np.concatenate(found)
        tuples[:, [c for c in range(_TIMES, tuples.shape[1]) if c not in kept]] = 0
        return np.unique(tuples, axis=0)

    def _streamed(self, slot: int) -> np.ndarray:
        plan, rows = self.lowered.slots[slot], self.running.runtime.rows_of(slot)
        tuples = np.zeros((len(rows), _TIMES + ALPHA_COLUMNS), dtype=np.int64)
        tuples[:, :_TIMES] = rows[:, :_TIMES]
        for place, column in enumerate((*plan.keys, *plan.payload)):
            tuples[:, _TIMES + column] = rows[:, _TIMES + place]
        return tuples

    @cached_property
    def _facts(self) -> np.ndarray:
        return static_facts(self.running, self.terms, self._static)


def _placed(leaves: range, places: Mapping[int, int]) -> frozenset[int]:
    return frozenset(places[leaf] for leaf in leaves if leaf in places)


def _pattern_of(test: AlphaTest, names: Mapping[int, str], member: Member) -> TriplePattern:
    """Return the query's own triple pattern that a leaf of the plan stands for."""
    same = {later: earlier for earlier, later in test.equal}
    sets = (test.atom.subject, test.atom.predicate, test.atom.object)
    terms: list[bytes | Variable] = []
    for place, given in enumerate(sets):
        name = names.get(same.get(place, place))
        if name is None:
            terms.append(given if isinstance(given, bytes) else next(iter(given or ())))
        elif name.startswith("$"):
            terms.append(member.constants[int(name[1:])])
        else:
            terms.append(Variable(name))
    return next(each for each in member.steps.patterns if each.terms == tuple(terms))
