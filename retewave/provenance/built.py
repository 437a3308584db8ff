"""Which match of a rule has built a triple: found among the matches that the rule's query keeps.

Data's way: a triple that a rule has built -> **the rule's match** -> its explanation, beneath the other.
Invariant: a match is never explained by itself: what an explanation hangs on is not looked for again below it.
Left out: rules that are not explained, and matches that their queries keep no more; these are said to be by a rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from retewave.provenance.axioms import Texts

if TYPE_CHECKING:
    from retewave.match import Match
    from retewave.query import Query

__all__ = ["UNKNOWN", "Occurrence", "built_by"]

Occurrence = tuple[Texts, tuple[int, int]]  # a triple, its start and end
UNKNOWN = "a rule"  # its name, where the match is not to be found


def built_by(rules: Sequence[Query], occurrence: Occurrence) -> Match | None:
    """Return the first match of a rule that has built a triple at a time; one with new blank nodes must be the only."""
    found = [match for rule in rules if rule.explained for match in _building(rule, occurrence)]
    exact = [match for match in found if occurrence[0] in _built(match)]
    if exact:
        return exact[0]
    return found[0] if len(found) == 1 else None


def _building(rule: Query, occurrence: Occurrence) -> Iterator[Match]:
    """Yield the matches of a rule that have built a triple, but for the labels of its blank nodes."""
    triple, (start, end) = occurrence
    for match in rule.matches:
        batch, row = match._batch, match._row
        if (batch.starts[row], batch.ends[row]) == (start, end) and any(_alike(triple, each) for each in _built(match)):
            yield match


def _built(match: Match) -> list[Texts]:
    return match._batch.triples()[match._row]


def _alike(one: Texts, other: Texts) -> bool:
    return all(a == b or (a[:2] == b[:2] == b"_:") for a, b in zip(one, other, strict=True))
