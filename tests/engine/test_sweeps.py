"""A sweep of the dictionary comes to its end, whatever a row brings."""

from __future__ import annotations

from pathlib import Path

import pytest

import retewave as rw
from retewave.rete.terms import dictionary

AGENTS, VALUES = 3_000, 100
QUERY = """PREFIX : <http://e/>
SELECT ?agent ?value FROM STREAM <http://e/s> [RANGE 1s] WHERE { ?agent :asks ?key . ?key :has ?value }"""


def test_a_sweep_ends_though_each_row_brings_a_hundred_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dictionary, "_SWEEP_FROM", 500)
    has = "".join(f'<http://e/key> <http://e/has> "{value}" .\n' for value in range(VALUES))
    asks = "".join(f"<http://e/agent{number}> <http://e/asks> <http://e/key> .\n" for number in range(AGENTS))
    engine = rw.Engine(static=[has.encode()])
    engine.register(QUERY, keep=0)
    lines = [line.encode() for line in asks.splitlines(keepends=True)]
    blocks = [b"".join(lines[at : at + 50]) for at in range(0, AGENTS, 50)]
    reader = rw.read(blocks, format="nt", rate=100, stream="http://e/s")
    assert sum(len(found) for batch in engine.run_batches(reader) for found in batch) == AGENTS * VALUES
    assert len(engine.terms) < AGENTS / 2  # the agents of long ago are gone


PREFIXES = "PREFIX : <http://e/> PREFIX owl: <http://www.w3.org/2002/07/owl#>"
ONE_OF = PREFIXES + " :Kind owl:oneOf (:one :two) ."


@pytest.mark.parametrize(
    ("where", "schema"),
    [("{ { ?agent :asks :key } VALUES ?kind { :one :two } }", ()), ("{ ?agent :asks :key . ?kind a :Kind }", ONE_OF)],
    ids=["inline data", "facts of the schema"],
)
def test_terms_that_come_with_a_query_outlast_sweeps_behind_a_restore(
    where: str, schema: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(dictionary, "_SWEEP_FROM", 4)
    engine = rw.Engine(schema=[schema.encode()] if schema else (), allow_cartesian=True)
    engine.register(f"{PREFIXES} SELECT ?kind FROM STREAM <http://e/s> [RANGE 1s] WHERE {where}")
    engine.snapshot(tmp_path / "engine")
    restored = rw.Engine.restore(tmp_path / "engine", keep=0)
    for number in range(1, 401):
        asked = (f"http://e/{number}", "http://e/asks", "http://e/key" if number % 100 == 0 else "http://e/other")
        found = restored.push([asked], time=number, stream="http://e/s")
        wanted = {b"<http://e/one>", b"<http://e/two>"} if number % 100 == 0 else set()
        assert {match.text("kind") for match in found} == wanted
    assert len(restored.terms) < 400  # it was swept
