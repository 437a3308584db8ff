"""The tsunami detector tells the three waves of the series, and nothing else."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from retewave.bench import tsunami
from retewave.bench.tsunami import START, STEP, WAVES, alarms, detected, series
from retewave.cli.app import app

EXAMPLE = Path(__file__).parents[2] / "examples" / "tsunami"
UNTIL_THE_WAVES = 84 * 240


def test_plain_arithmetic_tells_the_waves_and_not_the_small_one() -> None:
    assert [alarm.sample for alarm in alarms(series())] == [hour * 240 + 1 for hour, _ in WAVES]


@pytest.mark.parametrize("seed", range(2, 7))
def test_no_noise_is_taken_for_a_wave(seed: int) -> None:
    assert len(alarms(series(seed=seed))) == len(WAVES)


def test_the_prediction_is_that_of_a_cubic_polynomial() -> None:
    hours, heights = np.array([0.0, -1.0, -2.0, -3.0]), np.array([5.0, 3.0, 8.0, 1.0])
    cubic = np.polyval(np.polyfit(hours, heights, 3), 5.25 / 60)
    assert np.array(tsunami._WEIGHTS, dtype=float) @ heights == pytest.approx(cubic)


def test_the_queries_tell_what_plain_arithmetic_tells() -> None:
    heights = series(UNTIL_THE_WAVES)
    told, _ = detected(heights, EXAMPLE)
    right = alarms(heights)
    assert [(alarm.sample, alarm.observed) for alarm in told] == [(alarm.sample, alarm.observed) for alarm in right]
    assert [alarm.predicted for alarm in told] == pytest.approx([alarm.predicted for alarm in right], abs=1e-6)
    assert len(told) == 3


def test_a_difference_of_thirty_millimetres_is_no_alarm_and_one_more_is() -> None:
    for height, count in ((30, 0), (31, 1), (-30, 0), (-31, 1)):
        heights = [5_000_000] * (4 * 240 + 2)
        heights[4 * 240 + 1] += height
        told, _ = detected(heights, EXAMPLE)
        assert len(told) == len(alarms(heights)) == count


def test_the_example_runs_as_its_comment_says(tmp_path: Path) -> None:
    stream = tmp_path / "series.nq"
    tsunami.main(samples=UNTIL_THE_WAVES, write=stream)
    said = (EXAMPLE / "alarm.epsparql").read_text()
    assert "--time-property http://www.w3.org/ns/prov#generatedAtTime | grep predicted" in said
    queries = [str(EXAMPLE / f"{name}.epsparql") for name in tsunami.QUERIES]
    at = "http://www.w3.org/ns/prov#generatedAtTime"
    done = CliRunner().invoke(
        app, ["run", *queries, "--stream", str(stream), "--time-property", at, "--format", "ndjson"]
    )
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in done.stdout.splitlines() if '"predicted"' in line]
    when = [START + timedelta(seconds=STEP * alarm.sample) for alarm in alarms(series(UNTIL_THE_WAVES))]
    assert [f"{each:%Y-%m-%dT%H:%M:%S}Z" for each in when] == [row["end"] for row in rows]
