"""Sequences of events from text to matches: what a user of the engine sees."""

from __future__ import annotations

from pathlib import Path

import pytest

import retewave as rw
from retewave.inspector.reading import counts_by_node, rows_of_memory

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


def test_a_triple_that_is_given_or_entailed_twice_in_an_event_makes_one_run() -> None:
    engine = rw.Engine([[(b"<urn:c>", b"<http://www.w3.org/2000/01/rdf-schema#subPropertyOf>", b"<urn:b>")]])
    engine.register(RISES)
    assert engine.push([("urn:s", "urn:a", 1)] * 2, time=1, stream="urn:S") == []
    event = [("urn:s", "urn:b", 3), ("urn:s", "urn:c", 3), ("urn:s", "urn:c", 3)]
    assert values(engine.push(event, time=2, stream="urn:S")) == [(1.0, 2.0, [1, 3])]


FALLS = """
PREFIX : <urn:>
SELECT ?s ?x ?y (COUNT(?y) AS ?n) (AVG(?y) AS ?mean)
FROM STREAM S <urn:S>
PARTITION BY ?s
WHERE {
  SEQ (A, B+, C)
  DEFINE GPM A ON S { ?s :price ?x }
  DEFINE GPM B ON S { ?s :price ?y FILTER(?y < ?x) FILTER(?y < PREV(?y)) }
  DEFINE GPM C ON S { ?s :price ?z FILTER(?z > ?x && ?z > MAX(?y)) }
}
"""


def falls(engine: rw.Engine) -> list[rw.Match]:
    found: list[rw.Match] = []
    for time, price in enumerate((9, 7, 4, 10), 1):
        found += engine.push(("urn:s", "urn:price", price), time=time, stream="urn:S")
    return sorted(found, key=lambda match: float(match.start or 0))  # type: ignore[arg-type]


def test_aggregates_in_select_see_all_repetitions() -> None:
    engine = rw.Engine()
    engine.register(FALLS)
    found = falls(engine)
    assert [(int(match["x"]), int(match["y"]), int(match["n"]), float(match["mean"])) for match in found] == [
        (9, 4, 2, 5.5),
        (7, 4, 1, 4.0),
    ]


def test_groups_of_a_match_are_the_repetitions_with_their_times() -> None:
    engine = rw.Engine()
    engine.register(FALLS)
    first, second = falls(engine)
    assert [(each.time, int(each["y"]), int(each["?y"])) for each in first.groups["B"]] == [(2.0, 7, 7), (3.0, 4, 4)]
    assert [(each.time, dict(each.texts)) for each in second.groups["B"]] == [
        (3.0, {"s": b"<urn:s>", "y": b'"4"^^<http://www.w3.org/2001/XMLSchema#integer>'})
    ]


def test_groups_outlast_the_dictionary_of_their_engine() -> None:
    engine = rw.Engine()
    engine.register(FALLS)
    first, _ = falls(engine)
    first._batch.seal()
    assert [int(each["y"]) for each in first.groups["B"]] == [7, 4]


def test_a_query_without_repetitions_has_no_groups() -> None:
    engine = rw.Engine()
    engine.register(RISES)
    engine.push(("urn:s", "urn:a", 1), time=1, stream="urn:S")
    (match,) = engine.push(("urn:s", "urn:b", 2), time=2, stream="urn:S")
    assert match.groups == {}


@pytest.mark.parametrize(
    ("sequence", "said"),
    [
        ("SEQ (A, B+!)", "as many as can be"),
        ("SEQ (A, B!, A)", "cannot stand behind ,"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(sequence: str, said: str) -> None:
    with pytest.raises(rw.errors.QueryError, match=said):
        rw.Engine().register(RISES.replace("SEQ (A; B)", sequence).replace("FILTER(?y > ?x)", ""))


@pytest.mark.parametrize("clause", ["WITHIN 30 SECONDS TUMBLING", "AFTER MATCH SKIP PAST LAST"])
def test_clauses_that_are_not_supported_are_refused_by_name(clause: str) -> None:
    text = RISES.replace("WITHIN 30 SECONDS", clause)
    with pytest.raises(rw.errors.QueryError, match="is not supported"):
        rw.Engine().register(text)


def test_sequences_cannot_be_explained_nor_shed() -> None:
    with pytest.raises(rw.errors.QueryError, match="cannot be explained"):
        rw.Engine().register(RISES, explain=True)
    with pytest.raises(rw.errors.QueryError, match="runs grow from earlier ones"):
        rw.Engine(max_live_rows=10, at_limit="shed").register(RISES)


def test_all_combinations_stop_at_the_bound_on_live_rows() -> None:
    engine = rw.Engine(max_live_rows=1_000)
    engine.register("PREFIX : <urn:> SELECT ?x WITHIN 1 DAY WHERE { SEQ (A:+) DEFINE GPM A { ?s :a ?x } }")
    with pytest.raises(rw.errors.RetewaveError, match=r"1,000|1000"):
        for time in range(40):
            engine.push(("urn:s", "urn:a", time), time=time)


def test_what_does_not_come_is_told_at_the_deadline() -> None:
    engine = rw.Engine()
    engine.register(RISES.replace("SEQ (A; B)", "SEQ (A; B!)").replace("SELECT ?s ?x ?y", "SELECT ?s ?x"))
    engine.push([("urn:s", "urn:a", 1), ("urn:t", "urn:a", 1)], time=1, stream="urn:S")
    engine.push(("urn:t", "urn:b", 2), time=20, stream="urn:S")
    found = engine.push(("urn:u", "urn:c", 0), time=40, stream="urn:S")
    assert [(match.start, match.end, str(match["s"])) for match in found] == [(1.0, 31.0, "urn:s")]


def test_a_variable_that_a_repetition_binds_for_good_is_told_after_other_repetitions() -> None:
    engine = rw.Engine()
    engine.register("""PREFIX : <urn:> SELECT ?s ?x WITHIN 9 SECONDS FROM STREAM S <urn:S> WHERE { SEQ (A?; (B | C):+)
        DEFINE GPM A ON S { ?s :a 1 } DEFINE GPM B ON S { ?s :b ?x } DEFINE GPM C ON S { ?t :c ?y } }""")
    engine.push(("urn:t", "urn:c", 1), time=1, stream="urn:S")
    found = engine.push(("urn:s", "urn:b", 2), time=2, stream="urn:S")
    assert {str(match["s"]) for match in found} == {"urn:s"}
    assert len(found) == 2


KINDS = """PREFIX : <urn:> SELECT * WITHIN 30 SECONDS FROM STREAM S <urn:S> WHERE {{ SEQ ({})
    DEFINE GPM A ON S {{ ?s :a ?x }} DEFINE GPM B ON S {{ ?s :b ?y FILTER(?y > ?x) }}
    DEFINE GPM C ON S {{ ?s :c ?x }} }}"""
EVENT = "solutions of an event, each once"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "sequence", ["A; B+; C", "A; (B|C)+; A", "A; C!; B", "C!; A; B", "A; B; C!", "A; B; C?", "A, B:+"]
)
def test_a_sequence_is_explained_drawn_and_counted(sequence: str) -> None:
    engine = rw.Engine()
    query = engine.register(KINDS.format(sequence), name="kinds")
    engine.push(("urn:s", "urn:a", 1), time=1, stream="urn:S")
    assert EVENT in engine.explain()
    assert EVENT.encode() in engine.draw("all", format="dot")
    compiled = engine.matcher.current()
    assert counts_by_node(compiled)
    rows = [rows_of_memory(engine, slot)["rows"] for slot in range(len(compiled.lowered.network.slots))]
    assert any(rows)
    assert engine.stats()["triples"] == 1
    with pytest.raises(rw.errors.UsageError, match="sequence of events: why a run is not complete"):
        engine.why_not(query, {"s": "urn:s"})


@pytest.mark.filterwarnings("ignore")
def test_a_state_that_many_runs_come_through_is_told_once() -> None:
    engine = rw.Engine()
    engine.register(KINDS.format("A;" + ";".join(["(A|C)"] * 24)))
    said = engine.explain()
    assert said.count("as above") == 24
    assert len(said.splitlines()) < 400
    assert engine.draw("network", format="dot").count(b"the next one") < 200
