"""The targets, and whether they were reached.

Where it stands: behind a run of the sweeps; makes one row a target, drawn first in the report.  A ratio
is taken repetition by repetition, between runs that followed each other, so that a noisy machine slows both.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from retewave.bench.harness import Measured, Row, figures
from retewave.bench.run import SPARK, adapter
from retewave.bench.string_filters import SLOWEST
from retewave.bench.sweeps import COLD, LIMIT, PLAIN, SPELLED, WITH, WITHOUT

__all__ = ["TARGETS", "Target", "rows_of_targets"]

Place = tuple[str, str, float]  # sweep, series, x
Values = Callable[[Sequence[Measured]], list[float]]  # one value a repetition; none when not measured

WINDOW_5, LIMIT_5, BARE_5 = ("window", WITH, 5), ("window", LIMIT, 5), ("window", WITHOUT, 5)
ALONE_5, JOIN_5 = ("network", WITH, 5), ("network", LIMIT, 5)


@dataclass(frozen=True)
class Target:
    """A figure and the bound that it has to keep."""

    what: str  # in the words of the report
    unit: str  # of the figure
    values: Values  # how it is made from what was measured
    bound: float  # the figure must be
    at_least: bool = True  # at least this, or else less than this

    def goal(self) -> str:
        """Return the bound in words."""
        return f"{'≥' if self.at_least else '<'} {self.bound:,.10g} {self.unit}"

    def reached(self, value: float) -> bool:
        """Tell whether a value keeps the bound."""
        return value >= self.bound if self.at_least else value < self.bound


def _at(place: Place, metric: str) -> Values:
    """Return a figure of a point, one value a repetition."""

    def values(measured: Sequence[Measured]) -> list[float]:
        for one in measured:
            if (one.point.sweep, one.point.series, one.point.x) == place:
                return next((v for (name, _), v in figures(one).items() if name == metric), [])
        return []

    return values


def _ratio(above: Values, below: Values) -> Values:
    """Return the percentage of one figure in another, repetition by repetition."""

    def values(measured: Sequence[Measured]) -> list[float]:
        return [100 * a / b for a, b in zip(above(measured), below(measured), strict=False)]

    return values


def _speed(place: Place) -> Values:
    return _at(place, "throughput")


def _below(what: str, bound: float, unit: str, place: Place, metric: str) -> Target:
    """Return the target that a figure of a point is less than a bound."""
    return Target(what, unit, _at(place, metric), bound, at_least=False)


def _on_spark(series: str) -> Values:
    """Return the throughput of a series in the sweep `spark`, with as many offers as it was measured with."""

    def values(measured: Sequence[Measured]) -> list[float]:
        found = [one for one in measured if (one.point.sweep, one.point.series) == ("spark", series)]
        most = max(found, key=lambda one: one.point.x, default=None)
        return [] if most is None else figures(most).get(("throughput", "triples/s"), [])

    return values


def _best(several: Sequence[Values]) -> Values:
    """Return the highest of some figures, repetition by repetition; none if the first of them was not measured."""

    def values(measured: Sequence[Measured]) -> list[float]:
        first, *others = (one(measured) for one in several)
        found = [first, *(each for each in others if each)]
        return [max(each) for each in zip(*found, strict=False)]

    return values


def _static(pattern: int, triples: int = 100_000) -> Place:
    return ("static", f"pattern {pattern}", triples)


_SPARK = _on_spark(adapter("spark").name)
_OTHERS = [name for name in SPARK if name not in (PLAIN, "spark")]
_PLAIN_SPARK = [_on_spark(adapter(name).name) for name in (PLAIN, *_OTHERS)]
_SLEEPING = "asking for types that never come"
_PLAIN = ("static", "pattern 1", 0)
_LATE_BLOCKS = ("latency", "as they come, 100,000/s", 100_000)
_LATE_PUSHES = ("latency", "one by one, 1,000/s", 1_000)
_COUNTERS = ("counters", "by turns", 0)
_ROWS = ("costs", "pattern 1, window 25 s", 0)
_START = ("costs", "pattern 1", 0)
_TYPES = ("costs", "pattern 1, 22,527 types", 1)
_FILTERS = ("filters", "strings that are all new", 0)
_PIPE, _COLD = ("written", "pipe", COLD), ("written", "cold", COLD)
_FIRST = "schema read and query registered to first match, warm process"
_LOAD = ("costs", "pattern 2, 10⁶ static triples", 0)


def _written(format: str) -> Values:
    """Return the speed of a run that writes in that of one that only counts."""
    return _ratio(_speed(("written", format, COLD)), _speed(("written", "counted only", COLD)))


TARGETS = (
    Target("bytes to matches, window 5 s", "triples/s", _speed(WINDOW_5), 3e6),
    Target("bytes to matches, of the C program's", "%", _ratio(_speed(WINDOW_5), _speed(LIMIT_5)), 70),
    Target("network alone, window 5 s", "triples/s", _at(ALONE_5, "join"), 10e6),
    Target("network alone, of C with eleven hash tables", "%", _ratio(_at(ALONE_5, "join"), _at(JOIN_5, "join")), 50),
    Target("window 25 s against 1 s", "%", _ratio(_speed(("window", WITH, 25)), _speed(("window", WITH, 1))), 70),
    Target("pattern 2 against pattern 1, 10⁵ static triples", "%", _ratio(_speed(_static(2)), _speed(_PLAIN)), 90),
    Target("pattern 3 against pattern 1, 10⁵ static triples", "%", _ratio(_speed(_static(3)), _speed(_PLAIN)), 90),
    Target(
        "pattern 2, 10⁶ static triples against 10²",
        "%",
        _ratio(_speed(_static(2, 1_000_000)), _speed(_static(2, 100))),
        90,
    ),
    Target("with reasoning against without", "%", _ratio(_speed(WINDOW_5), _speed(BARE_5)), 97),
    Target(
        "schema of 22,527 types against 329",
        "%",
        _ratio(_speed(("schema", WITH, 1_608)), _speed(("schema", WITH, 40))),
        95,
    ),
    Target(
        "10,000 registered patterns against one",
        "%",
        _ratio(_speed(("patterns", _SLEEPING, 10_000)), _speed(("patterns", _SLEEPING, 1))),
        50,
    ),
    _below("latency, as they come at 100,000/s, p99", 1_000, "µs", _LATE_BLOCKS, "latency p99"),
    _below("latency, one by one at 1,000/s, p99", 100, "µs", _LATE_PUSHES, "latency p99"),
    Target("network alone, counters on against off", "%", _at(_COUNTERS, "network alone, counters on against off"), 97),
    _below("arena in use, a live row", 120, "bytes", _ROWS, "arena in use, a live row"),
    _below("process start to first match, kernels cached", 2_000, "ms", _START, "process start to first match"),
    _below("22,527 types, from schema and query to first match", 2_000, "ms", _TYPES, _FIRST),
    _below("10⁶ static triples, read and loaded", 3, "s", _LOAD, "static data, read and loaded"),
    Target("filters on new strings, the slowest function", "triples/s", _at(_FILTERS, SLOWEST), 1e6),
    Target("written as ndjson, of the speed of counting", "%", _written("ndjson"), 60),
    Target("written as CSV, of the speed of counting", "%", _written("csv"), 60),
    Target("written as N-Triples, of the speed of counting", "%", _written("nt"), 60),
    Target("written as Arrow, of the speed of counting", "%", _written("arrow"), 80),
    Target("ten terms a match into a pipe", "matches/s", _at(_PIPE, "matches of ten terms into a pipe"), 1e6),
    _below("550,000 triples to a file, from the process's start", 0.9, "s", _COLD, "process start to its end"),
    Target("on Spark, local[2], bytes to matches", "triples/s", _SPARK, 0.8e6),
    Target("on Spark, of the embedded engine's that counts matches", "%", _ratio(_SPARK, _on_spark(WITH)), 40),
    Target("on Spark, of the embedded engine's that spells them out", "%", _ratio(_SPARK, _on_spark(SPELLED)), 40),
    Target("on Spark, of the best plain formulation's", "%", _ratio(_SPARK, _best(_PLAIN_SPARK)), 500),
    _below("resident memory, window 25 s", 400, "MB", ("window", WITH, 25), "memory"),
)


def rows_of_targets(measured: Sequence[Measured]) -> list[Row]:
    """Return a row for each target; its note says whether it was reached, missed or not measured."""
    rows = []
    for target in TARGETS:
        values = target.values(measured)
        middle = statistics.median(values) if values else 0.0
        verdict = "not measured" if not values else "reached" if target.reached(middle) else "missed"
        rows.append(
            Row(
                sweep="targets",
                series=target.what,
                x=0,
                metric="target",
                unit=target.unit,
                repetitions=len(values),
                median=middle,
                minimum=min(values, default=0.0),
                maximum=max(values, default=0.0),
                target=target.goal(),
                note=verdict,
            )
        )
    return rows
