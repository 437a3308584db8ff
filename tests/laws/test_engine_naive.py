"""The law of laws: for random queries and streams the engine finds what the naive meaning finds, arrival by arrival."""

from __future__ import annotations

from cases.engine import Case, case_of, engine_for, expected, pushed_one_by_one
from cases.many import many
from hypothesis import HealthCheck, given, settings


@settings(max_examples=many(2000), deadline=None, suppress_health_check=list(HealthCheck))
@given(case_of())
def test_engine_finds_what_the_naive_meaning_finds(case: Case) -> None:
    engine, _ = engine_for(case)
    assert pushed_one_by_one(engine, case) == expected(case)
