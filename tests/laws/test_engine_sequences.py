"""The engine tells what the naive meaning of sequences says: random sequences, event by event.

The cases are seeds: a failure names its own, and prints the sequence and the events.
"""

from __future__ import annotations

from collections import Counter

import pytest
from cases.many import many
from cases.sequences import Case, Room, cases
from laws.sequences import Told, ToldRun, engine_for, flushed, of_tokens, pushed
from naive.detectors import detected

from retewave.compiler.algebra import Occurs
from retewave.errors import QueryError

FAMILIES = {  # what sequences are made of, and how many are tried
    "plain": (Room(), 800),
    "repeated": (Room(repeated=True), 800),
    "aggregates": (Room(repeated=True, aggregates=True), 600),
    "absent": (Room(absent=True, maybe=True), 900),
    "all": (Room(repeated=True, absent=True, maybe=True, aggregates=True), 900),
}


REFUSED = (  # what the network cannot do yet
    "a step that must not be there cannot stand behind ,",
    "what must not come before the first step needs WITHIN",
    "what looks at all repetitions is not supported in a step with !",
    "what looks at all repetitions is not supported in a step with ?",
)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_engine_tells_what_the_naive_meaning_of_a_sequence_says(family: str) -> None:
    room, count = FAMILIES[family]
    told = Counter[bool]()
    for case in cases(room, range(many(count))):
        expected = of_tokens(detected(case.query, case.items))
        try:
            found = all_told(case)
        except QueryError as refused:
            assert refused.what in REFUSED  # noqa: PT017: any other refusal is a failure
            continue
        if case.where.steps[-1].occurs in (Occurs.NEVER, Occurs.MAYBE):  # what is decided at a deadline tells no groups
            assert plainly(found) == plainly(expected), f"{case}"
        else:
            assert found == expected, f"{case}"
        told[bool(expected)] += 1
    assert count != many(count) or told[True] > count / 10, "hardly any case finds something"


def all_told(case: Case) -> Counter:
    """Return what the engine tells of all events of a case, and of their end."""
    engine, _ = engine_for(case.query)
    return sum((pushed(engine, each) for each in case.events), Counter()) + flushed(engine)


def plainly(found: Counter[ToldRun]) -> Counter[Told]:
    """Return what is told without the groups."""
    plain = Counter[Told]()
    for (told, _), count in found.items():
        plain[told] += count
    return plain
