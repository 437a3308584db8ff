"""The counts of memories and joins are those of the naive meaning."""

from __future__ import annotations

from collections.abc import Iterator

from cases.conjunctions import MS
from cases.many import many
from helpers.inside import network_of
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from naive.reports import matches
from naive.streams import Item

import retewave as rw
from retewave.compiler.parse import parse
from retewave.viz.explain.counts import Counts, count, counts
from retewave.viz.explain.describe import describe
from retewave.viz.explain.description import StepPlan

CASES = many(200)
PREFIX = "PREFIX e: <http://e/> "

names = st.sampled_from(["?w", "?x", "?y", "?z"])
patterns = st.lists(st.tuples(names, st.sampled_from(["e:p", "e:q"]), names), min_size=2, max_size=4)
things = st.sampled_from(["e:a", "e:b", "e:c"])
streams = st.lists(st.tuples(st.integers(0, 3), things, st.sampled_from(["e:p", "e:q"]), things), max_size=14)


def full(name: str) -> bytes:
    return b"<http://e/" + name.removeprefix("e:").encode() + b">"


def leaves_of(step: StepPlan) -> Iterator[StepPlan]:
    for each in step.inputs:
        yield from leaves_of(each)
    if not step.inputs:
        yield step


def joins_of(step: StepPlan) -> Iterator[StepPlan]:
    if step.inputs:
        yield step
        for each in step.inputs:
            yield from joins_of(each)


def text_of(written: list[tuple[str, str, str]], window: int | None) -> str:
    frame = f"FROM STREAM <http://e/s> [RANGE {window}ms] " if window is not None else ""
    return f"{PREFIX} SELECT * {frame}WHERE {{ {' . '.join(map(' '.join, written))} }}"


def items_of(stream: list[tuple[int, str, str, str]]) -> list[Item]:
    items, now = [], 0
    for wait, s, p, o in stream:
        now += wait
        items.append(Item((full(s), full(p), full(o)), now * MS, now * MS))
    return items


def poured(query: str, items: list[Item]) -> rw.Engine:
    engine = rw.Engine(stats=True)
    engine.register(query)
    for item in items:
        s, p, o = (part.decode() for part in item.triple)
        engine.push((s, p, o), time=item.end / 1_000_000)
    return engine


def counted(engine: rw.Engine) -> tuple[Counts, StepPlan]:
    compiled = network_of(engine)
    (section,) = describe(compiled).sections
    return count(compiled), section.joins


def found(steps: Iterator[StepPlan], items: list[Item], window: int | None) -> int:
    """Return how many matches the patterns of some steps of the plan have."""
    patterns = [tuple(step.label.split()) for step in steps]
    return len(matches(parse(text_of([(s, p, o) for s, p, o in patterns], window)), items))


@settings(max_examples=CASES, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(patterns, streams, st.sampled_from([None, 0, 1, 3, 6]))
def test_every_join_makes_what_the_naive_meaning_finds_of_its_patterns(
    written: list[tuple[str, str, str]], stream: list[tuple[int, str, str, str]], window: int | None
) -> None:
    query, items = text_of(written, window), items_of(stream)
    try:
        engine = poured(query, items)
    except rw.QueryError:
        assume(False)
    have, tree = counted(engine)
    for step in joins_of(tree):
        assert have.joins[step.number].hits == found(leaves_of(step), items, window)
        for each in step.inputs:
            assert each.memory is not None
            memory = have.memories[each.memory]
            assert memory.rows_in == found(leaves_of(each), items, window)
            assert memory.rows_in == memory.live + memory.collected
            assert memory.rows_in == memory.probes + memory.refused_by_key
    assert have.matches == {"query1": found(leaves_of(tree), items, window)}


@settings(max_examples=CASES, deadline=None)
@given(streams)
def test_a_row_without_a_partner_is_refused_by_key(stream: list[tuple[int, str, str, str]]) -> None:
    items = items_of(stream)
    have, tree = counted(poured(text_of([("?x", "e:p", "?y"), ("?y", "e:q", "?z")], None), items))
    seen: dict[bytes, set[bytes]] = {full("p"): set(), full("q"): set()}
    alone = 0
    for item in items:
        s, p, o = item.triple
        other, key, own = (full("q"), o, o) if p == full("p") else (full("p"), s, s)
        alone += key not in seen[other]
        seen[p].add(own)
    assert have.joins[tree.number].refused_by_key == alone
    assert have.joins[tree.number].refused_by_window == 0


def test_a_combination_that_outgrew_the_window_is_counted() -> None:
    items = items_of([(0, "e:a", "e:p", "e:b"), (2, "e:b", "e:q", "e:c"), (2, "e:b", "e:q", "e:d")])
    have, tree = counted(poured(text_of([("?x", "e:p", "?y"), ("?y", "e:q", "?z")], 3), items))
    assert (have.joins[tree.number].hits, have.joins[tree.number].refused_by_window) == (1, 1)


def test_a_tuple_that_a_filter_keeps_out_is_counted_and_not_stored() -> None:
    engine = rw.Engine(stats=True)
    engine.register(PREFIX + "SELECT * { ?x e:p ?n . ?x e:q ?y FILTER(?n > 2) }")
    for number in range(5):
        engine.push(("http://e/x", "http://e/p", number), time=number)
    have, tree = counted(engine)
    counted_at = {each.label: have.memories[each.memory] for each in tree.inputs if each.memory is not None}
    filtered, other = counted_at["?x e:p ?n"], counted_at["?x e:q ?y"]
    assert (filtered.rows_in, filtered.refused_by_filter) == (2, 3)
    assert (other.rows_in, other.refused_by_filter) == (0, 0)


def test_without_stats_only_live_rows_and_matches_are_known() -> None:
    engine = rw.Engine()
    engine.register(PREFIX + "SELECT * { ?x e:p ?y . ?y e:q ?z }")
    engine.push(("http://e/a", "http://e/p", "http://e/b"), time=0)
    have = counts(network_of(engine))
    assert have["counting"] is False
    assert [(each["live"], each["rows_in"]) for each in have["memories"]] == [(1, 0), (0, 0)]
    assert "live" not in engine.explain()


def test_the_text_shows_the_counts() -> None:
    items = items_of([(0, "e:a", "e:p", "e:b"), (2, "e:b", "e:q", "e:c")])
    text = poured(text_of([("?x", "e:p", "?y"), ("?y", "e:q", "?z")], None), items).explain()
    assert "join 0 on ?y, keeps unbounded  · 1 made, 1 refused by key" in text
    assert "?x e:p ?y  · 1 in, 1 live" in text
    assert "  matches: 1" in text


# Probes

NEVER = "SELECT * { { ?x e:a ?a } SEQ NOT { ?x e:b ?b FILTER(?b > 1) } WITHIN 5s }"


def a_and_b(engine: rw.Engine, *pushes: tuple[str, str, int, float]) -> None:
    for subject, predicate, value, time in pushes:
        engine.push((f"http://e/{subject}", f"http://e/{predicate}", value), time=time)


def test_what_waits_for_its_decision_and_when_the_first_is_due_is_told() -> None:
    engine = rw.Engine()
    assert (engine.stats()["waiting"], engine.stats()["next_due"]) == (0, "")
    engine.register(PREFIX + NEVER)
    a_and_b(engine, ("x", "a", 1, 1.0), ("y", "a", 1, 3.0))
    assert (engine.stats()["waiting"], engine.stats()["next_due"]) == (2, "6.0")
    engine.advance(7.0)
    assert (engine.stats()["waiting"], engine.stats()["next_due"]) == (1, "8.0")


def test_probe_counts_what_it_has_decided_and_what_of_that_passed() -> None:
    engine = rw.Engine(stats=True)
    engine.register(PREFIX + NEVER, name="never")
    a_and_b(engine, ("x", "a", 1, 1.0), ("x", "b", 2, 2.0), ("y", "a", 1, 3.0), ("y", "b", 1, 4.0), ("z", "a", 1, 9.0))
    counted = count(network_of(engine))
    (probe,) = counted.probes
    assert (probe.decided, probe.passed, probe.unknown, probe.waiting, probe.due) == (2, 1, 0, 1, 14_000_000)
    (memory,) = counted.memories
    assert (memory.join, memory.rows_in, memory.refused_by_filter, counted.joins) == (None, 2, 0, ())
    assert "2 decided, 1 passed, 1 waiting" in engine.explain()
    assert engine.stats()["network"]["probes"] == (
        {"probe": 0, "waiting": 1, "due": 14_000_000, "decided": 2, "passed": 1, "unknown": 0},
    )


def test_counts_of_a_probe_go_on_in_the_next_network() -> None:
    engine = rw.Engine(stats=True)
    engine.register(PREFIX + NEVER, name="never")
    a_and_b(engine, ("x", "a", 1, 1.0), ("x", "b", 2, 2.0), ("y", "a", 1, 9.0))
    engine.register(PREFIX + "SELECT * { ?x e:p ?y . ?y e:a ?z }")
    counted = count(network_of(engine))
    (probe,) = counted.probes
    assert (probe.decided, probe.passed, probe.waiting) == (1, 0, 1)
    assert next(each.rows_in for each in counted.memories if each.join is None) == 1


def test_decision_on_what_may_have_been_before_the_query_came_is_counted_as_not_known() -> None:
    engine = rw.Engine(stats=True)
    engine.register(PREFIX + "SELECT * { ?x e:c ?c }")
    a_and_b(engine, ("x", "c", 1, 1.0))
    engine.register(PREFIX + "SELECT * { NOT { ?x e:b ?b } SEQ { ?x e:a ?a } WITHIN 5s }")
    a_and_b(engine, ("x", "a", 1, 2.0), ("x", "a", 1, 9.0))
    (probe,) = count(network_of(engine)).probes
    assert (probe.decided, probe.passed, probe.unknown) == (2, 1, 1)
    assert "2 decided, 1 passed, 0 waiting, 1 not known" in engine.explain()
