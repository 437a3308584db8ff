"""The Sparkwave paper's own examples through the public API: Listing 1, Figure 2 and Figure 3."""

from __future__ import annotations

import pytest

import retewave as rw
from retewave.engine.registry import CartesianWarning

N = "http://example.org/"

# Listing 1 (a): subject, predicate, object, time
STREAM = [
    ("t11", "a", "b", 10),
    ("t21", "m", "n", 20),
    ("t12", "a", "b", 40),
    ("t11", "c", "t21", 60),
    ("t22", "m", "n", 60),
    ("t21", "l", "o", 70),
    ("t12", "c", "t22", 80),
    ("t22", "l", "o", 90),
    ("t31", "p", "q", 120),
    ("t32", "p", "q", 170),
]
LISTING_1 = "SELECT ?x ?y WHERE { ?x :a :b . ?x :c ?y . ?y :m :n }"


def query(text: str, seconds: int | None = None) -> str:
    window = "" if seconds is None else f"FROM STREAM <{N}stream> [RANGE {seconds}s] "
    return f"PREFIX : <{N}> " + text.replace("WHERE", window + "WHERE")


def found(engine: rw.Engine) -> list[tuple]:
    """Pour in the stream; return each match with its interval and the time at which it was reported."""
    return [
        (*(str(match[name]).removeprefix(N) for name in match), match.start, match.end, time)
        for s, p, o, time in STREAM
        for match in engine.push((N + s, N + p, N + o), time=time)
    ]


def test_listing_1_has_two_matches_with_the_papers_intervals() -> None:
    engine = rw.Engine()
    engine.register(query(LISTING_1))
    assert found(engine) == [("t11", "t21", 10, 60, 60), ("t12", "t22", 40, 80, 80)]


def test_window_of_listing_1_is_closed() -> None:
    engine = rw.Engine()
    for seconds in (50, 49, 40, 39):
        engine.register(query(LISTING_1, seconds), name=f"within {seconds}")
    found(engine)
    matched = {each.name: each.matched for each in engine.queries}
    assert matched == {"within 50": 2, "within 49": 1, "within 40": 1, "within 39": 0}


def test_figure_2_tokens_of_its_beta_memories_are_the_matches_of_the_patterns_parts() -> None:
    engine = rw.Engine()
    engine.register(query("SELECT ?x WHERE { ?x :a :b }"), name="first")
    engine.register(query("SELECT ?x ?y WHERE { ?x :a :b . ?x :c ?y }"), name="second")
    engine.register(query(LISTING_1), name="third")
    tokens = {"first": [], "second": [], "third": []}  # type: dict[str, list[tuple]]
    for s, p, o, time in STREAM:
        for match in engine.push((N + s, N + p, N + o), time=time):
            bound = (str(match[name]).removeprefix(N) for name in match)
            tokens[match.query.name].append((*bound, match.start, match.end))
    assert tokens["first"] == [("t11", 10, 10), ("t12", 40, 40)]
    assert tokens["second"] == [("t11", "t21", 10, 60), ("t12", "t22", 40, 80)]
    assert tokens["third"] == tokens["second"]


def test_figure_3_widens_the_interval_of_a_partial_match_with_each_triple() -> None:
    # (a): the token of the first two triples spans (10, 20); (b): with the third, (10, 60).
    engine = rw.Engine()
    with pytest.warns(CartesianWarning):
        engine.register(query("SELECT ?x ?y WHERE { ?x :a :b . ?y :m :n }"), name="a", allow_cartesian=True)
    engine.register(query(LISTING_1), name="b")
    intervals = {"a": [], "b": []}  # type: dict[str, list[tuple]]
    for s, p, o, time in STREAM[:4]:
        for match in engine.push((N + s, N + p, N + o), time=time):
            intervals[match.query.name].append((match.start, match.end))
    assert intervals["a"][0] == (10, 20)
    assert intervals["b"] == [(10, 60)]


def test_triples_that_arrive_in_another_order_give_the_same_intervals() -> None:
    engine = rw.Engine(lateness=200)
    engine.register(query(LISTING_1))
    pushed = [match for s, p, o, time in STREAM[::-1] for match in engine.push((N + s, N + p, N + o), time=time)]
    assert pushed == []
    assert [(match.start, match.end) for match in engine.flush()] == [(10, 60), (40, 80)]
