"""What an engine is given: schema, static data, snapshots, and triples that are none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.pairs import E, pair, triple

import retewave as rw


# ---- schema and static data ----
def test_schema_and_static_data_cannot_change_while_the_stream_runs(tmp_path: Path) -> None:
    data = tmp_path / "more.ttl"
    data.write_text("<http://e/a> <http://e/p> 1 .")
    engine = rw.Engine()
    engine.register(pair())
    engine.load(static=data)
    engine.push(triple("a", "q", 1), time=0)
    with pytest.raises(rw.SchemaError, match="snapshot"):
        engine.load(schema=data)
    with pytest.raises(rw.SchemaError, match="snapshot"):
        engine.register(f"SELECT * FROM <{data}> {{ ?x <http://e/r> ?y }}")


def test_a_file_that_a_query_names_is_schema_and_static_data(tmp_path: Path) -> None:
    (tmp_path / "kb.ttl").write_text(
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix : <http://e/> .\n"
        ":hates rdfs:subPropertyOf :knows . :a :likes :b ."
    )
    query = tmp_path / "q.rq"
    query.write_text("SELECT * FROM <kb.ttl> { ?x <http://e/knows> ?y . ?x <http://e/likes> ?y }")
    engine = rw.Engine()
    engine.register(query)
    (match,) = engine.push(triple("a", "hates", "b"), time=5)
    assert (match.start, match.end) == (5, 5)


def test_the_dictionary_has_grown_when_static_data_is_loaded_and_not_while_the_stream_runs() -> None:
    static = b"".join(b"<http://e/s%d> <http://e/p> <http://e/o%d> .\n" % (n, n) for n in range(20_000))
    engine = rw.Engine(static=static)
    engine.register("REGISTER QUERY q AS SELECT * FROM STREAM <http://e/s> [RANGE 1s] WHERE { ?s <http://e/p> ?o }")
    engine.flush()
    before = engine.terms.table
    stream = (b"<http://e/t%d> <http://e/p> <http://e/u%d> .\n" % (n, n) for n in range(15_000))
    assert sum(1 for _ in engine.run(rw.read(stream, rate=1_000))) == 15_000
    assert engine.terms.table.arena is before.arena and engine.terms.table.slots is before.slots


def test_what_static_data_matches_alone_is_reported_before_the_stream() -> None:
    engine = rw.Engine(static=b"<http://e/a> <http://e/p> 1 ; <http://e/q> 2 .")
    engine.register(pair())
    (match,) = engine.flush()
    assert (match.start, match.end) == (None, None)


# ---- snapshots ----
def test_a_snapshot_holds_what_waits_for_late_items_distinct_and_the_schema(tmp_path: Path) -> None:
    schema = b"<http://e/r> <http://www.w3.org/2000/01/rdf-schema#subPropertyOf> <http://e/p> ."
    engine = rw.Engine(schema=schema, lateness="1s")
    engine.register("SELECT DISTINCT ?x FROM STREAM <http://e/s> [RANGE 1h] { ?x <http://e/p> ?y }")
    engine.push(triple("a", "r", 1), time=0)
    engine.push(triple("b", "r", 1), time=5)
    engine.snapshot(tmp_path / "snapshot")
    restored = rw.Engine.restore(tmp_path / "snapshot")
    assert [str(match["x"]) for match in restored.flush()] == [E + "b"]
    restored.push(triple("a", "p", 2), time=7)
    assert restored.flush() == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: data[:40],
        lambda data: b"x" + data,
        lambda data: data[:-9] + b"\1" + data[-8:],
    ],
)
def test_a_damaged_snapshot_is_refused(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    engine = rw.Engine()
    engine.register(pair())
    engine.push(triple("a", "p", 1), time=0)
    path = tmp_path / "snapshot"
    engine.snapshot(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(rw.SnapshotError):
        rw.Engine.restore(path)
    assert [each.name for each in tmp_path.iterdir()] == ["snapshot"]


# ---- bad input ----
@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (("a", "http://e/p", 1), "cannot tell what term 'a' is"),
        (('"x"', "http://e/p", 1), "a literal cannot be a subject"),
        (("http://e/a", "_:p", 1), "only an IRI can be a predicate"),
        ([("http://e/a", "http://e/p")], "a triple has three terms"),
    ],
)
def test_a_bad_triple_is_refused_with_what_is_wrong(bad: Any, said: str) -> None:
    with pytest.raises(rw.UsageError, match=said):
        rw.Engine().push(bad, time=0)


def test_a_bad_line_is_counted_and_reported_and_its_neighbours_are_read() -> None:
    engine = rw.Engine()
    query = engine.register("SELECT * { ?x <http://e/p> ?y }")
    reader = rw.read(b"<http://e/a> <http://e/p> 1 .\n<http://e/b> <http://e/p> <http://e/c> .", format="nt", rate=1)
    assert len(list(engine.run(reader))) == query.matched == 1
    assert reader.counters.malformed == 1
    assert str(reader.counters.first_malformed[0].place) == "<bytes>:1:27"


def test_on_error_raise_stops_at_the_first_bad_line_after_what_was_before_it() -> None:
    engine = rw.Engine()
    query = engine.register("SELECT * { ?x <http://e/p> ?y }")
    lines = b"<http://e/a> <http://e/p> <http://e/c> .\nnonsense\n<http://e/b> <http://e/p> <http://e/c> ."
    with pytest.raises(rw.MalformedInput, match="<bytes>:2:1"):
        list(engine.run(rw.read(lines, format="nt", rate=1, on_error="raise")))
    assert query.matched == 1


def test_a_reader_that_is_left_in_the_middle_lets_the_engine_go_on_from_what_it_had_read() -> None:
    engine = rw.Engine()
    engine.register("SELECT * { ?x <http://e/p> ?y }")
    lines = b"<http://e/a> <http://e/p> <http://e/c> .\n" * 300_000
    matches: Any = engine.run(rw.read(lines, format="nt", rate=1000))
    next(matches)
    matches.close()
    assert engine.matcher.sweeps._readings == []
    before = engine.triples
    assert 0 < before < 300_000
    *rest, last = engine.push(triple("a", "p", 1), time=1000)
    assert last.start == 1000
    assert {match.start for match in rest} <= {n / 1000 for n in range(before)}


# ---- the closure of a schema ----
def test_owlrl_closes_the_schema_within_a_budget_and_tells_how_far_it_is() -> None:
    from retewave.epsilon.schema import Budget

    schema = (
        b"@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix : <http://e/> .\n"
        b":p a owl:ObjectProperty ; owl:equivalentProperty :q . :q owl:equivalentProperty :r ."
    )
    told: list[tuple[int, float]] = []
    engine = rw.Engine(
        schema=schema, closure="owlrl", on_closure=lambda triples, seconds: told.append((triples, seconds))
    )
    engine.register("SELECT * { ?x <http://e/r> ?y }")
    assert len(engine.push(triple("a", "p", "b"), time=0)) == 1
    assert told
    tight = rw.Engine(schema=schema, closure="owlrl", closure_budget=Budget(triples=10))
    tight.register("SELECT * { ?x <http://e/r> ?y }")
    with pytest.raises(rw.SchemaError, match="budget"):
        tight.flush()
