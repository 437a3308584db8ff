"""What a reading of the kernel found: bounds that locked it, clocks that began wrong, nodes that are alike."""

from __future__ import annotations

from typing import Any

import pytest

import retewave as rw
from retewave.errors import LimitError

HEAD = "SELECT * FROM STREAM <urn:s> [RANGE 10s] WHERE "
UNTIL = "{ { ?x <urn:l> ?y } SEQ NOT { ?x <urn:r> ?z } WITHIN 5s }"


def push(engine: rw.Engine, name: str, predicate: str, value: object, time: Any) -> list[rw.Match]:
    return engine.push((f"urn:{name}", f"urn:{predicate}", value), time=time, stream="urn:s")


def test_rows_that_wait_and_cannot_be_dropped_meet_the_bound_and_do_not_hang() -> None:
    engine = rw.Engine(max_live_rows=10, at_limit="shed")
    engine.register(HEAD + "{ ?x <urn:l> ?y FILTER EXISTS { ?x <urn:r> ?z } }")
    with pytest.raises(LimitError):
        for number in range(20):
            push(engine, f"a{number}", "l", 1, 1)


def test_at_the_bound_deadlines_that_a_row_passes_are_decided_before_it() -> None:
    engine = rw.Engine(max_live_rows=4)
    query = engine.register(HEAD + UNTIL)
    for number in range(4):
        push(engine, f"a{number}", "l", 1, number)
    assert push(engine, "b", "l", 1, 30) and len(query.matches) == 4
    engine.flush()
    assert len(query.matches) == 5


@pytest.mark.parametrize("time", [-100, 100])
def test_before_1970_an_instant_is_closed_when_it_is_over_too(time: int) -> None:
    engine = rw.Engine()
    engine.register(HEAD + "{ ?x <urn:l> ?y OPTIONAL { ?x <urn:r> ?z } }")
    assert push(engine, "a", "l", 1, time) == []
    (match,) = push(engine, "a", "r", 2, time)
    assert match.text("z") is not None
    assert push(engine, "b", "q", 1, time + 1) == []


def test_a_network_that_is_made_anew_has_the_clock_of_the_one_before() -> None:
    engine = rw.Engine()
    engine.register(HEAD + "{ ?x <urn:l> ?y . ?x <urn:q> ?z }")
    push(engine, "n", "r", 1, 100)  # no pattern so far keeps it
    engine.flush()
    engine.register("SELECT * WHERE { NOT { ?x <urn:r> ?z } SEQ { ?x <urn:p> ?y } WITHIN 30s }")
    assert push(engine, "n", "p", 1, 120) == []
    assert len(push(engine, "n", "p", 1, 140)) == 1


def test_what_waits_at_probes_that_are_alike_is_carried_to_each() -> None:
    engine = rw.Engine()
    pair = "{{ {{ {0} FILTER (?b > 5) }} SEQ NOT {{ ?x <urn:r> ?z }} WITHIN 50s }}"
    one = engine.register("SELECT ?a ?b WHERE " + pair.format("?x <urn:l> ?a . ?x <urn:l> ?b"))
    other = engine.register("SELECT ?a ?b WHERE " + pair.format("?x <urn:l> ?b . ?x <urn:l> ?a"))
    push(engine, "a", "l", 7, 10)
    push(engine, "a", "l", 3, 10)
    push(engine, "z", "z", 0, 20)
    engine.register("SELECT * WHERE { ?x <urn:other> ?y }")
    push(engine, "z", "z", 0, 21)
    engine.explain()  # makes one network of all
    engine.flush()
    assert len(one.matches) == len(other.matches) == 2


def test_an_advance_to_the_past_accepts_nothing_that_is_doubted() -> None:
    engine = rw.Engine()
    query = engine.register("SELECT * WHERE { ?x <urn:l> ?y }")
    push(engine, "a", "l", 1, 1)
    push(engine, "b", "l", 1, 1_000_000_000)
    assert engine.advance(0) == []
    with pytest.warns(RuntimeWarning, match="further ahead"):
        push(engine, "c", "l", 1, 3)
    push(engine, "d", "l", 1, 4)
    assert len(query.matches) == 3


def test_a_group_within_a_width_outlives_its_triples_when_the_network_is_made_anew() -> None:
    engine = rw.Engine()
    engine.register(
        "SELECT * WHERE { { { ?x <urn:p> ?y . ?x <urn:n> ?w } WITHIN 5s } SEQ { ?x <urn:q> ?w } SEQ { ?x <urn:r> ?w } }"
    )
    for predicate, value, time in (("p", 1, 5), ("n", 2, 5), ("q", 2, 6)):
        push(engine, "b", predicate, value, time)
    push(engine, "a", "p", 1, 30)
    engine.register("SELECT * WHERE { ?x <urn:other> ?y }")
    engine.explain()  # makes one network of all
    (match,) = push(engine, "b", "r", 2, 31)
    assert (match.start, match.end) == (5, 31)
