"""The naive meaning that follows the algebra says what the flat one says, and the engine what it says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from cases.engine import Case, case_of
from cases.many import many
from hypothesis import HealthCheck, given, settings
from naive import naive_matches
from naive.detectors import detected
from naive.streams import Item

from retewave.compiler.parse import parse
from retewave.windows.intervals import is_static


@settings(max_examples=many(150), deadline=None, suppress_health_check=list(HealthCheck))
@given(case_of())
def test_the_meaning_by_the_algebra_is_that_of_the_flat_matcher(case: Case) -> None:
    flat = Counter(
        (match.start, match.end, match.bindings, match.arrival)
        for match in naive_matches(replace(case.query, distinct=False), case.stream, case.static)
    )
    by_algebra = Counter(
        (
            token.start,
            token.end,
            tuple(sorted((f"?{variable.name}", text) for variable, text in token.bindings.items())),
            max((fact.arrival for fact in token.facts), default=-1),
        )
        for token in detected(parse(case.text), [Item(**vars(each)) for each in case.stream], case.static)
    )
    assert by_algebra == flat


@settings(max_examples=many(50), deadline=None, suppress_health_check=list(HealthCheck))
@given(case_of())
def test_what_has_no_operator_of_time_is_decided_when_it_ends(case: Case) -> None:
    for token in detected(parse(case.text), [Item(**vars(each)) for each in case.stream], case.static):
        assert token.decided_at == token.end or is_static(token.start, token.end)
