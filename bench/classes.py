"""Test 2 of the EP-SPARQL paper: how much longer a triple takes where the class asked for has 40,080 subclasses.

`python -m retewave.bench.classes` listens for the instances of a class with 40,080 subclasses, eight levels deep, and
pushes triples that tell one of these.  By turns, triple by triple, another engine without a schema gets the same
triples, and listens for the instances of any class: so it finds the same, without reasoning.
Where it stands: beside the sweeps; the paper measures the delay of a triple.  Invariant: both engines find each
instance, and nothing else.  Left out: the paper's ontology, of which only these numbers matter here.
"""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

import retewave as rw
from retewave.bench.engine import percentiles

__all__ = ["Listening", "by_turns", "classes", "stream"]

SUBCLASSES = 40_080
_BRANCHES = 4  # subclasses of a class: so there are eight levels
_E, _TYPE = "http://example.org/ethan#", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_QUERY = f"SELECT ?x FROM STREAM <{_E}stream> [RANGE 1s] WHERE {{ ?x <{_TYPE}> %s }}"


def classes(count: int) -> list[tuple[bytes, bytes, bytes]]:
    """Return the schema: each class but the first is below another one.

    >>> [(one[-3:], other[-3:]) for one, _, other in classes(5)]
    [(b'C1>', b'C0>'), (b'C2>', b'C0>'), (b'C3>', b'C0>'), (b'C4>', b'C0>'), (b'C5>', b'C1>')]
    """
    below, name = b"<http://www.w3.org/2000/01/rdf-schema#subClassOf>", f"<{_E}C%d>".encode()
    return [(name % number, below, name % ((number - 1) // _BRANCHES)) for number in range(1, count + 1)]


def stream(count: int, subclasses: int, seed: int = 1) -> list[tuple[str, str]]:
    """Return subjects with subclasses of the class."""
    draw = random.Random(seed)
    return [(f"{_E}x{number}", f"{_E}C{draw.randrange(1, subclasses + 1)}") for number in range(count)]


@dataclass
class Listening:
    """An engine, and how long it took for each triple, in seconds."""

    engine: Any
    wall: list[float] = field(default_factory=list)  # by the clock
    busy: list[float] = field(default_factory=list)  # of the processor
    matches: int = 0

    def push(self, triple: tuple[str, str, str], at: float) -> None:
        """Push a triple."""
        worked, started = time.thread_time(), time.perf_counter()
        found = self.engine.push(triple, time=at)
        ended, done = time.perf_counter(), time.thread_time()
        self.wall.append(ended - started)
        self.busy.append(done - worked)
        self.matches += len(found)


def _listening(wanted: str, schema: Sequence[tuple[bytes, bytes, bytes]] = ()) -> Listening:
    engine = rw.Engine(schema=[list(schema)]) if schema else rw.Engine()
    engine.register(_QUERY % wanted, keep=0)
    engine.flush()
    return Listening(engine)


def by_turns(triples: Sequence[tuple[str, str]], subclasses: int) -> tuple[Listening, Listening]:
    """Push each triple to an engine with the schema, and to one without."""
    reasoning, plain = _listening(f"<{_E}C0>", classes(subclasses)), _listening("?class")
    gc.collect()
    gc.freeze()
    for number, (subject, kind) in enumerate(triples):
        for one in (reasoning, plain) if number % 2 else (plain, reasoning):  # the second finds texts in the caches
            one.push((subject, _TYPE, kind), number / 1000)
    gc.unfreeze()
    return reasoning, plain


def main(
    triples: Annotated[int, typer.Option(help="how many to push", min=1000)] = 100_000,
    subclasses: Annotated[int, typer.Option(help="of the class", min=1)] = SUBCLASSES,
) -> None:
    """Measure the delay of a triple with and without reasoning."""
    told = stream(triples, subclasses)
    by_turns(told[:1000], subclasses)
    reasoning, plain = by_turns(told, subclasses)
    if (reasoning.matches, plain.matches) != (triples, triples):
        raise SystemExit(f"WRONG: {reasoning.matches:,} and {plain.matches:,} matches instead of {triples:,}")
    for name, one in ((f"{subclasses:,} subclasses", reasoning), ("no schema", plain)):
        for clock, seconds in (("by the clock", one.wall), ("of the processor", one.busy)):
            parts = ", ".join(f"{part} {1e6 * value:.1f} µs" for part, value in percentiles(seconds).items())
            print(f"{name}, {clock}: {parts}")
    medians = [statistics.median(one.busy) for one in (reasoning, plain)]
    quarter = len(told) // 4
    means = [statistics.fmean(sorted(one.busy)[: 3 * quarter]) for one in (reasoning, plain)]
    print(f"{triples:,} instances; with reasoning the median takes {medians[0] / medians[1] - 1:+.1%},", end=" ")
    print(f"the mean of the quicker three quarters {means[0] / means[1] - 1:+.1%}")


if __name__ == "__main__":
    typer.run(main)
