"""Run the roads: `python -m retewave.bench roads`, which is `retewave bench roads`."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Annotated

import typer

from retewave.bench.harness import Machine
from retewave.bench.roads.city import City, Traffic, city, general, visits
from retewave.bench.roads.engine import RULES, Visited, poured, visited
from retewave.bench.roads.search import Derived, by_numba, by_python, compiled

__all__ = ["main"]

_Run = Callable[[City, Traffic], tuple[Derived, float]]


def _searched(search: Callable[[City, Traffic], Derived]) -> _Run:
    def run(town: City, traffic: Traffic) -> tuple[Derived, float]:
        started = time.process_time()
        found = search(town, traffic)
        return found, time.process_time() - started

    return run


_RUNS: dict[str, _Run] = {
    "retewave, network alone, REGISTER STREAM": lambda town, traffic: poured(town, traffic, RULES["rq"]),
    "retewave, network alone, EP-SPARQL": lambda town, traffic: poured(town, traffic, RULES["epsparql"]),
    "Python by hand": _searched(by_python),
    "Numba by hand": _searched(by_numba),
}


def _check(what: str, found: Derived, right: Derived) -> None:
    if found != right:
        raise SystemExit(f"WRONG: {what}: {found} instead of {right}")


def _general(town: City, seconds: int, repetitions: int) -> None:
    """Print the derivations a second of each, all runs by turns."""
    traffic = general(town, seconds)
    right, taken = by_python(town, traffic), {name: list[float]() for name in _RUNS}
    print(f"{len(town.start):,} roads, 100 closures a second, {seconds} s: ", end="")
    print(f"{right.facts:,} new facts, {right.solutions:,} solutions of rules; for a second of the processor:")
    for run in _RUNS.values():
        run(town, traffic.first(1100))
    for _ in range(repetitions):
        for name, run in _RUNS.items():
            found, spent = run(town, traffic)
            _check(name, found, right)
            taken[name].append(spent)
    for name, each in taken.items():
        facts, solutions = (1e-6 * count / statistics.median(each) for count in (right.facts, right.solutions))
        print(f"  {name}: {facts:.2f} M new facts, {solutions:.2f} M solutions ", end="")
        print(f"({1e-6 * right.facts / max(each):.2f} to {1e-6 * right.facts / min(each):.2f} M new facts)")


def _told(name: str, seen: Visited) -> None:
    busy = sorted(seen.busy)
    print(f"  {name}: {1000 * sum(busy):.0f} ms of the processor for {len(busy)} questions ", end="")
    print(f"(each {1000 * statistics.median(busy):.1f} ms, the longest {1000 * busy[-1]:.1f}; by the clock ", end="")
    print(f"{1000 * statistics.median(seen.asked):.1f} and {1000 * max(seen.asked):.1f}), all closures ", end="")
    print(f"{1000 * seen.updates:.0f} ms; {seen.live_rows:,} live rows at most, arena {seen.arena / 1e6:.1f} MB")


def _visits(town: City, agents: int) -> None:
    """Print the delay of agents that visit 20 locations each."""
    traffic = visits(town, agents)
    right = by_python(town, traffic)
    seen = visited(town, traffic)
    _check(f"{agents} agents", seen.found, right)
    who = "an agent that visits" if agents == 1 else f"{agents} agents that visit"
    print(f"{who} 20 locations, more than half of the roads closed: {right.facts:,} new facts, ", end="")
    print(f"{right.solutions:,} solutions of rules, {right.answers} of the next locations reached")
    _told("retewave, pushed one by one", seen)
    for name, search in (("Python by hand", by_python), ("Numba by hand", by_numba)):
        found, spent = _searched(search)(town, traffic)
        _check(name, found, right)
        print(f"  {name}: {1000 * spent:.1f} ms of the processor, closures included")


def main(
    seconds: Annotated[int, typer.Option(help="of the general row's traffic, ten of them without agents", min=11)] = 60,
    repetitions: Annotated[int, typer.Option(help="runs of the general row", min=1)] = 3,
) -> None:
    """Let agents search their ways in a city by a recursive rule, beside a search by hand."""
    town, machine = city(), Machine.here()
    print(f"{machine.cpu}, {machine.cores} cores, commit {machine.commit}", flush=True)
    compiled(town, general(town, 11))
    _general(town, seconds, repetitions)
    visited(town, visits(town, 1).first(8000))
    for agents in (1, 10):
        _visits(town, agents)


if __name__ == "__main__":
    typer.run(main)
