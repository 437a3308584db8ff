"""Why not, of a view: which reports had a triple or a solution in their windows, and what the view keeps of it.

Data's way: contents of windows, times of rows -> **words about reports** -> the answer.
Left out: what a view evaluates above its parts; the answer names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from retewave.views.bounds import NEVER
from retewave.views.calendar import reports_with
from retewave.views.history import is_moved
from retewave.views.running import RunningView
from retewave.why_not.answer import Refusal
from retewave.why_not.rows import END, START, Parts, PatternRows
from retewave.why_not.search import Within
from retewave.windows.intervals import STATIC_END
from retewave.windows.times import Instant, spell_instant

__all__ = ["ViewWindows"]


@dataclass(frozen=True)
class PartAsked:
    """A part of a view."""

    leaf: int  # its number
    parts: tuple[PatternRows, ...]  # the rows of its patterns
    triple: Callable[[int, int], str]  # the text of a row, by the pattern's place and the row's

    def time(self, place: int, row: int, which: int) -> int:
        """Return a time of a row."""
        return int(self.parts[place].times[row][which])


class ViewWindows:
    """The windows of a view, for questions about their reports."""

    def __init__(self, view: RunningView, decode: Callable[[int], Instant]) -> None:
        self._view, self._decode = view, decode

    def asks(self, leaf: int) -> bool:
        """Tell whether a part of the view finds solutions; others only tell what has come, and when."""
        found = self._view.split.leaves[leaf]
        return not (found.presence or found.timed)

    def with_contents(self, leaf: int, parts: Parts) -> Parts:
        """Return the rows of a part: one that is a pattern alone is in no memory, but in the view's window."""
        found = self._view.split.leaves[leaf]
        if len(parts.rows) != 1 or parts.rows[0].slots or found.event is not None:
            return parts
        [only] = parts.rows
        terms, times = self._view.solutions(leaf)
        places = {each.name: place for place, each in enumerate(found.variables)}
        ids = terms[:, [places[name] for name in only.names]]
        return replace(parts, rows=(replace(only, ids=ids, times=np.column_stack([times, times, times])),))

    def reports(self, leaf: int, start: int, end: int) -> tuple[int, int] | None:
        """Return the first and the last report with something in its window; nothing where that cannot be said."""
        window = self._view.split.leaves[leaf].window
        if window is None or is_moved(self._view.frame.windows[window].extent):
            return None
        return reports_with(self._view.frame, window, start, end)

    def spelled(self, leaf: int, start: int, end: int) -> str:
        """Say in which reports something is."""
        found = self.reports(leaf, start, end)
        if found is None or found[0] >= NEVER or found[1] < found[0]:
            return ""
        first, last = found
        if first == last:
            when = f"the report at {self.instant(first)}"
        elif last >= NEVER:
            when = f"the reports from {self.instant(first)} on"
        else:
            when = f"the reports from {self.instant(first)} to {self.instant(last)}"
        if self._view.is_beyond(first):
            return f"in {when}"
        return f"in {when}, {'which' if first == last else 'the first of which'} is not made yet"

    def told(self, of: PartAsked, within: Within, *, whole: bool) -> Iterator[str]:
        """Yield in which reports the triples are that were found; `whole`: they make a solution."""
        if whole and (said := self.spelled(of.leaf, within.window_start, within.end)):
            yield f"what is there is {said}"
        for place, row in () if whole else sorted(within.chosen.items()):
            said = self.spelled(of.leaf, of.time(place, row, START), of.time(place, row, END))
            if said:
                yield f"{of.triple(place, row)} is {said}"

    def missed(self, of: PartAsked, within: Within) -> Refusal | None:
        """Return why no report has all of a solution, if that is so."""
        found = self.reports(of.leaf, within.window_start, within.end)
        if found is None or found[1] >= found[0]:
            return None
        ends = {of.time(place, row, END): (place, row) for place, row in within.chosen.items()}
        ends.pop(STATIC_END, None)
        older, newer = of.triple(*ends[min(ends)]), of.triple(*ends[max(ends)])
        said = f"the last window that had {older} was reported at {self.instant(found[1])}"
        said += f", before {newer} came at {self.instant(max(ends))}"
        return Refusal("one window with all of it", "report", said, 0)

    def instant(self, time: int) -> str:
        """Return a time as text."""
        return spell_instant(self._decode(time))
