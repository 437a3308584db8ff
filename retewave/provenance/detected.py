"""Explain a detection of an event: the given triples that justify it, the axioms, and the times of its parts.

Data's way: `Match.explain` of a query that defines events -> the detection's token -> **explanation**.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from retewave.detection import Token, read_token
from retewave.provenance.explanation import Arrival, Explanation, Reckoning
from retewave.provenance.time_words import TimeWords
from retewave.provenance.words import Words
from retewave.viz.explain.names import Prefixes

if TYPE_CHECKING:
    from retewave.match import Matches

__all__ = ["explain_detection"]


def explain_detection(batch: Matches, row: int) -> Explanation:
    """Return why an event was detected."""
    token = read_token(batch.text(int(batch.ids[row, batch.query.place("detection")])) or b"")
    words = Words(Prefixes.of(batch.query.parsed.prefixes), {})
    span = int(batch.starts[row]), int(batch.ends[row])
    clock = TimeWords.of(batch.clock, [*span, *(time for part in token.parts.values() for time in part[3:])])
    short = words.prefixes.short
    binding = {"event": short(token.event.encode()), "individual": short(token.individual.encode())}
    arrivals = (*_parts(token, words, clock), *_given(token, words, clock))
    reckonings = tuple(Reckoning("filter", "by", axiom) for axiom in token.proof)
    start, end = map(clock.instant, span)
    return Explanation(batch.query.name, binding, start, end, arrivals, reckonings, span, clock)


def _parts(token: Token, words: Words, clock: TimeWords) -> Iterator[Arrival]:
    """Yield the parts of a composite event, as arrivals."""
    for alias, (name, event, individual, start, end) in token.parts.items():
        who = individual or f"<{name}>"
        said = f"{words.prefixes.short(who.encode())} a {words.prefixes.short(event.encode()) if event else 'rest'}"
        times = clock.instant(start), clock.instant(end)
        yield Arrival(alias, said, said, *times, None, None, (), None, (start, end))


def _given(token: Token, words: Words, clock: TimeWords) -> Iterator[Arrival]:
    """Yield the given triples of the justification."""
    for triple, source in sorted(token.justification.items()):
        s, p, o = (text.encode() for text in triple)
        said = words.triple((s, p, o))
        if source is None:
            yield Arrival("given", said, said, None, None, None, None, (), triple, None)
        else:
            stream, start, end = source
            times = clock.instant(start), clock.instant(end)
            yield Arrival("given", said, said, *times, stream or None, None, (), triple, (start, end))
