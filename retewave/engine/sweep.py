"""A sweep of the dictionary, a slice at a time: reclaim the terms that nothing uses while the stream goes on.

Where it stands: beside data's way; `retewave.engine.matcher` begins one when the terms have doubled, and lets it do a
little after each batch of rows.  It goes through all rows, then through the matches that somebody still holds, then
through all terms but the pinned ones at their beginning.

Invariant: nothing uses a term that is reclaimed.  All terms in use at the beginning are marked before the first term is
reclaimed.  Terms that come meanwhile are marked at once: by the dictionary, when it is asked for them; by the kernel,
when it stores them; by `spare`, when they are of new matches, whose rows may go before the sweep comes to them.
Left out: when to sweep, and keeping readers out while one begins (`retewave.engine.matcher`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from retewave.engine.compiled import CompiledNetwork
from retewave.match import Matches
from retewave.rete.terms.dictionary import Terms

__all__ = ["Sweep", "rehearse"]

_WORK_A_MATCH = 2  # for each match that is made while terms are marked: more than it takes to mark that


class Sweep:
    """A sweep that is under way."""

    def __init__(
        self,
        terms: Terms,
        marks: np.ndarray,  # the dictionary's marks of this sweep
        networks: Iterable[CompiledNetwork],
        held: Iterable[np.ndarray],  # other ids in use; numbers that are no ids do no harm
        matches: Iterable[Matches],
    ) -> None:
        self.freed = 0  # terms reclaimed so far
        self._terms, self._networks = terms, list(networks)
        self._matches = list(matches)  # to be marked before terms are reclaimed
        self._marking = True
        self._owed = 0  # work that is to be done beside the work that is asked for
        self._next = terms.first_passing()  # the next term to go through
        self._marks = marks
        for ids in held:
            marks[ids[(ids > 0) & (ids < len(marks))]] = 1
        for each in self._networks:
            each.runtime.begin_marking(marks)

    def go_on(self, work: int) -> bool:
        """Do an amount of work, counted in rows, matches and terms; tell whether the sweep is done.

        Where a row brings many matches that is not enough to come to an end, so each new match adds some.
        """
        work, self._owed = work + self._owed, 0
        if self._marking:
            work = self._mark(work)
        if self._marking:
            return False
        self._forget(self._terms.reclaim(self._next, work))
        self._next += work
        if self._next < len(self._marks):
            return False
        self._terms.end_sweep()
        return True

    def spare(self, matches: Sequence[Matches]) -> None:
        """Spare the terms of matches that are made while the sweep is under way."""
        if self._marking:
            self._matches += matches
            self._owed += _WORK_A_MATCH * sum(map(len, matches))

    def follow(self, leaves: CompiledNetwork | None, joins: CompiledNetwork | None) -> None:
        """Go on with another network in place of one, before the rows of the former are poured into it."""
        self._networks = [each for each in self._networks if each is not leaves]
        if joins is not None:
            self._networks.append(joins)
            if self._marking:
                joins.runtime.begin_marking(self._marks)

    def leave(self) -> None:
        """Give it up: terms that are not reclaimed yet stay until the next sweep."""
        for each in self._networks:
            each.runtime.end_marking()
        self._terms.leave_sweep()

    def _mark(self, work: int) -> int:
        """Mark the terms of rows, matches and states; return the work that is left."""
        for each in self._networks:
            work = each.runtime.mark_some(work)
        while work > 0 and self._matches:
            batch = self._matches.pop()
            batch.outlast(self._marks)
            work -= len(batch)
        if work > 0:
            for each in self._networks:
                each.advance()
                for state in each.states.values():
                    state.mark(self._marks)
                each.runtime.end_marking()
            self._marking = False
        return work

    def _forget(self, freed: np.ndarray) -> None:
        """Forget the verdicts of filters on reclaimed terms: their ids will be reused."""
        for each in self._networks:
            memo = each.runtime.memo
            memo[:, freed[freed < memo.shape[1]]] = 0
        self.freed += len(freed)


def rehearse(compiled: CompiledNetwork) -> None:
    """Sweep and grow a dictionary of one term, so that the kernels for it are loaded before the stream begins."""
    terms = Terms(seed=0)
    terms.intern(b"_:term")
    terms.reserve(1 << 21, 1 << 15)
    Sweep(terms, terms.begin_sweep(), (compiled,), (), ()).go_on(1 << 20)
