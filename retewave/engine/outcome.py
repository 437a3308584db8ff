"""The end of a match's way: a tuple of stages for each query, then batches of matches.

Data's way: output rows -> **decide -> report** (`retewave/engine/stages.py`) -> **leave out solutions that a flush has
told** (`retewave/engine/foretold.py`) -> **build** -> callbacks, iterators, sinks.
The result is `Matches`; the triples of a CONSTRUCT query are built from these when somebody looks
(`retewave/construct.py`).
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from retewave.compiler.lower import OutputRuns
from retewave.compiler.plan.identity import digest
from retewave.compiler.rewrite.detected import Detecting
from retewave.detection import read_token
from retewave.engine.deciding import Deciding
from retewave.engine.foretold import Foretold
from retewave.engine.stages import Reporting, Solutions, Stage
from retewave.engine.states import State
from retewave.match import Matches
from retewave.provenance.groups import Groups, apart, told_runs
from retewave.provenance.made_of import MadeOf, Sources
from retewave.query import Query
from retewave.rete.words import layout
from retewave.views.running import RunningView
from retewave.windows.times import Clock

__all__ = ["Outcome", "Reports"]

Reports = dict[int, tuple[Reporting, ...]]  # query's number -> its report stages, if it has any

_BRANCH = layout.UNDECIDED_ROW - 1  # mask of the number in an output row's branch


@dataclass
class Outcome:
    """Turns output rows into matches, for all queries of one network."""

    deciding: Deciding  # the first stage of every query
    queries: dict[int, Query]  # by number
    reports: Reports  # the stages behind the first
    foretold: dict[int, Foretold]  # the last stage of the queries whose solutions may wait
    sources: Sources  # the meaning of the numbers in output rows
    views: dict[int, RunningView]  # the queries whose rows are content of windows, and no matches

    def stages(self, number: int) -> tuple[Stage, ...]:
        """Return the stages of a query, in order."""
        last = self.foretold.get(number)
        return self.deciding, *self.reports.get(number, ()), *(() if last is None else (last,))

    def matches(
        self, rows: np.ndarray, clock: Clock, places: np.ndarray | None = None, *, ahead: bool = False
    ) -> list[Matches]:
        """Return the matches of output rows, a batch a query; `places` give their common order.

        Without `places` that is the order of the rows.  `ahead`: the matches hold if nothing more comes; then no
        report stage remembers them.
        """
        if not ahead:
            return self._batches(rows, clock, places, ahead)
        numbers = np.unique(rows[:, layout.O_QUERY]).tolist()
        stages = [stage for number in numbers for stage in self.reports.get(number, ())]
        remembered = [{name: array.copy() for name, array in stage.state().items()} for stage in stages]
        try:
            return self._batches(rows, clock, places, ahead)
        finally:
            for stage, state in zip(stages, remembered, strict=True):
                stage.put(state)

    def _batches(self, rows: np.ndarray, clock: Clock, places: np.ndarray | None, ahead: bool) -> list[Matches]:
        found: list[Matches] = []
        if places is None:
            places = np.arange(len(rows))
        numbers = rows[:, layout.O_QUERY]
        if len(rows) == 1 or (numbers == numbers[0]).all():
            batch = self._of_query(self.queries[int(numbers[0])], rows, places, clock, ahead)
            return [batch] if batch is not None and len(batch) else []
        order = np.argsort(numbers, kind="stable")
        ordered, by_query = rows[order], numbers[order]
        begins = [0, *(np.flatnonzero(by_query[1:] != by_query[:-1]) + 1).tolist(), len(rows)]
        for begin, end in pairwise(begins):  # copies: to hold one query's matches must not hold all
            query = self.queries[int(by_query[begin])]
            batch = self._of_query(query, ordered[begin:end].copy(), places[order[begin:end]], clock, ahead)
            if batch is not None and len(batch):
                found.append(batch)
        return found

    @cached_property
    def _runs(self) -> dict[int, dict[int, OutputRuns]]:
        """Return the rows that tell of runs, by the queries' numbers and branches."""
        found = {number: told_runs(self.deciding.outputs, number) for number in self.queries}
        return {number: runs for number, runs in found.items() if runs}

    @cached_property
    def _waited(self) -> dict[int, list[int]]:
        """Return the branches of queries that are told at deadlines, by the queries' numbers."""
        found: dict[int, list[int]] = {}
        for (number, branch), output in self.deciding.outputs.items():
            if output.by_deadline:
                found.setdefault(number, []).append(branch)
        return found

    def _of_query(
        self, query: Query, rows: np.ndarray, places: np.ndarray, clock: Clock, ahead: bool
    ) -> Matches | None:
        """Return the matches of a query; None: they are content of a view's windows, and no matches yet."""
        if query.number in self.views:
            self._into_view(Solutions(query, rows, places, rows[:, :0], ahead))
            return None
        if query.plan is not None:
            rows, places = _told(query.plan, rows, places)
        if not len(rows):
            return Matches(query, self.deciding.terms, clock, rows[:, :0], rows[:, 0], rows[:, 0], places)
        runs, parts = self._runs.get(query.number), None
        if runs is not None:
            rows, places, parts = apart(rows, places)
        found = Solutions(query, rows, places, rows[:, :0], ahead, parts)
        for stage in self.stages(query.number):
            found = stage.take(found)
        self._count_waited(query, found.rows)
        starts, ends = found.rows[:, layout.O_START], found.rows[:, layout.O_END]
        if query.plan is not None and query.plan.has_own_times and len(found.rows):
            starts, ends = self._told_times(query, found)
        shown = found.columns[:, : len(query.variables)]
        if query.plan is not None:
            shown = self._with_events(query, query.plan, found.rows, shown)
        made_of = MadeOf(found.rows, self.sources, parts) if query.explained else None
        batch = Matches(query, self.deciding.terms, clock, shown, starts, ends, found.places, made_of)
        if parts is not None and runs is not None and any(each.groups for each in runs.values()):
            batch.groups = Groups(parts, found.rows[:, -1], found.rows[:, layout.O_BRANCH] & _BRANCH, runs)
        return batch

    def _into_view(self, found: Solutions) -> None:
        """Let a view take the solutions that have come into its windows."""
        found = self.deciding.take(found)
        if not found.ahead and len(found.rows):
            self.views[found.query.number].take(found.columns, found.rows)

    def _count_waited(self, query: Query, rows: np.ndarray) -> None:
        """Count the matches that are told at deadlines."""
        waited = self._waited.get(query.number)
        if waited is not None:
            query.by_deadline += int(np.isin(rows[:, layout.O_BRANCH] & _BRANCH, waited).sum())

    def _with_events(self, query: Query, plan: Detecting, rows: np.ndarray, shown: np.ndarray) -> np.ndarray:
        """Return the columns of detections with the event of each, which its branch says."""
        branches = rows[:, layout.O_BRANCH] & _BRANCH
        shown = shown.copy()
        for branch in np.unique(branches).tolist():
            event = plan.definitions.events[plan.found[branch].event].name
            shown[branches == branch, query.place("event")] = self.deciding.terms.intern(event)
        return shown

    def _told_times(self, query: Query, found: Solutions) -> tuple[np.ndarray, np.ndarray]:
        """Return the intervals that detections tell: DURING tells the left side's."""
        column = found.columns[:, query.columns.index("detection")].tolist()
        tokens = [read_token(self.deciding.terms.text(each)) for each in column]
        return np.array([each.start for each in tokens]), np.array([each.end for each in tokens])

    def states(self, numbers: Container[int]) -> dict[str, State]:
        """Return the states of the stages of these queries, by identity.

        The identity is made of the query's name, unique in the engine, and its text: the same in every process.
        """
        found: dict[str, State] = {}
        for number, query in self.queries.items():
            if number in numbers:
                own = query.name, query.parsed.language, query.text
                reports = self.reports.get(number, ())
                found |= {digest(("report", *own, place)): stage for place, stage in enumerate(reports)}
                if number in self.views:
                    view = self.views[number]
                    found[digest(("view", *own, *view.said))] = view
                if number in self.foretold:
                    found[digest(("foretold", *own))] = self.foretold[number]
        return found

    def counts(self, number: int) -> dict[str, int]:
        """Return how many solutions of a query were not reported, and how many entries its stages remember."""
        stages = self.reports.get(number, ())
        if not stages:
            return {}
        return {
            "suppressed": sum(stage.suppressed for stage in stages),
            "remembered": sum(len(stage.report) for stage in stages),
        }


def _told(plan: Detecting, rows: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows that are told; the others are of detections, which come in again."""
    told = np.array([each.kind == "told" for each in plan.found])
    kept = told[rows[:, layout.O_BRANCH] & _BRANCH]
    return rows[kept], places[kept]
