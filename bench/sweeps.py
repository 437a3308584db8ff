"""What is measured: the paper's Figures 7, 8 and 9 and its schema test, what the paper lacks, and what it costs.

Where it stands: points for `harness`, and their names for `targets` and `report`.  A series is a line in a
plot.  `full` has every point, otherwise there are as many as a few minutes allow.
"""

from __future__ import annotations

from dataclasses import replace

from retewave.bench.harness import Point
from retewave.bench.question import Question
from retewave.bench.run import ADAPTERS, SPARK, adapter
from retewave.bench.workload import Workload, sleepers, watchers

__all__ = ["COLD", "PLAIN", "SPELLED", "SWEEPS", "points"]

SECOND = 1_000_000
TARGET = 2  # a type with 40 subclasses
OFFERS = 200_000
LONG = 1_000_000  # offers
COLD = 50_000  # offers: a stream that a start shows in
PLAIN = "spark sessions"  # the fastest that Spark does without us
WITH, WITHOUT, LIMIT = "retewave", "retewave, no reasoning", "C, by hand"
SPELLED = "retewave, terms spelled out"
_WRITTEN = ("counted only", "ndjson", "csv", "tsv", "nt", "arrow", "pipe", "cold")


def _offers(full: bool) -> int:
    """Return the length of streams whose length does not matter."""
    return OFFERS if full else OFFERS // 2


def _ask(pattern: int, seconds: float, target: int = TARGET, static: int | None = None) -> Question:
    return Question(pattern, target, int(seconds * SECOND), static=static)


def without_reasoning(question: Question, level: int = 1) -> Question:
    """Return a question with the same matches in as many triples, the target asserted and no schema read."""
    return replace(question, levels=(level,), reasoning=False)


def windows(full: bool) -> list[Point]:
    """Return throughput and memory against the window: the paper's Figures 7 and 8."""
    found = []
    for seconds in (1, 2, 5, 10, 15, 20, 25, 50, 100) if full else (1, 5, 25):
        ask = _ask(1, seconds)
        for series, name, question in [
            (WITH, "retewave", ask),
            (WITHOUT, "retewave", without_reasoning(ask)),
            (LIMIT, "c", ask),
        ]:
            found.append(Point("window", series, seconds, name, Workload(question)))
    return found


def network(full: bool) -> list[Point]:
    """Return the network's throughput alone, rows encoded beforehand, against the C program's joins."""
    found = [Point("network", LIMIT, 5, "c", Workload(_ask(1, 5)))]
    for seconds in (1, 2, 5, 10, 25, 100) if full else (1, 5, 25):
        found.append(Point("network", WITH, seconds, "retewave", Workload(_ask(1, seconds), mode="network")))
    return found


def static_data(full: bool) -> list[Point]:
    """Return throughput against static triples, patterns 2 and 3, window 1 s: the paper's Figure 9."""
    found = [Point("static", "pattern 1", 0, "retewave", Workload(_ask(1, 1), _offers(full)))]
    for triples in (100, 1_000, 10_000, 100_000, 1_000_000) if full else (100, 10_000, 100_000, 1_000_000):
        for pattern in (2, 3):
            ask = _ask(pattern, 1, static=triples)
            found.append(Point("static", f"pattern {pattern}", triples, "retewave", Workload(ask, _offers(full))))
            if full:
                bare = Workload(without_reasoning(ask), _offers(full))
                found.append(Point("static", f"pattern {pattern}, no reasoning", triples, "retewave", bare))
    return found


def schemas(full: bool) -> list[Point]:
    """Return throughput against the target's subclasses, up to the paper's 1,608 in a schema of 22,527."""
    scales = [(74, 10_000, 0), (10, 10_000, 4), (TARGET, 10_000, 40), (TARGET, 10_000_000, 1_608)]
    if full:
        scales += [(TARGET, 100_000, 200), (TARGET, 1_000_000, 328)]
    return [
        Point("schema", WITH, subclasses, "retewave", Workload(_ask(1, 5, target), _offers(full), type_scale=scale))
        for target, scale, subclasses in scales
    ]


def pattern_counts(full: bool) -> list[Point]:
    """Return throughput against the number of registered patterns."""
    found, ask = [], _ask(1, 5)
    for count in (1, 10, 100, 1_000, 10_000) if full else (1, 100, 10_000):
        idle = Workload(ask, _offers(full), others=sleepers(ask, count - 1))
        found.append(Point("patterns", "asking for types that never come", count, "retewave", idle))
    for count in (1, 10, 100, 1_000, 10_000) if full else (1, 100, 1_000):
        texts, matches = watchers(_offers(full), ask.window, count)
        busy = Workload(ask, _offers(full), others=texts, other_matches=matches)
        found.append(Point("patterns", "watching a product each", count, "retewave", busy))
    return found


def latencies(full: bool) -> list[Point]:
    """Return the time from a triple's arrival to its match, at a fixed rate of input.

    One push a triple is for streams of which each triple is a call; at 100,000/s they would be pushed in batches.
    """
    kinds = [("as they come", 100_000, 50_000, 0), ("one by one", 1_000, 1_000, 1)]
    if full:
        kinds += [("as they come", rate, 100_000, 0) for rate in (200_000, 400_000, 800_000)]
        kinds += [("one by one", rate, rate, 1) for rate in (5_000, 10_000)]
    found = []
    for kind, rate, offers, batch in kinds:
        ask = replace(_ask(1, 5), rate=rate)
        workload = Workload(ask, offers, mode="latency", batch=batch)
        found.append(Point("latency", f"{kind}, {rate:,}/s", rate, "retewave", workload))
    behind = Workload(replace(_ask(1, 5), rate=1_000), 20_000, mode="pushes")
    found.append(Point("latency", "a push to its callback, back to back", 1_000, "retewave", behind))
    return found


def peers(full: bool) -> list[Point]:
    """Return everything that can do pattern 1, side by side; of what there is on Spark, the best plain formulation.

    A run of that takes half a minute, and the sweep `spark` has it, too.
    """
    return [_alone("peers", name) for name in ADAPTERS if (full and name == PLAIN) or name not in SPARK]


def on_spark(full: bool) -> list[Point]:
    """Return pattern 1 embedded, on Spark with two local cores, and in plain Structured Streaming.

    A long stream makes several large micro-batches, in which a network has to be kept from one to the next.
    """
    found = [_alone("spark", name) for name in ("retewave", *(SPARK if full else (PLAIN, "spark")))]
    if full:
        found += [_alone("spark", name, LONG) for name in ("retewave", "spark")]
    embedded = [point for point in found if point.measured == "retewave"]
    return found + [replace(p, series=SPELLED, workload=replace(p.workload, mode="spelled")) for p in embedded]


def _alone(sweep: str, name: str, most: int = OFFERS) -> Point:
    """Return pattern 1 by one adapter; x is the number of offers that it gets through."""
    measured = adapter(name)
    offers = min(most, measured.most_offers or most)
    question = replace(_ask(1, 5), distinct=measured.distinct)
    return Point(sweep, measured.name, offers, name, Workload(question, offers))


def counters(full: bool) -> list[Point]:
    """Return throughput with the counters of `stats=True` and without, and what they cost the network alone."""
    ask = _ask(1, 5)
    kinds = [("counters on", True), ("counters off", False)]
    found = [Point("counters", kind, 0, "retewave", Workload(ask, OFFERS, stats=on)) for kind, on in kinds]
    return [*found, Point("counters", "by turns", 0, "retewave", Workload(ask, 20_000, mode="counters"))]


def costs(full: bool) -> list[Point]:
    """Return what matching needs beside time: memory a live row, the start, the loading of static data."""
    few, static = _ask(1, 5), _ask(2, 1, static=1_000_000)
    types = Workload(few, 500, mode="first", type_scale=10_000_000)
    return [
        Point("costs", "pattern 1, window 25 s", 0, "retewave", Workload(_ask(1, 25), _offers(full), mode="rows")),
        Point("costs", "pattern 1", 0, "retewave", Workload(few, 500, mode="start")),
        Point("costs", "pattern 1", 1, "retewave", Workload(few, 500, mode="first")),
        Point("costs", "pattern 1, 22,527 types", 1, "retewave", types),
        Point("costs", "pattern 2, 10⁶ static triples", 0, "retewave", Workload(static, 500, mode="load")),
    ]


def filters(full: bool) -> list[Point]:
    """Return throughput under filters on strings that are all new, function by function."""
    return [Point("filters", "strings that are all new", 0, "retewave", Workload(_ask(1, 5), 20_000, mode="filters"))]


def written(full: bool) -> list[Point]:
    """Return a stream counted only, and written in each format; into a pipe; and from a process's start."""
    few = Workload(_ask(1, 5), COLD)
    found = [Point("written", name, COLD, "retewave", replace(few, mode=f"written, {name}")) for name in _WRITTEN]
    return [*found, Point("written", LIMIT, COLD, "c", replace(few, mode="written, ndjson"))]


def changes(full: bool) -> list[Point]:
    """Return what a query costs that comes and goes while the stream runs."""
    return [Point("changes", "queries that come and go", 0, "retewave", Workload(_ask(1, 5), 500, mode="changes"))]


SWEEPS = {
    "peers": peers,
    "window": windows,
    "network": network,
    "static": static_data,
    "schema": schemas,
    "patterns": pattern_counts,
    "latency": latencies,
    "counters": counters,
    "costs": costs,
    "written": written,
    "filters": filters,
    "changes": changes,
    "spark": on_spark,
}


def points(names: list[str], full: bool) -> list[Point]:
    """Return the points of the named sweeps."""
    return [point for name in names for point in SWEEPS[name](full)]
