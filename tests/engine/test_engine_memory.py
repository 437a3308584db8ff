"""What an engine holds: rows and terms go when nothing needs them, and bounds are kept without a loss."""

from __future__ import annotations

import pytest
from helpers.inside import network_of
from helpers.pairs import pair, triple

import retewave as rw
from retewave.rete.words import layout


def test_rows_that_can_no_longer_match_are_collected() -> None:
    engine = rw.Engine()
    engine.register(pair("1s"))
    lines = b"".join(b"<http://e/s%d> <http://e/p> <http://e/o> .\n" % n for n in range(50_000))
    assert list(engine.run(rw.read(lines, format="nt", rate=10_000))) == []
    network_of(engine).runtime.collect()
    assert engine.stats()["live_rows"] == 10_001


def test_terms_that_nothing_uses_are_reclaimed_and_matches_somebody_holds_stay_readable() -> None:
    engine = rw.Engine()
    engine.register(
        "SELECT ?x FROM STREAM <http://e/s> [RANGE 100ms] { ?x <http://e/p> ?y . ?x <http://e/q> ?y }", keep=0
    )
    lines = b"".join(
        b"<http://e/s%d> <http://e/%s> <http://e/o%d> .\n" % (n, p, n) for n in range(500_000) for p in (b"p", b"q")
    )
    held: list[rw.Match] = []
    for match in engine.run(rw.read(lines, format="nt", rate=10_000)):
        if len(held) < 10:
            held.append(match)
    assert len(engine.terms) < 500_000  # of a million; 131,072 are scanned ahead, and as many come between two sweeps
    assert [str(match["x"]) for match in held] == [f"http://e/s{n}" for n in range(10)]


def test_the_bound_on_live_rows_stops_the_engine_and_nothing_is_lost() -> None:
    engine = rw.Engine(max_live_rows=10)
    engine.register(pair("1h"))
    greedy = engine.register("SELECT * FROM STREAM <http://e/s> [RANGE 1h] { ?x <http://e/p> ?y . ?z <http://e/r> ?y }")
    for n in range(5):
        engine.push(triple(f"s{n}", "p", n), time=n)
    with pytest.raises(rw.LimitError, match="10 live rows"):
        engine.push(triple("s5", "p", 5), time=5)
    engine.remove(greedy)
    (match,) = engine.push(triple("s5", "q", 6), time=6)
    assert (match.start, match.end) == (5, 6)


def test_at_the_bound_the_oldest_rows_are_shed_and_counted_if_the_user_says_so() -> None:
    engine = rw.Engine(max_live_rows=100, at_limit="shed")
    engine.register(pair("1h"))
    for n in range(1000):
        engine.push(triple(f"s{n}", "p", n), time=n)
    stats = engine.stats()
    assert stats["live_rows"] <= 100
    assert stats["shed"] == 1000 - stats["live_rows"]
    assert len(engine.push(triple("s999", "q", 1), time=1000)) == 1
    assert engine.push(triple("s0", "q", 1), time=1000) == []


def test_an_arena_that_may_grow_no_further_is_an_error_and_no_damage() -> None:
    engine = rw.Engine()
    engine.register(pair("1h"))
    network_of(engine).runtime.arena[layout.A_MOST_WORDS] = 1 << 14
    with pytest.raises(rw.LimitError, match="the most that one network can hold"):
        for n in range(100_000):
            engine.push(triple(f"s{n}", "p", n), time=0)
    assert engine.stats()["live_rows"] > 100


def test_what_a_full_arena_has_stopped_goes_in_once_when_there_is_room() -> None:
    engine = rw.Engine()
    engine.register(pair("1h"))
    arena = network_of(engine).runtime.arena
    most, arena[layout.A_MOST_WORDS] = int(arena[layout.A_MOST_WORDS]), 1 << 14
    with pytest.raises(rw.LimitError, match="the most that one network can hold"):
        engine.push([triple(f"s{n}", "p", n) for n in range(5_000)], time=0)
    network_of(engine).runtime.arena[layout.A_MOST_WORDS] = most
    assert engine.push([], time=0) == []
    assert len(engine.push([triple(f"s{n}", "q", n) for n in range(5_000)], time=0)) == 5_000
