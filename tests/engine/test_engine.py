"""The engine's manners, one by one: what it shares, bounds, reclaims, refuses and hands back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.inside import network_of

import retewave as rw
from retewave.engine.registry import CartesianWarning
from retewave.rete.network.records import Network
from retewave.rete.words import layout

E = "http://e/"
PAIR = "SELECT ?x ?y ?z {range} WHERE {{ ?x <http://e/p> ?y . ?x <http://e/q> ?z }}"


def pair(width: str = "5s") -> str:
    return PAIR.format(range=f"FROM STREAM <http://e/s> [RANGE {width}]")


def triple(s: str, p: str, o: object) -> tuple[str, str, object]:
    return E + s, E + p, E + o if isinstance(o, str) else o


# ---- sharing, proved by counts ----
def network(engine: rw.Engine) -> Network:
    return network_of(engine).lowered.network


def test_a_thousand_queries_that_differ_in_a_constant_are_one_network() -> None:
    text = "SELECT ?x {{ ?x a <http://e/T{n}> . ?x <http://e/p> ?y . ?x <http://e/q> <http://e/c{m}> }}"
    engine = rw.Engine()
    queries = [engine.register(text.format(n=n % 100, m=n // 100)) for n in range(1000)]
    built = network(engine)
    assert (len(built.nodes), len(built.alphas), len(built.terminals)) == (1, 3, 1)
    assert len(built.terminals[0].instances) == 1000
    engine.push((E + "a", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", E + "T7"), time=0)
    engine.push(triple("a", "p", 1), time=0)
    (match,) = engine.push(triple("a", "q", "c3"), time=0)
    assert match.query is queries[307]


def test_queries_with_different_windows_share_a_node_and_keep_their_windows() -> None:
    engine = rw.Engine()
    narrow, wide = engine.register(pair("1s")), engine.register(pair("10s"))
    assert len(network(engine).nodes) == 1
    engine.push(triple("a", "p", 1), time=0)
    assert [match.query for match in engine.push(triple("a", "q", 2), time=1)] == [narrow, wide]
    assert [match.query for match in engine.push(triple("a", "q", 3), time=2)] == [wide]


def test_a_longer_pattern_uses_the_join_of_a_shorter_one() -> None:
    engine = rw.Engine()
    engine.register("SELECT * { ?x <http://e/p> ?y . ?x <http://e/q> ?z . }")
    engine.register("SELECT * { ?a <http://e/p> ?b . ?a <http://e/q> ?c . ?c <http://e/r> ?d }")
    assert [len(node.slots) for node in network(engine).nodes] == [2, 2]


def test_a_triple_costs_one_look_up_however_many_patterns_there_are() -> None:
    engine = rw.Engine()
    for n in range(500):
        engine.register(f"SELECT * {{ ?x <http://e/p{n}> ?y . ?y <http://e/q{n}> ?z }}")
    built = network(engine)
    p = engine.terms.find(b"<http://e/p3>")
    assert [key for key in built.keys if key[1] == p] == [(0, p, 0)]
    assert len(built.keys[0, p, 0]) == 1


def test_each_query_tells_its_matches_of_a_batch_in_their_order_and_holds_no_others() -> None:
    engine = rw.Engine()
    queries = [engine.register(pair(width), keep=None) for width in ("5s", "9s")]
    engine.register("SELECT ?x FROM STREAM <http://e/s> [RANGE 5s] { ?x <http://e/p> ?y . ?x <http://e/r> ?z }")
    engine.push([triple("a", "p", 1)], time=0)
    rows = b"".join(b"<http://e/a> <http://e/q> <http://e/z%d> .\n" % n for n in range(1_000))
    (found,) = engine.run_batches(
        rw.read(rows + b"<http://e/a> <http://e/r> <http://e/z> .\n", format="nt", rate=1_000)
    )
    assert [matches.query for matches in found[:2]] == queries
    for query in queries:
        assert [match.text("z") for match in query.matches] == [b"<http://e/z%d>" % n for n in range(1_000)]
    held = [array.base if array.base is not None else array for array in (found[2].ids, found[2].places)]
    assert len(found[2]) == 1 and all(array.nbytes < 100 for array in held)


# ---- memory ----
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


# ---- time ----
def test_late_items_wait_in_the_buffer_and_later_ones_are_counted_and_handed_over() -> None:
    late: list[rw.LateItem] = []
    engine = rw.Engine(lateness="2s", on_late=late.extend)
    engine.register(pair("1s"))
    assert engine.push(triple("a", "p", 1), time=10) == []
    assert engine.push(triple("a", "q", 2), time=9) == []
    (match,) = engine.push(triple("b", "p", 1), time=13)
    assert (match.start, match.end) == (9, 10)
    engine.push(triple("c", "p", 1), time=5)
    assert [(str(item.subject), item.end) for item in late] == [(E + "c", 5)]
    assert engine.stats()["late"] == 1


@pytest.mark.filterwarnings("ignore:.*future:RuntimeWarning")
def test_on_late_is_told_the_interval_the_stream_and_why() -> None:
    late: list[rw.LateItem] = []
    engine = rw.Engine(max_future="1h", on_late=late.extend)
    engine.register(pair("1s"))
    engine.push(triple("a", "p", 1), time=100)
    engine.push(triple("b", "p", 1), time=(3, 5.5), stream=E + "s")
    engine.push(triple("c", "p", 1), time=9000)
    engine.push(triple("d", "p", 1), time=101)
    b, c = late
    assert (b.start, b.end, b.stream, b.why) == (3, 5.5, E + "s", "late")
    assert (c.start, c.end, c.stream, c.why) == (9000, 9000, None, "future")
    assert list(map(str, b.triple)) == [E + "b", E + "p", "1"]


def test_an_item_that_was_late_can_be_pushed_again_as_it_was_handed_over() -> None:
    late: list[rw.LateItem] = []
    engine = rw.Engine(on_late=late.extend)
    query = engine.register(f"SELECT * FROM STREAM <{E}s> {{ ?x <{E}p> ?y }}")
    engine.push(triple("a", "p", 1), time=100, stream=E + "s")
    engine.push(triple("b", "p", 1), time=5, stream=E + "s")
    [item] = late
    assert len(engine.push(item.triple, time=101, stream=item.stream)) == 1
    assert query.matched == 2


def test_an_item_dated_far_in_the_future_does_not_expire_the_state() -> None:
    engine = rw.Engine(max_future="1h")
    engine.register(pair("5s"))
    engine.push(triple("a", "p", 1), time=0)
    engine.push(triple("b", "p", 1), time=1e9)
    with pytest.warns(RuntimeWarning, match="further ahead"):
        assert len(engine.push(triple("a", "q", 2), time=1)) == 1
    assert engine.stats()["future"] == 1


@pytest.mark.parametrize(
    "time",
    [7, 7.5, datetime(2012, 7, 16, 10, tzinfo=UTC), datetime(2012, 7, 16, 10), np.datetime64("2012-07-16T10:00:00")],
)
def test_times_come_out_as_what_went_in(time: Any) -> None:
    engine = rw.Engine()
    engine.register("SELECT * { ?x <http://e/p> ?y }")
    (match,) = engine.push(triple("a", "p", 1), time=time)
    assert match.start == time
    assert type(match.start) is type(time)


def test_an_item_may_have_an_interval() -> None:
    engine = rw.Engine()
    engine.register(pair("5s"))
    engine.push(triple("a", "p", 1), time=(1, 4))
    (match,) = engine.push(triple("a", "q", 2), time=(3, 6))
    assert (match.start, match.end) == (1, 6)
    with pytest.raises(rw.UsageError, match="cannot end"):
        engine.push(triple("a", "p", 1), time=(9, 8))


def test_two_streams_with_rates_are_merged_by_time() -> None:
    engine = rw.Engine()
    engine.register(
        "SELECT ?x FROM STREAM <http://e/1> [RANGE 10ms] FROM STREAM <http://e/2> [RANGE 10ms] "
        "{ ?x <http://e/p> ?y . ?x <http://e/q> ?y }"
    )
    count = 100_000  # several chunks, so that neither reader may run ahead of the other
    first, second = (
        b"".join(b"<http://e/s%d> <http://e/%s> <http://e/o> .\n" % (n, p) for n in range(count)) for p in (b"p", b"q")
    )
    readers = (
        rw.read(first, format="nt", rate=10_000, stream="http://e/1"),
        rw.read(second, format="nt", rate=10_000, stream="http://e/2"),
    )
    assert sum(len(batch) for batches in engine.run_batches(*readers) for batch in batches) == count
    assert engine.stats()["late"] == 0


def test_a_query_hears_only_the_streams_that_it_names() -> None:
    engine = rw.Engine()
    engine.register("SELECT * FROM STREAM <http://e/1> { ?x <http://e/p> ?y }")
    assert len(engine.push(triple("a", "p", 1), time=0, stream="http://e/1")) == 1
    assert engine.push(triple("a", "p", 1), time=0, stream="http://e/2") == []
    assert len(engine.push(triple("a", "p", 1), time=0)) == 1


# ---- queries ----
def test_callbacks_and_columns() -> None:
    engine = rw.Engine()
    seen: list[rw.Match] = []
    query = engine.register("SELECT ?x ?n { ?x <http://e/p> ?n }", on_match=seen.append)
    engine.push([triple("a", "p", 1), triple("b", "p", 2)], time=3)
    assert [match["n"].toPython() for match in seen] == [1, 2]
    assert query.to_arrow().column("x").to_pylist() == ["<http://e/a>", "<http://e/b>"]
    assert query.to_pandas()["start"].tolist() == [3, 3]


def test_only_the_last_matches_are_kept() -> None:
    engine = rw.Engine()
    query = engine.register("SELECT ?n { ?x <http://e/p> ?n }", keep=3)
    for n in range(10):
        engine.push(triple("a", "p", n), time=n)
    assert query.matched == 10
    assert [match["n"].toPython() for match in query.matches] == [7, 8, 9]


def test_bind_and_filters_beyond_the_kernel() -> None:
    engine = rw.Engine()
    engine.register(
        'SELECT ?x ?twice { ?x <http://e/p> ?n . BIND(?n * 2 AS ?twice) FILTER(REGEX(STR(?x), "a$") && ?twice > 5) }'
    )
    assert engine.push(triple("a", "p", 2), time=0) == []
    assert engine.push(triple("b", "p", 4), time=0) == []
    (match,) = engine.push(triple("a", "p", 4), time=0)
    assert match["twice"].toPython() == 8


def test_a_filter_on_one_variable_is_evaluated_once_a_term(monkeypatch: pytest.MonkeyPatch) -> None:
    from retewave.compiler.expressions.evaluate import Evaluator

    calls: list[object] = []
    plain = Evaluator.truth

    def counted(self: Evaluator, bindings: Any) -> Any:
        calls.append(bindings)
        return plain(self, bindings)

    monkeypatch.setattr(Evaluator, "truth", counted)
    engine = rw.Engine()
    query = engine.register('SELECT ?x { ?x <http://e/p> ?n FILTER(REGEX(STR(?x), "[a]$")) }')
    for n in range(20):
        engine.push(triple("a", "p", n), time=n)
        engine.push(triple("b", "p", n), time=n)
    assert query.matched == 20
    assert len(calls) == 2


def test_construct_builds_triples_with_new_blank_nodes_for_every_match() -> None:
    engine = rw.Engine()
    engine.register(
        "CONSTRUCT { _:alarm <http://e/about> ?x ; <http://e/level> ?n . ?n <http://e/bad> ?x } { ?x <http://e/p> ?n }"
    )
    (one,), (other,) = engine.push(triple("a", "p", 1), time=0), engine.push(triple("a", "p", 1), time=0)
    assert [str(p) for _, p, _ in one.triples] == ["http://e/about", "http://e/level"]
    assert one.triples[0][0] == one.triples[1][0]
    assert one.triples[0][0] != other.triples[0][0]


def test_a_cartesian_product_needs_a_leave() -> None:
    engine = rw.Engine()
    text = "SELECT * { ?x <http://e/p> ?y . ?z <http://e/q> ?w }"
    with pytest.raises(rw.QueryError, match=r"share no variable: { \?x <http://e/p> \?y }; { \?z"):
        engine.register(text)
    with pytest.warns(CartesianWarning):
        engine.register(text, allow_cartesian=True)
    engine.push(triple("a", "p", 1), time=0)
    assert len(engine.push(triple("b", "q", 1), time=0)) == 1


def test_a_match_does_not_consume_its_triples() -> None:
    engine = rw.Engine()
    engine.register(pair())
    engine.push(triple("a", "p", 1), time=0)
    assert len(engine.push(triple("a", "q", 1), time=0)) == 1
    assert len(engine.push(triple("a", "q", 2), time=0)) == 1


def test_a_removed_query_is_silent_and_unknown() -> None:
    engine = rw.Engine()
    query = engine.register(pair())
    engine.remove(query)
    engine.push(triple("a", "p", 1), time=0)
    assert engine.push(triple("a", "q", 1), time=0) == []
    with pytest.raises(rw.UsageError, match="is not registered"):
        engine.remove(query)


def test_distinct_remembers_what_it_reported_when_other_queries_come() -> None:
    engine = rw.Engine()
    engine.register("SELECT DISTINCT ?x { ?x <http://e/p> ?y }")
    assert len(engine.push(triple("a", "p", 1), time=0)) == 1
    engine.register("SELECT ?x { ?x <http://e/r> ?y }")
    assert engine.push(triple("a", "p", 2), time=0) == []


def test_equal_names_get_numbers() -> None:
    engine = rw.Engine()
    names = [engine.register("REGISTER QUERY Q AS SELECT * { ?x <http://e/p> ?y }").name for _ in range(3)]
    assert names == ["Q", "Q#2", "Q#3"]


# ---- schema and static data ----
def test_schema_and_static_data_cannot_change_while_the_stream_runs(tmp_path: Path) -> None:
    data = tmp_path / "more.ttl"
    data.write_text("<http://e/a> <http://e/p> 1 .")
    engine = rw.Engine()
    engine.register(pair())
    engine.load(static=data)
    engine.push(triple("a", "q", 1), time=0)
    with pytest.raises(rw.SchemaError, match="snapshot"):
        engine.load(schema=data)
    with pytest.raises(rw.SchemaError, match="snapshot"):
        engine.register(f"SELECT * FROM <{data}> {{ ?x <http://e/r> ?y }}")


def test_a_file_that_a_query_names_is_schema_and_static_data(tmp_path: Path) -> None:
    (tmp_path / "kb.ttl").write_text(
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix : <http://e/> .\n"
        ":hates rdfs:subPropertyOf :knows . :a :likes :b ."
    )
    query = tmp_path / "q.rq"
    query.write_text("SELECT * FROM <kb.ttl> { ?x <http://e/knows> ?y . ?x <http://e/likes> ?y }")
    engine = rw.Engine()
    engine.register(query)
    (match,) = engine.push(triple("a", "hates", "b"), time=5)
    assert (match.start, match.end) == (5, 5)


def test_the_dictionary_has_grown_when_static_data_is_loaded_and_not_while_the_stream_runs() -> None:
    static = b"".join(b"<http://e/s%d> <http://e/p> <http://e/o%d> .\n" % (n, n) for n in range(20_000))
    engine = rw.Engine(static=static)
    engine.register("REGISTER QUERY q AS SELECT * FROM STREAM <http://e/s> [RANGE 1s] WHERE { ?s <http://e/p> ?o }")
    engine.flush()
    before = engine.terms.table
    stream = (b"<http://e/t%d> <http://e/p> <http://e/u%d> .\n" % (n, n) for n in range(15_000))
    assert sum(1 for _ in engine.run(rw.read(stream, rate=1_000))) == 15_000
    assert engine.terms.table.arena is before.arena and engine.terms.table.slots is before.slots


def test_what_static_data_matches_alone_is_reported_before_the_stream() -> None:
    engine = rw.Engine(static=b"<http://e/a> <http://e/p> 1 ; <http://e/q> 2 .")
    engine.register(pair())
    (match,) = engine.flush()
    assert (match.start, match.end) == (None, None)


# ---- snapshots ----
def test_a_snapshot_holds_what_waits_for_late_items_distinct_and_the_schema(tmp_path: Path) -> None:
    schema = b"<http://e/r> <http://www.w3.org/2000/01/rdf-schema#subPropertyOf> <http://e/p> ."
    engine = rw.Engine(schema=schema, lateness="1s")
    engine.register("SELECT DISTINCT ?x FROM STREAM <http://e/s> [RANGE 1h] { ?x <http://e/p> ?y }")
    engine.push(triple("a", "r", 1), time=0)
    engine.push(triple("b", "r", 1), time=5)
    engine.snapshot(tmp_path / "snapshot")
    restored = rw.Engine.restore(tmp_path / "snapshot")
    assert [str(match["x"]) for match in restored.flush()] == [E + "b"]
    restored.push(triple("a", "p", 2), time=7)
    assert restored.flush() == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: data[:40],
        lambda data: b"x" + data,
        lambda data: data[:-9] + b"\1" + data[-8:],
    ],
)
def test_a_damaged_snapshot_is_refused(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    engine = rw.Engine()
    engine.register(pair())
    engine.push(triple("a", "p", 1), time=0)
    path = tmp_path / "snapshot"
    engine.snapshot(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(rw.SnapshotError):
        rw.Engine.restore(path)
    assert [each.name for each in tmp_path.iterdir()] == ["snapshot"]


# ---- bad input ----
@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (("a", "http://e/p", 1), "cannot tell what term 'a' is"),
        (('"x"', "http://e/p", 1), "a literal cannot be a subject"),
        (("http://e/a", "_:p", 1), "only an IRI can be a predicate"),
        ([("http://e/a", "http://e/p")], "a triple has three terms"),
    ],
)
def test_a_bad_triple_is_refused_with_what_is_wrong(bad: Any, said: str) -> None:
    with pytest.raises(rw.UsageError, match=said):
        rw.Engine().push(bad, time=0)


def test_a_bad_line_is_counted_and_reported_and_its_neighbours_are_read() -> None:
    engine = rw.Engine()
    query = engine.register("SELECT * { ?x <http://e/p> ?y }")
    reader = rw.read(b"<http://e/a> <http://e/p> 1 .\n<http://e/b> <http://e/p> <http://e/c> .", format="nt", rate=1)
    assert len(list(engine.run(reader))) == query.matched == 1
    assert reader.counters.malformed == 1
    assert str(reader.counters.first_malformed[0].place) == "<bytes>:1:27"


def test_on_error_raise_stops_at_the_first_bad_line_after_what_was_before_it() -> None:
    engine = rw.Engine()
    query = engine.register("SELECT * { ?x <http://e/p> ?y }")
    lines = b"<http://e/a> <http://e/p> <http://e/c> .\nnonsense\n<http://e/b> <http://e/p> <http://e/c> ."
    with pytest.raises(rw.MalformedInput, match="<bytes>:2:1"):
        list(engine.run(rw.read(lines, format="nt", rate=1, on_error="raise")))
    assert query.matched == 1


def test_a_reader_that_is_left_in_the_middle_lets_the_engine_go_on_from_what_it_had_read() -> None:
    engine = rw.Engine()
    engine.register("SELECT * { ?x <http://e/p> ?y }")
    lines = b"<http://e/a> <http://e/p> <http://e/c> .\n" * 300_000
    matches: Any = engine.run(rw.read(lines, format="nt", rate=1000))
    next(matches)
    matches.close()
    assert engine.matcher.sweeps._readings == []
    before = engine.triples
    assert 0 < before < 300_000
    *rest, last = engine.push(triple("a", "p", 1), time=1000)
    assert last.start == 1000
    assert {match.start for match in rest} <= {n / 1000 for n in range(before)}


# ---- counts ----
def test_stats_tell_of_every_memory_and_join_if_the_network_counts() -> None:
    engine = rw.Engine(stats=True)
    engine.register(pair())
    engine.push(triple("a", "p", 1), time=0)
    engine.push(triple("a", "q", 1), time=0)
    counted = engine.stats()["network"]
    assert [memory["rows_in"] for memory in counted["memories"]] == [1, 1]
    assert [join["hits"] for join in counted["joins"]] == [1]
    assert "network" not in rw.Engine().stats()


# ---- the closure of a schema ----
def test_owlrl_closes_the_schema_within_a_budget_and_tells_how_far_it_is() -> None:
    from retewave.epsilon.schema import Budget

    schema = (
        b"@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix : <http://e/> .\n"
        b":p a owl:ObjectProperty ; owl:equivalentProperty :q . :q owl:equivalentProperty :r ."
    )
    told: list[tuple[int, float]] = []
    engine = rw.Engine(
        schema=schema, closure="owlrl", on_closure=lambda triples, seconds: told.append((triples, seconds))
    )
    engine.register("SELECT * { ?x <http://e/r> ?y }")
    assert len(engine.push(triple("a", "p", "b"), time=0)) == 1
    assert told
    tight = rw.Engine(schema=schema, closure="owlrl", closure_budget=Budget(triples=10))
    tight.register("SELECT * { ?x <http://e/r> ?y }")
    with pytest.raises(rw.SchemaError, match="budget"):
        tight.flush()
