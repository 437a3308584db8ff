"""Reports: what a view tells at one time.

Data's way: a view's report -> matches, one a row -> **`Report`** -> `on_report`, `engine.reports`, `query.table`.
Rows are matches like others: their start is the earliest opening of the view's windows, their end the report's time.
Left out: when reports are made (`retewave.views.running`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from retewave.match import Match, Matches
from retewave.windows.intervals import BEFORE_ALL
from retewave.windows.times import Clock, Instant

if TYPE_CHECKING:
    import pyarrow

    from retewave.query import Query

__all__ = ["Report", "ReportedWindow"]


@dataclass(frozen=True)
class ReportedWindow:
    """A window as a report has seen it: it holds the times behind its opening, up to its end."""

    name: str  # how the query declares it, and on which stream
    opens: Instant | None  # its open lower bound, in the form in which times went in; None: it has all that came
    closes: Instant  # its closed upper bound
    micros: tuple[int, int]  # both as microseconds

    def spelled(self, told: Callable[[int], str]) -> str:
        """Return the times that are in it, for people; `told` spells a time."""
        begin = "" if self.opens is None else f"behind {told(self.micros[0])}, "
        return f"{self.name}: {begin}up to {told(self.micros[1])}"


class Report:
    """What a view told at one time: its rows, perhaps none."""

    __slots__ = ("_made_at", "rows")

    def __init__(self, rows: Matches, made_at: int) -> None:
        self.rows = rows  # as matches, in the view's order
        self._made_at = made_at  # microseconds

    @property
    def query(self) -> Query:
        """The view."""
        return self.rows.query

    @property
    def time(self) -> Instant:
        """The time of the report, in the form in which times went in."""
        return self.rows.clock.decode(self._made_at)

    @property
    def boolean(self) -> bool:
        """Whether there are rows: the answer of ASK."""
        return len(self.rows) > 0

    @property
    def made_at(self) -> int:
        """The time of the report in microseconds."""
        return self._made_at

    @property
    def windows(self) -> list[ReportedWindow]:
        """The query's windows at the report, in the order written."""
        clock, frame = self.rows.clock, self.query.parsed.view
        assert frame is not None
        named = [str(each) if each.name is None else f"{each.name.decode()} {each}" for each in frame.windows]
        return [
            ReportedWindow(name, _opening(clock, opens), clock.decode(closes), (opens, closes))
            for name, (opens, closes) in zip(named, self.rows.bounds, strict=True)
        ]

    def to_svg(self) -> str:
        """Return a picture of its windows on a time line; `retewave.draw_reports` draws several reports."""
        from retewave.provenance.report_line import draw_reports

        return draw_reports([self])

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Match]:
        return iter(self.rows)

    def to_arrow(self, *, typed: bool = True) -> pyarrow.Table:
        """Return the rows as a table: start, end, and each variable, as `Query.to_arrow` does."""
        return self.rows.to_arrow(typed=typed)

    def __repr__(self) -> str:
        return f"<Report of {self.query.name} at {self.time}: {len(self)} rows>"


def _opening(clock: Clock, time: int) -> Instant | None:
    """Return a lower bound, if there is one."""
    return None if time <= BEFORE_ALL else clock.decode(time)
