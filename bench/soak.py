"""An endless stream of ever-new subjects: resident memory after the first tenth must stay flat.

`python -m retewave.bench.soak` plays 50 million triples of BSBM, every offer with a number of its own,
through pattern 1, counts the matches, and fails when memory rises by more than 5% after the first tenth.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import typer

from retewave.bench.dataset import Dataset, draw
from retewave.bench.engine import ADAPTER, drain, engine_of
from retewave.bench.expected import expected_matches
from retewave.bench.generate import offers_nt
from retewave.bench.question import Question
from retewave.bench.run import why_missing
from retewave.bench.workload import Workload, prepare

__all__ = ["Soak", "growth", "resident", "several"]

ROUND = 20_000  # offers, after which the same offers come again under new numbers
WIDTH = 11  # triples an offer


def resident() -> int:
    """Return the memory that this process holds now, in bytes."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmRSS"].split()[0]) * 1024


def growth(samples: list[tuple[int, int]]) -> float:
    """Return by which part memory has risen after the first tenth: the highest sample against the first there.

    >>> growth([(0, 50), (10, 100), (50, 125), (100, 101)])
    0.25
    """
    end = samples[-1][0]
    settled = [held for triples, held in samples if triples >= end / 10]
    return max(settled) / settled[0] - 1


def several(dataset: Dataset, rounds: int) -> Dataset:
    """Return the dataset whose stream is that of the given one over and over, each offer under a new number."""
    offers = ("offer_product", "offer_vendor", "price", "published", "valid_from", "valid_to", "delivery")
    columns: dict[str, Any] = {name: np.tile(getattr(dataset, name), rounds) for name in offers}
    return replace(dataset, **columns)


@dataclass
class Soak:
    """The endless stream, and the memory seen while it was read."""

    dataset: Dataset  # one round
    rounds: int  # how often it comes
    samples: list[tuple[int, int]] = field(default_factory=list)  # (triples handed out, bytes resident)

    def chunks(self) -> Iterator[bytes]:
        """Yield the stream, taking down the memory at every chunk."""
        handed = 0
        for number in range(self.rounds):
            for chunk in offers_nt(self.dataset, first=number * self.dataset.offers + 1):
                self.samples.append((handed, resident()))
                yield chunk
                handed += chunk.count(b"\n")
        self.samples.append((handed, resident()))


def main(
    triples: Annotated[int, typer.Option(help="how many to play", min=1)] = 50_000_000,
    window: Annotated[float, typer.Option(help="of the pattern, in seconds", min=0)] = 5.0,
) -> None:
    """Play an endless stream and watch the memory."""
    if why_missing(ADAPTER):
        raise typer.BadParameter(why_missing(ADAPTER))
    question = Question(1, 2, int(window * 1_000_000))
    dataset = draw(10_000, ROUND, seed=1)
    soak = Soak(dataset, -(-triples // (ROUND * WIDTH)))
    with TemporaryDirectory() as folder:
        task, _ = prepare(Workload(question, ROUND), Path(folder))
        started = time.perf_counter()
        matches = drain(engine_of(task), soak.chunks(), question.rate)
        seconds = time.perf_counter() - started
    played, held = soak.samples[-1]
    risen = growth(soak.samples)
    print(f"{played:,} triples, {matches:,} matches, {seconds:.0f} s")
    print(f"{held / 1e6:.0f} MB resident, {risen:+.1%} at most since the first tenth")
    expected = expected_matches(several(dataset, soak.rounds), question)
    if matches != expected:
        raise SystemExit(f"WRONG: {matches:,} matches instead of {expected:,}")
    if risen > 0.05:
        raise SystemExit("memory is not flat: more than 5%")


if __name__ == "__main__":
    typer.run(main)
