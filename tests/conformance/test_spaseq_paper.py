"""The examples of the SPAseq paper, and its Figure 1, told by the engine; where ◆ departs from print, a test says so.

Example 1 is the structure of events, example 13 the paper's engine: these say nothing about meaning.
"""

from __future__ import annotations

from pathlib import Path

import retewave as rw
from retewave.bench.usecases.cases import EXAMPLES

POWER, WEATHER = "http://smartgrid.org/power", "http://smartgrid.org/weather"
NAMES = {"power": POWER, "weather": WEATHER}

Event = tuple[int, str, str]  # its time, its stream, its triples in short


def told(sequence: str, *events: Event, graph: str = "", clauses: str = "", **options: object) -> list[str]:
    """Return what is told of some events: "?h ?p ?l ?w ?v, start end" in short."""
    engine = rw.Engine(**options)  # type: ignore[arg-type]
    engine.register(f"""PREFIX : <http://smartgrid.org/> SELECT * {clauses}
        FROM STREAM S1 <{POWER}> FROM STREAM S2 <{WEATHER}>
        WHERE {{ SEQ ({sequence})
          DEFINE GPM A ON S1 {{ ?h :pow ?p ; :loc ?l . {graph} }}
          DEFINE GPM B ON S2 {{ ?w :value ?v ; :loc ?l }} }}""")
    found = []
    for time, stream, said in events:
        triples = [tuple(f"http://smartgrid.org/{term}" for term in each.split()) for each in said.split(" . ")]
        found += engine.push(triples, time=time, stream=NAMES[stream])
    return [short(match) for match in (*found, *engine.flush())]


def short(match: rw.Match) -> str:
    values = (str(value).rpartition("/")[2] for value in match.values() if value is not None)
    return f"{' '.join(values)}, {match.start:g} {match.end:g}"


def power(time: int, number: int, place: int) -> Event:
    return time, "power", f"H{number} pow Pw{number} . H{number} loc L{place}"


def weather(time: int, number: int, place: int) -> Event:
    return time, "weather", f"W{number} value Vl{number} . W{number} loc L{place}"


def test_example_2_query_1_finds_a_match_with_dear_fuel_good_weather_and_cheap_storage() -> None:
    engine = rw.Engine(datasets={"http://example.org/homes": EXAMPLES / "homes.ttl"})
    query = engine.register(EXAMPLES / "smartgrid.spaseq")
    streams = {"mainSource": "power", "weather": "weather", "storageSource": "storage"}
    readers = [
        rw.read(EXAMPLES / f"{name}.trig", time_property="http://example.org/at", stream=f"http://example.org/{iri}")
        for iri, name in streams.items()
    ]
    found = list(engine.run(*readers))
    assert found
    assert all(int(match["readings"]) == len(match.groups["B"]) >= 1 for match in found)
    assert query.matched == len(found)


def test_example_3_a_gpm_finds_a_mapping_in_each_event_of_its_stream() -> None:
    events = power(10, 1, 1), power(15, 2, 2), power(25, 3, 3)
    assert told("A", *events) == ["H1 Pw1 L1, 10 10", "H2 Pw2 L2, 15 15", "H3 Pw3 L3, 25 25"]


def test_example_4_conjunction_wants_both_at_one_time() -> None:
    events = power(10, 1, 1), weather(10, 1, 1), weather(20, 2, 2), power(25, 2, 2)
    assert told("A & B", *events) == ["H1 Pw1 L1 W1 Vl1, 10 10"]


def test_example_5_disjunction_is_each_of_both() -> None:
    events = power(10, 1, 1), weather(10, 1, 1), weather(20, 2, 1), power(25, 2, 2)
    assert told("A | B", *events) == [
        "H1 Pw1 L1, 10 10",
        "L1 W1 Vl1, 10 10",
        "L1 W2 Vl2, 20 20",
        "H2 Pw2 L2, 25 25",
    ]


FOLLOWING = power(10, 1, 1), power(15, 2, 1), weather(20, 1, 1), weather(25, 2, 1)


def test_example_6_skip_till_any_pairs_each_with_each_later_one() -> None:
    """The paper prints :W1 :Vl1 in its last row, where the event at 25 says :W2 :Vl2; its text counts as we do."""
    assert sorted(told("A: B", *FOLLOWING)) == [
        "H1 Pw1 L1 W1 Vl1, 10 20",
        "H1 Pw1 L1 W2 Vl2, 10 25",
        "H2 Pw2 L1 W1 Vl1, 15 20",
        "H2 Pw2 L1 W2 Vl2, 15 25",
    ]


def test_example_7_skip_till_next_takes_the_first_that_is_compatible() -> None:
    assert sorted(told("A; B", *FOLLOWING)) == ["H1 Pw1 L1 W1 Vl1, 10 20", "H2 Pw2 L1 W1 Vl1, 15 20"]


def test_example_8_strict_contiguity_wants_nothing_between() -> None:
    assert told("A, B", *FOLLOWING) == ["H2 Pw2 L1 W1 Vl1, 15 20"]


REPEATED = power(10, 1, 1), weather(15, 1, 1), weather(20, 2, 1), power(25, 2, 2)


def test_example_9_kleene_plus_finds_each_number_of_repetitions() -> None:
    """◆ The paper prints one row for each event of B; we tell of both runs, and list the events in `match.groups`."""
    assert told("A; B+", *REPEATED) == ["H1 Pw1 L1 W1 Vl1, 10 15", "H1 Pw1 L1 W2 Vl2, 10 20"]


def test_example_10_graph_joins_an_event_with_background_data(tmp_path: Path) -> None:
    data = tmp_path / "owners.ttl"
    data.write_text("""@prefix : <http://smartgrid.org/> .
        :H1 :owner :john ; :address :paris . :H2 :owner :smith ; :address :lyon .""")
    graph = "GRAPH <http://smartgrid.org/owners> { ?h :owner ?n ; :address ?a }"
    found = told("A", *REPEATED[:3], graph=graph, datasets={"http://smartgrid.org/owners": data})
    assert found == ["H1 Pw1 L1 john paris, 10 10"]


def test_example_11_a_query_looks_at_tumbling_windows() -> None:
    """The query is issued at 20 with a width of 50.  ◆ Windows begin when the query says, else at 0."""
    events = power(10, 1, 1), weather(15, 1, 1), power(25, 2, 2), weather(40, 2, 2)
    assert told("A; B", *events, clauses="WITHIN 50s TUMBLING") == [
        "H1 Pw1 L1 W1 Vl1, 10 15",
        "H2 Pw2 L2 W2 Vl2, 25 40",
    ]
    assert told("A; B", *events, clauses="WITHIN 50s TUMBLING FROM 20") == ["H2 Pw2 L2 W2 Vl2, 25 40"]


LETTERS = """PREFIX : <urn:> SELECT ?a ?b ?c FROM STREAM S <urn:S> WHERE {{ SEQ ({})
    DEFINE GPM A ON S {{ ?a a :A }} DEFINE GPM B ON S {{ ?b a :B }} DEFINE GPM C ON S {{ ?c a :C }} }}"""


def of_letters(sequence: str, *names: str) -> list[str]:
    """Return the events of each match in a stream of events, an instant each."""
    engine, found = rw.Engine(allow_cartesian=True), []
    engine.register(LETTERS.format(sequence))
    for time, name in enumerate(names, 1):
        kind = ("urn:" + name, "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "urn:" + name[0].upper())
        found += engine.push(kind, time=time, stream="urn:S")
    return [" ".join(str(match[each]).removeprefix("urn:") for each in "abc") for match in found]


FIGURE_1 = "a1", "b1", "c1", "a2", "a3", "b2", "c2"


def test_figure_1_strict_contiguity_and_skip_till_next() -> None:
    """The figure prints one match of strict contiguity; by definition 12, a3, b2 and c2 are contiguous, too."""
    assert of_letters("A, B, C", *FIGURE_1) == ["a1 b1 c1", "a3 b2 c2"]
    assert sorted(of_letters("A; B; C", *FIGURE_1)) == ["a1 b1 c1", "a2 b2 c2", "a3 b2 c2"]


def test_figure_1_skip_till_any_has_all_combinations() -> None:
    """The figure leaves out {a1, b1, c2}, which definition 10 has: `:` skips relevant events, too."""
    assert sorted(of_letters("A: B: C", *FIGURE_1)) == ["a1 b1 c1", "a1 b1 c2", "a1 b2 c2", "a2 b2 c2", "a3 b2 c2"]


def test_example_12_the_automaton_of_a_sequence_with_kleene_plus_runs_from_state_to_state() -> None:
    assert of_letters("A, B+, C", "a1", "b1", "b2", "c1") == ["a1 b2 c1"]


def test_example_14_runs_branch_at_each_repetition() -> None:
    """◆ The paper's run r1 goes on behind a match.  Strict contiguity ends it there; `;` does what the figure shows."""
    events = "a1", "b1", "c1", "b2", "c2"
    assert of_letters("A, B+, C", *events) == ["a1 b1 c1"]
    assert sorted(of_letters("A; B;+; C", *events)) == ["a1 b1 c1", "a1 b2 c2"]
