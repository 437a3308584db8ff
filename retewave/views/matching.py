"""MATCH: event patterns in order, evaluated over the events of windows at a report (RSEP-QL, equations 4 to 11).

Data's way: solutions of event patterns with their times -> **SEQ, FIRST, LAST under a policy** -> a bag of bindings.
An operand is evaluated in *contexts*: what is bound already, and the time that must not be met.  So the left side of a
SEQ is evaluated once for all solutions of its right side, each of which is a context.  FIRST, LAST and the policies
choose within a context.
Invariant: all solutions of an operand bind the same variables, and no variable is unbound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from retewave.compiler.algebra import First, Last, Relate
from retewave.compiler.rewrite.leaves import MatchFound, SingleEventFound
from retewave.views.relation import Bag, codes, pairs
from retewave.windows.intervals import AFTER_ALL

__all__ = ["EventSolutions", "MatchedEvents", "match_of"]


@dataclass(frozen=True, eq=False)
class EventSolutions:
    """Solutions of an operand of MATCH."""

    bag: Bag  # their bindings
    context: np.ndarray  # int64[n]: the context that each was found in
    starts: np.ndarray  # int64[n]
    ends: np.ndarray  # int64[n]
    events: np.ndarray  # int64[n, k]: the events that each is made of

    def taken(self, places: np.ndarray) -> EventSolutions:
        """Return the solutions at some places, or those that a mask keeps."""
        parts = (self.context, self.starts, self.ends, self.events)
        return EventSolutions(self.bag.taken(places), *(part[places] for part in parts))

    def extreme(self, last: bool, among: np.ndarray) -> EventSolutions:
        """Return, of the solutions with one number, the latest or the earliest: by the ends, then by the starts."""
        ranks = codes(np.column_stack([self.ends, self.starts]))
        best = np.full(int(among.max(initial=-1)) + 1, -1 if last else len(ranks))
        (np.maximum if last else np.minimum).at(best, among, ranks)
        return self.taken(ranks == best[among])


@dataclass(frozen=True, eq=False)
class MatchedEvents:
    """What MATCH gives at a report."""

    bag: Bag  # the bindings
    events: np.ndarray  # the events that they are made of
    made_of: np.ndarray  # int64[n, k]: those of each, by the places of the event patterns; of several ways one


Found = Callable[[SingleEventFound], EventSolutions]


def match_of(each: MatchFound, found: Found) -> MatchedEvents:
    """Return the bindings of MATCH, once for each interval."""
    made = _Matching(found, each.policy).of(each.pattern, _nothing())
    columns = np.column_stack([made.starts, made.ends, made.bag.projected(each.variables).ids])
    known, places = np.unique(columns, axis=0, return_index=True)
    return MatchedEvents(Bag(each.variables, known[:, 2:]), np.unique(made.events), made.events[places])


def _nothing() -> EventSolutions:
    """Return one context in which nothing is bound, and all times are."""
    none = np.zeros(1, dtype=np.int64)
    return EventSolutions(Bag.unit(), none, np.full(1, AFTER_ALL), none, np.zeros((1, 0), dtype=np.int64))


@dataclass(frozen=True)
class _Matching:
    """The evaluation of one MATCH."""

    found: Found  # the solutions of event patterns, in one context
    policy: str  # which pairs a SEQ takes

    def of(self, pattern: Any, given: EventSolutions) -> EventSolutions:
        """Return the solutions in contexts: `given`, by their places; what is found ends before their starts."""
        match pattern:
            case SingleEventFound():
                return self._event(pattern, given)
            case First(inner) | Last(inner):
                made = self.of(inner, given)
                return made.extreme(isinstance(pattern, Last), made.context)
            case Relate(left=left, right=right):
                pair = self._last_pairs if self.policy == "naive" else self._pairs
                return pair(left, right, given)
        raise TypeError(f"not an operand of MATCH: {pattern!r}")

    def _event(self, pattern: SingleEventFound, given: EventSolutions) -> EventSolutions:
        all_ = self.found(pattern)
        context, places = pairs(given.bag, all_.bag)
        kept = all_.ends[places] < given.starts[context]
        return replace(all_.taken(places[kept]), context=context[kept])

    def _pairs(self, left: Any, right: Any, given: EventSolutions) -> EventSolutions:
        """Return the solutions of SEQ: each right one is a context of the left side."""
        rights = self.of(right, given)
        bound = given.bag.taken(rights.context)
        known = bound.combined(rights.bag, np.arange(len(bound)), np.arange(len(bound)))
        starts = np.minimum(rights.starts, given.starts[rights.context])
        lefts = self.of(left, replace(rights, bag=known, starts=starts))
        if self.policy in ("chronological", "recent"):
            lefts = _chosen(lefts, rights, self.policy == "recent")
        return _both(lefts, rights, lefts.context)

    def _last_pairs(self, left: Any, right: Any, given: EventSolutions) -> EventSolutions:
        """Return the pairs of the last left and the last right solution of a context, if these are compatible."""
        lefts, rights = self.of(left, given), self.of(right, given)
        lefts, rights = lefts.extreme(True, lefts.context), rights.extreme(True, rights.context)
        mine, its = pairs(lefts.bag, rights.bag)
        fit = (lefts.context[mine] == rights.context[its]) & (lefts.ends[mine] < rights.starts[its])
        return _both(lefts.taken(mine[fit]), rights, its[fit])


def _chosen(lefts: EventSolutions, rights: EventSolutions, last: bool) -> EventSolutions:
    """Return the left solutions that a policy takes: the first, or the last, of the right ones that are taken."""
    with_partner = np.unique(lefts.context)
    rivals = replace(rights.taken(with_partner), events=with_partner)
    alike = codes(np.column_stack([rivals.context, rivals.bag.ids]))
    taken = rivals.extreme(last, alike).events
    lefts = lefts.taken(np.isin(lefts.context, taken))
    return lefts.extreme(last, lefts.context)


def _both(lefts: EventSolutions, rights: EventSolutions, places: np.ndarray) -> EventSolutions:
    """Return joined solutions: left ones, each with the right one at a place."""
    beside = rights.taken(places)
    every = np.arange(len(places))
    bag = lefts.bag.combined(beside.bag, every, every)
    events = np.column_stack([lefts.events, beside.events])
    return EventSolutions(bag, beside.context, lefts.starts, beside.ends, events)
