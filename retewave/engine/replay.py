"""Facts that a new network takes over from former ones: the live rows of their α-memories.

Every old memory serves a new α test if some triple may pass both tests.  Within its window, a memory holds all arrivals
of a triple or none, because its filters look at the triple only.  So the number of arrivals is that of the memory that
holds the triple most often.  A new pattern starts without triples that no memory holds.
The event of an arrival is taken over where a memory has it.  It is unknown, 0, if the triple came before a query asked
for events.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TypeAlias

import numpy as np

from retewave.compiler.lower import AlphaMemory, Lowered
from retewave.compiler.plan.producers import EVENT, AlphaTest
from retewave.rete.facts import FACT_ALPHA, FACT_COLUMNS, FACT_END, FACT_START, FACT_WIDTH, FACT_WINDOW_START
from retewave.rete.runtime import Runtime
from retewave.rete.terms.dictionary import Terms

__all__ = ["facts_for"]

_TOLD = FACT_COLUMNS + EVENT  # the words of a fact before it make it that fact; those from it on tell of its arrival


def facts_for(new: Lowered, former: Sequence[tuple[Lowered, Runtime]], terms: Terms) -> np.ndarray:
    """Return the facts that a new network's α tests take over, in the order of their ends."""
    found = [np.empty((0, FACT_WIDTH), dtype=np.int64)]
    for number, test in enumerate(new.plan.producers):
        if isinstance(test, AlphaTest):
            alpha = new.alphas[number]
            found.append(_union([_facts(alpha, test, *each, terms) for each in _serving(test, former)]))
    facts = np.concatenate(found)
    return facts[np.argsort(facts[:, FACT_END], kind="stable")]


Source: TypeAlias = tuple[Lowered, Runtime, AlphaMemory]


def _serving(test: AlphaTest, former: Sequence[tuple[Lowered, Runtime]]) -> list[Source]:
    """Return the memories that may hold triples of a test, without memories that add nothing to another."""
    fitting = [
        (lowered, runtime, memory)
        for lowered, runtime in former
        for memory in _asking(lowered, test.atom.predicate)
        if _serves(memory.test, test)
    ]
    whole = [each for each in fitting if not each[2].filters and _covers(each[2].test, test)]
    if not whole:
        return fitting
    widest = max(whole, key=lambda each: each[2].window)
    telling = _told(test)
    return [widest] + [
        each
        for each in fitting
        if each is not widest and (each[2].window > widest[2].window or telling & _told(each[2].test))
    ]


def _told(test: AlphaTest) -> set[int]:
    """Return the columns in which a memory of a test tells of arrivals, beside the triple."""
    return {column for column in test.columns if column >= EVENT}


def _asking(lowered: Lowered, predicates: frozenset[bytes] | None) -> Iterable[AlphaMemory]:
    """Return the memories that may hold triples of some predicates, or of any."""
    asked = lowered.memories.keys() if predicates is None else (*sorted(predicates), None)
    found = chain.from_iterable(lowered.memories.get(each, ()) for each in asked)
    return {each.slot: each for each in found}.values()


def _serves(one: AlphaTest, other: AlphaTest) -> bool:
    """Tell whether some triple may pass both tests."""
    if one.streams != other.streams:
        return False
    return all(a is None or b is None or bool(a & b) for a, b in zip(_sets(one), _sets(other), strict=True))


def _covers(general: AlphaTest, special: AlphaTest) -> bool:
    """Tell whether each triple that passes `special` passes `general`."""
    pairs = zip(_sets(general), _sets(special), strict=True)
    return set(general.equal) <= set(special.equal) and all(
        wide is None or (narrow is not None and narrow <= wide) for wide, narrow in pairs
    )


def _union(sources: list[np.ndarray]) -> np.ndarray:
    """Return each fact as often as the source that has it most often; of equal facts, those that tell most."""
    if not sources:
        return np.empty((0, FACT_WIDTH), dtype=np.int64)
    if len(sources) == 1:
        return sources[0]
    facts = _most(sources)
    kinds, kind = np.unique(facts[:, :_TOLD], axis=0, return_inverse=True)
    kind = kind.reshape(-1)  # NumPy 2.0 gives a column
    order = np.lexsort((-np.count_nonzero(facts[:, _TOLD:], axis=1), kind))
    first = np.concatenate([[0], np.cumsum(np.bincount(kind, minlength=len(kinds)))[:-1]])
    rank = np.arange(len(facts)) - first[kind[order]]
    _, often = np.unique(_most([each[:, :_TOLD] for each in sources]), axis=0, return_counts=True)
    kept: np.ndarray = facts[order[rank < often[kind[order]]]]
    return kept


def _most(sources: list[np.ndarray]) -> np.ndarray:
    """Return each row as often as the source that has it most often, in their order."""
    counted = [np.unique(source, axis=0, return_counts=True) for source in sources]
    rows, inverse = np.unique(np.concatenate([rows for rows, _ in counted]), axis=0, return_inverse=True)
    most = np.zeros(len(rows), dtype=np.int64)
    np.maximum.at(most, inverse.reshape(-1), np.concatenate([counts for _, counts in counted]))
    return np.repeat(rows, most, axis=0)


def _sets(test: AlphaTest) -> tuple[frozenset[bytes] | None, ...]:
    atom = test.atom
    return atom.subject, atom.predicate, atom.object


def _facts(
    alpha: int, test: AlphaTest, former: Lowered, runtime: Runtime, memory: AlphaMemory, terms: Terms
) -> np.ndarray:
    """Return a memory's rows as facts of an α of the new network, without those that its test refuses."""
    source, of, rows = memory.test, former.slots[memory.slot], runtime.rows_of(memory.slot)
    facts = np.zeros((len(rows), FACT_WIDTH), dtype=np.int64)
    facts[:, FACT_ALPHA] = alpha
    facts[:, FACT_END], facts[:, FACT_WINDOW_START], facts[:, FACT_START] = rows[:, 0], rows[:, 1], rows[:, 2]
    for place, column in enumerate((*of.keys, *of.payload)):
        if column < EVENT or column in test.columns:
            facts[:, FACT_COLUMNS + column] = rows[:, 3 + place]
    for place, texts in enumerate(_sets(source)):
        if texts is not None and len(texts) == 1:
            facts[:, FACT_COLUMNS + place] = terms.find(next(iter(texts)))
    for one, other in source.equal:
        facts[:, FACT_COLUMNS + other] = facts[:, FACT_COLUMNS + one]
    kept = np.ones(len(facts), dtype=np.bool_)
    for place, texts in enumerate(_sets(test)):
        if texts is not None:
            kept &= np.isin(facts[:, FACT_COLUMNS + place], [terms.find(text) for text in texts])
    for one, other in test.equal:
        kept &= facts[:, FACT_COLUMNS + one] == facts[:, FACT_COLUMNS + other]
    return facts[kept]
