"""The use cases as ETALIS can express them, each beside the query that means the same.

Where it stands: between the use cases (`cases.py`) and those who ask them of both engines (`versus.py`).  The rules are
`peers/events/prolog/NAME-POLICY.event`.  Under ETALIS's policy *recent* an event meets the one before it and uses it
up, whatever the conditions behind say: strict contiguity, as the SPAseq paper has it, if each event takes part and one
run at a time is open.  Under *unrestricted* nothing is used up: skip till any.
Left out: under *recent*, a Kleene+ with several runs open at once, of which only one is kept; and what skips till next,
which neither policy means.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from retewave.bench.usecases.cases import CASES, UseCase
from retewave.bench.usecases.events import BASE

__all__ = ["FROM_TRIPLES", "QUESTIONS", "UseQuestion"]

_RULES = Path(__file__).parents[1] / "peers" / "events" / "prolog"
FROM_TRIPLES = _RULES / "triples.event"  # what makes events of triples
_UNITS = {"SECONDS": 1_000, "MINUTES": 60_000}
_FALLING = r" && \?p2 < PREV\(\?p2\)"  # in the first repetition it is true
_BEHIND = r"  DEFINE GPM [FG] .*\n"  # the second shoulder: seven prices in a row do so nowhere in 60,000


@dataclass(frozen=True)
class UseQuestion:
    """A use case under a policy."""

    name: str  # of the use case
    policy: str  # of ETALIS
    sequence: str  # what SEQ has in the query
    within: str  # the window, in the query's words
    what: str  # in a few words
    dropped: str = ""  # what this form does not have, as a regular expression
    case: UseCase = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "case", CASES[self.name])

    @property
    def rules(self) -> Path:
        """The file of its rules for ETALIS."""
        return _RULES / f"{self.name}-{self.policy}.event"

    @property
    def numbered(self) -> bool:
        """Whether its rules ask for the numbers that events have in their company or vessel."""
        return self.policy == "unrestricted" and "+" in self.sequence

    @property
    def width(self) -> int:
        """The window in milliseconds."""
        number, unit = self.within.split()
        return int(number) * _UNITS[unit]

    def query(self) -> str:
        """Return the query: the example's, with this sequence and window, about the background `:facts`."""
        text = re.sub(self.dropped, "", self.case.query.read_text()) if self.dropped else self.case.query.read_text()
        text = re.sub(r"SEQ \(.*\)\n", f"SEQ ({self.sequence})\n", text)
        text = re.sub(r"WITHIN \d+ \w+", f"WITHIN {self.within}", text)
        if "+" not in self.sequence:  # nothing repeats that could be aggregated
            text = re.sub(r"^SELECT .*$", "SELECT *", text, flags=re.MULTILINE)
        return text.replace(f"GRAPH <{BASE}{self.case.background}>", f"GRAPH <{BASE}facts>")


QUESTIONS = (
    UseQuestion("fraud", "recent", "A, B+", "60 MINUTES", "a large sum, then small ones: the example as it is"),
    UseQuestion("shoulders", "recent", "A, B, C, D, E", "60 MINUTES", "shoulder and head, in a row", _BEHIND),
    UseQuestion("vshape", "recent", "A, B, C", "60 MINUTES", "three prices, one after the other", _FALLING),
    UseQuestion("smartgrid", "recent", "A, B, C", "30 MINUTES", "three streams, one event after the other"),
    UseQuestion("traffic", "recent", "A, (B & C)", "30 MINUTES", "one event, then two at once"),
    UseQuestion("fraud", "unrestricted", "A: B", "60 MINUTES", "a large sum, and any small one"),
    UseQuestion("shoulders", "unrestricted", "A: B: C: D: E: F: G", "3 SECONDS", "seven prices, all combinations"),
    UseQuestion("vshape", "unrestricted", "A, B+, C", "1 MINUTES", "prices that fall, and rise: within a minute"),
    UseQuestion("trajectory", "unrestricted", "A, B+, C", "60 MINUTES", "a journey: the example as it is"),
    UseQuestion("smartgrid", "unrestricted", "A: B: C", "10 MINUTES", "three streams, all combinations"),
    UseQuestion("traffic", "unrestricted", "A: (B & C)", "30 MINUTES", "one event, and any two at once behind it"),
)
