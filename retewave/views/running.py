"""A view that runs: it takes what the network finds, and makes reports when the clock has passed their times.

Data's way: output rows of the network -> **content of windows -> reports** -> matches.
A report at a time is told when the clock is beyond it, or when a flush closes the last instant: then all that ends by
then has come.  Reports are told in the order of their times, each once.
Invariant: a view is a state with an identity (`retewave/engine/states.py`): a change of queries, a snapshot and a sweep
of the dictionary leave it as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from retewave.compiler.algebra import ViewFrame, step_of
from retewave.compiler.expressions.tree import Variable
from retewave.compiler.rewrite.kept import GroupsFound, is_row_by_row, with_groups
from retewave.compiler.rewrite.leaves import LeafFound, ViewLeaves
from retewave.match import Matches
from retewave.query import Query
from retewave.rete.terms.dictionary import Terms
from retewave.rete.words import layout
from retewave.views.bounds import NEVER, bounds, enters, next_step, opening
from retewave.views.contents import Contents
from retewave.views.kept import Arrivals, Changes
from retewave.views.relation import Bag, codes
from retewave.windows.intervals import BEFORE_ALL, STATIC_END
from retewave.windows.times import Clock

__all__ = ["RunningView"]

_BRANCH = layout.UNDECIDED_ROW - 1  # mask of the number in an output row's branch


class RunningView:
    """The content of a view's windows, and its reports so far."""

    follows = False  # from the rows that are alive

    def __init__(self, query: Query, split: ViewLeaves, terms: Terms) -> None:
        assert query.parsed.view is not None
        self.query, self.split, self.terms_ = query, split, terms
        self.frame: ViewFrame = query.parsed.view
        self._pattern = with_groups(split.pattern)
        self._by_changes = self.frame.told != "RSTREAM" and is_row_by_row(self._pattern)  # no report needs the former
        self._contents = Contents(split, self._pattern, self.frame.windows, terms)
        self._places = [[query.columns.index(each.name) for each in leaf.variables] for leaf in split.leaves]
        self._arrivals = [Arrivals() for _ in self.frame.windows]
        self._changes = Changes()
        self._first = NEVER  # the first item of any stream
        self._at = BEFORE_ALL  # all reports up to here are made
        self._was_empty = False  # the latest report had no window with content
        self._rows = np.zeros((0, len(query.variables)), dtype=np.int64)  # of the latest report, if the next needs them
        self.reported = 0  # how many reports there were

    # ---- what comes in ----
    def take(self, columns: np.ndarray, rows: np.ndarray) -> None:
        """Take output rows; `columns` are their terms by the query's columns."""
        branches = rows[:, layout.O_BRANCH] & _BRANCH
        times = rows[:, [layout.O_START, layout.O_END]]
        if (branches == branches[0]).all():
            number = int(branches[0])
            self._keep(number, np.column_stack([times, columns[:, self._places[number]]]))
            return
        for number in np.unique(branches).tolist():
            own = branches == number
            self._keep(number, np.column_stack([times[own], columns[own][:, self._places[number]]]))

    def _keep(self, number: int, rows: np.ndarray) -> None:
        leaf = self.split.leaves[number]
        if not leaf.presence:
            self._contents.solved[number].add(rows)
        if leaf.window is None or not (leaf.presence or leaf.is_triple):
            return
        streamed = rows if rows[:, 1].min() != STATIC_END else rows[rows[:, 1] != STATIC_END]
        if self.frame.reporting.policy == "change":
            self._changes.add(leaf.window, self.frame.windows[leaf.window].extent, number, streamed)
        else:
            self._arrivals[leaf.window].add(streamed[:, 1])

    def see(self, first: int) -> None:
        """Note the time of the first item of any stream."""
        if self._first == NEVER:
            self._first, self._at = first, max(self._at, first - 1)

    # ---- reports ----
    def reports(self, until: int, clock: Clock) -> Iterator[Matches]:
        """Make the reports before a time; yield the rows of each, perhaps none."""
        for time in self._times(until):
            found = self._report(time)
            self.reported += 1
            opened = min(time, *(opening(each.extent, time, self._oldest) for each in self.frame.windows))
            starts, ends = np.full(len(found), opened), np.full(len(found), time)
            batch = Matches(self.query, self.terms_, clock, found, starts, ends)
            batch.reported = opened, time
            yield batch

    @property
    def _oldest(self) -> int | None:
        """The first item that a window could have."""
        return None if self._first == NEVER else self._first

    def _times(self, until: int) -> Iterator[int]:
        """Yield the times of the reports that are due before a time."""
        changing = self.frame.reporting.policy == "change"
        while self._first != NEVER:
            time = self._changes.next if changing else self._next(until)
            if time >= until:
                return
            self._at = time
            changed = self._changes.go_to(time) if changing else True
            empty = not self._changes.there if changing else self._is_empty(time)
            told = changed and not (empty and (self._was_empty or self.frame.reporting.non_empty))
            if changed:
                self._was_empty = empty
            if told:
                yield time

    def _next(self, until: int) -> int:
        """Return the time of the next report of a window's step or of a period; a gap without content is left out."""
        at = self._at
        if self._was_empty:
            at = max(at, min(self._next_content(), until) - 1)
        period = self.frame.reporting.period
        if period is not None:
            return next_step(at, period, 0)
        steps = [step for each in self.frame.windows if (step := step_of(each.extent)) is not None]
        return min(next_step(at, *step) for step in steps)

    def _next_content(self) -> int:
        """Return the earliest time at which a triple that has come is in its window."""
        found = NEVER
        for window, arrivals in zip(self.frame.windows, self._arrivals, strict=True):
            low, _ = bounds(window.extent, self._at)
            for end in arrivals.times[arrivals.times > low][:1].tolist():
                found = min(found, enters(window.extent, end))
        return found

    def _is_empty(self, time: int) -> bool:
        inside = [
            arrivals.any_inside(*bounds(window.extent, time))
            for window, arrivals in zip(self.frame.windows, self._arrivals, strict=True)
        ]
        return not any(inside)

    def _report(self, time: int) -> np.ndarray:
        """Return the rows that are told at a time."""
        contents, forth = self._contents, self.frame.told != "DSTREAM"
        contents.advance(time)
        if self._by_changes:
            came, gone = self._evaluated(contents.came), self._evaluated(contents.gone)
            return _without(came, gone) if forth else _without(gone, came)
        rows = self._evaluated(contents.all)
        if self.frame.told == "RSTREAM":
            return rows
        former, self._rows = self._rows, rows
        return _without(rows, former) if forth else _without(former, rows)

    def _evaluated(self, found: Callable[[LeafFound | GroupsFound], Bag]) -> np.ndarray:
        """Return the rows of the query, where its leaves and groups have found these solutions."""
        from retewave.views.evaluate import Evaluation

        relation = Evaluation(self.terms_, self._contents.expressions(), found).of(self._pattern)
        if self.query.parsed.form == "ASK":
            return np.zeros((min(len(relation), 1), 0), dtype=np.int64)
        return relation.projected([Variable(name) for name in self.query.variables]).ids

    # ---- as a state ----
    @property
    def terms(self) -> frozenset[str]:
        """Return which arrays of its state hold terms."""
        kept = [f"{name}{number}" for number in range(len(self.split.leaves)) for name in ("solved", "waiting")]
        return frozenset(("rows", "there", "coming", *kept))

    def advance(self, now: int) -> None:
        """Forget nothing here: reports do that."""

    def mark(self, marks: np.ndarray) -> None:
        """Mark the terms that it holds and `marks` has room for."""
        changes = self._changes.state(self._width)
        arrays = [self._rows, *self._contents.held]
        arrays += [changes["there"][:, 4:], changes["coming"][:, 6:]]
        for ids in arrays:
            marks[ids[(ids > 0) & (ids < len(marks))]] = 1

    @property
    def _width(self) -> int:
        return max((len(leaf.variables) for leaf in self.split.leaves), default=0)

    def state(self) -> dict[str, np.ndarray]:
        """Return all that is remembered."""
        numbers = [self._first, self._at, int(self._was_empty), self.reported]
        found = self._contents.state()
        found |= {f"arrivals{number}": each.times for number, each in enumerate(self._arrivals)}
        return found | self._changes.state(self._width) | {"rows": self._rows, "numbers": np.array(numbers)}

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Take over the content of such arrays."""
        self._contents.put(state)
        for number, arrivals in enumerate(self._arrivals):
            arrivals.times = state[f"arrivals{number}"]
        self._changes.put(state)
        self._rows = state["rows"]
        self._first, self._at, empty, self.reported = state["numbers"].tolist()
        self._was_empty = bool(empty)


def _without(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return rows without as many equal ones as there are among others, in their order."""
    known = codes(np.concatenate([others, rows]))
    before, mine = known[: len(others)], known[len(others) :]
    left = np.bincount(before, minlength=int(known.max(initial=-1)) + 1)
    order = np.argsort(mine, kind="stable")
    ordered = mine[order]
    number = np.arange(len(ordered)) - np.searchsorted(ordered, ordered, "left")  # which of the equal ones it is
    kept: np.ndarray = rows[np.sort(order[number >= left[ordered]])]
    return kept
