"""A query over some of the items of its case, explained: the event of each item is its place."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from cases.engine import written
from cases.temporal import Case
from hypothesis import assume
from naive.streams import Triple

import retewave as rw
from retewave.engine.registry import CartesianWarning, UnboundedWarning
from retewave.epsilon.schema import SchemaWarning
from retewave.errors import QueryError


def explained(case: Case, places: Sequence[int], schema: Sequence[Triple] = ()) -> list[rw.Match]:
    """Return what a query tells of some items of its case: the event of each is its place."""
    static = [[written(triple) for triple in sorted(case.static)]]
    engine = rw.Engine([list(schema)] if schema else (), static, seed=1, max_future=None, allow_cartesian=True)
    with warnings.catch_warnings():
        for each in (CartesianWarning, UnboundedWarning, SchemaWarning):
            warnings.simplefilter("ignore", each)
        try:
            engine.register(case.query, keep=None, explain=True)
        except QueryError:
            assume(condition=False)
        matches = engine.flush()
        for place in places:
            item = case.stream[place]
            time = (item.start / 1e6, item.end / 1e6)
            matches += engine.push([written(item.triple)], time=time, stream=item.stream, event=place)
        return [*matches, *engine.flush()]
