"""Measure views: `python -m retewave.bench.views`."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import zip_longest
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated

import typer

from retewave.bench.harness import Machine
from retewave.bench.views.engine import of_sensors
from retewave.bench.views.peers import PEERS, SensorRun
from retewave.bench.views.readings import SensorReport, Sensors, expected_reports, written

__all__ = ["main"]

_WIDTH = 60_000_000  # microseconds
_PATIENCE = 1200  # seconds


def _own_process(run: SensorRun, *task: object) -> tuple[float, list[SensorReport]]:
    with get_context("spawn").Pool(1) as pool:
        return pool.apply_async(run, task).get(timeout=_PATIENCE)


def _check(who: str, found: Sequence[SensorReport], right: Sequence[SensorReport]) -> None:
    for mine, its in zip_longest(found, right):
        if mine is None or its is None or not mine.same(its):
            raise SystemExit(f"WRONG: {who}: the report at {(its or mine).time} microseconds")


def _runs(store: int) -> dict[str, tuple[SensorRun, int]]:
    """Return what is run, and for how many seconds of the stream at most; 0: all."""
    found: dict[str, tuple[SensorRun, int]] = {"retewave": (of_sensors, 0)}
    for name, (module, run) in PEERS.items():
        if find_spec(module) is None:
            print(f"{name}: skipped, as {module} is not installed")
        else:
            found[name] = run, store if module == "pyoxigraph" else 0
    return found


def _sensors(of: Sensors, step: int, store: int, folder: Path) -> None:
    """Print the rows of one step."""
    print(
        f"\nRANGE 60 s STEP {step / 1e6:g} s: {of.sensors:,} sensors, {of.rate:,} readings a second for {of.seconds} s"
    )
    print(
        "| who | readings | reports | triples/s of the processor | of the engine's |", "|---|---|---|---|---|", sep="\n"
    )
    own = 0.0
    for name, (run, seconds) in _runs(store).items():
        some = Sensors(of.sensors, of.rate, seconds or of.seconds, of.seed)
        path = folder / f"{some.seconds}.nt"
        if not path.exists():
            written(some, path)
        spent, found = _own_process(run, path, of.rate, _WIDTH, step)
        _check(name, found, list(expected_reports(some, _WIDTH, step)))
        rate = some.count / spent
        own = own or rate
        print(f"| {name} | {some.count:,} | {len(found):,} | {rate:,.0f} | {rate / own:.3f} |", flush=True)


def main(
    seconds: Annotated[int, typer.Option(help="of readings", min=2)] = 90,
    rate: Annotated[int, typer.Option(help="readings a second", min=1)] = 100_000,
    sensors: Annotated[int, typer.Option(min=1)] = 1000,
    steps: Annotated[str, typer.Option(help="of the window, in seconds")] = "1,0.1",
    store: Annotated[int, typer.Option(help="seconds of readings that the RDF store gets", min=1)] = 5,
) -> None:
    """Ask for each sensor's mean and extremes, and let others ask each window again."""
    machine = Machine.here()
    print(f"{machine.cpu}, {machine.cores} cores, commit {machine.commit}; one run each, every report checked")
    with tempfile.TemporaryDirectory() as folder:
        for each in steps.split(","):
            _sensors(Sensors(sensors, rate, seconds), int(float(each) * 1e6), store, Path(folder))


if __name__ == "__main__":
    typer.run(main)
