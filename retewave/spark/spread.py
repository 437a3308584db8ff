"""How an engine's queries would be spread over shards: the planner, told what the engine knows of the stream.

Data's way: engine (plan, static data, perhaps a sample of the stream) -> loads of the patterns -> **schemes**.
What static data feeds is taken to come from there only, unless a sample says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from retewave.compiler.explain_shares import ShardPlan, describe_shares
from retewave.compiler.plan import AlphaTest, tested
from retewave.compiler.shape import Shape, shapes_of
from retewave.compiler.shares import Load, Scheme, schemes
from retewave.engine import Engine
from retewave.errors import UsageError
from retewave.io.reader import read_static
from retewave.rete.facts import FACT_ALPHA, FACT_COLUMNS
from retewave.running import Running, fed_atoms

__all__ = ["spread"]


def spread(engine: Engine, shards: int, sample: Any = None) -> tuple[tuple[Scheme, ...], ShardPlan]:
    """Choose how each shape of an engine's queries is spread; return that, and as it is told to people.

    `sample` is some of the stream, in any form that static data has: from it the planner learns how much of the stream
    each pattern takes and how uneven its terms are.
    """
    if shards < 1:
        raise UsageError(f"there is at least 1 shard, not {shards}")
    shapes = shapes_of(engine.registry.listeners())
    distinct = frozenset(query.number for query in engine.queries if query.parsed.distinct)
    chosen = schemes(shapes, shards, _loads(engine, shapes, sample), distinct)
    queries = {query.number: (query.name, query.parsed) for query in engine.queries}
    return chosen, describe_shares(shapes, chosen, queries, shards)


def _loads(engine: Engine, shapes: Sequence[Shape], sample: Any) -> dict[tuple[int, int], Load]:
    """Return what is known of the patterns' loads."""
    running = engine.live.current()
    counted = None if sample is None else _Sample(engine, running, sample)
    fed = fed_atoms(engine.datasets.static, running.dispatch, engine.terms)
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
    """What a part of the stream says of the whole."""

    def __init__(self, engine: Engine, running: Running, sample: Any) -> None:
        rows = read_static(sample, engine.terms) if isinstance(sample, str | Path | bytes) else np.asarray(sample)
        self._facts = running.runtime.static_facts(rows, engine.terms.values)
        self._rows, self._running = max(1, len(rows)), running

    def load(self, test: AlphaTest, columns: dict[int, int]) -> Load:
        """Return the load of a pattern."""
        number = self._running.plan.number(test)
        mine = self._facts[self._facts[:, FACT_ALPHA] == self._running.lowered.alphas[number]]
        heaviest = tuple(
            (variable, float(np.unique(mine[:, FACT_COLUMNS + place], return_counts=True)[1].max() / len(mine)))
            for variable, place in sorted(columns.items())
            if len(mine)
        )
        return Load(len(mine) / self._rows, heaviest)
