"""Sequences of events from text to matches: what a user of the engine sees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers.inside import network_of

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


def of_letters(sequence: str, events: str, clauses: str = "", **options: Any) -> list[str]:
    """Return what is told of events of one letter each, an instant each; `.` is an instant without one."""
    engine = rw.Engine(**options)
    engine.register(f"""PREFIX : <urn:> SELECT * {clauses} FROM STREAM S <urn:S> WHERE {{ SEQ ({sequence})
        DEFINE GPM A {{ ?s :a ?a }} DEFINE GPM B {{ ?s :b ?b }} DEFINE GPM C {{ ?s :c ?c }} }}""")
    found = []
    for time, letter in enumerate(events, 1):
        if letter != ".":
            found += engine.push(("urn:s", f"urn:{letter}", time), time=time, stream="urn:S")
    found += engine.flush()
    return sorted(
        f"{' '.join(str(match[each]) for each in 'abc' if match.get(each))} @ {match.start:g}-{match.end:g}"
        for match in found
    )


def test_maximal_repetitions_keep_what_could_not_be_longer() -> None:
    assert of_letters("A; B+; C", "abbc") == ["1 2 4 @ 1-4", "1 3 4 @ 1-4"]
    assert of_letters("A; B+!; C", "abbc") == ["1 3 4 @ 1-4"]


def test_maximal_repetitions_at_the_end_are_told_when_the_next_instant_closes_or_at_the_deadline() -> None:
    assert of_letters("A, B+!", "abbx.", "WITHIN 30s") == ["1 3 @ 1-4"]
    assert of_letters("A, B+!", "abb", "WITHIN 30s") == ["1 3 @ 1-31"]
    assert of_letters("A; B;+!", "abxb", "WITHIN 30s") == ["1 4 @ 1-31"]


def test_negation_behind_strict_contiguity_is_nothing_or_an_event_that_is_something_else() -> None:
    assert of_letters("A, B!, C", "ac") == ["1 2 @ 1-2"]
    assert of_letters("A, B!, C", "axc") == ["1 3 @ 1-3"]
    assert of_letters("A, B!, C", "abc") == of_letters("A, B!, C", "axxc") == []
    assert of_letters("A, B?, C", "abc") == ["1 2 3 @ 1-3"]


def test_windows_that_tumble_have_both_bounds_inside() -> None:
    assert of_letters("A; C", "ac", "WITHIN 2s TUMBLING FROM 1") == ["1 2 @ 1-2"]
    assert of_letters("A; C", "a.c", "WITHIN 2s TUMBLING FROM 1") == ["1 3 @ 1-3"]
    assert of_letters("A; C", "xaxc", "WITHIN 2s TUMBLING FROM 1") == []


def test_skip_past_last_tells_the_first_and_ends_what_began_before_its_end() -> None:
    assert of_letters("A; C", "aacac") == ["1 3 @ 1-3", "2 3 @ 2-3", "4 5 @ 4-5"]
    assert of_letters("A; C", "aacac", "AFTER MATCH SKIP PAST LAST") == ["1 3 @ 1-3", "4 5 @ 4-5"]


def test_two_arms_of_a_union_that_find_the_same_are_one_mapping() -> None:
    engine = rw.Engine()
    engine.register("""PREFIX : <urn:> SELECT * FROM STREAM S <urn:S> WHERE { SEQ (A)
        DEFINE GPM A { { ?s :a ?x } UNION { ?s :b ?x } } }""")
    assert len(engine.push([("urn:s", "urn:a", 1), ("urn:s", "urn:b", 1)], time=1, stream="urn:S")) == 1
    assert len(engine.push([("urn:s", "urn:a", 1), ("urn:s", "urn:b", 2)], time=2, stream="urn:S")) == 2


def test_matches_that_are_told_at_a_deadline_list_their_repetitions() -> None:
    engine = rw.Engine()
    engine.register("""PREFIX : <urn:> SELECT (COUNT(?b) AS ?n) WITHIN 5s FROM STREAM S <urn:S> WHERE { SEQ (A; B;+; C!)
        DEFINE GPM A { ?s :a ?a } DEFINE GPM B { ?s :b ?b } DEFINE GPM C { ?s :c ?c } }""")
    for time, letter in enumerate("abb", 1):
        engine.push(("urn:s", f"urn:{letter}", time), time=time, stream="urn:S")
    found = engine.push(("urn:s", "urn:x", 9), time=9, stream="urn:S")
    assert [(str(m["n"]), [each.time for each in m.groups["B"]], m.end) for m in found] == [
        ("1", [2.0], 6.0),
        ("2", [2.0, 3.0], 6.0),
    ]


def test_what_must_not_be_there_may_look_at_all_repetitions() -> None:
    engine = rw.Engine()
    engine.register("""PREFIX : <urn:> SELECT * FROM STREAM S <urn:S> WHERE { SEQ (A; B;+; N!; C)
        DEFINE GPM A { ?s :a ?a } DEFINE GPM B { ?s :b ?b } DEFINE GPM N { ?s :n ?n FILTER(?n = COUNT(?b)) }
        DEFINE GPM C { ?s :c ?c } }""")
    found = []
    for time, (letter, value) in enumerate([("a", 1), ("b", 2), ("b", 3), ("n", 1), ("c", 4)], 1):
        found += engine.push(("urn:s", f"urn:{letter}", value), time=time, stream="urn:S")
    assert [len(match.groups["B"]) for match in found] == [2]


def test_a_gpm_joins_the_data_of_a_named_graph_and_no_other(tmp_path: Path) -> None:
    own, other = tmp_path / "own.ttl", tmp_path / "other.ttl"
    own.write_text("<urn:s> <urn:name> 'own' .")
    other.write_text("<urn:s> <urn:name> 'other' . <urn:s> <urn:kind> 'thing' .")
    engine = rw.Engine(datasets={"urn:own": own, "urn:other": other})
    engine.register("""PREFIX : <urn:> SELECT ?n ?k FROM STREAM S <urn:S> WHERE { SEQ (A)
        DEFINE GPM A { ?s :a ?x GRAPH :own { ?s :name ?n } GRAPH :other { ?s :kind ?k } } }""")
    (match,) = engine.push(("urn:s", "urn:a", 1), time=1, stream="urn:S")
    assert (str(match["n"]), str(match["k"])) == ("own", "thing")
    path = tmp_path / "graphs.snapshot"
    engine.snapshot(path)
    (match,) = rw.Engine.restore(path).push(("urn:s", "urn:a", 2), time=2, stream="urn:S")
    assert (str(match["n"]), str(match["k"])) == ("own", "thing")


def test_data_of_a_named_graph_is_in_no_event_and_no_default_graph(tmp_path: Path) -> None:
    own = tmp_path / "own.ttl"
    own.write_text("<urn:s> <urn:a> 'own' . <urn:s> <urn:b> 'own' .")
    engine = rw.Engine(datasets={"urn:own": own})
    engine.register(
        """PREFIX : <urn:> SELECT * FROM STREAM S <urn:S> WHERE { SEQ (A)
        DEFINE GPM A { ?s :a ?x ; :c ?y GRAPH :own { ?s :b ?n } } }""",
        name="seq",
    )
    engine.register("SELECT * WHERE { ?s <urn:c> ?y . ?s <urn:b> ?n }", name="plain")
    assert engine.push(("urn:s", "urn:c", 1), time=1, stream="urn:S") == []
    found = engine.push([("urn:s", "urn:c", 1), ("urn:s", "urn:a", 1)], time=2, stream="urn:S")
    assert [match.query.name for match in found] == ["seq"]


def test_the_runs_of_an_engine_are_bounded_and_counted() -> None:
    engine = rw.Engine(max_runs=100)
    engine.register("PREFIX : <urn:> SELECT ?x WITHIN 20s WHERE { SEQ (A:+) DEFINE GPM A { ?s :a ?x } }")
    with pytest.raises(rw.errors.LimitError, match="100 runs of sequences"):
        for time in range(40):
            engine.push(("urn:s", "urn:a", time), time=time)
    assert engine.stats()["runs"] == 127  # what an event has begun is finished


def test_sequences_cannot_be_shed() -> None:
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
    compiled = network_of(engine)
    assert counts_by_node(compiled)
    rows = [rows_of_memory(engine, slot)["rows"] for slot in range(len(compiled.lowered.network.slots))]
    assert any(rows)
    assert engine.stats()["triples"] == 1
    assert engine.why_not(query, {"s": "urn:s"}).runs


@pytest.mark.filterwarnings("ignore")
def test_a_state_that_many_runs_come_through_is_told_once() -> None:
    engine = rw.Engine()
    engine.register(KINDS.format("A;" + ";".join(["(A|C)"] * 24)))
    said = engine.explain()
    assert said.count("as above") == 24
    assert len(said.splitlines()) < 400
    assert engine.draw("network", format="dot").count(b"the next one") < 200
