"""Pictures of queries with operators of time: probes, their memories and the tuples that they decide on."""

from __future__ import annotations

from typing import Any

import networkx
import pytest
from helpers.shown import BETWEEN, NESTED, NEVER, OPTIONAL, OPTIONALSEQ, SEQ, engine_of, needs_renderer

import retewave as rw


def drawing_of(engine: rw.Engine, drawing: str) -> str:
    return engine.draw(drawing, "dot").decode()  # type: ignore[arg-type]


def links_of(drawn: networkx.MultiDiGraph, kind: str) -> list[tuple[str, str]]:
    return [(source, target) for source, target, found in drawn.edges(data="kind") if found == kind]


def node_of(drawn: networkx.MultiDiGraph, kind: str) -> dict[str, Any]:
    (found,) = [data for _, data in drawn.nodes(data=True) if data["kind"] == kind]
    return found


def counting(query: str) -> rw.Engine:
    engine = engine_of(query, stats=True)
    for time, predicate in enumerate("aab"):
        engine.push((f"http://e/x{time}", f"http://e/{predicate}", 1), time=time)
    return engine


def test_probe_is_a_node_with_the_memory_that_it_looks_at_and_the_tuples_that_it_decides_on() -> None:
    drawn = engine_of(NEVER).graph()
    assert links_of(drawn, "decides") == [("alpha:0", "probe:0")]
    assert links_of(drawn, "fills") == [("alpha:1", "memory:0")]
    assert links_of(drawn, "looks") == [("memory:0", "probe:0")]
    assert links_of(drawn, "completes") == [("probe:0", "query:q")]
    probe = node_of(drawn, "probe")
    assert (probe["operator"], probe["label"], probe["wants"], probe["when"], probe["window"]) == (
        "SEQ NOT", "?x", "absent", "at the deadline, start + 5m", "5m",
    )  # fmt: skip
    assert probe["text"].startswith("SEQ NOT on ?x, tuple before αM0, ")


def test_relations_are_told_in_the_names_of_the_memories() -> None:
    assert node_of(engine_of(SEQ).graph(), "join")["relations"] == ["αM0 before αM1", "αM1 before αM2"]
    assert node_of(engine_of(OPTIONALSEQ).graph(), "probe")["relations"] == ["αM2 before tuple"]
    between = node_of(engine_of(BETWEEN).graph(), "probe")["relations"]
    assert between[1:] == ["{ ?x e:a ?a } before αM2", "αM2 before { ?x e:b ?b }"]


def test_picture_says_what_a_probe_asks_and_when_it_decides() -> None:
    dot = drawing_of(engine_of(OPTIONALSEQ), "network")
    assert "<B>OPTIONALSEQ ?x</B>" in dot and "FILTER (?a &lt; ?b)" in dot
    assert "passes if absent" in dot and "at arrival" in dot
    assert "keeps no rows: can only come last" in dot
    assert ":in:w" in dot


def test_levels_above_the_first_are_drawn() -> None:
    dot = drawing_of(engine_of(NESTED), "network")
    assert "start + 5m, level 2" in dot and "level 1" not in dot


def test_counting_probe_shows_what_waits_and_what_passed() -> None:
    engine = counting(NEVER)
    assert "2 waiting · 0 of 0 passed" in drawing_of(engine, "network")
    drawn = engine.graph()
    assert drawn.edges["alpha:0", "probe:0", 0]["rows"] == 2
    engine.advance(10_000)
    assert engine.graph().edges["probe:0", "query:q", 0]["rows"] == 2


def test_memory_that_keeps_no_rows_shows_what_came_and_no_live_rows() -> None:
    dot = drawing_of(counting("SELECT * { { ?x e:a ?a } SEQ { ?x e:b ?b } }"), "network")
    assert dot.count(" live") == 1


@needs_renderer
@pytest.mark.parametrize("query", [SEQ, OPTIONALSEQ, BETWEEN, NEVER, OPTIONAL, NESTED])
def test_every_operator_can_be_rendered(query: str) -> None:
    assert engine_of(query).draw("network", "png").startswith(b"\x89PNG")
    assert b"<svg" in counting(query).draw("all", "svg")
