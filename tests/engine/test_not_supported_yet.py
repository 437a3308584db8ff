"""What is read and cannot run yet is refused when it is registered, by name and with another way."""

from __future__ import annotations

import pytest

import retewave as rw
from retewave.errors import QueryError

PAIR = "{ { ?x <urn:p> ?y } SEQ { ?x <urn:q> ?z } }"


@pytest.mark.parametrize("policy", ["recent", "chronological"])
def test_a_policy_is_refused_with_what_does_instead(policy: str) -> None:
    with pytest.raises(QueryError, match=f"POLICY {policy} is not supported yet") as error:
        rw.Engine().register(f"SELECT ?x FROM STREAM <urn:s> [RANGE 5s] POLICY {policy} WHERE {PAIR}")
    assert "LAST { … } SEQ" in error.value.hint


def test_the_policy_that_takes_all_runs() -> None:
    engine = rw.Engine()
    engine.register(f"SELECT ?x FROM STREAM <urn:s> [RANGE 5s] POLICY unrestricted WHERE {PAIR}")
    assert engine.push(("urn:a", "urn:p", 1), time=1) == []
    assert len(engine.push(("urn:a", "urn:q", 2), time=2)) == 1


def test_a_query_that_is_refused_leaves_the_engine_as_it_was() -> None:
    engine = rw.Engine()
    with pytest.raises(QueryError):
        engine.register(f"SELECT ?x FROM STREAM <urn:s> [RANGE 5s] POLICY recent WHERE {PAIR}")
    assert engine.queries == []
