"""When a view reports (MEANING §7, report policies): at the steps of its windows, at a change, or periodically."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from naive.view_graphs import Triple, matches
from naive.view_match import NaiveMatch
from naive.view_windows import Close, Item, NaiveWindow, arrived, counts_of, passes, steps_of
from retewave.compiler.algebra import ReportPolicy, Told


@dataclass(frozen=True)
class Reported:
    """A view, and the times at which it reports."""

    query: str  # SPARQL, with GRAPH for WINDOW
    windows: tuple[NaiveWindow, ...]
    policy: ReportPolicy
    told: Told = "RSTREAM"
    background: frozenset[Triple] = frozenset()
    close: Close = frozenset  # of each window's content, and of the background
    match: NaiveMatch | None = None
    graphs: Mapping[str, frozenset[Triple]] = field(default_factory=dict)  # named ones of the background, by their IRIs

    def times(self, items: list[Item], last: int) -> Iterator[int]:
        """Yield the times of reports up to the last instant."""
        if not items:
            return
        first = min(each.time for each in items)
        before, was_empty = frozenset[tuple[int, object]](), False
        for now in range(first, last + 1):
            there = self.used(items, now)
            changed, before = there != before, there
            match self.policy.policy:
                case "change":
                    due = changed
                case "periodic":
                    due = now % (self.policy.period or 1) == 0
                case _:
                    due = self.steps_at(items, now)
            if not due:
                continue
            if there or not (was_empty or self.policy.non_empty):
                yield now
            was_empty = not there

    def used(self, items: list[Item], now: int) -> frozenset[tuple[int, object]]:
        """Return the triples in windows that some pattern can use, and the events that have some for EVENT."""
        triples = {
            (number, triple)
            for number, window in enumerate(self.windows)
            for triple in window.content(items, now, self.close)
            if any(matches(pattern, triple) for pattern in window.patterns)
        }
        events = {
            (each.window, number)
            for each in (self.match.events.values() if self.match else ())
            for number, _, triples in self.windows[each.window].events(items, now, self.close)
            if any(matches(pattern, triple) for pattern in each.patterns for triple in triples)
        }
        return frozenset((*triples, *events))

    def steps_at(self, items: list[Item], now: int) -> bool:
        """Tell whether some window steps at a time."""
        grids = [grid for window in self.windows for grid in steps_of(window.extent)]
        return any((now - phase) % step == 0 for step, phase in grids) or any(
            passes(each, arrived(window.stream, items, now - 1), arrived(window.stream, items, now))
            for window in self.windows
            for each in counts_of(window.extent)
        )
