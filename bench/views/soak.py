"""Memory of a view over a long stream: `python -m retewave.bench.views.soak`.

50 million readings with ever-new values go through a view of means and extremes; resident memory must stay flat.
Invariant: the number of rows of all reports is what the stream's sensors and seconds say.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated

import typer

import retewave as rw
from retewave.bench.soak import growth, resident
from retewave.bench.views.engine import sensor_query
from retewave.bench.views.readings import EX

__all__ = ["main"]

_BLOCK = 10_000  # readings
_FLAT = 0.05  # memory may rise by so much after the first tenth


@dataclass
class _Stream:
    """Sensors in turn, each reading a value that was not there before."""

    readings: int
    sensors: int
    samples: list[tuple[int, int]] = field(default_factory=list)  # (readings handed out, bytes resident)

    def blocks(self) -> Iterator[bytes]:
        """Yield the stream, taking down the memory now and then."""
        begins = [f'<{EX}s{each}> <{EX}reads> "' for each in range(self.sensors)]
        ends = '"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
        for first in range(0, self.readings, _BLOCK):
            if first % (100 * _BLOCK) == 0:
                self.samples.append((first, resident()))
            yield "".join(
                f"{begins[each % self.sensors]}{each}{ends}" for each in range(first, first + _BLOCK)
            ).encode()
        self.samples.append((self.readings, resident()))


def main(
    readings: Annotated[int, typer.Option(min=100_000)] = 50_000_000,
    rate: Annotated[int, typer.Option(help="readings a second", min=1)] = 100_000,
    sensors: Annotated[int, typer.Option(min=1)] = 1000,
    width: Annotated[int, typer.Option(help="of the window, in seconds", min=1)] = 10,
) -> None:
    """Play a long stream through a view, and watch the memory."""
    stream, engine = _Stream(readings, sensors), rw.Engine()
    engine.register(sensor_query(1000 * width, 1000), keep=0)
    started, rows = time.process_time(), 0
    for batches in engine.run_batches(rw.read(stream.blocks(), rate=rate, stream=f"{EX}sensors")):
        rows += sum(map(len, batches))
    seconds = (readings - 1) // rate
    wanted = min(sensors, 1) + seconds * sensors
    risen = growth(stream.samples)
    print(f"{readings:,} readings, {rows:,} rows, {time.process_time() - started:.0f} s of the processor")
    print(f"{stream.samples[-1][1] / 1e6:.0f} MB resident, {risen:+.1%} at most since the first tenth")
    if rows != wanted:
        raise SystemExit(f"WRONG: {rows:,} rows instead of {wanted:,}")
    if risen > _FLAT:
        raise SystemExit("memory is not flat: more than 5%")


if __name__ == "__main__":
    typer.run(main)
