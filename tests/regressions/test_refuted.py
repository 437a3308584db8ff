"""What was once found wrong with the engine: each test failed on the code as it was."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

import pytest
from cases.engine import Case, case_of, engine_for, pushed_one_by_one, shown, written
from helpers.found import LAW, anywhere
from helpers.inside import network_of, sweep
from helpers.refuted import ONE, TWO, ten_subjects, triple
from hypothesis import given

import retewave as rw
from retewave.rete import runtime
from retewave.rete.network.assemble import assemble
from retewave.rete.network.records import Edge, Instance, Network, Node, Slot, Terminal


@pytest.fixture
def pausing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the kernel pause after every row that matches, not after many: as if a block had a great many matches."""
    monkeypatch.setattr(runtime, "MOST_OUTPUT", 1)


# ---- a pour that is left, or that another comes in between ----
@pytest.mark.usefixtures("pausing")
def test_the_rest_of_a_block_is_not_lost_when_a_run_is_left_in_its_middle() -> None:
    engine = rw.Engine()
    query = engine.register(ONE)
    matches = engine.run(ten_subjects())
    next(matches)
    matches.close()  # type: ignore[attr-defined]
    engine.flush()
    assert query.matched == 10


@pytest.mark.usefixtures("pausing")
def test_a_network_that_is_made_while_a_run_is_suspended_loses_no_row_of_the_block() -> None:
    engine = rw.Engine()
    engine.register(ONE)
    pairs = engine.register(TWO)
    matches = engine.run(ten_subjects())
    next(matches)
    engine.register("SELECT * { ?x <http://e/r> ?y . ?x <http://e/q> ?z }")
    engine.explain()
    list(matches)
    for i in range(10):
        engine.push(triple(f"s{i}", "q", "z"), time=20)
    assert pairs.matched == 10


@pytest.mark.usefixtures("pausing")
def test_what_a_callback_pushes_comes_after_the_rows_before_it() -> None:
    engine = rw.Engine()

    def answer(match: rw.Match) -> None:
        if match.text("x") == b"<http://e/s0>":
            engine.push(triple("s5", "q", "z"), time=20)

    engine.register(ONE, on_match=answer)
    pairs = engine.register(TWO)
    list(engine.run(ten_subjects()))
    assert [(match.start, match.end) for match in pairs.matches] == [(5.0, 20.0)]


@pytest.mark.usefixtures("pausing")
def test_a_sweep_spares_the_rows_of_a_block_that_is_half_poured() -> None:
    engine = rw.Engine()
    query = engine.register(ONE)
    matches = engine.run(ten_subjects())
    next(matches)
    sweep(engine)
    for i in range(20):
        engine.terms.intern(b"<http://e/other%d>" % i)
    list(matches)
    assert [match.text("x") for match in query.matches] == [b"<http://e/s%d>" % i for i in range(10)]


@pytest.mark.usefixtures("pausing")
def test_a_snapshot_of_a_suspended_run_holds_the_rest_of_the_block(tmp_path: Path) -> None:
    engine = rw.Engine()
    engine.register(ONE)
    matches = engine.run(ten_subjects())
    next(matches)
    engine.snapshot(tmp_path / "snapshot")
    restored = rw.Engine.restore(tmp_path / "snapshot")
    assert len(restored.flush()) == 9


def test_a_readers_thread_that_asks_what_it_may_drop_makes_no_network() -> None:
    engine = rw.Engine()
    engine.register(ONE)
    before = network_of(engine)
    engine.register(TWO)
    asked = threading.Thread(target=engine.matcher.acceptance)
    asked.start()
    asked.join()
    assert engine.matcher.main is before
    assert network_of(engine) is not before


def test_a_removed_query_is_silent_in_the_middle_of_its_matches() -> None:
    engine = rw.Engine()
    called = []

    def once(match: rw.Match) -> None:
        called.append(match.text("x"))
        engine.remove(match.query)

    engine.register(ONE, on_match=once)
    engine.push([triple("a", "p", "b"), triple("c", "p", "b")], time=1)
    assert called == [b"<http://e/a>"]


# ---- bounds ----
def test_a_pattern_with_as_many_columns_as_a_row_can_have_matches_and_a_wider_one_is_refused() -> None:
    engine = rw.Engine()
    wide = [f"?a <http://e/p{i}> ?x{i}" for i in range(250)]
    query = engine.register("SELECT * { " + " . ".join(wide[:249]) + " }")
    for i in range(249):
        engine.push(triple("a", f"p{i}", f"o{i}"), time=1)
    assert [[match.text(f"x{i}") for i in range(249)] for match in query.matches] == [
        [b"<http://e/o%d>" % i for i in range(249)]
    ]
    with pytest.raises(rw.QueryError, match="251 variables"):
        engine.register("SELECT * { " + " . ".join(wide) + " }")


@pytest.mark.parametrize(("keys", "columns"), [(400, 1), (1, 253)])
def test_a_node_wider_than_the_arenas_groups_or_pages_is_refused(keys: int, columns: int) -> None:
    network = Network(
        slots=[Slot(0, 0, columns), Slot(0, 1, columns)],
        nodes=[Node([0, 1], keys, 0, [], [Edge(1, 0)])],
        terminals=[Terminal((), [Instance(0, 0, 0, ())])],
    )
    with pytest.raises(ValueError, match="too wide"):
        assemble(network, 1)


@pytest.mark.parametrize("bound", [0, -1])
def test_a_bound_on_live_rows_that_nothing_can_keep_is_refused(bound: int) -> None:
    with pytest.raises(rw.UsageError, match="max_live_rows"):
        rw.Engine(max_live_rows=bound, at_limit="shed")


@pytest.mark.parametrize("number", [-1, 0, 1 << 13, 1 << 40])
def test_numbers_that_are_no_ids_are_refused(number: int) -> None:
    engine = rw.Engine()
    engine.register("SELECT * { ?x <http://e/p> ?y FILTER(?y > 3) }")
    ids = engine.encode([triple("a", "p", "b")])
    ids[0, 2] = number
    with pytest.raises(rw.UsageError, match="no term's id"):
        engine.push(ids, time=1)


# ---- blank nodes that an expression makes ----
def test_a_labels_blank_node_is_one_in_all_of_a_match_and_another_in_every_other() -> None:
    engine = rw.Engine()
    engine.register(
        'SELECT ?x ?one ?other ?b { ?x <http://e/p> ?y BIND(BNODE("a") AS ?one) BIND(BNODE(STR("a")) AS ?other)'
        ' BIND(BNODE("b") AS ?b) FILTER(?one = BNODE("a")) }'
    )
    matches = engine.push([triple("s1", "p", "o"), triple("s2", "p", "o")], time=1)
    assert [match.text("one") == match.text("other") != match.text("b") for match in matches] == [True, True]
    assert len({match.text("one") for match in matches}) == 2


# ---- all of it at once ----
@LAW
@given(case_of())
def test_a_sweep_before_every_row_and_a_pause_after_every_match_change_nothing(case: Case) -> None:
    plain, _ = engine_for(case)
    swept, query = engine_for(case)
    swept.flush()
    most = runtime.MOST_OUTPUT
    runtime.MOST_OUTPUT = 1
    try:
        for place, item in enumerate(case.stream):
            freed = sweep(swept)
            for number in range(freed):
                swept.terms.intern(b"<http://e/other%d.%d>" % (place, number))  # takes a reclaimed id
            swept.push(written(item.triple), time=(item.start / 1e6, item.end / 1e6), stream=item.stream)
    finally:
        runtime.MOST_OUTPUT = most
    found = Counter(shown(match, 0, case.query.distinct) for match in query.matches)
    assert anywhere(found) == anywhere(pushed_one_by_one(plain, case))


# ---- queries that come and go ----
def test_the_constants_of_removed_queries_leave_the_dictionary() -> None:
    engine = rw.Engine(seed=1)
    kept = engine.register("SELECT ?x { ?x <http://e/p> <http://e/kept> FILTER(?x != <http://e/other>) }")
    engine.push(triple("s", "p", "kept"), time=0)
    sweep(engine)
    before = len(engine.terms)
    for number in range(40):
        guest = engine.register(
            f"SELECT ?x {{ ?x <http://e/p{number}> <http://e/o{number}> . VALUES ?x {{ <http://e/v{number}> }} "
            f"FILTER(?x != <http://e/f{number}>) }}"
        )
        engine.push(triple("s", "p", "kept"), time=1 + number)
        engine.remove(guest)
    engine.push(triple("s", "p", "kept"), time=100)
    sweep(engine)
    assert len(engine.terms) == before
    assert engine.terms.find(b"<http://e/kept>") and engine.terms.find(b"<http://e/other>")
    assert kept.matched == 42


def test_a_constant_stays_while_one_of_several_queries_has_it(tmp_path: Path) -> None:
    engine = rw.Engine(seed=1)
    one = engine.register("SELECT ?x { ?x <http://e/p> <http://e/shared> }")
    other = engine.register("SELECT ?x { ?x <http://e/q> <http://e/shared> }")
    engine.push(triple("s", "r", "o"), time=0)
    engine.remove(one)
    engine.push(triple("s", "r", "o"), time=1)
    sweep(engine)
    assert engine.terms.find(b"<http://e/shared>")
    engine.snapshot(tmp_path / "one.snapshot")
    restored = rw.Engine.restore(tmp_path / "one.snapshot")
    (again,) = restored.queries
    for each, query in ((engine, other), (restored, again)):
        each.remove(query)
        each.push(triple("s", "r", "o"), time=2)
        sweep(each)
        assert not each.terms.find(b"<http://e/shared>")
