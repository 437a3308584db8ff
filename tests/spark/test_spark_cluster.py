"""A real cluster on one machine: a master, two workers, a job that is submitted, and a worker that dies."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark
import pytest
from helpers.spark_faults import Job, Life, changes, found_in, life, until, workload

import retewave.spark

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]

HOST = "127.0.0.1"
BIN = Path(pyspark.__file__).parent / "bin"
COMMAND = Path(retewave.spark.__file__).parent / "__main__.py"
SMALL = {"spark.executor.memory": "512m", "spark.executor.cores": "1", "spark.driver.bindAddress": HOST}


@dataclass(frozen=True)
class Cluster:
    """A standalone cluster."""

    address: str  # of its master
    workers: tuple[Life, ...]  # each with its executors


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[Cluster]:
    """Start a master and workers, on ports that the system chooses."""
    with ExitStack() as started:
        master = started.enter_context(_daemon(folder, "master", "Master"))
        address = _said(master, r"Starting Spark master at (spark://\S+)")
        lives = [
            started.enter_context(
                _daemon(folder, f"worker-{each}", "Worker", "--cores", "1", "--memory", "1g", address)
            )
            for each in range(workers)
        ]
        for each in lives:
            _said(each, "Successfully registered with master (spark://)")
        yield Cluster(address, tuple(lives))


@contextmanager
def _daemon(folder: Path, name: str, kind: str, *arguments: str) -> Iterator[Life]:
    """Start a part of the cluster, with a folder of its own."""
    work = folder / name
    work.mkdir()
    place = ["--host", HOST, "--port", "0", "--webui-port", "0"]
    if kind == "Worker":
        place += ["--work-dir", str(work)]
    command = [str(BIN / "spark-class"), f"org.apache.spark.deploy.{kind.lower()}.{kind}", *place, *arguments]
    with life(command, folder / f"{name}.log", SPARK_LOCAL_IP=HOST, SPARK_DAEMON_MEMORY="256m") as run:
        yield run


def _said(run: Life, pattern: str) -> str:
    """Wait until a process has said something; return the part of it that is asked for."""
    for _ in until(f"nobody said {pattern}"):
        found = re.search(pattern, run.log.read_text(errors="replace"))
        if found:
            return found[1]
        assert run.ended is None, run.told()
    raise AssertionError


@contextmanager
def submitted(job: Job, settings: Mapping[str, str]) -> Iterator[Life]:
    """Run a job by spark-submit."""
    confs = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    command = [str(BIN / "spark-submit"), "--master", job.master, *confs, str(COMMAND), *job.arguments()]
    job.folder.mkdir(parents=True, exist_ok=True)
    with life(command, job.folder / "log", SPARK_LOCAL_IP=HOST, PYSPARK_PYTHON=sys.executable) as run:
        yield run


@pytest.mark.parametrize("kind", ["joins", "of each kind", "in two stages"])
def test_a_worker_of_a_cluster_that_dies_while_a_job_runs_loses_and_repeats_nothing(tmp_path: Path, kind: str) -> None:
    with cluster(tmp_path, 2) as machines:
        work = workload(tmp_path / "work", 1500, kind)
        job = Job(work, tmp_path / "job", 8, master=machines.address)
        with submitted(job, SMALL) as run:
            for _ in range(2):
                changes(job.committed, run, "committed")
            dying = machines.workers[0]
            assert len(dying.processes()) > 1, "no executor of the worker that dies had a part in the job"
            dying.kill()
            print(f"a worker died: {job.standing()}")
            assert run.wait() == 0, run.told()
        assert found_in(job.out) == job.work.expected
