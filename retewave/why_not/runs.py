"""Why a sequence has no match: how far its runs have come, and why they went no further.

Data's way: the memories of a sequence's states -> **runs, state by state** -> the answer.
Runs that are out of the window are left out.  A run waits for the very next event if each of its ways does; then the
next instant of its partition breaks it, if it has not gone on by then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from retewave.compiler.plan.producers import End, RunStep, RunWay, State
from retewave.compiler.plan.walk import reached
from retewave.engine.compiled import CompiledNetwork
from retewave.rete.counters import totals
from retewave.rete.memory.carry import ROW_TIMES
from retewave.rete.words.layout import STRICT
from retewave.why_not.answer import RunsReached
from retewave.windows.times import Instant

__all__ = ["runs_reached"]

_END, _WINDOW_START, _START = 0, 1, 2  # the times of a row


@dataclass(frozen=True)
class _Runs:
    """The runs of one state that have a binding."""

    rows: np.ndarray  # int64[n, …]: three times, then the columns
    columns: Mapping[str, int]  # what they bind -> column
    producer: int  # the state
    keys: tuple[int, ...]  # the columns that make its key, which stands before them in a row

    def value(self, row: np.ndarray, column: int) -> int:
        """Return the term of a run in a column."""
        return int(row[ROW_TIMES + len(self.keys) + column])

    def values(self, row: np.ndarray, names: list[str]) -> list[int]:
        """Return the terms of a run for some variables."""
        return [self.value(row, self.columns[name]) for name in names]


def runs_reached(
    compiled: CompiledNetwork, end: End, asked: Mapping[str, int], number: int, instant: Callable[[int], Instant]
) -> Iterator[RunsReached]:
    """Yield, for each state of a sequence in the order of its steps, the runs that have a binding."""
    names = {tree.number: tree.names for tree in reached(compiled.plan, end).walk()}
    found = {
        producer: _runs(compiled, producer, names.get(producer, {}), asked)
        for producer in end.states
        if compiled.lowered.network.states[compiled.lowered.states[producer]].slot >= 0
    }
    order = sorted(found, key=lambda producer: (end.states[producer].step, producer))
    for producer in order:
        state = end.states[producer]
        if not state.passing:
            yield _told(compiled, found, producer, number, state.step, state.name, instant)


def _runs(compiled: CompiledNetwork, producer: int, names: Mapping[int, str], asked: Mapping[str, int]) -> _Runs:
    state = compiled.plan.producers[producer]
    assert isinstance(state, State)
    rows = compiled.runtime.rows_of(compiled.lowered.network.states[compiled.lowered.states[producer]].slot)
    if state.width is not None:
        rows = rows[totals(compiled.runtime.arena).now - rows[:, _WINDOW_START] <= state.width]
    columns = {name.removeprefix("?"): column for column, name in names.items()}
    made = _Runs(rows, columns, producer, state.keys)
    for name, term in asked.items():
        if name in columns:
            own = made.rows[:, ROW_TIMES + len(made.keys) + columns[name]]
            made = _Runs(made.rows[(own == term) | (own == 0)], columns, producer, made.keys)
    return made


def _told(
    compiled: CompiledNetwork, found: Mapping[int, _Runs], producer: int, number: int, step: int, name: str,
    instant: Callable[[int], Instant],
) -> RunsReached:  # fmt: skip
    """Return the fate of a state's runs."""
    ways = list(_leaving(compiled, producer))
    runs, grown = found[producer], [found[target] for target, _ in ways if target in found]
    strict = bool(ways) and all(way.follows == STRICT for _, way in ways)
    went_on, broken = 0, list[int]()
    for row in runs.rows:
        following = _next_instant(compiled, ways[0][1], row, runs) if strict else None
        if any(_grew(runs, row, each) for each in grown):
            went_on += 1
        elif following is not None:
            broken.append(following)
    waiting = len(runs.rows) - went_on - len(broken)
    at = instant(max(broken)) if broken else None
    return RunsReached(number, step, name, len(runs.rows), went_on, len(broken), at, waiting)


def _leaving(compiled: CompiledNetwork, producer: int) -> Iterator[tuple[int, RunWay]]:
    """Yield the ways by which runs leave a state or repeat its step, with the states to which they lead."""
    state = compiled.plan.producers[producer]
    assert isinstance(state, State)
    yield from ((producer, way) for way in state.again)
    for number, made in enumerate(compiled.plan.producers):
        if isinstance(made, RunStep) and made.run is not None and made.run.producer == producer:
            yield _target(compiled, number), made.way


def _target(compiled: CompiledNetwork, number: int) -> int:
    """Return the state that a step's tuples enter in the end, perhaps through probes; -1: none."""
    for user, made in enumerate(compiled.plan.producers[number + 1 :], number + 1):
        inputs = getattr(made, "inputs", ())
        if inputs and any(each.producer == number for each in inputs[:1] if not isinstance(made, State)):
            return _target(compiled, user)
        if isinstance(made, State) and any(each.producer == number for each in made.entries):
            return _target(compiled, user) if made.once else user
    return -1


def _grew(runs: _Runs, row: np.ndarray, later: _Runs) -> bool:
    """Tell whether a run has become one of another state: that began when it did, is later, and binds the same."""
    names = sorted(runs.columns.keys() & later.columns.keys()) if later.producer != runs.producer else []
    candidates = later.rows[(later.rows[:, _START] == row[_START]) & (later.rows[:, _END] > row[_END])]
    own = runs.values(row, names)
    return any(later.values(each, names) == own for each in candidates)


def _next_instant(compiled: CompiledNetwork, way: RunWay, row: np.ndarray, runs: _Runs) -> int | None:
    """Return when the first event of its partition came behind a run."""
    assert way.instants is not None
    slot = compiled.lowered.instants[way.instants.producer]
    instants = compiled.runtime.rows_of(slot)
    keys = compiled.lowered.network.nodes[compiled.lowered.network.slots[slot].node].keys
    later = instants[instants[:, _END] > row[_END]]
    partition = list(_partition(way, row, runs))
    later = later[(later[:, ROW_TIMES : ROW_TIMES + keys] == partition).all(axis=1)]
    return int(later[:, _END].min()) if len(later) else None


def _partition(way: RunWay, row: np.ndarray, runs: _Runs) -> Iterator[int]:
    """Yield a run's values of the variables of its partition."""
    assert way.instants is not None
    for column in way.instants.keys:
        if column in way.event.keys:
            yield runs.value(row, runs.keys[way.event.keys.index(column)])
        else:
            own = next(run for run, event in way.equal if event == column)
            yield runs.value(row, own)
