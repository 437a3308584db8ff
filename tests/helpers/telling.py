"""What the laws of time share: engines that listen for a case's query, and what they have told by then."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from cases.engine import written
from cases.many import many
from cases.temporal import Case
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st
from naive.streams import Item, Triple
from naive.tokens import Token

import retewave as rw
from helpers.told import Told, engine_for, of_token, shown
from retewave.compiler import algebra
from retewave.engine import following, snapshot
from retewave.engine.registry import CartesianWarning, UnboundedWarning
from retewave.errors import QueryError
from retewave.rete.words.rows import END, EVENT, ROW_WIDTH, START, STREAM
from retewave.windows.times import Clock

__all__ = [
    "asked",
    "bag",
    "changes_kept",
    "law",
    "listening",
    "listening_all",
    "named",
    "of_query",
    "poured",
    "pushed",
    "registered",
    "rows_of",
    "told",
]

_GIVEN = 1 << 61  # events that a stream numbers are apart from those that the engine does


def law(cases: int) -> settings:
    """Return how often a law is tried."""
    return settings(max_examples=many(cases), deadline=None, suppress_health_check=list(HealthCheck))


def asked(case: Case) -> Case:
    """Return a case as the engine takes it now: of bags, without policies."""
    return replace(case, query=replace(case.query, solutions="bag", policy=algebra.Policy()))


def listening(case: Case, **options: object) -> tuple[rw.Engine, rw.Query]:
    """Return an engine that listens for a case's query; a query that it refuses is none."""
    try:
        return engine_for(case, **options)
    except QueryError:
        assume(condition=False)
        raise


def listening_all(queries: Sequence[algebra.Query], static: Set[Triple]) -> tuple[rw.Engine, list[rw.Query]]:
    """Return an engine that has some queries; where one is refused, there is none."""
    engine = rw.Engine(static=[[written(triple) for triple in sorted(static)]], max_future=None, allow_cartesian=True)
    return engine, [registered(engine, query) for query in queries]


def registered(engine: rw.Engine, query: algebra.Query) -> rw.Query:
    """Register a further query, with its products; a query that is refused is none."""
    with warnings.catch_warnings():
        for each in (CartesianWarning, UnboundedWarning):
            warnings.simplefilter("ignore", each)
        try:
            return engine.register(query, keep=None)
        except QueryError:
            assume(condition=False)
            raise


def bag(tokens: Iterable[Token]) -> Counter[Told]:
    """Return what tokens tell."""
    return Counter(map(of_token, tokens))


def told(matches: Iterable[rw.Match]) -> Counter[Told]:
    """Return what matches tell."""
    return Counter(map(shown, matches))


def of_query(matches: Iterable[rw.Match], query: rw.Query) -> Counter[Told]:
    """Return what the matches of one query tell."""
    return told(match for match in matches if match.query is query)


def pushed(engine: rw.Engine, item: Item) -> list[rw.Match]:
    """Push an item; return the matches."""
    time = (item.start / 1e6, item.end / 1e6)
    return engine.push([written(item.triple)], time=time, stream=item.stream, event=item.event)


def rows_of(engine: rw.Engine, stream: Sequence[Item]) -> np.ndarray:
    """Return a stream as input rows."""
    rows = np.zeros((len(stream), ROW_WIDTH), dtype=np.int64)
    for place, item in enumerate(stream):
        rows[place, :3] = engine.encode([written(item.triple)])[0]
        rows[place, START], rows[place, END] = item.start, item.end
        rows[place, STREAM] = engine.registry.stream_number(item.stream)
        rows[place, EVENT] = 0 if item.event is None else -_GIVEN - item.event
    return rows


def poured(engine: rw.Engine, stream: Sequence[Item]) -> list[rw.Match]:
    """Pour a part of a stream as one batch; return the matches."""
    batches = engine.matcher.pour(rows_of(engine, stream), engine.shown_clock)
    return [match for found in batches for batch in found for match in batch]


def told_in_cuts(case: Case, data: st.DataObject) -> Counter[Told]:
    """Pour a case's stream in any cuts, in any order within instants; return what is told."""
    stream = sorted(data.draw(st.permutations(case.stream)), key=lambda item: item.end)
    engine, _ = listening(case)
    engine.clock = Clock("float")
    found = told(engine.flush())
    cuts = sorted({0, len(stream), *data.draw(st.lists(st.integers(0, len(stream)), max_size=3))})
    for first, last in pairwise(cuts):
        found += told(poured(engine, stream[first:last]))
    found += told(engine.flush())
    return found


@contextmanager
def changes_kept(apart: bool) -> Iterator[None]:
    """Let every change of queries make a young network, or none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(following, "are_few", lambda *_: apart)
        yield


@contextmanager
def named(*queries: algebra.Query) -> Iterator[None]:
    """Let a snapshot read these queries again by their texts, which are names for them."""
    known = {query.text: query for query in queries}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(snapshot, "parse", lambda text, **_: known[text])
        yield
