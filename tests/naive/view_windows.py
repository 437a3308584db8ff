"""Windows of views (MEANING §7): what is in each of them at a time.

Times are whole numbers, so every bound is met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from naive.view_graphs import Pattern, Triple
from retewave.compiler.algebra import Ago, Current, Extent, Fixed, Inside, Landmark, Newest, Sliding, Whole

Close = Callable[[frozenset[Triple]], frozenset[Triple]]  # adds what a schema entails


@dataclass(frozen=True)
class Item:
    """A triple that arrives."""

    time: int
    stream: str  # IRI
    triple: Triple
    event: int = -1  # which event it came in; -1: it came alone


@dataclass(frozen=True)
class NaiveWindow:
    """A window, and the patterns of the query that read it."""

    name: str | None  # IRI; None: in the default graph
    stream: str | None  # IRI; None: every stream
    extent: Extent
    patterns: tuple[Pattern, ...]

    def inside(self, items: list[Item], now: int) -> Iterator[tuple[int, Item]]:
        """Yield the items in it, with their places."""
        come = arrived(self.stream, items, now)
        for place, each in enumerate(items):
            if self.stream in (None, each.stream) and is_in(self.extent, each.time, now, come):
                yield place, each

    def content(self, items: list[Item], now: int, close: Close) -> frozenset[Triple]:
        """Return the triples in it, with what the schema entails of them."""
        return close(frozenset(each.triple for _, each in self.inside(items, now)))

    def events(self, items: list[Item], now: int, close: Close) -> Iterator[tuple[int, int, frozenset[Triple]]]:
        """Yield the events in it: number, time, triples."""
        found: dict[tuple[int, int], list[Triple]] = {}
        for place, each in self.inside(items, now):
            number = each.event if each.event >= 0 else ~place
            found.setdefault((number, each.time), []).append(each.triple)
        for (number, time), triples in found.items():
            yield number, time, close(frozenset(triples))


@dataclass(frozen=True)
class Arrived:
    """What has come up to a time, as windows that count and NOW see it."""

    triples: list[int]  # the times of all arrivals of the window's stream, in order
    events: list[int]  # the time of each of its events, in order
    latest: int  # the latest instant of any stream


def arrived(stream: str | None, items: list[Item], now: int) -> Arrived:
    """Return what has come up to a time."""
    come = [each for each in items if each.time <= now]
    own = [each for each in come if stream in (None, each.stream)]
    alone = [each.time for each in own if each.event < 0]
    together = {(each.event, each.time) for each in own if each.event >= 0}
    events = sorted([*alone, *(time for _, time in together)])
    return Arrived(sorted(each.time for each in own), events, max((each.time for each in come), default=now))


def is_in(extent: Extent, time: int, now: int, come: Arrived) -> bool:
    """Tell whether an item of a time is in a window at a report."""
    match extent:
        case Sliding(width, step, phase):
            at = now if step is None else phase + (now - phase) // step * step
            return at - width < time <= at
        case Ago(oldest, newest, step, phase):
            at = now if step is None else phase + (now - phase) // step * step
            return at - oldest < time <= at - newest
        case Landmark(since):
            return since <= time <= now
        case Fixed(begin, end):
            return begin <= time <= min(end, now)
        case Inside(outer, inner):
            return is_in(outer, time, now, come) and is_in(inner, time, now, come)
        case Whole():
            return time <= now
        case Newest(count, of):
            counted = come.triples if of == "triples" else come.events
            return time <= now and (len(counted) < count or time >= counted[-count])
        case Current():
            return time == come.latest
    raise TypeError(extent)


def steps_of(extent: Extent) -> Iterator[tuple[int, int]]:
    match extent:
        case Sliding(_, step, phase) | Ago(_, _, step, phase) if step is not None:
            yield step, phase
        case Inside(outer, inner):
            yield from steps_of(outer)
            yield from steps_of(inner)


def counts_of(extent: Extent) -> Iterator[Newest]:
    match extent:
        case Newest(step=step) if step is not None:
            yield extent
        case Inside(outer, inner):
            yield from counts_of(outer)
            yield from counts_of(inner)


def passes(each: Newest, before: Arrived, now: Arrived) -> bool:
    """Tell whether a window that counts has come past a multiple of its step."""
    counts = [len(one.triples if each.of == "triples" else one.events) for one in (before, now)]
    return counts[0] // (each.step or 1) < counts[1] // (each.step or 1)
