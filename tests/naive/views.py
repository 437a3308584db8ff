"""What a view means (MEANING §§2 and 7), by sets, loops over every instant, and SPARQL as pyoxigraph reads it.

Times are whole numbers, so every bound is met.  A view is given by its windows, the triple patterns that it has, and a
query that reads a window `w` as `GRAPH <w>` and windows without a name in the default graph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

import pyoxigraph as ox

from naive.matching import Bindings, Order, joined, matched
from retewave.compiler.algebra import (
    Ago,
    Current,
    Extent,
    Fixed,
    Inside,
    Landmark,
    Newest,
    Policy,
    ReportPolicy,
    Sliding,
    Told,
    Whole,
)

Triple = tuple[str, str, str]  # N-Triples texts
Pattern = tuple[str, str, str]  # terms, and variables with their question mark
Row = tuple[tuple[str, str], ...]  # (variable, term), by variable
TIMESTAMP = ox.NamedNode("http://larkc.eu/csparql/sparql/jena/ext#timestamp")
MATCH = "VALUES MATCH"  # in a query: where MATCH stands
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


def matches(pattern: Pattern, triple: Triple) -> bool:
    """Tell whether a triple is one that a pattern asks for."""
    pairs = list(zip(pattern, triple, strict=True))
    bound = {one: other for one, other in pairs if one[0] == "?"}
    return all(bound.get(one, one) == other for one, other in pairs)


@dataclass(frozen=True)
class NaiveEvent:
    """EVENT ON window { … }: triple patterns that one event must have."""

    window: int  # the number of its window
    patterns: tuple[Pattern, ...]


@dataclass(frozen=True)
class NaiveMatch:
    """MATCH { … }: stands in the query as VALUES."""

    events: dict[str, NaiveEvent]  # by the names that it has
    order: Order
    policy: Policy
    variables: tuple[str, ...]

    def values(self, bag: list[Bindings]) -> str:
        rows = ("(" + " ".join(dict(each)[name] for name in self.variables) + ")" for each in bag)
        return f"VALUES ({' '.join(self.variables)}) {{ {' '.join(rows)} }}"


def mappings(patterns: tuple[Pattern, ...], triples: frozenset[Triple]) -> list[Bindings]:
    """Return what a basic graph pattern binds in a graph, by nested loops."""
    found: list[Bindings] = [()]
    for pattern in patterns:
        fitting = (
            (before, {one: other for one, other in zip(pattern, triple, strict=True) if one[0] == "?"})
            for before in found
            for triple in triples
            if matches(pattern, triple)
        )
        both = [joined(before, tuple(own.items())) for before, own in fitting]
        found = list(dict.fromkeys(each for each in both if each is not None))
    return found


@dataclass(frozen=True)
class NaiveView:
    """A view by its meaning."""

    query: str  # SPARQL, with GRAPH for WINDOW
    windows: tuple[NaiveWindow, ...]
    policy: ReportPolicy
    told: Told = "RSTREAM"
    background: frozenset[Triple] = frozenset()
    close: Close = frozenset  # of each window's content, and of the background
    match: NaiveMatch | None = None
    graphs: Mapping[str, frozenset[Triple]] = field(default_factory=dict)  # named ones of the background, by their IRIs

    def inside(self, window: NaiveWindow, items: list[Item], now: int) -> Iterator[tuple[int, Item]]:
        """Yield the items in a window, with their places."""
        come = arrived(window.stream, items, now)
        for place, each in enumerate(items):
            if window.stream in (None, each.stream) and is_in(window.extent, each.time, now, come):
                yield place, each

    def content(self, window: NaiveWindow, items: list[Item], now: int) -> frozenset[Triple]:
        """Return the triples in a window, with what the schema entails of them."""
        return self.close(frozenset(each.triple for _, each in self.inside(window, items, now)))

    def events(self, window: NaiveWindow, items: list[Item], now: int) -> Iterator[tuple[int, int, frozenset[Triple]]]:
        """Yield the events in a window: number, time, triples."""
        found: dict[tuple[int, int], list[Triple]] = {}
        for place, each in self.inside(window, items, now):
            number = each.event if each.event >= 0 else ~place
            found.setdefault((number, each.time), []).append(each.triple)
        for (number, time), triples in found.items():
            yield number, time, self.close(frozenset(triples))

    def used(self, items: list[Item], now: int) -> frozenset[tuple[int, object]]:
        """Return the triples in windows that some pattern can use, and the events that have some for EVENT."""
        triples = {
            (number, triple)
            for number, window in enumerate(self.windows)
            for triple in self.content(window, items, now)
            if any(matches(pattern, triple) for pattern in window.patterns)
        }
        events = {
            (each.window, number)
            for each in (self.match.events.values() if self.match else ())
            for number, _, triples in self.events(self.windows[each.window], items, now)
            if any(matches(pattern, triple) for pattern in each.patterns for triple in triples)
        }
        return frozenset((*triples, *events))

    def matched(self, match: NaiveMatch, items: list[Item], now: int, spent: set[int]) -> str:
        """Return what stands in the query for MATCH; what it is made of is used up."""

        def found(name: str) -> Iterator[tuple[Bindings, int, int]]:
            each = match.events[name]
            for number, time, triples in self.events(self.windows[each.window], items, now):
                if number not in before:
                    yield from ((bindings, time, number) for bindings in mappings(each.patterns, triples))

        before = frozenset(spent)
        bag, events = matched(match.order, found, match.policy.name)
        if match.policy.consumes:
            spent |= events
        return match.values(bag)

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

    def steps_at(self, items: list[Item], now: int) -> bool:
        """Tell whether some window steps at a time."""
        grids = [grid for window in self.windows for grid in steps_of(window.extent)]
        return any((now - phase) % step == 0 for step, phase in grids) or any(
            passes(each, arrived(window.stream, items, now - 1), arrived(window.stream, items, now))
            for window in self.windows
            for each in counts_of(window.extent)
        )

    def reports(self, items: list[Item], last: int) -> list[tuple[int, Counter[Row]]]:
        """Return the reports up to the last instant: time and rows."""
        found = []
        former: Counter[Row] = Counter()
        spent: set[int] = set()
        for now in self.times(items, last):
            rows = self.evaluated(items, now, spent)
            told = {"RSTREAM": rows, "ISTREAM": rows - former, "DSTREAM": former - rows}[self.told]
            former = rows
            found.append((now, told))
        return found

    def evaluated(self, items: list[Item], now: int, spent: set[int]) -> Counter[Row]:
        """Return the rows of the query over the windows and the background, without the events that are used up."""
        store = ox.Store()
        _fill(store, self.close(self.background), ox.DefaultGraph())
        for name, triples in self.graphs.items():
            store.add_graph(ox.NamedNode(name))
            _fill(store, self.close(triples), ox.NamedNode(name))
        for window in self.windows:
            graph = ox.DefaultGraph() if window.name is None else ox.NamedNode(window.name)
            if window.name is not None:
                store.add_graph(graph)
            _fill(store, self.content(window, items, now), graph)
        query = self.query
        if self.match is not None:
            query = query.replace(MATCH, self.matched(self.match, items, now, spent))
        return rows_of(store.query(query, custom_functions={TIMESTAMP: partial(self.latest, items, now)}))

    def latest(self, items: list[Item], now: int, *terms: object) -> ox.Literal | None:
        """Return when a triple, or one that entails it, came last in windows of the default graph, in milliseconds."""
        triple, times = tuple(map(str, terms)), []
        for window in (each for each in self.windows if each.name is None):
            inside = (each for _, each in self.inside(window, items, now))
            times += [each.time for each in inside if triple in self.close(frozenset((each.triple,)))]
        return ox.Literal(1000 * max(times)) if times else None


def _fill(store: ox.Store, triples: frozenset[Triple], graph: ox.NamedNode | ox.DefaultGraph) -> None:
    text = "".join(f"{' '.join(triple)} .\n" for triple in triples)
    store.load(text.encode(), format=ox.RdfFormat.N_TRIPLES, to_graph=graph)


def rows_of(found: object) -> Counter[Row]:
    """Return the rows of a result; ASK has one empty row, or none."""
    if isinstance(found, ox.QueryBoolean):
        return Counter([()] if bool(found) else [])
    assert isinstance(found, ox.QuerySolutions)
    names = [each.value for each in found.variables]
    rows: Counter[Row] = Counter()
    for each in found:
        pairs = ((name, term_text(str(each[name]))) for name in names if each[name] is not None)
        rows[tuple(sorted(pairs))] += 1
    return rows


def term_text(term: str) -> str:
    """Return a term such that equal numbers are equal texts."""
    lexical, quoted, datatype = term.rpartition('"^^<http://www.w3.org/2001/XMLSchema#')
    if not quoted or datatype not in ("integer>", "decimal>", "double>"):
        return term
    return f"{float(lexical[1:]):.9g} {datatype[:-1]}"
