"""What a match is, by nested loops: the meaning that the engine must have, and nothing of its speed.

A query is a list of branches (the parts of a UNION), each a conjunction of triple patterns.  A *fact* is one
triple of one arrival, given or entailed.  One fact for each pattern of a branch, such that the variables and
the events agree, is a match when its relations and filters hold and every fact is young enough at its end.

* Each arrival of a triple is its own fact; along however many paths one arrival entails a triple, it is one.
  One fact may serve two patterns of a query.
* Static data is a graph, a set: however often a triple is given or entailed, it is one fact, of all times.
* A match is found when its last fact arrives; one of static facts alone is found before the stream (-1).
  Of several that come at once, the one with the latest start is found first.
* Which of the matches found are reported, `tests/naive/reports.py` says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from naive.reports import On, reported
from retewave.windows.intervals import STATIC_END, STATIC_START
from retewave.windows.relations import holds

Term = bytes | str  # a constant's text, or the name of a variable, "?x"
Triple = tuple[bytes, bytes, bytes]
Binding = dict[str, bytes]
Bindings = tuple[tuple[str, bytes], ...]
Window = int | None | Mapping[str, int | None]  # one width, or a width for each named stream; None: unbounded
Entail = Callable[[Triple], Iterable[Triple]]  # a triple to itself and all that it entails
Found = tuple["Match", list["Fact"]]
BEFORE_THE_STREAM = -1  # when a match of static facts is found


@dataclass(frozen=True)
class Item:
    """One arrival on the stream."""

    triple: Triple
    start: int  # microseconds
    end: int  # never less than that of the arrival before
    stream: str | None = None  # None: it belongs to every stream, and is kept as long as in the widest
    event: int | None = None  # the graph that it came in; None: it came alone, and is an event by itself


@dataclass(frozen=True)
class Pattern:
    """One triple pattern."""

    terms: tuple[Term, Term, Term]
    event: str | None = None  # patterns with the same name match within one event; None: within the window


@dataclass(frozen=True)
class Relation:
    """The interval of some patterns' facts stands in a temporal relation to that of some others."""

    left: tuple[int, ...]  # places in the branch's patterns
    code: int  # of retewave.windows.relations
    right: tuple[int, ...]  # places in the branch's patterns


@dataclass(frozen=True)
class Branch:
    """A conjunction."""

    patterns: tuple[Pattern, ...]
    tables: tuple[tuple[Binding, ...], ...] = ()  # VALUES: each match agrees with one row of each
    filters: tuple[Callable[[Binding], bool], ...] = ()
    relations: tuple[Relation, ...] = ()


@dataclass(frozen=True)
class Query:
    """What is looked for."""

    branches: tuple[Branch, ...]
    window: Window = None  # a mapping names the query's streams, and no other stream is seen
    project: tuple[str, ...] | None = None  # the variables reported; None: all
    distinct: bool | On = False  # which of the matches are reported: `tests/naive/reports.py`


class Match(NamedTuple):
    """What is found."""

    start: int
    end: int
    bindings: Bindings  # sorted; a variable that the branch lacks is left out
    arrival: int  # the place in the stream of the item that completed it


@dataclass(frozen=True)
class Fact:
    """One triple of one arrival, as the query sees it."""

    triple: Triple
    start: int
    end: int
    arrival: int
    event: tuple[str, int] | None  # None: static, in no event
    width: int | None  # how old it may be; None: as old as it likes


def naive_matches(
    query: Query, stream: Sequence[Item], static: Set[Triple] = frozenset(), entail: Entail = lambda t: {t}
) -> list[Match]:
    """Return all matches in the order in which they are found."""
    if any(later.end < earlier.end for earlier, later in pairwise(stream)):
        raise ValueError("the items of a stream are in the order of their ends")
    facts = list(facts_of(query.window, stream, static, entail))
    found = [found for branch in query.branches for found in matches_of(branch, facts, looked_at(query))]
    found.sort(key=lambda pair: (pair[0].arrival, -pair[0].start))
    kept = reported(found, stream, query.distinct, young_enough)
    return [match._replace(bindings=shown(match.bindings, query.project)) for match, _ in kept]


def looked_at(query: Query) -> tuple[str, ...] | None:
    """Return the variables that are shown or compared."""
    if query.project is None or isinstance(query.distinct, bool):
        return query.project
    return query.project + query.distinct.variables


def shown(bindings: Bindings, project: tuple[str, ...] | None) -> Bindings:
    return tuple(pair for pair in bindings if project is None or pair[0] in project)


def facts_of(window: Window, stream: Sequence[Item], static: Set[Triple], entail: Entail) -> Iterator[Fact]:
    for triple in {entailed for given in static for entailed in entail(given)}:
        yield Fact(triple, STATIC_START, STATIC_END, BEFORE_THE_STREAM, event=None, width=None)
    for arrival, item in enumerate(stream):
        if isinstance(window, Mapping) and item.stream is not None and item.stream not in window:
            continue
        event = ("alone", arrival) if item.event is None else ("graph", item.event)
        for triple in set(entail(item.triple)):
            yield Fact(triple, item.start, item.end, arrival, event, width_of(item, window))


def width_of(item: Item, window: Window) -> int | None:
    if not isinstance(window, Mapping):
        return window
    widths = list(window.values()) if item.stream is None else [window[item.stream]]
    return None if None in widths else max(width for width in widths if width is not None)


def matches_of(branch: Branch, facts: list[Fact], project: tuple[str, ...] | None) -> Iterator[Found]:
    for binding, chosen in choices_of(branch, facts):
        start, end = interval(chosen)
        if (
            young_enough(chosen, end)
            and in_one_event_each(branch.patterns, chosen)
            and all(relation_holds(relation, chosen) for relation in branch.relations)
            and all(keeps(binding) for keeps in branch.filters)
        ):
            bound = tuple(sorted(binding.items()))
            arrival = max((fact.arrival for fact in chosen), default=BEFORE_THE_STREAM)
            yield Match(start, end, shown(bound, project), arrival), chosen


def choices_of(branch: Branch, facts: list[Fact]) -> list[tuple[Binding, list[Fact]]]:
    """Return each choice of a row of every table and a fact for every pattern whose variables agree."""
    choices: list[tuple[Binding, list[Fact]]] = [({}, [])]
    for table in branch.tables:
        longer = [(agreed(binding, row.items()), chosen) for binding, chosen in choices for row in table]
        choices = [(binding, chosen) for binding, chosen in longer if binding is not None]
    for pattern in branch.patterns:
        longer = [
            (agreed(binding, zip(pattern.terms, fact.triple, strict=True)), [*chosen, fact])
            for binding, chosen in choices
            for fact in facts
        ]
        choices = [(binding, chosen) for binding, chosen in longer if binding is not None]
    return choices


def agreed(binding: Binding, pairs: Iterable[tuple[Term, bytes]]) -> Binding | None:
    """Return the binding with each term's variable bound to its text, or None where the two differ."""
    bound = dict(binding)
    for term, text in pairs:
        if text != (term if isinstance(term, bytes) else bound.setdefault(term, text)):
            return None
    return bound


def interval(facts: list[Fact]) -> tuple[int, int]:
    """Return the time from the first start to the last end; static facts do not count."""
    start = min((fact.start for fact in facts), default=STATIC_START)
    return start, max((fact.end for fact in facts), default=STATIC_END)


def young_enough(facts: list[Fact], now: int) -> bool:
    return all(fact.width is None or now - fact.start <= fact.width for fact in facts)


def in_one_event_each(patterns: Sequence[Pattern], chosen: list[Fact]) -> bool:
    events: dict[str | None, set[tuple[str, int] | None]] = {pattern.event: set() for pattern in patterns}
    for pattern, fact in zip(patterns, chosen, strict=True):
        events[pattern.event].add(fact.event)
    return all(group is None or (len(of) == 1 and None not in of) for group, of in events.items())


def relation_holds(relation: Relation, chosen: list[Fact]) -> bool:
    left, right = (interval([chosen[place] for place in side]) for side in (relation.left, relation.right))
    return holds(relation.code, *left, *right)
