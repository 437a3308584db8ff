"""Laws of views: however the items come in, whatever else is registered, and wherever the engine was stopped."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cases.many import many
from cases.views import E, Written, engine_of, iri, push, pushed, told, written
from naive.view_graphs import Row, Triple
from naive.view_windows import Item

import retewave as rw

CASES = 60
SCHEMA = f"""@prefix : <{E}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:q rdfs:subPropertyOf :p . :p rdfs:domain :a ."""
GUESTS = (
    f"SELECT * {{ ?x <{E}p> ?y }}",
    f"SELECT (COUNT(*) AS ?n) FROM STREAM <{E}s0> [RANGE 5s STEP 2s] {{ ?x <{E}q> ?y }}",
    f"SELECT * FROM STREAM <{E}s1> [RANGE 9s] {{ ?x <{E}q> ?y . ?y <{E}p> ?z }}",
)

pytestmark = pytest.mark.filterwarnings("ignore")


def shown(items: list[Item], view: Written) -> str:
    return f"{view.text}\n{items}\n{view.static}"


def reported(view: Written, items: list[Item], **options: Any) -> list[tuple[int, Counter[Row]]]:
    engine, query = engine_of(view, **options)
    return told(query, pushed(engine, items))


@pytest.mark.parametrize("seed", range(many(CASES)))
def test_all_at_once_is_one_by_one_and_order_within_an_instant_does_not_matter(seed: int) -> None:
    view, items = written(seed)
    alone = reported(view, items)
    assert reported(view, items, lateness=100) == alone, shown(items, view)
    shuffled = sorted(random.Random(seed).sample(items, len(items)), key=lambda each: each.time)
    assert reported(view, shuffled) == alone, shown(shuffled, view)


@pytest.mark.parametrize("seed", range(many(CASES)))
def test_a_view_goes_on_where_a_snapshot_was_taken(seed: int, tmp_path: Path) -> None:
    view, items = written(seed)
    cut = random.Random(seed).randint(0, len(items))
    engine, query = engine_of(view)
    found = [m for each in items[:cut] for m in push(engine, each)]
    before = told(query, found)
    engine.snapshot(tmp_path / "kept")
    again = rw.Engine.restore(tmp_path / "kept")
    (query,) = again.queries
    after = told(query, pushed(again, items[cut:]))
    assert before + after == reported(view, items), shown(items, view)


@pytest.mark.parametrize("seed", range(many(CASES)))
def test_other_queries_that_come_and_go_change_nothing(seed: int) -> None:
    view, items = written(seed)
    engine, query = engine_of(view)
    guests, choice = list[rw.Query](), random.Random(seed)
    found: list[rw.Match] = []
    for each in items:
        if choice.random() < 0.3:
            guests.append(engine.register(choice.choice(GUESTS)))
        elif guests and choice.random() < 0.3:
            engine.remove(guests.pop())
        found += push(engine, each)
    found += engine.flush()
    own = [match for match in found if match.query is query]
    assert told(query, own) == reported(view, items), shown(items, view)


@pytest.mark.parametrize("seed", range(many(CASES)))
def test_what_is_new_and_what_is_gone_sum_up_to_all(seed: int) -> None:
    view, items = written(seed)
    kinds = {}
    for kind in ("RSTREAM", "ISTREAM", "DSTREAM"):
        text = view.text.replace(view.naive.told, kind, 1)
        kinds[kind] = dict(reported(replace(view, text=text), items))
    there: Counter[Row] = Counter()
    for time in sorted(set().union(*kinds.values())):
        new, gone = (kinds[kind].get(time, Counter()) for kind in ("ISTREAM", "DSTREAM"))
        there = there - gone + new
        assert there == kinds["RSTREAM"].get(time, Counter()), shown(items, view)


def closed(triples: frozenset[Triple]) -> frozenset[Triple]:
    """Return triples with what the schema entails of them."""
    p, q, kind = iri("p"), iri("q"), "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    links = triples | {(s, p, o) for s, predicate, o in triples if predicate == q}
    return frozenset(links | {(s, kind, iri("a")) for s, predicate, _ in links if predicate == p})


@pytest.mark.parametrize("seed", range(many(4 * CASES)))
def test_windows_and_background_have_what_the_schema_entails(seed: int, tmp_path: Path) -> None:
    view, items = written(seed)
    if "*" in view.text.replace("(*)", "").replace("SELECT *", "") or "?" in _marks(view.text):
        pytest.skip("a path of no steps holds of each term, also of the schema's own")
    schema = tmp_path / "schema.ttl"
    schema.write_text(SCHEMA)
    found = reported(view, items, schema=str(schema))
    meant = replace(view.naive, close=closed)
    wanted = [(time, rows) for time, rows in meant.reports(items, items[-1].time) if rows]
    assert found == wanted, shown(items, view)


def _marks(text: str) -> str:
    """Return the marks of paths in a query."""
    return "".join(after for each in text.split(">")[1:] if (after := each.lstrip(")")[:1]) == "?" and each[:1] in ")?")
