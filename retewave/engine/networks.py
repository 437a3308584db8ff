"""The running networks: the main network, and at times beside it a young network, of the queries that came last.

Data's way: rows in time order -> **main network, then the young one** -> output rows -> batches of matches.
Planning all queries anew takes the longer the more there are.  So a query that comes while the stream runs shares a
small network with others that came lately; the output of a query that goes is dropped.  When these changes are more
than a few (`are_few`), or the stream has gone on for long, all queries become one network again (`matcher`).
Invariant: each registered query is in one of the two networks; a row goes through both before the next batch of rows.
Left out: who makes them, and when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from retewave.compiler.plan.producers import EVENT, AlphaTest
from retewave.engine.compiled import CompiledNetwork
from retewave.engine.feeding_views import feeds, in_order
from retewave.match import Matches
from retewave.rete.counters import totals
from retewave.rete.runtime import EndlessRules, LiveRowsAtBound
from retewave.rete.terms.acceptance import Acceptance, either
from retewave.rete.terms.kinds import Values
from retewave.rete.words import layout
from retewave.views.running import RunningView
from retewave.windows.intervals import AFTER_ALL
from retewave.windows.times import Clock

__all__ = ["Networks", "are_few"]


def are_few(changes: int, queries: int) -> bool:
    """Tell whether a number of changes is best kept apart from a network with a number of queries.

    Each change makes the young network anew; the last one plans all queries.  A root balances the two costs.  It also
    bounds the number of gone queries, which keep their memories until then.

    >>> are_few(27, 3_000), are_few(28, 3_000), are_few(1, 4), are_few(1, 3)
    (True, False, True, False)
    """
    return 4 * changes * changes <= queries


@dataclass(frozen=True)
class Networks:
    """The networks that rows are poured into."""

    main: CompiledNetwork  # of all queries but those of `young`
    young: CompiledNetwork | None = None  # of the queries that came last; it began with the main one's rows
    gone: frozenset[int] = frozenset()  # numbers of queries in `main` that were removed

    @property
    def all(self) -> tuple[CompiledNetwork, ...]:
        """Return all networks, the main network first."""
        return (self.main,) if self.young is None else (self.main, self.young)

    @property
    def one(self) -> bool:
        """Tell whether there is only the main one, and no query of it is gone."""
        return self.young is None and not self.gone

    @property
    def acceptance(self) -> Acceptance:
        """Which triples a reader may drop: those that no network takes, as it is now."""
        return next((of for each in self.all if (of := each.acceptance).everything), self._needed)

    @cached_property
    def _needed(self) -> Acceptance:
        return self.main.needed if self.young is None else either(self.main.needed, self.young.needed)

    @cached_property
    def asks_for_events(self) -> bool:
        """Tell whether a query asks for the events of triples."""
        return any(
            EVENT in each.columns for one in self.all for each in one.plan.producers if isinstance(each, AlphaTest)
        )

    @cached_property
    def views(self) -> tuple[RunningView, ...]:
        """The views of registered queries."""
        return tuple(
            view for each in self.all for number, view in each.outcome.views.items() if number not in self.gone
        )

    @cached_property
    def feeding(self) -> tuple[RunningView, ...]:
        """The views that feed, each behind those that it reads."""
        found = {view.query.number: view for view in self.views if feeds(view.query)}
        return tuple(found[query.number] for query in in_order(view.query for view in found.values()))

    @property
    def due(self) -> int:
        """The earliest time of a decision or a report that waits for the clock; AFTER_ALL: nothing waits."""
        reports = [time for view in self.views if (time := view.due) is not None]
        return min([*(each.runtime.due for each in self.all), *reports], default=AFTER_ALL)

    def see(self, rows: np.ndarray) -> None:
        """Let views see the rows that have come on all streams."""
        for view in self.views:
            view.see(rows)

    @property
    def live_rows(self) -> int:
        """Return how many streamed rows they hold."""
        return sum(totals(each.runtime.arena).live for each in self.all)

    def pour_some(self, rows: np.ndarray, values: Values) -> tuple[list[np.ndarray], int, int]:
        """Pour rows into the main network until there is enough output, and the same rows into the young one.

        Return the output of each, how many rows went in, and the code that stopped it (`Runtime.pour_some`).
        """
        out, poured, said = self.main.runtime.pour_some(rows, values)
        outs = [out]
        if self.young is not None:
            outs.append(np.concatenate([self.young.nothing, *self.young.runtime.pour(rows[:poured], values)]))
        return outs, poured, said

    def advance(self, until: int, values: Values) -> tuple[list[np.ndarray], int]:
        """Let each network decide what is due before a time; return the output of each, and the code that stopped it.

        That is DONE, ENDLESS (rules do not end) or AT_LIMIT (rows that rules build meet the bound on live rows).
        """
        return self._as_far_as_it_goes(lambda each: each.runtime.advance(until, values))

    def foretell(self, values: Values) -> tuple[list[np.ndarray], int]:
        """Return each network's output if nothing more came, and the code that would stop it, as `advance` does."""
        return self._as_far_as_it_goes(lambda each: each.foretell(values))

    def _as_far_as_it_goes(
        self, found_by: Callable[[CompiledNetwork], Iterable[np.ndarray]]
    ) -> tuple[list[np.ndarray], int]:
        outs, said = [], layout.DONE
        for each in self.all:
            found = [each.nothing]
            try:
                found.extend(found_by(each))
            except EndlessRules:
                said = layout.ENDLESS
            except LiveRowsAtBound:
                said = layout.AT_LIMIT
            outs.append(np.concatenate(found))
        return outs, said

    def matches(self, outs: list[np.ndarray], clock: Clock, *, ahead: bool = False) -> list[Matches]:
        """Return the matches of each network's output, in the order of their ends where both have some.

        `ahead`: they hold if nothing more comes.
        """
        outs = [self._heard(outs[0]), *outs[1:]]
        if len(outs) == 1 or not len(outs[1]):
            return self.main.outcome.matches(outs[0], clock, ahead=ahead) if len(outs[0]) else []
        ends = np.concatenate([out[:, layout.O_END] for out in outs])
        places = np.empty(len(ends), dtype=np.int64)
        places[np.argsort(ends, kind="stable")] = np.arange(len(ends))
        split = np.split(places, [len(outs[0])])
        each = zip(self.all, outs, split, strict=True)
        return [
            batch for one, out, of in each if len(out) for batch in one.outcome.matches(out, clock, of, ahead=ahead)
        ]

    def first_matches(self, rows: np.ndarray, clock: Clock) -> list[Matches]:
        """Return the matches of output rows, each from the network that has its query; others are dropped."""
        found: list[Matches] = []
        for each in self.all:
            numbers = [number for number in each.outcome.queries if number not in self.gone]
            own = rows[np.isin(rows[:, layout.O_QUERY], numbers)]
            found += each.outcome.matches(own, clock) if len(own) else []
        return found

    def _heard(self, rows: np.ndarray) -> np.ndarray:
        """Return output rows of the main network without those of removed queries."""
        if not self.gone or not len(rows):
            return rows
        return rows[~np.isin(rows[:, layout.O_QUERY], list(self.gone))]
