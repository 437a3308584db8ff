"""A registered query: its text, what it shows, and what it has matched."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from retewave.compiler import algebra
from retewave.compiler.algebra import Variable
from retewave.errors import UsageError
from retewave.match import Match, Matches
from retewave.repetitions import repeated
from retewave.report import Report

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from retewave.compiler.rewrite.detected import Detecting
    from retewave.compiler.rewrite.leaves import ViewLeaves
    from retewave.viz.draw.dot import PartDrawing
    from retewave.viz.draw.render import PictureFormat
    from retewave.viz.explain.compiled import Compiled

__all__ = ["Query", "parted", "skipping"]


class Query:
    """A query that an engine listens for.

    Its last matches (as many as `keep` says) can be had as columns.
    """

    def __init__(
        self,
        number: int,
        parsed: algebra.Query,
        name: str,
        on_match: Callable[[Match], object] | None,
        keep: int | None,
        explained: bool = False,
        plan: Detecting | None = None,
        leaves: ViewLeaves | None = None,
    ) -> None:
        self.number = number  # the engine's number of it
        self.parsed = parsed  # what was understood
        self.name = name  # REGISTER QUERY's name, or one that the engine gave
        self.on_match = on_match  # is called with every match
        self.explained = explained  # its matches can tell what they are made of
        self.matched = 0  # how many matches there were
        self.by_deadline = 0  # how many of them were told at a deadline
        self.inconsistent = 0  # how many events contradicted the ontology
        self.network: Callable[[], Compiled] | None = None  # the network that it is part of, while it is registered
        self.variables = _shown(parsed)  # the columns of its matches
        self.compared = _compared(parsed, self.variables)  # the variables in which DISTINCT compares them
        self.plan = plan  # how its rows are read, if it defines events
        self.solved = (
            _solved(parsed) if plan is None else tuple(plan.hidden)
        )  # the variables in which solutions of one instant are compared; none: in no way
        # the columns of a match until it is reported
        self.columns = tuple(dict.fromkeys((*self.variables, *self.compared, *self.solved, *parted(parsed))))
        self.repeated = repeated(parsed)  # the event patterns whose repetitions its matches list
        self.leaves = leaves  # what the network keeps of a view; none for a query that detects
        if leaves is not None:
            self.columns = leaves.columns
        self._places = {variable: place for place, variable in enumerate(self.variables)}
        self._keep = keep  # how many matches to keep; None for all
        self._kept: deque[Matches] = deque()
        self._kept_rows = 0
        self.on_report: Callable[[Report], object] | None = None  # is called with every report of a view
        self._reports: deque[Report] = deque()  # those that nobody has taken yet
        self._reported_rows = 0  # in those; a report counts as one more
        self._latest: Matches | None = None  # the rows of a view's latest report

    def take_plan(self, plan: Detecting) -> None:
        """Find events in another way: the schema or static data has changed."""
        self.plan, self.solved = plan, tuple(plan.hidden)
        self.columns = tuple(dict.fromkeys((*self.variables, *self.compared, *self.solved)))

    @property
    def text(self) -> str:
        """The query as it was written."""
        return self.parsed.text

    @property
    def is_view(self) -> bool:
        """Whether it is evaluated at report times over the content of its windows."""
        return self.leaves is not None

    @property
    def is_construct(self) -> bool:
        """Whether its matches build triples."""
        return self.parsed.form == "CONSTRUCT"

    def __repr__(self) -> str:
        return f"<Query {self.name}: {self.parsed.form}, {self.matched} matches>"

    def _repr_html_(self) -> str:
        from retewave.notebook import of_query

        return of_query(self)

    def _repr_svg_(self) -> str | None:
        from retewave.notebook import drawn

        return drawn(self)

    def place(self, variable: str) -> int:
        """Return the column of a variable.

        The question mark may be written or left out.
        """
        place = self._places.get(variable.removeprefix("?"))
        if place is None:
            known = ", ".join(f"?{each}" for each in self.variables) or "none"
            raise KeyError(f"{self.name} shows no variable ?{variable.removeprefix('?')}; it shows {known}")
        return place

    def take(self, batch: Matches) -> None:
        """Note a batch of new matches."""
        self.matched += len(batch)
        if batch.reported is not None:
            self._note_report(batch, batch.reported[1])
        if self._keep == 0 or not len(batch):
            return
        self._kept.append(batch)
        self._kept_rows += len(batch)
        while self._keep is not None and len(self._kept) > 1 and self._kept_rows - len(self._kept[0]) >= self._keep:
            self._kept_rows -= len(self._kept.popleft())

    def _note_report(self, batch: Matches, time: int) -> None:
        """Note a report, whose rows are a batch."""
        self._latest = batch
        self._reports.append(Report(batch, time))
        self._reported_rows += len(batch) + 1
        while self._keep is not None and len(self._reports) > 1 and self._reported_rows > self._keep:
            self.next_report()

    @property
    def matches(self) -> list[Match]:
        """The last matches, oldest first."""
        found = [match for batch in tuple(self._kept) for match in batch]  # another thread may add some
        return found if self._keep is None else found[len(found) - min(len(found), self._keep) :]

    def to_arrow(self, *, typed: bool = True) -> pyarrow.Table:
        """Return the last matches as a table: start, end, and each variable.

        A variable whose terms are all numbers, booleans or times is a column of such; everything else, and all that is
        not `typed`, is in N-Triples form.
        """
        from retewave.io.sinks.typed_columns import table

        return table(tuple(self._kept), self.variables, typed=typed, last=self._keep)

    def to_pandas(self, *, typed: bool = True) -> pandas.DataFrame:
        """Return the last matches as a data frame, with the columns of `to_arrow`."""
        from retewave.io.sinks.frames import frame

        return frame(self.to_arrow(typed=typed))

    @property
    def reports(self) -> list[Report]:
        """The last reports of a view, as many as `keep` says, without those that `engine.reports` has returned."""
        return list(self._reports)

    def next_report(self) -> Report | None:
        """Return the oldest report of a view that was not returned yet, if there is one."""
        if not self._reports:
            return None
        report = self._reports.popleft()
        self._reported_rows -= len(report) + 1
        return report

    def table(self, *, typed: bool = True) -> pyarrow.Table:
        """Return the rows of a view's latest report as a table, with the columns of `to_arrow`."""
        if not self.is_view:
            raise UsageError(f"{self.name} is no view: to_arrow has its last matches")
        from retewave.io.sinks.typed_columns import table

        return table(() if self._latest is None else (self._latest,), self.variables, typed=typed)

    def draw(self, drawing: PartDrawing = "all", format: PictureFormat = "svg") -> bytes:
        """Return a drawing of the part of the network that leads to this query, as `Engine.draw` does."""
        from retewave.viz.draw.dot import draw
        from retewave.viz.draw.render import render

        if self.network is None:
            raise UsageError(f"{self.name} is not registered any more: it is part of no network")
        return render(draw(self.network(), drawing, query=self.name), format)


def _shown(parsed: algebra.Query) -> tuple[str, ...]:
    """Return the variables that a match has: those projected, or those of the template."""
    if parsed.form != "CONSTRUCT":
        return parsed.projection
    terms = (term for triple in parsed.template for term in (triple.subject, triple.predicate, triple.object))
    return tuple(dict.fromkeys(term.name for term in terms if isinstance(term, Variable)))


def _compared(parsed: algebra.Query, shown: tuple[str, ...]) -> tuple[str, ...]:
    """Return the variables in which matches are compared before they are reported; none if they are not."""
    if parsed.on is not None:
        return parsed.on.variables
    return shown if parsed.distinct else ()


def parted(parsed: algebra.Query) -> tuple[str, ...]:
    """Return the variables that tell in which partition a match is, if others of that are skipped."""
    sequence = skipping(parsed)
    return () if sequence is None else tuple(each.name for each in sequence.partition)


def skipping(parsed: algebra.Query) -> algebra.Sequence | None:
    """Return the sequence of a query with AFTER MATCH SKIP PAST LAST."""
    found = (each for each in algebra.walk(parsed.where) if isinstance(each, algebra.Sequence) and each.past_last)
    return next(found, None)


def _solved(parsed: algebra.Query) -> tuple[str, ...]:
    """Return all variables of the pattern, hidden ones included, where solutions are a set."""
    return tuple(each.name for each in algebra.visible(parsed.where)) if parsed.solutions == "set" else ()
