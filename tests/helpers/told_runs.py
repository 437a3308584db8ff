"""Engines that listen for sequences, and what they tell, in the form of the naive meaning."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence

from cases.engine import written
from naive.streams import Item
from naive.tokens import Token

import retewave as rw
from helpers.told import Told, of_token, shown
from retewave.compiler.algebra import Query
from retewave.engine.registry import CartesianWarning, UnboundedWarning

__all__ = ["Told", "ToldRun", "engine_for", "flushed", "of_tokens", "pushed", "registered", "told_run"]

Bound = tuple[tuple[str, str], ...]
ToldRun = tuple[Told, tuple[tuple[str, tuple[tuple[int, Bound], ...]], ...]]  # and what its repeated steps took


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


def of_tokens(tokens: Iterable[Token]) -> Counter[ToldRun]:
    """Return what tokens tell, with the groups of each."""
    return Counter((of_token(token), _groups_of(token)) for token in tokens)


def _groups_of(token: Token) -> tuple[tuple[str, tuple[tuple[int, Bound], ...]], ...]:
    found: dict[str, list[tuple[int, Bound]]] = {}
    for each in token.groups:
        for name, bindings in each.parts:
            named = {variable.name: text.decode() for variable, text in bindings.items() if not variable.hidden}
            found.setdefault(name, []).append((each.time, tuple(sorted(named.items()))))
    return tuple(sorted((name, tuple(each)) for name, each in found.items()))


def told_run(match: rw.Match) -> ToldRun:
    """Return what a match tells, with its groups."""
    groups = {
        name: tuple(
            (round(float(each.time) * 1e6), tuple(sorted((of, text.decode()) for of, text in each.texts.items())))  # type: ignore[arg-type]
            for each in repetitions
        )
        for name, repetitions in match.groups.items()
        if repetitions
    }
    return shown(match), tuple(sorted(groups.items()))


def pushed(engine: rw.Engine, event: Sequence[Item]) -> Counter[ToldRun]:
    """Push an event; return what is told."""
    first = event[0]
    times = (first.start / 1e6, first.end / 1e6)
    triples = [written(item.triple) for item in event]
    return Counter(map(told_run, engine.push(triples, time=times, stream=first.stream, event=first.event)))


def flushed(engine: rw.Engine) -> Counter[ToldRun]:
    """Say that nothing more comes; return what is told."""
    return Counter(map(told_run, engine.flush()))
