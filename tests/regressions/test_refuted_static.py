"""What was once found wrong with what is there before the stream: static data, schemas, snapshots, new queries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers.inside import sweep
from helpers.refuted import ONE, SUB_PROPERTY, TWO, triple

import retewave as rw


# ---- what a new query finds ----
def test_a_sweep_spares_what_a_new_query_has_found_and_not_reported() -> None:
    engine = rw.Engine()
    pairs = engine.register(TWO)
    engine.push(triple("a", "p", "b"), time=1)
    engine.remove(pairs)
    engine.register(ONE)
    sweep(engine)
    engine.terms.intern(b"<http://e/other>")
    assert [match.text("x") for match in engine.push(triple("k", "n", "z"), time=2)] == [b"<http://e/a>"]


def test_a_snapshot_keeps_what_a_new_query_has_found_and_not_reported(tmp_path: Path) -> None:
    engine = rw.Engine(static=[[triple("a", "p", "b")]])
    engine.register(ONE)
    engine.snapshot(tmp_path / "snapshot")
    restored = rw.Engine.restore(tmp_path / "snapshot")
    assert [match.text("x") for match in engine.flush()] == [b"<http://e/a>"]
    assert [match.text("x") for match in restored.flush()] == [b"<http://e/a>"]
    assert engine.flush() == restored.flush() == []


def test_static_data_that_comes_after_the_first_report_is_reported_too() -> None:
    engine = rw.Engine(static=[[triple("a", "p", "b")]])
    engine.register(ONE)
    assert len(engine.flush()) == 1
    engine.load(static=[[triple("c", "p", "b")]])
    assert [match.text("x") for match in engine.flush()] == [b"<http://e/c>"]
    assert engine.flush() == []


def test_static_data_that_comes_after_the_first_report_is_reported_by_the_first_push() -> None:
    engine = rw.Engine(static=[[triple("a", "p", "b")]])
    engine.register(ONE)
    engine.flush()
    engine.load(static=[[triple("c", "p", "b")]])
    assert [match.text("x") for match in engine.push(triple("d", "p", "b"), time=1)] == [
        b"<http://e/c>",
        b"<http://e/d>",
    ]
    engine.register(TWO)  # another network: what was told stays told
    assert engine.flush() == []


def test_a_schema_that_comes_after_the_first_report_lets_static_data_match_that_did_not() -> None:
    engine = rw.Engine(static=[[triple("a", "p", "b"), triple("c", "r", "b")]])
    engine.register(ONE)
    assert len(engine.flush()) == 1
    engine.load(schema=[SUB_PROPERTY % b"r"])
    assert [match.text("x") for match in engine.flush()] == [b"<http://e/c>"]


@pytest.mark.parametrize("distinct", ["", "DISTINCT "])
def test_equal_static_matches_are_counted_in_what_is_reported_anew(distinct: str) -> None:
    engine = rw.Engine(static=[[triple("a", "p", "b"), triple("a", "p", "c")]])
    engine.register(f"SELECT {distinct}?x {{ ?x <http://e/p> ?y }}")
    engine.register(TWO)  # wider output rows
    found = []
    for more in [[], [triple("a", "p", "d")], [triple("a", "p", "e"), triple("f", "p", "e")]]:
        engine.load(static=[more])
        found.append([match.text("x") for match in engine.flush()])
    a, f = b"<http://e/a>", b"<http://e/f>"
    assert found == ([[a, a], [a], [a, f]] if not distinct else [[a], [], [f]])


def test_static_data_that_comes_after_a_snapshot_is_reported_alone(tmp_path: Path) -> None:
    engine = rw.Engine(static=[[triple("a", "p", "b")]])
    engine.register(ONE)
    engine.flush()
    engine.snapshot(tmp_path / "snapshot")
    restored = rw.Engine.restore(tmp_path / "snapshot")
    restored.load(static=[[triple("c", "p", "b")]])
    assert [match.text("x") for match in restored.flush()] == [b"<http://e/c>"]


# ---- snapshots ----
def test_static_data_and_schema_of_a_snapshot_stay_when_more_is_loaded(tmp_path: Path) -> None:
    engine = rw.Engine(static=[[triple("a", "p", "b")]], schema=[SUB_PROPERTY % b"r"])
    engine.snapshot(tmp_path / "snapshot")
    restored = rw.Engine.restore(tmp_path / "snapshot")
    restored.load(static=[[triple("c", "p", "b")]], schema=[SUB_PROPERTY % b"w"])
    restored.register(ONE)
    assert {match.text("x") for match in restored.flush()} == {b"<http://e/a>", b"<http://e/c>"}
    assert [len(restored.push(triple("a", p, "b"), time=1)) for p in "rw"] == [1, 1]


@pytest.mark.parametrize("option", [{"seed": 2}, {"static": [[triple("a", "p", "b")]]}, {"schema": []}])
def test_restore_refuses_what_the_snapshot_decides(tmp_path: Path, option: dict[str, Any]) -> None:
    rw.Engine(seed=1).snapshot(tmp_path / "snapshot")
    with pytest.raises(rw.UsageError, match=next(iter(option))):
        rw.Engine.restore(tmp_path / "snapshot", **option)


# ---- what the schema states by itself ----
def test_a_variable_that_occurs_twice_is_one_term_in_what_the_schema_states_too() -> None:
    engine = rw.Engine(
        schema=[
            b"@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix : <http://e/> . [ owl:oneOf (:v) ] "
            b"<http://www.w3.org/2000/01/rdf-schema#subClassOf> :C ."
        ]
    )
    engine.register("SELECT ?x { ?x a ?y }")
    engine.register("SELECT ?x { ?x a ?x }", name="itself")
    assert {match.query.name for match in engine.flush()} == {"query1"}


def test_a_query_that_names_a_file_the_snapshot_has_read_can_be_registered_after_restore(tmp_path: Path) -> None:
    (tmp_path / "data.ttl").write_text("<http://e/a> <http://e/p> <http://e/b> .")
    text = f"SELECT ?x FROM <{tmp_path}/data.ttl> {{ ?x <http://e/p> ?y }}"
    engine = rw.Engine()
    engine.register(text)
    engine.push(triple("a", "n", "b"), time=1)
    engine.snapshot(tmp_path / "snapshot")
    restored = rw.Engine.restore(tmp_path / "snapshot")
    restored.register(text)
    assert [match.text("x") for match in restored.flush()] == [b"<http://e/a>"]
