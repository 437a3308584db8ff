"""The end of a match's way: a tuple of stages for each query, then batches of matches.

Data's way: output rows -> **decide -> report** (`retewave/engine/stages.py`) -> **build** -> callbacks, iterators,
sinks. What is built is `Matches`; the triples of a CONSTRUCT query are built of these when somebody looks
(`retewave/construct.py`).
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from retewave.compiler.plan.identity import digest
from retewave.engine.deciding import Deciding
from retewave.engine.stages import Reporting, Solutions, Stage
from retewave.engine.states import State
from retewave.match import Matches
from retewave.provenance.made_of import MadeOf, Sources
from retewave.query import Query
from retewave.rete.words import layout
from retewave.windows.times import Clock

__all__ = ["Outcome", "Reports"]

Reports = dict[int, tuple[Reporting, ...]]  # the report stages of the queries that have some, by the query's number

_BRANCH = layout.UNDECIDED_ROW - 1  # of an output row's branch, its number


@dataclass
class Outcome:
    """Turns output rows into matches, for all queries of one network."""

    deciding: Deciding  # the first stage of every query
    queries: dict[int, Query]  # by number
    reports: Reports  # the stages behind it
    sources: Sources  # what the numbers of output rows mean

    def stages(self, number: int) -> tuple[Stage, ...]:
        """Return what the rows of a query go through, in order."""
        return self.deciding, *self.reports.get(number, ())

    def matches(self, rows: np.ndarray, clock: Clock, places: np.ndarray | None = None) -> list[Matches]:
        """Return the matches that output rows make, a batch a query; `places` tell their common order.

        That is the order of the rows, unless the places are given.
        """
        found: list[Matches] = []
        if places is None:
            places = np.arange(len(rows))
        numbers = rows[:, layout.O_QUERY]
        if len(rows) == 1 or (numbers == numbers[0]).all():
            batch = self._of_query(self.queries[int(numbers[0])], rows, places, clock)
            return [batch] if len(batch) else []
        order = np.argsort(numbers, kind="stable")
        ordered, by_query = rows[order], numbers[order]
        begins = [0, *(np.flatnonzero(by_query[1:] != by_query[:-1]) + 1).tolist(), len(rows)]
        for begin, end in pairwise(begins):  # copies: whoever holds one query's matches is not to hold all
            query = self.queries[int(by_query[begin])]
            batch = self._of_query(query, ordered[begin:end].copy(), places[order[begin:end]], clock)
            if len(batch):
                found.append(batch)
        return found

    @cached_property
    def _waited(self) -> dict[int, list[int]]:
        """Return the branches of queries that are told at deadlines, by the queries' numbers."""
        found: dict[int, list[int]] = {}
        for (number, branch), output in self.deciding.outputs.items():
            if output.by_deadline:
                found.setdefault(number, []).append(branch)
        return found

    def _of_query(self, query: Query, rows: np.ndarray, places: np.ndarray, clock: Clock) -> Matches:
        found = Solutions(query, rows, places, rows[:, :0])
        for stage in self.stages(query.number):
            found = stage.take(found)
        waited = self._waited.get(query.number)
        if waited is not None:
            query.by_deadline += int(np.isin(found.rows[:, layout.O_BRANCH] & _BRANCH, waited).sum())
        starts, ends = found.rows[:, layout.O_START], found.rows[:, layout.O_END]
        shown = found.columns[:, : len(query.variables)]
        made_of = MadeOf(found.rows, self.sources) if query.explained else None
        return Matches(query, self.deciding.terms, clock, shown, starts, ends, found.places, made_of)

    def states(self, numbers: Container[int]) -> dict[str, State]:
        """Return what report stages remember for the queries of these numbers, by identity.

        That is of the query's name, which no other one of the engine has, and of its text: the same in every process.
        """
        return {
            digest(("report", query.name, query.parsed.language, query.text, place)): stage
            for number, stages in self.reports.items()
            if number in numbers
            for query in (self.queries[number],)
            for place, stage in enumerate(stages)
        }

    def counts(self, number: int) -> dict[str, int]:
        """Return how many solutions of a query were not reported, and how many things are remembered for that."""
        stages = self.reports.get(number, ())
        if not stages:
            return {}
        return {
            "suppressed": sum(stage.suppressed for stage in stages),
            "remembered": sum(len(stage.report) for stage in stages),
        }
