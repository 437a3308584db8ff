"""Engines that listen for sequences, and what they tell, in the form of the naive meaning."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence

from cases.engine import written
from laws.test_engine_time import Told, of_token, shown
from naive.streams import Item
from naive.tokens import Token

import retewave as rw
from retewave.compiler.algebra import Query
from retewave.engine.registry import CartesianWarning, UnboundedWarning

__all__ = ["Told", "engine_for", "flushed", "of_tokens", "pushed", "registered"]


def engine_for(query: Query, **options: object) -> tuple[rw.Engine, rw.Query]:
    """Return an engine that listens for a query."""
    engine = rw.Engine(seed=1, max_future=None, allow_cartesian=True, **options)  # type: ignore[arg-type]
    return engine, registered(engine, query)


def registered(engine: rw.Engine, query: Query) -> rw.Query:
    """Register a query, without a word on what nothing bounds."""
    with warnings.catch_warnings():
        for each in (CartesianWarning, UnboundedWarning):
            warnings.simplefilter("ignore", each)
        return engine.register(query, keep=None)


def of_tokens(tokens: Iterable[Token]) -> Counter[Told]:
    """Return what tokens tell."""
    return Counter(map(of_token, tokens))


def pushed(engine: rw.Engine, event: Sequence[Item]) -> Counter[Told]:
    """Push an event; return what is told."""
    first = event[0]
    times = (first.start / 1e6, first.end / 1e6)
    triples = [written(item.triple) for item in event]
    return Counter(map(shown, engine.push(triples, time=times, stream=first.stream, event=first.event)))


def flushed(engine: rw.Engine) -> Counter[Told]:
    """Say that nothing more comes; return what is told."""
    return Counter(map(shown, engine.flush()))
