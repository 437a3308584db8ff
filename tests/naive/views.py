"""What a view tells (MEANING §§2 and 7): SPARQL, as pyoxigraph reads it, over its windows' content at each report.

A view is given by its windows, the triple patterns that it has, and a query that reads a window `w` as `GRAPH <w>` and
windows without a name in the default graph.  `view_windows.py` says what is in a window, `view_reports.py` when a view
reports, `view_match.py` what MATCH finds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial

import pyoxigraph as ox

from naive.matching import Bindings, matched
from naive.view_graphs import Row, fill, rows_of
from naive.view_match import NaiveMatch, mappings
from naive.view_reports import Reported
from naive.view_windows import Item

TIMESTAMP = ox.NamedNode("http://larkc.eu/csparql/sparql/jena/ext#timestamp")
MATCH = "VALUES MATCH"  # in a query: where MATCH stands


class NaiveView(Reported):
    """A view by its meaning."""

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
        fill(store, self.close(self.background), ox.DefaultGraph())
        for name, triples in self.graphs.items():
            store.add_graph(ox.NamedNode(name))
            fill(store, self.close(triples), ox.NamedNode(name))
        for window in self.windows:
            graph = ox.DefaultGraph() if window.name is None else ox.NamedNode(window.name)
            if window.name is not None:
                store.add_graph(graph)
            fill(store, window.content(items, now, self.close), graph)
        query = self.query
        if self.match is not None:
            query = query.replace(MATCH, self.matched(self.match, items, now, spent))
        return rows_of(store.query(query, custom_functions={TIMESTAMP: partial(self.latest, items, now)}))

    def matched(self, match: NaiveMatch, items: list[Item], now: int, spent: set[int]) -> str:
        """Return what stands in the query for MATCH; what it is made of is used up."""

        def found(name: str) -> Iterator[tuple[Bindings, int, int]]:
            each = match.events[name]
            for number, time, triples in self.windows[each.window].events(items, now, self.close):
                if number not in before:
                    yield from ((bindings, time, number) for bindings in mappings(each.patterns, triples))

        before = frozenset(spent)
        bag, events = matched(match.order, found, match.policy.name)
        if match.policy.consumes:
            spent |= events
        return match.values(bag)

    def latest(self, items: list[Item], now: int, *terms: object) -> ox.Literal | None:
        """Return when a triple, or one that entails it, came last in windows of the default graph, in milliseconds."""
        triple, times = tuple(map(str, terms)), []
        for window in (each for each in self.windows if each.name is None):
            inside = (each for _, each in window.inside(items, now))
            times += [each.time for each in inside if triple in self.close(frozenset((each.triple,)))]
        return ox.Literal(1000 * max(times)) if times else None
