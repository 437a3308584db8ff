"""What was once found wrong with the engine: each test failed on the code as it was."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from cases.engine import Case, case_of, engine_for, pushed_one_by_one, shown, written
from helpers.inside import network_of, sweep
from hypothesis import given
from laws.test_engine_laws import LAW, anywhere

import retewave as rw
from retewave.engine import lanes, pump
from retewave.engine.lanes import Lane
from retewave.io.reading.position import BEGINNING
from retewave.rete import runtime
from retewave.rete.network.assemble import assemble
from retewave.rete.network.records import Edge, Instance, Network, Node, Slot, Terminal
from retewave.rete.words.rows import END, ROW_WIDTH
from retewave.windows.doubt import FAR, Doubt

ONE = "SELECT ?x { ?x <http://e/p> ?y }"
TWO = "SELECT ?x ?y ?z { ?x <http://e/p> ?y . ?x <http://e/q> ?z }"
SUB_PROPERTY = b"<http://e/%s> <http://www.w3.org/2000/01/rdf-schema#subPropertyOf> <http://e/p> ."


def triple(s: str, p: str, o: str) -> tuple[str, str, str]:
    return f"http://e/{s}", f"http://e/{p}", f"http://e/{o}"


def ten_subjects() -> rw.Reader:
    """Return a reader of <s0> <p> <o> to <s9> <p> <o>, a second apart from 0 on."""
    lines = "\n".join(f"<http://e/s{i}> <http://e/p> <http://e/o> ." for i in range(10))
    return rw.read(lines.encode(), format="nt", rate=1)


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


# ---- what a new query finds ----
def test_a_sweep_spares_what_a_new_query_has_found_and_not_reported() -> None:
    engine = rw.Engine()
    pairs = engine.register(TWO)
    engine.push(triple("a", "p", "b"), time=1)
    engine.remove(pairs)
    engine.register(ONE)
    sweep(engine)
    engine.terms.intern(b"<http://e/other>")
    assert [match.text("x") for match in engine.push(triple("k", "n", "z"), time=2)] == [b"<http://e/a>"]


def test_a_snapshot_keeps_what_a_new_query_has_found_and_not_reported(tmp_path: Path) -> None:
    engine = rw.Engine(static=[[triple("a", "p", "b")]])
    engine.register(ONE)
    engine.snapshot(tmp_path / "snapshot")
    restored = rw.Engine.restore(tmp_path / "snapshot")
    assert [match.text("x") for match in engine.flush()] == [b"<http://e/a>"]
    assert [match.text("x") for match in restored.flush()] == [b"<http://e/a>"]
    assert engine.flush() == restored.flush() == []


def test_static_data_that_comes_after_the_first_report_is_reported_too() -> None:
    engine = rw.Engine(static=[[triple("a", "p", "b")]])
    engine.register(ONE)
    assert len(engine.flush()) == 1
    engine.load(static=[[triple("c", "p", "b")]])
    assert [match.text("x") for match in engine.flush()] == [b"<http://e/c>"]
    assert engine.flush() == []


def test_static_data_that_comes_after_the_first_report_is_reported_by_the_first_push() -> None:
    engine = rw.Engine(static=[[triple("a", "p", "b")]])
    engine.register(ONE)
    engine.flush()
    engine.load(static=[[triple("c", "p", "b")]])
    assert [match.text("x") for match in engine.push(triple("d", "p", "b"), time=1)] == [
        b"<http://e/c>",
        b"<http://e/d>",
    ]
    engine.register(TWO)  # another network: what was told stays told
    assert engine.flush() == []


def test_a_schema_that_comes_after_the_first_report_lets_static_data_match_that_did_not() -> None:
    engine = rw.Engine(static=[[triple("a", "p", "b"), triple("c", "r", "b")]])
    engine.register(ONE)
    assert len(engine.flush()) == 1
    engine.load(schema=[SUB_PROPERTY % b"r"])
    assert [match.text("x") for match in engine.flush()] == [b"<http://e/c>"]


@pytest.mark.parametrize("distinct", ["", "DISTINCT "])
def test_equal_static_matches_are_counted_in_what_is_reported_anew(distinct: str) -> None:
    engine = rw.Engine(static=[[triple("a", "p", "b"), triple("a", "p", "c")]])
    engine.register(f"SELECT {distinct}?x {{ ?x <http://e/p> ?y }}")
    engine.register(TWO)  # wider output rows
    found = []
    for more in [[], [triple("a", "p", "d")], [triple("a", "p", "e"), triple("f", "p", "e")]]:
        engine.load(static=[more])
        found.append([match.text("x") for match in engine.flush()])
    a, f = b"<http://e/a>", b"<http://e/f>"
    assert found == ([[a, a], [a], [a, f]] if not distinct else [[a], [], [f]])


def test_static_data_that_comes_after_a_snapshot_is_reported_alone(tmp_path: Path) -> None:
    engine = rw.Engine(static=[[triple("a", "p", "b")]])
    engine.register(ONE)
    engine.flush()
    engine.snapshot(tmp_path / "snapshot")
    restored = rw.Engine.restore(tmp_path / "snapshot")
    restored.load(static=[[triple("c", "p", "b")]])
    assert [match.text("x") for match in restored.flush()] == [b"<http://e/c>"]


# ---- snapshots ----
def test_static_data_and_schema_of_a_snapshot_stay_when_more_is_loaded(tmp_path: Path) -> None:
    engine = rw.Engine(static=[[triple("a", "p", "b")]], schema=[SUB_PROPERTY % b"r"])
    engine.snapshot(tmp_path / "snapshot")
    restored = rw.Engine.restore(tmp_path / "snapshot")
    restored.load(static=[[triple("c", "p", "b")]], schema=[SUB_PROPERTY % b"w"])
    restored.register(ONE)
    assert {match.text("x") for match in restored.flush()} == {b"<http://e/a>", b"<http://e/c>"}
    assert [len(restored.push(triple("a", p, "b"), time=1)) for p in "rw"] == [1, 1]


@pytest.mark.parametrize("option", [{"seed": 2}, {"static": [[triple("a", "p", "b")]]}, {"schema": []}])
def test_restore_refuses_what_the_snapshot_decides(tmp_path: Path, option: dict[str, Any]) -> None:
    rw.Engine(seed=1).snapshot(tmp_path / "snapshot")
    with pytest.raises(rw.UsageError, match=next(iter(option))):
        rw.Engine.restore(tmp_path / "snapshot", **option)


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


# ---- readers ----
def test_a_reader_that_has_ended_holds_the_others_back_until_its_last_chunk_is_taken() -> None:
    def rows(*times: int) -> np.ndarray:
        found = np.zeros((len(times), ROW_WIDTH), dtype=np.int64)
        found[:, END] = times
        return found

    changed = threading.Condition()
    reader: Any = SimpleNamespace(rate=1.0, time_property=None)
    ended, other = (Lane(reader, 0, 0, changed, threading.Lock()) for _ in range(2))
    ended.rows, ended.ended = rows(1, 2), True
    last: Any = SimpleNamespace(rows=rows(3, 4), triples=2, scanned=BEGINNING, times={})
    ended.chunks.append(last)
    other.rows, other.ended = rows(5, 6), True
    of_all = pump._Pump([ended, other], changed, Doubt(FAR))
    assert of_all._merged()[:, END].tolist() == [1, 2]
    assert [time for arrived in of_all.arrivals() for time in arrived.rows[:, END].tolist()] == [3, 4, 5, 6]


class Silent:
    """A source that brings nothing until it is told to."""

    def __init__(self) -> None:
        self.asked, self.released = threading.Event(), threading.Event()

    def __iter__(self) -> Iterator[bytes]:
        yield b"<http://e/s> <http://e/p> <http://e/o> .\n"
        self.asked.set()
        self.released.wait(30)
        yield b"<http://e/late> <http://e/p> <http://e/o> .\n"


class Counted:
    """A source of so many triples, each in a piece, and so a chunk, of its own."""

    def __init__(self, count: int, of: str = "s") -> None:
        self.count, self.of, self.taken = count, of.encode(), 0

    def __iter__(self) -> Iterator[bytes]:
        while self.taken < self.count:
            self.taken += 1
            yield b"<http://e/%s%d> <http://e/p> <http://e/o> .\n" % (self.of, self.taken)


@pytest.fixture(params=["a thread reads", "the caller reads"])
def reading(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one triple at once be enough for a thread, or nothing."""
    monkeypatch.setattr(lanes, "MUCH", 1 if request.param == "a thread reads" else 1 << 40)


@pytest.mark.usefixtures("reading")
def test_what_was_scanned_ahead_waits_when_the_bound_on_live_rows_ends_a_run() -> None:
    engine = rw.Engine(max_live_rows=3)
    seen = engine.register(ONE)
    pairs = engine.register(TWO)
    source = Counted(50)
    with pytest.raises(rw.LimitError, match="3 live rows"):
        list(engine.run(rw.read(source, format="nt", rate=1)))
    assert source.taken == engine.triples == seen.matched + len(engine.matcher.waiting) < 50
    engine.remove(pairs)
    engine.flush()
    assert [match.text("x") for match in seen.matches] == [b"<http://e/s%d>" % (1 + i) for i in range(source.taken)]


@pytest.mark.usefixtures("reading")
def test_what_was_scanned_ahead_waits_when_a_run_is_left() -> None:
    engine = rw.Engine()
    query, source = engine.register(ONE), Counted(50)
    matches = engine.run(rw.read(source, format="nt", rate=1))
    next(matches)
    matches.close()  # type: ignore[attr-defined]
    engine.flush()
    assert query.matched == engine.triples == source.taken


def test_the_threads_of_a_run_that_is_left_have_ended() -> None:
    engine = rw.Engine()
    engine.register(ONE)
    before = set(threading.enumerate())
    matches = engine.run(*(rw.read(Counted(500, each), format="nt", rate=1) for each in "abc"))
    next(matches)
    assert set(threading.enumerate()) > before
    matches.close()  # type: ignore[attr-defined]
    assert set(threading.enumerate()) == before


@pytest.mark.usefixtures("reading")
def test_the_threads_have_ended_when_a_callback_ends_a_run_and_its_error_is_kept() -> None:
    def broken(match: rw.Match) -> None:
        raise ValueError("broken")

    engine = rw.Engine()
    engine.register(ONE, on_match=broken)
    before = set(threading.enumerate())
    with pytest.raises(ValueError, match="broken"):
        list(engine.run(rw.read(Counted(500), format="nt", rate=1)))
    assert set(threading.enumerate()) == before


def test_a_source_that_is_silent_does_not_keep_a_run_from_being_left_and_is_read_no_further(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lanes, "MUCH", 1)
    engine, silent = rw.Engine(), Silent()
    query = engine.register(ONE)
    before = set(threading.enumerate())
    matches = engine.run(rw.read(silent, format="nt", rate=1))
    next(matches)
    assert silent.asked.wait(30)
    matches.close()  # type: ignore[attr-defined]
    (reading,) = set(threading.enumerate()) - before
    silent.released.set()
    reading.join(30)
    assert not reading.is_alive()
    engine.flush()
    assert query.matched == engine.triples == 1
    assert engine.terms.find(b"<http://e/late>") == 0


def test_no_triple_of_several_readers_is_late_for_having_been_scanned_beside_another() -> None:
    engine = rw.Engine()
    query = engine.register(ONE)
    for _ in engine.run(*(rw.read(Counted(300, each), format="nt", arrival=True) for each in "abc")):
        pass
    assert (query.matched, engine.order.late) == (900, 0)


@pytest.mark.parametrize("times", [{"rate": 1}, {"arrival": True}])
def test_the_first_error_of_several_readers_reaches_the_caller_and_the_others_end(times: dict[str, Any]) -> None:
    engine, silent = rw.Engine(), Silent()
    query = engine.register(ONE)
    before = set(threading.enumerate())
    good = b"<http://e/good> <http://e/p> <http://e/o> .\n"
    with pytest.raises(rw.MalformedInput, match="expected"):
        list(
            engine.run(
                rw.read(silent, format="nt", **times),
                rw.read([good, b"no triple\n"], format="nt", on_error="raise", **times),
                rw.read(Counted(500), format="nt", on_error="raise", **times),
            )
        )
    silent.released.set()
    for thread in set(threading.enumerate()) - before:
        thread.join(30)
    assert set(threading.enumerate()) == before
    engine.flush()
    assert b"<http://e/good>" in {match.text("x") for match in query.matches}
    assert query.matched == engine.triples


# ---- what the schema states by itself ----
def test_a_variable_that_occurs_twice_is_one_term_in_what_the_schema_states_too() -> None:
    engine = rw.Engine(
        schema=[
            b"@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix : <http://e/> . [ owl:oneOf (:v) ] "
            b"<http://www.w3.org/2000/01/rdf-schema#subClassOf> :C ."
        ]
    )
    engine.register("SELECT ?x { ?x a ?y }")
    engine.register("SELECT ?x { ?x a ?x }", name="itself")
    assert {match.query.name for match in engine.flush()} == {"query1"}


def test_a_query_that_names_a_file_the_snapshot_has_read_can_be_registered_after_restore(tmp_path: Path) -> None:
    (tmp_path / "data.ttl").write_text("<http://e/a> <http://e/p> <http://e/b> .")
    text = f"SELECT ?x FROM <{tmp_path}/data.ttl> {{ ?x <http://e/p> ?y }}"
    engine = rw.Engine()
    engine.register(text)
    engine.push(triple("a", "n", "b"), time=1)
    engine.snapshot(tmp_path / "snapshot")
    restored = rw.Engine.restore(tmp_path / "snapshot")
    restored.register(text)
    assert [match.text("x") for match in restored.flush()] == [b"<http://e/a>"]


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
