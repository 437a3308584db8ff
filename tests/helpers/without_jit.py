"""Run some random cases and print what the engine finds; `test_engine_laws` runs it with the JIT on and off."""

from __future__ import annotations

import json
import warnings

import numpy as np
from cases.engine import Case, case_of, engine_for, pushed_one_by_one
from hypothesis import HealthCheck, given, seed, settings

from retewave.rete.words.jit import JIT

found: list[list[str]] = []


@seed(7)
@settings(max_examples=40, deadline=None, database=None, derandomize=False, suppress_health_check=list(HealthCheck))
@given(case_of())
def run(case: Case) -> None:
    engine, _ = engine_for(case)
    found.append(sorted(repr(match) for match in pushed_one_by_one(engine, case).elements()))


warnings.simplefilter("ignore")
np.seterr(all="ignore")
run()
print(json.dumps({"jit": JIT, "matches": found}))
