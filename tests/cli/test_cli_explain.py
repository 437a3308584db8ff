"""`retewave explain`: plans as text, JSON and pictures, with counts if they are asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers.command_line import EXAMPLES, invoke

pytestmark = pytest.mark.usefixtures("folder")


def test_explain_prints_the_plan_as_text_or_json() -> None:
    schema = EXAMPLES / "sensors" / "ontology.ttl"
    arguments = ("explain", str(EXAMPLES / "sensors" / "overheating.rq"), "--schema", str(schema))
    text = invoke(*arguments)
    assert text.exit_code == 0
    assert "Overheating" in text.stdout
    assert "Overheating" in json.dumps(json.loads(invoke(*arguments, "--format", "json").stdout))


def test_explain_draws_the_plan(tmp_path: Path) -> None:
    queries = (
        "explain",
        str(EXAMPLES / "social" / "distinct.rq"),
        "--schema",
        str(EXAMPLES / "social" / "ontology.ttl"),
    )
    out = tmp_path / "plan.dot"
    assert invoke(*queries, "--format", "dot", "--draw", "reduced", "-o", str(out)).exit_code == 0
    assert out.read_text().startswith("digraph")
    assert "digraph" in invoke(*queries, "--format", "dot").stdout


def test_explain_counts_over_streams_if_it_is_told_to(tmp_path: Path) -> None:
    sensors = EXAMPLES / "sensors"
    known = ("--schema", str(sensors / "ontology.ttl"), "--static", str(sensors / "rooms.ttl"))
    queries = ("explain", str(sensors / "overheating.rq"), *known)
    ended = invoke(*queries, "--stats", "--stream", str(sensors / "readings.nt"), "--rate", "1")
    assert "matches: 1" in ended.stdout
    assert "matches:" not in invoke(*queries).stdout
    assert "give --stats and --stream" in invoke(*queries, "--stats").stderr
