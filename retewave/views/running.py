"""A view that runs: it takes what the network finds, and makes reports when the clock has passed their times.

Data's way: output rows of the network -> **content of windows -> reports** -> matches.
A report at a time is told when the clock is beyond it, or when a flush closes the last instant: then all that ends by
then has come.  Reports are told in the order of their times, each once.
Invariant: a view is a state with an identity (`retewave/engine/states.py`): a change of queries, a snapshot and a sweep
of the dictionary leave it as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from retewave.compiler.algebra import ViewFrame, newest_of, steps_of
from retewave.compiler.expressions.tree import Variable
from retewave.compiler.rewrite.kept import GroupsFound, goes_by_changes, leaves_in, picked_columns, with_groups
from retewave.compiler.rewrite.leaves import Leaf, LeafFound, MatchFound, SingleEventFound, TimesFound, ViewLeaves
from retewave.match import Matches
from retewave.provenance.made_of import Sources
from retewave.query import Query
from retewave.rete.terms.dictionary import Terms
from retewave.rete.words import layout
from retewave.rete.words.rows import END
from retewave.views.bounds import NEVER, bounds, enters, next_step, opening
from retewave.views.cells import cells_of
from retewave.views.contents import Contents
from retewave.views.happened import Happened, times_of
from retewave.views.history import History, is_moved
from retewave.views.kept import Arrivals, Changes
from retewave.views.matching import EventSolutions, MatchedEvents, match_of
from retewave.views.moving import MovingTriples
from retewave.views.reasons import Reasons
from retewave.views.relation import Bag, differences, left_over
from retewave.windows.intervals import BEFORE_ALL, STATIC_END
from retewave.windows.times import Clock

__all__ = ["RunningView"]

_BRANCH = layout.UNDECIDED_ROW - 1  # mask of the number in an output row's branch
_AN_EVENT = -1  # in place of a leaf's number: what comes and goes is an event, whatever it is looked at for


class RunningView:
    """The content of a view's windows, and its reports until now."""

    follows = False  # from the rows that are alive

    def __init__(self, query: Query, split: ViewLeaves, terms: Terms, sources: Sources) -> None:
        assert query.parsed.view is not None
        self.query, self.split, self.terms_ = query, split, terms
        self.frame: ViewFrame = query.parsed.view
        self._reasons = Reasons(query, split, sources, self.bounds) if query.explained else None
        self._pattern = with_groups(split.pattern) if self._reasons is None else split.pattern
        self._by_changes = self._reasons is None and goes_by_changes(self._pattern, query.parsed)
        picking = self._reasons is None and query.parsed.form != "ASK"
        self._picked = picked_columns(self._pattern, query.variables) if picking else None
        told = {each.leaf for each in leaves_in(self._pattern)} if self._by_changes else ()
        self._contents = Contents(split, self._pattern, self.frame.windows, terms, self.bounds, told)
        self._places = [[query.columns.index(each.name) for each in leaf.variables] for leaf in split.leaves]
        self._happened = {
            number: Happened(len(leaf.variables))
            for number, leaf in enumerate(split.leaves)
            if leaf.timed or (leaf.event is not None and not leaf.presence)
        }
        self._spent = np.zeros(0, dtype=np.int64)  # the events that MATCH has used up
        self._arrivals = [Arrivals(cells_of(self.frame, number)) for number in range(len(self.frame.windows))]
        self._changes = Changes()
        self._histories = dict(self._made_histories(sources.streams))  # of the windows that what comes moves, by number
        self._moving = {
            number: MovingTriples(self.frame.windows[number].extent, each) for number, each in self._histories.items()
        }
        self._first = NEVER  # the first item of any stream
        self._at = BEFORE_ALL  # all reports up to here are made
        self._was_empty = self.frame.part == "other"  # the latest report had no window with content
        self._gone = 0  # how many of the latest rows are gone, where those that have come are told, too
        self._rows = np.zeros((0, len(query.variables)), dtype=np.int64)  # of the latest report, if the next needs them
        self.reported = 0  # how many reports there were

    def _made_histories(self, streams: Mapping[str, int]) -> Iterator[tuple[int, History]]:
        for number, window in enumerate(self.frame.windows):
            if is_moved(window.extent):
                stream = None if window.stream is None else streams[window.stream[1:-1].decode()]
                yield number, History(window.extent, stream)

    # ---- what comes in ----
    def take(self, columns: np.ndarray, rows: np.ndarray) -> None:
        """Take output rows; `columns` are their terms by the query's columns."""
        first = int(rows[0, layout.O_BRANCH]) & _BRANCH
        branches = rows[:, layout.O_BRANCH] & _BRANCH if len(rows) > 1 else None
        if branches is None or (branches == first).all():
            self._take(first, rows, columns)
            return
        for number in np.unique(branches).tolist():
            own = branches == number
            self._take(number, rows[own], columns[own])

    def _take(self, number: int, rows: np.ndarray, columns: np.ndarray) -> None:
        """Take solutions of one leaf."""
        leaf, times = self.split.leaves[number], rows[:, [layout.O_START, layout.O_END]]
        kept = np.concatenate([times, columns[:, self._places[number]]], axis=1)
        if self._reasons is not None and not leaf.presence:
            place = None if leaf.event is None else self.query.columns.index(leaf.event.name)
            events = np.zeros(len(times), dtype=np.int64) if place is None else columns[:, place]
            self._reasons.evidence.add(number, times, events, kept[:, 2:], rows)
        if leaf.timed:
            self._happened[number].add(np.insert(kept[kept[:, 1] != STATIC_END], 2, 0, axis=1))
            return
        if leaf.event is not None:
            events = columns[:, self.query.columns.index(leaf.event.name)]
            if not leaf.presence:
                self._happened[number].add(np.column_stack([times, events, kept[:, 2:]]))
            number, kept = _AN_EVENT, np.column_stack([times, events])
        self._keep(number, leaf, kept)

    def _keep(self, number: int, leaf: Leaf, rows: np.ndarray) -> None:
        if not leaf.presence and leaf.event is None:
            self._contents.add(number, rows)
        if leaf.window is None or not (leaf.presence or leaf.is_triple or self.frame.part is not None):
            return  # the triples that a part's solution is made of may be present in other shards
        streamed = rows if rows[:, 1].min() != STATIC_END else rows[rows[:, 1] != STATIC_END]
        if self.frame.reporting.policy == "change" and leaf.window in self._moving:
            self._moving[leaf.window].add(number, streamed)
        elif self.frame.reporting.policy == "change":
            self._changes.add(leaf.window, self.frame.windows[leaf.window].extent, number, streamed)
        else:
            self._arrivals[leaf.window].add(streamed[:, 1])

    def see(self, rows: np.ndarray) -> None:
        """Take all input rows, in order, also those that no pattern can use."""
        if self._first == NEVER:
            self._first = int(rows[0, END])
            self._at = max(self._at, self._first - 1)
        for each in self._histories.values():
            each.see(rows)

    @property
    def sees_all(self) -> bool:
        """Whether it has to see each input row: the first of all, and where items move its windows all of them."""
        return self._first == NEVER or bool(self._histories)

    # ---- reports ----
    def reports(self, until: int, clock: Clock) -> Iterator[Matches]:
        """Make the reports before a time; yield the rows of each, perhaps none."""
        for time in self._times(until):
            found = self._report(time)
            self.reported += 1
            opened = min(time, *(self._opening(number, time) for number in range(len(self.frame.windows))))
            starts, ends = np.full(len(found), opened), np.full(len(found), time)
            batch = Matches(self.query, self.terms_, clock, found, starts, ends)
            batch.reported, batch.gone = (opened, time), self._gone
            batch.bounds = tuple(self.bounds(number, time) for number in range(len(self.frame.windows)))
            batch.derived = None if self._reasons is None else self._reasons.derived(time, batch.bounds)
            yield batch
            for history in self._histories.values():
                history.forget(time)

    def _opening(self, window: int, time: int) -> int:
        return opening(self.frame.windows[window].extent, time, self._oldest, self._histories.get(window))

    def bounds(self, window: int, time: int) -> tuple[int, int]:
        """Return the open lower and the closed upper bound of a window, by its number, at a time."""
        return bounds(self.frame.windows[window].extent, time, self._histories.get(window))

    @property
    def _oldest(self) -> int | None:
        """The first item that a window could have."""
        return None if self._first == NEVER else self._first

    def _times(self, until: int) -> Iterator[int]:
        """Yield the times of the reports that are due before a time."""
        changing = self.frame.reporting.policy == "change"
        while self._first != NEVER:
            time = self._next_change() if changing else self._next(until)
            if time >= until:
                return
            self._at = time
            changed = self._go_to(time) if changing else True
            empty = self._has_nothing if changing else self._is_empty(time)
            told = changed and not (empty and (self._was_empty or self.frame.reporting.non_empty))
            if changed:
                self._was_empty = empty
            if told:
                yield time

    def solutions(self, leaf: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the terms of a leaf's solutions that are in its window or may come into it, and their starts."""
        solved = self._contents.solved[leaf]
        rows = solved.lives.all()
        count = 2 + len(self.split.leaves[leaf].variables)
        both = np.concatenate([rows[:, :count], solved.waiting()[:, :count]])
        return both[:, 2:], both[:, 0]

    def is_beyond(self, time: int) -> bool:
        """Tell whether all reports up to a time are made."""
        return self._at >= time

    def next_time(self, until: int) -> int:
        """Return the next time before `until` at which a report may be due; items may bring an earlier time."""
        if self._first == NEVER:
            return NEVER
        return self._next_change() if self.frame.reporting.policy == "change" else self._next(until)

    def may_report(self, first: int) -> int:
        """Return the first time, from `first` on, at which there may be a report, whatever items come."""
        counted = any(newest_of(each.extent) for each in self.frame.windows)
        period = self.frame.reporting.period
        if period is not None:
            return next_step(first - 1, period, 0)
        if self.frame.reporting.policy == "change" or counted:
            return first
        return min(next_step(first - 1, *step) for each in self.frame.windows for step in steps_of(each.extent))

    @property
    def due(self) -> int | None:
        """The time of the next report, as far as the items until now tell; None: no report before more items come."""
        if self._first == NEVER:
            return None
        if self.frame.reporting.policy == "change":
            time = self._next_change()
        elif self._was_empty and self._next_content() == NEVER:
            return None
        else:
            time = self._next(NEVER)
        return None if time >= NEVER else time

    def _next_change(self) -> int:
        """Return the next time at which a triple may enter or leave."""
        return min((self._changes.next, *(each.next(self._at) for each in self._moving.values())))

    def _go_to(self, time: int) -> bool:
        """Let triples enter and leave; tell whether the set of them has changed in some window."""
        return any([self._changes.go_to(time), *(each.go_to(time) for each in self._moving.values())])

    @property
    def _has_nothing(self) -> bool:
        return not self._changes.there and all(each.is_empty for each in self._moving.values())

    def _next(self, until: int) -> int:
        """Return the time of the next report of a window's step or of a period; a gap without content is left out."""
        at = self._at
        if self._was_empty:
            at = max(at, min(self._next_content(), until) - 1)
        period = self.frame.reporting.period
        if period is not None:
            return next_step(at, period, 0)
        steps = [step for each in self.frame.windows for step in steps_of(each.extent)]
        counted = (each.next_step(at) for each in self._histories.values())
        return min((*(next_step(at, *step) for step in steps), *counted))

    def _next_content(self) -> int:
        """Return the earliest time at which a triple that has come is in its window."""
        found = NEVER
        for number, (window, arrivals) in enumerate(zip(self.frame.windows, self._arrivals, strict=True)):
            low, _ = self.bounds(number, self._at)
            for end in arrivals.times[arrivals.times > low][:1].tolist():
                found = min(found, enters(window.extent, end))
        return found

    def _is_empty(self, time: int) -> bool:
        return not any(each.any_inside(*self.bounds(number, time)) for number, each in enumerate(self._arrivals))

    def _report(self, time: int) -> np.ndarray:
        """Return the rows that are told at a time."""
        self._contents.advance(time)
        if self._by_changes:
            rows, former = map(self._evaluated, (self._contents.came, self._contents.gone))
        else:
            rows = self._all(time)
            if self.frame.told == "RSTREAM":
                return rows
            former, self._rows = self._rows, rows
            if self._reasons is not None:
                forth = self.frame.told != "DSTREAM"
                self._reasons.choose(left_over(*((rows, former) if forth else (former, rows))), gone=not forth)
        found, self._gone = differences(self.frame.told, rows, former)
        return found

    def _all(self, time: int) -> np.ndarray:
        """Return the rows of the query at a time; note the events that MATCH uses up."""
        used: list[np.ndarray] = []

        def matched(each: MatchFound) -> MatchedEvents:
            made = match_of(each, partial(self._of_event, time=time))
            used.append(made.events)
            return made

        def found(each: LeafFound | GroupsFound | MatchFound | TimesFound) -> Bag:
            if isinstance(each, TimesFound):
                return self._times_of(each, time)
            return matched(each).bag if isinstance(each, MatchFound) else self._contents.all(each)

        if self._reasons is None:
            rows = self._evaluated(found)
        else:
            known = self._contents.expressions()
            rows = self._shown(self._reasons.evaluated(self._pattern, self.terms_, known, found, matched, time))
        if used and self.query.parsed.policy.consumes:
            kept = [each.all()[:, 2] for each in self._happened.values()]
            self._spent = np.intersect1d(np.concatenate([self._spent, *used]), np.concatenate(kept))
        return rows

    def _evaluated(self, found: Callable[[Any], Bag]) -> np.ndarray:
        """Return the rows of the query, where its leaves have found these solutions."""
        if self._picked is not None:
            each, places = self._picked
            ids = found(each).ids
            return ids if places == list(range(ids.shape[1])) else ids[:, places]
        from retewave.views.evaluate import Evaluation

        return self._shown(Evaluation(self.terms_, self._contents.expressions(), found).of(self._pattern))

    def _shown(self, relation: Bag) -> np.ndarray:
        """Return the rows of the query, of all solutions."""
        if self.query.parsed.form == "ASK":
            return np.zeros((min(len(relation), 1), 0), dtype=np.int64)
        return relation.projected([Variable(name) for name in self.query.variables]).ids

    def _times_of(self, each: TimesFound, time: int) -> Bag:
        """Return the triples that f:timestamp asks for, with the times of their latest arrivals."""
        bounds = [self.bounds(self.split.leaves[number].window or 0, time) for number in each.leaves]
        return times_of(each, [self._happened[number] for number in each.leaves], bounds, self.terms_)

    def _of_event(self, each: SingleEventFound, time: int) -> EventSolutions:
        window = self.split.leaves[each.leaf].window
        assert window is not None
        return self._happened[each.leaf].inside(each, *self.bounds(window, time), self._spent)

    # ---- as a state ----
    @property
    def said(self) -> tuple[str, ...]:
        """Return the options that tell it from other views of the same text: those that were given beside the text."""
        return str(self.frame.reporting), str(self.frame.t0), str(self.query.parsed.policy)

    @property
    def terms(self) -> frozenset[str]:
        """Return which arrays of its state hold terms."""
        happened = (f"happened{number}" for number in self._happened)
        kept = (f"{name}{number}" for number in range(len(self.split.leaves)) for name in ("solved", "waiting"))
        return frozenset(("rows", "there", "coming", "moving", *happened, *kept))

    def advance(self, now: int) -> None:
        """Forget nothing here: reports do that."""

    def mark(self, marks: np.ndarray) -> None:
        """Mark the terms that it holds and `marks` has room for."""
        changes = self._changes.state(self._width)
        arrays = [self._rows, *self._contents.held, *([] if self._reasons is None else self._reasons.held)]
        arrays += [each.all()[:, 3:] for each in self._happened.values()]
        arrays += [changes["there"][:, 4:], changes["coming"][:, 6:], self._moved()[:, 4:]]
        for ids in arrays:
            marks[ids[(ids > 0) & (ids < len(marks))]] = 1

    @property
    def _width(self) -> int:
        return max((len(leaf.variables) for leaf in self.split.leaves), default=0) or 1

    def state(self) -> dict[str, np.ndarray]:
        """Return all that the view remembers."""
        numbers = [self._first, self._at, int(self._was_empty), self.reported]
        found = self._contents.state()
        found |= {f"arrivals{number}": each.times for number, each in enumerate(self._arrivals)}
        found |= {f"happened{number}": each.all() for number, each in self._happened.items()}
        found |= {} if self._reasons is None else self._reasons.evidence.state()
        found["spent"] = self._spent
        for number, history in self._histories.items():
            found |= {f"history{number}_{name}": array for name, array in history.state().items()}
        found |= self._changes.state(self._width)
        return found | {"rows": self._rows, "moving": self._moved(), "numbers": np.array(numbers)}

    def _moved(self) -> np.ndarray:
        """Return the triples of windows that move, a row each: window, time, number of terms, leaf, terms."""
        rows = [
            (number, end, len(terms), leaf, *terms, *(0 for _ in range(self._width - len(terms))))
            for number, each in self._moving.items()
            for end, leaf, *terms in each.all()
        ]
        return np.array(rows, dtype=np.int64).reshape(-1, self._width + 4)

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Take over a state."""
        self._contents.put(state)
        if self._reasons is not None:
            self._reasons.evidence.put(state)
        for number, arrivals in enumerate(self._arrivals):
            arrivals.times = state[f"arrivals{number}"]
        for number, happened in self._happened.items():
            happened.put(state[f"happened{number}"])
        self._changes.put(state)
        self._rows, self._spent = state["rows"], state["spent"]
        self._first, self._at, empty, self.reported = state["numbers"].tolist()
        for number, history in self._histories.items():
            parts = ("counts", "open", "instants")
            history.put({name: state[f"history{number}_{name}"] for name in parts})
            rows = [row for row in state["moving"].tolist() if row[0] == number]
            self._moving[number].put(((end, leaf, *terms[:count]) for _, end, count, leaf, *terms in rows), self._at)
        self._was_empty = bool(empty)
