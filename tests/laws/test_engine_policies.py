"""The engine takes of each sequence the pairs that the naive meaning of its policy takes: random queries, streams."""

from __future__ import annotations

import pytest
from cases.many import many
from cases.rules import RulesCase, rules_case
from cases.temporal import ANYWHERE, OPERATORS, Case, temporal_case
from helpers.telling import listening_all, pushed
from helpers.told import check_told
from helpers.told_rules import by_query
from helpers.told_rules import naive as naive_of_rules
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

LAW = settings(max_examples=many(200), deadline=None, suppress_health_check=list(HealthCheck))

SEQUENCES = frozenset({"seq", "between"})
FAMILIES = {  # what stands beside the sequences
    "alone": (SEQUENCES, 3),
    "in windows": (SEQUENCES | {"within", "first", "last", "join"}, 3),
    "in graphs": (SEQUENCES | {"union", "optional", "filter", "times", "values"}, 3),
    "beside absence": (SEQUENCES | {"before", "after", "optionalseq", "equalsoptional", "minus", "exists"}, 3),
    "choices": (SEQUENCES | {ANYWHERE, "within", "first", "last", "join"}, 3),
    "all": (OPERATORS, 4),
}


@pytest.mark.parametrize("family", FAMILIES)
@LAW
@given(data=st.data())
def test_the_engine_takes_the_pairs_that_the_naive_meaning_takes(family: str, data: st.DataObject) -> None:
    operators, depth = FAMILIES[family]
    case: Case = data.draw(temporal_case(operators=operators, depth=depth, policies=True))
    check_told(case)


@LAW
@given(rules_case(operators=SEQUENCES | {"join", "union", "filter"}, depth=2, policies=True))
def test_rules_and_who_reads_them_take_the_pairs_that_the_naive_meaning_takes(case: RulesCase) -> None:
    engine, queries = listening_all(case.queries, case.static)
    found = engine.flush()
    for item in case.stream:
        found += pushed(engine, item)
    assert by_query([*found, *engine.flush()]) == naive_of_rules(case, queries)
