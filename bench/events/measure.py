"""Measure peers on event workloads: every run in a process of its own, by turns, each answer checked.

Where it stands: `streams` makes the data, `expected` the answers, `run` does one run; `python -m retewave.bench
events` prints what this returns.  Invariant: a figure comes only from runs that found exactly what is there: the
number of matches, and the sums of rows and deadlines where the peer tells them.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from retewave.bench.events.expected import WRAP, Expected, expected
from retewave.bench.events.run import peer, why_missing
from retewave.bench.events.streams import columns, make
from retewave.bench.events.task import EventFound, EventTask
from retewave.bench.harness import answer

__all__ = ["Contest", "contests", "play", "wrong"]


@dataclass
class Contest:
    """One peer on one stream."""

    workload: str
    size: int  # as the generator was told: events, in W3 requests
    peer: str  # as `run` knows it
    task: EventTask
    expected: Expected
    runs: list[EventFound] = field(default_factory=list)  # those that found what is there
    failure: str = ""  # why there are no more

    @property
    def matches(self) -> int:
        """Return how many matches the peer has to find."""
        as_set = self.expected.as_set if peer(self.peer).as_set else None
        return self.expected.matches if as_set is None else as_set

    def rates(self) -> list[float]:
        """Return the events a second of each run."""
        return [self.task.rows / found.seconds for found in self.runs]

    def rates_busy(self) -> list[float]:
        """Return the events a second of the processor of each run."""
        return [self.task.rows / found.busy for found in self.runs if found.busy]

    def again(self) -> None:
        """Run once more, unless a run has already failed."""
        if self.failure:
            return
        told, self.failure = answer("retewave.bench.events.run", self.peer, self.task)
        if told is None:
            return
        found = EventFound(**told)
        self.failure = wrong(found, self.expected, self.matches)
        if self.failure:
            self.runs.clear()
        else:
            self.runs.append(found)

    def to_dict(self) -> dict[str, object]:
        """Return what came out, for a file."""
        rates, busy = self.rates(), self.rates_busy()
        return {
            "workload": self.workload,
            "size": self.size,
            "peer": peer(self.peer).name,
            "events": self.task.rows,
            "matches": self.matches,
            "runs": len(rates),
            "events_per_second": statistics.median(rates) if rates else None,
            "slowest": min(rates, default=None),
            "fastest": max(rates, default=None),
            "events_per_busy_second": statistics.median(busy) if busy else None,
            "seconds": [found.seconds for found in self.runs],
            "busy": [found.busy for found in self.runs],
            "cannot": peer(self.peer).cannot,
            "failure": self.failure,
        }


def wrong(found: EventFound, right: Expected, matches: int) -> str:
    """Return what is wrong with an answer, or nothing."""
    told = {"matches": (found.matches, matches), "sum": (found.sum, right.sum), "dues": (found.dues, right.dues)}
    for name, (value, wanted) in told.items():
        if value is not None and wanted is not None and value % WRAP != wanted % WRAP:
            return f"WRONG: {name} {value:,} instead of {wanted:,}"
    return ""


def contests(workloads: Sequence[str], sizes: Sequence[int], names: Sequence[str], folder: Path) -> Iterator[Contest]:
    """Yield every peer on every stream; the streams are made, and what the peers need is built."""
    for workload in workloads:
        missing = {name: why_missing(peer(name), workload) for name in names}
        rdf = any(peer(name).reads_rdf and not missing[name] for name in names)
        for size in sizes:
            task = make(workload, size, folder, rdf)
            right = expected(workload, columns(task.csv))
            for name in names:
                failure = f"skipped: {missing[name]}" if missing[name] else ""
                yield Contest(workload, size, name, task, right, failure=failure)


def play(all_: Sequence[Contest], repetitions: int, progress: Callable[[str], None]) -> None:
    """Run every contest so many times, one run of each after the other, and again from the first."""
    for repetition in range(repetitions):
        for each in all_:
            if not each.failure:
                progress(f"{each.workload}-{each.size}: {peer(each.peer).name} ({repetition + 1}/{repetitions})")
            each.again()
