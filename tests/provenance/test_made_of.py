"""Laws of what matches are made of: each part is an arrival that fits its pattern; to ask changes no match."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import cast

import pytest
from cases.engine import written
from cases.temporal import ANYWHERE, OPERATORS, Case, temporal_case
from helpers.inside import network_of, sweep
from helpers.telling import asked, changes_kept, law, named, poured, told
from hypothesis import assume, given
from hypothesis import strategies as st
from naive.streams import Item, Triple

import retewave as rw
from retewave.compiler.algebra import Query, TriplePattern, Variable
from retewave.compiler.plan.producers import END, EVENT, GIVEN_TRIPLE, START, STREAM, TRIPLE
from retewave.compiler.plan.walk import looks_of
from retewave.compiler.rewrite.normal import branches
from retewave.engine.registry import CartesianWarning, UnboundedWarning
from retewave.errors import QueryError
from retewave.rete.words.rows import GIVEN_EVENTS
from retewave.windows.intervals import is_static

temporal = temporal_case(operators=OPERATORS | {ANYWHERE}).map(asked)


def engine_of(case: Case, *explained: bool) -> tuple[rw.Engine, list[rw.Query]]:
    """Return an engine that listens for a case's query as often as told, explained or not; a refused one is none."""
    engine = rw.Engine(static=[[written(t) for t in sorted(case.static)]], seed=1, max_future=None)
    return engine, [registered(engine, case.query, each) for each in explained]


def registered(engine: rw.Engine, query: Query, explained: bool) -> rw.Query:
    with warnings.catch_warnings():
        for each in (CartesianWarning, UnboundedWarning):
            warnings.simplefilter("ignore", each)
        try:
            return engine.register(query, keep=None, explain=explained, allow_cartesian=True)
        except QueryError:
            assume(condition=False)
            raise


def pushed(engine: rw.Engine, item: Item, place: int) -> list[rw.Match]:
    """Push an item as an event that has its place as its number."""
    return engine.push([written(item.triple)], time=(item.start / 1e6, item.end / 1e6), stream=item.stream, event=place)


@dataclass(frozen=True)
class Taken:
    """A triple that a pattern of a match took."""

    pattern: TriplePattern
    start: int
    end: int
    event: int  # the number that the user gave it
    seen: Triple
    came: Triple
    stream: int
    hidden: bool  # inside EXISTS, where a variable may be another than one of the same name


def taken_by(match: rw.Match) -> list[Taken]:
    """Return what a match is made of."""
    batch, row = match._batch, match._row
    assert batch.made_of is not None
    branch = branches(match.query.parsed)[batch.made_of.branch(row)]
    looks = looks_of(branch).items()
    hidden = {leaf for first, look in looks for leaf in range(first, first + len(look.there.leaves))}
    told = batch.made_of.told(row)
    found = []
    for leaf in sorted({each.leaf for each in told}):
        of = {each.what: number for each, number in told.items() if each.leaf == leaf}
        pattern = branch.leaves[leaf]
        assert isinstance(pattern, TriplePattern)
        seen, came = (cast(Triple, tuple(batch.text(of[what]) for what in triple)) for triple in (TRIPLE, GIVEN_TRIPLE))
        event = -of[EVENT] - GIVEN_EVENTS
        found.append(Taken(pattern, of[START], of[END], event, seen, came, of[STREAM], leaf in hidden))
    return found


def fits(part: Taken, match: rw.Match) -> bool:
    """Tell whether a triple is what its pattern asks for, with what the match shows."""
    shown = {} if part.hidden else {name: match.text(name) for name in match}
    bound: dict[str, bytes | None] = {}
    for term, text in zip(part.pattern.terms, part.seen, strict=True):
        wanted = bound.setdefault(term.name, shown.get(term.name, text)) if isinstance(term, Variable) else term
        if wanted != text:
            return False
    return True


def check_parts(case: Case, match: rw.Match) -> None:
    """Check that each part of a match is an arrival of the case, or static, and what its pattern asks for."""
    times = []
    for part in taken_by(match):
        assert part.seen == part.came
        assert fits(part, match)
        if is_static(part.start, part.end):
            assert part.came in case.static
            continue
        item = case.stream[part.event]
        assert (item.start, item.end, item.triple) == (part.start, part.end, part.came)
        assert match._batch.made_of.sources.stream(part.stream) == item.stream  # type: ignore[union-attr]
        assert part.pattern.source is None or item.stream in (None, part.pattern.source[1:-1].decode())
        times.append(part.start)
    assert match.start is None or round(float(match.start) * 1e6) >= min(times)  # type: ignore[arg-type]


@law(300)
@given(case=temporal)
def test_each_part_of_a_match_is_an_arrival_that_fits_its_pattern(case: Case) -> None:
    engine, (plain, explained) = engine_of(case, False, True)
    matches = engine.flush()
    for place, item in enumerate(case.stream):
        matches += pushed(engine, item, place)
    matches += engine.flush()
    own = [match for match in matches if match.query is explained]
    assert told(own) == told(match for match in matches if match.query is plain)
    for match in own:
        check_parts(case, match)


DOINGS = ["restore", "come", "come explained", "go", "sweep", "join"]


@law(80)
@given(
    case=temporal,
    others=st.lists(temporal, max_size=2),
    plan=st.lists(st.tuples(st.integers(0, 12), st.sampled_from(DOINGS)), max_size=5),
    apart=st.booleans(),
)
def test_whatever_is_done_between_items_the_parts_stay_known(
    case: Case,
    others: list[Case],
    plan: list[tuple[int, str]],
    apart: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    queries = [replace(each.query, text=f"query {place}") for place, each in enumerate([case, *others])]
    path = tmp_path_factory.getbasetemp() / "parts.snapshot"
    with changes_kept(apart), named(*queries):
        engine, (query,) = engine_of(replace(case, query=queries[0]), True)
        waiting, guests, matches = queries[1:], list[rw.Query](), engine.flush()
        for place, item in enumerate(case.stream):
            for what in (what for at, what in plan if at == place):
                match what:
                    case "restore":
                        engine.snapshot(path)
                        engine = rw.Engine.restore(path)
                        numbered = {each.number: each for each in engine.queries}
                        query, guests = numbered[query.number], [numbered[each.number] for each in guests]
                    case "sweep":
                        sweep(engine)
                    case "join":
                        network_of(engine)
                    case "go" if guests:
                        engine.remove(guests.pop())
                    case "come" | "come explained" if waiting:
                        guests.append(registered(engine, waiting.pop(), what != "come"))
            matches += [match for match in pushed(engine, item, place) if match.query is query]
        for match in [*matches, *engine.flush()]:
            if match.query.number == query.number:
                check_parts(case, match)


Lone = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("pq"), st.integers(1, 2)), min_size=1, max_size=8)


@law(40)
@given(triples=Lone)
def test_a_triple_that_a_reader_brings_alone_is_an_event_of_its_own(triples: list[tuple[str, str, int]]) -> None:
    said = "SELECT * { ?x <http://e/p> ?n . ?x <http://e/q> ?n }"
    stream = [
        Item((f"<http://e/{s}>".encode(), f"<http://e/{p}>".encode(), b'"%d"' % n), place, place)
        for place, (s, p, n) in enumerate(triples)
    ]
    engine = rw.Engine()
    engine.register(said, explain=True)
    for match in poured(engine, stream):
        told = match._batch.made_of.told(match._row)  # type: ignore[union-attr]
        numbers = {number for each, number in told.items() if each.what == EVENT}
        assert len(numbers) == 2
        assert max(numbers) < 0


def test_what_is_pushed_in_one_call_is_one_event() -> None:
    engine = rw.Engine()
    engine.register("SELECT * { ?x <http://e/p> ?n . ?x <http://e/q> ?n }", explain=True)
    a = "http://e/a"
    [together] = engine.push([(a, "http://e/p", 1), (a, "http://e/q", 1)], time=1)
    engine.push((a, "http://e/p", 2), time=2)
    [apart] = engine.push((a, "http://e/q", 2), time=2)
    found = [{part.event for part in taken_by(match)} for match in (together, apart)]
    assert [len(each) for each in found] == [1, 2]


@law(100)
@given(case=temporal_case(operators=OPERATORS | {ANYWHERE}, policies=True))
def test_to_ask_changes_neither_what_a_policy_takes_nor_what_it_uses_up(case: Case) -> None:
    case = replace(case, query=replace(case.query, text="a query"))
    found = []
    for explained in (False, True):
        engine, _ = engine_of(case, explained)
        matches = engine.flush()
        for item in case.stream:
            times = item.start / 1e6, item.end / 1e6
            matches += engine.push([written(item.triple)], time=times, stream=item.stream, event=item.event)
        found.append(told([*matches, *engine.flush()]))
    assert found[0] == found[1]
