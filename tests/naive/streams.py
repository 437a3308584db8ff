"""What comes in (MEANING §1), as the naive meaning sees it: items, and the facts that a query has of them.

* Each arrival of a triple is its own fact; along however many paths one arrival entails a triple, it is one.
* Static data is a graph, a set: however often a triple is given or entailed, it is one fact, of all times.
* A fact of a stream may be as old as that stream's window; one that belongs to every stream, as the widest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from types import MappingProxyType

from retewave.windows.intervals import STATIC_END, STATIC_START

Triple = tuple[bytes, bytes, bytes]  # canonical texts
Entail = Callable[[Triple], Iterable[Triple]]  # a triple to itself and all that it entails
Widths = int | None | Mapping[str, int | None]  # one width, or a width for each stream heard; None: unbounded

Graphs = Mapping[bytes, Set[Triple]]  # background graphs by their IRIs

NO_GRAPHS: Graphs = MappingProxyType({})
BEFORE_THE_STREAM = -1  # the arrival of what is there before the stream


@dataclass(frozen=True)
class Item:
    """One arrival on the stream."""

    triple: Triple  # what came
    start: int  # microseconds
    end: int  # never less than that of the arrival before
    stream: str | None = None  # None: it belongs to every stream
    event: int | None = None  # the graph that it came in; None: it came alone, and is an event by itself
    is_built: bool = False  # a rule built it


@dataclass(frozen=True)
class Fact:
    """One triple of one arrival, as a query sees it."""

    triple: Triple  # given, or entailed
    start: int  # microseconds
    end: int  # microseconds
    arrival: int  # place of the item in the stream
    stream: str | None  # None: every stream
    event: tuple[str, int] | None  # None: static, in no event
    width: int | None  # how old it may be; None: as old as it likes
    is_built: bool = False  # a rule built it: it is not there before the close of the instant
    graph: bytes | None = None  # the background graph that holds it; None: no named one


def facts_of(
    widths: Widths, stream: Sequence[Item], static: Set[Triple], entail: Entail, graphs: Graphs = NO_GRAPHS
) -> Iterator[Fact]:
    """Yield the facts of static data, then those of the stream, in the order of arrival."""
    for graph, given in ((None, static), *graphs.items()):
        for triple in {entailed for each in given for entailed in entail(each)}:
            yield Fact(
                triple, STATIC_START, STATIC_END, BEFORE_THE_STREAM, stream=None, event=None, width=None, graph=graph
            )
    for arrival, item in enumerate(stream):
        if isinstance(widths, Mapping) and item.stream is not None and item.stream not in widths:
            continue
        event = ("alone", arrival) if item.event is None else ("graph", item.event)
        for triple in set(entail(item.triple)):
            width = _width_of(item.stream, widths)
            yield Fact(triple, item.start, item.end, arrival, item.stream, event, width, item.is_built)


def _width_of(stream: str | None, widths: Widths) -> int | None:
    if not isinstance(widths, Mapping):
        return widths
    chosen = list(widths.values()) if stream is None else [widths[stream]]
    return None if None in chosen else max(width for width in chosen if width is not None)


def young_enough(facts: Iterable[Fact], now: int) -> bool:
    """Tell whether no fact is older than it may be: the bound is inside."""
    return all(fact.width is None or now - fact.start <= fact.width for fact in facts)
