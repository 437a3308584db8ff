"""Readings of sensors, and what a view of them must report, worked out over arrays.

Where it stands: before `engine` and `peers`, which are told the same bytes.
A reading is one triple: a sensor and a number of hundredths.  A number that a sensor tells again is the same triple.
Invariant: a seed makes the same readings on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

__all__ = ["EX", "SensorReport", "Sensors", "expected_reports", "written"]

EX = "http://example.org/"
VALUES = 10_000  # different numbers
_DECIMAL = "http://www.w3.org/2001/XMLSchema#decimal"


@dataclass(frozen=True)
class Sensors:
    """A stream of readings."""

    sensors: int  # how many
    rate: int  # readings a second, of all
    seconds: int  # how long it lasts
    seed: int = 1

    @property
    def count(self) -> int:
        """How many readings there are."""
        return self.rate * self.seconds

    def columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return times in microseconds, sensors, and hundredths."""
        draw = np.random.default_rng(self.seed)
        times = np.arange(self.count, dtype=np.int64) * 1_000_000 // self.rate
        return times, draw.integers(0, self.sensors, self.count), draw.integers(0, VALUES, self.count)


@dataclass(frozen=True)
class SensorReport:
    """What is told at one time: a row a sensor."""

    time: int  # microseconds
    sensors: np.ndarray  # in order
    counts: np.ndarray
    sums: np.ndarray  # hundredths
    least: np.ndarray  # hundredths
    most: np.ndarray  # hundredths

    def same(self, other: SensorReport) -> bool:
        """Tell whether both tell the same."""
        mine, its = ((each.sensors, each.counts, each.sums, each.least, each.most) for each in (self, other))
        return self.time == other.time and all(map(np.array_equal, mine, its))


def written(of: Sensors, path: Path) -> None:
    """Write the readings as lines of N-Triples."""
    _, sensors, values = of.columns()
    begins = [f"<{EX}s{each}> <{EX}reads> " for each in range(of.sensors)]
    ends = [f'"{each / 100:.2f}"^^<{_DECIMAL}> .\n' for each in range(VALUES)]
    with path.open("w") as file:
        for at in range(0, of.count, 1 << 16):
            some = zip(sensors[at : at + (1 << 16)].tolist(), values[at : at + (1 << 16)].tolist(), strict=True)
            file.write("".join([begins[sensor] + ends[value] for sensor, value in some]))


def expected_reports(of: Sensors, width: int, step: int) -> Iterator[SensorReport]:
    """Yield the reports of a window that slides, but that after the last reading: by the latest time of each triple."""
    times, sensors, values = of.columns()
    latest = np.full((of.sensors, VALUES), -1 << 62, dtype=np.int64)
    numbers, done = np.arange(VALUES), 0
    for time in range(0, int(times[-1]) + 1, step):
        stop = int(np.searchsorted(times, time, "right"))
        latest[sensors[done:stop], values[done:stop]] = times[done:stop]  # the last of equal places holds
        done = stop
        there = latest > time - width
        known = np.flatnonzero(there.any(axis=1))
        own = there[known]
        sums, least = own @ numbers, own.argmax(axis=1)
        yield SensorReport(time, known, own.sum(axis=1), sums, least, VALUES - 1 - own[:, ::-1].argmax(axis=1))
