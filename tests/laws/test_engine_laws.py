"""Laws of the engine: however its work is cut up, stopped, shared or repeated, it finds the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from cases.engine import Case, case_of, engine_for, pushed_one_by_one, shown, written
from helpers.found import LAW, anywhere, rows_of
from helpers.inside import network_of, poured
from helpers.telling import changes_kept
from hypothesis import given
from hypothesis import strategies as st

import retewave as rw
from retewave.engine.registry import CartesianWarning
from retewave.windows.times import Clock


@LAW
@given(case_of(), st.lists(st.integers(0, 12), max_size=3))
def test_a_batch_finds_what_its_rows_find_one_by_one(case: Case, cuts: list[int]) -> None:
    one_by_one, _ = engine_for(case)
    in_batches, query = engine_for(case)
    in_batches.clock = Clock("float")
    rows = rows_of(in_batches, case.stream)
    for block in np.split(rows, sorted(min(cut, len(rows)) for cut in cuts)):
        for batches in poured(in_batches, block):
            for batch in batches:
                query.take(batch)
    found = Counter(shown(match, 0, case.query.distinct) for match in query.matches)
    assert anywhere(found) == anywhere(pushed_one_by_one(one_by_one, case))


@LAW
@given(case=case_of(), stop=st.integers(0, 12))
def test_a_restored_engine_goes_on_as_if_it_had_never_stopped(
    case: Case, stop: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    engine, _ = engine_for(case)
    begin = Case(case.query, case.text, case.stream[:stop], case.static)
    pushed_one_by_one(engine, begin)
    path = tmp_path_factory.getbasetemp() / "case.snapshot"
    engine.snapshot(path)
    restored = rw.Engine.restore(path)
    rest = Case(case.query, case.text, case.stream[stop:], case.static)
    assert pushed_one_by_one(restored, rest) == pushed_one_by_one(engine, rest)


@LAW
@given(case_of(), case_of(), st.integers(0, 12), st.integers(0, 12), st.integers(0, 12), st.booleans())
def test_other_queries_that_come_and_go_change_nothing(
    case: Case, other: Case, comes: int, goes: int, joins: int, apart: bool
) -> None:
    with changes_kept(apart):
        wanted, found = alone_and_with_a_guest(case, other, comes, goes, joins)
    assert found == wanted


def alone_and_with_a_guest(case: Case, other: Case, comes: int, goes: int, joins: int) -> tuple[Counter, Counter]:
    """Return what a query finds alone, and what it finds beside a guest; at `joins` all become one network."""
    alone, _ = engine_for(case)
    engine, query = engine_for(case)
    wanted = pushed_one_by_one(alone, case)
    found = Counter(shown(match, -1, case.query.distinct) for match in engine.flush() if match.query is query)
    guest = None
    for arrival, item in enumerate(case.stream):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CartesianWarning)
            if arrival == comes:
                guest = engine.register(other.text)
            if arrival == goes and guest is not None:
                engine.remove(guest)
        if arrival == joins:
            network_of(engine)
        time = (item.start / 1e6, item.end / 1e6)
        for match in engine.push(written(item.triple), time=time, stream=item.stream):
            if match.query is query:
                found[shown(match, arrival, case.query.distinct)] += 1
    return wanted, found


@LAW
@given(case_of(), st.integers(0, 12), st.integers(0, 12), st.booleans())
def test_a_query_that_is_registered_again_goes_on_with_what_the_memories_hold(
    case: Case, comes: int, joins: int, apart: bool
) -> None:
    with changes_kept(apart):
        goes_on_with_what_the_memories_hold(case, comes, joins)


def goes_on_with_what_the_memories_hold(case: Case, comes: int, joins: int) -> None:
    engine, query = engine_for(case)
    again = None
    found: dict[rw.Query, Counter] = {query: Counter()}
    for arrival, item in enumerate(case.stream):
        if arrival == comes:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CartesianWarning)
                again = engine.register(case.text)
            engine.flush()  # what the memories hold is reported here
            found = {query: Counter(), again: Counter()}
        if arrival == joins:
            network_of(engine)
        time = (item.start / 1e6, item.end / 1e6)
        for match in engine.push(written(item.triple), time=time, stream=item.stream):
            found[match.query][shown(match, arrival, case.query.distinct)] += 1
    if again is not None and not case.query.distinct and any(len(b.patterns) > 1 for b in case.query.branches):
        assert found[again] == found[query]


def test_the_engine_finds_the_same_without_the_jit(tmp_path: Path) -> None:
    script = Path(__file__).parents[1] / "helpers" / "without_jit.py"
    said = {}
    for off in ("0", "1"):
        environment = os.environ | {"NUMBA_DISABLE_JIT": off, "PYTHONPATH": str(script.parents[1])}
        done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        said[off] = json.loads(done.stdout)
    assert said["0"]["jit"] and not said["1"]["jit"]
    assert said["0"]["matches"] == said["1"]["matches"]
    assert sum(len(found) for found in said["1"]["matches"]) > 20
