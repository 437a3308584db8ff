"""The OBEP paper's examples: two rooms with sensors (Table 1, Listings 1.1 to 1.6), and the ranks and prices of 1.10.

Where the paper slips, the definitions win; a sentence beside the test says so.  Table 1 begins at time 2: its first row
has seven entries and its second one six, and Example 4 finds Bob at 2 and 3.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyoxigraph
import pytest

import retewave as rw
from retewave.io.sinks.sinks import open_sink

ROOMS = Path(__file__).parents[2] / "examples" / "obep"
E = "http://example.org/"
TABLE_1 = {
    2: ["sa observesClosedDoor doorA", "sb observesPerson Bob"],
    3: ["sa observesOpenDoor doorA", "sb observesPerson Bob"],
    4: ["sa observesOpenDoor doorA", "sb observesNobody empty"],
    5: ["sa observesOpenDoor doorA", "sb observesNobody empty"],
    6: ["sa observesOpenDoor doorA", "sb observesNobody empty"],
    7: ["sa observesClosedDoor doorA", "sb observesPerson Alice"],
    8: ["sa observesClosedDoor doorA"],
}
LISTING_1_4 = """
PREFIX : <http://example.org/>
EVENT BusyRoom AS
  (Room and armedWith some (Sensor and observesPerson some Thing))
EVENT FreeRoom AS
  (Room and armedWith some (Sensor and observesOpenDoor some Thing))
"""


def short(text: str) -> str:
    return text.strip("<>").removeprefix(E).replace("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "a")


def detected(text: str, stream: Mapping[int, Sequence[str]] | None = None) -> list[rw.Match]:
    engine = rw.Engine(schema=ROOMS / "ontology.ttl", static=ROOMS / "rooms.ttl")
    engine.register(text, language="obep")
    found = []
    for time, triples in (stream or TABLE_1).items():
        found += engine.push([_triple(each) for each in triples], time=time)
    return found + engine.flush()


def _triple(said: str) -> tuple[str, str, object]:
    s, p, o = said.split()
    return E + s, E + p, float(o) if o[0].isdigit() else E + o


def told(text: str, event: str) -> list[tuple[str, object, object]]:
    """Return whom an event is of (or nothing), and its interval, in the order in which it was told."""
    found = detected(LISTING_1_4 + text)
    return [
        ("" if each.parts else short(str(each.individual)), each.start, each.end)
        for each in found
        if short(str(each.event)) == event
    ]


def said(match: rw.Match) -> set[str]:
    return {" ".join(map(short, triple)) for triple in match.detection.justification}


def test_example_4_a_busy_room_is_found_with_its_minimal_justification() -> None:
    """The paper adds Person(Bob), which `some Thing` does not ask for, and closed doors, which the listing does not."""
    found = detected(LISTING_1_4 + "RETURN BusyRoom")
    assert [(short(str(each.individual)), each.start) for each in found] == [("rb", 2), ("rb", 3), ("rb", 7)]
    assert said(found[0]) == {"rb a Room", "rb armedWith sb", "sb a Sensor", "sb observesPerson Bob"}
    assert said(found[2]) == {"rb a Room", "rb armedWith sb", "sb a Sensor", "sb observesPerson Alice"}


def test_example_5_first_is_the_one_before_which_there_is_none() -> None:
    """The paper prints one of the two that its own Example 4 has at 2; the other is of a closed door."""
    assert told("EVENT F MATCH FIRST BusyRoom", "F") == [("", 2, 2)]


def test_example_6_each_busy_time_goes_with_each_free_time_after_it() -> None:
    """The paper prints three rows, no free room among them; definition 11 gives these, with A of the second."""
    found = told("EVENT Exiting MATCH BusyRoom SEQ FreeRoom", "Exiting")
    pairs = [(start, end) for start in (2, 3) for end in (3, 4, 5, 6) if start < end]
    assert sorted((start, end) for _, start, end in found) == pairs
    matches = detected(LISTING_1_4 + "EVENT Exiting MATCH BusyRoom SEQ FreeRoom")
    assert said(matches[0]) == {"ra a Room", "ra armedWith sa", "sa a Sensor", "sa observesOpenDoor doorA"}


def test_example_7_last_is_told_of_each_instant() -> None:
    """The paper evaluates once, at 8, where the last one ends at 7; a detector tells what is last when it ends."""
    assert told("EVENT L MATCH LAST BusyRoom", "L") == [("", 2, 2), ("", 3, 3), ("", 7, 7)]


def test_example_8_both_at_one_time_unite_their_justifications() -> None:
    """The paper prints the closed door for the free room."""
    (found,) = detected(LISTING_1_4 + "EVENT B MATCH BusyRoom AND FreeRoom")
    assert (found.start, found.end) == (3, 3)
    assert said(found) == {
        "ra a Room", "ra armedWith sa", "sa a Sensor", "sa observesOpenDoor doorA",
        "rb a Room", "rb armedWith sb", "sb a Sensor", "sb observesPerson Bob",
    }  # fmt: skip
    parts = {alias: short(str(part.individual)) for alias, part in found.parts.items()}
    assert parts == {"BusyRoom": "rb", "FreeRoom": "ra"}


def test_example_9_during_keeps_the_left_side_and_its_interval() -> None:
    """The paper prints the open door at 3; during some exit are those at 4 and 5, too."""
    text = """EVENT OpenDoor AS observesOpenDoor some Thing
              EVENT Exiting MATCH BusyRoom SEQ FreeRoom
              EVENT D MATCH OpenDoor DURING Exiting"""
    found = [each for each in detected(LISTING_1_4 + text) if short(str(each.event)) == "D"]
    assert {(each.start, each.end) for each in found} == {(3, 3), (4, 4), (5, 5)}
    assert said(found[0]) == {"sa observesOpenDoor doorA"}


def test_or_tells_either_and_not_what_is_left_of_an_event() -> None:
    assert [when for _, when, _ in told("EVENT O MATCH BusyRoom OR FreeRoom", "O")] == [2, 3, 3, 4, 5, 6, 7]
    found = detected(LISTING_1_4 + "EVENT N MATCH NOT BusyRoom")
    assert {each.start: said(each) for each in found} == {
        time: {each for each in triples if "Person" not in each} for time, triples in TABLE_1.items()
    }


def test_listing_1_6_guards_join_what_parts_say() -> None:
    """The listing lacks its last brace.  No room is both free and busy here: the sensors tell one of each."""
    text = """EVENT Entering MATCH FreeRoom SEQ BusyRoom WITHIN (5 min)
              IF { EVENT BusyRoom { ?room :armedWith ?sensor . }
                   EVENT FreeRoom { ?room :armedWith ?sensor . } }"""
    assert told(text, "Entering") == []
    other = text.replace("?room :armedWith ?sensor . } }", "?other :armedWith ?free . } FILTER (?room != ?other) }")
    assert sorted(told(other, "Entering")) == [("", start, 7) for start in (3, 4, 5, 6)]


LISTING_1_10 = """
PREFIX : <http://example.org/>
EVENT RankChange AS rank some .
EVENT StockPrice AS price some .

EVENT UpRank MATCH RankChange AS R1 SEQ RankChange AS R2 WITHIN 1H
IF { EVENT R1 { ?company :rank ?r1 . }
    EVENT R2 { ?company :rank ?r2 . }
    FILTER ( ?r1 < ?r2 ) }

EVENT DownRank MATCH RankChange AS R1 SEQ RankChange AS R2 WITHIN 1H
IF { EVENT R1 { ?company :rank ?r1 . }
    EVENT R2 { ?company :rank ?r2 . }
    FILTER ( ?r1 > ?r2 ) }

EVENT UpPrice MATCH StockPrice AS S1 SEQ StockPrice AS S2 WITHIN 1H
IF { EVENT S1 { ?company :price ?p1 . }
    EVENT S2 { ?company :price ?p2 . }
    FILTER ( ?p2 < ?p1 * 0.5) }

EVENT DownPrice MATCH StockPrice AS S1 SEQ StockPrice AS S2 WITHIN 1H
IF { EVENT S1 { ?company :price ?p1 . }
    EVENT S2 { ?company :price ?p2 . }
    FILTER ( ?p2 > ?p1 * 0.5) }

EVENT Alert MATCH
(UpRank SEQ UpPrice) OR (DownRank SEQ DownPrice) WITHIN 1H
RETURN Alert AS RDF STREAM
"""
LISTING_1_8 = """
PREFIX : <http://example.org/>
SELECT ?c1 ?c2 ?r1 ?r2 ?p1 ?p2 WHERE {
  { { { ?c1 :rank ?r1 } SEQ { ?c1 :rank ?r2 } FILTER (?r1 < ?r2) }
    SEQ { { ?c2 :price ?p1 } SEQ { ?c2 :price ?p2 } FILTER (?p2 < ?p1 * 0.5) } }
  UNION
  { { { ?c1 :rank ?r1 } SEQ { ?c1 :rank ?r2 } FILTER (?r1 > ?r2) }
    SEQ { { ?c2 :price ?p1 } SEQ { ?c2 :price ?p2 } FILTER (?p2 > ?p1 * 0.5) } }
  FILTER (getDURATION() <= "PT1H"^^xsd:duration) }
"""


def _stocks() -> Iterator[tuple[int, str]]:
    steps = ["rank 3", "rank 5", "price 100", "price 40", "rank 2", "price 90", "price 80", "rank 9", "price 30"]
    for number, step in enumerate(steps):
        yield 600 * number, f"acme {step}"


@pytest.mark.filterwarnings("ignore")
def test_listing_1_10_gives_the_alerts_of_1_8_for_one_company_and_the_same_filters() -> None:
    """1.8 is written with 1.10's filters: as printed the two have others, and 1.10 joins no companies."""
    stream = {time: [said] for time, said in _stocks()}
    alerts = detected(LISTING_1_10, stream)
    engine = rw.Engine()
    engine.register(LISTING_1_8, language="epsparql", allow_cartesian=True)
    found = [match for time, said in _stocks() for match in engine.push(_triple(said), time=time)] + engine.flush()
    spans = sorted((match.start, match.end) for match in alerts)
    assert len(spans) == 3 and spans == sorted((match.start, match.end) for match in found)


def test_a_graph_for_each_detection_is_written_as_quads_and_as_trig(tmp_path: Path) -> None:
    written = {}
    for name, format_ in (("nq", pyoxigraph.RdfFormat.N_QUADS), ("trig", pyoxigraph.RdfFormat.TRIG)):
        engine = rw.Engine(schema=ROOMS / "ontology.ttl", static=ROOMS / "rooms.ttl")
        query = engine.register(LISTING_1_4 + "RETURN BusyRoom AS RDF STREAM", language="obep")
        with (tmp_path / name).open("wb") as file:
            sink = open_sink(name, [query], file, seconds=True)
            for batches in engine.run_batches(rw.read(ROOMS / "readings.nq", time_property=E + "at")):
                sink.write(batches)
            sink.close()
        written[name] = {str(each) for each in pyoxigraph.parse((tmp_path / name).read_bytes(), format_)}
    assert written["nq"] == written["trig"] and len(written["nq"]) == 3 * 6


def test_what_is_returned_as_rdf_feeds_sequences_of_spaseq_too() -> None:
    engine = rw.Engine()
    hot = f"PREFIX : <{E}> EVENT Hot AS temp some xsd:integer[> 30] RETURN Hot AS RDF STREAM"
    engine.register(hot, language="obep")
    sequence = engine.register(f"""PREFIX : <{E}>
        SELECT ?x ?t1 ?t2 WITHIN 1 MINUTES PARTITION BY (?x) FROM STREAM S <{E}Hot>
        WHERE {{ SEQ (A, B)
        DEFINE GPM A ON S {{ ?x a :Hot ; :temp ?t1 }}
        DEFINE GPM B ON S {{ ?x a :Hot ; :temp ?t2 FILTER (?t2 > ?t1) }} }}""")
    for time, degrees in enumerate((31, 20, 35, 33)):
        engine.push((E + "a", E + "temp", degrees), time=time, stream=E + "s")
    engine.flush()
    assert [(match["t1"].toPython(), match["t2"].toPython()) for match in sequence.matches] == [(31, 35)]


def test_an_event_may_stand_before_those_that_it_uses() -> None:
    text = f"PREFIX : <{E}> EVENT Late MATCH Soon SEQ Soon AS S2 EVENT Soon AS price some Thing RETURN Late"
    engine = rw.Engine()
    query = engine.register(text, language="obep")
    for time in (1, 2):
        engine.push((E + "a", E + "price", E + "high"), time=time)
    engine.flush()
    assert [(match.start, match.end) for match in query.matches] == [(1, 2)]


def test_an_event_stream_is_json_with_all_fields(tmp_path: Path) -> None:
    engine = rw.Engine(schema=ROOMS / "ontology.ttl", static=ROOMS / "rooms.ttl")
    query = engine.register(LISTING_1_4 + "EVENT Exiting MATCH BusyRoom SEQ FreeRoom", language="obep")
    with (tmp_path / "out").open("wb") as file:
        sink = open_sink("ndjson", [query], file, seconds=True)
        for batches in engine.run_batches(rw.read(ROOMS / "readings.nq", time_property=E + "at")):
            sink.write(batches)
    first = json.loads((tmp_path / "out").read_text().splitlines()[0])
    assert list(first) == ["query", "event", "individual", "start", "end", "parts", "axioms"]
    assert first["event"] == E + "Exiting" and first["parts"]["BusyRoom"] == {
        "event": E + "BusyRoom", "individual": E + "rb", "start": 2, "end": 2
    }  # fmt: skip
    assert len(first["axioms"]) == 4
