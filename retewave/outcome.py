"""The end of a match's way: a tuple of stages for each query, then batches of matches.

Data's way: output rows -> **decide -> report** (`retewave/stages.py`) -> **build** -> callbacks, iterators, sinks.
What is built is `Matches`; the triples of a CONSTRUCT query are built of these when somebody looks
(`retewave/construct.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from retewave.deciding import Deciding
from retewave.match import Matches
from retewave.query import Query
from retewave.rete import layout as at
from retewave.stages import Report, Reporting, Solutions, Stage
from retewave.windows.times import Clock

__all__ = ["Outcome", "Reports"]

Reports = dict[int, tuple[Report, ...]]  # the report stages of the queries that have some, by the query's number


@dataclass
class Outcome:
    """Turns output rows into matches, for all queries of one network."""

    deciding: Deciding  # the first stage of every query
    queries: dict[int, Query]  # by number
    reports: Reports  # the stages behind it

    def stages(self, number: int) -> tuple[Stage, ...]:
        """Return what the rows of a query go through, in order."""
        return self.deciding, *map(Reporting, self.reports.get(number, ()))

    def matches(self, rows: np.ndarray, clock: Clock) -> list[Matches]:
        """Return the matches that output rows make, a batch a query; `places` tell their common order."""
        found: list[Matches] = []
        numbers = rows[:, at.O_QUERY]
        if len(rows) == 1 or (numbers == numbers[0]).all():
            batch = self._of_query(self.queries[int(numbers[0])], rows, np.arange(len(rows)), clock)
            return [batch] if len(batch) else []
        order = np.argsort(numbers, kind="stable")
        ordered, by_query = rows[order], numbers[order]
        begins = [0, *(np.flatnonzero(by_query[1:] != by_query[:-1]) + 1).tolist(), len(rows)]
        for begin, end in pairwise(begins):  # copies: whoever holds one query's matches is not to hold all
            query, places = self.queries[int(by_query[begin])], order[begin:end].copy()
            batch = self._of_query(query, ordered[begin:end].copy(), places, clock)
            if len(batch):
                found.append(batch)
        return found

    def _of_query(self, query: Query, rows: np.ndarray, places: np.ndarray, clock: Clock) -> Matches:
        found = Solutions(query, rows, places, np.empty((len(rows), 0), dtype=np.int64))
        for stage in self.stages(query.number):
            found = stage.take(found)
        starts, ends = found.rows[:, at.O_START], found.rows[:, at.O_END]
        return Matches(query, self.deciding.terms, clock, found.columns, starts, ends, found.places)

    def take_over(self, former: Outcome) -> None:
        """Remember what the former network's queries have reported: no memory may hold it."""
        for number in self.reports.keys() & former.reports.keys():
            self.reports[number] = former.reports[number]

    def advance(self, now: int) -> None:
        """Forget what report stages need no more once the time is `now`."""
        for report in self._each():
            report.advance(now)

    def mark(self, marks: np.ndarray) -> None:
        """Mark those of the first terms that report stages remember."""
        for report in self._each():
            report.mark(marks)

    def _each(self) -> Iterator[Report]:
        for reports in self.reports.values():
            yield from reports

    def state(self) -> dict[str, np.ndarray]:
        """Return what report stages remember, for a snapshot."""
        return {
            f"{number}.{place}.{name}": array
            for number, reports in self.reports.items()
            for place, report in enumerate(reports)
            for name, array in report.state().items()
        }

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Take over what a snapshot held."""
        for number, reports in self.reports.items():
            for place, report in enumerate(reports):
                mine = f"{number}.{place}."
                report.put({key.removeprefix(mine): state[key] for key in state if key.startswith(mine)})
