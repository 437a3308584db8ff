"""docs/reference.md lists every public attribute, and nothing that is not there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import retewave as rw

PAGE = (Path(__file__).parents[2] / "docs" / "reference.md").read_text()
_OF_ANY_MAPPING = {"match"}  # `match[name]` stands for the mapping itself


@cache
def _objects() -> Mapping[str, Any]:
    late: list[rw.LateItem] = []
    engine = rw.Engine(on_late=late.extend)
    query = engine.register("SELECT ?x { ?x <http://e/p> ?y }")
    reader = rw.read(b"<http://e/s> <http://e/p> <http://e/o> .", rate=1)
    [[batch]] = engine.run_batches(reader)
    engine.push(("http://e/s", "http://e/p", 1), time=9)
    engine.push(("http://e/s", "http://e/p", 1), time=5)
    view = engine.register("SELECT (COUNT(*) AS ?n) { ?x <http://e/p> ?y }")
    engine.push(("http://e/s", "http://e/p", 1), time=12)
    engine.flush()
    [report] = engine.reports(view)
    return {
        "rw.Engine": engine,
        "Query": query,
        "rw.Match": batch[0],
        "rw.Matches": batch,
        "rw.Report": report,
        "rw.Reader": reader,
        "Position": engine.positions[0],
        "rw.LateItem": late[0],
    }


def _listed(title: str) -> set[str]:
    """Return the names in the first column of a section's table, and those that its last sentence calls inside."""
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    [text] = [each for each in section if each.startswith(title + "\n")]
    cells = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    cells += [paragraph for paragraph in text.split("\n\n") if paragraph.startswith("Inside:")]
    return {re.match(r"\w+", code)[0] for cell in cells for code in re.findall(r"`([^`]+)`", cell)} - _OF_ANY_MAPPING  # type: ignore[index]


@pytest.mark.parametrize("title", list(_objects()))
def test_every_public_attribute_has_its_line_and_every_line_its_attribute(title: str) -> None:
    assert _listed(title) == {name for name in dir(_objects()[title]) if not name.startswith("_")}


def test_the_page_has_no_other_sections() -> None:
    assert re.findall(r"^## (.*)$", PAGE, flags=re.MULTILINE) == list(_objects())
