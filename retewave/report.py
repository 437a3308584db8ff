"""Reports: what a view tells at one time.

Data's way: a view's report -> matches, one a row -> **`Report`** -> `on_report`, `engine.reports`, `query.table`.
Rows are matches like others: their start is the earliest opening of the view's windows, their end the report's time.
Left out: when reports are made (`retewave.views.running`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from retewave.match import Match, Matches
from retewave.windows.times import Instant

if TYPE_CHECKING:
    import pyarrow

    from retewave.query import Query

__all__ = ["Report"]


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

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Match]:
        return iter(self.rows)

    def to_arrow(self, *, typed: bool = True) -> pyarrow.Table:
        """Return the rows as a table: start, end, and each variable, as `Query.to_arrow` does."""
        return self.rows.to_arrow(typed=typed)

    def __repr__(self) -> str:
        return f"<Report of {self.query.name} at {self.time}: {len(self)} rows>"
