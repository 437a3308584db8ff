"""How an engine's queries would be spread over shards: the planner, told what the engine knows of the stream.

Data's way: engine (plan, static data, perhaps a sample of the stream) -> loads of the patterns -> **schemes**.
Patterns that static data feeds are taken to be fed by it only, unless a sample says otherwise.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from retewave.compiler.plan.plan import tested
from retewave.compiler.plan.producers import AlphaTest
from retewave.compiler.plan.shape import Listener, Member, Shape, shapes_of
from retewave.compiler.shares import NO_MATCHES, Load, Scheme, schemes
from retewave.compiler.view_parts import ViewPart
from retewave.engine.compiled import CompiledNetwork, build
from retewave.engine.engine import Engine
from retewave.engine.loading import load
from retewave.errors import QueryError, UsageError
from retewave.io.reading.reader import read_static
from retewave.query import Query
from retewave.rete.facts import FACT_ALPHA, FACT_COLUMNS
from retewave.rete.words.rows import END, START
from retewave.spark.driver.query_keys import keys_of_queries, static_atoms
from retewave.viz.explain.shards import ShardPlan, describe_shares
from retewave.windows.intervals import UNBOUNDED
from retewave.windows.times import Clock

__all__ = ["check_on_shards", "follows", "queries_of", "spread"]

_TRIPLES_A_MATCH = 4.0  # what a match costs a shard and behind it, in triples that a shard joins (bench spark-scaling)
_ENOUGH_MATCHES = 1 << 20
_PIECE = 1 << 12  # rows of a sample poured between two looks at how much they have found


def spread(
    engine: Engine,
    shards: int,
    sample: Any = None,
    rate: float | None = None,
    parts: Mapping[str, ViewPart] = MappingProxyType({}),
) -> tuple[tuple[Scheme, ...], ShardPlan]:
    """Choose how each shape of an engine's queries is spread; return that, and as it is told to people.

    `sample` is some of the stream, in any form that static data has: from it the planner learns how much of the stream
    each pattern takes and how uneven its terms are, and, if a rate tells its times, the same of the matches.  `parts`
    are the views of which the engine runs the shards' stage, by name.
    """
    if shards < 1:
        raise UsageError(f"there is at least 1 shard, not {shards}")
    shapes = shapes_of(engine.registry.listeners())
    keys = keys_of_queries(engine, shapes, parts)
    counted = None if sample is None else _Sample(engine, sample, rate)
    matches = {} if counted is None else {number: counted.matches(shape) for number, shape in enumerate(shapes)}
    loads = _loads(engine, shapes, counted)
    chosen = schemes(shapes, shards, loads, matches, keys.compared, keys.alone, keys.anywhere, keys.feeding)
    queries = {query.number: (query.name, query.parsed) for query in engine.queries}
    return chosen, describe_shares(shapes, chosen, queries, shards, parts)


def check_on_shards(query: Query) -> None:
    """Refuse feeding views and named graphs, which shards do not have."""
    if query.is_view and query.parsed.is_rule:
        raise QueryError(f"{query.name}: a view that feeds a stream is not supported on Spark yet")
    if query.parsed.graphs:
        raise QueryError(f"{query.name}: GRAPH is not supported on Spark yet", hint="give the data as static data")


def queries_of(engine: Engine) -> Iterator[tuple[Listener, Query]]:
    """Yield each query, as the planner needs it, and as the engine knows it."""
    for listener in engine.registry.listeners():
        yield listener, engine.registry.queries[listener.number]


def follows(listener: Listener, query: Query) -> bool:
    """Tell whether all that a query's network holds follows from the rows of its windows.

    Decisions, runs, what was built, used up or reported do not.
    """
    if query.is_view or query.plan is not None or query.parsed.policy.consumes or listener.all_rules:
        return False
    if listener.width >= UNBOUNDED and not all(branch.is_plain for branch in listener.branches):
        return False  # its network forgets what its store would keep for ever
    return not any(each.has_runs or any(True for _ in each.all_probes) for each in listener.branches)


def _loads(engine: Engine, shapes: Sequence[Shape], counted: _Sample | None) -> dict[tuple[int, int], Load]:
    """Return the known loads of the patterns."""
    fed = static_atoms(engine)
    found: dict[tuple[int, int], Load] = {}
    for number, shape in enumerate(shapes):
        for place, pattern in enumerate(shape.patterns):
            of = tested(pattern)
            if counted is not None:
                found[number, place] = counted.load(of.test, of.columns)
            elif of.test.atom in fed:
                found[number, place] = Load(0.0)
    return found


class _Sample:
    """The loads of the whole stream, estimated by a part of it."""

    def __init__(self, engine: Engine, sample: Any, rate: float | None) -> None:
        self._engine, self._compiled = engine, engine.matcher.current()
        rows = read_static(sample, engine.terms) if isinstance(sample, str | Path | bytes) else np.asarray(sample)
        self._facts = self._compiled.runtime.static_facts(rows, engine.terms.values)
        self._rows = max(1, len(rows))
        self._found: dict[int, list[np.ndarray]] = {}  # by query: the ids of its matches
        self._poured = 0  # rows that have made these matches
        if rate is not None:
            self._match(rows, rate)

    def load(self, test: AlphaTest, columns: dict[int, int]) -> Load:
        """Return the load of a pattern."""
        number = self._compiled.plan.number(test)
        mine = self._facts[self._facts[:, FACT_ALPHA] == self._compiled.lowered.alphas[number]]
        columns_of = {variable: mine[:, FACT_COLUMNS + place] for variable, place in columns.items()}
        return Load(len(mine) / self._rows, _heaviest(columns_of))

    def matches(self, shape: Shape) -> Load:
        """Return the load of a shape's matches, in triples that cost as much."""
        counted = [self._of_member(member) for member in shape.members]
        most = max(counted, key=lambda load: load.weight)
        return replace(most, weight=sum(load.weight for load in counted))

    def _of_member(self, member: Member) -> Load:
        """Return the load of one query's matches; a UNION does not tell which of its branches has made them."""
        listener = member.listener
        found = self._found.get(listener.number)
        if not found or len(listener.branches) > 1:
            return NO_MATCHES
        ids, variables = np.concatenate(found), self._engine.registry.queries[listener.number].variables
        numbers = {variable.name: number for variable, number in member.numbers.items()}
        columns = {numbers[name]: ids[:, place] for place, name in enumerate(variables) if name in numbers}
        return Load(_TRIPLES_A_MATCH * len(ids) / self._poured, _heaviest(columns))

    def _match(self, rows: np.ndarray, rate: float) -> None:
        """Let the sample go through a network of its own, as long as that finds no more than enough."""
        engine, rows = self._engine, rows.copy()
        rows[:, START] = rows[:, END] = (np.arange(len(rows)) * (1e6 / rate)).astype(np.int64)
        datasets, registry = engine.datasets, engine.registry
        compiled = build(
            registry.listeners(), registry.queries, datasets.schema.network, engine.terms, datasets.static,
            engine.matcher.options, False, registry.streams,
        )  # fmt: skip
        try:
            deque(load(compiled, engine.terms, datasets.static), maxlen=0)
            self._pour(compiled, rows)
        finally:
            compiled.leave()

    def _pour(self, compiled: CompiledNetwork, rows: np.ndarray) -> None:
        engine, found = self._engine, 0
        for begin in range(0, len(rows), _PIECE):
            self._poured = min(begin + _PIECE, len(rows))
            for out in compiled.runtime.pour(rows[begin : self._poured], engine.terms.values):
                for batch in compiled.outcome.matches(out, Clock("float")):
                    self._found.setdefault(batch.query.number, []).append(batch.ids)
                    found += len(batch)
                if found >= _ENOUGH_MATCHES:
                    return


def _heaviest(columns: Mapping[int, np.ndarray]) -> tuple[tuple[int, float], ...]:
    """Return for each variable how much of its column is the most frequent term."""
    return tuple(
        (variable, float(np.unique(column, return_counts=True)[1].max() / len(column)))
        for variable, column in sorted(columns.items())
        if len(column)
    )
