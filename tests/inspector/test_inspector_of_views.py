"""Views in the inspector: the time of a report is a step; windows, parts and reports are on the query's page."""

from __future__ import annotations

from pathlib import Path

import pytest

import retewave as rw
from retewave.inspector.controller import Controller

VIEW = """PREFIX : <http://e/> SELECT ?x (COUNT(*) AS ?n) FROM STREAM :s [RANGE 4s STEP 2s]
    { ?x :has ?y OPTIONAL { ?x :likes ?z } } GROUP BY ?x"""


@pytest.fixture
def stream(tmp_path: Path) -> rw.Reader:
    path = tmp_path / "stream.nt"
    path.write_text("".join(f"<http://e/a> <http://e/has> <http://e/{number}> .\n" for number in range(7)))
    return rw.read(path, rate=1, stream="http://e/s")


def controller_of(stream: rw.Reader, **options: object) -> Controller:
    engine = rw.Engine()
    engine.register(VIEW, name="q", **options)  # type: ignore[arg-type]
    return Controller(engine, [stream])


def test_the_time_of_a_report_is_a_step_of_its_own_and_behind_the_last_triple_there_is_none(stream: rw.Reader) -> None:
    controller = controller_of(stream)
    steps = []
    while (step := controller.step()) is not None:
        steps.append((step.what, float(step.time), step.matches))
    controller.close()
    assert steps == [
        ("triple", 0, 0),
        ("report", 0, 1),
        ("triple", 1, 0),
        ("triple", 2, 0),
        ("report", 2, 1),
        ("triple", 3, 0),
        ("triple", 4, 0),
        ("report", 4, 1),
        ("triple", 5, 0),
        ("triple", 6, 0),
    ]
    assert controller.snapshot()["nodes"]["query:q"] == {"matches": 4, "reports": 4}  # the end closes the last instant


def test_a_views_page_has_its_windows_its_parts_and_its_reports(stream: rw.Reader) -> None:
    controller = controller_of(stream)
    before = controller.matches("q")
    assert (before["note"], before["reports"]) == ("; 0 reports; no report before more comes", None)
    for _ in range(6):
        controller.step()
    page = controller.matches("q")
    assert page["note"] == "; 2 reports; the next one at 4.0"
    assert page["windows"] == [
        "[RANGE 4s STEP 2s] on :s: behind 0.0, up to 4.0",
        "4 solutions of ?x :has ?y",
        "0 solutions of ?x :likes ?z",
    ]
    assert page["reports"].count('class="window"') == 2
    assert page["total"] == 2
    controller.close()


def test_a_row_of_an_explained_view_has_its_picture(stream: rw.Reader) -> None:
    controller = controller_of(stream, explain=True)
    for _ in range(6):
        controller.step()
    page = controller.matches("q")
    assert len(page["why"]) == 2
    assert all("GROUP BY" in each for each in page["why"])
    assert page["reports"].count('class="triple"') == 4  # one in the first report, three in the second
    controller.close()
