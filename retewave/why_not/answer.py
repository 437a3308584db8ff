"""The answer of `why_not`: plain records, as text and as JSON.

Data's way: live rows -> deepest partial matches -> **answer** -> a person, a program.
Invariant: everything in it is text or a time as the user's clock tells it; nothing refers back into the engine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from retewave.windows.times import Instant, spell_instant, spell_interval

__all__ = ["Alternative", "Candidate", "Found", "Partial", "Pending", "Reason", "Refusal", "RunsReached", "WhyNot"]

Reason = Literal[
    "no triple", "no memory", "stream", "key", "window", "relation", "filter", "value", "barred", "absent", "undecided",
    "report"
]  # fmt: skip


@dataclass(frozen=True)
class Found:
    """A triple pattern (or inline table) that found a row, and the row."""

    pattern: str  # as the query has it, shortened by its prefixes
    triple: str  # the triple; a row of an inline table
    start: Instant | None  # when it starts; None: it is static
    end: Instant | None  # when it ends; None: it is static
    used_up: Instant | None = None  # when a match of the query has used it up; it is not there any more


@dataclass(frozen=True)
class Candidate:
    """A triple that nearly fits, and its faults."""

    triple: str  # the triple
    start: Instant | None  # when it starts; None: it is static
    end: Instant | None  # when it ends; None: it is static
    wrong: str  # in words


@dataclass(frozen=True)
class Refusal:
    """The cause that kept a triple pattern, or a complete combination, out of the match."""

    pattern: str  # the triple pattern; the filter or what is looked for, where all patterns were found
    reason: Reason  # value: of BIND; barred: something is there that must not; absent: it is not there and must
    said: str  # in words
    rows: int  # rows that the pattern's memories hold, static rows included
    candidates: tuple[Candidate, ...] = ()  # the nearest triples
    forms: tuple[str, ...] = ()  # other forms of input that would do, by the schema


@dataclass(frozen=True)
class Partial:
    """Triple patterns that were found together, and the causes that refused the others."""

    found: tuple[Found, ...]  # in the order of the query
    refused: tuple[Refusal, ...]  # in the order of the query
    expired: bool = False  # the rows found are older than the window by now


@dataclass(frozen=True)
class Pending:
    """A tuple that waits for its decision, and agrees with the binding."""

    operator: str  # that decides on it
    binding: dict[str, str]  # its variables
    start: Instant | None  # when it starts
    end: Instant | None  # when it ends
    due: Instant | None  # when it is decided
    said: str  # in words


@dataclass(frozen=True)
class Alternative:
    """A side of a UNION; a query without UNION has one side."""

    patterns: int  # how many triple patterns and inline tables it has
    partials: tuple[Partial, ...]  # the deepest partial matches, each of other patterns
    matches: tuple[Found, ...] = ()  # of a complete match, if there is one now
    whole: bool = True  # all combinations were tried; else there may be deeper ones
    pending: tuple[Pending, ...] = ()  # what waits for a decision, the first of it


@dataclass(frozen=True)
class RunsReached:
    """The runs of a sequence that have come to one of its states, and their fate."""

    alternative: int  # which choice of steps that may be left out, from 1 on
    step: int  # how many steps they have taken
    took: str  # the last of these
    reached: int  # how many there are in the window
    went_on: int  # of these: have taken the next step
    broken: int  # another event came first, where the very next one was wanted
    broken_at: Instant | None  # when the last of these events came
    waiting: int  # may still go on

    def __str__(self) -> str:
        said = f"{_count(self.reached, 'run')} reached {self.took}"
        rest = [f"{self.went_on:,} went on"] if self.went_on else []
        if self.broken_at is not None:
            verb = "was" if self.broken == 1 else "were"
            rest.append(f"{self.broken:,} {verb} broken by another event, the last at {spell_instant(self.broken_at)}")
        rest += [f"{self.waiting:,} may still go on"] if self.waiting else []
        return "; ".join([said, *rest])


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


@dataclass(frozen=True)
class WhyNot:
    """Why a query has not matched a binding.

    Print it, or take its fields.
    """

    query: str  # the query's name
    binding: dict[str, str]  # the variables asked for
    matched: int  # how many of the matches that are kept have the binding
    alternatives: tuple[Alternative, ...]  # in the order of the query
    notes: tuple[str, ...] = field(default=())  # further facts, and the questions that cannot be answered
    runs: tuple[RunsReached, ...] = ()  # of a sequence: how far its runs have come
    parts: bool = False  # the alternatives are parts of a view, each with a window

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data; times as they are."""
        return asdict(self)

    def to_json(self) -> str:
        """Return it as JSON; times that JSON does not know as text."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False, default=str)

    def __str__(self) -> str:
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        asked = ", ".join(f"?{name} = {term}" for name, term in self.binding.items())
        yield f"{self.query}: why not {asked or 'anything'}?"
        if self.matched:
            yield f"  it did match: {self.matched:,} of the matches that are kept"
        for number, alternative in enumerate(self.alternatives, 1):
            if len(self.alternatives) > 1:
                yield f"  {'part' if self.parts else 'alternative'} {number} of {len(self.alternatives)}"
            yield from _alternative(alternative, self.parts)
        choices = max((each.alternative for each in self.runs), default=1)
        for each in self.runs:
            yield f"  {f'alternative {each.alternative}: ' if choices > 1 else ''}{each}"
        yield from (f"  note: {note}" for note in self.notes)


def _alternative(alternative: Alternative, of_view: bool) -> Iterator[str]:
    if alternative.matches:
        yield "  everything is there" + ("" if of_view else ": this matches")
        yield from (f"    ✓ {_row(each)}" for each in alternative.matches)
    for each in alternative.pending:
        shown = ", ".join(f"?{name} = {term}" for name, term in each.binding.items())
        yield f"  {shown}  {spell_interval(each.start, each.end)} waits at {each.operator}: {each.said}"
    if not alternative.whole:
        yield "  there are too many combinations to try them all: there may be a deeper one"
    for partial in alternative.partials:
        found, all_ = len(partial.found), alternative.patterns
        together = " together" if found > 1 else ""
        yield f"  found {found} of {all_} pattern{'s' * (all_ > 1)}{together}"
        yield from (f"    ✓ {_row(each)}" for each in partial.found)
        if partial.expired:
            yield "      by now this is older than the window: what comes next no longer joins it"
        for refusal in partial.refused:
            yield from _refusal(refusal)


def _row(found: Found) -> str:
    gone = "" if found.used_up is None else f"  used up at {spell_instant(found.used_up)}: it is not there any more"
    return f"{found.pattern}  ←  {found.triple}  {spell_interval(found.start, found.end)}{gone}"


def _refusal(refusal: Refusal) -> Iterator[str]:
    yield f"    ✗ {refusal.pattern}  ({refusal.reason})"
    yield f"      {refusal.said}"
    yield from (
        f"      near: {each.triple}  {spell_interval(each.start, each.end)}: {each.wrong}"
        for each in refusal.candidates
    )
    yield from (f"      would do as well: {form}" for form in refusal.forms)
