"""A city, its traffic, and what is asked of them: the data of the roads.

Where it stands: before `search` and `engine`, which are told the same city and the same traffic.
A city is a square of crossings with a road each way between neighbours, and some one-way roads from anywhere to
anywhere.  A closure holds ten seconds, both bounds inside, and not at its own instant; then the road is open again.
Invariant: a seed makes the same arrays on every machine.  Left out: names of streets, lengths of roads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

__all__ = ["CLOSED", "SECOND", "City", "Traffic", "city", "general", "query", "visits"]

SECOND = 1_000_000  # microseconds
CLOSED = 10 * SECOND  # how long a closure holds
PREFIX = "http://example.org/city#"
STREAM = f"{PREFIX}traffic"
_QUERIES = Path(__file__).parents[1] / "queries"


@dataclass(frozen=True)
class City:
    """Crossings from 0 on, and roads between them."""

    crossings: int
    start: np.ndarray  # a road's first crossing
    end: np.ndarray  # its other one

    def static(self) -> Iterator[tuple[bytes, bytes, bytes]]:
        """Yield the roads as triples."""
        for road, (one, other) in enumerate(zip(self.start.tolist(), self.end.tolist(), strict=True)):
            yield _text(f"road{road}"), _text("from"), _text(f"crossing{one}")
            yield _text(f"road{road}"), _text("to"), _text(f"crossing{other}")


@dataclass(frozen=True)
class Traffic:
    """What happens in the city, in the order of time; of one instant agents come before closures."""

    time: np.ndarray  # µs
    road: np.ndarray  # that closes; -1: an agent tells its place
    agent: np.ndarray  # -1: a road closes
    at: np.ndarray  # the crossing where the agent is
    wanted: np.ndarray  # the crossing that it asks for; -1: none

    def first(self, rows: int) -> Traffic:
        """Return the beginning."""
        return Traffic(*(column[:rows] for column in (self.time, self.road, self.agent, self.at, self.wanted)))

    def triples(self) -> Iterator[tuple[int, list[tuple[str, str, str]]]]:
        """Yield each event: its time, and its triples."""
        columns = (self.time, self.road, self.agent, self.at, self.wanted)
        for time, road, agent, at, wanted in zip(*(column.tolist() for column in columns), strict=True):
            if road >= 0:
                yield time, [(f"{PREFIX}road{road}", f"{PREFIX}closes", f"{PREFIX}jam")]
                continue
            told = [(f"{PREFIX}agent{agent}", f"{PREFIX}isAt", f"{PREFIX}crossing{at}")]
            if wanted >= 0:
                told.append((f"{PREFIX}agent{agent}", f"{PREFIX}wants", f"{PREFIX}crossing{wanted}"))
            yield time, told


def _text(name: str) -> bytes:
    return f"<{PREFIX}{name}>".encode()


def query(name: str) -> tuple[str, str]:
    """Return one of the queries, and its language: `roads_at.epsparql` is the first rule as the paper writes it."""
    path = _QUERIES / name
    return path.read_text(), "epsparql" if path.suffix == ".epsparql" else "sparql"


def city(side: int = 50, one_way: int = 200, seed: int = 1) -> City:
    """Return a city of side × side crossings; unless told otherwise it has 10,000 roads.

    >>> town = city(side=3, one_way=2)
    >>> town.crossings, len(town.start)
    (9, 26)
    """
    places = np.arange(side * side).reshape(side, side)
    across = np.stack((places[:, :-1].ravel(), places[:, 1:].ravel()))
    along = np.stack((places[:-1].ravel(), places[1:].ravel()))
    drawn = np.random.default_rng(seed).integers(0, side * side, (2, one_way))
    roads = np.concatenate((across, across[::-1], along, along[::-1], drawn), axis=1)
    return City(side * side, roads[0], roads[1])


def _closures(town: City, seconds: int, rate: int, draw: np.random.Generator) -> Traffic:
    time = np.arange(seconds * rate) * SECOND // rate
    none = np.full(len(time), -1)
    return Traffic(time, draw.integers(0, len(town.start), len(time)), none, none, none)


def _merged(*parts: Traffic) -> Traffic:
    names = ("time", "road", "agent", "at", "wanted")
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    order = np.lexsort((columns["agent"], columns["road"], columns["time"]))
    return Traffic(**{name: column[order] for name, column in columns.items()})


def general(town: City, seconds: int, closures: int = 100, agents: int = 20, seed: int = 1) -> Traffic:
    """Return so many closures and agents each second; the first agents come when ten seconds of closures are there."""
    draw = np.random.default_rng(seed)
    closed = _closures(town, seconds, closures, draw)
    time = 10 * SECOND + (2 * np.arange((seconds - 10) * agents) + 1) * SECOND // (2 * agents)
    none = np.full(len(time), -1)
    told = Traffic(time, none, np.arange(len(time)), draw.integers(0, town.crossings, len(time)), none)
    return _merged(closed, told)


def visits(town: City, agents: int, locations: int = 20, closures: int = 740, seed: int = 1) -> Traffic:
    """Return agents that visit a location each second, and ask for the way to the next one.

    740 closures a second keep more than half of 10,000 roads closed.
    """
    draw = np.random.default_rng(seed)
    closed = _closures(town, 10 + locations, closures, draw)
    places = draw.integers(0, town.crossings, (agents, locations + 1))
    agent, visit = (each.ravel() for each in np.indices((agents, locations)))
    time = 10 * SECOND + visit * SECOND + (2 * agent + 1) * SECOND // (2 * agents)
    asked = Traffic(time, np.full(len(time), -1), agent, places[agent, visit], places[agent, visit + 1])
    return _merged(closed, asked)
