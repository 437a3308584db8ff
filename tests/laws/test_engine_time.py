"""The engine tells what the naive meaning of time says, when it says it: random queries, streams, cuts and clocks."""

from __future__ import annotations

import pytest
from cases.families import FAMILIES
from cases.many import many
from cases.temporal import Case, temporal_case
from helpers.told import check_told
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

LAW = settings(max_examples=many(850), deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("family", FAMILIES)
@LAW
@given(data=st.data())
def test_the_engine_tells_what_the_naive_meaning_says(family: str, data: st.DataObject) -> None:
    operators, depth = FAMILIES[family]
    case: Case = data.draw(temporal_case(operators=operators, depth=depth))
    check_told(case)
