"""Sequences of events from text to matches: what a user of the engine sees."""

from __future__ import annotations

from pathlib import Path

import retewave as rw

RISES = """
PREFIX : <urn:>
SELECT ?s ?x ?y
WITHIN 30 SECONDS
FROM STREAM S <urn:S>
PARTITION BY ?s
WHERE {
  SEQ (A; B)
  DEFINE GPM A ON S { ?s :a ?x }
  DEFINE GPM B ON S { ?s :b ?y FILTER(?y > ?x) }
}
"""


def values(matches: list[rw.Match]) -> list[tuple[object, object, list[int]]]:
    return [(match.start, match.end, [int(match["x"]), int(match["y"])]) for match in matches]


def test_a_sequence_is_registered_as_text_and_found_in_events() -> None:
    engine = rw.Engine()
    engine.register(RISES)
    found: list[rw.Match] = []
    for time, predicate, value in ((1, "a", 1), (2, "b", 0), (3, "b", 3), (4, "b", 4), (5, "a", 4), (40, "b", 9)):
        found += engine.push(("urn:s", f"urn:{predicate}", value), time=time, stream="urn:S")
    assert values(found) == [(1.0, 3.0, [1, 3])]


def test_a_sequence_is_registered_as_a_file(tmp_path: Path) -> None:
    (tmp_path / "rises.spaseq").write_text(RISES)
    engine = rw.Engine()
    engine.register(tmp_path / "rises.spaseq")
    triples = [("urn:s", "urn:a", 1), ("urn:t", "urn:a", 2)]
    assert engine.push(triples, time=1, stream="urn:S") == []
    found = engine.push([("urn:t", "urn:b", 3), ("urn:s", "urn:b", 1)], time=2, stream="urn:S")
    assert values(found) == [(1.0, 2.0, [2, 3])]


def test_events_of_other_streams_are_not_looked_at() -> None:
    engine = rw.Engine()
    engine.register(RISES)
    engine.push(("urn:s", "urn:a", 1), time=1, stream="urn:S")
    assert engine.push(("urn:s", "urn:b", 3), time=2, stream="urn:T") == []


def test_explain_tells_of_steps_and_of_what_they_compare() -> None:
    engine = rw.Engine()
    engine.register(RISES)
    said = engine.explain()
    assert "step 0 on ?s: the next one" in said
    assert "where (?y > ?x) is true" in said
