"""Whatever is done between items changes nothing of what a query tells, and when: snapshots, sweeps, clocks, guests."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from cases.temporal import ANYWHERE, OPERATORS, Case, temporal_case
from helpers.inside import network_of, sweep
from helpers.telling import asked, changes_kept, law, listening, named, of_query, pushed, registered, told
from hypothesis import given
from hypothesis import strategies as st

import retewave as rw
from retewave.compiler.algebra import Query

temporal = temporal_case(operators=OPERATORS | {ANYWHERE}).map(asked)
DOINGS = ["restore", "advance", "join", "come", "go", "sweep", "collect"]
doings = st.lists(st.tuples(st.integers(0, 12), st.sampled_from(DOINGS)), max_size=5)


@dataclass
class House:
    """An engine with the query that is looked at, and with guests that come and go."""

    engine: rw.Engine
    query: rw.Query
    waiting: list[Query]  # guests that may come
    path: Path  # of snapshots
    guests: list[rw.Query] = field(default_factory=list)

    def do(self, what: str) -> None:
        """Do something between two items."""
        match what:
            case "restore":
                self.restore()
            case "join":
                network_of(self.engine)
            case "come" if self.waiting:
                self.guests.append(registered(self.engine, self.waiting.pop()))
            case "go" if self.guests:
                self.engine.remove(self.guests.pop())
            case "sweep":
                sweep(self.engine)
            case "collect":
                network_of(self.engine).runtime.collect()

    def restore(self) -> None:
        """Go on with a snapshot."""
        self.engine.snapshot(self.path)
        self.engine = rw.Engine.restore(self.path)
        known = {query.number: query for query in self.engine.queries}
        self.query, self.guests = known[self.query.number], [known[guest.number] for guest in self.guests]


@law(120)
@given(case=temporal, others=st.lists(temporal, max_size=2), plan=doings, apart=st.booleans())
def test_whatever_is_done_between_items_changes_nothing(
    case: Case,
    others: list[Case],
    plan: list[tuple[int, str]],
    apart: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    queries = [replace(each.query, text=f"query {place}") for place, each in enumerate([case, *others])]
    path = tmp_path_factory.getbasetemp() / "doings.snapshot"
    with changes_kept(apart), named(*queries):
        alone, _ = listening(case)
        house = House(*listening(replace(case, query=queries[0])), queries[1:], path)
        assert of_query(house.engine.flush(), house.query) == told(alone.flush())
        for place, item in enumerate(case.stream):
            for what in (what for at, what in plan if at == place):
                house.do(what)
                if what == "advance":
                    matches = house.engine.advance(item.end / 1e6)
                    assert of_query(matches, house.query) == told(alone.advance(item.end / 1e6))
            assert of_query(pushed(house.engine, item), house.query) == told(pushed(alone, item))
        assert of_query(house.engine.flush(), house.query) == told(alone.flush())
