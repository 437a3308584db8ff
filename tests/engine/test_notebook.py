"""Queries, matches and engines show themselves in a notebook, and nothing in them runs."""

from pathlib import Path

import pytest

import retewave as rw
from retewave.viz.draw import render
from retewave.viz.draw.graph import leading_to

SCRIPT = "<script>alert(1)</script>"


def engine_with_a_match() -> tuple[rw.Engine, rw.Query]:
    engine = rw.Engine()
    query = engine.register("SELECT * { ?x <urn:p> ?y . ?y <urn:q> ?z }", name=SCRIPT)
    engine.push([("urn:a", "urn:p", "urn:b"), ("urn:b", "urn:q", f'"{SCRIPT}"')], time=7)
    return engine, query


def test_query_shows_its_text_count_and_last_matches() -> None:
    _, query = engine_with_a_match()
    shown = query._repr_html_()
    assert "SELECT, 1 match<" in shown
    assert "<td>7</td><td>7</td><td>&lt;urn:a&gt;</td><td>&lt;urn:b&gt;</td>" in shown


def test_query_shows_only_its_last_matches() -> None:
    engine = rw.Engine()
    query = engine.register("SELECT * { ?x <urn:p> ?y }")
    for time in range(12):
        engine.push((f"urn:{time}", "urn:p", "urn:b"), time=time)
    shown = query._repr_html_()
    assert "12 matches, the last 10, latest first" in shown
    assert ("<td>11</td>" in shown, "<td>1</td>" in shown) == (True, False)


def test_match_shows_its_variables_and_interval() -> None:
    _, query = engine_with_a_match()
    assert "[7]" in query.matches[0]._repr_html_()
    assert "<td>?x</td><td>&lt;urn:a&gt;</td>" in query.matches[0]._repr_html_()


def test_engine_shows_its_queries_and_live_rows() -> None:
    engine, _ = engine_with_a_match()
    assert "<td>live rows</td><td>2</td>" in engine._repr_html_()


def test_what_comes_from_data_is_shown_and_not_run() -> None:
    engine, query = engine_with_a_match()
    for shown in (engine._repr_html_(), query._repr_html_(), query.matches[0]._repr_html_(), engine._repr_svg_() or ""):
        assert "<script" not in shown
    assert "&lt;script&gt;" in query._repr_html_()


def test_engine_draws_itself_where_a_program_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, _ = engine_with_a_match()
    monkeypatch.setattr(render, "render", lambda dot, format: b"<?xml?><svg>" + dot.encode())
    assert svg(engine).startswith("<svg>digraph")


def test_engine_without_a_program_that_draws_leaves_the_picture_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing_draws(dot: str, format: str) -> bytes:
        raise rw.UsageError("there is nothing here that draws")

    engine, _ = engine_with_a_match()
    monkeypatch.setattr(render, "render", nothing_draws)
    assert engine._repr_svg_() is None
    assert rw.Engine()._repr_svg_() is None


def svg(shown: rw.Engine | rw.Query) -> str:
    drawn = shown._repr_svg_()
    assert drawn is not None
    return drawn


def two_queries_that_share() -> tuple[rw.Engine, rw.Query, rw.Query]:
    engine = rw.Engine()
    tea = engine.register("SELECT * { ?x <urn:p> ?y . ?y <urn:tea> ?z }", name="tea")
    milk = engine.register("SELECT * { ?x <urn:p> ?y . ?y <urn:milk> ?z }", name="milk")
    return engine, tea, milk


def test_query_draws_its_own_part_of_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "render", lambda dot, format: b"<?xml?><svg>" + dot.encode())
    engine, tea, milk = two_queries_that_share()
    drawn = svg(tea)
    assert drawn.startswith("<svg>digraph")
    assert ("urn:p" in drawn, "urn:tea" in drawn, "urn:milk" in drawn) == (True, True, False)
    assert "shared by 2" in drawn
    assert "urn:tea" in svg(engine)
    assert "urn:milk" in svg(milk)
    assert drawn in tea._repr_html_(), "a notebook prefers HTML"


def test_query_that_is_not_registered_any_more_has_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "render", lambda dot, format: b"<svg>" + dot.encode())
    engine, tea, milk = two_queries_that_share()
    engine.remove(milk)
    assert milk._repr_svg_() is None
    assert "network" not in milk._repr_html_()
    assert "shared by" not in svg(tea)


def test_query_of_a_restored_engine_draws_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(render, "render", lambda dot, format: b"<svg>" + dot.encode())
    engine, tea, _ = two_queries_that_share()
    engine.snapshot(tmp_path / "snapshot")
    restored = rw.Engine.restore(tmp_path / "snapshot")
    assert restored.queries[0]._repr_svg_() == tea._repr_svg_()


def test_query_among_many_of_its_shape_draws_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "render", lambda dot, format: b"<svg>" + dot.encode())
    engine = rw.Engine()
    alike = [engine.register(f"SELECT * {{ ?x <urn:p> <urn:o{n}> }}", name=f"of {n}") for n in range(20)]
    assert "of 17" in svg(alike[17])
    assert "of 16" not in svg(alike[17])


def test_a_part_that_leads_to_no_query_is_refused() -> None:
    engine, _, _ = two_queries_that_share()
    with pytest.raises(rw.UsageError, match="no query 'coffee'"):
        leading_to(engine.graph(), "coffee")
