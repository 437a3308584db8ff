"""The engine tells what the naive meaning of sequences says: random sequences, event by event.

The cases are seeds: a failure names its own, and prints the sequence and the events.
"""

from __future__ import annotations

from collections import Counter

import pytest
from cases.many import many
from cases.sequences import Case, Room, cases
from helpers.sequences import event, query, sequence
from helpers.told_runs import Told, ToldRun, engine_for, flushed, of_tokens, pushed
from naive.detectors import detected
from naive.streams import Item, Triple

from retewave.errors import QueryError

FAMILIES = {  # what sequences are made of, and how many are tried
    "plain": (Room(), 800),
    "repeated": (Room(repeated=True), 800),
    "aggregates": (Room(repeated=True, aggregates=True), 600),
    "absent": (Room(absent=True, maybe=True), 900),
    "all": (Room(repeated=True, absent=True, maybe=True, aggregates=True), 900),
    "maximal": (Room(repeated=True, maximal=True, aggregates=True, absent=True, maybe=True), 700),
    "passed over": (Room(absent=True, maybe=True, strict=True, conditions=False), 500),
    "tumbling": (Room(repeated=True, maximal=True, absent=True, maybe=True, tumbling=True), 500),
    "past last": (Room(repeated=True, maximal=True, absent=True, maybe=True, past_last=True), 500),
    "skipping windows": (Room(repeated=True, absent=True, maybe=True, tumbling=True, past_last=True), 200),
    "doubled": (Room(repeated=True, absent=True, maybe=True, aggregates=True, doubled=True), 500),
}
SUB_PROPERTIES = {b"<urn:b>": (b"<urn:a>",), b"<urn:c>": (b"<urn:b>", b"<urn:a>")}
SUB = b"<http://www.w3.org/2000/01/rdf-schema#subPropertyOf>"
SCHEMA = [[(b"<urn:b>", SUB, b"<urn:a>"), (b"<urn:c>", SUB, b"<urn:b>")]]


REFUSED = (  # what the network cannot do yet
    "what must not come before the first step needs WITHIN",
    "what is decided when the window is over needs WITHIN",
    "PREV is not supported in a step with !",
    "PREV is not supported in a step with ?",
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
            assert refused.what in REFUSED  # any other refusal is a failure
            continue
        assert found == expected, f"{case}"
        told[bool(expected)] += 1
    assert count != many(count) or told[True] > count / 10, "hardly any case finds something"


def entailed(triple: Triple) -> set[Triple]:
    """Return a triple with what the sub-properties entail of it: some of it may be given or entailed already."""
    return {triple} | {(triple[0], other, triple[2]) for other in SUB_PROPERTIES.get(triple[1], ())}


def test_what_an_event_entails_twice_is_one_mapping() -> None:
    room = Room(steps=3, repeated=True, absent=True, maybe=True, aggregates=True, doubled=True, events=6)
    for case in cases(room, range(many(300))):
        expected = of_tokens(detected(case.query, case.items, entail=entailed))
        try:
            found = all_told(case, schema=SCHEMA)
        except QueryError as refused:
            assert refused.what in REFUSED  # any other refusal is a failure
            continue
        assert plainly(found) == plainly(expected), f"{case}"


def all_told(case: Case, **options: object) -> Counter[ToldRun]:
    """Return what the engine tells of all events of a case, and of their end."""
    engine, _ = engine_for(case.query, **options)
    return sum((pushed(engine, each) for each in case.events), Counter()) + flushed(engine)


def plainly(found: Counter[ToldRun]) -> Counter[Told]:
    """Return what is told without the groups."""
    plain = Counter[Told]()
    for (told, _), count in found.items():
        plain[told] += count
    return plain


def test_both_sides_of_and_may_be_of_one_pattern_and_of_two_events() -> None:
    asked = query(sequence("(A & A)", {"A": "?s a ?x"}))
    engine, _ = engine_for(asked)
    events = [event(2, "k a 1"), event(2, "k a 1")]
    found = sum((pushed(engine, each) for each in events), Counter()) + flushed(engine)
    assert found == of_tokens(detected(asked, [item for each in events for item in each]))
    assert list(found.values()) == [4]


def told_of(sequence_: str, patterns: dict[str, str], *events: list[Item]) -> tuple[Counter[ToldRun], Counter[ToldRun]]:
    """Return what the engine tells of some events, and what the naive meaning does, within five microseconds."""
    asked = query(sequence(sequence_, patterns, width=5))
    engine, _ = engine_for(asked)
    found = sum((pushed(engine, each) for each in events), Counter()) + flushed(engine)
    return found, of_tokens(detected(asked, [item for each in events for item in each]))


def test_prev_has_no_value_where_the_repetition_before_is_of_another_pattern() -> None:
    patterns = {"A": "?s a ?a", "B": "?s b ?b | ?b > PREV(?b)"}
    events = [event(1, "k a 1"), event(2, "k b 1"), event(3, "k a 2"), event(4, "k b 2"), event(5, "k b 3")]
    found, expected = told_of("(A | B); (B | A);+!", patterns, *events)
    assert found == expected
    assert len(found) > 0


def test_a_step_of_alternatives_may_follow_an_optional_one_by_two_ways() -> None:
    patterns = {"A": "?s c ?x", "B": "?s b ?b", "C": "?s c 1"}
    events = [event(1, "k c 3"), event(2, "k b 2"), event(3, "k c 1"), event(4, "k b 2"), event(5, "k c 1")]
    found, expected = told_of("A;+, B?: (C | B),+", patterns, *events)
    assert found == expected
    assert len(found) > 0


def test_an_event_that_must_not_come_is_compared_with_what_the_run_has_bound() -> None:
    patterns = {"A": "?s a 1", "B": "?s b ?x", "C": "?t c ?c"}
    events = [event(1, "k a 1"), event(2, "h c 1"), event(3, "h a 1"), event(4, "h c 3"), event(9, "k b 1")]
    found, expected = told_of("(A | C)+: B?, C?", patterns, *events)
    assert found == expected
    assert len(found) > 0
