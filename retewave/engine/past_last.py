"""AFTER MATCH SKIP PAST LAST: of a partition's matches the first is told; those that began before its end are not.

Data's way: solutions of closed instants, in the order of their ends -> **those that no told one has skipped**.
First is what is complete first; then what began first; then what has the earlier events, one by one.  What still ties
is told together.  A partition is remembered by the last event of the match that was told last, as long as runs that
began before it may end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from retewave.compiler.lower import Output
from retewave.engine.stages import Reporting, Solutions
from retewave.rete.words import layout
from retewave.windows.intervals import BEFORE_ALL

__all__ = ["PastLast", "Skipping"]

_BRANCH = layout.UNDECIDED_ROW - 1


@dataclass
class Skipping:
    """The partitions in which a match was told, each with the time of its last event."""

    columns: int  # of a partition
    width: int | None  # the longest run, microseconds
    last: dict[tuple[int, ...], int] = field(default_factory=dict)
    follows = False  # whether a match is told depends on all matches before
    terms = frozenset({"keys"})  # the arrays of its state that hold terms

    def __len__(self) -> int:
        return len(self.last)

    def new(self, columns: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:  # noqa: ARG002
        """Return which runs began behind the match that was told last; `ends` are not looked at."""
        known = (self.last.get(tuple(key)) for key in columns.tolist())
        pairs = zip(known, starts.tolist(), strict=True)
        return np.array([before is None or start > before for before, start in pairs], dtype=np.bool_)

    def advance(self, now: int) -> None:
        """Forget the partitions whose last match ended before all runs that may still end began."""
        if self.width is not None:
            self.last = {key: time for key, time in self.last.items() if time >= now - self.width}

    def mark(self, marks: np.ndarray) -> None:
        """Mark those of the first terms that its keys hold."""
        terms = self.state()["keys"]
        marks[terms[(terms > 0) & (terms < len(marks))]] = 1

    def state(self) -> dict[str, np.ndarray]:
        """Return the partitions and the times."""
        keys = np.array(list(self.last), dtype=np.int64).reshape(len(self.last), self.columns)
        return {"keys": keys, "last": np.array(list(self.last.values()), dtype=np.int64)}

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Take over the state in a snapshot."""
        keys = state["keys"].reshape(len(state["last"]), self.columns).tolist()
        self.last = dict(zip(map(tuple, keys), state["last"].tolist(), strict=True))


class PastLast(Reporting):
    """The stage of a query that skips past the last event of each match."""

    def __init__(
        self, skipping: Skipping, keys: Sequence[int], query: int, outputs: Mapping[tuple[int, int], Output]
    ) -> None:
        super().__init__(skipping, keys)
        self._skipping, self._query, self._outputs = skipping, query, outputs

    def take(self, found: Solutions) -> Solutions:
        """Return the solutions that are not skipped."""
        keys = list(map(tuple, self._compared(found).tolist()))
        waiting: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        for place, end in enumerate(found.rows[:, layout.O_END].tolist()):
            waiting.setdefault((end, keys[place]), []).append(place)
        told = np.zeros(len(found.rows), dtype=np.bool_)
        starts = found.rows[:, layout.O_START].tolist()
        for (_, key), places in sorted(waiting.items()):
            for place in self._first(found, key, places, starts):
                told[place] = True
        self.suppressed += int((~told).sum())
        return found.only(told)

    def _first(self, found: Solutions, key: tuple[int, ...], places: list[int], starts: Sequence[int]) -> Iterator[int]:
        """Yield the solutions of one instant and partition that are told."""
        last = self._skipping.last
        waiting = [each for each in places if starts[each] > last.get(key, BEFORE_ALL)]
        times = {each: self._times(found, each) for each in waiting}
        while waiting:
            order = min((starts[each], times[each]) for each in waiting)
            yield from (each for each in waiting if (starts[each], times[each]) == order)
            last[key] = order[1][-1]
            waiting = [each for each in waiting if starts[each] > last[key]]

    def _times(self, found: Solutions, place: int) -> list[int]:
        """Return the times of the events of a solution's run."""
        output = self._outputs[self._query, int(found.rows[place, layout.O_BRANCH]) & _BRANCH].runs
        assert output is not None and found.parts is not None
        parts = found.parts.of(int(found.rows[place, -1]))
        return [each.time for each in parts if each.state >= 0 and not output.states[each.state][0].passing]
