"""The engine tells what the naive meaning of sequences says: random sequences, event by event.

The cases are seeds: a failure names its own, and prints the sequence and the events.
"""

from __future__ import annotations

from collections import Counter

import pytest
from cases.many import many
from cases.sequences import Case, Room, cases
from laws.sequences import engine_for, flushed, of_tokens, pushed
from naive.detectors import detected

FAMILIES = {  # what sequences are made of, and how many are tried
    "plain": (Room(), 800),
    "repeated": (Room(repeated=True), 800),
    "aggregates": (Room(repeated=True, aggregates=True), 600),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_engine_tells_what_the_naive_meaning_of_a_sequence_says(family: str) -> None:
    room, count = FAMILIES[family]
    told = Counter[bool]()
    for case in cases(room, range(many(count))):
        expected = of_tokens(detected(case.query, case.items))
        assert all_told(case) == expected, f"{case}"
        told[bool(expected)] += 1
    assert count != many(count) or told[True] > count / 10, "hardly any case finds something"


def all_told(case: Case) -> Counter:
    """Return what the engine tells of all events of a case, and of their end."""
    engine, _ = engine_for(case.query)
    return sum((pushed(engine, each) for each in case.events), Counter()) + flushed(engine)
