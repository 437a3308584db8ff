"""What a network has before the stream: inline tables, static data, the schema's facts, rows of former networks.

Data's way: plan -> compiled network, empty -> **loaded** -> the stream.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np

from retewave.compiler.plan.producers import AlphaTest, Table
from retewave.compiler.rewrite.leaves import STREAMED
from retewave.engine.compiled import CompiledNetwork
from retewave.engine.datasets import NAMED_GRAPH
from retewave.engine.replay import facts_for
from retewave.epsilon.atoms import Atom
from retewave.rete.counters import put_known_since, totals
from retewave.rete.facts import FACT_ALPHA, FACT_COLUMNS, FACT_WIDTH, distinct_facts
from retewave.rete.terms.dictionary import Terms
from retewave.rete.words.rows import STREAM
from retewave.windows.intervals import BEFORE_ALL, STATIC_END, STATIC_START

__all__ = ["keep_constants", "load", "static_facts"]


def load(
    compiled: CompiledNetwork, terms: Terms, static: np.ndarray, former: Sequence[CompiledNetwork] = ()
) -> Iterator[np.ndarray]:
    """Pour the data that is there before the stream: inline tables, static data, rows of former networks."""
    runtime = compiled.runtime
    for alpha, ids in _inline(compiled):
        yield from runtime.pour_static_tuple(alpha, ids, terms.values)
    yield from runtime.pour_facts(static_facts(compiled, terms, static), terms.values)
    sources = [(each.lowered, each.runtime) for each in former]
    yield from runtime.pour_facts(facts_for(compiled.lowered, sources, terms), terms.values)
    now = max((totals(each.runtime.arena).now for each in former), default=BEFORE_ALL)
    yield from runtime.catch_up(now, terms.values)
    for slot in compiled.lowered.instants.values():
        put_known_since(runtime.arena, slot, now)


def keep_constants(compiled: CompiledNetwork) -> None:
    """Keep the terms of rows that do not come from a stream, where an image has the rows: no sweep looks at these."""
    deque(_inline(compiled), maxlen=0)
    _stated(compiled)


def _inline(compiled: CompiledNetwork) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield (α, terms) of each row of inline data."""
    for number, producer in enumerate(compiled.plan.producers):
        if isinstance(producer, Table):
            for row in producer.rows:
                yield compiled.lowered.alphas[number], tuple(compiled.programs.id(text) for text in row)


_UNKNOWN = [0] * (FACT_WIDTH - FACT_COLUMNS - 3)  # a schema fact has no event and no given triple


def static_facts(compiled: CompiledNetwork, terms: Terms, static: np.ndarray) -> np.ndarray:
    """Return the facts of static data and of the schema, each once; a justification may ask for each given triple."""
    given = np.concatenate([*_given_facts(compiled, terms, static), np.empty((0, FACT_WIDTH), dtype=np.int64)])
    given = given[~np.isin(given[:, 0], _streamed_alphas(compiled))]
    facts = np.concatenate([given, _stated(compiled)])
    plan = compiled.plan.producers
    background = [
        alpha
        for number, alpha in compiled.lowered.alphas.items()
        if isinstance(test := plan[number], AlphaTest) and test.background
    ]
    justifying = np.isin(facts[:, FACT_ALPHA], background)
    others = facts[~justifying]
    return np.concatenate([others[: distinct_facts(others)], np.unique(facts[justifying], axis=0)])


def _stated(compiled: CompiledNetwork) -> np.ndarray:
    """Return the facts of the schema, whose terms are kept."""
    atoms = compiled.dispatch.reduction.atoms
    tests: dict[Atom, list[tuple[int, AlphaTest]]] = {}
    for number, producer in enumerate(compiled.plan.producers):
        if isinstance(producer, AlphaTest):
            tests.setdefault(producer.atom, []).append((compiled.lowered.alphas[number], producer))
    streamed = frozenset(_streamed_alphas(compiled))
    stated = [
        [alpha, STATIC_END, STATIC_START, STATIC_START, *(compiled.programs.id(text) for text in fact[1:]), *_UNKNOWN]
        for fact in compiled.dispatch.facts
        for alpha, test in tests.get(atoms[fact.atom], ())
        if alpha not in streamed
        and test.graph is None
        and all(fact[1 + one] == fact[1 + other] for one, other in test.equal)
    ]
    return np.array(stated, dtype=np.int64).reshape(-1, FACT_WIDTH)


def _given_facts(compiled: CompiledNetwork, terms: Terms, static: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the facts that static data gives, graph by graph: a pattern looks at one named graph, or at none."""
    tests = [each for each in compiled.lowered.alphas if isinstance(compiled.plan.producers[each], AlphaTest)]
    graphs = {each: compiled.plan.producers[each].graph for each in tests}  # type: ignore[union-attr]
    marks = {each: 0 if of is None else NAMED_GRAPH + terms.find(of) for each, of in graphs.items()}
    for mark in np.unique(static[:, STREAM]).tolist():
        rows = static[static[:, STREAM] == mark]
        rows[:, STREAM] = 0
        found = compiled.runtime.static_facts(rows, terms.values)
        looking = [compiled.lowered.alphas[each] for each, of in marks.items() if of == mark]
        yield found[np.isin(found[:, FACT_ALPHA], looking)]


def _streamed_alphas(compiled: CompiledNetwork) -> list[int]:
    """Return the α tests that static data do not pass."""
    mark = compiled.streams.get(STREAMED)
    return [
        compiled.lowered.alphas[number]
        for number, each in enumerate(compiled.plan.producers)
        if isinstance(each, AlphaTest) and each.streams and any(stream == mark for stream, _ in each.streams)
    ]
