"""Why a view has not told a row: which reports had its triples, by name."""

from __future__ import annotations

import pytest

import retewave as rw

E = "http://e/"
NOON = "2026-01-01T12:00:{:02}Z"


def engine_of(query: str, *items: tuple[int, str, str, object]) -> tuple[rw.Engine, rw.Query]:
    """Return an engine that has taken triples, at seconds after noon."""
    engine = rw.Engine()
    view = engine.register("PREFIX e: <http://e/> " + query, name="view")
    push(engine, *items)
    return engine, view


def push(engine: rw.Engine, *items: tuple[int, str, str, object]) -> None:
    for second, subject, predicate, value in items:
        engine.push((E + subject, E + predicate, value), time=NOON.format(second), stream=E + "s")


BOTH = "SELECT * FROM STREAM e:s [RANGE 10s STEP 10s] { ?x e:p ?a . ?x e:q ?b }"


def test_the_window_that_had_it_was_reported_before_the_rest_came() -> None:
    engine, view = engine_of(BOTH, (3, "x", "p", 1), (12, "x", "q", 2))
    said = str(engine.why_not(view, {"x": E + "x"})).replace("2026-01-01T", "").splitlines()
    assert said == [
        "view: why not ?x = e:x?",
        "  found 2 of 2 patterns together",
        "    ✓ ?x e:p ?a  ←  e:x e:p 1  [12:00:03Z]",
        "    ✓ ?x e:q ?b  ←  e:x e:q 2  [12:00:12Z]",
        "    ✗ one window with all of it  (report)",
        "      the last window that had e:x e:p 1 was reported at 12:00:10Z, before e:x e:q 2 came at 12:00:12Z",
        "  note: e:x e:p 1 is in the report at 12:00:10Z",
        "  note: e:x e:q 2 is in the report at 12:00:20Z, which is not made yet",
    ]
    assert engine.why_not(view, {"x": E + "x"}).alternatives[0].partials[0].refused[0].reason == "report"


def test_what_one_window_has_is_found_though_other_windows_have_a_part_of_it() -> None:
    engine, view = engine_of(BOTH, (3, "x", "p", 1), (12, "x", "q", 2), (15, "x", "p", 3))
    found = engine.why_not(view, {"x": E + "x"})
    assert [each.triple for each in found.alternatives[0].matches] == ["e:x e:p 3", "e:x e:q 2"]
    assert found.notes == ("what is there is in the report at 2026-01-01T12:00:20Z, which is not made yet",)
    push(engine, (25, "y", "p", 3))
    assert engine.why_not(view, {"x": E + "x"}).matched == 1


def test_a_pattern_alone_is_looked_for_in_the_window() -> None:
    query = """SELECT ?x (AVG(?a) AS ?mean) FROM STREAM e:s [RANGE 10s STEP 5s] { ?x e:p ?a }
        GROUP BY ?x HAVING (AVG(?a) > 5)"""
    engine, view = engine_of(query, (3, "x", "p", 1), (12, "y", "p", 2))
    found = engine.why_not(view, {"x": E + "y"})
    assert [each.triple for each in found.alternatives[0].matches] == ["e:y e:p 2"]
    assert found.notes == (
        f"what is there is in the reports from {NOON.format(15)} to {NOON.format(20)}, "
        "the first of which is not made yet",
        "this tells of the parts of the view; evaluated above them at each report: expressions, FILTER or HAVING",
    )
    push(engine, (50, "z", "p", 3))
    gone = engine.why_not(view, {"x": E + "y"}).alternatives[0].partials[0]
    assert gone.refused[0].said == "it has not come, or has left the window since"


def test_parts_of_a_view_are_told_apart() -> None:
    query = "SELECT ?x FROM STREAM e:s [RANGE 10s STEP 5s] { ?x e:p ?a MINUS { ?x e:q ?b } }"
    engine, view = engine_of(query, (3, "x", "p", 1), (3, "x", "q", 2))
    said = str(engine.why_not(view, {"x": E + "x"}))
    assert "part 1 of 2" in said
    assert "evaluated above them at each report: MINUS" in said


@pytest.mark.parametrize("window", ["TRIPLES 3", "ALL", "NOW", "LND 5s", "RANGE 10s"])
def test_windows_of_every_kind_can_be_asked(window: str) -> None:
    view = f"REGISTER RSTREAM e:o AS SELECT * FROM STREAM e:s [{window}] {{ ?x e:p ?a }}"
    engine, query = engine_of(view, (3, "x", "p", 1), (6, "y", "p", 1))
    assert [each.triple for each in engine.why_not(query, {"x": E + "y"}).alternatives[0].matches] == ["e:y e:p 1"]
