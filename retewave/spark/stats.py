"""Counts of a query on Spark: triples read, left out and matched.

Where it stands: beside data's way; the workers add, the driver reads.
Left out: exactness under failure.  Spark adds up the counts of every attempt of a task that ended well, so a task that
had to be repeated may be counted twice; what is written to a sink never is.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.accumulators import AccumulatorParam

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["SHOWN", "Stats"]

SHOWN = 20  # malformed lines that are kept


class _FirstFew(AccumulatorParam[list[str]]):
    """A list that stops growing."""

    def zero(self, value: list[str]) -> list[str]:
        """Return the empty list."""
        return []

    def addInPlace(self, value1: list[str], value2: list[str]) -> list[str]:  # noqa: N802
        """Append the second list as far as there is room."""
        return (value1 + value2)[:SHOWN]


Waits = dict[int, tuple[int, int, int]]  # shard -> when it was counted; rows, and decisions, that waited then


class _Latest(AccumulatorParam[Waits]):
    """The latest count of each shard."""

    def zero(self, value: Waits) -> Waits:
        """Return no counts."""
        return {}

    def addInPlace(self, value1: Waits, value2: Waits) -> Waits:  # noqa: N802
        """Take over the counts that are later."""
        for shard, count in value2.items():
            value1[shard] = max(count, value1.get(shard, count))
        return value1


class Stats:
    """Counts that workers add to while a query runs; give one to `match`."""

    def __init__(self, spark: SparkSession) -> None:
        context = spark.sparkContext
        self._triples = context.accumulator(0)
        self._malformed = context.accumulator(0)
        self._untimed = context.accumulator(0)
        self._late = context.accumulator(0)
        self._matches = context.accumulator(0)
        self._first_malformed = context.accumulator([], _FirstFew())
        self._waiting = context.accumulator({}, _Latest())

    def routed(
        self, triples: int = 0, malformed: int = 0, untimed: int = 0, first_malformed: Sequence[str] = ()
    ) -> None:
        """Add the counts of stage 1."""
        self._triples += triples
        self._malformed += malformed
        self._untimed += untimed
        if first_malformed:
            self._first_malformed += list(first_malformed)

    def came_late(self, count: int) -> None:
        """Add rows that came behind the watermark."""
        if count:
            self._late += count

    def waits(self, shard: int, rows: int, decisions: int) -> None:
        """Note how many rows and decisions wait in a shard for later items."""
        self._waiting += {shard: (time.time_ns(), rows, decisions)}

    def found(self, count: int) -> None:
        """Add matches."""
        self._matches += count

    @property
    def triples(self) -> int:
        """Well-formed statements that were read."""
        return self._triples.value

    @property
    def malformed(self) -> int:
        """Malformed lines, which are left out."""
        return self._malformed.value

    @property
    def untimed(self) -> int:
        """Triples without a time, which are left out."""
        return self._untimed.value

    @property
    def late(self) -> int:
        """Triples behind the watermark, which are left out; a triple is counted in every shard that it goes to."""
        return self._late.value

    @property
    def waiting(self) -> tuple[int, int]:
        """Triples, and decisions, that wait for what comes later, in the shards that have had something to do."""
        counts = self._waiting.value.values()
        return sum(rows for _, rows, _ in counts), sum(decisions for _, _, decisions in counts)

    @property
    def matches(self) -> int:
        """Matches that were put out."""
        return self._matches.value

    @property
    def first_malformed(self) -> list[str]:
        """The first malformed lines: where, and why."""
        return self._first_malformed.value
