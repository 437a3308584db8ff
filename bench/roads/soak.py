"""Roads that close over and over, and agents with ever-new names: resident memory must stay flat under a rule.

`python -m retewave.bench.roads.soak` plays 50 million events from bytes, lap by lap: closures at 100 a second, and an
agent in each 2,500th event.
Invariant: every run is checked: what the rules derive in all laps follows from the first two.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import typer

import retewave as rw
from retewave.bench.roads.city import SECOND, STREAM, City, Traffic, city
from retewave.bench.roads.engine import RULES, engine_of
from retewave.bench.roads.search import Derived, by_numba
from retewave.bench.soak import growth, resident

__all__ = ["RoadLaps", "derived", "lap"]

RATE = 100  # events a second
_MOST = 0.01  # memory may rise by so much after the first tenth
_BLOCK = 50_000  # lines


def lap(town: City, events: int, each: int, seed: int = 1) -> Traffic:
    """Return a lap: one event each 10 ms, of which each so-many-th is an agent."""
    draw = np.random.default_rng(seed)
    number, none = np.arange(events), np.full(events, -1)
    tells = number % each == each // 2  # never the last event: its instant would stay open
    road = np.where(tells, -1, draw.integers(0, len(town.start), events))
    at = np.where(tells, draw.integers(0, town.crossings, events), -1)
    return Traffic(number * SECOND // RATE, road, np.where(tells, number, -1), at, none)


def derived(town: City, once: Traffic, laps: int) -> Derived:
    """Return what is derived in so many laps, each longer than a closure: what the second adds, each does."""
    first = by_numba(town, once)
    length = len(once.time) * SECOND // RATE
    twice = Traffic(
        np.concatenate((once.time, once.time + length)),
        *(np.tile(column, 2) for column in (once.road, once.agent, once.at, once.wanted)),
    )
    both = by_numba(town, twice)
    facts, solutions = both.facts - first.facts, both.solutions - first.solutions
    return Derived(first.facts + (laps - 1) * facts, first.solutions + (laps - 1) * solutions, 0)


@dataclass
class RoadLaps:
    """A lap that comes again and again, and the memory seen while it was read."""

    once: Traffic
    laps: int
    samples: list[tuple[int, int]] = field(default_factory=list)  # (events handed out, bytes resident)

    def blocks(self) -> Iterator[bytes]:
        """Yield whole lines, taking down the memory at every block; agents have new names in each lap."""
        lines = [" ".join(f"<{term}>" for term in told) + " .\n" for _, [told] in self.once.triples()]
        blocks = ["".join(lines[at : at + _BLOCK]).encode() for at in range(0, len(lines), _BLOCK)]
        for number in range(self.laps):
            for place, block in enumerate(blocks):
                self.samples.append((number * len(lines) + place * _BLOCK, resident()))
                yield block.replace(b"#agent", b"#agent%d_" % number)
            print(f"lap {number + 1} of {self.laps}, {resident() / 1e6:.0f} MB", file=sys.stderr)
        self.samples.append((self.laps * len(lines), resident()))


def main(
    events: Annotated[int, typer.Option(help="how many to play", min=1)] = 50_000_000,
    size: Annotated[int, typer.Option(help="events of a lap", min=10_000)] = 1_000_000,
    each: Annotated[int, typer.Option(help="of so many events one is an agent", min=1)] = 2_500,
) -> None:
    """Play traffic lap by lap and watch the memory."""
    town = city()
    once = lap(town, size, each)
    laps = RoadLaps(once, -(-events // size))
    engine, started = engine_of(town, *RULES["rq"]), time.perf_counter()
    batches = engine.run_batches(rw.read(laps.blocks(), format="nt", rate=RATE, stream=STREAM))
    solutions = sum(len(matches) for batch in batches for matches in batch)
    found, seconds = Derived(engine.stats()["derivations"], solutions, 0), time.perf_counter() - started
    risen, (played, held) = growth(laps.samples), laps.samples[-1]
    print(f"{played:,} events, {found.facts:,} new facts, {found.solutions:,} solutions of rules, {seconds:.0f} s")
    print(f"{held / 1e6:.0f} MB resident, {risen:+.2%} at most since the first tenth")
    if found != (right := derived(town, once, laps.laps)):
        raise SystemExit(f"WRONG: {found} instead of {right}")
    if risen > _MOST:
        raise SystemExit(f"memory is not flat: more than {_MOST:.0%}")


if __name__ == "__main__":
    typer.run(main)
