"""For random queries of nested groups the engine finds what the naive meaning finds, arrival by arrival."""

from __future__ import annotations

import warnings
from collections import Counter

from cases.engine import shown, written
from cases.many import many
from cases.meaning import Case, case_of, expected
from hypothesis import HealthCheck, assume, given, settings

import retewave as rw
from retewave.errors import QueryError


@settings(max_examples=many(300), deadline=None, suppress_health_check=list(HealthCheck))
@given(case_of())
def test_engine_finds_what_the_naive_meaning_finds(case: Case) -> None:
    assert pushed(case) == expected(case)


def pushed(case: Case) -> Counter:
    """Return what an engine finds of a case, pushed one by one."""
    static = [[written(triple) for triple in sorted(case.static)]]
    engine = rw.Engine(static=static, seed=1, max_future=None, allow_cartesian=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            engine.register(case.text, keep=None)
        except QueryError:
            assume(False)  # two BINDs of one name
    found = Counter(_shown(match, -1) for match in engine.flush())
    for arrival, item in enumerate(case.stream):
        time = (item.start / 1e6, item.end / 1e6)
        found.update(
            _shown(match, arrival) for match in engine.push(written(item.triple), time=time, stream=item.stream)
        )
    return found


def _shown(match: rw.Match, arrival: int) -> tuple:
    start, end, bindings, place = shown(match, arrival, distinct=False)
    return start, end, tuple((name, text) for name, text in bindings if text is not None), place
