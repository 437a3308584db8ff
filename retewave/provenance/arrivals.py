"""What an explanation says of one triple: the one that came, the one that a pattern saw, when, and by which axioms.

Data's way: the columns that a match tells of a triple -> **its arrival** -> explanation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from retewave.compiler.algebra import TriplePattern
from retewave.compiler.plan.producers import END, EVENT, GIVEN_TRIPLE, START, STREAM, TRIPLE
from retewave.provenance.axioms import Texts, axioms
from retewave.provenance.explanation import Arrival, Explanation
from retewave.provenance.made_of import Sources
from retewave.provenance.time_words import TimeWords
from retewave.provenance.words import Words
from retewave.rete.words.rows import BUILT_EVENTS, EVENT_BLOCK, GIVEN_EVENTS
from retewave.windows.intervals import is_static

if TYPE_CHECKING:
    from retewave.match import Matches

__all__ = ["ArrivalWords", "came_of", "texts_of"]

_Columns = Mapping[int, int]  # what is told of a triple: by a column of the α test's tuple, START or END


def texts_of(batch: Matches, told: _Columns, columns: tuple[int, ...]) -> Texts:
    """Return a triple of what is told."""
    return cast(Texts, tuple(batch.text(told[column]) or b"" for column in columns))


def came_of(batch: Matches, told: _Columns) -> Texts | None:
    """Return the triple that came; None: it came before the query asked for explanations."""
    if told[GIVEN_TRIPLE[0]] > 0:
        return texts_of(batch, told, GIVEN_TRIPLE)
    return texts_of(batch, told, TRIPLE) if is_static(told[START], told[END]) else None


@dataclass(frozen=True)
class ArrivalWords:
    """Words for the triples of one match."""

    batch: Matches  # whose terms they are
    sources: Sources  # the meaning of numbers
    words: Words  # how terms are told
    clock: TimeWords  # how times are

    def arrival(
        self, pattern: TriplePattern, told: _Columns, beneath: tuple[str | None, Explanation | None] = (None, None)
    ) -> Arrival:
        """Return the triple that a pattern took; `beneath`: the rule that built it, and why."""
        times = told[START], told[END]
        static, seen, came = is_static(*times), texts_of(self.batch, told, TRIPLE), came_of(self.batch, told)
        start, end = (None, None) if static else map(self.clock.instant, times)
        why = () if came is None else axioms(self.sources.dispatch, came, seen)
        return Arrival(
            self.words.pattern(pattern),
            None if came is None else self.words.triple(came),
            self.words.triple(seen),
            start,
            end,
            self.sources.stream(told[STREAM]),
            _event(-told[EVENT]),
            tuple(map(self.words.prefixes.short, why)),
            None if came is None else cast(tuple[str, str, str], tuple(text.decode() for text in came)),
            None if static else times,
            *beneath,
        )


def _event(number: int) -> str | None:
    """Return an event's name: the user's number, or the engine's behind #; #2.5 is a reader's fifth graph.

    >>> _event(7), _event(2 * EVENT_BLOCK + 5), _event(GIVEN_EVENTS + 7), _event(0)
    ('#7', '#2.5', '7', None)
    """
    if number == 0 or number >= BUILT_EVENTS:
        return None
    if number >= GIVEN_EVENTS:
        return str(number - GIVEN_EVENTS)
    block, place = divmod(number, EVENT_BLOCK)
    return f"#{block}.{place}" if block else f"#{place}"
