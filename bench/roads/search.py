"""What agents reach, searched by hand: the referee of every run, and what one would write instead of a rule.

Where it stands: beside `engine`, under the same traffic.  A search goes from an agent's crossing over all roads that
are open, breadth first, and forgets all when it is done.
Invariant: nothing here is shared with the engine; both searches find the same.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import numba
import numpy as np

from retewave.bench.roads.city import CLOSED, City, Traffic

__all__ = ["Derived", "by_numba", "by_python", "compiled"]

_LONG_AGO = -(1 << 62)


@dataclass(frozen=True)
class Derived:
    """What there is to be found."""

    facts: int  # crossings reached, by each agent at each time: what rules build anew
    solutions: int  # of the rules: an agent that tells its place, and each open road from a crossing that it reaches
    answers: int  # agents that reach the crossing that they want


def by_python(town: City, traffic: Traffic) -> Derived:
    """Search by lists and sets."""
    out: list[list[tuple[int, int]]] = [[] for _ in range(town.crossings)]
    for road, (start, end) in enumerate(zip(town.start.tolist(), town.end.tolist(), strict=True)):
        out[start].append((road, end))
    closed = [_LONG_AGO] * len(town.start)
    facts = solutions = answers = 0
    columns = (traffic.time, traffic.road, traffic.at, traffic.wanted)
    for time, road, at, wanted in zip(*(column.tolist() for column in columns), strict=True):
        if road >= 0:
            closed[road] = time
            continue
        reached, left, since = {at}, deque([at]), time - CLOSED
        solutions += 1
        while left:
            for way, crossing in out[left.popleft()]:
                if closed[way] < since:
                    solutions += 1
                    if crossing not in reached:
                        reached.add(crossing)
                        left.append(crossing)
        facts += len(reached)
        answers += wanted in reached
    return Derived(facts, solutions, answers)


class _Ways(NamedTuple):
    """The roads, in the order of where they begin."""

    first: np.ndarray  # of each crossing: its place in `roads`
    roads: np.ndarray  # numbers
    end: np.ndarray  # of each number: where the road leads


@numba.njit  # type: ignore[untyped-decorator]
def _search(
    ways: _Ways, closed: np.ndarray, seen: np.ndarray, queue: np.ndarray, at: int, since: int, stamp: int
) -> tuple[int, int]:
    """Mark what is reached with a stamp; return how many crossings, and how many open roads lead on from them."""
    seen[at], queue[0] = stamp, at
    done, count, open_ = 0, 1, 0
    while done < count:
        crossing = queue[done]
        done += 1
        for place in range(ways.first[crossing], ways.first[crossing + 1]):
            road = ways.roads[place]
            if closed[road] < since:
                open_ += 1
                if seen[ways.end[road]] != stamp:
                    seen[ways.end[road]], queue[count] = stamp, ways.end[road]
                    count += 1
    return count, open_


@numba.njit  # type: ignore[untyped-decorator]
def _searches(
    ways: _Ways, time: np.ndarray, road: np.ndarray, at: np.ndarray, wanted: np.ndarray
) -> tuple[int, int, int]:
    closed = np.full(len(ways.end), _LONG_AGO)
    seen, queue = np.full(len(ways.first), -1), np.empty(len(ways.first), np.int64)
    facts = solutions = answers = 0
    for row in range(len(time)):
        if road[row] >= 0:
            closed[road[row]] = time[row]
            continue
        count, open_ = _search(ways, closed, seen, queue, at[row], time[row] - CLOSED, row)
        facts, solutions = facts + count, solutions + 1 + open_
        if wanted[row] >= 0 and seen[wanted[row]] == row:
            answers += 1
    return facts, solutions, answers


def by_numba(town: City, traffic: Traffic) -> Derived:
    """Search by loops over arrays, compiled."""
    roads = np.argsort(town.start, kind="stable")
    first = np.searchsorted(town.start[roads], np.arange(town.crossings + 1))
    ways = _Ways(first, roads, town.end)
    return Derived(*_searches(ways, traffic.time, traffic.road, traffic.at, traffic.wanted))


def compiled(town: City, traffic: Traffic) -> None:
    """Let the loops be compiled."""
    by_numba(town, traffic.first(1))
