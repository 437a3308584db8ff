"""Policies and reports that are said beside the queries' texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers.command_line import invoke

pytestmark = pytest.mark.usefixtures("folder")

SERVED = "SELECT * WHERE { { ?x <http://e/orders> ?y } SEQ { ?z <http://e/serves> ?y } WITHIN 1h }"


def test_a_policy_is_one_for_all_queries_and_uses_up() -> None:
    took = "".join(f"<http://e/{who}> <http://e/{does}> <http://e/soup> .\n" for who, does in
                   (("ann", "orders"), ("bob", "orders"), ("cook", "serves"), ("cook", "serves")))  # fmt: skip
    Path("k.nt").write_text(took)
    given = ("run", SERVED, "--stream", "k.nt", "--rate", "1", "--policy")
    found = [json.loads(line) for line in invoke(*given, "chronological").stdout.splitlines()]
    assert [(each["start"], each["end"]) for each in found] == [(0, 2), (1, 3)]
    assert len(invoke(*given, "recent keep").stdout.splitlines()) == 2
    assert len(invoke(*given, "unrestricted").stdout.splitlines()) == 4
    refused = invoke(*given, "latest")
    assert refused.exit_code == 2 and "unknown policy 'latest'" in refused.stderr


def test_reports_of_views_are_said_beside_their_texts() -> None:
    Path("k.nt").write_text(
        "".join(f"<http://e/a> <http://e/p> '{number}' .\n".replace("'", '"') for number in range(6))
    )
    count = (
        "REGISTER RSTREAM <urn:o> AS SELECT (COUNT(*) AS ?n) FROM STREAM <http://e/s> [RANGE 2s STEP 1s] { ?x ?p ?y }"
    )
    given = ("run", count, "--stream", "http://e/s=k.nt", "--rate", "1", "--report")
    found = [json.loads(line) for line in invoke(*given, "PERIODIC 2s").stdout.splitlines()]
    assert [each["end"] for each in found] == [0, 2, 4]
    refused = invoke(*given, "sometimes")
    assert refused.exit_code == 2 and "unknown report 'sometimes'" in refused.stderr
    detects = invoke("run", SERVED, *given[2:], "PERIODIC 2s")
    assert detects.exit_code == 2 and "--report is for views" in detects.stderr
