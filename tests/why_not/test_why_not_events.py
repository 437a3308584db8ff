"""Why an event of OBEP has not been found: how far its patterns have come, and what a relation of events lacks."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import retewave as rw
from retewave.cli.app import app

pytestmark = pytest.mark.filterwarnings("ignore")

E = "http://example.org/"
ROOMS = Path("examples/obep")


def asked(*pushed: tuple[str, str, str, int]) -> tuple[rw.Engine, rw.Query]:
    engine = rw.Engine(schema=ROOMS / "ontology.ttl", static=ROOMS / "rooms.ttl")
    query = engine.register(ROOMS / "rooms.obep")
    for subject, predicate, object_, time in pushed:
        engine.push((E + subject, E + predicate, E + object_), time=time)
    return engine, query


def test_a_logical_event_says_which_pattern_is_missing() -> None:
    engine, query = asked(("sb", "observesOpenDoor", "d", 2))
    told = engine.why_not(query, {"event": E + "FreeRoom", "individual": E + "ra"})
    (event,) = told.alternatives
    assert event.title == "FreeRoom"
    (partial,) = event.partials
    assert [each.triple for each in partial.found] == [
        ":ra rdf:type :Room",
        ":ra :armedWith :sa",
        ":sa rdf:type :Sensor",
    ]
    (refusal,) = partial.refused
    assert (refusal.pattern, refusal.reason) == (":sa :observesOpenDoor ?x2", "no triple")
    assert refusal.candidates[0].triple == ":sb :observesOpenDoor :d"


def test_a_composite_event_says_which_relation_does_not_hold() -> None:
    engine, query = asked(("sb", "observesOpenDoor", "d", 2), ("sa", "observesPerson", "p", 3))
    engine.advance(9)
    told = str(engine.why_not(query, {"event": E + "Exiting"}))
    assert "{ a detection of BusyRoom } comes after { a detection of FreeRoom }, not before" in told
    assert "a detection of BusyRoom: :ra  [3]" in told
    assert "urn:retewave" not in told and "_:" not in told


def test_an_event_that_was_found_is_said_to_match() -> None:
    engine, query = asked(("sb", "observesOpenDoor", "d", 2))
    engine.flush()
    told = engine.why_not(query, {"event": E + "FreeRoom"})
    assert told.alternatives[0].matches
    assert {each.title for each in engine.why_not(query).alternatives} == {"BusyRoom", "FreeRoom", "Exiting", "Both"}


@pytest.mark.parametrize(
    ("binding", "what", "hint"),
    [
        ({"event": E + "Exit"}, "rooms defines no event :Exit", ":Exiting"),
        ({"room": E + "ra"}, "rooms is asked by event and individual, and not by room", "individual"),
    ],
)
def test_a_question_that_nothing_answers_is_refused(binding: dict[str, str], what: str, hint: str) -> None:
    engine, query = asked()
    with pytest.raises(rw.UsageError) as refused:
        engine.why_not(query, binding)
    assert refused.value.what == what
    assert hint in str(refused.value.hint)


def test_the_command_line_keeps_all_events_for_its_answer() -> None:
    files = ["--schema", str(ROOMS / "ontology.ttl"), "--static", str(ROOMS / "rooms.ttl")]
    stream = ["--stream", str(ROOMS / "readings.nq"), "--time-property", E + "at"]
    binding = ["--binding", "event=:FreeRoom", "--binding", "individual=:rb"]
    ended = CliRunner().invoke(app, ["why-not", str(ROOMS / "rooms.obep"), *files, *stream, *binding])
    assert ended.exit_code == 0, ended.output
    assert "found 3 of 4 patterns together" in ended.output
    assert "near: :sa :observesOpenDoor :doorA" in ended.output
