"""Reports as pictures: each report's windows are boxes from their opening to their end, and its time is a line."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

import retewave as rw

SVG = "{http://www.w3.org/2000/svg}"
E = "http://e/"


def reports_of(window: str, *times: float, name: str = "view") -> list[rw.Report]:
    """Return the reports of a view over triples that come at some times."""
    engine = rw.Engine()
    view = engine.register(
        f"PREFIX e: <{E}> REGISTER RSTREAM e:o AS SELECT * FROM STREAM e:s [{window}] {{ ?x e:p ?y }}", name=name
    )
    for time in times:
        engine.push((E + "a", E + "p", time), time=time, stream=E + "s")
    return list(engine.reports(view))


def boxes(picture: str) -> list[tuple[float, float]]:
    """Return where the windows of a picture begin and end."""
    found = (each for each in ET.fromstring(picture).iter(f"{SVG}rect") if each.get("class") == "window")
    return [(float(each.get("x", "")), float(each.get("x", "")) + float(each.get("width", ""))) for each in found]


def test_a_window_is_a_box_and_the_report_a_line_at_its_end() -> None:
    reports = reports_of("RANGE 10s STEP 5s", 3, 21)
    picture = rw.draw_reports(reports)
    lines = [float(x) for x in re.findall(r'<path d="M([\d.]+) [\d.]+V[\d.]+" stroke="#d92d20"', picture)]
    found = boxes(picture)
    assert [end for _, end in found] == pytest.approx(lines, abs=0.2)
    widths = [end - begin for begin, end in found]
    steps = [after - before for before, after in pairwise(lines)]
    assert widths == pytest.approx([2 * steps[0]] * 3, abs=0.3)
    titles = [each.text for each in ET.fromstring(picture).iter(f"{SVG}title")]
    assert titles[0] == "[RANGE 10s STEP 5s] on <http://e/s>: behind -5, up to 5"


def test_a_report_has_its_windows() -> None:
    [first, *_] = reports_of("FROM NOW-10s TO NOW-4s STEP 5s", 3, 21)
    [window] = first.windows
    assert (int(window.opens), int(window.closes), window.micros) == (-5, 1, (-5_000_000, 1_000_000))  # type: ignore[arg-type]
    assert boxes(first.to_svg())


@pytest.mark.parametrize("window", ["ALL", "NOW", "TRIPLES 2 STEP 1", "LND 2s", "FROM 1 TO 5"])
@pytest.mark.filterwarnings("ignore")
def test_windows_of_every_kind_are_drawn(window: str) -> None:
    reports = reports_of(window, 3, 4, 7, 30)
    assert reports
    ET.fromstring(rw.draw_reports(reports))


def test_names_are_escaped() -> None:
    picture = rw.draw_reports(reports_of("RANGE 10s STEP 5s", 3, 21, name="<a & b>"))
    assert "&lt;a &amp; b&gt;" in picture


def test_no_report_and_reports_of_several_views_are_refused() -> None:
    with pytest.raises(rw.UsageError, match="there is no report to draw"):
        rw.draw_reports([])
    with pytest.raises(rw.UsageError, match="the reports of one view"):
        rw.draw_reports([*reports_of("RANGE 10s STEP 5s", 3, 21), *reports_of("RANGE 5s STEP 5s", 3, 21)])
