"""What the package logs, and that it logs nothing else."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest

import retewave as rw

_JOIN = "SELECT ?x FROM STREAM <http://e/s> [RANGE 9s] WHERE { ?x <http://e/p> ?y . ?x <http://e/q> ?z }"


def _said(caplog: pytest.LogCaptureFixture, level: int) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == level]


def test_queries_runs_and_snapshots_are_logged_as_information(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "retewave")
    engine = rw.Engine()
    query = engine.register("SELECT ?x { ?x <http://e/p> ?y }", name="found")
    list(engine.run(rw.read(b"<http://e/s> <http://e/p> <http://e/o> .", name="d.nt", rate=1)))
    engine.snapshot(tmp_path / "kept")
    rw.Engine.restore(tmp_path / "kept")
    engine.remove(query)
    told = _said(caplog, logging.INFO)
    assert told[:3] == ["query found is registered", "reading d.nt", "no more is read of d.nt, at 1 triples"]
    assert told[3].startswith(f"snapshot written: {tmp_path / 'kept'}, ")
    assert told[-2:] == [f"snapshot restored: {tmp_path / 'kept'}, at 1 triples", "query found is removed"]
    assert any(line.startswith("the network is made: queries: 1, joins: 0") for line in _said(caplog, logging.DEBUG))
    assert _said(caplog, logging.WARNING) == []


def test_what_is_left_out_is_warned_of_at_the_first_and_at_ten_times_as_many(
    caplog: pytest.LogCaptureFixture,
) -> None:
    engine = rw.Engine(max_live_rows=3, at_limit="shed")
    engine.register(_JOIN)
    for n in range(30):
        engine.push((f"http://e/s{n}", "http://e/p", 1), time=100, stream="http://e/s")
        engine.push((f"http://e/s{n}", "http://e/p", 1), time=50, stream="http://e/s")
    list(engine.run(rw.read(b"nonsense\n" * 12, rate=1, name="d.nt")))
    assert [line for line in _said(caplog, logging.WARNING) if "late" in line] == [
        "1 items came later than lateness allows",
        "10 items came later than lateness allows",
    ]
    assert [line.partition(" ")[0] for line in _said(caplog, logging.WARNING) if "oldest rows" in line] == ["1", "10"]
    malformed = [line for line in _said(caplog, logging.WARNING) if "d.nt" in line or "malformed" in line]
    assert malformed[0] == "12 malformed lines are left out" and malformed[1].startswith("d.nt:")


def test_a_sweep_and_the_bound_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "retewave")
    engine = rw.Engine(max_live_rows=2)
    engine.register(_JOIN)
    with pytest.raises(rw.LimitError):
        engine.push([(f"http://e/s{n}", "http://e/p", 1) for n in range(5)], time=1, stream="http://e/s")
    assert _said(caplog, logging.WARNING) == ["the bound of 2 live rows is met; 3 triples wait"]


def test_an_application_that_sets_no_handler_sees_nothing() -> None:
    code = """
import retewave as rw
engine = rw.Engine()
engine.register("SELECT ?x { ?x <http://e/p> ?y }")
list(engine.run(rw.read(b"nonsense", rate=1)))
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stderr == ""
