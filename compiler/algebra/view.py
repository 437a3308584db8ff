"""Views: windows, the times of reports, and the rows of a report that are told.

Data's way: text -> parse -> **algebra** -> plan of a view -> reports.
A *view* is evaluated at report times over the content of its windows, which is a set of triples: an RDF graph.  A
report gives a relation, of which a view tells all rows (RSTREAM), those that were not there at the report before
(ISTREAM), or those that are no longer there (DSTREAM); rows are counted, as in bags.

All times and durations are whole microseconds.  A *phase* is the time from which the steps are counted, in both
directions: reports are at phase + k * step, for each whole k.  The time of an item is its end.

Which items are in a window at a report time t:

=============  ==================================================================================================
`Sliding`      t' - width < time <= t', t' the latest phase + k * step that is no later than t (t' = t without step)
`Landmark`     since <= time <= t
`Fixed`        begin <= time <= end, and time <= t
`Ago`          t' - oldest < time <= t' - newest, t' as for `Sliding`
`Newest`       the last `count` arrivals, and all that arrived at the same instant as the oldest of them
`Current`      the items of the latest instant of any stream at or before t
`Whole`        time <= t
`Inside`       the items that are in both windows
=============  ==================================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from retewave.compiler.algebra.graph import Term
from retewave.errors import Place
from retewave.windows.durations import spell

__all__ = [
    "Ago",
    "Current",
    "Extent",
    "Fixed",
    "Inside",
    "Landmark",
    "Newest",
    "ReportPolicy",
    "Sliding",
    "Told",
    "ViewFrame",
    "Whole",
    "WindowOn",
    "is_stepped",
    "newest_of",
    "steps_of",
]

Told: TypeAlias = Literal["RSTREAM", "ISTREAM", "DSTREAM", "CHANGES"]  # all rows, new rows, rows that are gone, both


@dataclass(frozen=True)
class Sliding:
    """RANGE width STEP step: open at its older end.  TUMBLING is a step as long as the width.

    >>> str(Sliding(10_000_000, 5_000_000))
    'RANGE 10s STEP 5s'
    """

    width: int  # how far it reaches back; more than 0
    step: int | None = None  # between two reports, more than 0; None: it moves with the clock
    phase: int = 0  # from which steps are counted

    def __str__(self) -> str:
        return f"RANGE {spell(self.width)}{_stepped(self.step, self.phase)}"


@dataclass(frozen=True)
class Landmark:
    """LND since: all since a time, which is in it."""

    since: int  # the first time in it

    def __str__(self) -> str:
        return f"LND {_moment(self.since)}"


@dataclass(frozen=True)
class Fixed:
    """FROM begin TO end: both are in it."""

    begin: int  # the first time in it
    end: int  # the last time in it

    def __str__(self) -> str:
        return f"FROM {_moment(self.begin)} TO {_moment(self.end)}"


@dataclass(frozen=True)
class Ago:
    """FROM NOW-oldest TO NOW-newest STEP step: open at its older end."""

    oldest: int  # how far back it begins; more than `newest`
    newest: int  # how far back it ends; 0: at the report
    step: int | None = None  # between two reports, more than 0; None: it moves with the clock
    phase: int = 0  # from which steps are counted

    def __str__(self) -> str:
        return f"FROM NOW-{spell(self.oldest)} TO NOW-{spell(self.newest)}{_stepped(self.step, self.phase)}"


@dataclass(frozen=True)
class Newest:
    """TRIPLES n, ELEMENTS n: the last arrivals, repeated ones and those that no pattern uses included."""

    count: int  # how many; more than 0
    of: Literal["triples", "events"] = "triples"  # the items that are counted
    step: int | None = None  # a report at each arrival whose number is a multiple of this; None: no reports of its own

    def __str__(self) -> str:
        stepped = "" if self.step is None else f" STEP {self.step}"
        return f"{'TRIPLES' if self.of == 'triples' else 'ELEMENTS'} {self.count}{stepped}"


@dataclass(frozen=True)
class Current:
    """NOW: the current instant, left at the next instant of any stream."""

    def __str__(self) -> str:
        return "NOW"


@dataclass(frozen=True)
class Whole:
    """ALL: the stream as far as it has come."""

    def __str__(self) -> str:
        return "ALL"


@dataclass(frozen=True)
class Inside:
    """[outer] OF [inner]: the triples that are in both."""

    outer: Extent  # written first
    inner: Extent  # written behind OF

    def __str__(self) -> str:
        return f"{self.outer} OF {self.inner}"


Extent: TypeAlias = Sliding | Landmark | Fixed | Ago | Newest | Current | Whole | Inside


def steps_of(extent: Extent) -> tuple[tuple[int, int], ...]:
    """Return the steps in time of a window, each with its phase.

    >>> steps_of(Inside(Fixed(0, 9), Sliding(10, 5))), steps_of(Newest(10, step=2))
    (((5, 0),), ())
    """
    match extent:
        case Sliding(step=step, phase=phase) | Ago(step=step, phase=phase) if step is not None:
            return ((step, phase),)
        case Inside(outer, inner):
            return (*steps_of(outer), *steps_of(inner))
    return ()


def newest_of(extent: Extent) -> tuple[Newest, ...]:
    """Return the windows that count in a window: itself, or those that it is nested of.

    >>> newest_of(Inside(Fixed(0, 9), Newest(10, step=2)))
    (Newest(count=10, of='triples', step=2),)
    """
    match extent:
        case Newest():
            return (extent,)
        case Inside(outer, inner):
            return (*newest_of(outer), *newest_of(inner))
    return ()


def is_stepped(extent: Extent) -> bool:
    """Tell whether a window says when it is reported."""
    return bool(steps_of(extent)) or any(each.step is not None for each in newest_of(extent))


@dataclass(frozen=True)
class WindowOn:
    """A window on a stream, as a query declares it."""

    name: bytes | None  # its IRI as canonical text, by which `InWindow` asks for it; None: it is in the default graph
    stream: bytes | None  # the IRI of the stream as canonical text; None: every stream
    extent: Extent  # which items are in it
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written

    def __str__(self) -> str:
        return f"[{self.extent}] on {'every stream' if self.stream is None else self.stream.decode()}"


@dataclass(frozen=True)
class ReportPolicy:
    """When a view is evaluated.

    *close*: at each phase + k * step of each window, from the first that is no earlier than the first item of any
    stream.
    *change*: at each instant at which the triples that some pattern can use have changed in some window, by entering
    or leaving.  *periodic*: at each k * period, from the first that is no earlier than the first item.
    A report with all windows empty that follows another such report is passed over.
    """

    policy: Literal["close", "change", "periodic"]  # which of the three
    period: int | None = None  # of periodic reports
    non_empty: bool = False  # only while some window has content

    def __str__(self) -> str:
        named = {"close": "WINDOW CLOSE", "change": "CONTENT CHANGE"}
        period = "" if self.period is None else f"PERIODIC {spell(self.period)}"
        return named.get(self.policy, period) + (" NON EMPTY" if self.non_empty else "")


@dataclass(frozen=True)
class ViewFrame:
    """The parts that make a view of a query: `Query.view`."""

    windows: tuple[WindowOn, ...]  # in the order written
    reporting: ReportPolicy  # when it is evaluated
    told: Told = "RSTREAM"  # the rows of a report that are told
    reason: str = ""  # the word of the text that makes it a view, for explain: "STEP", "GROUP BY"
    graphs: tuple[Term, ...] = ()  # FROM NAMED <…>: the named graphs of the dataset; none: those that GRAPH names
    t0: int | None = None  # the phase of all windows, if it was given beside the text
    part: Literal["first", "other"] | None = None  # one of the shards' parts of a view; the first knows when it begins

    @property
    def named(self) -> tuple[WindowOn, ...]:
        """The windows that `InWindow` can ask for."""
        return tuple(each for each in self.windows if each.name is not None)

    @property
    def merged(self) -> tuple[WindowOn, ...]:
        """The windows that are in the default graph."""
        return tuple(each for each in self.windows if each.name is None)


def _stepped(step: int | None, phase: int) -> str:
    stepped = "" if step is None else f" STEP {spell(step)}"
    return stepped + (f" STARTING AT {spell(phase)}" if phase else "")


def _moment(time: int) -> str:
    """Write a time as its distance from 0."""
    return spell(time) if time >= 0 else f"-{spell(-time)}"
