"""The plan of a query about events is told in its users' words."""

from __future__ import annotations

import pytest

import retewave as rw

TEXT = """
PREFIX : <http://e/>
EVENT A AS (Room and p some :C)
EVENT B AS q some .
EVENT Z MATCH A AS R1 SEQ A AS R2 WITHIN 3s
    IF { EVENT R1 { ?x :p ?y . } EVENT R2 { ?x :p ?z . } }
EVENT Quiet MATCH NOT B WITHIN 3s
RETURN ALL
"""
SCHEMA = b"<http://e/C> <http://www.w3.org/2002/07/owl#disjointWith> <http://e/D> ."


def registered() -> rw.Engine:
    engine = rw.Engine(schema=SCHEMA, static=[("http://e/r", "http://e/p", "http://e/c")])
    engine.register(TEXT, language="obep", name="rooms")
    return engine


def explained() -> str:
    return registered().explain()


@pytest.mark.filterwarnings("ignore")
def test_each_part_of_the_plan_has_its_events_name() -> None:
    text = explained()
    for title in (
        "query rooms (A, way 1 of 2): detects",
        "query rooms (A, way 2 of 2): detects",
        "query rooms (B): detects",
        "query rooms (Z): detects",
        "2 queries of one shape: rooms (what NOT 1 takes away), rooms (B, told): detects",
        "query rooms (what an event brings): detects",
        "query rooms (what NOT 1 leaves of an event): detects",
        "query rooms (Quiet): detects",
        "query rooms (A, told): detects",
        "query rooms (contradiction 1): detects",
    ):
        assert f"\n{title}" in text, title


@pytest.mark.filterwarnings("ignore")
def test_nothing_is_told_in_names_of_our_own() -> None:
    text = explained()
    assert "urn:retewave" not in text and "_:" not in text
    assert "?individual rdf:type :C" in text  # a contradiction
    assert "a detection of B" in text
    assert "a solution of the guard on A" in text
    assert "what NOT leaves of an event" in text


@pytest.mark.filterwarnings("ignore")
def test_pictures_say_the_same_words() -> None:
    said = [str(told) for _, told in registered().graph().nodes(data=True)]
    assert not [each for each in said if "urn:retewave" in each or "_:" in each or "#token" in each]
    assert any("'label': 'a detection of B'" in each for each in said)
