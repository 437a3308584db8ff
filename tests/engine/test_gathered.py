"""An event's triples are gathered without a look-up, and spill where that does not do: nobody sees the difference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.inside import network_of

import retewave as rw
from retewave.rete.words import layout

_XSD = "http://www.w3.org/2001/XMLSchema#"

FALL = """
PREFIX : <urn:>
SELECT ?c ?x ?y
WITHIN 60 SECONDS
FROM STREAM S <urn:S>
PARTITION BY ?c
WHERE {
  SEQ (A, B)
  DEFINE GPM A ON S { ?a :company ?c ; :price ?x }
  DEFINE GPM B ON S { ?b :company ?c ; :price ?y FILTER(?y < ?x) }
}
"""


def event(name: str, company: str, *prices: object) -> list[tuple[object, ...]]:
    return [(f"urn:{name}", "urn:company", f"urn:{company}"), *((f"urn:{name}", "urn:price", each) for each in prices)]


def falls(matches: list[rw.Match]) -> list[tuple[int, int]]:
    return sorted((int(match["x"]), int(match["y"])) for match in matches)


def quads(events: int) -> rw.Reader:
    """Read events, two an instant."""
    lines = (
        f'<urn:e{n}> <urn:at> "{n // 2}"^^<{_XSD}integer> .\n<urn:e{n}> <urn:company> <urn:c{n % 3}> <urn:e{n}> .\n'
        f'<urn:e{n}> <urn:price> "{n * 7 % 11}"^^<{_XSD}integer> <urn:e{n}> .\n'
        for n in range(events)
    )
    return rw.read("".join(lines).encode(), name="q.nq", stream="urn:S", time_property="urn:at")


def engine_with(query: str = FALL) -> rw.Engine:
    engine = rw.Engine()
    engine.register(query)
    return engine


def test_equal_patterns_of_steps_are_gathered_once() -> None:
    engine = engine_with()
    engine.flush()
    net = network_of(engine).runtime.net
    assert net[layout.N_GATHERING_COUNT] == 1
    node = net[net[layout.N_GATHERING]]
    assert net[node + layout.NODE_DIRECT_COUNT] == 1
    assert net[node + layout.NODE_ASIDE_INSTANTS] == 1


def test_a_pattern_may_take_several_triples_of_an_event() -> None:
    engine = engine_with()
    assert engine.push(event("a", "c", 9, 7), time=1, stream="urn:S") == []
    assert falls(engine.push(event("b", "c", 8, 6, 8), time=2, stream="urn:S")) == [(7, 6), (9, 6), (9, 8)]


def test_events_of_one_instant_may_come_mixed() -> None:
    engine = engine_with()
    mixed = [*event("a", "c", 9), *event("b", "d", 5)]
    assert engine.push([mixed[0], mixed[2], mixed[1], mixed[3]], time=1, stream="urn:S") == []
    later = [*event("e", "c", 3), *event("f", "d", 4)]
    found = engine.push([later[2], later[0], later[1], later[3]], time=2, stream="urn:S")
    assert falls(found) == [(5, 4), (9, 3)]


def test_many_events_of_one_instant_are_told_one_by_one() -> None:
    engine = engine_with()
    for each in range(20):
        engine.push(event(f"a{each}", f"c{each}", 9), time=1, stream="urn:S")
    found = [engine.push(event(f"b{each}", f"c{each}", 3), time=2, stream="urn:S") for each in range(20)]
    assert list(map(falls, found)) == [[(9, 3)]] * 20


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_rows_may_be_poured_in_pieces_that_cut_events(size: int) -> None:
    engine = engine_with()
    engine.flush()
    reader = quads(60)
    rows = np.concatenate([chunk.rows for chunk in reader.chunks(engine.terms)])
    runtime, values = network_of(engine).runtime, engine.terms.values
    pieces = [rows[begin : begin + size] for begin in range(0, len(rows), size)]
    found = sum(len(out) for piece in pieces for out in runtime.pour(piece, values))
    assert found == len(list(engine_with().run(quads(60)))) > 10


def test_a_condition_on_numbers_that_doubles_cannot_tell_is_decided_all_the_same() -> None:
    engine = engine_with()
    great = 10**20
    engine.push(event("a", "c", great + 1), time=1, stream="urn:S")
    assert falls(engine.push(event("b", "c", great), time=2, stream="urn:S")) == [(great + 1, great)]


def test_what_is_no_number_is_compared_as_sparql_says() -> None:
    engine = engine_with()
    engine.push(event("a", "c", '"b"'), time=1, stream="urn:S")
    found = engine.push(event("b", "c", '"a"'), time=2, stream="urn:S")
    assert [(str(match["x"]), str(match["y"])) for match in found] == [("b", "a")]


def test_the_triples_of_a_star_are_taken_at_once_in_any_order() -> None:
    engine = engine_with()
    engine.flush()
    assert engine.matcher.current().runtime.net[layout.N_STARS] == 1
    first, second, third = event("a", "c", 9), event("b", "c", 7), event("e", "c", 3)
    engine.push(first[::-1], time=1, stream="urn:S")
    assert falls(engine.push(second, time=2, stream="urn:S")) == [(9, 7)]
    assert falls(engine.push(third[::-1], time=3, stream="urn:S")) == [(7, 3)]


def test_triples_that_go_elsewhere_too_are_taken_one_by_one() -> None:
    engine = engine_with()
    engine.register("SELECT ?a ?x FROM STREAM <urn:S> [RANGE 1s] WHERE { ?a <urn:price> ?x }")
    engine.flush()
    assert engine.matcher.current().runtime.net[layout.N_STARS] == 0
    engine.push(event("a", "c", 9), time=1, stream="urn:S")
    assert len(engine.push(event("b", "c", 7), time=2, stream="urn:S")) == 2


def test_a_star_of_another_stream_is_none() -> None:
    engine = engine_with()
    engine.push(event("a", "c", 9), time=1, stream="urn:S")
    assert engine.push(event("b", "c", 7), time=2, stream="urn:T") == []
    assert falls(engine.push(event("e", "c", 3), time=3, stream="urn:S")) == [(9, 3)]


KNOWN = FALL.replace("?c ; :price ?x }", "?c ; :price ?x GRAPH <urn:facts> { ?c :country ?k } }")


def test_a_star_that_is_joined_with_a_graph_is_gathered_and_keeps_nothing_there(tmp_path: Path) -> None:
    facts = tmp_path / "facts.ttl"
    facts.write_text("<urn:c> <urn:country> <urn:k1>, <urn:k2> . <urn:d> <urn:country> <urn:k1> .")
    engine = rw.Engine(datasets={"urn:facts": facts})
    engine.register(KNOWN)
    engine.flush()
    runtime = engine.matcher.current().runtime
    assert runtime.net[layout.N_GATHERING_COUNT] == 1
    assert sum(node.passing >= 0 for node in runtime.network.nodes) == 1
    for name, company in (("a", "c"), ("b", "d"), ("f", "nowhere")):
        engine.push(event(name, company, 9), time=1, stream="urn:S")
    found = [engine.push(event(f"e{each}", each, 3), time=2, stream="urn:S") for each in ("c", "d", "nowhere")]
    assert list(map(falls, found)) == [[(9, 3), (9, 3)], [(9, 3)], []]


def known_engine(folder: Path) -> rw.Engine:
    """Return an engine that knows two countries of a company, and one of another."""
    facts = folder / "facts.ttl"
    facts.write_text("<urn:c> <urn:country> <urn:k1>, <urn:k2> . <urn:d> <urn:country> <urn:k1> .")
    engine = rw.Engine(datasets={"urn:facts": facts})
    engine.register(KNOWN)
    engine.flush()
    return engine


def stored(engine: rw.Engine) -> int:
    """Return how many rows the one state that keeps solutions aside has ever stored."""
    runtime = network_of(engine).runtime
    net, arena = runtime.net, runtime.arena
    assert net[layout.N_KEPT_COUNT] == 1
    slot = net[net[net[layout.N_KEPT]] + layout.STATE_SLOT]
    state = net[slot + layout.SLOT_STATE]
    return int(arena[state + layout.S_ROWS] + arena[state + layout.S_COLLECTED])


def test_a_solution_that_is_alone_in_its_instant_is_not_stored(tmp_path: Path) -> None:
    engine, count = known_engine(tmp_path), 50
    lines = (
        f'<urn:e{n}> <urn:at> "{n}"^^<{_XSD}integer> .\n<urn:e{n}> <urn:company> <urn:d> <urn:e{n}> .\n'
        f'<urn:e{n}> <urn:price> "{n * 7 % 11}"^^<{_XSD}integer> <urn:e{n}> .\n'
        for n in range(count)
    )
    reader = rw.read("".join(lines).encode(), name="q.nq", stream="urn:S", time_property="urn:at")
    rows = np.concatenate([chunk.rows for chunk in reader.chunks(engine.terms)])
    runtime, values = network_of(engine).runtime, engine.terms.values
    found = sum(len(out) for out in runtime.pour(rows, values))
    fallen = sum(n * 7 % 11 > (n + 1) * 7 % 11 for n in range(count - 1))
    assert (found, stored(engine)) == (fallen, 1)  # the last one is stored before the kernel returns


def test_solutions_of_one_instant_are_stored_each_once(tmp_path: Path) -> None:
    engine = known_engine(tmp_path)
    engine.push([*event("a", "c", 9), *event("b", "d", 8), *event("a", "c", 9)], time=1, stream="urn:S")
    engine.push(event("a", "c", 9), time=1, stream="urn:S")
    assert stored(engine) == 5  # two for each event of c, one of d: each push is an event of its own
    assert falls(engine.push(event("e", "c", 3), time=2, stream="urn:S")) == [(9, 3)] * 4


def test_what_was_aside_is_known_in_the_network_that_the_first_interval_needs() -> None:
    engine = engine_with("""SELECT ?x WITHIN 5 SECONDS FROM STREAM S <urn:S>
        WHERE { SEQ (A,+!) DEFINE GPM A ON S { ?a <urn:p> ?x } }""")
    said: list[tuple[str, int | tuple[int, int]]] = [("p", 2), ("other", 4), ("other", (3, 4)), ("other", 5)]
    found = [engine.push(("urn:a", f"urn:{word}", 1), time=time, stream="urn:S") for word, time in said]
    assert list(map(len, found)) == [0, 0, 0, 1]
