"""`why_not` of a sequence of events: how far its runs have come, and what became of them."""

from __future__ import annotations

import json

import pytest

import retewave as rw

FALLS = """PREFIX : <urn:> SELECT * WITHIN 30s PARTITION BY ?s FROM STREAM S <urn:S> WHERE { SEQ (A, B+, C)
    DEFINE GPM A ON S { ?s :a ?a } DEFINE GPM B ON S { ?s :b ?b FILTER(?b > ?a) }
    DEFINE GPM C ON S { ?s :c ?c FILTER(?c > ?b) } }"""
EVENTS = [("s", "a", 1), ("s", "b", 2), ("t", "a", 1), ("s", "b", 3), ("s", "c", 1), ("t", "b", 5), ("u", "a", 1)]


def asked(text: str, *events: tuple[str, str, int]) -> tuple[rw.Engine, rw.Query]:
    """Return an engine, and its query, after some events, an instant each."""
    engine = rw.Engine()
    query = engine.register(text, name="falls")
    for time, (subject, predicate, value) in enumerate(events, 1):
        engine.push((f"urn:{subject}", f"urn:{predicate}", value), time=time, stream="urn:S")
    return engine, query


def test_it_says_how_far_runs_have_come_and_what_broke_them() -> None:
    engine, query = asked(FALLS, *EVENTS)
    assert str(engine.why_not(query)) == (
        "falls: why not anything?\n"
        "  3 runs reached A; 2 went on; 1 may still go on\n"
        "  3 runs reached B; 1 went on; 1 was broken by another event, the last at 5; 1 may still go on\n"
    )


def test_a_binding_leaves_the_runs_of_others_out() -> None:
    engine, query = asked(FALLS, *EVENTS)
    answer = engine.why_not(query, {"s": "urn:s"})
    assert [(each.took, each.reached, each.broken, each.waiting) for each in answer.runs] == [
        ("A", 1, 0, 0),
        ("B", 2, 1, 0),
    ]
    assert json.loads(answer.to_json())["runs"][1]["broken_at"] == 5


def test_runs_that_wait_for_the_next_event_that_fits_are_not_broken() -> None:
    engine, query = asked(FALLS.replace("A, B+, C", "A; B; C"), *EVENTS)
    assert [(each.took, each.went_on, each.broken, each.waiting) for each in engine.why_not(query).runs] == [
        ("A", 2, 0, 1),
        ("B", 0, 0, 2),
    ]


def test_runs_out_of_the_window_are_left_out() -> None:
    engine, query = asked(FALLS, *EVENTS)
    engine.push(("urn:x", "urn:a", 1), time=60, stream="urn:S")
    assert [(each.took, each.reached) for each in engine.why_not(query).runs] == [("A", 1), ("B", 0)]


@pytest.mark.filterwarnings("ignore")
def test_each_choice_of_steps_that_may_be_left_out_is_told_by_itself() -> None:
    engine, query = asked(FALLS.replace("A, B+, C", "A; B?; C"), *EVENTS)
    said = str(engine.why_not(query))
    assert "alternative 1: 3 runs reached A" in said
    assert "alternative 2: 3 runs reached A" in said


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("sequence", ["A, N!, C", "A; B+!; C", "A, B+!", "(A & B); C", "N!; A; C", "A; C!"])
def test_every_kind_of_sequence_can_be_asked_about(sequence: str) -> None:
    text = FALLS.replace("A, B+, C", sequence).replace("DEFINE GPM A", "DEFINE GPM N ON S { ?s :n ?n } DEFINE GPM A")
    engine, query = asked(text, *EVENTS)
    assert all(each.reached == each.went_on + each.broken + each.waiting for each in engine.why_not(query).runs)
