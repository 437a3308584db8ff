"""A sweep of the dictionary comes to its end, whatever a row brings."""

from __future__ import annotations

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
