"""The use cases put to ETALIS and to retewave, on the same events: counts that must be equal, and rates.

Where it stands: behind `questions.py` and `terms.py`; `python -m retewave.bench usecases` prints what this returns.
Both get what a parser would have made: ETALIS terms in memory, retewave encoded rows, poured into the network alone;
rates are of seconds of the processor, one thread each.
Invariant: a ratio comes only from runs that counted the same.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from retewave.bench.peers.events import etalis
from retewave.bench.usecases.cases import background
from retewave.bench.usecases.events import nquads
from retewave.bench.usecases.figures import poured
from retewave.bench.usecases.questions import FROM_TRIPLES, UseQuestion
from retewave.bench.usecases.terms import happenings, terms

__all__ = ["Versus", "by_etalis", "by_etalis_from_triples", "by_retewave", "versus"]

Runner = Callable[[UseQuestion, int, Path], tuple[int, float]]


@dataclass
class Versus:
    """One question, on streams of so many events."""

    question: UseQuestion
    events: int
    ours: list[float] = field(default_factory=list)  # events for a second of the processor, a run each
    theirs: list[float] = field(default_factory=list)
    long: list[float] = field(default_factory=list)  # ours on the longer stream
    matches: int = 0
    failure: str = ""

    def ratio(self, rates: Sequence[float]) -> float | None:
        """Return how many times theirs the median of some rates is."""
        return statistics.median(rates) / statistics.median(self.theirs) if rates and self.theirs else None

    def to_dict(self) -> dict[str, object]:
        """Return what came out, for a file."""
        asked = self.question
        told = {"name": asked.name, "policy": asked.policy, "sequence": asked.sequence, "within": asked.within}
        rates = {"ours": self.ours, "theirs": self.theirs, "long": self.long}
        ratios = {"ratio": self.ratio(self.ours), "ratio_long": self.ratio(self.long)}
        return {**told, "events": self.events, "matches": self.matches, **rates, **ratios, "failure": self.failure}


def by_retewave(question: UseQuestion, count: int, folder: Path) -> tuple[int, float]:
    """Return the matches of the network, and its seconds."""
    made = happenings(question, count)
    streams = {iri: "".join(nquads(made[name])).encode() for iri, name in question.case.streams.items()}
    known = None
    if question.case.background:
        known = folder / f"{question.case.background}.ttl"
        known.write_text("".join(background(question.case.background)))
    return poured(question.query(), streams, known)


def by_etalis(question: UseQuestion, count: int, folder: Path) -> tuple[int, float]:
    """Return the matches of ETALIS, and its seconds, over an event a term."""
    return _played(question, count, folder, triples=False)


def by_etalis_from_triples(question: UseQuestion, count: int, folder: Path) -> tuple[int, float]:
    """Return the matches of ETALIS, and its seconds, over triples, of which rules make events first."""
    return _played(question, count, folder, triples=True)


def _played(question: UseQuestion, count: int, folder: Path, triples: bool) -> tuple[int, float]:
    stream = folder / f"{question.rules.stem}-{count}.pl"
    stream.write_text("".join(terms(question, happenings(question, count), triples)))
    rules = [FROM_TRIPLES, question.rules] if triples else [question.rules]
    found = etalis.play(question.policy, stream, *rules)
    return found.matches, found.busy


def versus(
    question: UseQuestion,
    sizes: tuple[int, int],
    repetitions: int,
    folder: Path,
    runners: tuple[Runner, Runner] = (by_retewave, by_etalis),
) -> Versus:
    """Run both by turns on a stream, and retewave on a longer one; the first run of ours is for its kernels alone."""
    ours, theirs = runners
    count, longer = (size - size % len(question.case.streams) for size in sizes)
    found = Versus(question, count)
    found.matches, _ = ours(question, count, folder)
    if why := etalis.missing():
        found.failure = f"skipped: {why}"
    for _ in range(repetitions):
        found.ours.append(count / ours(question, count, folder)[1])
        if longer:
            found.long.append(longer / ours(question, longer, folder)[1])
        if not found.failure:
            counted, seconds = theirs(question, count, folder)
            found.theirs.append(count / seconds)
            if counted != found.matches:
                found.failure = f"WRONG: {counted:,} matches instead of {found.matches:,}"
                found.theirs.clear()
    return found
