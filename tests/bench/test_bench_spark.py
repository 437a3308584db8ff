"""What the bench runs on Spark counts right: with retewave, and in each of the plain formulations."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from retewave.bench.dataset import draw
from retewave.bench.events.streams import absent, make
from retewave.bench.events.task import WORKLOADS
from retewave.bench.generate import offers_nt
from retewave.bench.harness import Point, measure_all
from retewave.bench.peers import spark_files
from retewave.bench.question import Question
from retewave.bench.run import SPARK, adapter, why_missing
from retewave.bench.spark_events import GROUPED, simulated
from retewave.bench.workload import Workload

ASK = Question(1, 2, window=500_000, rate=1_000)  # an offer takes 11 ms, the stream 6.6 s


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("name", SPARK)
def test_on_spark_the_expected_matches_are_found(name: str, tmp_path: Path) -> None:
    measured = adapter(name)
    if why_missing(measured):
        pytest.skip(why_missing(measured))
    question = replace(ASK, distinct=measured.distinct)
    (done,) = measure_all([Point("spark", measured.name, 600, name, Workload(question, 600))], 1, tmp_path, print)
    assert not done.failure
    assert done.expected > 0
    assert (done.results[0].peak_rss or 0) > 200_000_000


@pytest.mark.skipif(bool(absent()), reason=absent())
def test_the_busiest_of_some_shards_does_its_real_work(tmp_path: Path) -> None:
    task = make("W4", 2_000, tmp_path, rdf=True)
    one, four = (simulated("W4", WORKLOADS["W4"].query(), task, shards) for shards in (1, 4))
    assert (four.by, one.skew) == ("?key", 1.0)
    assert 1.0 <= four.skew < 2.0
    view = simulated("view", GROUPED, make("W1", 2_000, tmp_path, rdf=True), 4)
    assert view.by == "?company"
    assert 1.0 <= view.skew < 2.0


def test_the_files_of_a_stream_hold_its_triples_in_time_order_and_then_an_hour_of_silence(tmp_path: Path) -> None:
    offers = tmp_path / "offers.nt"
    offers.write_bytes(b"".join(offers_nt(draw(100, 10, seed=1))))
    spark_files.write_timed(offers, 1_000, tmp_path / "timed", 40)
    files = sorted((tmp_path / "timed").iterdir(), key=lambda path: path.stat().st_mtime)
    lines = [line for path in files[:-1] for line in path.read_bytes().splitlines()]
    assert [path.read_bytes().count(b"\n") for path in files[:-1]] == [40, 40, 30]
    assert [line.split(b" ", 1)[1] + b" ." for line in lines] == offers.read_bytes().splitlines()
    times = [int(line.split(b" ", 1)[0]) for line in lines]
    assert times == [spark_files.START + 1_000 * number for number in range(110)]
    last = {int(line.split(b" ", 1)[0]) for line in files[-1].read_bytes().splitlines()}
    assert last == {times[-1] + 1_000 + 3_600_000_000}


def test_a_worker_that_has_ended_holds_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    psutil = pytest.importorskip("psutil", reason="psutil is not installed")
    with subprocess.Popen([sys.executable, "-c", ""]) as worker:
        ended = psutil.Process(worker.pid)
    monkeypatch.setattr(psutil.Process, "children", lambda self, recursive: [ended])
    assert spark_files.resident() > 10_000_000
