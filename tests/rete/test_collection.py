"""When rows are collected: no match changes, none that is due is met again and again, and a bound is not in the way.

The streams are long, for a page of a memory holds some seventy rows, and what happens when one is full has to happen.
"""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
from cases.conjunctions import MS, Branch, Pattern, Query, text_of
from cases.engine import STREAMS, Case, engine_for, expected, pushed_one_by_one, shown, written
from cases.many import many
from helpers.inside import network_of
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.streams import Item

import retewave as rw
from retewave.rete.words import layout

LAW = settings(max_examples=many(10), deadline=None)
SUBJECTS = [b"<http://e/s%d>" % n for n in range(3)]
P, Q, R = (b"<http://e/%s>" % name for name in (b"p", b"q", b"r"))
STAR = Branch((Pattern(("?x", P, "?y")), Pattern(("?x", Q, "?z")), Pattern(("?x", R, "?w"))))
PAIR = Branch((Pattern(("?x", P, "?y")), Pattern(("?x", Q, "?z"))))
CHAIN = Branch((Pattern(("?x", P, "?y")), Pattern(("?y", Q, "?z")), Pattern(("?z", R, "?w"))))
WIDTHS = {STREAMS[0]: 6 * MS, STREAMS[1]: 3 * MS}
PAIR_TEXT = "SELECT ?x FROM STREAM <http://e/s> [RANGE {}] {{ ?x <http://e/p> ?y . ?x <http://e/q> ?z }}"


def long_stream(seed: int, intervals: bool, items: int = 500) -> list[Item]:
    """A stream that rests now and then for longer than any window, so that all rows of a full page may be due."""
    draw, time, found = random.Random(seed), 0, []
    for _ in range(items):
        time += MS * draw.choice([0, 1, 1, 2, 9])
        triple = (draw.choice(SUBJECTS), draw.choice([P, P, Q, R]), draw.choice(SUBJECTS))
        length = MS * draw.choice([0, 0, 2]) if intervals else 0
        found.append(Item(triple, time - length, time, draw.choice([None, *STREAMS])))
    return found


def expected_of_long(case: Case) -> Counter:
    """What the naive meaning finds, told only of what no window has left behind when an item comes."""
    found: Counter = Counter()
    for place, item in enumerate(case.stream):
        young = [each for each in case.stream[: place + 1] if item.end - each.end <= max(WIDTHS.values())]
        part = expected(Case(case.query, case.text, young, case.static))
        for (start, end, bindings, arrival), count in part.items():
            if arrival == len(young) - 1:
                found[start, end, bindings, place] += count
    return found


@LAW
@given(st.sampled_from([STAR, PAIR, CHAIN]), st.integers(0, 1 << 32), st.booleans())
def test_over_long_streams_the_engine_finds_what_the_naive_meaning_finds(
    branch: Branch, seed: int, intervals: bool
) -> None:
    query = Query((branch,), WIDTHS)
    case = Case(query, text_of(query), long_stream(seed, intervals), frozenset())
    engine, _ = engine_for(case)
    assert pushed_one_by_one(engine, case) == expected_of_long(case)


@LAW
@given(st.integers(0, 1 << 32), st.integers(1, 499))
def test_what_a_late_query_finds_does_not_depend_on_what_was_collected(seed: int, comes: int) -> None:
    narrow, wide = (Query((PAIR,), {iri: width * times for iri, width in WIDTHS.items()}) for times in (1, 100))
    case = Case(narrow, text_of(narrow), long_stream(seed, intervals=False), frozenset())
    assert found_late(case, text_of(wide), comes, collects=True) == found_late(
        case, text_of(wide), comes, collects=False
    )


def found_late(case: Case, text: str, comes: int, *, collects: bool) -> Counter:
    """Return what a query finds that comes while the stream runs; the memories may be collected before every item."""
    engine, _ = engine_for(case)
    found: Counter = Counter()
    late = None
    for place, item in enumerate(case.stream):
        if collects:
            network_of(engine).runtime.collect()
        if place == comes:
            late = engine.register(text)
        for match in engine.push(written(item.triple), time=item.end / 1e6, stream=item.stream):
            if match.query is late:
                found[shown(match, place, distinct=False)] += 1
    return found


@pytest.mark.parametrize("events", [60, 85, 86, 100, 171])
def test_a_late_query_finds_nothing_that_was_due_and_not_yet_collected(events: int) -> None:
    engine = rw.Engine(seed=1)
    engine.register(PAIR_TEXT.format("1s"))
    for n in range(events):
        for name, time in (("p", 10 * n), ("q", 10 * n + 5)):
            engine.push((f"http://e/s{n}", f"http://e/{name}", n), time=time, stream="http://e/s")
    engine.register(PAIR_TEXT.format("1000s"))
    assert engine.flush() == []
    assert engine.stats()["live_rows"] == 1


def test_a_page_whose_rows_are_all_due_when_it_is_full_is_followed_by_another() -> None:
    engine = rw.Engine(seed=1)
    query = engine.register(PAIR_TEXT.format("1s"), keep=0)
    for n in range(1_000):
        for name, time in (("p", 10 * n), ("q", 10 * n + 0.5)):
            engine.push((f"http://e/s{n % 7}", f"http://e/{name}", n), time=time, stream="http://e/s")
    assert query.matched == 1_000


def test_what_is_due_leaves_a_memory_when_a_page_of_new_rows_has_come() -> None:
    engine, most = rw.Engine(), 0
    engine.register(PAIR_TEXT.format("1s"))
    for n in range(2_000):
        engine.push((f"http://e/s{n}", "http://e/p", "http://e/o"), time=n / 100)
        most = max(most, engine.stats()["live_rows"])
    net = network_of(engine).runtime.state.net
    assert 101 < most <= 101 + (layout.PAGE - 1) // net[net[layout.N_SLOTS] + layout.SLOT_ROW_WORDS]


def test_rows_that_are_due_are_not_met_again_and_again() -> None:
    engine = rw.Engine(seed=1, stats=True)
    engine.register(
        "SELECT * FROM STREAM <http://e/s> [RANGE 1s] { ?x <http://e/p> ?a . ?x <http://e/q> ?b . ?x <http://e/r> ?c }",
        keep=0,
    )
    came = 0
    for burst in range(100):  # one q, and five seconds later many p and r in turns: no q that they meet is of use
        engine.push(("http://e/x", "http://e/q", "http://e/o"), time=10 * burst, stream="http://e/s")
        for n in range(30):
            name, time = ("p", "r")[n % 2], 10 * burst + 5 + n / 100
            engine.push(("http://e/x", f"http://e/{name}", "http://e/o"), time=time, stream="http://e/s")
            came += 1
    memories = json.loads(engine.explain("json"))["counts"]["memories"]
    assert sum(each["refused_by_window"] for each in memories) < 2 * came


def test_near_their_bound_rows_are_collected_one_by_one_and_not_all_memories_again_and_again() -> None:
    engine, most = rw.Engine(seed=1, max_live_rows=110), 0
    engine.register(PAIR_TEXT.format("1s"))
    for n in range(1_000):
        engine.push((f"http://e/s{n}", "http://e/p", "http://e/o"), time=n / 100, stream="http://e/s")
        most = max(most, engine.stats()["live_rows"])
    assert most == 101
