"""Exactly once: whatever is killed, and whenever, the output is that of a run that nobody disturbed.

Nothing here asks how long anything takes: a kill comes at a random time after something that the job has done.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from cases.many import many
from helpers.spark_faults import Job, Life, Workload, changes, found_in, killed, until, workload

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]

MANY = many(1) > 1
SEED = int(os.environ.get("RETEWAVE_SEED", "6"))
DRIVERS = 20 if MANY else 6  # 20 take some minutes, so only `make test-long` kills so many
WORKERS = 20 if MANY else 6
DAEMON = "pyspark.daemon"
PLANNER = "pyspark.sql.streaming.python_streaming_source_runner"


@dataclass(frozen=True)
class Undisturbed:
    """A run that nobody disturbed."""

    work: Workload  # what it did
    pace: float  # seconds a micro-batch took


@pytest.fixture(scope="module", params=["joins", "of each kind", *(["in two stages"] if MANY else [])])
def undisturbed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    folder = tmp_path_factory.mktemp("undisturbed")
    job = Job(workload(folder / "work", 1500, request.param), folder, 6)
    job.finish()
    found = found_in(job.out)
    assert found == job.work.expected
    assert {query for query, *_ in found} == job.work.asked.keys()
    return Undisturbed(job.work, job.pace())


def _moments(job: Job) -> list[tuple[str, Callable[[], float]]]:
    """Return what a job does that can be seen from outside."""
    return [("begun", job.touched), ("saved", job.saved), ("written", job.written), ("committed", job.committed)]


def test_a_job_whose_processes_are_all_killed_at_random_moments_writes_each_match_once(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    chance = random.Random(SEED)
    job = Job(undisturbed.work, tmp_path, 2 * DRIVERS + 4)
    print(f"seed {SEED}, {undisturbed.pace:.2f} s a batch")
    for number in range(DRIVERS):
        with job.life() as run:
            if chance.random() < 0.5:  # otherwise most would fall into the same batch, which is begun again and again
                changes(job.committed, run, "committed")
            moment, seen = chance.choice(_moments(job))
            changes(seen, run, moment)
            wait = chance.uniform(0, undisturbed.pace if moment == "begun" else 0.05)
            assert run.wait(wait) is None, f"the job was over before kill {number}"
            run.kill()
        print(f"kill {number}: {1000 * wait:.0f} ms after something was {moment}: {job.standing()}")
    job.finish()
    assert found_in(job.out) == undisturbed.work.expected


def _python(run: Life, *, daemons: bool) -> list[psutil.Process]:
    """Return the Python workers, or the processes that make them."""
    found = [each for each in run.processes() if _is(each, DAEMON)]
    return [each for each in found if _is(_parent(each), DAEMON) != daemons]


def _kill_one(run: Life, chance: random.Random, *, daemons: bool) -> None:
    """Kill a Python worker, or a process that makes them, as soon as there is one."""
    for _ in until("no process to kill"):
        assert run.ended is None, run.told()
        found = _python(run, daemons=daemons)
        if found and killed(chance.choice(found)):
            return


def _parent(process: psutil.Process) -> psutil.Process | None:
    try:
        return process.parent()
    except psutil.NoSuchProcess:
        return None


def _is(process: psutil.Process | None, module: str) -> bool:
    try:
        return process is not None and module in process.cmdline()
    except psutil.NoSuchProcess:
        return False


def test_python_workers_killed_at_random_moments_while_their_job_lives_lose_and_repeat_nothing(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    chance = random.Random(SEED)
    # Spark repeats a task of a local master only if it is told to; seven failures of one task are more than come here.
    job = Job(undisturbed.work, tmp_path, 2 * WORKERS + 4, master="local[2,8]")
    with job.life() as run:
        for number in range(WORKERS):
            moment, seen = chance.choice(_moments(job))
            changes(seen, run, moment)
            assert run.wait(chance.uniform(0, undisturbed.pace / 2)) is None, f"the job was over before kill {number}"
            daemons = chance.random() < 0.2
            print(f"kill {number}: a {'daemon' if daemons else 'worker'}: {job.standing()}")
            _kill_one(run, chance, daemons=daemons)
        assert run.wait() == 0, run.told()
    assert found_in(job.out) == undisturbed.work.expected


def test_a_job_whose_planner_of_files_is_killed_ends_or_goes_on_and_never_hangs(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    job = Job(undisturbed.work, tmp_path, 8)
    with job.life() as run:
        changes(job.committed, run, "committed")
        planners = [each for each in run.processes() if _is(each, PLANNER)]
        assert planners
        for planner in planners:
            killed(planner)
        assert run.wait() is not None
        print(f"exit code {run.ended}: {job.standing()}")
    job.finish()
    assert found_in(job.out) == undisturbed.work.expected
