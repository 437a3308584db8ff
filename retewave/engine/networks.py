"""The networks that run: the main one, and at times a young one beside it, of the queries that came last.

Data's way: rows in time order -> **main network, then the young one** -> output rows -> batches of matches.
To plan all queries anew for one that comes or goes takes as long as there are queries.  So a query that comes while the
stream runs shares a small network with the others that came lately; one that goes is silenced where it is.  When they
are more than a few (`are_few`), or the stream has gone on for long, all queries become one network again (`matcher`).
Invariant: each registered query is in one of the two; a row goes through both before the next batch of rows.
Left out: who makes them, and when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from retewave.compiler.plan.producers import EVENT, AlphaTest
from retewave.engine.compiled import CompiledNetwork
from retewave.match import Matches
from retewave.rete.counters import totals
from retewave.rete.runtime import EndlessRules, LiveRowsAtBound
from retewave.rete.terms.acceptance import Acceptance, either
from retewave.rete.terms.kinds import Values
from retewave.rete.words import layout
from retewave.windows.times import Clock

__all__ = ["Networks", "are_few"]


def are_few(changes: int, queries: int) -> bool:
    """Tell whether so many changes are better kept beside the network of so many queries.

    Each change makes the young network anew, and the last of them all: a root balances the two.  A query that is gone
    keeps its memories until then, so they are few beside the others, too.

    >>> are_few(27, 3_000), are_few(28, 3_000), are_few(1, 4), are_few(1, 3)
    (True, False, True, False)
    """
    return 4 * changes * changes <= queries


@dataclass(frozen=True)
class Networks:
    """What rows are poured into."""

    main: CompiledNetwork  # of all queries but those of `young`
    young: CompiledNetwork | None = None  # of the queries that came last; it began with what the other's memories held
    gone: frozenset[int] = frozenset()  # queries of `main` that are not registered any more

    @property
    def all(self) -> tuple[CompiledNetwork, ...]:
        """Return them, the main one first."""
        return (self.main,) if self.young is None else (self.main, self.young)

    @property
    def one(self) -> bool:
        """Tell whether the main one is all, and has no query that is gone."""
        return self.young is None and not self.gone

    @cached_property
    def acceptance(self) -> Acceptance:
        """Return which triples a reader may drop: those that no network takes."""
        return self.main.acceptance if self.young is None else either(self.main.acceptance, self.young.acceptance)

    @cached_property
    def asks_for_events(self) -> bool:
        """Tell whether a query asks for the events of triples."""
        return any(
            EVENT in each.columns for one in self.all for each in one.plan.producers if isinstance(each, AlphaTest)
        )

    @property
    def live_rows(self) -> int:
        """Return how many streamed rows they hold."""
        return sum(totals(each.runtime.arena).live for each in self.all)

    def pour_some(self, rows: np.ndarray, values: Values) -> tuple[list[np.ndarray], int, int]:
        """Pour rows into the main one until there is output enough, and the same rows into the young one.

        Return the output of each, how many rows went in, and what stopped it (`Runtime.pour_some`).
        """
        out, poured, said = self.main.runtime.pour_some(rows, values)
        outs = [out]
        if self.young is not None:
            outs.append(np.concatenate([self.young.nothing, *self.young.runtime.pour(rows[:poured], values)]))
        return outs, poured, said

    def advance(self, until: int, values: Values) -> tuple[list[np.ndarray], int]:
        """Let each decide what is due before a time; return the output of each, and what stopped it.

        That is DONE, ENDLESS (rules do not end) or AT_LIMIT (what they build meets the bound on live rows).
        """
        return self._as_far_as_it_goes(lambda each: each.runtime.advance(until, values))

    def foretell(self, values: Values) -> tuple[list[np.ndarray], int]:
        """Return the output that each would make if nothing more came, and what would stop it, as `advance` does."""
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
        """Return the matches that the output of each makes, in the order of their ends where both have some.

        `ahead`: they are so if nothing more comes.
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
        """Return the matches that some output rows make, each in the network that has its query; others are dropped."""
        found: list[Matches] = []
        for each in self.all:
            numbers = [number for number in each.outcome.queries if number not in self.gone]
            own = rows[np.isin(rows[:, layout.O_QUERY], numbers)]
            found += each.outcome.matches(own, clock) if len(own) else []
        return found

    def _heard(self, rows: np.ndarray) -> np.ndarray:
        """Return the main one's output rows without those of queries that are gone."""
        if not self.gone or not len(rows):
            return rows
        return rows[~np.isin(rows[:, layout.O_QUERY], list(self.gone))]
