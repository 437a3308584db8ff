"""Views by name: bounds, gaps, phases, empty windows, late items, changes of content, and what is told of a report."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import retewave as rw

E = "http://e/"
PREFIX = f"PREFIX : <{E}> "
Told = list[tuple[float, float, list[dict[str, str]]]]

pytestmark = pytest.mark.filterwarnings("ignore::retewave.engine.accepting.UnboundedWarning")


def run(text: str, *items: tuple[float, str, str, object], stream: str = "s", **options: object) -> Told:
    """Return the reports of a view: start and time, and rows."""
    engine = rw.Engine(**options)  # type: ignore[arg-type]
    query = engine.register(PREFIX + text)
    for time, subject, predicate, value in items:
        engine.push((E + subject, E + predicate, value), time=time, stream=E + stream)
    engine.flush()
    return reports_of(engine, query)


def reports_of(engine: rw.Engine, query: rw.Query) -> Told:
    found: Told = []
    for report in engine.reports(query):
        rows = [{name: str(value).removeprefix(E) for name, value in match.items()} for match in report]
        (start,) = {match.start for match in report} or {None}
        found.append((start, report.time, rows))  # type: ignore[arg-type]
    return found


def counts(told: Told) -> list[tuple[float, str]]:
    return [(time, rows[0]["n"]) for _, time, rows in told]


COUNT = "SELECT (COUNT(*) AS ?n) FROM STREAM :s [{}] {{ ?x :p ?y }}"


def test_a_window_is_open_at_its_older_end_and_closed_at_its_newer_end() -> None:
    items = [(0, "a", "p", 1), (5, "b", "p", 1), (10, "c", "p", 1), (15, "d", "p", 1)]
    assert counts(run(COUNT.format("RANGE 10s STEP 5s"), *items)) == [(0, "1"), (5, "2"), (10, "2"), (15, "2")]


def test_steps_are_counted_from_the_phase_in_both_directions() -> None:
    told = run(COUNT.format("RANGE 10s STEP 5s STARTING AT 102s"), (1, "a", "p", 1), (9, "b", "p", 1))
    assert counts(told) == [(2, "1"), (7, "1")]


def test_a_gap_costs_nothing_and_its_first_empty_report_is_told() -> None:
    told = run(COUNT.format("RANGE 2s STEP 1s"), (1, "a", "p", 1), (1_000_000, "b", "p", 1))
    assert counts(told) == [(1, "1"), (2, "1"), (3, "0"), (1_000_000, "1")]


def test_non_empty_leaves_out_empty_reports() -> None:
    text = "SELECT (COUNT(*) AS ?n) FROM STREAM :s [RANGE 2s STEP 1s] REPORT WINDOW CLOSE NON EMPTY { ?x :p ?y }"
    assert counts(run(text, (1, "a", "p", 1), (9, "b", "p", 1))) == [(1, "1"), (2, "1"), (9, "1")]


def test_a_triple_that_comes_again_lives_longer_and_is_there_once() -> None:
    told = run(
        COUNT.format("RANGE 5s STEP 2s"), (1, "a", "p", 1), (4, "a", "p", 1), (9, "b", "q", 1), (11, "z", "p", 1)
    )
    assert counts(told) == [(2, "1"), (4, "1"), (6, "1"), (8, "1"), (10, "0")]


def test_a_report_is_told_when_the_clock_is_beyond_its_time() -> None:
    engine = rw.Engine()
    query = engine.register(PREFIX + COUNT.format("RANGE 10s STEP 5s"))
    triple = (E + "a", E + "p", 1)
    assert not engine.push(triple, time=4, stream=E + "s") and not engine.push(triple, time=5, stream=E + "s")
    assert [match.end for match in engine.push(triple, time=5.5, stream=E + "s")] == [5]
    assert not engine.advance(10)
    assert [match.end for match in engine.advance(10.5)] == [10]
    assert query.matched == 2


def test_rows_have_the_opening_of_the_window_and_the_time_of_the_report() -> None:
    told = run("SELECT ?x FROM STREAM :s [RANGE 10s STEP 5s] { ?x :p ?y }", (7, "a", "p", 1))
    assert told == []
    told = run("SELECT ?x FROM STREAM :s [RANGE 10s STEP 5s] { ?x :p ?y }", (7, "a", "p", 1), (10, "b", "p", 1))
    assert told == [(0, 10, [{"x": "a"}, {"x": "b"}])]


def test_late_items_enter_the_windows_that_are_still_open() -> None:
    items = [(1, "a", "p", 1), (6, "b", "p", 1), (4, "c", "p", 1), (12, "d", "p", 1)]
    assert counts(run(COUNT.format("RANGE 5s TUMBLING"), *items, lateness=3)) == [(5, "2"), (10, "1")]


def test_content_change_reports_what_enters_and_what_leaves() -> None:
    told = run(COUNT.format("RANGE 5s"), (1, "a", "p", 1), (2, "a", "p", 1), (3, "b", "p", 1), (9, "c", "q", 1))
    assert counts(told) == [(1, "1"), (3, "2"), (7, "1"), (8, "0")]


def test_a_triple_that_leaves_and_enters_at_one_time_is_no_change() -> None:
    told = run(COUNT.format("RANGE 5s"), (1, "a", "p", 1), (6, "a", "p", 1), (20, "z", "q", 1))
    assert counts(told) == [(1, "1"), (11, "0")]


def test_new_rows_and_rows_that_are_gone_are_counted() -> None:
    items = [(1, "a", "p", 1), (2, "b", "p", 1), (6, "a", "p", 2), (11, "z", "q", 1)]
    new = run("REGISTER ISTREAM :o AS SELECT ?x FROM STREAM :s [RANGE 5s STEP 5s] { ?x :p ?y }", *items)
    gone = run("REGISTER DSTREAM :o AS SELECT ?x FROM STREAM :s [RANGE 5s STEP 5s] { ?x :p ?y }", *items)
    assert [(time, [row["x"] for row in rows]) for _, time, rows in new] == [(5, ["a", "b"]), (10, [])]
    assert [(time, [row["x"] for row in rows]) for _, time, rows in gone] == [(5, []), (10, ["b"])]


def test_ask_tells_one_empty_row_or_none() -> None:
    text = "ASK FROM STREAM :s [RANGE 5s STEP 5s] { ?x :p 2 }"
    assert [
        (time, len(rows)) for _, time, rows in run(text, (1, "a", "p", 1), (6, "b", "p", 2), (11, "c", "p", 1))
    ] == [
        (5, 0),
        (10, 1),
    ]


def test_an_answer_that_was_yes_before_is_not_new() -> None:
    items = [(1, "a", "p", 1), (6, "b", "p", 1), (11, "c", "q", 1), (20, "z", "q", 1)]
    new, gone = (
        run(f"REGISTER {told} :o AS ASK FROM STREAM :s [RANGE 8s STEP 5s] {{ ?x :p ?y }}", *items)
        for told in ("ISTREAM", "DSTREAM")
    )
    assert [(time, len(rows)) for _, time, rows in new] == [(5, 1), (10, 0), (15, 0)]
    assert [(time, len(rows)) for _, time, rows in gone] == [(5, 0), (10, 0), (15, 1)]


def test_a_named_window_sees_no_background_and_other_patterns_no_window() -> None:
    text = "SELECT ?x ?r FROM NAMED WINDOW :w ON :s [RANGE 5s STEP 5s] { WINDOW :w { ?x :p ?y } ?x :in ?r }"
    static = [
        (f"<{E}a>", f"<{E}in>", f"<{E}hall>"),
        (f"<{E}b>", f"<{E}p>", f"<{E}c>"),
        (f"<{E}b>", f"<{E}in>", f"<{E}den>"),
    ]
    told = run(text, (1, "a", "p", 1), (2, "a", "in", E + "yard"), (5, "z", "p", 1), static=static)
    assert [rows for *_, rows in told] == [[{"x": "a", "r": "hall"}]]


def test_two_windows_on_one_stream_have_their_own_widths() -> None:
    text = """SELECT (COUNT(DISTINCT ?x) AS ?n) (COUNT(DISTINCT ?y) AS ?m)
        FROM NAMED WINDOW :short ON :s [RANGE 2s STEP 2s] FROM NAMED WINDOW :long ON :s [RANGE 10s STEP 2s]
        { { WINDOW :short { ?x :p ?a } } UNION { WINDOW :long { ?y :p ?b } } }"""
    told = run(text, (1, "a", "p", 1), (4, "b", "p", 1), (6, "c", "p", 1))
    assert [(time, rows[0]["n"], rows[0]["m"]) for _, time, rows in told] == [
        (2, "1", "1"),
        (4, "1", "2"),
        (6, "1", "3"),
    ]


def test_every_report_is_given_to_the_callback() -> None:
    engine, got = rw.Engine(), list[tuple[object, int]]()
    text = PREFIX + "SELECT ?x FROM STREAM :s [RANGE 2s STEP 2s] { ?x :p ?y }"
    engine.register(text, on_report=lambda report: got.append((report.time, len(report))))
    for time in (1, 6):
        engine.push((E + "a", E + "p", 1), time=time, stream=E + "s")
    engine.flush()
    assert got == [(2, 1), (4, 0), (6, 1)]


def test_the_table_is_the_latest_report() -> None:
    engine = rw.Engine()
    query = engine.register(
        PREFIX + "SELECT ?x (SUM(?y) AS ?n) FROM STREAM :s [RANGE 5s STEP 5s] { ?x :p ?y } GROUP BY ?x"
    )
    assert query.table().num_rows == 0
    for time, value in ((1, 3), (2, 4), (7, 5), (11, 6)):
        engine.push((E + "a", E + "p", value), time=time, stream=E + "s")
    assert query.table().to_pylist() == [{"start": 5, "end": 10, "x": f"<{E}a>", "n": 5}]


def test_a_view_that_comes_late_begins_then() -> None:
    engine = rw.Engine()
    engine.register(PREFIX + "SELECT * FROM STREAM :s [RANGE 1h] { ?x :p ?y . ?y :p ?z }")
    engine.push((E + "a", E + "p", 1), time=1, stream=E + "s")
    query = engine.register(PREFIX + COUNT.format("RANGE 10s STEP 5s"))
    engine.push((E + "b", E + "p", 1), time=12, stream=E + "s")
    engine.push((E + "b", E + "p", 2), time=16, stream=E + "s")
    assert counts(reports_of(engine, query)) == [(15, "1")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "SELECT * FROM NAMED :s WIN [RANGE 5s STEP 5s] AS :w EVENT ON :w { ?x :p ?y OPTIONAL { ?y :p ?z } } AS E1 "
            "{ MATCH { E1 } }",
            "EVENT … AS E1 has more than triple patterns and filters on them",
        ),
    ],
)
def test_what_views_cannot_do_yet_is_refused_by_name(text: str, sentence: str) -> None:
    with pytest.raises(rw.QueryError, match=sentence):
        rw.Engine().register(PREFIX + text)


FEEDS = "REGISTER STREAM :{} AS CONSTRUCT {{ ?x :q ?y }} FROM STREAM :{} [RANGE 5s STEP 5s] {{ ?x :p ?y }}"


def test_views_that_feed_each_other_in_a_ring_are_refused_and_so_are_those_that_read_a_rule() -> None:
    engine = rw.Engine()
    engine.register(PREFIX + FEEDS.format("b", "a"), name="one")
    with pytest.raises(rw.QueryError, match=r"views feed each other in a ring: .*one -> .*two|two -> .*one"):
        engine.register(PREFIX + FEEDS.format("a", "b"), name="two")
    assert [query.name for query in engine.queries] == ["one"]
    rule = "REGISTER STREAM :a AS CONSTRUCT { ?x :p ?y } FROM STREAM :c [RANGE 5s] { ?x :r ?y }"
    with pytest.raises(rw.QueryError, match=r"one is a view that feeds, and reads what the rule .* builds"):
        engine.register(PREFIX + rule)


def test_a_view_cannot_lose_rows_and_only_views_have_reports() -> None:
    text = PREFIX + COUNT.format("RANGE 10s STEP 5s")
    with pytest.raises(rw.QueryError, match='at_limit="shed"'):
        rw.Engine(max_live_rows=10, at_limit="shed").register(text)
    with pytest.raises(rw.UsageError, match="on_report is for views"):
        rw.Engine().register(PREFIX + "SELECT * { ?x :p ?y }", on_report=print)


def test_sums_of_doubles_are_rounded_once() -> None:
    double = "http://www.w3.org/2001/XMLSchema#double"
    written = [f'"{each}"^^<{double}>' for each in ("1e16", "1.0", "-1e16", "0.5")]
    for values, total, mean in (
        (written, "1.5E0", "3.75E-1"),
        ([*written, '"2"^^<http://www.w3.org/2001/XMLSchema#integer>'], None, None),
    ):
        engine = rw.Engine()
        query = engine.register(PREFIX + "SELECT (SUM(?v) AS ?s) (AVG(?v) AS ?m) FROM STREAM :s [ALL] { ?x :p ?v }")
        for place, value in enumerate(values):
            engine.push((f"<{E}{place}>", f"<{E}p>", value), time=1, stream=E + "s")
        engine.flush()
        (report,) = engine.reports(query)
        (row,) = report
        if total is not None:
            assert (str(row["s"]), str(row["m"])) == (total, mean)
        assert str(row["s"].datatype) == double


@pytest.mark.parametrize("report", ["WINDOW CLOSE", "CONTENT CHANGE", "PERIODIC 5s"])
def test_items_that_no_pattern_can_use_move_the_clock_of_a_run_as_they_do_that_of_pushes(report: str) -> None:
    values = ["z", "z", "p", "z", "z", "z"]
    text = f"SELECT (COUNT(*) AS ?n) FROM STREAM :s [RANGE 10s STEP 5s] REPORT {report} {{ ?x :p ?y }}"
    pushed = run(text, *((5 * place, "a", name, 1) for place, name in enumerate(values)))
    engine = rw.Engine()
    query = engine.register(PREFIX + text)
    lines = "".join(f"<{E}a> <{E}{name}> 1 .\n" for name in values).encode()
    for _ in engine.run(rw.read(io.BytesIO(lines), format="ttl", rate=0.2, stream=E + "s")):
        pass
    assert reports_of(engine, query) == pushed
    assert [time for _, time, _ in pushed] == ([10, 20] if report == "CONTENT CHANGE" else [0, 10, 15, 20])


def graphs_engine(tmp_path: Path) -> rw.Engine:
    (tmp_path / "sold.nt").write_text(f"<{E}b> <{E}q> <{E}c> .\n<{E}b> <{E}q> <{E}d> .\n")
    (tmp_path / "lent.nt").write_text(f"<{E}b> <{E}q> <{E}e> .\n")
    return rw.Engine(
        static=[(E + "b", E + "q", f"<{E}default>")],
        datasets={E + "sold": tmp_path / "sold.nt", E + "lent": tmp_path / "lent.nt"},
    )


NAMED = "FROM STREAM :s [RANGE 5s STEP 5s] FROM NAMED :sold FROM NAMED :lent"


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ("?x :p ?y GRAPH :sold { ?y :q ?z }", [("c", None), ("d", None)]),
        ("?x :p ?y GRAPH ?g { ?y :q ?z }", [("c", "sold"), ("d", "sold"), ("e", "lent")]),
        ("?x :p ?y . ?y :q ?z", [("default", None)]),
        ("?x :p ?y GRAPH :other { ?y :q ?z }", []),
        ("?x :p ?y GRAPH ?g { ?x :p ?z }", []),  # GRAPH ?g reads no window
        ("GRAPH ?g {} ?x :p ?y", [(None, "lent"), (None, "sold")]),
    ],
)
def test_graph_reads_static_data_by_name(where: str, wanted: list[tuple[str | None, ...]], tmp_path: Path) -> None:
    engine = graphs_engine(tmp_path)
    query = engine.register(f"{PREFIX} SELECT * {NAMED} {{ {where} }}")
    engine.push((E + "a", E + "p", f"<{E}b>"), time=5, stream=E + "s")
    engine.snapshot(tmp_path / "kept")
    again = rw.Engine.restore(tmp_path / "kept")
    for each, asked in ((engine, query), (again, again.queries[0])):
        each.flush()
        (report,) = each.reports(asked)
        shown = [{name: str(value).removeprefix(E) for name, value in row.items()} for row in report]
        rows = [(row.get("z"), row.get("g")) for row in shown]
        assert sorted(rows, key=str) == sorted(wanted, key=str)


def test_a_named_graph_has_what_the_schema_entails_and_none_of_the_schema_itself(tmp_path: Path) -> None:
    subclass = "<http://www.w3.org/2000/01/rdf-schema#subPropertyOf>"
    (tmp_path / "schema.nt").write_text(f"<{E}q> {subclass} <{E}r> .\n")
    (tmp_path / "sold.nt").write_text(f"<{E}b> <{E}q> <{E}c> .\n")
    engine = rw.Engine(schema=tmp_path / "schema.nt", datasets={E + "sold": tmp_path / "sold.nt"})
    frame = "FROM STREAM :s [RANGE 5s STEP 5s] FROM NAMED :sold"
    query = engine.register(f"{PREFIX} SELECT ?p {frame} {{ ?a :p ?b GRAPH :sold {{ ?x ?p ?y }} }}")
    engine.push((E + "a", E + "p", 1), time=5, stream=E + "s")
    engine.flush()
    (report,) = engine.reports(query)
    assert sorted(str(row["p"]).removeprefix(E) for row in report) == ["q", "r"]


def test_blank_nodes_of_two_named_graphs_are_two(tmp_path: Path) -> None:
    for name in ("sold", "lent"):
        (tmp_path / f"{name}.nt").write_text(f"_:x <{E}q> _:x .\n")
    engine = rw.Engine(datasets={E + name: tmp_path / f"{name}.nt" for name in ("sold", "lent")})
    query = engine.register(f"{PREFIX} SELECT ?x {NAMED} {{ ?a :p ?b GRAPH ?g {{ ?x :q ?x }} }}")
    engine.push((E + "a", E + "p", 1), time=5, stream=E + "s")
    engine.flush()
    (report,) = engine.reports(query)
    assert len({str(row["x"]) for row in report}) == 2


def test_reports_and_the_phase_may_be_said_beside_the_text(tmp_path: Path) -> None:
    engine = rw.Engine()
    text = PREFIX + COUNT.format("RANGE 10s STEP 5s")
    queries = [
        engine.register(text),
        engine.register(text, report="content change"),
        engine.register(text, report="PERIODIC 4s NON EMPTY"),
        engine.register(text, t0=1),
        engine.register(text, report="PERIODIC 4s", t0=2.5),
    ]
    for each in (1, 7):
        engine.push((E + "a", E + "p", each), time=each, stream=E + "s")
    engine.snapshot(tmp_path / "kept")
    again = rw.Engine.restore(tmp_path / "kept")
    times = {}
    for name, one in (("going", engine), ("restored", again)):
        one.push((E + "a", E + "p", 9), time=12, stream=E + "s")
        times[name] = [[report.time for report in one.reports(query)][-2:] for query in one.queries]
    assert times["going"] == [[5, 10], [5, 10], [8], [6, 11], [4, 8]]
    assert [each[-1:] for each in times["restored"]] == [each[-1:] for each in times["going"]]
    assert queries[4].parsed.view is not None and queries[4].parsed.view.t0 == 2_500_000


@pytest.mark.parametrize(
    ("window", "options", "sentence"),
    [
        ("RANGE 10s STEP 5s", {"report": "sometimes"}, "unknown report 'sometimes'"),
        ("RANGE 10s STEP 5s", {"report": "PERIODIC soon"}, "report 'PERIODIC soon'"),
        ("RANGE 10s STEP 5s", {"report": "PERIODIC 0s"}, "is more than 0"),
        ("RANGE 10s", {"report": "WINDOW CLOSE"}, "needs a window with STEP"),
        ("RANGE 10s STEP 5s", {"t0": "noon"}, "t0: "),
    ],
)
def test_what_is_said_beside_the_text_is_checked(window: str, options: dict[str, str], sentence: str) -> None:
    with pytest.raises(rw.UsageError, match=sentence):
        rw.Engine().register(PREFIX + COUNT.format(window), **options)  # type: ignore[arg-type]


def test_reports_are_for_views_alone() -> None:
    with pytest.raises(rw.UsageError, match="report is for views"):
        rw.Engine().register(PREFIX + "SELECT * { ?x :p ?y }", report="PERIODIC 1s")


C_SPARQL = "PREFIX f: <http://larkc.eu/csparql/sparql/jena/ext#>"


def test_the_timestamp_of_a_triple_is_that_of_its_latest_arrival() -> None:
    text = (
        f"{C_SPARQL} REGISTER QUERY q AS SELECT ?x (f:timestamp(?x, :p, 1) AS ?t) "
        "FROM STREAM :s [RANGE 5s STEP 5s] { ?x :p 1 OPTIONAL { ?x :q ?z } "
        "FILTER(!BOUND(?z) || f:timestamp(?x, :q, ?z) < 4500) }"
    )
    told = run(text, (1, "a", "p", 1), (3, "a", "p", 1), (4, "b", "p", 1), (5, "b", "q", 2), (11, "c", "r", 3))
    assert [(time, rows) for _, time, rows in told] == [(5, [{"x": "a", "t": "3000"}]), (10, [])]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("SELECT * { ?x :p ?y FILTER(f:timestamp(?x, :p, ?y) > 5) }", "f:timestamp stands in views only"),
        ("SELECT * FROM STREAM :s [ALL] { ?x :p ?y FILTER(f:timestamp(?x, ?y) > 5) }", "takes its three terms"),
        (
            "SELECT (MAX(f:timestamp(?x, :p, ?y)) AS ?t) FROM STREAM :s [ALL] { ?x :p ?y }",
            "f:timestamp stands in FILTER, BIND and SELECT only",
        ),
    ],
)
def test_timestamps_stand_where_a_solution_has_them(text: str, sentence: str) -> None:
    with pytest.raises(rw.QueryError, match=sentence):
        rw.Engine().register(f"{PREFIX} {C_SPARQL} {text}")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("SELECT ?x @ { ?x :p ?y FILTER(?y > 2 || EXISTS { ?x :q ?z }) }", [{"x": "a"}, {"x": "b"}]),
        ("SELECT ?x @ { ?x :p ?y FILTER(! EXISTS { ?x :q ?z } && ?y < 2) }", [{"x": "c"}]),
        (
            "SELECT ?x @ { ?x :p ?y FILTER(?y > 2 || NOT EXISTS { ?x :q ?z FILTER(?z > ?y) }) }",
            [{"x": "b"}, {"x": "c"}],
        ),
        ("SELECT ?x (EXISTS { ?x :q ?z } AS ?t) @ { ?x :p 1 }", [{"x": "a", "t": "true"}, {"x": "c", "t": "false"}]),
        ("SELECT ?x @ { ?x :p ?y } ORDER BY DESC(EXISTS { ?x :q ?z }) DESC(?x)", [{"x": "a"}, {"x": "c"}, {"x": "b"}]),
        (
            "SELECT (COUNT(*) AS ?n) @ { ?x :p ?y } GROUP BY (EXISTS { ?x :q ?z } AS ?t) ORDER BY ?n",
            [{"n": "1"}, {"n": "2"}],
        ),
        ("SELECT ?x @ { ?x :p ?y } GROUP BY ?x HAVING(SUM(?y) > 2 || EXISTS { ?x :q 3 })", [{"x": "a"}, {"x": "b"}]),
    ],
)
def test_exists_may_stand_inside_an_expression(text: str, wanted: list[dict[str, str]]) -> None:
    items = [(1.0, "a", "p", 1), (1.0, "a", "q", 3), (1.0, "b", "p", 5), (1.0, "c", "p", 1)]
    ((_, _, rows),) = run(text.replace("@", "FROM STREAM :s [RANGE 9s STEP 1s]"), *items)
    assert (rows if "ORDER" in text else sorted(rows, key=str)) == wanted
