"""Kafka: a real broker, Spark's own connector, and a job that is killed while it works."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from helpers.kafka_broker import Unreachable, broker, broker_jars, connector_jars, producer
from helpers.spark_faults import Job, changes, found_in, moment, workload

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]

TOPIC = "orders"


@dataclass(frozen=True)
class Jars:
    """What is not in pyspark."""

    broker: Sequence[Path]  # a Kafka server
    connector: Sequence[Path]  # Spark's source

    @property
    def settings(self) -> tuple[str, ...]:
        """Settings of Spark that take the connector from here instead of fetching it."""
        return "spark.jars.packages=", "spark.jars=" + ",".join(str(jar) for jar in self.connector)


@pytest.fixture(scope="module")
def jars() -> Jars:
    try:
        return Jars(broker_jars(), connector_jars())
    except Unreachable as error:
        pytest.skip(str(error))


def test_a_topic_is_read_once_by_a_job_that_is_killed_and_goes_on(jars: Jars, tmp_path: Path) -> None:
    work = workload(tmp_path / "work", 600)
    lines = work.stream.read_text().splitlines()
    third = len(lines) // 3
    with broker(jars.broker, tmp_path / "broker") as address:
        job = Job(work, tmp_path / "job", 1, topic=f"kafka://{address}/{TOPIC}", settings=jars.settings)

        def send(places: range) -> None:
            with producer(jars.broker, address) as message:
                for place in places:
                    message(TOPIC, place % 2, round(1000 * moment(place).timestamp()), lines[place])

        send(range(third))
        job.finish()
        send(range(third, 2 * third))
        with job.life() as run:
            changes(job.saved, run, "saved")
            run.kill()
        print(f"killed: {job.standing()}")
        send(range(2 * third, len(lines)))
        job.finish()
    assert found_in(job.out) == work.expected
