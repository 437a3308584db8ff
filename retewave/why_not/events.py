"""Why not, of a query about events: how far the patterns of an event have come, and what a relation of events lacks.

Data's way: rows by pattern -> search, for each way to find an event -> **the way that came furthest** -> the answer.
A logical event has as many ways as there are to take its patterns from an event and from static data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from retewave.compiler.algebra.detections import local_name
from retewave.compiler.plan.shape import Member
from retewave.compiler.rewrite.detected import BranchFound, Detecting
from retewave.errors import UsageError
from retewave.io.rdf import to_text
from retewave.query import Query
from retewave.viz.explain.events import EventWords
from retewave.why_not.answer import Alternative, WhyNot
from retewave.why_not.ask import QueryQuestion
from retewave.why_not.branch import BranchAsked

if TYPE_CHECKING:
    from retewave.engine.engine import Engine

__all__ = ["EventsQuestion"]

_INDIVIDUAL = "_:.x0"  # the variable of the individual in the patterns of a logical event


class EventsQuestion(QueryQuestion):
    """A question about a query that defines events: of one event, or of all of them."""

    def __init__(self, engine: Engine, query: Query, binding: Mapping[str, Any]) -> None:
        assert query.plan is not None
        self.plan: Detecting = query.plan
        given = {name.removeprefix("?"): term for name, term in binding.items()}
        if unknown := given.keys() - {"event", "individual"}:
            raise UsageError(
                f"{query.name} is asked by event and individual, and not by {', '.join(sorted(unknown))}",
                hint='{"event": "http://…", "individual": "http://…"}',
            )
        self.event = to_text(given["event"]) if "event" in given else None
        super().__init__(engine, query, {_INDIVIDUAL: given["individual"]} if "individual" in given else {})
        self.given = {name: to_text(term) for name, term in given.items()}

    def _check_names(self) -> None:
        events = self.plan.definitions.events
        if self.event is not None and all(each.name != self.event for each in events):
            known = ", ".join(self.prefixes.short(each.name) for each in events)
            raise UsageError(
                f"{self.query.name} defines no event {self.prefixes.short(self.event)}", hint=f"it has {known}"
            )

    def answer(self) -> WhyNot:
        """Return for each event that is asked about the way to find it that came furthest."""
        alternatives = tuple(self._furthest(members) for members in self._by_event())
        asked = {name: self.prefixes.short(text) for name, text in self.given.items()}
        notes = tuple(self._notes(alternatives, False))
        words = EventWords(self.compiled.outcome.queries)
        return words.all_of(WhyNot(self.query.name, asked, self._matched(), alternatives, notes))

    def _by_event(self) -> Iterator[list[int]]:
        """Yield the places among the ends of the branches of each event."""

        def of(place: int) -> int:
            return self._found(self.ends[place][1]).event

        places = [place for place, (_, member) in enumerate(self.ends) if self._is_asked(member)]
        for _, members in groupby(sorted(places, key=of), key=of):
            yield list(members)

    def _found(self, member: Member) -> BranchFound:
        return self.plan.found[member.branch]

    def _is_asked(self, member: Member) -> bool:
        found = self._found(member)
        name = self.plan.definitions.events[found.event].name if found.kind in ("logical", "composite") else None
        return name is not None and self.event in (None, name)

    def _furthest(self, places: list[int]) -> Alternative:
        answers = [BranchAsked(self, *self.ends[place]).answer() for place in places]
        best = max(answers, key=_reached)
        event = self.plan.definitions.events[self._found(self.ends[places[0]][1]).event]
        return replace(best, title=local_name(event.name))

    def _matched(self) -> int:
        shown = {name: text for name, text in self.given.items() if name in self.query.variables}
        return sum(all(match.text(name) == text for name, text in shown.items()) for match in self.query.matches)


def _reached(answer: Alternative) -> tuple[bool, int]:
    """Return how far a way to find an event has come."""
    return bool(answer.matches), max((len(each.found) for each in answer.partials), default=0)
