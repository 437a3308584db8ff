"""Which statements of a source are one event: what a user says, and what it means to the scan.

Where it stands: beside the reader's description; the scan does it (retewave/io/lines/events.py), and one event an
instant is made behind the times (retewave/io/times/instants.py).
Left out: what is pushed, where a call is an event.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from retewave.errors import UsageError

__all__ = ["EventBy", "Grouping", "grouping_of"]

EventBy: TypeAlias = 'Literal["graph", "subject", "time"] | int'

MOST = 1 << 20  # statements of an event


@dataclass(frozen=True)
class Grouping:
    """What makes one event of statements."""

    by: Literal["graph", "subject", "time", "count"] = "graph"
    size: int = 0  # how many statements are one event, by count

    def __str__(self) -> str:
        return f"{self.size} statements" if self.by == "count" else self.by

    def takes_subjects(self, *, graphs: bool, told: bool) -> bool:
        """Tell whether the statements of one subject belong together before they have a time.

        By time they do where statements tell it (`told`), and no graph says what belongs together.

        >>> [Grouping("time").takes_subjects(graphs=graphs, told=True) for graphs in (True, False)]
        [False, True]
        """
        return self.by == "subject" or (self.by == "time" and told and not graphs)


def grouping_of(given: object) -> Grouping:
    """Return what an argument or an option asks for; a number says how many statements are one event.

    >>> grouping_of("subject"), grouping_of("3")
    (Grouping(by='subject', size=0), Grouping(by='count', size=3))
    """
    if given == "graph" or given == "subject" or given == "time":
        return Grouping(given)
    number = int(given) if isinstance(given, str) and given.isascii() and given.isdigit() else given
    if isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= MOST:
        return Grouping("count", number)
    raise UsageError(
        f"what makes an event cannot be {given!r}",
        hint="graph, subject, time, or how many statements that follow each other are one",
    )
