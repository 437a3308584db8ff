"""What explanations of views' rows say: axioms, groups, paths, MATCH, absence, windows; and after a snapshot."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.inside import sweep

import retewave as rw

E = "http://e/"
PREFIX = "PREFIX : <http://e/>\n"

pytestmark = pytest.mark.filterwarnings("ignore::retewave.engine.accepting.UnboundedWarning")


def engine_for(query: str, **options: object) -> tuple[rw.Engine, rw.Query]:
    engine = rw.Engine(**options)  # type: ignore[arg-type]
    return engine, engine.register(PREFIX + query, name="q", explain=True)


def push(engine: rw.Engine, said: str, time: float, **options: object) -> list[rw.Match]:
    """Push a triple written as `s p o`; a number as an object is one."""
    s, p, o = said.split()
    triple = E + s, E + p, int(o) if o.isdigit() else E + o
    return engine.push(triple, time=time, stream=E + "s", **options)  # type: ignore[arg-type]


def lines(match: rw.Match) -> list[str]:
    return [line.strip().replace("  stream <http://e/s>", "") for line in str(match.explain()).splitlines()[1:]]


def test_the_axioms_that_made_a_triple_fit_are_named_and_static_triples_are_said_to_be(tmp_path: Path) -> None:
    schema = tmp_path / "schema.ttl"
    schema.write_text("@prefix : <http://e/> . :pays <http://www.w3.org/2000/01/rdf-schema#domain> :Client .")
    text = "SELECT * FROM STREAM :s [RANGE 9s STEP 3s] { ?x a :Client . ?x :from ?y }"
    engine, _ = engine_for(text, schema=str(schema), static=[[(E + "ann", E + "from", E + "ulm")]])
    push(engine, "ann pays 7", 2)
    [match] = engine.advance(4)
    assert lines(match) == [
        "(1) ?x rdf:type :Client  ←  :ann :pays 7  [2]  event #1",
        "seen as :ann rdf:type :Client, by :pays rdfs:domain :Client",
        "(2) ?x :from ?y          ←  :ann :from :ulm  static",
        "WINDOW  [RANGE 9s STEP 3s] on :s: behind -6, up to 3: (1)",
        "REPORT  WINDOW CLOSE at 3",
    ]


def test_a_large_group_is_listed_in_part_with_the_number_of_all() -> None:
    engine, _ = engine_for("SELECT (SUM(?n) AS ?m) FROM STREAM :s [RANGE 60s STEP 30s] { ?x :has ?n }")
    for number in range(1, 26):
        push(engine, f"ann has {number}", number)
    [match] = engine.advance(31)
    explained = match.explain()
    [group] = [each for each in explained.reckonings if each.kind == "group"]
    assert (group.count, len(group.sides), len(explained.arrivals)) == (25, 10, 10)
    assert group.said == "SUM(?n) = 325, of 25 solutions: (1–10) and 15 more"


def test_of_a_triple_that_comes_again_the_latest_arrival_in_the_window_explains() -> None:
    engine, query = engine_for("SELECT * FROM STREAM :s [RANGE 10s STEP 5s] { ?x :has ?n }")
    for time in (1, 4, 7):
        push(engine, "ann has 3", time)
    engine.advance(20)
    assert [(match.end, [each.end for each in match.explain().arrivals]) for match in query.matches] == [
        (5, [4]),
        (10, [7]),
        (15, [7]),
    ]


def test_a_path_is_told_by_its_steps_and_match_by_its_events() -> None:
    path = "SELECT ?b FROM STREAM :s [RANGE 9s STEP 9s] { :a :next+ ?b FILTER NOT EXISTS { ?b :next ?c } }"
    engine, _ = engine_for(path)
    for said in ("a next b", "b next c", "b next d", "c next e"):
        push(engine, said, 1)
    found = {str(match["b"])[-1]: match.explain() for match in engine.advance(10)}
    assert [each.triple for each in found["e"].arrivals] == [":a :next :b", ":b :next :c", ":c :next :e"]
    assert [each.said for each in found["d"].reckonings[:2]] == ["2 steps: (1–2)", "no :d :next ?c"]

    text = """SELECT ?x FROM NAMED :s WIN [RANGE 9s STEP 9s] AS :w EVENT ON :w { ?x :asks ?n } AS A
        EVENT ON :w { ?x :pays ?m . ?x :in ?c } AS B WHERE { MATCH { LAST A SEQ B } }"""
    engine, _ = engine_for(text)
    push(engine, "ann asks 1", 1)
    push(engine, "ann asks 2", 2, event=70)
    engine.push([(E + "ann", E + "pays", 3), (E + "ann", E + "in", E + "eur")], time=5, stream=E + "s", event=71)
    [match] = engine.advance(10)
    assert lines(match) == [
        "(1) ?x :asks ?n  ←  :ann :asks 2  [2]  event 70",
        "(2) ?x :pays ?m  ←  :ann :pays 3  [5]  event 71",
        "(3) ?x :in ?c    ←  :ann :in :eur  [5]  event 71",
        "MATCH   2 events: (1–3)",
        "WINDOW  :w [RANGE 9s STEP 9s] on :s: behind 0, up to 9: (1–3)",
        "REPORT  WINDOW CLOSE at 9",
    ]


def test_what_optional_and_minus_did_not_find_is_said_and_what_exists_found_is_there() -> None:
    text = """SELECT ?x ?n FROM STREAM :s [RANGE 9s STEP 9s] { ?x :asks ?n OPTIONAL { ?x :gets ?m . ?m :of ?n }
        FILTER EXISTS { ?y :likes ?n } MINUS { ?x :leaves ?d } }"""
    engine, _ = engine_for(text)
    for said in ("ann asks tea", "bob asks tea", "bob leaves now", "eve likes tea"):
        push(engine, said, 1)
    [match] = engine.advance(10)
    assert lines(match)[:4] == [
        "(1) ?x :asks ?n   ←  :ann :asks :tea  [1]  event #1",
        "(2) ?y :likes ?n  ←  :eve :likes :tea  [1]  event #4",
        "OPTIONAL  no { :ann :gets ?m . ?m :of :tea }",
        "MINUS     no :ann :leaves ?d",
    ]


def test_a_row_that_is_gone_is_explained_by_the_report_that_had_it_last() -> None:
    engine, _ = engine_for("REGISTER DSTREAM :d AS SELECT * FROM STREAM :s [RANGE 6s STEP 3s] { ?x :has ?n }")
    push(engine, "ann has 3", 2)
    [match] = engine.advance(10)
    assert lines(match)[1:] == [
        "WINDOW  [RANGE 6s STEP 3s] on :s: behind 0, up to 6: (1)",
        "REPORT  WINDOW CLOSE at 9, no more: all of this was in the report at 6",
    ]


@pytest.mark.parametrize("told", ["RSTREAM", "DSTREAM"])
def test_the_triples_behind_rows_are_in_a_snapshot_but_not_why_rows_are_gone(told: str, tmp_path: Path) -> None:
    engine, _ = engine_for(f"REGISTER {told} :d AS SELECT * FROM STREAM :s [RANGE 6s STEP 3s] {{ ?x :has ?n }}")
    push(engine, "ann has 3", 2)
    engine.advance(7)
    engine.snapshot(tmp_path / "saved")
    restored = rw.Engine.restore(tmp_path / "saved")
    push(restored, "bob has 4", 8)
    matches = restored.advance(10)
    [match] = matches
    if told == "RSTREAM":
        assert [each.triple for each in match.explain().arrivals] == [":bob :has 4"]
        return
    assert match.explain().arrivals == ()
    assert "the view has gone on from a snapshot since then" in lines(match)[-1]


def test_rows_that_a_change_of_queries_outlives_are_explained_by_what_came_before_it() -> None:
    engine, query = engine_for("SELECT * FROM STREAM :s [RANGE 6s STEP 3s] { ?x :has ?n . ?x :likes ?y }")
    push(engine, "ann has 3", 1)
    push(engine, "ann likes tea", 1)
    engine.register("SELECT * { ?a <http://e/has> ?b . ?b <http://e/of> ?c }", name="other", explain=True)
    engine.advance(4)
    [match] = query.matches
    assert [each.triple for each in match.explain().arrivals] == [":ann :has 3", ":ann :likes :tea"]


def test_the_picture_of_a_report_has_the_triples_of_its_rows() -> None:
    text = "SELECT * FROM STREAM :s [RANGE 10s STEP 5s] { ?x :has ?n }"
    (engine, query), plain = engine_for(text), rw.Engine()
    other = plain.register(PREFIX + text)
    for each in (engine, plain):
        push(each, "ann has 3", 1)
        push(each, "bob has 3", 2)
        each.advance(6)
    reports = *engine.reports(query), *plain.reports(other)
    assert [each.to_svg().count('class="triple"') for each in reports] == [2, 0]
    picture = query.matches[0].to_svg()
    assert ">report</text>" in picture
    assert ">WINDOW</text>" in picture


@pytest.mark.parametrize("told", ["RSTREAM", "DSTREAM"])
def test_sweeps_of_the_dictionary_spare_what_explains_rows(told: str) -> None:
    text = (
        f"REGISTER {told} :d AS SELECT ?x FROM STREAM :s [RANGE 6s STEP 3s] {{ ?x :has ?n OPTIONAL {{ ?x :of ?m }} }}"
    )
    engine, query = engine_for(text)
    for number in range(300):
        push(engine, f"ann has n{number}", 1 + number / 100)
    sweep(engine)
    engine.advance(4)
    for number in range(300):
        push(engine, f"bob has m{number}", 9 + number / 100)
        if number % 100 == 0:
            sweep(engine)
    engine.advance(30)
    matches = query.matches
    assert {str(match["x"])[-3:] for match in matches} == {"ann", "bob"}
    for match in matches[:5] + matches[-5:]:
        [arrival] = match.explain().arrivals
        name, letter = (":ann", "n") if str(match["x"]).endswith("ann") else (":bob", "m")
        assert arrival.triple is not None
        assert arrival.triple.startswith(f"{name} :has :{letter}")
