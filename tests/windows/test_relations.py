"""Temporal relations in the records of a network: matches, counts, snapshots."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import cast

import pytest
from cases.engine import MS
from cases.many import many
from cases.related import Named, relating
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive import Branch, Item, Pattern, Query, Relation, naive_matches

import retewave as rw
from retewave.viz.explain.counts import count
from retewave.windows.relations import EQUALS, NAMES

P, Q, R = (b"<http://e/%s>" % name for name in (b"p", b"q", b"r"))
OBJECTS = ("?a", "?b", "?c")
STAR = "SELECT * FROM STREAM <http://e/s> [RANGE %dms] { ?x <http://e/p> ?a . ?x <http://e/q> ?b . ?x <http://e/r> ?c }"
PAIR = "SELECT * FROM STREAM <http://e/s> [RANGE %dms] { ?x <http://e/p> ?a . ?x <http://e/q> ?b }"


@st.composite
def items(draw: st.DrawFn) -> list[Item]:
    """Draw triples with intervals, in the order of their ends."""
    end, found = 0, []
    for _ in range(draw(st.integers(3, 10))):
        end += MS * draw(st.integers(0, 2))
        subject = b"<http://e/s%d>" % draw(st.integers(1, 2))
        triple = (subject, draw(st.sampled_from([P, Q, R])), b"<http://e/o%d>" % draw(st.integers(1, 2)))
        found.append(Item(triple, end - MS * draw(st.integers(0, 3)), end))
    return found


def relations_of(names: list[bytes]) -> st.SearchStrategy[list[Named]]:
    pairs = st.permutations(names).map(lambda found: (found[0], found[1]))
    drawn = st.tuples(pairs, st.integers(1, len(NAMES) - 1)).map(lambda each: (each[0][0], each[1], each[0][1]))
    # Two patterns in one relation at most: that is what has a name.
    return st.lists(drawn, min_size=1, max_size=2, unique_by=lambda each: frozenset((each[0], each[2])))


def branch_of(related: list[Named], names: list[bytes]) -> Branch:
    patterns = tuple(Pattern(("?x", name, o)) for name, o in zip(names, OBJECTS, strict=False))
    relations = (Relation((names.index(one),), code, (names.index(other),)) for one, code, other in related)
    return Branch(patterns, relations=tuple(relations))


def poured(text: str, related: list[Named], stream: list[Item]) -> tuple[rw.Engine, rw.Query, Counter]:
    """Return an engine that has seen a stream, and when which intervals matched."""
    found: Counter = Counter()
    engine = rw.Engine(stats=True, max_future=None)
    with relating(*related):
        query = engine.register(text, name="related")
        for arrival, item in enumerate(stream):  # the first interval makes another network
            s, p, o = (part.decode() for part in item.triple)
            for match in engine.push((s, p, o), time=(item.start / 1e6, item.end / 1e6)):
                bound = tuple(sorted((f"?{name}", match.text(name)) for name in match))
                start, end = cast(float, match.start), cast(float, match.end)
                found[round(start * 1e6), round(end * 1e6), bound, arrival] += 1
    return engine, query, found


@settings(max_examples=many(150), deadline=None, suppress_health_check=list(HealthCheck))
@given(items(), relations_of([P, Q, R]), st.sampled_from([0, 2, 4, 100]))
def test_an_engine_whose_plan_carries_relations_finds_what_the_naive_matcher_finds(
    stream: list[Item], related: list[Named], window: int
) -> None:
    _, _, found = poured(STAR % window, related, stream)
    naive = naive_matches(Query((branch_of(related, [P, Q, R]),), window * MS), stream)
    assert found == Counter((match.start, match.end, match.bindings, match.arrival) for match in naive)


@settings(max_examples=many(150), deadline=None, suppress_health_check=list(HealthCheck))
@given(items(), relations_of([P, Q]), st.sampled_from([0, 2, 4, 100]))
def test_what_a_relation_refuses_is_counted_apart_from_what_the_window_refuses(
    stream: list[Item], related: list[Named], window: int
) -> None:
    engine, _, _ = poured(PAIR % window, related, stream)
    (join,) = count(engine.matcher.current()).joins
    free, bound = branch_of([], [P, Q]), branch_of(related, [P, Q])
    young = len(naive_matches(Query((free,), window * MS), stream))
    related_and_young = len(naive_matches(Query((bound,), window * MS), stream))
    assert (join.hits, join.refused_by_relation) == (related_and_young, young - related_and_young)


def item(s: str, p: str, o: str, start: int, end: int) -> Item:
    triple = (b"<http://e/%s>" % s.encode(), b"<http://e/%s>" % p.encode(), b"<http://e/%s>" % o.encode())
    return Item(triple, start * 10**6, end * 10**6)


def test_a_snapshot_of_a_plan_with_relations_is_not_taken_for_one_without(tmp_path: Path) -> None:
    engine, _, _ = poured(PAIR % 10_000, [(P, EQUALS, Q)], [item("s", "p", "a", 1, 1)])
    engine.snapshot(tmp_path / "snapshot")
    with pytest.raises(rw.SnapshotError, match="plans the queries in another way"):
        rw.Engine.restore(tmp_path / "snapshot")
    with relating((P, EQUALS, Q)):
        restored = rw.Engine.restore(tmp_path / "snapshot")
        assert len(restored.push(("http://e/s", "http://e/q", "http://e/b"), time=1)) == 1
