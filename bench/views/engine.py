"""retewave over the sensors: from bytes to reports.

Where it stands: beside `peers`, under the same readings.
"""

from __future__ import annotations

import gc
import tempfile
import time
from decimal import Decimal
from itertools import islice
from pathlib import Path

import numpy as np

import retewave as rw
from retewave.bench.views.readings import EX, SensorReport
from retewave.match import Matches

__all__ = ["of_sensors", "sensor_query"]

_WARM = 50_000  # readings


def sensor_query(width: int, step: int, told: str = "RSTREAM") -> str:
    """Return the view: counts, means and extremes of each sensor."""
    return f"""PREFIX : <{EX}> REGISTER {told} :out AS
        SELECT ?s (COUNT(*) AS ?n) (AVG(?v) AS ?mean) (MIN(?v) AS ?least) (MAX(?v) AS ?most)
        FROM STREAM :sensors [RANGE {width}ms STEP {step}ms] WHERE {{ ?s :reads ?v }} GROUP BY ?s"""


def of_sensors(path: Path, rate: int, width: int, step: int) -> tuple[float, list[SensorReport]]:
    """Return the processor's seconds from bytes to the last report, and the reports; times are microseconds."""
    with tempfile.NamedTemporaryFile(suffix=".nt") as warm:
        with path.open("rb") as file:
            warm.write(b"".join(islice(file, _WARM)))
        warm.flush()
        _played(Path(warm.name), _WARM, width, step)  # what is compiled, is
    gc.freeze()
    spent, kept = _played(path, rate, width, step)
    return spent, [_report(each) for each in kept]


def _played(path: Path, rate: int, width: int, step: int) -> tuple[float, list[Matches]]:
    engine = rw.Engine()
    engine.register(sensor_query(width // 1000, step // 1000), keep=0)
    kept: list[Matches] = []
    started = time.process_time()
    for batches in engine.run_batches(rw.read(path, rate=rate, stream=f"{EX}sensors")):
        kept += batches
    return time.process_time() - started, kept


def _report(batch: Matches) -> SensorReport:
    sensors = np.array([int((text or b"").rpartition(b"/s")[2][:-1]) for text in batch.texts("s")])
    order = np.argsort(sensors)
    counts, means, least, most = (_numbers(batch, name)[order] for name in ("n", "mean", "least", "most"))
    sums = np.array([round(mean * count * 100) for mean, count in zip(means, counts, strict=True)])
    _, at = batch.reported or (0, 0)
    hundredths = (np.array([int(each * 100) for each in of]) for of in (least, most))
    return SensorReport(at, sensors[order], counts.astype(np.int64), sums, *hundredths)


def _numbers(batch: Matches, name: str) -> np.ndarray:
    return np.array([Decimal((text or b'""').split(b'"')[1].decode()) for text in batch.texts(name)], dtype=object)
