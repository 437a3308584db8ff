"""The second part of test 3 of the EP-SPARQL paper: tsunamis in the heights that a buoy tells every 15 seconds.

`python -m retewave.bench.tsunami` plays a made-up series of tides, weather and noise through the queries of
`examples/tsunami`: there are three waves that the detector must tell, and a small one that it must not.
Where it stands: beside the sweeps.  Invariant: what is told is compared with the prediction by plain arithmetic, and
this with the hours in which the waves came.  Left out: the real series of the NDBC, which is not ours to hand on.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

import retewave as rw

__all__ = ["QUERIES", "START", "STEP", "Alarm", "alarms", "detected", "lines", "series"]

QUERIES = ("begin", "add", "mean", "alarm")  # the rules, and the query
START = datetime(2010, 3, 20, tzinfo=UTC)
STEP = 15  # seconds
SAMPLES = 44_310  # as many as the paper's detector has read
WAVES = ((80, 60), (81, -50), (82, 70))  # hour, mm: each is higher than the threshold when the first sample tells it
_SMALL = (40, 20)
_HOUR = 3600 // STEP  # samples
_MEAN = 41  # samples of a mean: ten minutes, both bounds inside
_WEIGHTS = ("1.16818457031250", "-0.28197558593750", "0.14689746093750", "-0.03310644531250")
_THRESHOLD = 30  # mm
_B = "http://example.org/buoys#"


@dataclass(frozen=True)
class Alarm:
    """A height that is too far from what was predicted."""

    sample: int
    observed: int  # mm
    predicted: float


def series(samples: int = SAMPLES, seed: int = 1) -> list[int]:
    """Return the heights of the water above a buoy, in mm: tides, a low, noise, and waves of a minute or two."""
    draw, found = random.Random(seed), []
    for sample in range(samples):
        hours = sample / _HOUR
        tides = 600 * math.sin(2 * math.pi * hours / 12.4206) + 300 * math.sin(2 * math.pi * hours / 23.9345 + 1)
        low = -150 * math.exp(-(((hours - 110) / 20) ** 2))
        waves = sum(mm * math.exp(-((60 * (hours - hour) - 0.25) ** 2) / 2) for hour, mm in (*WAVES, _SMALL))
        found.append(round(5_000_000 + tides + low + waves + draw.gauss(0, 2)))
    return found


def alarms(heights: Sequence[int]) -> list[Alarm]:
    """Return the alarms, hour by hour, by plain arithmetic."""
    weights, found, means = [Fraction(weight) for weight in _WEIGHTS], [], []
    for end in range(_HOUR, len(heights) - 1, _HOUR):
        means.append(Fraction(sum(heights[end - _MEAN + 1 : end + 1]), _MEAN))
        if len(means) >= len(weights):
            latest = means[: -len(weights) - 1 : -1]
            predicted = sum((weight * mean for weight, mean in zip(weights, latest, strict=True)), Fraction())
            if abs(heights[end + 1] - predicted) > _THRESHOLD:
                found.append(Alarm(end + 1, heights[end + 1], float(predicted)))
    return found


def lines(heights: Sequence[int]) -> Iterator[str]:
    """Yield the series as N-Quads: a graph for each sample, which says its time."""
    at = "http://www.w3.org/ns/prov#generatedAtTime"
    types = [f"http://www.w3.org/2001/XMLSchema#{name}" for name in ("dateTime", "integer")]
    for sample, height in enumerate(heights):
        graph, when = f"<{_B}s{sample}>", START + timedelta(seconds=STEP * sample)
        yield f'{graph} <{at}> "{when:%Y-%m-%dT%H:%M:%SZ}"^^<{types[0]}> {graph} .\n'
        yield f'<{_B}buoy> <{_B}height> "{height}"^^<{types[1]}> {graph} .\n'


def detected(heights: Sequence[int], folder: Path) -> tuple[list[Alarm], float]:
    """Return what the queries of a folder tell, and the processor's seconds."""
    engine = rw.Engine()
    for name in QUERIES:
        engine.register(folder / f"{name}.epsparql", name=name)
    source = "".join(lines(heights)).encode()
    started, told = time.process_time(), []
    for match in engine.run(rw.read(source, format="nq", time_property="http://www.w3.org/ns/prov#generatedAtTime")):
        if match.query.name == "alarm":
            assert isinstance(match.end, datetime)
            sample = round((match.end - START).total_seconds() / STEP)
            told.append(Alarm(sample, int(str(match["observed"])), float(str(match["predicted"]))))
    return told, time.process_time() - started


def main(
    samples: Annotated[int, typer.Option(help="of the series", min=20_000)] = SAMPLES,
    queries: Annotated[Path, typer.Option(help="the folder of the detector")] = Path("examples/tsunami"),
    write: Annotated[Path | None, typer.Option(help="only write the series, as N-Quads")] = None,
) -> None:
    """Find the tsunamis in a series, and nothing else."""
    heights = series(samples)
    if write:
        write.write_text("".join(lines(heights)))
        return
    if not queries.is_dir():
        raise SystemExit(f"skipped: no queries at {queries}; they are in examples/tsunami of a checkout")
    detected(heights[:1000], queries)
    told, seconds = detected(heights, queries)
    for alarm in told:
        when = START + timedelta(seconds=STEP * alarm.sample)
        print(f"{when:%Y-%m-%d %H:%M:%S}: {alarm.observed:,} mm, predicted {alarm.predicted:,.1f} mm")
    right = [(alarm.sample, alarm.observed) for alarm in alarms(heights)]
    if [(alarm.sample, alarm.observed) for alarm in told] != right:
        raise SystemExit(f"WRONG: {told} instead of {right}")
    print(
        f"{samples:,} samples, {len(told)} alarms, {seconds:.1f} s of the processor: {samples / seconds:,.0f} samples/s"
    )


if __name__ == "__main__":
    typer.run(main)
