"""Run some random cases and print what the engine finds; `test_engine_laws` runs it with the JIT on and off."""

from __future__ import annotations

import json
import warnings

import numpy as np
from cases import temporal
from cases.engine import Case, case_of, engine_for, pushed_one_by_one
from cases.sequences import Room, cases
from hypothesis import HealthCheck, given, seed, settings

from helpers import told_runs
from helpers.telling import asked, listening, pushed, told
from retewave.errors import QueryError
from retewave.rete.words.jit import JIT

found: list[list[str]] = []


@seed(7)
@settings(max_examples=40, deadline=None, database=None, derandomize=False, suppress_health_check=list(HealthCheck))
@given(case_of())
def run(case: Case) -> None:
    engine, _ = engine_for(case)
    found.append(sorted(repr(match) for match in pushed_one_by_one(engine, case).elements()))


@seed(7)
@settings(max_examples=25, deadline=None, database=None, derandomize=False, suppress_health_check=list(HealthCheck))
@given(temporal.temporal_case(operators=temporal.OPERATORS).map(asked))
def run_in_time(case: temporal.Case) -> None:
    engine, _ = listening(case)
    matches = [match for item in case.stream for match in pushed(engine, item)]
    found.append(sorted(map(repr, told([*matches, *engine.flush()]).elements())))


def run_sequences() -> None:
    room = Room(repeated=True, maximal=True, absent=True, maybe=True, aggregates=True, tumbling=True, past_last=True)
    for case in cases(room, range(40)):
        try:
            engine, _ = told_runs.engine_for(case.query)
        except QueryError:
            continue
        matches = [*(each for event in case.events for each in told_runs.pushed(engine, event).elements())]
        found.append(sorted(map(repr, [*matches, *told_runs.flushed(engine).elements()])))


warnings.simplefilter("ignore")
np.seterr(all="ignore")
run()
run_in_time()
run_sequences()
print(json.dumps({"jit": JIT, "matches": found}))
