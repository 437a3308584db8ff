"""An explanation of a match: plain records, as text, as JSON and as a picture.

Data's way: the parts of a match -> **explanation** -> a person, a program.
Invariant: everything in it is text, or a time; nothing refers back into the engine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from retewave.provenance.time_words import TimeWords
from retewave.windows.times import Instant, format_datetime, micros, spell_interval

__all__ = ["Arrival", "Explanation", "Kind", "Reckoning"]

Kind = Literal["relation", "window", "absent", "deadline", "filter", "group", "report"]
Micros = tuple[int, int]  # start and end in microseconds since 1970


@dataclass(frozen=True)
class Arrival:
    """The triple that a pattern of the query took."""

    pattern: str  # as the query has it, shortened by its prefixes
    triple: str | None  # the triple that came, shortened; None: it came before the query asked for explanations
    seen: str  # the triple that the pattern saw: the same, or what the schema entails of it
    start: Instant | None  # when it starts; None: it is static
    end: Instant | None  # when it ends; None: it is static
    stream: str | None  # the IRI of its stream; None: it belongs to every stream
    event: str | None  # the event that it came in: a user's number, or # and the engine's; None: not known, or static
    axioms: tuple[str, ...]  # those by which the triple that came entails the one that was seen, first to last
    terms: tuple[str, str, str] | None  # of the triple that came, in canonical N-Triples
    micros: Micros | None  # when, in microseconds; None: it is static
    rule: str | None = None  # the rule that built the triple; None: it came in
    beneath: Explanation | None = None  # of the rule's match; None: it came in, or that is not known any more


@dataclass(frozen=True)
class Reckoning:
    """The arithmetic of one window, relation, absence, deadline, group, report or filter on times."""

    kind: Kind  # what it is
    operator: str  # what asks for it, in the words of the query
    said: str  # the arithmetic; (1) is the first arrival
    micros: Micros | None = None  # the stretch of time that it is about; None: it is about none
    sides: tuple[tuple[int, ...], ...] = ()  # the numbers of the arrivals: of a relation those on its left, on its
    # right; of a group those of each solution that is listed; of a view's window those that are in it
    count: int | None = None  # of a group: how many solutions it has, more than are listed perhaps


@dataclass(frozen=True)
class Explanation:
    """Why a query has matched.  Print it, take its fields, or draw it."""

    query: str  # the query's name
    binding: dict[str, str]  # what the match shows
    start: Instant | None  # when it starts; None: it is static
    end: Instant | None  # when it ends
    arrivals: tuple[Arrival, ...]  # in the order of the query's patterns
    reckonings: tuple[Reckoning, ...]  # in the order in which the network does them
    micros: Micros | None  # when, in microseconds
    clock: TimeWords = field(repr=False)  # how times are told

    @property
    def given(self) -> tuple[Arrival, ...]:
        """The triples that came in, also those beneath triples that rules have built; and static triples."""
        found: list[Arrival] = []
        for each in self.arrivals:
            found += [each] if each.beneath is None else each.beneath.given
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data; times as they are."""
        return {each.name: _plain(getattr(self, each.name)) for each in fields(self) if each.name != "clock"}

    def to_json(self) -> str:
        """Return it as JSON; times that JSON does not know as text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, default=_time)

    def to_svg(self) -> str:
        """Return it as a picture on a time line, in SVG."""
        from retewave.provenance.timeline import drawn

        return drawn(self)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def __str__(self) -> str:
        return "\n".join(self.lines()) + "\n"

    def lines(self) -> Iterator[str]:
        """Yield its lines, without line ends."""
        shown = ", ".join(f"?{name} = {term}" for name, term in self.binding.items())
        yield (
            f"{self.query}: {shown}  {spell_interval(self.start, self.end)}"
            if shown
            else (f"{self.query}:  {spell_interval(self.start, self.end)}")
        )
        yield from (f"  {line}" for line in self.beneath())

    def beneath(self) -> Iterator[str]:
        """Yield the lines below the first one, not indented."""
        wide = max((len(each.pattern) for each in self.arrivals), default=0)
        for number, each in enumerate(self.arrivals, 1):
            yield from _arrival(number, each, wide)
        wide = max((len(each.operator) for each in self.reckonings), default=0)
        yield from (f"{each.operator:{wide}}  {each.said}" for each in self.reckonings)


def _time(value: Any) -> str:
    """Return a date and time as SPARQL writes it."""
    return format_datetime(micros(value))


def _plain(value: Any) -> Any:
    """Return a field as plain data."""
    if isinstance(value, Explanation):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Arrival | Reckoning):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    return value


def _arrival(number: int, arrival: Arrival, wide: int) -> Iterator[str]:
    came = "a triple that is not known: it came before the query asked" if arrival.triple is None else arrival.triple
    told = [came, spell_interval(arrival.start, arrival.end)]
    told += [] if arrival.stream is None else [f"stream <{arrival.stream}>"]
    told += [] if arrival.event is None else [f"event {arrival.event}"]
    told += [] if arrival.rule is None else [f"built by {arrival.rule}"]
    yield f"({number}) {arrival.pattern:{wide}}  ←  {'  '.join(told)}"
    if arrival.triple != arrival.seen:
        yield f"      seen as {arrival.seen}" + (f", by {', '.join(arrival.axioms)}" if arrival.axioms else "")
    if arrival.beneath is not None:
        yield from (f"      {line}" for line in arrival.beneath.lines())
