"""What a detector tells, and when (MEANING §2): the tokens of a query, in the order of their telling.

* A token that an arrival completes is told then; what is decided at the close of an instant or at a deadline is told
  when the clock is beyond it, or at the end of the stream.
* Within an instant what arrives is told first, then what its close decides, then what has its deadline there.
* Solutions of static data alone are told before the stream.
* DISTINCT is not here: `tests/naive/reports.py` has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from naive.meaning import tokens_of
from naive.policies import use_up
from naive.rules import Built, same_occurrence, strata
from naive.run import windows
from naive.streams import NO_GRAPHS, Entail, Graphs, Item, Triple, Widths, facts_of, young_enough
from naive.tokens import FOREVER, How, Scope, Token, World
from retewave.compiler import algebra
from retewave.compiler.algebra import After, Variable, walk
from retewave.windows.intervals import STATIC_END


def detected(
    query: algebra.Query,
    stream: Sequence[Item],
    static: Set[Triple] = frozenset(),
    entail: Entail = lambda t: {t},
    *,
    graphs: Graphs = NO_GRAPHS,
    until: int | None = None,
    flush: bool = True,
    registered: int | None = None,
) -> list[Token]:
    """Return what a detector tells of a stream.

    With `until`, the items that end before it have come, and the clock was then moved to it; there is no flush.
    Without `flush`, all items have come, and the clock is at the last one's end.
    `registered` is the clock at the registration: of what came before, the query sees what `stream` has of it.
    """
    return detected_all(
        [query], stream, static, entail, graphs=graphs, until=until, flush=flush, registered=registered
    )[0]


def detected_all(
    queries: Sequence[algebra.Query],
    stream: Sequence[Item],
    static: Set[Triple] = frozenset(),
    entail: Entail = lambda t: {t},
    *,
    graphs: Graphs = NO_GRAPHS,
    until: int | None = None,
    flush: bool = True,
    registered: int | None = None,
) -> list[list[Token]]:
    """Return what each of some detectors tells; what rules among them build comes in again."""
    items = [item for item in stream if until is None or item.end < until]
    clock = until if until is not None else max((item.end for item in items), default=STATIC_END)
    worlds = [World([], query.policy, widest(widths_of(query)), registered) for query in queries]
    found: list[list[Token]] = [[] for _ in queries]
    layers, built = strata(queries, entail), Built()

    def look() -> None:
        for query, world in zip(queries, worlds, strict=True):
            world.facts = list(facts_of(widths_of(query), items, static, entail, graphs))
            world.found.clear()

    look()
    for at in instants(queries, items):
        for rules in layers:
            while _round(at, rules, queries, worlds, items, built):
                look()
        for query, world, of_query in zip(queries, worlds, found, strict=True):
            of_query += (here := tokens_at(at, query, world))
            use_up(query.policy, here, at, world)
    return [list(told(*each, clock, flush and until is None)) for each in zip(queries, found, strict=True)]


def _round(
    at: int,
    rules: list[int],
    queries: Sequence[algebra.Query],
    worlds: Sequence[World],
    items: list[Item],
    built: Built,
) -> bool:
    """Let some rules build at an instant; tell whether something came of it that was not there."""
    before = len(items)
    for rule in rules:
        for new in built.by(rule, queries[rule], tokens_at(at, queries[rule], worlds[rule])):
            if not any(same_occurrence(new, item) for item in items):
                items.append(new)
    return len(items) > before


def widths_of(query: algebra.Query) -> Widths:
    """Return the RANGE of each stream that a query hears."""
    if not query.streams:
        return query.window
    return {each.iri[1:-1].decode(): each.width if query.window is None else query.window for each in query.streams}


def widest(widths: Widths) -> int | None:
    """Return the widest RANGE."""
    every = list(widths.values()) if isinstance(widths, Mapping) else [widths]
    return None if None in every else max(width for width in every if width is not None)


def instants(queries: Sequence[algebra.Query], stream: Sequence[Item]) -> list[int]:
    """Return the times at which tokens may end: that of static data, the items' ends, and the deadlines."""
    parts = [each for query in queries for each in walk(query.where)]
    deadlines = {item.start + each.width for item in stream for each in parts if isinstance(each, After)}
    times = {item.end for item in stream} | deadlines
    for _ in queries:  # what a rule builds at a deadline may begin a sequence
        sequences = (each for each in parts if isinstance(each, algebra.Sequence))
        times |= {end for each in sequences for time in times for _, end in windows(each, time) if end != FOREVER}
    return sorted({STATIC_END, *times})


def tokens_at(at: int, query: algebra.Query, world: World) -> list[Token]:
    """Return the tokens of a query that end at an instant, in its windows."""
    found = tokens_of(query.where, world, Scope(within=None, ranged=True, at=at, upto=at))
    return [each for each in found if each.end == at and young_enough(each.facts, at)]


def told(query: algebra.Query, found: Sequence[Token], clock: int, flush: bool) -> Iterator[Token]:
    """Yield what has been told, in order, with what the query shows; of a set, each solution once."""
    already = set()
    for token in sorted(found, key=_order):
        if token.how is not How.ARRIVAL and token.decided_at >= clock:
            if not flush:
                continue
            token = replace(token, how=How.FLUSH)
        solution = (frozenset(token.bindings.items()), token.start, token.end)
        if query.solutions == "bag" or solution not in already:
            already.add(solution)
            yield _shown(token, query)


def _order(token: Token) -> tuple[int, How, int]:
    last = max((fact.arrival for fact in token.facts), default=-1)
    return token.decided_at, token.how, last if token.how is How.ARRIVAL else -1


def _shown(token: Token, query: algebra.Query) -> Token:
    if query.form == "CONSTRUCT":
        return token
    shown = {Variable(name) for name in query.projection}
    return replace(token, bindings={v: text for v, text in token.bindings.items() if v in shown})
