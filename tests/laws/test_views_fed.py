"""What a view feeds is read as if it had come at the report's time, by views and detectors."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from cases.many import many
from cases.views import E, Views, Written, engine_of, iri, push, pushed, told, written
from naive.view_windows import Item, NaiveWindow
from naive.views import NaiveView

import retewave as rw
from retewave.compiler.algebra import ReportPolicy, Told, is_stepped

pytestmark = pytest.mark.filterwarnings("ignore")


def feeding(seed: int) -> tuple[str, NaiveView]:
    """Return a view that reads one stream and feeds the other."""
    r = random.Random(seed)
    extent, window = Views(seed).extent(r.random() < 0.6)
    kinds: list[Told] = ["RSTREAM", "ISTREAM", "DSTREAM"]
    policy = ReportPolicy("close" if is_stepped(extent) else "change")
    text = f"REGISTER STREAM <{E}s1> AS CONSTRUCT {{ ?x {iri('q')} ?z }} FROM STREAM <{E}s0> [{window}]"
    query = f"{{ ?x {iri('p')} ?z }}"
    kind = r.choice(kinds)
    said = "" if kind == "RSTREAM" else f"{kind} "
    text = text.replace("CONSTRUCT ", f"CONSTRUCT {said}")
    windows = (NaiveWindow(None, f"{E}s0", extent, (("?x", iri("p"), "?z"),)),)
    return f"{text} {query}", NaiveView(f"SELECT ?x ?z {query}", windows, policy, kind)


def fed(view: NaiveView, items: list[Item]) -> list[Item]:
    """Return what comes, and what a view builds of it."""
    built = [
        Item(time, f"{E}s1", (terms["x"], iri("q"), terms["z"]))
        for time, rows in view.reports(items, items[-1].time)
        for terms in map(dict, rows)
    ]
    plain = [
        replace(each, triple=tuple(_number(term) for term in each.triple))  # type: ignore[arg-type]
        for each in built
    ]
    return sorted([*items, *plain], key=lambda each: each.time)


def _number(term: str) -> str:
    """Return a term as it came: reports write numbers in a form of their own."""
    value, space, kind = term.partition(" ")
    return f'"{value}"^^<http://www.w3.org/2001/XMLSchema#{kind}>' if space else term


def pipeline(seed: int) -> tuple[Written, str, list[Item], list[Item]]:
    view, items = written(seed)
    text, naive = feeding(seed)
    naive = replace(naive, background=frozenset(view.static))
    return view, text, items, fed(naive, items)


@pytest.mark.parametrize("seed", range(many(250)))
def test_a_view_reads_what_another_feeds(seed: int, tmp_path: Path) -> None:
    view, text, items, all_items = pipeline(seed)
    engine, query = engine_of(view)
    feeder = engine.register(text, name="feeder")
    cut = random.Random(seed).randint(0, len(items))
    found = [match for each in items[:cut] for match in push(engine, each)]
    if seed % 5 == 0:
        engine.snapshot(tmp_path / "kept")
        engine = rw.Engine.restore(tmp_path / "kept")
    found += pushed(engine, items[cut:])
    own = [match for match in found if match.query.name not in (feeder.name,)]
    before, after = (told(query, [m for m in own if (m.query is query) == former]) for former in (True, False))
    wanted = [(time, rows) for time, rows in view.naive.reports(all_items, items[-1].time) if rows]
    assert before + after == wanted, f"{text}\n{view.text}\n{items}\n{view.static}"
