"""What all tests share: the cases of property tests, and a Spark session.

Where CI is set, property tests try the same cases in every run.
A failure there is then the change's own.  Everywhere else the cases are random, and `make test-long` tries ten times
as many.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The one local session of a test run; the tests that want it are of one xdist group, so one process starts it."""
    from retewave.bench.peers.spark_files import end
    from retewave.errors import UsageError
    from retewave.spark.driver.sessions import check_installed, session

    try:
        check_installed()
    except UsageError as error:
        pytest.skip(str(error))
    with TemporaryDirectory(prefix="retewave-tests-") as folder:
        settings = {"spark.local.dir": folder, "spark.sql.warehouse.dir": f"{folder}/warehouse"}
        settings["spark.driver.extraJavaOptions"] = "-XX:TieredStopAtLevel=1"  # it does not live long
        started = session("local[2]", shards=2, settings=settings | {"spark.driver.memory": "1g"})
        started.sparkContext.setLogLevel("OFF")
        yield started
        end(started)
