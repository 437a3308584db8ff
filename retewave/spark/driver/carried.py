"""A job on its way to the workers: a file that Spark hands to every executor once.

Data's way: job (driver) -> **file** -> job (each worker process, once).
Invariant: only the file's name goes into a task's closure, so a job may hold millions of static triples.
"""

from __future__ import annotations

import atexit
import pickle
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark import SparkFiles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from retewave.spark.driver.job import Job

__all__ = ["Carried", "carry"]

JOBS = 4  # jobs that a worker process keeps at hand, one for each query that shares its session

_loaded: dict[str, Job] = {}  # of this process, by the file's name; the oldest first


@dataclass(frozen=True)
class Carried:
    """The name by which workers find a job."""

    name: str  # of the file

    def job(self) -> Job:
        """Return the job; it is read when this process first asks for it."""
        if self.name not in _loaded:
            if len(_loaded) >= JOBS:
                del _loaded[next(iter(_loaded))]
            _loaded[self.name] = pickle.loads(Path(SparkFiles.get(self.name)).read_bytes())
        return _loaded[self.name]


def carry(spark: SparkSession, job: Job) -> Carried:
    """Give a job to all executors, those that come later included."""
    context = spark.sparkContext
    name = f"retewave-{job.digest}-{job.on_error}-{job.lines}.job"
    path = _folder(context.applicationId) / name
    if not path.exists():
        path.write_bytes(pickle.dumps(job, protocol=pickle.HIGHEST_PROTOCOL))
        context.addFile(str(path))
    return Carried(name)


@cache
def _folder(application: str) -> Path:
    """Return an application's folder, which lives as long as the driver: executors that come late fetch from it."""
    folder = Path(tempfile.mkdtemp(prefix=f"retewave-{application}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
